"""Check the files of a run again, limited to files that have changed or whose inputs have."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.checks.lint.files import FEWEST_FOR_WORKERS
from lossless.checks.lint.results import completed, joined
from lossless.checks.lint.workers import check_file, check_in_processes
from lossless.formats.inputs.collect import is_json, load_configuration, merged, read
from lossless.formats.inputs.devices import DeviceReader
from lossless.formats.inputs.intents import declarations_of
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.processes import usable
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.excerpts import Excerpts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lossless.checks.lint.devices import DeviceResult
    from lossless.checks.lint.report import Report
    from lossless.checks.lint.settings import Settings
    from lossless.checks.rules.registry import Codes
    from lossless.formats.inputs.collect import Candidate, Inputs
    from lossless.formats.inputs.intents import Declarations
    from lossless.ground.basics.errors import Problem
    from lossless.ground.documents.document import Document

Mark = tuple[int, int, int] | str | None
"""A value that changes with a file: its time, size and number, or a name of its content; None for a missing file."""


def mark_of(file: str) -> Mark:
    """Return the mark of a file as it is now."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size, status.st_ino)


class FileSource(NamedTuple):
    """The source of files: the disk, or an earlier revision. ``load`` reads the document of a device for reports."""

    mark: Callable[[str], Mark]
    read: Callable[[Candidate], Inputs]
    load: Callable[[str], Document]


ON_DISK = FileSource(mark_of, read, load_configuration)


class _DeviceEntry(NamedTuple):
    """The results of rules on the devices of a file; empty if the file is of another kind or cannot be read."""

    basis: tuple[Mark, Codes | None]
    results: tuple[DeviceResult, ...]
    excerpts: Excerpts | None
    problems: tuple[Problem, ...]
    others: tuple[Candidate, ...]


class _IntentEntry(NamedTuple):
    """The inputs in all files except those of devices, and the declarations of the intents among them."""

    basis: tuple[tuple[str, Mark], ...]
    inputs: Inputs
    intents: Declarations


class LintCache:
    """Results of files that were checked; :meth:`check` takes the place of ``check_files``."""

    def __init__(self) -> None:
        self._intents: _IntentEntry | None = None
        self._devices: dict[Candidate, _DeviceEntry] = {}
        self._compared: bool | None = None

    def forget(self) -> None:
        """Forget every result, after a change that all of them may depend on."""
        self._intents = None
        self._devices.clear()

    def check(
        self, candidates: Sequence[Candidate], settings: Settings, source: FileSource = ON_DISK
    ) -> Report:
        """Check files as ``check_files`` does, and reuse the results of files with an unchanged mark."""
        devices = [candidate for candidate in candidates if is_json(candidate.file)]
        others = [candidate for candidate in candidates if not is_json(candidate.file)]
        _, inputs, intents = self._intent_entry(others, settings, source)
        settings = completed(settings, intents, [device.file for device in devices], len(inputs.facts))
        if settings.compared is not self._compared:
            # Those that are not compared have left no summary.
            self._devices.clear()
            self._compared = settings.compared
        entries = self._device_entries(devices, settings, source)
        documents = {document.file: document.whole for document in inputs.documents}
        excerpts = {entry.excerpts.file: entry.excerpts for entry in entries if entry.excerpts is not None}
        results = [result for entry in entries for result in entry.results]
        apart = merged([source.read(candidate) for entry in entries for candidate in entry.others])
        documents |= {document.file: document.whole for document in apart.documents}
        problems = (*inputs.problems, *(problem for entry in entries for problem in entry.problems))
        inputs = inputs._replace(
            documents=(*inputs.documents, *apart.documents),
            problems=problems,
            facts=(*inputs.facts, *apart.facts),
        )
        return joined(inputs, intents, results, {**documents, **excerpts}, settings)

    def _intent_entry(
        self, candidates: Sequence[Candidate], settings: Settings, source: FileSource
    ) -> _IntentEntry:
        basis = tuple((candidate.file, source.mark(candidate.file)) for candidate in candidates)
        if self._intents is None or self._intents.basis != basis:
            self._devices.clear()
            inputs = merged([source.read(candidate) for candidate in candidates])
            intents = declarations_of(inputs.documents, settings.profile_dirs, settings.progress)
            self._intents = _IntentEntry(basis, inputs, intents)
        return self._intents

    def _device_entries(
        self, candidates: Sequence[Candidate], settings: Settings, source: FileSource
    ) -> list[_DeviceEntry]:
        bases = {device: (source.mark(device.file), settings.chosen(device.file)) for device in candidates}
        present = {device: self._devices[device] for device in candidates if device in self._devices}
        self._devices = {device: entry for device, entry in present.items() if entry.basis == bases[device]}
        changed = [candidate for candidate in candidates if candidate not in self._devices]
        for candidate, results, excerpts, problems, others in _checked(changed, settings, source):
            self._devices[candidate] = _DeviceEntry(bases[candidate], results, excerpts, problems, others)
        return [self._devices[candidate] for candidate in candidates]


_CheckedDevice = tuple[
    "Candidate", "tuple[DeviceResult, ...]", "Excerpts | None", "tuple[Problem, ...]", "tuple[Candidate, ...]"
]


def _checked(
    candidates: Sequence[Candidate], settings: Settings, source: FileSource
) -> Iterable[_CheckedDevice]:
    """Yield the results of rules on each device; several processes check a large number of files."""
    if len(candidates) >= FEWEST_FOR_WORKERS and usable():
        yield from _checked_in_processes(candidates, settings, source)
        return
    reader = DeviceReader(settings.profile_dirs)
    for candidate in candidates:
        file = check_file(source.read(candidate), candidate, settings, reader)
        excerpts = Excerpts(candidate.file, file.shown, source.load) if file.results else None
        yield candidate, file.results, excerpts, file.problems, file.others


def _checked_in_processes(
    candidates: Sequence[Candidate], settings: Settings, source: FileSource
) -> Iterable[_CheckedDevice]:
    work = check_in_processes(candidates, settings, source.read, source.load)
    results = grouped((result.file, result) for result in work.results)
    problems = grouped((problem.file, problem) for problem in work.problems)
    others = frozenset(work.others)
    for candidate in candidates:
        file = candidate.file
        other = (candidate,) if candidate in others else ()
        of_file, unread = tuple(results.get(file, ())), tuple(problems.get(file, ()))
        yield candidate, of_file, work.excerpts.get(file), unread, other
