"""Checks of many files in several processes, which return small results: findings, places to show, summaries."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, TypeVar

from lossless.checks.lint.devices import DeviceResult, check_device
from lossless.formats.inputs.collect import is_device, load_configuration, read
from lossless.ground.basics import processes
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.excerpts import Excerpts, PathPlaces, places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lossless.checks.lint.run import Settings
    from lossless.formats.inputs.collect import Candidate, Inputs
    from lossless.formats.inputs.devices import DeviceReader
    from lossless.formats.inputs.intents import Progress
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.text import Document


class DeviceWork(NamedTuple):
    """The results of rules on many devices, the excerpts to show, problems of unreadable files, and other files.

    ``others`` are files with other inputs than SONiC devices, such as facts of hosts; they were not checked.
    """

    results: list[DeviceResult]
    excerpts: dict[str, Excerpts]
    problems: list[Problem]
    others: list[Candidate]


class DeviceFile(NamedTuple):
    """The results of rules on the devices in one file; empty if the file is of another kind or cannot be read."""

    results: tuple[DeviceResult, ...]
    problems: tuple[Problem, ...]
    shown: PathPlaces
    others: tuple[Candidate, ...] = ()


_Result = TypeVar("_Result")


def check_in_processes(
    candidates: Sequence[Candidate],
    settings: Settings,
    read_file: Callable[[Candidate], Inputs] = read,
    load: Callable[[str], Document] = load_configuration,
) -> DeviceWork:
    """Return the results of rules on the files of devices, which several processes check.

    ``read_file`` reads a file, ``load`` reads its document again if a report shows more of it than was kept.

    Raises:
        LosslessError: a process was ended from outside.
    """
    from lossless.checks.rules.registry import rules_for
    from lossless.formats.inputs.devices import DeviceReader

    # Read once here, and shared by every copy.
    for chosen in {settings.chosen(candidate.file) for candidate in candidates}:
        rules_for("fabric", "buffers", "device", chosen=chosen)
    reader = DeviceReader(settings.profile_dirs)

    def check(candidate: Candidate) -> DeviceFile:
        return check_file(read_file(candidate), candidate, settings, reader)

    work = DeviceWork([], {}, [], [])
    for file in in_processes(check, candidates, settings.progress):
        work.problems.extend(file.problems)
        work.others.extend(file.others)
        work.results.extend(file.results)
        for result in file.results[:1]:
            work.excerpts[result.file] = Excerpts(result.file, file.shown, load)
    return work


def in_processes(
    check: Callable[[Candidate], _Result], candidates: Sequence[Candidate], progress: Progress | None
) -> Iterator[_Result]:
    """Yield the result of each file, from one process per usable processor; in the order of the files.

    Raises:
        LosslessError: a process was ended from outside, as a machine does that has no memory left.
    """
    # A worker lives for seconds and makes next to no cycles; looking for them takes a tenth of its time.
    results = processes.in_processes(
        check, candidates, processes=processes.processors(), prepare=gc.disable, doing="checked files"
    )
    for done, result in enumerate(results, 1):
        if progress is not None:
            progress(done, len(candidates))
        yield result


def check_file(inputs: Inputs, candidate: Candidate, settings: Settings, reader: DeviceReader) -> DeviceFile:
    """Return the results of rules on the devices in one file, with the places of its text that reports may show.

    A file with other inputs is not checked, but returned in ``others``.
    """
    if not all(map(is_device, inputs.documents)) or not inputs.documents:
        others = (candidate,) if inputs.facts or inputs.documents else ()
        return DeviceFile((), inputs.problems, PathPlaces({}, {}, {}), others)
    results = tuple(check_device(document, settings, reader) for document in inputs.documents)
    paths = (path for result in results for path in _paths(result))
    return DeviceFile(results, inputs.problems, places(inputs.documents[0].whole, paths))


def _paths(result: DeviceResult) -> Iterator[Path]:
    """Yield the paths in the file of a device to which findings refer."""
    for finding in result.report.findings:
        for origin in finding.origins:
            layout = result.report.layouts.get(origin.file)
            if layout is not None:
                yield layout.written(origin.path)
            elif origin.file == result.file:
                yield origin.path
