"""Reads ``mlnx_qos -i IF`` as readings: the reader of host facts parses it, this one names the values.

An output that is cut before its PFC configuration leaves PFC of every priority unknown, which is not off. Scripts of
vendors print it indented, below ``show configuration for device eth0 / mlx5_0``, and below it whether ECN is on for
each priority.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.hosts.read import mlnx_qos
from lossless.formats.hosts.read.facts import HostFact, Section, SectionLine
from lossless.ground.basics.records import UNKNOWN
from lossless.model.fabric.qos import PRIORITIES
from lossless.model.fabric.state import StateReading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.basics.records import Maybe
    from lossless.ground.documents.printed_lines import PrintedSection
    from lossless.model.fabric.state import Identity, StateItems

_SIGN = re.compile(r"^[ \t]*(?:DCBX mode|Priority trust state): ", re.MULTILINE)
_DEVICE = re.compile(r"=+ show configuration for device (\S+) / \S+?=+")
_ECN = re.compile(r"ECN Enabled for priority ([0-7]): \S+/roce_([nr]p)/enable/[0-7] = ([01])")
_WORDS = {"dcbx": "dcbx", "trust": "trust", "pfc_delay": "cable_len", "max_buffer_size": "max_buffer_size"}
_UNITS = {"pfc_delay": "m", "max_buffer_size": "bytes"}


def is_form(section: PrintedSection) -> bool:
    """Return whether the beginning of a text has a line that mlnx_qos prints first."""
    return bool(_SIGN.search(section.head))


def read(section: PrintedSection) -> StateItems:
    """Yield the settings of an interface and of each of its priorities, DSCPs, buffers and traffic classes."""
    margin = min((len(t) - len(t.lstrip()) for line in section.lines if (t := line.text).strip()), default=0)
    numbered = tuple(SectionLine(line.number, line.text[margin:]) for line in section.lines)
    titled = next((match[1] for line in numbered if (match := _DEVICE.match(line.text))), "")
    named = section.named or titled
    device: Identity = (("device", named),) if named else ()
    for line in numbered:
        if (match := _ECN.match(line.text)) is not None:
            identity: Identity = (*device, ("priority", match[1]))
            path = (section.form, line.start, match[2])
            yield StateReading(identity, f"ecn_{match[2]}", int(match[3]), "", "now", path, match[2])
    facts_section = Section(section.title or section.form, section.named, numbered)
    knows_pfc = False
    for item in (*mlnx_qos.read(facts_section), *mlnx_qos.printed_beside(facts_section)):
        if isinstance(item, HostFact):
            knows_pfc = knows_pfc or item.key == "pfc"
            for reading in _readings(device, item):
                yield reading._replace(path=(section.form, *reading.path))
        else:
            yield section.problem(section.lines[-1], item.message)
    if not knows_pfc:
        for priority in PRIORITIES:
            reading = _reading(device, "priority", priority, "pfc_enabled", UNKNOWN, None)
            yield reading._replace(path=(section.form, *reading.path))


def _readings(device: Identity, fact: HostFact) -> Iterator[StateReading]:
    part, _, number = fact.key.rpartition(".")
    if fact.key in _WORDS:
        yield _reading(device, "", 0, _WORDS[fact.key], fact.value, fact, _UNITS.get(fact.key, ""))
    elif part == "dscp_to_priority":
        yield _reading(device, "dscp", int(number), "priority", fact.value, fact)
    elif part in ("tsa", "bw"):
        yield _reading(device, "tc", int(number), part, fact.value, fact, "percent" if part == "bw" else "")
    elif part == "buffer_size":
        yield _reading(device, "buffer", int(number), "size", fact.value, fact, "bytes")
    elif fact.key in ("pfc", "priority_to_tc", "priority_to_buffer"):
        yield from _by_priority(device, fact)


def _by_priority(device: Identity, fact: HostFact) -> Iterator[StateReading]:
    for priority in PRIORITIES:
        if fact.key == "pfc":
            yield _reading(device, "priority", priority, "pfc_enabled", int(priority in fact.value), fact)
        elif priority in fact.value:
            name = fact.key.removeprefix("priority_to_")
            yield _reading(device, "priority", priority, name, fact.value[priority], fact)


def _reading(
    device: Identity,
    kind: str,
    number: int,
    name: str,
    value: Maybe[int | str],
    fact: HostFact | None,
    unit: str = "",
) -> StateReading:
    identity: Identity = (*device, (kind, str(number))) if kind else device
    line = fact.place.start if fact and fact.place else 0
    return StateReading(identity, name, value, unit, "now", (line, fact.key if fact else name), name)
