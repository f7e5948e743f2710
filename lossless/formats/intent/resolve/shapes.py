"""Turns the declared topology into a wiring plan: its shape with overridden names and ports, or its devices and links.

Unknown names, hosts wired to hosts and other mistakes are reported as problems.
"""

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
    PlanNode,
    RailShape,
    ThreeTierShape,
    TorusShape,
    WiringPlan,
    wiring_plan,
)
from lossless.formats.intent.problems import in_file_order
from lossless.formats.intent.shapes import (
    DragonflyIntent,
    DragonflyPlusIntent,
    LeafSpineIntent,
    RailOptimisedIntent,
    ThreeTierIntent,
    TorusIntent,
)
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.findings import natural_key
from lossless.ground.basics.units import format_rate, suggestion
from lossless.model.fabric.model import ROLES, LinkTier, link_tier

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.analysis.topology.shapes import Shape
    from lossless.formats.intent.load import LoadedIntent
    from lossless.formats.intent.shapes import ShapeIntent
    from lossless.formats.intent.wiring import DeviceChoice, LinkChoice
    from lossless.ground.basics.findings import Origin


def shape_plan(loaded: LoadedIntent) -> WiringPlan | None:
    """Return the wiring plan of the declared shape, with declared names and ports; None where there is no shape.

    Raises:
        InputError: a name or port is assigned to a device or link that the shape does not have, or twice, or the
            number of ports is not that of the links.
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
    """Return a declared shape as a shape of the model; ``at`` is its origin."""
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
    """Return the rate, cable length and LAG of a shape's links of one tier, by the keys of the intent."""
    key, cable = "host_links" if tier == "hosts" else tier, _CABLE_KEYS[tier]
    cables_m = {name.rstrip("_"): cable_m for name, cable_m in declared.cables}
    lag = "lag" if declared.lag and tier != "hosts" else None
    return LinkKind(tier, getattr(declared, key), cables_m[cable], at.at(key), at.at("cables", cable), lag)


class _Overrides:
    """Declared device names and ports that replace those derived from a shape."""

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


def plan(loaded: LoadedIntent) -> WiringPlan:
    """Return the wiring plan of an intent.

    Raises:
        InputError: every link that names an undeclared device, joins two hosts or ends at the device it starts from,
            every named port with several links, every LAG to a host or of several speeds, and every wrong override of
            a shape; else every tier with declared PFC and no links.
    """
    wiring = _plan(loaded)
    problems = list(_tiers_without_links(loaded, wiring))
    if problems:
        raise InputError(problems)
    return wiring


def _plan(loaded: LoadedIntent) -> WiringPlan:
    return shape_plan(loaded) or _explicit(loaded)


def _tiers_without_links(loaded: LoadedIntent, wiring: WiringPlan) -> Iterator[Problem]:
    """Yield a problem for each tier with declared PFC that has no links."""
    there = wiring.link_tiers
    stated = loaded.intent.pfc.tiers if loaded.intent.pfc else None
    for index, tier in enumerate(stated or ()):
        if tier not in there:
            known = ", ".join(there) or "no links at all"
            message = f"pfc.tiers.{index}: no link of this fabric is one of {tier}; there are {known}"
            yield loaded.problem(loaded.origin("pfc", "tiers", index), message)


def _explicit(loaded: LoadedIntent) -> WiringPlan:
    topology = loaded.intent.topology
    devices = topology.devices or {}
    problems: list[Problem] = []
    seen: set[str] = set()
    bundles = [
        bundle
        for number, link in enumerate(topology.links or ())
        for bundle in _Ends(loaded, number, link, problems).bundle(seen)
    ]
    problems += _lags_of_several_speeds(loaded, bundles)
    if problems:
        raise InputError(in_file_order(problems))
    nodes = (_node(loaded, name, device) for name, device in devices.items())
    # As a shape orders them, so that the order in the document is of no consequence.
    return WiringPlan(tuple(sorted(nodes, key=_rank)), tuple(bundles))


def _node(loaded: LoadedIntent, name: str, device: DeviceChoice) -> PlanNode:
    origin = loaded.origin("topology", "devices", name)
    return PlanNode(
        name, device.role, name if device.hardware else None, origin, device.dual_tor, device.outside
    )


def _lags_of_several_speeds(loaded: LoadedIntent, bundles: list[LinkBundle]) -> Iterator[Problem]:
    """Yield a problem for each bundle of another speed than its LAG, as SONiC refuses such members.

    Source: sonic-utilities config/main.py @691b1bb.
    """
    first: dict[tuple[object, ...], LinkBundle] = {}
    for bundle in bundles:
        if bundle.lag is None:
            continue
        other = first.setdefault((frozenset((bundle.a, bundle.b)), bundle.lag), bundle)
        if other.speed_bps != bundle.speed_bps:
            rates = f"{format_rate(bundle.speed_bps)} in LAG {bundle.lag}, whose other links have"
            message = (
                f"{_dotted(bundle.origin)}: {rates} {format_rate(other.speed_bps)}; members have one speed"
            )
            yield loaded.problem(bundle.origin, message)


def _rank(node: PlanNode) -> tuple[object, ...]:
    """Return the sort key of a device: by role in the order of ROLES, then by name, ``leaf2`` before ``leaf10``."""
    return (ROLES.index(node.role), natural_key(node.name))


class _Ends:
    """Checks the two ends of one declared bundle of links."""

    def __init__(self, loaded: LoadedIntent, number: int, link: LinkChoice, problems: list[Problem]) -> None:
        self._loaded = loaded
        self._link = link
        self._origin = loaded.origin("topology", "links", number)
        self._devices = loaded.intent.topology.devices or {}
        self._problems = problems

    def bundle(self, seen: set[str]) -> Iterator[LinkBundle]:
        """Yield the bundle unless it is invalid; ``seen`` are the named ports of the links before."""
        ends = {side: _end(getattr(self._link, side)) for side in ("a", "b")}
        before = len(self._problems)
        for side, (name, port) in ends.items():
            self._check_end(side, name, port, seen)
        if len(self._problems) > before:
            return
        hosts = [side for side, (name, _) in ends.items() if self._devices[name].role == "host"]
        if len(hosts) == 2 or ends["a"][0] == ends["b"][0]:
            why = (
                "joins two hosts; one end must be a switch"
                if len(hosts) == 2
                else "leads back to its own device"
            )
            self._problems.append(
                self._loaded.problem(self._origin, f"{_dotted(self._origin)}: the link {why}")
            )
            return
        if hosts and self._link.lag is not None:
            self._refuse(
                "lag", "a LAG of hosts is bonded on the host; only links between switches can be one"
            )
            return
        near, far = (ends["b"], ends["a"]) if hosts == ["a"] else (ends["a"], ends["b"])
        count, speed_bps = self._link.links
        tier = link_tier({self._devices[name].role for name, _ in (near, far)})
        origin, cable = self._origin.at("links"), self._origin.at("cable")
        yield LinkBundle(*near, *far, count, speed_bps, self._link.cable, tier, origin, cable, self._lag())

    def _lag(self) -> str | None:
        """Return the name of the LAG; one without a name is identified by its position in the list."""
        lag = self._link.lag
        return f"of link {self._origin.path[-1]}" if lag is True else lag

    def _check_end(self, side: str, name: str, port: str | None, seen: set[str]) -> None:
        end, count = f"{name}:{port}", self._link.links[0]
        if name not in self._devices:
            self._refuse(side, _no_device(name, list(self._devices)))
        elif port is not None and count > 1:
            self._refuse(side, f"{end} is one port; {count} links need as many lines")
        elif port is not None and end in seen:
            self._refuse(side, f"{end} already has a link")
        elif port is not None:
            seen.add(end)

    def _refuse(self, side: str, message: str) -> None:
        where = self._origin.at(side)
        self._problems.append(self._loaded.problem(where, f"{_dotted(where)}: {message}"))


def _dotted(origin: Origin) -> str:
    return ".".join(map(str, origin.path))


def _end(text: str) -> tuple[str, str | None]:
    name, colon, port = text.partition(":")
    return name, port if colon else None


def _no_device(name: str, known: list[str]) -> str:
    return f"no device {name!r}{suggestion(name, known) if known else '; none is declared'}"
