"""Reads files of any supported kind about cabling: recognizes the kind of each, and combines their content."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from lossless.formats.importing.cabling.cables import CableFile, FileCable, FileLine
from lossless.formats.importing.cabling.lldp import looks_like_lldp, read_lldp, read_lldp_json
from lossless.formats.importing.cabling.netbox import is_netbox, read_netbox
from lossless.formats.importing.cabling.sheets import read_sheet
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.json.document import load_json
from lossless.model.fabric.cabling import CableEnd

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from lossless.formats.importing.cabling.lldp import LldpNeighbor

_LLDP_NAMES = re.compile(r"(?i)(show[-_ ]?)?lldp.*")


class CableFiles(NamedTuple):
    """The combined content of files, and their problems.

    ``listed`` are devices in sheets or exports, ``listening`` those whose own LLDP was given, by file.
    """

    files: tuple[CableFile, ...]
    problems: tuple[Problem, ...]
    listed: frozenset[str]
    listening: dict[str, str]

    @property
    def cables(self) -> list[FileCable]:
        """All cables, once for each file that contains them."""
        return [cable for file in self.files for cable in file.cables]


def read_files(texts: Mapping[str, str], known: Collection[str] = ()) -> CableFiles:
    """Return the content of files; files of LLDP may belong to the devices ``known``, beside those in the files."""
    cable_files: list[CableFile] = []
    problems: list[Problem] = []
    heard: dict[str, tuple[LldpNeighbor, ...]] = {}
    for file, text in texts.items():
        try:
            read = _read(text, file)
            if isinstance(read, CableFile):
                cable_files.append(read)
            else:
                heard[file] = read
        except InputError as error:
            problems += error.problems
    problems += [problem for cable_file in cable_files for problem in cable_file.problems]
    listed = frozenset(_device_names(cable_files))
    named = {*known, *listed, *(neighbor.name for all_heard in heard.values() for neighbor in all_heard)}
    listening = {file: _device_of(file, named) for file in heard}
    cable_files += [CableFile(cables=_heard_cables(listening[file], file, heard[file])) for file in heard]
    return CableFiles(tuple(cable_files), tuple(problems), listed, listening)


def _device_names(cable_files: Iterable[CableFile]) -> Iterable[str]:
    for cable_file in cable_files:
        yield from (end.device for cable in cable_file.cables for end in (cable.a, cable.b))
        yield from (name for name, _, _ in cable_file.roles)


def _heard_cables(device: str, file: str, heard: Iterable[LldpNeighbor]) -> tuple[FileCable, ...]:
    return tuple(
        FileCable(
            CableEnd(device, neighbor.port),
            CableEnd(neighbor.name, next(iter(neighbor.ports), None)),
            None,
            None,
            FileLine(file, neighbor.line),
            neighbor.ports,
            heard=True,
        )
        for neighbor in heard
    )


def _read(text: str, file: str) -> CableFile | tuple[LldpNeighbor, ...]:
    """Return the content of a file, whose kind is recognized by its content."""
    if not text.lstrip().startswith(("{", "[")):
        return read_lldp(text, file) if looks_like_lldp(text) else read_sheet(text, file)
    document = load_json(text, file, lists=True)
    if "lldp" in document.data:
        return read_lldp_json(document)
    if is_netbox(document.data):
        return read_netbox(document)
    message = "JSON of no kind that is known here: expected that of lldpctl, or of NetBox's API"
    raise InputError([Problem(file, 1, 1, message)])


def _device_of(file: str, known: Collection[str]) -> str:
    """Return the device that a file belongs to: the one whose name the file or its folder has."""
    path = PurePath(file)
    for candidate in (path.name, path.stem, path.parent.name):
        if candidate in known:
            return candidate
    return path.parent.name if _LLDP_NAMES.fullmatch(path.stem) and path.parent.name else path.stem
