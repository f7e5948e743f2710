"""Reads NetBox: devices, interfaces and cables as its API returns them, one list a file, or several in one object.

Fields: netbox-community/netbox netbox/dcim/api/serializers_/cables.py @117f2f8 (``a_terminations``, ``b_terminations``,
``length``, ``length_unit``, ``status``) and netbox/netbox/api/serializers/generic.py @3b767fd (``object_type``,
``object``); before version 3.3 an end was ``termination_a`` of ``termination_a_type``. ``speed`` of an interface counts
kilobits (``speed (Kbps)`` there). Consoles and power are skipped, and so are cables that are being
removed (``decommissioning``).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lossless.formats.importing.cabling.cables import CableFile, FileCable, FileLine, parse_cable_length
from lossless.ground.basics.errors import Problem, QuantityError
from lossless.model.fabric.cabling import CableEnd

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.documents.document import Document

_TYPE = re.compile(r"([\d.]+)([gt]?)base-|\(([\d.]+)([GT])E\)")
_INTERFACE = "dcim.interface"
_PANELS = ("dcim.frontport", "dcim.rearport")


def interface_bps(kind: str) -> int | None:
    """Return the speed of an interface type, ``400gbase-x-osfp`` or ``OSFP (400GE)``; None for a type without one."""
    match = _TYPE.search(kind)
    if match is None:
        return None
    number, unit = (match[1], match[2]) if match[1] else (match[3], match[4])
    scale = {"g": 10**9, "t": 10**12, "": 10**6}[unit.lower()]
    return int(float(number) * scale)


def is_netbox(data: dict[Any, Any]) -> bool:
    """Return whether JSON is a response of NetBox's API."""
    return any(True for _ in _lists(data))


def read_netbox(document: Document) -> CableFile:
    """Return the devices, interfaces and cables of an export; cables that cannot become one link are problems."""
    return _Export(document).contents()


def _lists(data: dict[Any, Any]) -> Iterator[tuple[tuple[str | int, ...], list[Any]]]:
    """Yield the lists of objects of an export, each with its path."""
    if 0 in data:
        # The items of a list are in the data by their numbers.
        yield (), list(data.values())
    else:
        for key in ("results", "devices", "interfaces", "cables"):
            value = data.get(key)
            if isinstance(value, list):
                yield (key,), value
            elif isinstance(value, dict) and isinstance(value.get("results"), list):
                yield (key, "results"), value["results"]


class _Export:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._cables: list[FileCable] = []
        self._roles: list[tuple[str, str, FileLine]] = []
        self._speeds: list[tuple[CableEnd, int]] = []
        self._rated: list[tuple[CableEnd, int]] = []
        self._problems: list[Problem] = []

    def contents(self) -> CableFile:
        listed = [
            ((*path, number), item)
            for path, items in _lists(self._document.data)
            for number, item in enumerate(items)
            if isinstance(item, dict)
        ]
        spans = self._document.locate_many([path for path, _ in listed])
        for path, item in listed:
            self._take(item, FileLine(self._document.file, spans[path].line))
        speeds, rated = tuple(self._speeds), tuple(self._rated)
        return CableFile(tuple(self._cables), tuple(self._roles), speeds, rated, tuple(self._problems))

    def _take(self, item: dict[str, Any], place: FileLine) -> None:
        if "a_terminations" in item or "termination_a_type" in item:
            self._take_cable(item, place)
        elif "device_type" in item:
            role = _text(item.get("role") or item.get("device_role"), "slug", "name")
            if role and item.get("name"):
                self._roles.append((str(item["name"]), role, place))
        elif "device" in item and "type" in item:
            self._take_interface(item)

    def _take_interface(self, item: dict[str, Any]) -> None:
        device, name = _text(item["device"], "name", "display"), str(item.get("name") or "")
        kbps, rated_bps = item.get("speed"), interface_bps(_text(item["type"], "value"))
        if not device or not name:
            return
        if isinstance(kbps, int) and kbps:
            self._speeds.append((CableEnd(device, name), kbps * 1000))
        elif rated_bps:
            self._rated.append((CableEnd(device, name), rated_bps))

    def _take_cable(self, item: dict[str, Any], place: FileLine) -> None:
        if _text(item.get("status"), "value").lower() == "decommissioning":
            return
        ends = [_ends(item, side) for side in ("a", "b")]
        kinds = {kind for side in ends for kind, _ in side}
        name = f"cable {item.get('label') or item.get('id') or ''}".strip()
        if _INTERFACE not in kinds and not kinds & {*_PANELS}:
            return
        why = _refusal(ends, kinds)
        if why is not None:
            self._problems.append(place.problem(f"{name}: {why}"))
            return
        (_, a), (_, b) = ends[0][0], ends[1][0]
        if a is None or b is None:
            self._problems.append(place.problem(f"{name}: an end names no device and interface"))
            return
        try:
            cable_m = _length(item)
        except QuantityError as error:
            self._problems.append(place.problem(f"{name}: {error}"))
            return
        self._cables.append(FileCable(a, b, None, cable_m, place))


def _refusal(ends: list[list[tuple[str, CableEnd | None]]], kinds: set[str]) -> str | None:
    if kinds & {*_PANELS}:
        return "it ends at a patch panel; the link goes on there, and its whole length is not said here"
    if any(not side for side in ends):
        return "one end is not connected"
    if any(len(side) > 1 for side in ends):
        return "it has several ends on one side; write each link of a breakout as a cable of its own"
    return f"it joins an interface to {', '.join(sorted(kinds - {_INTERFACE}))}" if len(kinds) > 1 else None


def _ends(item: dict[str, Any], side: str) -> list[tuple[str, CableEnd | None]]:
    """Return the ends of one side: the type of each, and its place; None where the export does not name it."""
    listed = item.get(f"{side}_terminations")
    if listed is None:
        kind = item.get(f"termination_{side}_type")
        return [(str(kind), _end(item.get(f"termination_{side}")))] if kind else []
    objects = [end for end in listed if isinstance(end, dict)] if isinstance(listed, list) else []
    return [(str(end.get("object_type", "")), _end(end.get("object"))) for end in objects]


def _end(named: Any) -> CableEnd | None:
    if not isinstance(named, dict):
        return None
    device, port = _text(named.get("device"), "name", "display"), str(named.get("name") or "")
    return CableEnd(device, port) if device and port else None


def _length(item: dict[str, Any]) -> int | None:
    length = item.get("length")
    return (
        None if length is None else parse_cable_length(str(length), _text(item.get("length_unit"), "value"))
    )


def _text(value: Any, *keys: str) -> str:
    """Return a value that is text itself, or the first text under one of the keys."""
    if isinstance(value, dict):
        return next((str(value[key]) for key in keys if value.get(key)), "")
    return str(value) if isinstance(value, str) else ""
