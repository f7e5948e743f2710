"""Checks many files in several processes; what comes back is small: findings, places to show, summaries."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, TypeVar

from lossless.checks.lint.devices import DeviceResult, check_device
from lossless.formats.inputs.collect import load_configuration, read
from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.excerpts import Excerpts, PathPlaces, places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lossless.checks.lint.settings import Settings
    from lossless.formats.inputs.collect import Candidate
    from lossless.formats.inputs.devices import DeviceReader
    from lossless.formats.inputs.progress import Progress
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Path

_CHUNK = 8
"""Files handed to a process at a time: few, so that both end together."""


class DeviceWork(NamedTuple):
    """What rules say of many devices, what to show of each file, what could not be read, and files of host facts."""

    results: list[DeviceResult]
    excerpts: dict[str, Excerpts]
    problems: list[Problem]
    facts: list[Candidate]


class DeviceFile(NamedTuple):
    """What rules say of the devices in one file; there are none where it is none of ours, or cannot be read."""

    results: tuple[DeviceResult, ...]
    problems: tuple[Problem, ...]
    shown: PathPlaces
    facts: tuple[Candidate, ...] = ()


_check: list[Callable[[Candidate], Any]] = []
"""What a process checks files with; set once, when it starts."""

_Result = TypeVar("_Result")


def usable() -> bool:
    """Return whether this machine has several processors to use, and processes that start as copies.

    Elsewhere than on Linux copies are not safe, or do not exist; a process started anew costs more than it saves.
    """
    return sys.platform == "linux" and processors() > 1 and _has_locks()


def _has_locks() -> bool:
    """Return whether processes can share a lock here; some containers have no memory for that."""
    import multiprocessing

    try:
        multiprocessing.get_context("fork").Lock()
    except (ImportError, OSError):
        return False
    return True


def processors() -> int:
    """Return how many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def check_in_processes(candidates: Sequence[Candidate], settings: Settings) -> DeviceWork:
    """Check the files of devices in several processes; raises LosslessError as :func:`in_processes` does."""
    from lossless.checks.rules.registry import rules_for
    from lossless.formats.inputs.devices import DeviceReader

    # Read once here, and shared by every copy.
    for chosen in {settings.chosen(candidate.file) for candidate in candidates}:
        rules_for("fabric", "buffers", "device", chosen=chosen)
    reader = DeviceReader(settings.profile_dirs, settings.rdma_dscps)

    def check(candidate: Candidate) -> DeviceFile:
        return check_file(candidate, settings, reader)

    work = DeviceWork([], {}, [], [])
    for file in in_processes(check, candidates, settings.progress):
        work.problems.extend(file.problems)
        work.facts.extend(file.facts)
        work.results.extend(file.results)
        for result in file.results[:1]:
            work.excerpts[result.file] = Excerpts(result.file, file.shown, load_configuration)
    return work


def in_processes(
    check: Callable[[Candidate], _Result], candidates: Sequence[Candidate], progress: Progress | None
) -> Iterator[_Result]:
    """Yield what comes of each file, by as many processes as there are processors; in the order of the files.

    Raises:
        LosslessError: a process was ended from outside, as a machine does that has no memory left.
    """
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    context = multiprocessing.get_context("fork")
    try:
        with ProcessPoolExecutor(processors(), context, _begin, (check,)) as pool:
            for done, result in enumerate(pool.map(_check_one, candidates, chunksize=_CHUNK), 1):
                if progress is not None:
                    progress(done, len(candidates))
                yield result
    except BrokenProcessPool as error:
        raise LosslessError(
            "a process that judged files was ended from outside; is there enough memory?"
        ) from error


def _begin(check: Callable[[Candidate], Any]) -> None:
    import gc

    # A worker lives for seconds and makes next to no cycles; looking for them takes a tenth of its time.
    gc.disable()
    _check[:] = [check]


def _check_one(candidate: Candidate) -> Any:
    return _check[0](candidate)


def check_file(candidate: Candidate, settings: Settings, reader: DeviceReader) -> DeviceFile:
    """Check one file, and keep of it only what reports may show."""
    inputs = read(candidate)
    if not inputs.documents:
        facts = (candidate,) if inputs.facts else ()
        return DeviceFile((), inputs.problems, PathPlaces({}, {}, {}), facts)
    results = tuple(check_device(document, settings, reader) for document in inputs.documents)
    paths = (path for result in results for path in _paths(result))
    return DeviceFile(results, inputs.problems, places(inputs.documents[0].whole, paths))


def _paths(result: DeviceResult) -> Iterator[Path]:
    """Yield where the file of a device has what findings are about."""
    layout = result.layout
    for finding in result.verdicts.findings:
        for origin in finding.origins:
            if origin.file == result.name:
                yield origin.path if layout is None else layout.written(origin.path)
            elif origin.file == result.file:
                yield origin.path
