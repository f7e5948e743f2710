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
    the first to the second of a ``lossy`` pair is never paused.
    """

    names: Sequence[str]
    tiers: Sequence[int]
    attached: Sequence[bool]
    links: Sequence[dict[int, int]]
    marks: Sequence[int]
    ports: dict[tuple[int, int], tuple[str, str]]
    lossy: frozenset[tuple[int, int]] = frozenset()

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
    attached, links = [False] * len(number), [dict[int, int]() for _ in number]
    ports: dict[tuple[int, int], tuple[str, str]] = {}
    for link in fabric.links:
        near, far = number.get(link.a.partition(":")[0]), number.get(link.b.partition(":")[0])
        if link.to_host and near is not None:
            attached[near] = True
        elif near is not None and far is not None and near != far:
            links[near][far] = links[far][near] = links[near].get(far, 0) + 1
            ports.setdefault((near, far), (f"{link.a}:{link.a_port}", f"{link.b}:{link.b_port}"))
            ports.setdefault((far, near), (f"{link.b}:{link.b_port}", f"{link.a}:{link.a_port}"))
    wires = Wires(tuple(number), tiers, attached, links, [0] * len(number), ports)
    return wires._replace(lossy=_lossy(wires, fabric.pfc_tiers))


def _lossy(wires: Wires, pfc_tiers: tuple[str, ...] | None) -> frozenset[tuple[int, int]]:
    """Return the pairs, both ways, of tiers of links that an intent says have no PFC."""
    if pfc_tiers is None:
        return frozenset()
    found = set()
    for near, far, _ in wires.pairs():
        lower = min(wires.tiers[near], wires.tiers[far])
        if ("uplinks" if lower == TIERS["leaf"] else "spine_uplinks") not in pfc_tiers:
            found |= {(near, far), (far, near)}
    return frozenset(found)


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
        own = (wires.tiers[switch], wires.attached[switch], wires.marks[switch], paused)
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
    )
