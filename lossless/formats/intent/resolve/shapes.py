"""Turns the declared shape of a topology into a plan, with the names and ports that the intent overrides."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from lossless.analysis.topology.recabling import ANY
from lossless.analysis.topology.shapes import (
    DragonflyPlusShape,
    DragonflyShape,
    LeafSpineShape,
    LinkBundle,
    LinkKind,
    RailShape,
    ThreeTierShape,
    TorusShape,
    WiringPlan,
    wiring_plan,
)
from lossless.formats.intent.shapes import (
    DragonflyIntent,
    DragonflyPlusIntent,
    LeafSpineIntent,
    RailOptimisedIntent,
    ThreeTierIntent,
    TorusIntent,
)
from lossless.ground.basics.errors import InputError
from lossless.ground.basics.nearest import suggestion
from lossless.model.fabric.tier import LinkTier

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.analysis.topology.shapes import Shape
    from lossless.formats.intent.load import LoadedIntent
    from lossless.formats.intent.shapes import ShapeIntent
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Origin


def shape_plan(loaded: LoadedIntent) -> WiringPlan | None:
    """Return the plan of the declared shape, with its own names and ports; None where there is no shape.

    Raises:
        InputError: a name or port is assigned to a device or link that the shape does not have, or twice.
    """
    topology = loaded.intent.topology
    declared = topology.shape
    if declared is None or topology.shape_key is None:
        return None
    at = loaded.origin("topology", topology.shape_key)
    room = _shape(declared.grown(), at) if declared.room_sizes else None
    plan = wiring_plan(_shape(declared, at), room)
    return _Overrides(loaded, plan).plan() if topology.names or topology.ports else plan


_CABLE_KEYS: dict[LinkTier, str] = {
    "hosts": "host",
    "uplinks": "uplink",
    "spine_uplinks": "spine_uplink",
    "local_links": "local",
    "global_links": "global",
    "links": "link",
}
"""The keys under ``cables`` of a shape, by tier of links."""


def _shape(declared: ShapeIntent, at: Origin) -> Shape:
    """Convert a declared shape to the model; ``at`` is its origin."""
    links = partial(_links, declared, at)
    match declared:
        case LeafSpineIntent():
            return LeafSpineShape(
                leaves=declared.leaves,
                spines=declared.spines,
                hosts_per_leaf=declared.hosts_per_leaf,
                host_links=links("hosts"),
                uplinks=links("uplinks"),
                origin=at,
                dual_tor=declared.dual_tor,
            )
        case ThreeTierIntent():
            return ThreeTierShape(
                pods=declared.pods,
                leaves_per_pod=declared.leaves_per_pod,
                spines_per_pod=declared.spines_per_pod,
                super_spines=declared.super_spines,
                planes=declared.planes,
                hosts_per_leaf=declared.hosts_per_leaf,
                host_links=links("hosts"),
                uplinks=links("uplinks"),
                spine_uplinks=links("spine_uplinks"),
                origin=at,
                dual_tor=declared.dual_tor,
                rails=declared.rails,
            )
        case RailOptimisedIntent():
            return RailShape(
                units=declared.units,
                rails=declared.rails,
                spines=declared.spines,
                hosts_per_unit=declared.hosts_per_unit,
                host_links=links("hosts"),
                uplinks=links("uplinks"),
                origin=at,
                planes=declared.planes,
            )
        case DragonflyIntent():
            return DragonflyShape(
                groups=declared.groups,
                switches=declared.switches,
                hosts_per_switch=declared.hosts_per_switch,
                host_links=links("hosts"),
                local_links=links("local_links"),
                global_links=links("global_links"),
                origin=at,
            )
        case DragonflyPlusIntent():
            return DragonflyPlusShape(
                groups=declared.groups,
                leaves=declared.leaves,
                spines=declared.spines,
                hosts_per_leaf=declared.hosts_per_leaf,
                host_links=links("hosts"),
                uplinks=links("uplinks"),
                global_links=links("global_links"),
                origin=at,
            )
        case TorusIntent():
            return TorusShape(
                sides=declared.sides,
                links=links("links"),
                hosts_per_switch=declared.hosts_per_switch,
                host_links=links("hosts"),
                origin=at,
            )
    raise AssertionError(declared)


def _links(declared: ShapeIntent, at: Origin, tier: LinkTier) -> LinkKind:
    """Return the links of a tier; links between switches are declared under the name of their tier."""
    key, cable = "host_links" if tier == "hosts" else tier, _CABLE_KEYS[tier]
    cables_m = {name.rstrip("_"): cable_m for name, cable_m in declared.cables}
    lag = "lag" if declared.lag and tier != "hosts" else None
    return LinkKind(tier, getattr(declared, key), cables_m[cable], at.at(key), at.at("cables", cable), lag)


class _Overrides:
    """Names and ports of an intent that replace derived ones."""

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
                hint = suggestion(old, sorted(derived))
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
                hint = suggestion(ends, own or sorted(known))
                message = f"topology.ports: no links lead as {ends!r} says, DEVICE:NEIGHBOR{hint}"
                self._refuse(at.key(), message)
                continue
            if len(ports) != known[ends]:
                stated = f"{len(ports)} port{'' if len(ports) == 1 else 's'}"
                self._refuse(at, f"topology.ports.{ends}: {stated} for {known[ends]} links between the two")
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
    """Return the keys of the intent's ``ports`` for the two ends of a bundle: ``leaf1:spine1`` and ``spine1:leaf1``."""
    return f"{bundle.a}:{bundle.b}", f"{bundle.b}:{bundle.a}"


def _plugged(bundle: LinkBundle, left: Mapping[str, Iterator[str]]) -> Iterator[LinkBundle]:
    """Yield a bundle unchanged, or one bundle per link where an end has declared ports; ``left`` has the unused ones.

    Several bundles may join the same two devices: a host that has several adapters on a rail has one of each.
    """
    a_ports, b_ports = (left.get(end) for end in _ends(bundle))
    if a_ports is None and b_ports is None:
        yield bundle
        return
    for number in range(bundle.links):
        a_port = _port(bundle.a_port, a_ports)
        b_port = _port(bundle.b_port, b_ports)
        link = bundle._replace(links=1, a_port=a_port, b_port=b_port)
        yield link if number == 0 else link._replace(a_kept=(), b_kept=())


def _port(derived: str | None, stated: Iterator[str] | None) -> str | None:
    port = ANY if stated is None else next(stated)
    return derived if port == ANY else port
