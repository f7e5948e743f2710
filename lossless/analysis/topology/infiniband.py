"""Shapes of InfiniBand subnets to switches, hosts and links, before ports are assigned."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Literal

from lossless.analysis.topology.adjacency import above, global_pairs, grid, grid_name, part, torus_pairs
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SwitchRole = Literal["leaf", "spine", "core", "switch"]
TIERS: dict[SwitchRole, int | None] = {"leaf": 0, "spine": 1, "core": 2, "switch": None}


class SwitchSpot(NamedTuple):
    """A switch by name. ``coordinates`` are those in a torus, ``group`` is that of a dragonfly+."""

    name: str
    role: SwitchRole
    origin: Origin
    coordinates: tuple[int, ...] = ()
    group: int | None = None


class HostSpot(NamedTuple):
    """A host by name; its HCAs are its links, in their order."""

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
    """Switches and hosts in order, and wires in the order in which their ports are placed."""

    switches: tuple[SwitchSpot, ...]
    hosts: tuple[HostSpot, ...]
    wires: tuple[SubnetWire, ...]


class SubnetLinks(NamedTuple):
    """The number of parallel links, their rate, their purpose, and their origin."""

    number: int
    rate: str
    purpose: str
    origin: Origin

    def between(self, a: str, b: str, a_order: int = 0, b_order: int = 0) -> Iterator[SubnetWire]:
        """Yield the links between two switches."""
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
    """Return hosts and their links, leaf by leaf: ``rails`` consecutive leaves share their hosts."""
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
    """Yield the links between groups; each group gives them to its spines in turn."""
    links = shape.global_links
    for a, b in global_pairs(shape.groups, shape.spines, links.number):
        yield SubnetWire(spines[a], spines[b], links.rate, links.purpose, links.origin)
