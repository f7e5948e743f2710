"""Declared cables against found ones: present, missing and swapped; and shapes of InfiniBand subnets to links.

A declared and a found cable are the same where they have the same ends. Of the other cables, those that have an end in
common are connected: two cables that were swapped are four, each of which shares an end with the next. Connected cables
have one cause and are reported once. A host port that the intent does not name matches any port of the host.

The shapes of InfiniBand subnets become switches, hosts and links, before ports are assigned.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Literal

from lossless.analysis.topology.shapes import above, global_pairs, grid, grid_name, part, torus_pairs
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.model.fabric.cabling import CableEnd, CableReport, PlannedCable, ReportedCable


class CablePair(NamedTuple):
    """A declared cable that was found in its place."""

    planned: PlannedCable
    actual: ReportedCable


class Miscabling(NamedTuple):
    """Declared cables that are missing and found cables that are not declared, connected by common ends.

    ``closed``: planned and found cables end at the same devices, so that only the pairing of the ends is wrong.
    """

    planned: tuple[PlannedCable, ...]
    actual: tuple[ReportedCable, ...]
    closed: bool


class DeviceRename(NamedTuple):
    """A device that the files name ``called``, and the intent ``derived``, the name derived from its shape."""

    derived: str
    called: str


class CablingComparison(NamedTuple):
    """Declared cables compared with those in files: ``pairs`` are in their places, ``tangles`` are wrongly connected.

    ``missing`` cables should be in the files; ``unseen`` ones are at ports that the files do not cover. ``strange``
    cables were found and share no end with a declared one that is not in its place. ``told`` is the report of the
    files; devices listed there have their declared names.
    """

    pairs: tuple[CablePair, ...]
    tangles: tuple[Miscabling, ...]
    missing: tuple[PlannedCable, ...]
    strange: tuple[ReportedCable, ...]
    unseen: tuple[PlannedCable, ...]
    renamed: tuple[DeviceRename, ...]
    told: CableReport


def cabling_comparison(planned: Sequence[PlannedCable], reported: CableReport) -> CablingComparison:
    """Return declared cables compared with those in files, after devices with other names in files are recognized."""
    renamed = tuple(_renamed(planned, reported.cables))
    derived_of = {rename.called: rename.derived for rename in renamed}
    cables = [_called(cable, derived_of) for cable in reported.cables]
    reported = reported._replace(
        listed=frozenset(derived_of.get(name, name) for name in reported.listed),
        heard=frozenset(derived_of.get(name, name) for name in reported.heard),
    )
    pairs, rest, left = _paired(planned, cables)
    groups = [_miscabling(rest, left, members) for members in _ConnectedCables(rest, left).members()]
    alone = [group.planned[0] for group in groups if not group.actual]
    return CablingComparison(
        pairs=tuple(pairs),
        tangles=tuple(group for group in groups if group.actual and group.planned),
        missing=tuple(cable for cable in alone if reported.reaches(cable)),
        strange=tuple(group.actual[0] for group in groups if not group.planned),
        unseen=tuple(cable for cable in alone if not reported.reaches(cable)),
        renamed=renamed,
        told=reported,
    )


def _renamed(planned: Sequence[PlannedCable], cables: Sequence[ReportedCable]) -> Iterator[DeviceRename]:
    """Yield devices with another name in the files.

    All cables of such a device to devices of the intent are where it declares the cables of one other device, which has
    no stated name and is in no file; no second device has cables there.
    """
    declared = {end.device for cable in planned for end in (cable.a, cable.b)}
    at = {cable.a: cable for cable in planned}
    met = {end.device for cable in cables for end in (cable.a, cable.b)}
    stands_for: dict[str, set[str | None]] = {}
    for cable in cables:
        for near, far in ((cable.a, cable.b), (cable.b, cable.a)):
            if far.device not in declared and near.device in declared:
                there = at.get(near)
                free = there is not None and not there.renamed and there.b.device not in met
                stands_for.setdefault(far.device, set()).add(there.b.device if there and free else None)
    taken: dict[str, int] = {}
    for names in stands_for.values():
        for name in names:
            taken[name or ""] = taken.get(name or "", 0) + 1
    for called, names in stands_for.items():
        derived = next(iter(names))
        if len(names) == 1 and derived is not None and taken[derived] == 1:
            yield DeviceRename(derived, called)


def _called(cable: ReportedCable, called: dict[str, str]) -> ReportedCable:
    a, b = (end._replace(device=called.get(end.device, end.device)) for end in (cable.a, cable.b))
    return cable._replace(a=a, b=b)


def _paired(
    planned: Sequence[PlannedCable], cables: Sequence[ReportedCable]
) -> tuple[list[CablePair], list[PlannedCable], list[ReportedCable]]:
    """Return the cables that are in their places, the other declared cables, and the other found ones."""
    at = {end: cable for cable in planned for end in (cable.b, cable.a) if end.port is not None}
    pairs: dict[PlannedCable, ReportedCable] = {}
    left = []
    for cable in cables:
        should = next((known for end in (cable.a, cable.b) if (known := at.get(end)) is not None), None)
        if should is not None and should not in pairs and _same(should, cable):
            pairs[should] = cable
        else:
            left.append(cable)
    rest = [cable for cable in planned if cable not in pairs]
    return [CablePair(*both) for both in pairs.items()], rest, left


def _same(planned: PlannedCable, cable: ReportedCable) -> bool:
    return any(
        _fits(planned.a, near) and _fits(planned.b, far)
        for near, far in ((cable.a, cable.b), (cable.b, cable.a))
    )


def _fits(planned: CableEnd, end: CableEnd) -> bool:
    """Return whether the end of a found cable may be the declared one; an unknown port may be any."""
    return planned.device == end.device and (
        planned.port is None or end.port is None or planned.port == end.port
    )


class _ConnectedCables:
    """Groups of connected cables: declared cables by their numbers, and found ones by numbers after those."""

    def __init__(self, planned: Sequence[PlannedCable], cables: Sequence[ReportedCable]) -> None:
        self._planned, self._found = planned, cables
        self._root = list(range(len(planned) + len(cables)))
        self._nameless = {cable.b.device for cable in planned if cable.b.port is None}
        self._at = {end: n for n, cable in enumerate(planned) for end in (cable.b, cable.a) if end.port}
        self._found_at = {
            end: n for n, cable in enumerate(cables) for end in (cable.b, cable.a) if end.port is not None
        }
        for end in self._at.keys() & self._found_at.keys():
            self._join(self._at[end], len(planned) + self._found_at[end])
        wanted, there = self._wanted(), self._there()
        for device in wanted.keys() & there.keys():
            self._join_at(wanted[device], there[device])

    def members(self) -> Iterator[list[int]]:
        """Yield the numbers of each group of connected cables."""
        groups: dict[int, list[int]] = {}
        for number in range(len(self._root)):
            groups.setdefault(self._top(number), []).append(number)
        yield from groups.values()

    def _join_at(self, wanted: list[int], there: list[int]) -> None:
        """Match found cables at undeclared ports of a device with declared cables that name no port there.

        Swapped pairs come first, then the rest in their order.
        """
        for swapped in (True, False):
            for cable in list(there):
                fit = next(
                    (candidate for candidate in wanted if not swapped or self._is_swap(candidate, cable)),
                    None,
                )
                if fit is not None:
                    wanted.remove(fit)
                    there.remove(cable)
                    self._join(fit, len(self._planned) + cable)

    def _wanted(self) -> dict[str, list[int]]:
        nameless: dict[str, list[int]] = {}
        for number, cable in enumerate(self._planned):
            if cable.b.port is None:
                nameless.setdefault(cable.b.device, []).append(number)
        return nameless

    def _there(self) -> dict[str, list[int]]:
        undeclared: dict[str, list[int]] = {}
        for number, cable in enumerate(self._found):
            for end in (cable.a, cable.b):
                if end.device in self._nameless and end not in self._at:
                    undeclared.setdefault(end.device, []).append(number)
        return undeclared

    def _is_swap(self, planned: int, cable: int) -> bool:
        """Return whether a declared and a found cable result from a swap of two cables."""
        wanted, cable_found = self._planned[planned], self._found[cable]
        near = cable_found.a if cable_found.b.device == wanted.b.device else cable_found.b
        instead, other = self._at.get(near), self._found_at.get(wanted.a)
        if instead is None or other is None:
            return False
        ends = {end.device for end in (self._found[other].a, self._found[other].b)}
        return self._planned[instead].b.device in ends

    def _join(self, member: int, other: int) -> None:
        self._root[self._top(member)] = self._top(other)

    def _top(self, number: int) -> int:
        while self._root[number] != number:
            self._root[number] = self._root[self._root[number]]
            number = self._root[number]
        return number


def _miscabling(
    rest: Sequence[PlannedCable], left: Sequence[ReportedCable], members: Sequence[int]
) -> Miscabling:
    planned = tuple(rest[number] for number in members if number < len(rest))
    cables = tuple(left[number - len(rest)] for number in members if number >= len(rest))
    closed = len(planned) == len(cables) and _devices(planned) == _devices(cables)
    return Miscabling(planned, cables, closed)


def _devices(cables: Iterable[PlannedCable | ReportedCable]) -> list[str]:
    return sorted(end.device for cable in cables for end in (cable.a, cable.b))


SwitchRole = Literal["leaf", "spine", "core", "switch"]
TIERS: dict[SwitchRole, int | None] = {"leaf": 0, "spine": 1, "core": 2, "switch": None}


class SwitchSpot(NamedTuple):
    """A switch of a subnet layout by name. ``coordinates`` are those in a torus, ``group`` is that of a dragonfly+."""

    name: str
    role: SwitchRole
    origin: Origin
    coordinates: tuple[int, ...] = ()
    group: int | None = None


class HostSpot(NamedTuple):
    """A host of a subnet layout by name; it has an HCA for each of its links, in their order."""

    name: str
    origin: Origin


class SubnetWire(NamedTuple):
    """One link from switch ``a`` to switch ``b``, or to HCA number ``rail`` of host ``b``, by the name of its rate.

    Ports are None where placement assigns them: at each switch by ``a_order`` and ``b_order``, lowest first, and links
    of one order in their sequence. ``purpose`` is the purpose of the link, in the plural.
    """

    a: str
    b: str
    rate: str
    purpose: str
    origin: Origin
    rail: int | None = None
    a_port: int | None = None
    b_port: int | None = None
    a_order: int = 0
    b_order: int = 0


class SubnetLayout(NamedTuple):
    """The switches, hosts and links of a subnet, in order."""

    switches: tuple[SwitchSpot, ...]
    hosts: tuple[HostSpot, ...]
    wires: tuple[SubnetWire, ...]


class SubnetLinks(NamedTuple):
    """Links of one kind in a subnet: the number of parallel ones, their rate, purpose and origin."""

    number: int
    rate: str
    purpose: str
    origin: Origin

    def between(self, a: str, b: str, a_order: int = 0, b_order: int = 0) -> Iterator[SubnetWire]:
        """Yield the parallel links between two switches."""
        wire = SubnetWire(a, b, self.rate, self.purpose, self.origin, a_order=a_order, b_order=b_order)
        return (wire for _ in range(self.number))


class SubnetFatTreeShape(NamedTuple):
    """A fat tree by its numbers; ``leaves`` and ``spines`` are those of one pod, ``cores`` 0 in one of two levels."""

    pods: int
    leaves: int
    spines: int
    cores: int
    planes: int
    rails: int
    hosts_per_leaf: int
    host_links: SubnetLinks
    uplinks: SubnetLinks
    core_links: SubnetLinks | None
    origin: Origin


class SubnetDragonflyPlusShape(NamedTuple):
    """A dragonfly+ by its numbers; ``leaves`` and ``spines`` are those of one group."""

    groups: int
    leaves: int
    spines: int
    hosts_per_leaf: int
    host_links: SubnetLinks
    uplinks: SubnetLinks
    global_links: SubnetLinks
    origin: Origin


class SubnetTorusShape(NamedTuple):
    """A torus by its sides, two or three of them."""

    sides: tuple[int, ...]
    links: SubnetLinks
    hosts_per_switch: int
    host_links: SubnetLinks
    origin: Origin


def fat_tree(shape: SubnetFatTreeShape) -> SubnetLayout:
    """Return the layout of a fat tree: ``leaf1``, ``spine1``, ``core1``, ``host1`` and so on through all pods."""
    at = shape.origin
    leaves = _numbered("leaf", shape.pods * shape.leaves)
    spines = _numbered("spine", shape.pods * shape.spines)
    cores = _numbered("core", shape.cores)
    switches = (
        *(SwitchSpot(name, "leaf", at.at("leaves")) for name in leaves),
        *(SwitchSpot(name, "spine", at.at("spines")) for name in spines),
        *(SwitchSpot(name, "core", at.at("cores")) for name in cores),
    )
    hosts, host_wires = _hosts(leaves, shape.rails, shape.hosts_per_leaf, shape.host_links)
    wires = [
        *host_wires,
        *_pods(leaves, spines, shape.pods, shape.uplinks),
        *_planes(spines, cores, shape),
    ]
    return SubnetLayout(switches, _spots(hosts, at.at("hosts_per_leaf")), tuple(wires))


def dragonfly_plus(shape: SubnetDragonflyPlusShape) -> SubnetLayout:
    """Return the layout of a dragonfly+, groups counted from 0; global links take the spines of each group in turn."""
    at = shape.origin
    leaves = _numbered("leaf", shape.groups * shape.leaves)
    spines = _numbered("spine", shape.groups * shape.spines)
    switches = (
        *(
            SwitchSpot(name, "leaf", at.at("leaves"), group=number // shape.leaves)
            for number, name in enumerate(leaves)
        ),
        *(
            SwitchSpot(name, "spine", at.at("spines"), group=number // shape.spines)
            for number, name in enumerate(spines)
        ),
    )
    hosts, host_wires = _hosts(leaves, 1, shape.hosts_per_leaf, shape.host_links)
    wires = [*host_wires, *_pods(leaves, spines, shape.groups, shape.uplinks), *_global(spines, shape)]
    return SubnetLayout(switches, _spots(hosts, at.at("hosts_per_leaf")), tuple(wires))


def torus(shape: SubnetTorusShape) -> SubnetLayout:
    """Return the layout of a torus: ``sw-0-0``.. by coordinates; a side of two has one bundle, no ring.

    Each direction has the same ports at every switch, those along the first side first and hosts last: opensm's dor
    follows the order of ports, and routes one dimension after another only with this order.
    """
    names = {place: grid_name(place) for place in grid(shape.sides)}
    switches = tuple(
        SwitchSpot(name, "switch", shape.origin.at("sides"), coordinates=place)
        for place, name in names.items()
    )
    hosts, wires = _hosts(tuple(names.values()), 1, shape.hosts_per_switch, shape.host_links)
    for place, after, axis in torus_pairs(shape.sides):
        # Up along a side, then down along it, before all that has no direction.
        up = 2 * (axis - len(shape.sides))
        wires.extend(shape.links.between(names[place], names[after], up, up + 1))
    return SubnetLayout(switches, _spots(hosts, shape.origin.at("hosts_per_switch")), tuple(wires))


def _numbered(role: str, count: int) -> tuple[str, ...]:
    return tuple(f"{role}{number}" for number in range(1, count + 1))


def _spots(names: Sequence[str], origin: Origin) -> tuple[HostSpot, ...]:
    return tuple(HostSpot(name, origin) for name in names)


def _hosts(
    leaves: Sequence[str], rails: int, per_leaf: int, links: SubnetLinks
) -> tuple[tuple[str, ...], list[SubnetWire]]:
    """Return the names of hosts and their links, leaf by leaf: ``rails`` consecutive leaves share their hosts."""
    hosts = _numbered("host", len(leaves) // rails * per_leaf)
    wires = []
    for number, leaf in enumerate(leaves):
        group, rail = divmod(number, rails)
        for host in part(group, per_leaf):
            wires += [
                SubnetWire(leaf, hosts[host], links.rate, links.purpose, links.origin, rail=device)
                for device in range(rail, links.number, rails)
            ]
    return hosts, wires


def _pods(
    leaves: Sequence[str], spines: Sequence[str], pods: int, links: SubnetLinks
) -> Iterator[SubnetWire]:
    """Yield the links of every leaf to every spine of its pod."""
    down, up = len(leaves) // pods, len(spines) // pods
    for pod in range(pods):
        for leaf, spine in product(part(pod, down), part(pod, up)):
            yield from links.between(leaves[leaf], spines[spine])


def _planes(spines: Sequence[str], cores: Sequence[str], shape: SubnetFatTreeShape) -> Iterator[SubnetWire]:
    """Yield the links of every spine to the cores of its plane."""
    if shape.core_links is None:
        return
    for number, spine in enumerate(spines):
        for core in above(number, shape.spines, shape.cores, shape.planes):
            yield from shape.core_links.between(spine, cores[core])


def _global(spines: Sequence[str], shape: SubnetDragonflyPlusShape) -> Iterator[SubnetWire]:
    """Yield the links between groups of a dragonfly+; each group attaches them to its spines in turn."""
    links = shape.global_links
    for a, b in global_pairs(shape.groups, shape.spines, links.number):
        yield SubnetWire(spines[a], spines[b], links.rate, links.purpose, links.origin)
