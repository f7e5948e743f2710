"""Switches and the links between them as plain numbers, on which routes are computed.

Parallel links between two switches are one pair: routing uses all of them, so all wait for the same buffers. Hosts
are left out: their packets depend on no earlier buffer, and they consume the packets they receive, so no cycle goes
through one.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.tier import known_tier

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from lossless.model.fabric.model import Fabric

    Pair = tuple[str, str]

UNKNOWN_TIER = 0
"""The tier of switches without one, and of those whose tier is unknown; hosts may be attached to any of them."""


class Wires(NamedTuple):
    """Switches by number. ``links`` has for each switch the number of links to other switches.

    ``tiers`` counts from 1 at the leaves, 0 for an unknown tier; ``attached`` has which switches have hosts. Marks
    distinguish otherwise identical switches. ``ports`` looks up the first link from one switch to another, port by
    port, for pairs of names. Packets from the first to the second of a ``lossy`` pair are never paused. Switches
    ``outside`` send and receive packets like others with hosts; their forwarding is unknown.
    """

    names: Sequence[str]
    tiers: Sequence[int]
    attached: Sequence[bool]
    links: Sequence[dict[int, int]]
    marks: Sequence[int]
    ports: Callable[[Iterable[Pair]], dict[Pair, Pair]]
    lossy: frozenset[tuple[int, int]] = frozenset()
    outside: frozenset[int] = frozenset()

    def pairs(self) -> Iterator[tuple[int, int, int]]:
        """Yield pairs of linked switches, the lower number first, and the number of their links."""
        for near, others in enumerate(self.links):
            for far, links in others.items():
                if near < far:
                    yield near, far, links

    def above(self, switch: int) -> list[int]:
        """Return the switches at the upper end of a switch's links."""
        own = self.tiers[switch]
        return [other for other in self.links[switch] if self.tiers[other] > own]


def wires_of(fabric: Fabric) -> Wires:
    """Return the wires of a fabric; a device of several ASICs is one switch."""
    names: dict[str, int] = {}
    tiers: list[int] = []
    for switch in fabric.switches:
        if names.setdefault(switch.device, len(names)) == len(tiers):
            tiers.append(int(known_tier(switch.tier) or UNKNOWN_TIER))
    inside = len(names)
    for outside_link in fabric.beyond:
        if not outside_link.to_host and names.setdefault(outside_link.far, len(names)) == len(tiers):
            tiers.append(int(outside_link.tier or UNKNOWN_TIER))
    number = {**names, **{switch.name: names[switch.device] for switch in fabric.switches}}
    attached = [here >= inside for here in names.values()]
    links = [dict[int, int]() for _ in names]
    for (near_name, _), (far_name, _), to_host in _ends(fabric):
        near = number.get(near_name)
        if near is None:
            continue
        if to_host:
            attached[near] = True
            continue
        far = number.get(far_name)
        if far is not None and near != far:
            links[near][far] = links[far][near] = links[near].get(far, 0) + 1
    ports, outside = partial(_ports_between, fabric), frozenset(range(inside, len(names)))
    lossy = _lossy(fabric, number)
    return Wires(tuple(names), tiers, attached, links, bytes(len(names)), ports, lossy, outside)


def _ends(fabric: Fabric) -> Iterator[tuple[Pair, Pair, bool]]:
    """Yield both ends of all links, by switch and port, and whether the second is a host's."""
    for link in fabric.links:
        yield (link.a, link.a_port), (link.b, link.b_port), link.to_host
    for outside_link in fabric.beyond:
        yield (outside_link.switch, outside_link.port), (outside_link.far, ""), outside_link.to_host


def _device(name: str) -> str:
    return name.partition(":")[0]


def _ports_between(fabric: Fabric, pairs: Iterable[Pair]) -> dict[Pair, Pair]:
    """Return the ports of the first link of each pair; looked up only when a result is shown."""
    wanted, ports_of = set(pairs), dict[tuple[str, str], tuple[str, str]]()
    for near_end, far_end, _ in _ends(fabric):
        near, far = _device(near_end[0]), _device(far_end[0])
        if (near, far) in wanted or (far, near) in wanted:
            ports = (":".join(near_end), ":".join(far_end))
            ports_of.setdefault((near, far), ports)
            ports_of.setdefault((far, near), ports[::-1])
    return ports_of


def _lossy(fabric: Fabric, number: Mapping[str, int]) -> frozenset[tuple[int, int]]:
    """Return the pairs whose second switch does not pause packets from the first.

    Outside switches are assumed to have no PFC on links on which this side has none.
    """
    if fabric.pfc_tiers is None:
        return frozenset()
    unwanted_by_ports: dict[int, set[str]] = {}
    for switch in fabric.switches:
        unwanted_by_ports.setdefault(
            id(switch.ports), {port.name for port in switch.ports if port.pfc_unwanted}
        )
    unwanted = {switch.name: unwanted_by_ports[id(switch.ports)] for switch in fabric.switches}
    lossy: set[Pair] = set()
    for link in fabric.links:
        if not link.to_host:
            lossy |= {(link.b, link.a)} if link.a_port in unwanted[link.a] else set()
            lossy |= {(link.a, link.b)} if link.b_port in unwanted[link.b] else set()
    for outside_link in fabric.beyond:
        if not outside_link.to_host and outside_link.port in unwanted[outside_link.switch]:
            lossy |= {(outside_link.far, outside_link.switch), (outside_link.switch, outside_link.far)}
    return frozenset((number[near], number[far]) for near, far in lossy)


def without(wires: Wires, switches: Collection[int] = (), pairs: Collection[tuple[int, int]] = ()) -> Wires:
    """Return the wires that remain where switches, and all links of some pairs, are out of service.

    A switch that is out of service keeps its number, without links and without hosts.
    """
    links = list(wires.links)
    for switch in switches:
        for other in wires.links[switch]:
            links[other] = {far: count for far, count in links[other].items() if far != switch}
        links[switch] = {}
    for near, far in pairs:
        links[near] = {other: count for other, count in links[near].items() if other != far}
        links[far] = {other: count for other, count in links[far].items() if other != near}
    attached = [here and number not in switches for number, here in enumerate(wires.attached)]
    return wires._replace(links=links, attached=attached)


def parts(wires: Wires, beside: Collection[int] = ()) -> list[int]:
    """Return a number for each switch, equal for switches that links join by paths around those in ``beside``.

    These themselves have -1.
    """
    part_of: list[int | None] = [None] * len(wires.names)
    for switch in beside:
        part_of[switch] = -1
    for root, known in enumerate(part_of):
        if known is not None:
            continue
        part_of[root], waiting = root, [root]
        while waiting:
            for other in wires.links[waiting.pop()]:
                if part_of[other] is None:
                    part_of[other] = root
                    waiting.append(other)
    return [-1 if part is None else part for part in part_of]


def compact(wires: Wires, surplus: Collection[int]) -> Wires:
    """Remove switches, and number the rest again in their order."""
    kept = [switch for switch in range(len(wires.names)) if switch not in surplus]
    number = {switch: place for place, switch in enumerate(kept)}
    links = [{number[o]: n for o, n in wires.links[s].items() if o in number} for s in kept]
    lossy = ((number.get(near), number.get(far)) for near, far in wires.lossy)
    return Wires(
        [wires.names[s] for s in kept],
        [wires.tiers[s] for s in kept],
        [wires.attached[s] for s in kept],
        links,
        [wires.marks[s] for s in kept],
        wires.ports,
        frozenset((near, far) for near, far in lossy if near is not None and far is not None),
        frozenset(number[switch] for switch in wires.outside if switch in number),
    )
