"""The declared shape of a topology to a plan, and what an intent calls otherwise than the shape does."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lossless.analysis.topology.dragonfly import DragonflyPlusShape, DragonflyShape, dragonfly, dragonfly_plus
from lossless.analysis.topology.pinning import ANY
from lossless.analysis.topology.rails import RailShape, rail_optimised
from lossless.analysis.topology.shapes import (
    LeafSpineShape,
    LinkBundle,
    LinkKind,
    ThreeTierShape,
    WiringPlan,
    leaf_spine,
    three_tier,
)
from lossless.analysis.topology.torus import TorusShape, torus
from lossless.formats.intent.shapes import (
    DragonflyIntent,
    DragonflyPlusIntent,
    LeafSpineIntent,
    RailOptimisedIntent,
    ThreeTierIntent,
    TorusIntent,
)
from lossless.ground.basics.errors import InputError
from lossless.ground.basics.nearest import nearest
from lossless.model.fabric.tier import LinkTier

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.formats.intent.load import LoadedIntent
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Origin


def shape_plan(loaded: LoadedIntent) -> WiringPlan | None:
    """Return the plan of the shape that is declared, under its own names and ports; None where there is no shape.

    Raises:
        InputError: a name or port is given to what the shape does not have, or twice.
    """
    topology = loaded.intent.topology
    if topology.shape_key is None:
        return None
    plan = _Shapes(loaded, topology.shape_key).plan()
    return _Overrides(loaded, plan).plan() if topology.names or topology.ports else plan


class _Shapes:
    """Makes the plan of each kind of shape, beside that of the size it may grow to."""

    def __init__(self, loaded: LoadedIntent, key: str) -> None:
        self._at = loaded.origin("topology", key)
        self._topology = loaded.intent.topology

    def plan(self) -> WiringPlan:
        shape = self._topology.shape
        match shape:
            case LeafSpineIntent():
                return leaf_spine(
                    self._leaf_spine(shape), self._leaf_spine(shape.grown()) if shape.room else None
                )
            case ThreeTierIntent():
                return three_tier(
                    self._three_tier(shape), self._three_tier(shape.grown()) if shape.room else None
                )
            case RailOptimisedIntent():
                return rail_optimised(self._rails(shape), self._rails(shape.grown()) if shape.room else None)
            case DragonflyIntent():
                return dragonfly(
                    self._dragonfly(shape), self._dragonfly(shape.grown()) if shape.room else None
                )
            case DragonflyPlusIntent():
                room = self._dragonfly_plus(shape.grown()) if shape.room else None
                return dragonfly_plus(self._dragonfly_plus(shape), room)
            case TorusIntent():
                return torus(self._torus(shape), self._torus(shape.grown()) if shape.room else None)
        raise AssertionError(shape)

    def _leaf_spine(self, shape: LeafSpineIntent) -> LeafSpineShape:
        return LeafSpineShape(
            leaves=shape.leaves,
            spines=shape.spines,
            hosts_per_leaf=shape.hosts_per_leaf,
            host_links=shape.host_links,
            uplinks=shape.uplinks,
            host_cable_m=shape.cables.host,
            uplink_cable_m=shape.cables.uplink,
            origin=self._at,
            lag=shape.lag,
            dual_tor=shape.dual_tor,
        )

    def _three_tier(self, shape: ThreeTierIntent) -> ThreeTierShape:
        return ThreeTierShape(
            pods=shape.pods,
            leaves_per_pod=shape.leaves_per_pod,
            spines_per_pod=shape.spines_per_pod,
            super_spines=shape.super_spines,
            planes=shape.planes,
            hosts_per_leaf=shape.hosts_per_leaf,
            host_links=shape.host_links,
            uplinks=shape.uplinks,
            spine_uplinks=shape.spine_uplinks,
            host_cable_m=shape.cables.host,
            uplink_cable_m=shape.cables.uplink,
            spine_uplink_cable_m=shape.cables.spine_uplink,
            origin=self._at,
            lag=shape.lag,
            dual_tor=shape.dual_tor,
        )

    def _rails(self, shape: RailOptimisedIntent) -> RailShape:
        return RailShape(
            units=shape.units,
            rails=shape.rails,
            spines=shape.spines,
            hosts_per_unit=shape.hosts_per_unit,
            host_links=self._hosts(shape.host_links, shape.cables.host),
            uplinks=self._between("uplinks", shape.uplinks, shape.cables.uplink, "uplink", shape.lag),
            origin=self._at,
        )

    def _dragonfly(self, shape: DragonflyIntent) -> DragonflyShape:
        cables = shape.cables
        return DragonflyShape(
            groups=shape.groups,
            switches=shape.switches,
            hosts_per_switch=shape.hosts_per_switch,
            host_links=self._hosts(shape.host_links, cables.host),
            local_links=self._between("local_links", shape.local_links, cables.local, "local", shape.lag),
            global_links=self._between(
                "global_links", shape.global_links, cables.global_, "global", shape.lag
            ),
            origin=self._at,
        )

    def _dragonfly_plus(self, shape: DragonflyPlusIntent) -> DragonflyPlusShape:
        cables = shape.cables
        return DragonflyPlusShape(
            groups=shape.groups,
            leaves=shape.leaves,
            spines=shape.spines,
            hosts_per_leaf=shape.hosts_per_leaf,
            host_links=self._hosts(shape.host_links, cables.host),
            uplinks=self._between("uplinks", shape.uplinks, cables.uplink, "uplink", shape.lag),
            global_links=self._between(
                "global_links", shape.global_links, cables.global_, "global", shape.lag
            ),
            origin=self._at,
        )

    def _torus(self, shape: TorusIntent) -> TorusShape:
        return TorusShape(
            sides=shape.sides,
            links=self._between("links", shape.links, shape.cables.link, "link", shape.lag),
            hosts_per_switch=shape.hosts_per_switch,
            host_links=self._hosts(shape.host_links, shape.cables.host),
            origin=self._at,
        )

    def _hosts(self, links: tuple[int, int], cable_m: int) -> LinkKind:
        at = self._at
        return LinkKind("hosts", links, cable_m, at.at("host_links"), at.at("cables", "host"))

    def _between(
        self, tier: LinkTier, links: tuple[int, int], cable_m: int, cable: str, lag: bool
    ) -> LinkKind:
        """Return the links between switches, which an intent calls as their tier."""
        at = self._at
        return LinkKind(tier, links, cable_m, at.at(tier), at.at("cables", cable), "lag" if lag else None)


class _Overrides:
    """Names and ports that an intent gives instead of derived ones."""

    def __init__(self, loaded: LoadedIntent, plan: WiringPlan) -> None:
        self._loaded = loaded
        self._plan = plan
        self._names = loaded.intent.topology.names
        self._ports = loaded.intent.topology.ports
        self._problems: list[Problem] = []

    def plan(self) -> WiringPlan:
        self._check_names()
        self._raise()
        renamed = self._renamed()
        self._check_ports(renamed)
        self._raise()
        left = {ends: iter(ports) for ends, ports in self._ports.items()}
        plugged = (part for bundle in renamed.bundles for part in _plugged(bundle, left))
        return WiringPlan(renamed.nodes, tuple(plugged))

    def _raise(self) -> None:
        if self._problems:
            raise InputError(self._problems)

    def _check_names(self) -> None:
        derived = {node.name for node in self._plan.nodes}
        kept, given = derived - self._names.keys(), set[str]()
        for old, new in self._names.items():
            at = self._loaded.origin("topology", "names", old)
            if old not in derived:
                near = nearest(old, sorted(derived))
                hint = f"; did you mean {near}?" if near else ""
                self._refuse(at.key(), f"topology.names: the shape has no device {old!r}{hint}")
            elif new in kept or new in given:
                self._refuse(at, f"topology.names.{old}: another device is called {new} already")
            given.add(new)

    def _renamed(self) -> WiringPlan:
        names = self._names
        nodes = tuple(
            node._replace(name=names[node.name], origin=self._loaded.origin("topology", "names", node.name))
            if node.name in names
            else node
            for node in self._plan.nodes
        )
        bundles = tuple(
            bundle._replace(a=names.get(bundle.a, bundle.a), b=names.get(bundle.b, bundle.b))
            if bundle.a in names or bundle.b in names
            else bundle
            for bundle in self._plan.bundles
        )
        return WiringPlan(nodes, bundles)

    def _check_ports(self, plan: WiringPlan) -> None:
        known = Counter[str]()
        for bundle in plan.bundles:
            known.update(dict.fromkeys(_ends(bundle), bundle.links))
        first: dict[tuple[str, str], str] = {}
        for ends, ports in self._ports.items():
            at = self._loaded.origin("topology", "ports", ends)
            if ends not in known:
                own = sorted(end for end in known if end.partition(":")[0] == ends.partition(":")[0])
                near = nearest(ends, own or sorted(known))
                hint = f"; did you mean {near}?" if near else ""
                message = f"topology.ports: no links lead as {ends!r} says, DEVICE:NEIGHBOR{hint}"
                self._refuse(at.key(), message)
                continue
            if len(ports) != known[ends]:
                said = f"{len(ports)} port{'' if len(ports) == 1 else 's'}"
                self._refuse(at, f"topology.ports.{ends}: {said} for {known[ends]} links between the two")
                continue
            device = ends.partition(":")[0]
            for port in (port for port in ports if port != ANY):
                other = first.setdefault((device, port), ends)
                if other != ends or ports.count(port) > 1:
                    message = f"topology.ports.{ends}: {device}:{port} already has a link, that of {other}"
                    self._refuse(at, message)

    def _refuse(self, origin: Origin, message: str) -> None:
        problem = self._loaded.problem(origin, message)
        if problem not in self._problems:
            self._problems.append(problem)


def _ends(bundle: LinkBundle) -> tuple[str, str]:
    """Return what an intent calls the two ends of the links between two devices."""
    return f"{bundle.a}:{bundle.b}", f"{bundle.b}:{bundle.a}"


def _plugged(bundle: LinkBundle, left: Mapping[str, Iterator[str]]) -> Iterator[LinkBundle]:
    """Yield a bundle as it is, or a bundle a link where an end has ports of its own; ``left`` are those to be given.

    Several bundles may join the same two devices: a host that has several adapters on a rail has one of each.
    """
    a_ports, b_ports = (left.get(end) for end in _ends(bundle))
    if a_ports is None and b_ports is None:
        yield bundle
        return
    for number in range(bundle.links):
        a_port = _port(bundle.a_port, a_ports)
        b_port = _port(bundle.b_port, b_ports)
        one = bundle._replace(links=1, a_port=a_port, b_port=b_port)
        yield one if number == 0 else one._replace(a_kept=(), b_kept=())


def _port(derived: str | None, stated: Iterator[str] | None) -> str | None:
    port = ANY if stated is None else next(stated)
    return derived if port == ANY else port
