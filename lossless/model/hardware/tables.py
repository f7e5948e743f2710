"""Parses the text tables in profiles.

Large tables are stored as text, one row a line, ``-`` for a missing value, ``#`` before a
comment: quick to skip, easy to compare with the vendor's file.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import ProfileError, QuantityError
from lossless.ground.basics.units import parse_length, parse_rate
from lossless.model.hardware.model import (
    PART_LETTERS,
    BreakoutMode,
    Cage,
    HeadroomRow,
    PoolDefaults,
    PortSpec,
    ProfileDefaults,
    split,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.model.hardware.devices import Parameter
    from lossless.model.hardware.model import PoolMode, PoolType

CAGE_COLUMNS = "cage lanes alias index modes"
HEADROOM_COLUMNS = "speed cable reserved xon headroom threshold xon_offset"
POOL_COLUMNS = "pool type mode size shared_headroom"
PROFILE_COLUMNS = "profile pool reserved dynamic_th static_th"
DCQCN_COLUMNS = "parameter default unit minimum maximum source note"

_POOL_TYPES: dict[str, PoolType] = {"ingress": "ingress", "egress": "egress"}
_POOL_MODES: dict[str, PoolMode] = {"dynamic": "dynamic", "static": "static"}
_MODE = r"([0-9]+)x([0-9]+(?:\.[0-9]+)?[GT])((?:\[[\w.,]+\]|\([0-9]+\))*)"
_SEGMENT = r"([0-9,/-]+):\s*([0-9]+)x([0-9]+(?:\.[0-9]+)?[GT])(?:\(([0-9]+)\))?"
_SELECTION = r"([0-9]+)(?:-([0-9]+)(?:/([0-9]+))?)?"


def parse_mode(text: str, cage_lanes: int) -> BreakoutMode:
    """Return a breakout mode in the notation of platform.json: ``4x25G(4)[10G,1G]`` splits 4 lanes into 4 ports.

    Raises:
        ProfileError: the text has another form, or the lanes cannot be shared evenly.
    """
    match = re.fullmatch(_MODE, text)
    if match is None:
        raise ProfileError(f"{text!r} is not a breakout mode; write it like 2x400G[200G,100G]")
    used = re.search(r"\(([0-9]+)\)", match[3])
    others = re.search(r"\[([^\[\]]+)\]", match[3])
    count, lanes = int(match[1]), int(used[1]) if used else cage_lanes
    speeds = (match[2], *(others[1].split(",") if others else ()))
    _check_split(text, count, lanes, cage_lanes)
    return BreakoutMode(text, count, lanes, tuple(map(_speed, speeds)))


def _check_split(text: str, count: int, lanes: int, cage_lanes: int) -> None:
    if not 0 < count <= lanes <= cage_lanes or lanes % count:
        raise ProfileError(f"{text!r}: {count} ports cannot share {lanes} of {cage_lanes} lanes evenly")
    if count > len(PART_LETTERS):
        raise ProfileError(f"{text!r}: a cage has at most {len(PART_LETTERS)} ports, which letters name")


def parse_cages(table: str, modes: Mapping[str, list[str]]) -> tuple[Cage, ...]:
    """Return the cages of a table with the columns of :data:`CAGE_COLUMNS`.

    Raises:
        ProfileError: an invalid row or mode, or a set of modes that is not defined.
    """
    known: dict[tuple[str, int], tuple[BreakoutMode, ...]] = {}
    cages = []
    for name, lanes_text, alias, index, modes_name in _rows(table, CAGE_COLUMNS):
        lanes = _lanes(lanes_text)
        if re.fullmatch(r"Ethernet[0-9]+", name) is None:
            raise ProfileError(f"{name!r} is not the name of a cage; write it like Ethernet8")
        if modes_name not in modes:
            raise ProfileError(f"{name}: no modes called {modes_name!r}; known: {', '.join(modes)}")
        key = modes_name, len(lanes)
        if key not in known:
            known[key] = tuple(parse_mode(text, len(lanes)) for text in modes[modes_name])
        cages.append(Cage(name, lanes, alias, _integer(index, "index"), known[key]))
    return tuple(cages)


def parse_layout(layout: str, cages: tuple[Cage, ...], split_alias: str) -> tuple[PortSpec, ...]:
    """Return the ports of a HWSKU from its layout: the split and speed of each cage.

    ``1-55/2: 8x100G; 57: 4x25G(4); 65: 1x10G`` splits every second cage from 1 to 55 into eight, uses
    four lanes of cage 57 and leaves 65 whole; cages are named by their index. Others have no port.

    Raises:
        ProfileError: the text has another form, lanes that cannot be shared evenly, or a cage that does not exist or
            occurs twice.
    """
    by_index = {cage.index: cage for cage in cages}
    chosen: dict[int, tuple[PortSpec, ...]] = {}
    for segment in layout.split(";"):
        match = re.fullmatch(_SEGMENT, segment.strip())
        if match is None:
            raise ProfileError(f"{segment.strip()!r} is not part of a layout; write it like 1-28: 2x400G")
        for index in _selection(match[1]):
            if index not in by_index or index in chosen:
                why = "is mentioned twice" if index in chosen else "does not exist"
                raise ProfileError(f"{segment.strip()!r}: cage {index} {why}")
            cage, count = by_index[index], int(match[2])
            lanes = int(match[4] or len(cage.lanes))
            _check_split(segment.strip(), count, lanes, len(cage.lanes))
            chosen[index] = split(cage, count, lanes, _speed(match[3]), split_alias)
    return tuple(port for index in sorted(chosen) for port in chosen[index])


def _selection(text: str) -> Iterator[int]:
    for part in text.split(","):
        match = re.fullmatch(_SELECTION, part)
        if match is None:
            raise ProfileError(f"{part!r} does not name cages; write them like 1-28 or 1-55/2")
        step = int(match[3] or 1)
        if step == 0:
            raise ProfileError(f"{part!r} does not name cages: it takes each 0th")
        yield from range(int(match[1]), int(match[2] or match[1]) + 1, step)


def parse_headroom(table: str) -> tuple[HeadroomRow, ...]:
    """Return the rows of a table with the columns of :data:`HEADROOM_COLUMNS`.

    Raises:
        ProfileError: an invalid row.
    """
    return tuple(
        HeadroomRow(
            _speed(speed),
            _length(cable),
            _integer(reserved, "reserved"),
            _integer(xon, "xon"),
            _integer(headroom, "headroom"),
            _integer(threshold, "threshold"),
            _optional(xon_offset, "xon_offset"),
        )
        for speed, cable, reserved, xon, headroom, threshold, xon_offset in _rows(table, HEADROOM_COLUMNS)
    )


def parse_pools(table: str) -> tuple[PoolDefaults, ...]:
    """Return the pools of a table with the columns of :data:`POOL_COLUMNS`.

    Raises:
        ProfileError: an invalid row.
    """
    pools = []
    for name, kind, mode, size, shared in _rows(table, POOL_COLUMNS):
        if kind not in _POOL_TYPES:
            raise ProfileError(f"{name}: type {kind!r} is neither ingress nor egress")
        if mode not in _POOL_MODES:
            raise ProfileError(f"{name}: mode {mode!r} is neither dynamic nor static")
        sizes = _integer(size, "size"), _optional(shared, "shared_headroom")
        pools.append(PoolDefaults(name, _POOL_TYPES[kind], _POOL_MODES[mode], *sizes))
    return tuple(pools)


def parse_profiles(table: str) -> tuple[ProfileDefaults, ...]:
    """Return the buffer profiles of a table with the columns of :data:`PROFILE_COLUMNS`.

    Raises:
        ProfileError: an invalid row, or not exactly one threshold.
    """
    profiles = []
    for name, pool, reserved, dynamic_text, static_text in _rows(table, PROFILE_COLUMNS):
        dynamic, static = _optional(dynamic_text, "dynamic_th"), _optional(static_text, "static_th")
        if (dynamic is None) == (static is None):
            raise ProfileError(f"{name}: exactly one of dynamic_th and static_th must be set")
        profiles.append(ProfileDefaults(name, pool, _integer(reserved, "reserved"), dynamic, static))
    return tuple(profiles)


def parse_dcqcn(table: str) -> dict[str, Parameter]:
    """Return the parameters of a table with the columns of :data:`DCQCN_COLUMNS`; the note may have blanks.

    Raises:
        ProfileError: an invalid row.
    """
    from lossless.model.hardware.devices import Parameter

    parameters = {}
    for name, default, unit, minimum, maximum, source, note in _rows(table, DCQCN_COLUMNS):
        bounds = _optional(minimum, "minimum"), _optional(maximum, "maximum")
        text = "" if note == "-" else note
        parameters[name] = Parameter(_integer(default, "default"), unit, *bounds, source, text)
    return parameters


def _rows(table: str, columns: str) -> Iterator[list[str]]:
    width = len(columns.split())
    for line in table.splitlines():
        cells = line.partition("#")[0].split(None, width - 1)
        if not cells:
            continue
        if len(cells) != width or (width != 7 and " " in cells[-1].strip()):
            raise ProfileError(f"row {line.strip()!r} does not have the columns {columns}")
        cells[-1] = cells[-1].strip()
        yield cells


def _lanes(text: str) -> tuple[int, ...]:
    match = re.fullmatch(r"([0-9]+)(?:-([0-9]+))?", text)
    if match is None:
        raise ProfileError(f"{text!r} does not name lanes; write them like 8-15")
    return tuple(range(int(match[1]), int(match[2] or match[1]) + 1))


def _speed(text: str) -> int:
    try:
        return parse_rate(text)
    except QuantityError as error:
        raise ProfileError(str(error)) from error


def _length(text: str) -> int:
    try:
        return parse_length(text)
    except QuantityError as error:
        raise ProfileError(str(error)) from error


def _integer(text: str, column: str) -> int:
    if re.fullmatch(r"-?[0-9]+", text) is None:
        raise ProfileError(f"{column} {text!r} is not a whole number")
    return int(text)


def _optional(text: str, column: str) -> int | None:
    return None if text == "-" else _integer(text, column)
