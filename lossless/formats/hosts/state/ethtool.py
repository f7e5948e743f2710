"""Reads ``ethtool -S IF``: counters of a NIC by name, the complete output or the rest of it after a filter.

With and without the line ``NIC statistics:``, indented or not; ``[0]: name: 1`` is of ring 0, and vmxnet3 has a line
``Tx Queue#: 0`` before the counters of a ring. mlx5 prints ``rx_prio3_pause`` only where PFC is on for priority 3
(Linux mlx5/counters.rst @16f448d): where the counters of all priorities are there and those of pauses only of some,
the NIC has none for the others.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.hosts.state.ethtool_names import NicCounterName, counter_name, unit_of
from lossless.ground.basics.known import UNKNOWN
from lossless.ground.documents.printed_values import counted
from lossless.model.fabric.state.readings import StateReading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.printed_lines import PrintedLine, PrintedSection
    from lossless.model.fabric.state.collected import StateItems

_HEADING = re.compile(r"\s*NIC statistics(?: for \S+)?:\s*")
_COUNTER = re.compile(r"\s*(\S[^:=]*(?::[^:=]*)?):\s*(\S*)\s*")
_NAME = re.compile(r"(?:\[[a-z0-9]+\]:? ?|[rt]xq[0-9]+: ?)?[A-Za-z][A-Za-z0-9_.\[\]#()/ -]{0,63}")
_NUMBER = re.compile(r"[0-9]{1,39}")
_OF_NICS = re.compile(r"(?i)(?:^|[^a-z])(?:rx|tx|frames|pause|packets|octets|pci|prio|queue)(?:[^a-z]|$)")
_RING = re.compile(r"\s*([TR]x) Queue#: ([0-9]+)\s*")
_SUMS = re.compile(r"rx_prio([0-7])_packets")
_PAUSES = re.compile(r"(rx|tx)_prio([0-7])_pause")


def is_form(section: PrintedSection) -> bool:
    """Return whether nearly all lines are counters whose names look like those of NIC drivers."""
    lines = [line.text for line in section.lines[:400] if _counts(line.text)]
    if not lines:
        return False
    names = [name for name, number in map(_split, lines) if _NUMBER.fullmatch(number)]
    likely = sum(bool(_OF_NICS.search(name)) for name in names)
    titled = any(_HEADING.fullmatch(line.text) for line in section.lines[:8])
    return len(names) * 10 >= len(lines) * 9 and (titled or 3 * likely >= max(len(names), 1))


def read(section: PrintedSection) -> StateItems:
    """Yield every counter, under the name common to all drivers where there is one."""
    device = (("device", section.named),) if section.named else ()
    ring, lines = None, {}
    for line in section.lines:
        if match := _RING.fullmatch(line.text):
            ring = (match[1].lower(), match[2])
        if not _counts(line.text) or match:
            continue
        name, word = _split(line.text)
        number = counted(word)
        if not name or number is UNKNOWN:
            yield section.problem(
                line, f"expected a counter and its value as in rx_packets: 12, not {line.text.strip()!r}"
            )
            continue
        lines[name] = line
        called = counter_name(name) if ring is None else _below(name, ring)
        yield _reading(device, called, name, number, section.place(line, name))
    yield from _without_pauses(section, device, lines)


def _counts(text: str) -> bool:
    bare = text.strip()
    return bool(bare) and not bare.startswith(("#", "==>")) and not _HEADING.fullmatch(text)


def _split(text: str) -> tuple[str, str]:
    """Return the name and the value of a line, both empty for a line that is not a counter."""
    name, _, value = text.rpartition(":")
    bare = name.strip()
    return (bare, value.strip()) if _NAME.fullmatch(bare) else ("", "")


def _below(name: str, ring: tuple[str, str]) -> NicCounterName:
    way, number = ring
    return NicCounterName(f"ring_{way}_{name.lower().replace(' ', '_')}", unit_of(name), (("ring", number),))


def _reading(
    device: tuple[tuple[str, str], ...],
    called: NicCounterName,
    heading: str,
    number: int | None,
    path: Path,
) -> StateReading:
    return StateReading((*device, *called.part), called.name, number, called.unit, "boot", path, heading)


def _without_pauses(
    section: PrintedSection, device: tuple[tuple[str, str], ...], lines: dict[str, PrintedLine]
) -> Iterator[StateReading]:
    """Yield UNKNOWN pause counters of an mlx5 for priorities without PFC, if the output is complete."""
    present = {match[0] for name in lines if (match := _PAUSES.fullmatch(name))}
    whole = "rx_packets" in lines and "rx_vport_unicast_packets" in lines
    for name, line in lines.items():
        priority = _SUMS.fullmatch(name)
        for way in ("rx", "tx") if priority and whole else ():
            heading = f"{way}_prio{priority[1]}_pause" if priority else ""
            if heading not in present:
                yield _reading(device, counter_name(heading), heading, None, section.place(line, heading))
