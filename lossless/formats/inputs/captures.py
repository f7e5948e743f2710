"""Finds captures of running state at paths: files of any name are recognized by their contents, and grouped by device.

Captures are files below folders, and trees of ``show techsupport``. The contents of a file are found by reading it.
The name counts only if a tool omits the switch or ASIC from its output: ``show techsupport`` writes
``sonic_dump_HOST_DATE_TIME/dump/COUNTERS_DB.json``, for ASIC 0 with ``.0`` after it, and the databases of counters at
the beginning (``_1``) and at the end (``_2``) (sonic-net/sonic-utilities scripts/generate_dump @691b1bb). Of such a
tree the configuration as it runs, the state and the last counters are read; ASIC_DB, which no rule reads, and the
files of the system are left.
"""

from __future__ import annotations

import os
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from lossless.formats.inputs.capture_forms import read_capture
from lossless.formats.inputs.discover import is_skipped
from lossless.formats.sonic.read.forms import HOST, devices_of
from lossless.formats.sonic.state.databases import NAMESPACE
from lossless.formats.sonic.state.snapshot import configurations_in, is_snapshot
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.findings import Span, grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents import load_text
from lossless.ground.documents.folder import Reach
from lossless.ground.documents.json.document import load_json
from lossless.ground.documents.text import decode, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.state import StateCapture


_CONFIG = "CONFIG_DB"
_UNKNOWN = "no capture that is read here: neither a database, nor the output of a command, nor an intent"


class CaptureDocument:
    """A file of captures as a report shows it: places are lines of a text, or keys of JSON or YAML."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self._lines = text.split("\n")
        self._documents: tuple[Document, ...] | None = None

    def configured_by(self, *configurations: Document) -> None:
        """Set the configurations whose keys are searched for in this text, which is no JSON."""
        self._documents = configurations

    def locate_many(self, paths: Iterable[Path], mark: Literal["value", "key"] = "value") -> dict[Path, Span]:
        """Return the span of each path: of the line whose number is in its first two keys, else of its key."""
        return {path: self._span(path, mark) for path in paths}

    def exists(self, path: Path) -> bool:
        """Return whether a path is in the file: a line of the text, or a key of JSON or YAML."""
        line = next((part for part in path[:2] if isinstance(part, int)), None)
        if line is not None:
            return 0 < line <= len(self._lines)
        return any(document.exists(path) for document in self._whole())

    def line_text(self, number: int) -> str:
        """Return a line of the file, counted from 1; empty for a line that is not there."""
        return self._lines[number - 1].rstrip("\r") if 0 < number <= len(self._lines) else ""

    def _span(self, path: Path, mark: Literal["value", "key"]) -> Span:
        line = next((part for part in path[:2] if isinstance(part, int)), None)
        if line is not None:
            end = len(self.line_text(line).rstrip()) + 1
            return Span(line, 1, line, max(end, 2))
        documents = self._whole()
        document = next((own for own in documents if own.exists(path)), next(iter(documents), None))
        return document.locate(path, mark) if document is not None else Span(1, 1, 1, 2)

    def _whole(self) -> tuple[Document, ...]:
        if self._documents is None:
            try:
                is_yaml = self.file.lower().endswith((".yaml", ".yml"))
                name = self.file if is_yaml else f"{self.file}.json"
                self._documents = (load_text(self.text, name, lists=not is_yaml),)
            except InputError:
                self._documents = ()
        return self._documents


class CapturedDevice(NamedTuple):
    """The captures of one device, and its configurations by ASIC namespace, None for the host or the whole switch."""

    name: str
    captures: tuple[StateCapture, ...]
    configurations: Mapping[str | None, Document]

    @property
    def configuration(self) -> Document | None:
        """The only configuration of the device; None if no file has one, or several ASICs have one each."""
        return next(iter(self.configurations.values())) if len(self.configurations) == 1 else None


class CaptureInputs(NamedTuple):
    """The captured devices and the intents in files, the files by name, and the problems of reading them."""

    devices: tuple[CapturedDevice, ...]
    intents: tuple[Document, ...]
    documents: Mapping[str, CaptureDocument]
    problems: tuple[Problem, ...]


class _ReadFile(NamedTuple):
    """The contents of one file: its captures with their configurations by namespace, or its intent."""

    document: CaptureDocument
    captures: tuple[StateCapture, ...] = ()
    intent: Document | None = None
    configurations: Mapping[str | None, Document] = MappingProxyType({})


def gather_captures(paths: Sequence[str | os.PathLike[str]]) -> CaptureInputs:
    """Return the captured devices and intents at paths; a named file that has no known form is a problem."""
    problems: list[Problem] = []
    read = [
        file
        for path, expected in files_at(paths, problems)
        if (file := _read(path, problems, expected=expected)) is not None
    ]
    problems += [problem for file in read for capture in file.captures for problem in capture.problems]
    return CaptureInputs(
        tuple(_devices(read)),
        tuple(file.intent for file in read if file.intent is not None),
        {file.document.file: file.document for file in read},
        tuple(problems),
    )


def _read(file: str, problems: list[Problem], *, expected: bool) -> _ReadFile | None:
    """Return the contents of one file, None if it cannot be read or has no known form.

    Either is a problem only if a known form is expected.
    """
    try:
        raw = read_bytes(file)
        why = refusal(raw)
        read = _read_text(decode(raw, file), file) if why is None else None
    except InputError as error:
        problems.extend(error.problems if expected else ())
        return None
    if read is None and expected:
        problems.append(Problem(file, None, None, why or _UNKNOWN))
    return read


def _read_text(text: str, file: str) -> _ReadFile | None:
    document = CaptureDocument(file, text)
    if file.lower().endswith((".yaml", ".yml")):
        intent = load_text(text, file)
        return _ReadFile(document, intent=intent) if "lossless" in intent.data else None
    captures = read_capture(text, file)
    if captures is None:
        return None
    configurations = _configurations(text, file, captures)
    if is_snapshot(text):
        document.configured_by(*configurations.values())
    return _ReadFile(document, _of_namespace(captures, file), configurations=configurations)


def _of_namespace(captures: Sequence[StateCapture], file: str) -> tuple[StateCapture, ...]:
    """Return captures in which readings without a namespace get the one that the name of the file or folder has."""
    namespace = namespace_by_name(file)
    if namespace is None:
        return tuple(captures)
    prefix = (("namespace", namespace),)
    return tuple(
        capture._replace(
            readings=tuple(
                reading
                if reading.identity[:1] and reading.identity[0][0] == "namespace"
                else reading._replace(identity=(*prefix, *reading.identity))
                for reading in capture.readings
            )
        )
        for capture in captures
    )


def _configurations(text: str, file: str, captures: Sequence[StateCapture]) -> Mapping[str | None, Document]:
    """Return the configurations that a file holds, by namespace: that of the switch, or of its host and each ASIC.

    It is empty if several have one namespace: then they are of several switches.
    """
    if all(capture.form != _CONFIG for capture in captures):
        return {}
    if is_snapshot(text):
        return configurations_in(text, file)
    try:
        documents = devices_of(load_json(text, file, lists=True))
    except InputError:
        return {}
    by_namespace = grouped((_namespace(document), document) for document in documents)
    # Several of one namespace are of several switches, which no one device has.
    return (
        {name: same[0] for name, same in by_namespace.items()}
        if all(len(same) == 1 for same in by_namespace.values())
        else {}
    )


def _namespace(document: Document) -> str | None:
    """Return the ASIC namespace of a configuration, by its section, its metadata or its file; None without any."""
    section = str(next(iter(document.part.layout.root), "")) if document.part else ""
    if section == HOST:
        return None
    rows = document.data.get("DEVICE_METADATA")
    row = rows.get(HOST) if isinstance(rows, dict) else None
    own = row.get("asic_name") if isinstance(row, dict) else None
    names = (section, own if isinstance(own, str) else "")
    return next(filter(NAMESPACE.fullmatch, names), None) or namespace_by_name(document.file)


def _devices(files: Sequence[_ReadFile]) -> Iterator[CapturedDevice]:
    """Yield devices; a file without a device name belongs to the only one that its folder's files name, else to the
    one that the folder is named after.
    """
    captured = [file for file in files if file.captures]
    folders = grouped((os.path.dirname(file.document.file), file) for file in captured)
    names = {folder: _named(inside) for folder, inside in folders.items()}
    by_device = grouped(
        (capture.device or _name_of(file, names), (file, capture))
        for file in captured
        for capture in file.captures
    )
    for name, pairs in by_device.items():
        configurations: dict[str | None, Document] = {}
        for file, _ in pairs:
            for namespace, document in file.configurations.items():
                configurations.setdefault(namespace, document)
        yield CapturedDevice(name, tuple(capture for _, capture in pairs), configurations)


def _named(files: Sequence[_ReadFile]) -> str | None:
    devices = {capture.device for file in files for capture in file.captures if capture.device}
    return devices.pop() if len(devices) == 1 else None


def _name_of(file: _ReadFile, names: Mapping[str, str | None]) -> str:
    folder = os.path.dirname(file.document.file)
    return names[folder] or device_by_name(folder)


_ARCHIVE = re.compile(r"sonic_dump_.+\.tar(?:\.gz)?")
_TREE = re.compile(r"sonic_dump_(.+)_[0-9]{8}_[0-9]{6}")
_DUMP = "dump"
_DATABASE = re.compile(r"((?:APPL|CONFIG|COUNTERS|STATE)_DB)(?:_([0-9]))?\.json(?:\.([0-9]{1,3}))?")
_SHOWN = re.compile(
    r"((?:interface\.counters|queue|pfc|pfcwd|priority-group|buffer|watermark)(?!.*histogram).*?)(?:_([0-9]))?"
)
_ASIC = re.compile(r"asic[0-9]{1,3}")
_REDIS = (
    "a file that redis keeps for itself; print the databases as JSON instead: sonic-db-dump -n COUNTERS_DB -y, or use "
    "lossless collector --switch"
)
_MAGIC = (
    (
        0,
        b"\x1f\x8b",
        "a compressed file; unpack it (tar -xzf, gunzip) and name the folder or file that is in it",
    ),
    (257, b"ustar", "an archive; unpack it (tar -xf) and name the folder that is in it"),
    (0, b"PK\x03\x04", "an archive; unpack it (unzip) and name the folder that is in it"),
    (0, b"REDIS", _REDIS),
)


def files_at(paths: Sequence[str | os.PathLike[str]], problems: list[Problem]) -> Iterator[tuple[str, bool]]:
    """Yield the files at paths, each once, with whether it is expected to be a capture.

    A link in a folder is a problem if it leads outside of it, its repository and the other paths.
    """
    seen: set[str] = set()
    every = [os.fspath(path) for path in paths]
    for path in every:
        is_folder = os.path.isdir(path)
        reach = Reach([path], every) if is_folder else None
        for file, expected in _below(path) if is_folder else iter([(path, True)]):
            identity = os.path.realpath(file)
            if identity in seen:
                continue
            seen.add(identity)
            why = "" if reach is None else reach.refusal(file, identity)
            if why:
                problems.append(Problem(file, None, None, why))
            else:
                yield file, expected


def namespace_by_name(file: str) -> str | None:
    """Return the ASIC's namespace in the name of a file, or of its folder; None if there is none."""
    folder, name = os.path.split(os.path.abspath(file))
    database = _DATABASE.fullmatch(name)
    if database and database[3]:
        return f"asic{int(database[3])}"
    own = os.path.basename(folder)
    return own if _ASIC.fullmatch(own) else None


def device_by_name(folder: str) -> str:
    """Return the device that a folder is named after: folders of ASICs and of dumps are below its own."""
    above, name = os.path.split(os.path.abspath(folder))
    if _ASIC.fullmatch(name):
        return device_by_name(above)
    tree = _TREE.fullmatch(os.path.basename(above)) if name == _DUMP else None
    return tree[1] if tree else name


def refusal(raw: bytes) -> str | None:
    """Return why bytes are no text of a capture, with a remedy; None if they may be one."""
    return next((why for at, magic, why in _MAGIC if raw[at : at + len(magic)] == magic), None)


def _below(folder: str) -> Iterator[tuple[str, bool]]:
    for root, folders, files in os.walk(folder):
        if _is_dump(root, files):
            folders.clear()
            yield from ((os.path.join(root, name), expected) for name, expected in _of_dump(files))
            continue
        in_tree = _DUMP in folders and _TREE.fullmatch(os.path.basename(os.path.abspath(root)))
        folders[:] = [_DUMP] if in_tree else sorted(name for name in folders if not is_skipped(name))
        for name in [] if in_tree else sorted(files):
            file = os.path.join(root, name)
            if not name.startswith(".") and os.path.isfile(file):
                yield file, _ARCHIVE.fullmatch(name) is not None


def _is_dump(folder: str, files: Sequence[str]) -> bool:
    """Return whether a folder is that of the outputs in a tree of show techsupport."""
    return os.path.basename(os.path.abspath(folder)) == _DUMP and any(map(_DATABASE.fullmatch, files))


def _of_dump(files: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield the files in a dump that are read: of databases, which are expected, and of outputs; of each the last."""
    last: dict[tuple[str, ...], tuple[str, bool]] = {}
    for name in sorted(files):
        if match := _DATABASE.fullmatch(name):
            last[match[1], match[3] or ""] = name, True
        elif match := _SHOWN.fullmatch(name):
            last[(match[1],)] = name, False
    yield from last.values()
