"""The changes from the current intent to another, as lines of text: devices renamed, added, removed, cables moved.

The changes from the current intent to another, as plain data.

Names once shipped stay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import grouped
from lossless.ground.basics.foreign_text import spelled_out, visible
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_rate
from lossless.ground.documents.yaml.compose import text_scalar
from lossless.output.report.columns import PLAIN, TextStyle, table, wrapped
from lossless.output.report.plain import plain
from lossless.output.report.topology.text import first_to_last, many

if TYPE_CHECKING:
    from lossless.analysis.topology.recabling import DeclaredCable, RecablingPlan
    from lossless.analysis.topology.shapes import PlanNode
    from lossless.ground.basics.findings import Json


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.analysis.topology.recabling import DeclaredCable, RecablingPlan
    from lossless.analysis.topology.shapes import PlanNode

    Pair = tuple[DeclaredCable, DeclaredCable]
    """A cable as it is, and as it is to be."""
    Row = tuple[str, ...]

_FEW = 4


class _Changes(NamedTuple):
    """The changes of a new cabling, with names that can be shown."""

    renamed: tuple[tuple[PlanNode, str], ...]
    added: tuple[PlanNode, ...]
    removed: tuple[PlanNode, ...]
    moved: tuple[Pair, ...]
    changed: tuple[Pair, ...]
    added_wires: tuple[DeclaredCable, ...]
    removed_wires: tuple[DeclaredCable, ...]


def recabling_text(plan: RecablingPlan, path: str, against: str, style: TextStyle = PLAIN) -> str:
    """Return the changes from the current intent to another."""
    changes = _Changes(
        renamed=tuple(plan.renamed),
        added=plan.added,
        removed=plan.removed,
        moved=plan.moved,
        changed=plan.changed,
        added_wires=plan.added_wires,
        removed_wires=plan.removed_wires,
    )
    return "\n\n".join(_blocks(spelled_out(changes), visible(path), visible(against), style))


def pins_yaml(names: Mapping[str, str], ports: Mapping[str, Sequence[str]]) -> str:
    """Return names and ports as they are stated beside a shape."""
    lines = ["  names:"] if names else []
    lines += [f"    {text_scalar(old)}: {text_scalar(new)}" for old, new in names.items()]
    lines += ["  ports:"] if ports else []
    lines += [
        f"    {_quoted(ends)}: [{', '.join(map(text_scalar, stated))}]" for ends, stated in ports.items()
    ]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=not text.isprintable())


def _blocks(changes: _Changes, path: str, against: str, style: TextStyle) -> Iterator[str]:
    yield wrapped(f"{path} against {against}: {_in_short(changes)}", style)
    devices = list(_devices(changes))
    if devices:
        yield table([("devices", "how many", "which"), *devices], style)
    links = list(_links(changes))
    if links:
        yield table([("links", "how many", "which"), *links], style)
    if changes.moved:
        heads = ("cables that move", "how many", "at", "from", "to")
        yield table([heads, *_ends(changes.moved)], style)


def _in_short(changes: _Changes) -> str:
    parts = [
        *_counted("device", len(changes.renamed), "renamed"),
        *_counted("device", len(changes.removed), "removed"),
        *_counted("cable", len(changes.moved), "moved"),
        *_counted("cable", len(changes.changed), "changed"),
        *_counted("cable", len(changes.removed_wires), "removed"),
    ]
    if parts:
        return ", ".join(parts)
    added = bool(changes.added or changes.added_wires)
    return "no existing device or cable changes" if added else "nothing changes"


def _counted(what: str, number: int, done: str) -> Iterator[str]:
    if number:
        yield f"{many(number, what)} {done}"


def _devices(changes: _Changes) -> Iterator[Row]:
    renamed = ((node.role, f"{node.name} -> {name}") for node, name in changes.renamed)
    added = ((node.role, node.name) for node in changes.added)
    removed = ((node.role, node.name) for node in changes.removed)
    for done, devices in (("renamed", renamed), ("added", added), ("removed", removed)):
        for role, names in grouped(devices).items():
            yield done, many(len(names), role), _some(names)


def _links(changes: _Changes) -> Iterator[Row]:
    for tier, pairs in grouped((was.tier, was) for was, _ in changes.moved).items():
        yield "moved", f"{len(pairs):,} {tier}", "below"
    changed = grouped(((was.tier, f"{_link(was)} -> {_link(to_be)}"), was) for was, to_be in changes.changed)
    for (tier, change), pairs in changed.items():
        yield "changed", f"{len(pairs):,} {tier}", change
    for done, wires in (("added", changes.added_wires), ("removed", changes.removed_wires)):
        for tier, group in grouped(
            (wire.tier, f"{_end(wire.a, wire.a_port)} - {_end(wire.b, wire.b_port)}") for wire in wires
        ).items():
            yield done, f"{len(group):,} {tier}", _range(group)


def _link(wire: DeclaredCable) -> str:
    return f"{format_rate(wire.speed_bps)} {wire.cable_m:,} m"


def _end(device: str, port: str | None) -> str:
    return device if port is None else f"{device}:{port}"


def _ends(pairs: Iterable[Pair]) -> Iterator[Row]:
    """Yield, for two devices and each end of the cables between them that moves, the ports from first to last."""
    between = grouped(((was.a, was.b), (was.ports, to_be.ports)) for was, to_be in pairs)
    for (a, b), group in between.items():
        for end, device in enumerate((a, b)):
            there = [(was[end], to_be[end]) for was, to_be in group if was[end] != to_be[end]]
            if there:
                old, new = (_range([ports[side] or "none" for ports in there]) for side in (0, 1))
                yield f"{a} - {b}", str(len(there)), device, old, new


def _range(names: Sequence[str]) -> str:
    return first_to_last(names[0], names[-1])


def _some(names: Sequence[str]) -> str:
    """Return all names where they are few; devices that are added need not follow each other."""
    if len(names) <= _FEW:
        return ", ".join(names)
    return f"{names[0]}, {first_to_last(names[1], names[-1])}"


def recabling_data(plan: RecablingPlan) -> dict[str, Json]:
    """Return the devices and links that stay, and those that change."""
    return {
        "stays": plan.stays,
        "devices": {
            "kept": sum(node.name == name for name, node in plan.same.items()),
            "renamed": [{"was": node.name, "name": name, "role": node.role} for node, name in plan.renamed],
            "added": [_device(node) for node in plan.added],
            "removed": [_device(node) for node in plan.removed],
        },
        "links": {
            "kept": plan.kept,
            "moved": [_pair(*pair) for pair in plan.moved],
            "changed": [_pair(*pair) for pair in plan.changed],
            "added": plain(plan.added_wires),
            "removed": plain(plan.removed_wires),
        },
    }


def _device(node: PlanNode) -> dict[str, Json]:
    return {"name": node.name, "role": node.role}


def _pair(was: DeclaredCable, to_be: DeclaredCable) -> dict[str, Json]:
    return {"was": plain(was), "is": plain(to_be)}
