"""The config updater's own rules on one element of a difference, by the version of its code and the device.

``profiles/sonic/updater.json`` has the rules with their sources. A release runs the code of its branch; the code then
compares the date in the build string of the device with the first release of each chip.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.data_files import data_dir
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.formats.sonic.changes.json_difference import Element

NEWEST = "master"
"""The release whose builds carry no number that the updater could compare."""


class UpdaterDevice(NamedTuple):
    """The properties of a device on which the updater's rules depend.

    ``release`` chooses the version of the code. ``asic_type`` and ``build_version`` are those that the device reports;
    if they are unknown (None), the type follows from the HWSKU and the date from the release. ``advertised`` has the
    ports of STATE_DB: fields of PORT_TABLE by port, none where nothing is advertised.
    """

    hwsku: str
    release: str = NEWEST
    asic_type: str | None = None
    build_version: str | None = None
    advertised: Mapping[str, Mapping[str, str]] = {}


class UpdaterRules(NamedTuple):
    """The rules that hold for one device.

    ``chip`` is the updater's own name, None where it has none; ``date`` is the number that it compares, None where it
    compares none.
    """

    device: UpdaterDevice
    chip: str | None
    date: str | None
    own: Mapping[str, Any]
    never: frozenset[tuple[str, str]]

    def refusal(self, element: Element) -> str | None:
        """Return why the updater refuses an element of a difference, None where it does not."""
        if (element.op, "/".join(element.path)) in self.never:
            return "the updater never does that"
        return self.validator_refusal(element)

    def validator_refusal(self, element: Element) -> str | None:
        """Return why the validator of the element's table refuses it, None where it does not."""
        own = self.own["tables"].get(element.path[0])
        if element.path[0] == "PORT" and "advertised" in self.own:
            return next(_not_advertised(element, self.own["advertised"], self.device.advertised), None)
        if own is None:
            return None
        if len(element.path) == 2 and "rows" in own:
            return None if element.op in own["rows"] else self._not_permitted(element)
        if self.chip is None:
            return f"the updater of {self.device.release} does not list HWSKU {self.device.hwsku}"
        names = _names(element, whole=own["fields"] == "whole")
        if all(self._permitted(name, element.op, own) for name in names):
            return None
        return self._not_permitted(element)

    def _permitted(self, name: str, op: str, own: Mapping[str, Any]) -> bool:
        seen = name if own["fields"] == "whole" else name.rpartition("/")[2]
        scenario = next((row for row in own["scenarios"] if seen in row["fields"]), None)
        if scenario is None or op not in scenario["operations"]:
            return False
        since = scenario["since"].get(self.chip)
        return since is not None and (self.date is None or self.date >= since)

    def _not_permitted(self, element: Element) -> str:
        place = {1: "table", 2: "row"}.get(len(element.path), "field")
        if element.op == "move":
            return f"the updater sees it as moved from a {place} that goes, and permits no moves"
        did = {"add": "adding", "replace": "changing", "remove": "removing"}.get(element.op, element.op)
        what = {"table": "the table", "row": "a row"}.get(place, "this field")
        return f"the updater of {self.device.release} does not permit {did} {what}"


@cache
def updater_table() -> dict[str, Any]:
    """Return ``profiles/sonic/updater.json``."""
    import json

    # Plain strings: pathlib costs a linter's start a third of an interpreter's.
    path = os.path.join(data_dir("profiles"), "sonic", "updater.json")  # noqa: PTH118
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        table: dict[str, Any] = json.load(file)
    return table


def rules_of(device: UpdaterDevice) -> UpdaterRules | None:
    """Return the rules for a device, None if those of its release are unknown."""
    table = updater_table()
    known = table["releases"].get(device.release)
    if known is None:
        return None
    own = table["rules"][known["rules"]]
    chip = chip_of(device.hwsku, device.asic_type, table["chips"][known["chips"]])
    never = {(op, path) for rules in (table, own) for op, paths in _never(rules) for path in paths}
    return UpdaterRules(device, chip, _date(device), own, frozenset(never))


def _never(rules: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[str]]]:
    yield from ((op, paths) for op, paths in rules.get("never", {}).items() if op != "source")


def chip_of(hwsku: str, asic_type: str | None, chips: Mapping[str, Any]) -> str | None:
    """Return the updater's name of a chip, None where it has none.

    Some chips are known by the type of the device alone; some products are listed whole, of others a part of the name.
    """
    if asic_type in chips.get("types", ()):
        return asic_type
    name = hwsku.lower()
    if asic_type in ("mellanox", "vs", None):
        for chip, listed in chips["whole"].items():
            if name in map(str.lower, listed):
                return str(chip)
    if asic_type in ("broadcom", "vs", None):
        for chip, listed in chips["part"].items():
            if any(part.lower() in name for part in listed):
                return str(chip)
    return None


def _date(device: UpdaterDevice) -> str | None:
    """Return the date that the updater compares: the last part of eight digits of the build string."""
    if device.build_version is None:
        return None if device.release == NEWEST else f"{device.release}00"
    dates = [part for part in device.build_version.split(".") if len(part) == 8 and part.isdigit()]
    return dates[-1] if dates else None


def _names(element: Element, *, whole: bool) -> list[str]:
    """Return the fields that the updater sees: parts with digits count as ports, and are left out."""
    parts = [part for part in element.path[1:] if not (whole and any(map(str.isdigit, part)))]
    place = "/".join(parts).lower()
    if isinstance(element.value, dict):
        return [f"{place}/{key}" if place else key for key in element.value]
    return [place]


def _not_advertised(
    element: Element, fields: Mapping[str, Any], advertised: Mapping[str, Mapping[str, str]]
) -> Iterator[str]:
    """Yield the speeds and FEC modes in an element that the device does not advertise for their ports."""
    if element.op == "remove":
        return
    for port, field, value in _speeds_and_fecs(element, tuple(fields)):
        if not _offered(value, field, fields[field], advertised.get(port, {})):
            yield f"the device does not advertise {field} {value} on {port}"


def _speeds_and_fecs(element: Element, fields: Sequence[str]) -> Iterator[tuple[str, str, Any]]:
    """Yield port, field and value of each checked setting: of an added row or table, the first field alone."""
    port, value = element.path[1] if len(element.path) > 1 else "", element.value
    if len(element.path) > 2:
        yield from ((port, field, value) for field in fields if element.path[-1].endswith(field))
    elif isinstance(value, dict):
        rows = {port: value} if port else {name: row for name, row in value.items() if isinstance(row, dict)}
        for field in fields:
            named = [(name, field, row[field]) for name, row in rows.items() if field in row]
            if named:
                yield from named
                return


def _offered(value: Any, field: str, rule: Mapping[str, Any], advertised: Mapping[str, str]) -> bool:
    offered = advertised.get(rule["field"], "")
    if field == "speed":
        speeds = [_number(speed) for speed in offered.split(",") if speed]
        return not speeds or (None not in speeds and _number(value) in speeds)
    names = [name.strip() for name in offered.split(",")] if offered else rule["otherwise"]
    return isinstance(value, str) and value.strip() in ([] if offered == "N/A" else names)


def _number(text: Any) -> int | None:
    try:
        return int(text)
    except (TypeError, ValueError):
        return None
