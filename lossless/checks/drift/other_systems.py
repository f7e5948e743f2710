"""Differences between a switch of a system other than SONiC and its intent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.checks.drift.drift import NotCompared, SwitchDrift
from lossless.formats.device_files.other_systems import losses_of
from lossless.formats.sonic.changes.json_patch import FieldDifference, RowDifference
from lossless.formats.switches.contract import PORT_TABLE, differences as differences_of_system
from lossless.formats.switches.registry import TITLES, dialect
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.units import format_bytes
from lossless.ground.basics.wording import listed
from lossless.model.fabric.attributes import BY_KEY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.documents.text import Document
    from lossless.model.fabric.attributes import Attribute
    from lossless.model.fabric.model import Switch


def drift_of_system(switch: Switch, running: Document) -> SwitchDrift:
    """Return how the configuration of a switch differs from its intent, in all that its system has a place for."""
    if running.dialect != switch.format:
        runs, declared = (TITLES.get(name, "SONiC") for name in (running.dialect, switch.format))
        return SwitchDrift((), problems=(f"{running.shown}: is of {runs}; {switch.name} runs {declared}",))
    system = dialect(running.dialect)
    read = system.read(running, ()).switch
    ports = {port.name: port for port in read.ports if port.qos is not None}
    absent = [port.name for port in switch.ports if port.placed and port.qos and port.name not in ports]
    present = [d for d in differences_of_system(switch, read, system.losses) if d.port in ports]
    moved = {difference.port for difference in present if difference.part == "dscp"}
    # Which DSCPs a pause stops follows from where they go.
    own = [d for d in present if not (d.part == "paused" and d.port in moved)]
    fields = grouped((d.port, field) for d in own for field in _fields(d.part, d.what, d.read, d.declared))
    return SwitchDrift(
        (
            *(RowDifference(PORT_TABLE, port, "added", ()) for port in absent),
            *(RowDifference(PORT_TABLE, port, "changed", tuple(of)) for port, of in fields.items()),
        ),
        not_compared=tuple(NotCompared(BY_KEY[key].title, why) for key, why in losses_of(switch).items()),
    )


def _fields(part: str, what: str, before: Any, after: Any) -> Iterator[FieldDifference]:
    """Yield the differing fields: of a map the moved entries, of a marking curve each differing number."""
    if part == "dscp" and before is not None:
        yield from _moved(before, after)
    elif part == "ecn" and before is not None and after is not None:
        for (name, unit), old, new in zip(_CURVE, before, after, strict=True):
            if old != new:
                yield FieldDifference(f"{name} of {what}", _number(old, unit), _number(new, unit))
    else:
        attribute = BY_KEY[part]
        label = (attribute.label or attribute.title).format(what)
        yield FieldDifference(label, _text(attribute, before), _text(attribute, after))


_CURVE = (("marks", ""), ("Kmin", "B"), ("Kmax", "B"), ("Pmax", "%"))


def _number(value: Any, unit: str) -> str | None:
    if value is None or isinstance(value, bool):
        return None if value is None else "yes" if value else "no"
    return format_bytes(value) if unit == "B" else f"{value} {unit}"


def _moved(before: tuple[int, ...], after: tuple[int, ...]) -> Iterator[FieldDifference]:
    moved = grouped(
        (ends, str(dscp)) for dscp, ends in enumerate(zip(before, after, strict=True)) if ends[0] != ends[1]
    )
    for (old, new), dscps in moved.items():
        yield FieldDifference(f"the queue of DSCP {listed(dscps)}", str(old), str(new))


def _text(attribute: Attribute, value: Any) -> str | None:
    """Return the value of an attribute in words, None if it is not set."""
    if value is None:
        return "no marking" if attribute.key == "ecn" else None
    if attribute.key == "ecn":
        return f"marking from {_number(value[1], 'B')} to {_number(value[2], 'B')}, {value[3]} %"
    if attribute.key == "scheduler":
        kind, weight = value
        return kind if weight is None else f"{kind} {weight} %"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return f"{value} {attribute.unit}".rstrip()
