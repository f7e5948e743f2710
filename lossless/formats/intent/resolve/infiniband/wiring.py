"""Turns the topology of a subnet's intent into a layout: from its shape, or from the listed switches and links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic_core import PydanticCustomError

from lossless.analysis.topology.cabling_comparison import (
    HostSpot,
    SubnetDragonflyPlusShape,
    SubnetFatTreeShape,
    SubnetLayout,
    SubnetLinks,
    SubnetTorusShape,
    SubnetWire,
    SwitchSpot,
    dragonfly_plus,
    fat_tree,
    torus,
)
from lossless.formats.intent.base import refused
from lossless.formats.intent.infiniband.document import FatTree, SubnetDragonflyPlus, SubnetTorus, split_end
from lossless.ground.basics.errors import InputError
from lossless.ground.basics.wording import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.formats.intent.infiniband.document import HostChoice, LoadedSubnet, SwitchLink
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Origin

HOSTS = "hosts"
UPLINKS = "uplinks"
CORE_LINKS = "links to cores"
GLOBAL_LINKS = "links between groups"
SWITCH_LINKS = "links between switches"


def layout_of(loaded: LoadedSubnet) -> SubnetLayout:
    """Return the layout of an intent; hosts listed by name follow those of the shape.

    Raises:
        InputError: a switch that does not exist, or an impossible port, located in the intent.
    """
    made = _of_shape(loaded)
    problems: list[Problem] = []
    hosts, wires = list(made.hosts), list(made.wires)
    known = {switch.name: None for switch in made.switches}
    there = known.keys() | {host.name for host in hosts}
    for name, choice in loaded.intent.topology.hosts.items():
        origin = loaded.origin("topology", "hosts", name)
        if name in there:
            problems.append(loaded.problem(origin.key(), f"{name} is there already"))
        hosts.append(HostSpot(name, origin))
        wires += _named_host(loaded, name, choice, known, problems)
    if problems:
        raise InputError(problems)
    return SubnetLayout(made.switches, tuple(hosts), tuple(wires))


def _of_shape(loaded: LoadedSubnet) -> SubnetLayout:
    shape = loaded.intent.topology.shape
    if isinstance(shape, FatTree):
        return _fat_tree(loaded, shape)
    if isinstance(shape, SubnetDragonflyPlus):
        return _dragonfly_plus(loaded, shape)
    return _torus(loaded, shape) if isinstance(shape, SubnetTorus) else _listed(loaded)


def _fat_tree(loaded: LoadedSubnet, shape: FatTree) -> SubnetLayout:
    at = loaded.origin("topology", "fat_tree")
    return fat_tree(
        SubnetFatTreeShape(
            pods=shape.pods,
            leaves=shape.leaves,
            spines=shape.spines,
            cores=shape.cores or 0,
            planes=shape.planes,
            rails=shape.rails,
            hosts_per_leaf=shape.hosts_per_leaf,
            host_links=SubnetLinks(*shape.host_links, HOSTS, at.at("host_links")),
            uplinks=SubnetLinks(*shape.uplinks, UPLINKS, at.at("uplinks")),
            core_links=shape.core_links and SubnetLinks(*shape.core_links, CORE_LINKS, at.at("core_links")),
            origin=at,
        )
    )


def _dragonfly_plus(loaded: LoadedSubnet, shape: SubnetDragonflyPlus) -> SubnetLayout:
    at = loaded.origin("topology", "dragonfly_plus")
    return dragonfly_plus(
        SubnetDragonflyPlusShape(
            groups=shape.groups,
            leaves=shape.leaves,
            spines=shape.spines,
            hosts_per_leaf=shape.hosts_per_leaf,
            host_links=SubnetLinks(*shape.host_links, HOSTS, at.at("host_links")),
            uplinks=SubnetLinks(*shape.uplinks, UPLINKS, at.at("uplinks")),
            global_links=SubnetLinks(*shape.global_links, GLOBAL_LINKS, at.at("global_links")),
            origin=at,
        )
    )


def _torus(loaded: LoadedSubnet, shape: SubnetTorus) -> SubnetLayout:
    at = loaded.origin("topology", "torus")
    return torus(
        SubnetTorusShape(
            sides=shape.sides,
            links=SubnetLinks(*shape.links, SWITCH_LINKS, at.at("links")),
            hosts_per_switch=shape.hosts_per_switch,
            host_links=SubnetLinks(*shape.host_links, HOSTS, at.at("host_links")),
            origin=at,
        )
    )


def _listed(loaded: LoadedSubnet) -> SubnetLayout:
    declared = loaded.intent.topology.switches or {}
    switches = tuple(
        SwitchSpot(name, choice.role, loaded.origin("topology", "switches", name))
        for name, choice in declared.items()
    )
    problems: list[Problem] = []
    taken: set[tuple[str, int]] = set()
    wires: list[SubnetWire] = []
    for index, link in enumerate(loaded.intent.topology.links):
        at = loaded.origin("topology", "links", index)
        try:
            wires += _bundle(link, at, declared, taken)
        except PydanticCustomError as error:
            problems.append(loaded.problem(at, error.message()))
    if problems:
        raise InputError(problems)
    return SubnetLayout(switches, (), tuple(wires))


def _bundle(
    link: SwitchLink, at: Origin, known: Mapping[str, object], taken: set[tuple[str, int]]
) -> Iterator[SubnetWire]:
    """Return the links of a bundle between two switches that are listed; raises PydanticCustomError."""
    ends = [split_end(link.a), split_end(link.b)]
    for name, port in ends:
        if name not in known:
            raise refused(f"there is no switch {name}{suggestion(name, known)}")
        if port is not None and link.links[0] > 1:
            raise refused(f"{name}:{port} is one port, and the bundle has {link.links[0]} links")
        if port is not None and (name, port) in taken:
            raise refused(f"{name}:{port} has a link already")
        if port is not None:
            taken.add((name, port))
    (a, a_port), (b, b_port) = ends
    if a == b:
        raise refused(f"both ends are {a}: a switch is not linked to itself")
    wire = SubnetWire(a, b, link.links[1], SWITCH_LINKS, at, a_port=a_port, b_port=b_port)
    return (wire for _ in range(link.links[0]))


def _named_host(
    loaded: LoadedSubnet, name: str, choice: HostChoice, known: dict[str, None], problems: list[Problem]
) -> Iterator[SubnetWire]:
    """Yield the links of a host that is listed by name; its switches take the links in turn."""
    count, rate = choice.links
    path = ("topology", "hosts", name)
    missing = [switch for switch in choice.at if switch not in known]
    problems += (
        loaded.problem(loaded.origin(*path, "at"), f"there is no switch {switch}{suggestion(switch, known)}")
        for switch in missing
    )
    origin = loaded.origin(*path, "links")
    for rail in range(0 if missing else count):
        yield SubnetWire(choice.at[rail % len(choice.at)], name, rate, HOSTS, origin, rail=rail)
