"""Paths to captures of running state: files of any name are read by what they hold, and grouped by device."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from lossless.formats.inputs.collect import devices_in
from lossless.formats.inputs.discover import is_skipped
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.findings import Span
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents import load_text
from lossless.ground.documents.text import decode, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.document import Document
    from lossless.model.fabric.state.readings import StateCapture

_CONFIG = "CONFIG_DB"
_UNKNOWN = "no capture that is read here: neither a database, nor the output of a command, nor an intent"


class CaptureDocument:
    """A file of captures as a report shows it: places are lines of a text, or keys of JSON."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self._lines = text.split("\n")
        self._document: Document | None = None

    def configured_by(self, configuration: Document) -> None:
        """Find keys of a configuration where they stand in this text, which is no JSON."""
        self._document = configuration

    def locate_many(self, paths: Iterable[Path], mark: Literal["value", "key"] = "value") -> dict[Path, Span]:
        """Return the span of every path."""
        return {path: self._span(path, mark) for path in paths}

    def exists(self, path: Path) -> bool:
        """Return whether a place is there: a line of the text, or a key of JSON."""
        line = next((part for part in path[:2] if isinstance(part, int)), None)
        if line is not None:
            return 0 < line <= len(self._lines)
        document = self._whole()
        return document is not None and document.exists(path)

    def line_text(self, number: int) -> str:
        """Return a line, counted from 1."""
        return self._lines[number - 1].rstrip("\r") if 0 < number <= len(self._lines) else ""

    def _span(self, path: Path, mark: Literal["value", "key"]) -> Span:
        line = next((part for part in path[:2] if isinstance(part, int)), None)
        if line is not None:
            end = len(self.line_text(line).rstrip()) + 1
            return Span(line, 1, line, max(end, 2))
        document = self._whole()
        return document.locate(path, mark) if document is not None else Span(1, 1, 1, 2)

    def _whole(self) -> Document | None:
        if self._document is None:
            try:
                is_yaml = self.file.lower().endswith((".yaml", ".yml"))
                name = self.file if is_yaml else f"{self.file}.json"
                self._document = load_text(self.text, name, lists=not is_yaml)
            except InputError:
                return None
        return self._document


class CapturedDevice(NamedTuple):
    """What files say of one device: captures, and its configuration, None where no file holds it."""

    name: str
    captures: tuple[StateCapture, ...]
    configuration: Document | None


class CaptureInputs(NamedTuple):
    """What lies at some paths: devices by name, intents, files by name, and what could not be read."""

    devices: tuple[CapturedDevice, ...]
    intents: tuple[Document, ...]
    documents: Mapping[str, CaptureDocument]
    problems: tuple[Problem, ...]


class _ReadFile(NamedTuple):
    """One file: its text, and what it is."""

    document: CaptureDocument
    captures: tuple[StateCapture, ...] = ()
    intent: Document | None = None
    configuration: Document | None = None


def gather_captures(paths: Sequence[str | os.PathLike[str]]) -> CaptureInputs:
    """Return what lies at some paths; a file that is named and not understood is a problem."""
    problems: list[Problem] = []
    read = [file for path, named in _files(paths) if (file := _read(path, problems, named=named)) is not None]
    problems += [problem for file in read for capture in file.captures for problem in capture.problems]
    return CaptureInputs(
        tuple(_devices(read)),
        tuple(file.intent for file in read if file.intent is not None),
        {file.document.file: file.document for file in read},
        tuple(problems),
    )


def _files(paths: Sequence[str | os.PathLike[str]]) -> Iterator[tuple[str, bool]]:
    """Yield the files at some paths, each once, with whether it is named."""
    seen: set[str] = set()
    for path in [os.fspath(path) for path in paths]:
        named = not os.path.isdir(path)
        for file in [path] if named else _below(path):
            identity = os.path.realpath(file)
            if identity not in seen:
                seen.add(identity)
                yield file, named


def _below(folder: str) -> Iterator[str]:
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not is_skipped(name))
        for name in sorted(files):
            file = os.path.join(root, name)
            if not name.startswith(".") and os.path.isfile(file):
                yield file


def _read(file: str, problems: list[Problem], *, named: bool) -> _ReadFile | None:
    """Read one file; what is none of ours is a problem only where it is named."""
    try:
        read = _read_text(decode(read_bytes(file), file), file)
    except InputError as error:
        problems.extend(error.problems if named else ())
        return None
    if read is None and named:
        problems.append(Problem(file, None, None, _UNKNOWN))
    return read


def _read_text(text: str, file: str) -> _ReadFile | None:
    document = CaptureDocument(file, text)
    if file.lower().endswith((".yaml", ".yml")):
        intent = load_text(text, file)
        return _ReadFile(document, intent=intent) if "lossless" in intent.data else None
    captures = _captures(text, file)
    if captures is None:
        return None
    configuration = _configuration(text, file, captures)
    if configuration is not None and not _is_json(file):
        document.configured_by(configuration)
    return _ReadFile(document, captures, configuration=configuration)


def _captures(text: str, file: str) -> tuple[StateCapture, ...] | None:
    """Return what a text says, by the first reader that knows it."""
    from lossless.formats.hosts.state.captures import read_capture as of_host
    from lossless.formats.infiniband.state.captures import read_capture as of_subnet
    from lossless.formats.sonic.state.captures import read_capture as of_switch
    from lossless.formats.switches.captures import read_capture as of_other_switch

    for reader in (of_switch, of_other_switch, of_host, of_subnet):
        captures = reader(text, file)
        if captures is not None:
            return captures
    return None


def _configuration(text: str, file: str, captures: Sequence[StateCapture]) -> Document | None:
    """Return the configuration of one switch that a file holds."""
    from lossless.formats.sonic.state.snapshot import configuration_in, is_snapshot

    if all(capture.form != _CONFIG for capture in captures):
        return None
    if is_snapshot(text):
        return configuration_in(text, file)
    if not _is_json(file):
        return None
    documents = devices_in(load_text(text, file, lists=True)).documents
    return documents[0] if len(documents) == 1 else None


def _is_json(file: str) -> bool:
    return file.lower().endswith(".json")


def _devices(files: Sequence[_ReadFile]) -> Iterator[CapturedDevice]:
    """Yield devices: files that name none belong to the one that the others in their folder name."""
    captured = [file for file in files if file.captures]
    folders = grouped((os.path.dirname(file.document.file), file) for file in captured)
    names = {folder: _named(inside) for folder, inside in folders.items()}
    by_device = grouped(
        (capture.device or _name_of(file, names), (file, capture))
        for file in captured
        for capture in file.captures
    )
    for name, pairs in by_device.items():
        configurations = [file.configuration for file, _ in pairs if file.configuration is not None]
        yield CapturedDevice(name, tuple(capture for _, capture in pairs), next(iter(configurations), None))


def _named(files: Sequence[_ReadFile]) -> str | None:
    devices = {capture.device for file in files for capture in file.captures if capture.device}
    return devices.pop() if len(devices) == 1 else None


def _name_of(file: _ReadFile, names: Mapping[str, str | None]) -> str:
    folder = os.path.dirname(file.document.file)
    return names[folder] or os.path.basename(os.path.abspath(folder))
