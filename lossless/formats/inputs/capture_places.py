"""Places of captures: files of any name below folders, trees of ``show techsupport``, and facts in their names.

The contents of a file are found by reading it. The name counts only if a tool omits the switch or ASIC from its output:
``show techsupport`` writes ``sonic_dump_HOST_DATE_TIME/dump/COUNTERS_DB.json``, for ASIC 0 with ``.0`` after it, and
the databases of counters at the beginning (``_1``) and at the end (``_2``) (sonic-net/sonic-utilities
scripts/generate_dump @691b1bb). Of such a tree the configuration as it runs, the state and the last counters are read;
ASIC_DB, which no rule reads, and the files of the system are left.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from lossless.formats.inputs.discover import is_skipped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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


def files_at(paths: Sequence[str | os.PathLike[str]]) -> Iterator[tuple[str, bool]]:
    """Yield the files at some paths, each once, with whether it is expected to be a capture."""
    seen: set[str] = set()
    for path in [os.fspath(path) for path in paths]:
        files = _below(path) if os.path.isdir(path) else iter([(path, True)])
        for file, expected in files:
            identity = os.path.realpath(file)
            if identity not in seen:
                seen.add(identity)
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
    """Yield the databases of a dump, which are expected, and outputs of commands; of each the last."""
    last: dict[tuple[str, ...], tuple[str, bool]] = {}
    for name in sorted(files):
        if match := _DATABASE.fullmatch(name):
            last[match[1], match[3] or ""] = name, True
        elif match := _SHOWN.fullmatch(name):
            last[(match[1],)] = name, False
    yield from last.values()
