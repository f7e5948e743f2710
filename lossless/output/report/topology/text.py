"""The topology of a fabric as text: numbers, capacity, and changes between two intents, the last also as plain data.

Numbers are switches and hosts by product, ports used and free, links by tier. Capacity is by tier, across the
bisection, and for each GPU. Changes from the current intent are devices renamed, added and removed, and cables moved;
keys of their data once shipped stay. The result of opensm for a subnet is text as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import grouped
from lossless.ground.basics.foreign_text import spelled_out, visible
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_capacity, format_rate
from lossless.ground.documents.yaml.compose import text_scalar
from lossless.output.report.columns import PLAIN, TextStyle, facts, table, wrapped
from lossless.output.report.lint.summary import counted
from lossless.output.report.plain import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import TypedDict

    from lossless.analysis.opensm.check import ConfigurationKeys, OpensmResult
    from lossless.analysis.topology.bisection import (
        FabricCapacity,
        GpuBandwidth,
        HalvesCapacity,
        TierCapacity,
        ToleratedFailures,
    )
    from lossless.analysis.topology.recabling import DeclaredCable, RecablingPlan
    from lossless.analysis.topology.shapes import PlanNode
    from lossless.analysis.topology.summary import FabricSummary, LinkGroup, PortCount, SwitchGroup


if TYPE_CHECKING:

    class NodeData(TypedDict):
        """A device of a fabric."""

        name: str
        role: str

    class RenamedData(NodeData):
        """A device with another name."""

        was: str

    class DeviceChangeData(TypedDict):
        """The devices that stay, and those that change."""

        kept: int
        renamed: list[RenamedData]
        added: list[NodeData]
        removed: list[NodeData]

    PairData = TypedDict("PairData", {"was": DeclaredCable, "is": DeclaredCable})
    """A cable in the current intent, and the same cable in the new one."""

    class LinkChangeData(TypedDict):
        """The links that stay, and those that change."""

        kept: int
        moved: list[PairData]
        changed: list[PairData]
        added: tuple[DeclaredCable, ...]
        removed: tuple[DeclaredCable, ...]

    class RecablingData(TypedDict):
        """The devices and links that stay between two intents, and those that change."""

        stays: bool
        devices: DeviceChangeData
        links: LinkChangeData

    Pair = tuple[DeclaredCable, DeclaredCable]
    """A cable in the current intent, and the same cable in the new one."""
    Row = tuple[str, ...]

_FEW = 4


class _Changes(NamedTuple):
    """The changes of devices and cables from the current intent to a new one."""

    renamed: tuple[tuple[PlanNode, str], ...]
    added: tuple[PlanNode, ...]
    removed: tuple[PlanNode, ...]
    moved: tuple[Pair, ...]
    changed: tuple[Pair, ...]
    added_wires: tuple[DeclaredCable, ...]
    removed_wires: tuple[DeclaredCable, ...]


def recabling_text(plan: RecablingPlan, path: str, against: str, style: TextStyle = PLAIN) -> str:
    """Return the changes of devices and cables from the current intent to another as text."""
    changes = _Changes(
        renamed=tuple(plan.renamed),
        added=plan.added,
        removed=plan.removed,
        moved=plan.moved,
        changed=plan.changed,
        added_wires=plan.added_wires,
        removed_wires=plan.removed_wires,
    )
    return "\n\n".join(_recabling_blocks(spelled_out(changes), visible(path), visible(against), style))


def pins_yaml(names: Mapping[str, str], ports: Mapping[str, Sequence[str]]) -> str:
    """Return the YAML of ``names`` and ``ports`` as an intent states them beside a shape."""
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


def _recabling_blocks(changes: _Changes, path: str, against: str, style: TextStyle) -> Iterator[str]:
    yield wrapped(f"{path} against {against}: {_in_short(changes)}", style)
    devices = list(_devices(changes))
    if devices:
        yield table([("devices", "how many", "which"), *devices], style)
    links = list(_changed_links(changes))
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


def _changed_links(changes: _Changes) -> Iterator[Row]:
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
    """Yield a row for each device whose ports change on moved cables: pair, count, device, old and new ports."""
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
    """Return all names up to four, else the first, then the range from the second to the last."""
    if len(names) <= _FEW:
        return ", ".join(names)
    return f"{names[0]}, {first_to_last(names[1], names[-1])}"


def recabling_data(plan: RecablingPlan) -> RecablingData:
    """Return the numbers of devices and links that stay between two intents, and the changes, as plain data."""
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


def _device(node: PlanNode) -> NodeData:
    return {"name": node.name, "role": node.role}


def _pair(was: DeclaredCable, to_be: DeclaredCable) -> PairData:
    return {"was": plain(was), "is": plain(to_be)}


_PLURALS = {"leaf": "leaves", "switch": "switches"}


def topology_text(summary: FabricSummary, style: TextStyle = PLAIN) -> str:
    """Return the devices, ports and links of a fabric in numbers as text, without its capacity."""
    return "\n\n".join(_summary_blocks(spelled_out(summary), style))


def _summary_blocks(summary: FabricSummary, style: TextStyle) -> Iterator[str]:
    hosts = (f"{many(group.hosts, 'host')} with {group.nic}" for group in summary.hosts)
    head = (f"fabric {summary.fabric}", *hosts, *_outside(summary.outside))
    yield "\n".join(wrapped(line, style) for line in head)
    heads = (
        "switches",
        "product",
        "ports used by each",
        "free",
        *(("missing",) if any(group.ports.missing for group in summary.switches) else ()),
    )
    rows = [_switches(group, len(heads)) for group in summary.switches]
    if rows:
        yield table([heads, *rows], style)
    links = [_links(group) for group in summary.links]
    yield (
        table([("links", "between", "how many", "rate", "cable (m)"), *links], style) if links else "no links"
    )
    if summary.accepted_oversubscription is not None:
        yield wrapped(
            f"oversubscription accepted by the intent: {_accepted(summary.accepted_by_tier)}", style
        )


def _accepted(ratios: Mapping[str, float]) -> str:
    if len({*ratios.values()}) == 1:
        return f"{next(iter(ratios.values())):.4g}:1"
    return ", ".join(f"{tier} {ratio:.4g}:1" for tier, ratio in ratios.items())


def _outside(names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"{many(len(names), 'device')} outside: {first_to_last(names[0], names[-1])}"


def _switches(group: SwitchGroup, wanted: int) -> tuple[str, ...]:
    what = f"{many(group.switches, group.role)} ({first_to_last(group.first, group.last)})"
    product = f"{group.product} {group.hwsku}".rstrip()
    return (what, product, *map(_ports, group.ports))[:wanted]


def _ports(counts: Sequence[PortCount]) -> str:
    return " + ".join(f"{count.ports} x {format_rate(count.speed_bps)}" for count in counts) or "none"


def _links(group: LinkGroup) -> tuple[str, ...]:
    cable = "not stated" if group.cable_m is None else f"{group.cable_m:,}"
    between = " - ".join(group.between)
    return (group.tier, between, f"{group.links:,}", format_rate(group.speed_bps), cable)


def many(number: int, what: str) -> str:
    """Return a number with its noun: ``1 leaf``, ``1,024 leaves``."""
    return f"{number:,} {what if number == 1 else _PLURALS.get(what, f'{what}s')}"


def first_to_last(first: str, last: str) -> str:
    """Return the range ``first .. last`` of names, or the one name if both are equal."""
    return first if first == last else f"{first} .. {last}"


def capacity_text(capacity: FabricCapacity, style: TextStyle = PLAIN) -> str:
    """Return the capacity of a fabric as text; every figure is for one direction."""
    return "\n\n".join(_blocks(spelled_out(capacity), style))


def _blocks(capacity: FabricCapacity, style: TextStyle) -> Iterator[str]:
    if capacity.tiers:
        yield _tiers(capacity.tiers, capacity.failed, style)
    lines = [*_across(capacity.bisection, style), *_per_gpu(capacity.per_gpu, style)]
    if lines:
        yield "\n".join(lines)
    if capacity.tiers and (capacity.failed.links or capacity.failed.switches):
        yield "every figure is for one direction; failures are the worst case of that many"
    elif capacity.tiers or lines:
        yield "every figure is for one direction"
    if gone := capacity.failed.out_of_service:
        yield wrapped(f"failures come on top of what is out of service: {', '.join(gone)}", style)


def _tiers(tiers: Sequence[TierCapacity], failed: ToleratedFailures, style: TextStyle) -> str:
    """Return a table of the rates below and above each tier in one unit, and the rates above left after failures."""
    unit, scale = ("Tb/s", 1e12) if max(tier.down_bps for tier in tiers) >= 1e12 else ("Gb/s", 1e9)
    links, switches = failed.links, failed.switches
    heads = (
        "tier",
        f"below ({unit})",
        f"above ({unit})",
        "ratio",
        *((f"without {links} {'link' if links == 1 else 'links'} ({unit})", "ratio") if links else ()),
        *(
            (f"without {switches} {'switch' if switches == 1 else 'switches'} above ({unit})", "ratio")
            if switches
            else ()
        ),
    )
    return table([heads, *(_tier(tier, failed, scale) for tier in tiers)], style)


def _tier(tier: TierCapacity, failed: ToleratedFailures, scale: float) -> tuple[str, ...]:
    wanted = zip((failed.links, failed.switches), tier.after, strict=True)
    left = ((f"{after.up_bps / scale:,g}", _ratio(after.ratio)) for many, after in wanted if many)
    below, above = (f"{bps / scale:,g}" for bps in (tier.down_bps, tier.up_bps))
    figures = (below, above, _ratio(tier.ratio), *(cell for pair in left for cell in pair))
    return (_switches_of_role(tier.role, tier.switches), *figures)


def _switches_of_role(role: str, names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    many = "leaves" if role == "leaf" else f"{role}s"
    return f"{len(names):,} {many} ({names[0]} to {names[-1]})"


def _ratio(ratio: float | None) -> str:
    return "nothing left" if ratio is None else f"{ratio:.4g}:1"


def _across(across: HalvesCapacity | None, style: TextStyle) -> Iterator[str]:
    if across is None:
        return
    bps, hosts = across.one_way_bps, across.host_bps
    part = f"{100 * bps / hosts:.3g} % of what the hosts of one half send" if hosts else "no host sends"
    yield wrapped(f"bisection: {format_capacity(bps)} in one direction, {part}", style)
    least = "no other bisection has less" if across.least else "other bisections were not tried"
    yield wrapped(f"from {_first_to_last(across.a)} to {_first_to_last(across.b)}; {least}", style, "  ")


def _first_to_last(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} .. {names[-1]} ({len(names):,})"


def _per_gpu(gpu_share: GpuBandwidth | None, style: TextStyle) -> Iterator[str]:
    if gpu_share is None:
        return
    yield f"each of {gpu_share.gpus:,} GPUs, all at once:"
    rows = (
        (f"inside its domain of {gpu_share.domain_gpus}", gpu_share.inside_bps),
        ("onto the fabric", gpu_share.host_bps),
        ("beyond its leaf", gpu_share.leaf_bps),
        ("to the other half", gpu_share.half_bps),
    )
    yield facts([(what, format_capacity(bps)) for what, bps in rows if bps is not None], style, "  ")


_LOOP_STATES = {"free": "none", "loop": "found", "unproven": "unproven"}


def opensm_text(result: OpensmResult, style: TextStyle = PLAIN) -> str:
    """Return the result of opensm for one subnet: verdict, configuration keys, simulated subnet and credit loops."""
    result = spelled_out(result)
    file, subnet = result.file, result.subnet
    head = file if subnet == file else f"{file}: subnet {subnet}"
    return "\n".join(
        [wrapped(head, style), *_opensm_verdict(result, style), facts([*_opensm_facts(result)], style, "  ")]
    )


def _opensm_facts(result: OpensmResult) -> Iterator[tuple[str, str]]:
    keys, simulated, loops = result.configuration, result.simulated, result.credit_loops
    yield ("configuration", f"{keys.read} keys read, {keys.changed} read with another value")
    if keys.not_checked:
        yield "not checked", counted(len(keys.not_checked), "option")
        for reason, names in grouped((one.reason, one.option) for one in keys.not_checked).items():
            yield "", f"{', '.join(names)}: {reason}"
    if simulated is not None:
        nodes = f"{simulated.switches} switches, {simulated.hcas} HCAs"
        state = f"up in {simulated.seconds:.2f} s" if simulated.up else "not up"
        yield "simulated subnet", f"{nodes}: {state}"
        yield "routing engine", _engine(result.intended_engine, simulated.engine, keys)
        yield "partitions", simulated.partitions
        for note in simulated.notes:
            yield "", note
    yield "credit loops", f"{_LOOP_STATES[loops.state]}: {loops.why}"
    for hop in loops.loop:
        yield "", hop


def _engine(intended: str, engine: str | None, keys: ConfigurationKeys) -> str:
    if engine == intended:
        return engine
    if f"routing_engine {intended}" in {one.option for one in keys.not_checked}:
        return f"{engine} here; {intended} is intended"
    return (
        f"none; {intended} is intended" if engine is None else f"{engine}, a fallback; {intended} is intended"
    )


def _opensm_verdict(result: OpensmResult, style: TextStyle) -> Iterator[str]:
    if result.complaints:
        yield "  not as intended:"
        for complaint in result.complaints:
            yield wrapped(complaint, style, "    ")
    elif result.configuration.not_checked:
        yield "  opensm accepts every option that it was given"
    elif result.credit_loops.state == "unproven":
        yield "  opensm accepts it as intended; credit loops stay unproven"
    else:
        yield "  opensm accepts it as intended"
