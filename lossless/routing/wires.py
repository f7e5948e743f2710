"""Switches and what joins them, as plain numbers: what routes are worked out on.

Links that run beside each other between two switches are one pair: routing uses them alike, and so all of them wait
for the same buffers. Hosts are left out: nothing comes before what they send, and they take what is sent to them, so
no circle goes through one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from lossless.fabric.model import Fabric

TIERS = {"leaf": 1, "spine": 2, "super-spine": 3}
"""How high a switch stands, by its role; hosts hang on any of them."""
UNKNOWN_TIER = 0


class Wires(NamedTuple):
    """Switches by number. ``links`` says of each switch how many links lead to which other ones.

    ``tiers`` counts from 1 at the leaves, 0 where it is not known; ``attached`` says which switches have hosts. Marks
    tell switches apart that are else alike. ``ports`` are the first link of each pair, port by port. What comes from
    the first to the second of a ``lossy`` pair is never paused. Switches ``outside`` send and take packets like
    others with hosts; how they forward is not known.
    """

    names: Sequence[str]
    tiers: Sequence[int]
    attached: Sequence[bool]
    links: Sequence[dict[int, int]]
    marks: Sequence[int]
    ports: dict[tuple[int, int], tuple[str, str]]
    lossy: frozenset[tuple[int, int]] = frozenset()
    outside: frozenset[int] = frozenset()

    def pairs(self) -> Iterator[tuple[int, int, int]]:
        """Yield pairs of switches that are joined, the lower number first, and how many links join them."""
        for near, others in enumerate(self.links):
            for far, links in others.items():
                if near < far:
                    yield near, far, links

    def above(self, switch: int) -> list[int]:
        """Return the switches that a switch has links up to."""
        own = self.tiers[switch]
        return [other for other in self.links[switch] if self.tiers[other] > own]


def wires_of(fabric: Fabric) -> Wires:
    """Return the wires of a fabric; a device of several ASICs is one switch."""
    number: dict[str, int] = {}
    tiers: list[int] = []
    for switch in fabric.switches:
        if number.setdefault(switch.device, len(number)) == len(tiers):
            tiers.append(TIERS.get(switch.role or "", UNKNOWN_TIER))
    inside = len(number)
    for link in fabric.beyond:
        if link.role != "host" and number.setdefault(link.far, len(number)) == len(tiers):
            tiers.append(TIERS.get(link.role, UNKNOWN_TIER))
    links = [dict[int, int]() for _ in number]
    ports: dict[tuple[int, int], tuple[str, str]] = {}
    attached = [here >= inside for here in number.values()]
    for near_end, far_end, to_host in _ends(fabric):
        near, far = (number.get(end.partition(":")[0]) for end, _ in (near_end, far_end))
        if to_host and near is not None:
            attached[near] = True
        elif near is not None and far is not None and near != far:
            links[near][far] = links[far][near] = links[near].get(far, 0) + 1
            ports.setdefault((near, far), (":".join(near_end), ":".join(far_end)))
            ports.setdefault((far, near), (":".join(far_end), ":".join(near_end)))
    outside = frozenset(range(inside, len(number)))
    return Wires(
        tuple(number), tiers, attached, links, [0] * len(number), ports, _lossy(fabric, number), outside
    )


def _ends(fabric: Fabric) -> Iterator[tuple[tuple[str, str], tuple[str, str], bool]]:
    """Yield both ends of all links, by device and port, and whether the second is a host's."""
    for link in fabric.links:
        yield (link.a, link.a_port), (link.b, link.b_port), link.to_host
    for way in fabric.beyond:
        yield (way.switch, way.port), (way.far, ""), way.role == "host"


def _lossy(fabric: Fabric, number: Mapping[str, int]) -> frozenset[tuple[int, int]]:
    """Return the pairs whose second switch does not pause what comes from the first.

    Outside nobody pauses what nobody here would.
    """
    if fabric.pfc_tiers is None:
        return frozenset()
    made: dict[int, set[str]] = {}
    for switch in fabric.switches:
        made.setdefault(id(switch.ports), {port.name for port in switch.ports if port.pfc_unwanted})
    unwanted = {switch.name: made[id(switch.ports)] for switch in fabric.switches}
    found = set[tuple[str, str]]()
    for link in fabric.links:
        if not link.to_host:
            found |= {(link.b, link.a)} if link.a_port in unwanted[link.a] else set()
            found |= {(link.a, link.b)} if link.b_port in unwanted[link.b] else set()
    for way in fabric.beyond:
        if way.port in unwanted[way.switch]:
            found |= {(way.far, way.switch), (way.switch, way.far)}
    pairs = ((number.get(near.partition(":")[0]), number.get(far.partition(":")[0])) for near, far in found)
    return frozenset((near, far) for near, far in pairs if near is not None and far is not None)


def without(wires: Wires, switches: Collection[int] = (), pairs: Collection[tuple[int, int]] = ()) -> Wires:
    """Return the wires that are left where switches, and all links of some pairs, are out of service.

    A switch that is out of service stays in its place, without links and without hosts.
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


def marked(wires: Wires, marks: Mapping[int, int]) -> Wires:
    """Return the wires with some switches told apart from the others, and from those that have another mark."""
    return wires._replace(marks=[marks.get(switch, mark) for switch, mark in enumerate(wires.marks)])


def kinds(wires: Wires) -> list[list[int]]:
    """Return the switches by kind: those of a kind have the same links to the same others, and no link to each other.

    Any two of a kind can change places without a link being drawn anew. So whatever follows from the wires alone is
    as true of one as of the other.
    """
    found: dict[tuple[object, ...], list[int]] = {}
    for switch, others in enumerate(wires.links):
        paused = frozenset(_pauses(wires, switch)) if wires.lossy else None
        seen = switch in wires.outside
        own = (wires.tiers[switch], wires.attached[switch], seen, wires.marks[switch], paused)
        found.setdefault((*own, frozenset(others.items())), []).append(switch)
    return list(found.values())


def _pauses(wires: Wires, switch: int) -> Iterator[tuple[int, bool, bool]]:
    """Yield the neighbours of a switch, and in which directions what passes between them is never paused."""
    for other in wires.links[switch]:
        yield other, (switch, other) in wires.lossy, (other, switch) in wires.lossy


def few_of(
    wires: Wires, alike: Iterable[Sequence[int]], most: int, kept: Collection[int] = frozenset()
) -> Wires:
    """Return the wires with ``most`` switches of each kind left, and those that are to be ``kept`` beside them."""
    surplus = {switch for members in alike for switch in [m for m in members if m not in kept][most:]}
    return _compact(wires, surplus) if surplus else wires


def _compact(wires: Wires, surplus: set[int]) -> Wires:
    """Leave switches out, and number the rest anew in their order."""
    kept = [switch for switch in range(len(wires.names)) if switch not in surplus]
    number = {switch: place for place, switch in enumerate(kept)}
    links = [{number[o]: n for o, n in wires.links[s].items() if o in number} for s in kept]
    ports = {
        (number[near], number[far]): wires.ports[near, far]
        for near in kept
        for far in wires.links[near]
        if far in number and (near, far) in wires.ports
    }
    lossy = ((number.get(near), number.get(far)) for near, far in wires.lossy)
    return Wires(
        [wires.names[s] for s in kept],
        [wires.tiers[s] for s in kept],
        [wires.attached[s] for s in kept],
        links,
        [wires.marks[s] for s in kept],
        ports,
        frozenset((near, far) for near, far in lossy if near is not None and far is not None),
        frozenset(number[switch] for switch in wires.outside if switch in number),
    )
