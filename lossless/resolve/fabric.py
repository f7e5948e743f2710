"""An intent and hardware profiles to the fabric model."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from lossless.errors import InputError, ProfileError
from lossless.fabric.model import Capacity, Fabric, Host, Link, Network, Switch, Telemetry
from lossless.resolve.classes import class_set
from lossless.resolve.hardware import find_hardware
from lossless.resolve.hosts import check_nics, congestion_control, host_qos
from lossless.resolve.layout import Layout, LayoutBuilder, PortUse, SwitchKind
from lossless.resolve.wiring import plan
from lossless.units import format_capacity, format_rate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from lossless.fabric.hosts import HostQos
    from lossless.intent.load import LoadedIntent
    from lossless.topology.shapes import Bundle, Node, Plan


def resolve(loaded: LoadedIntent, profile_dirs: Sequence[str | PathLike[str]] = ()) -> Fabric:
    """Return the fabric that an intent declares.

    What has a meaning but is unsafe or impossible is built; rules report it.

    Raises:
        InputError: a profile, HWSKU or device that does not exist, located in the intent.
    """
    return _Resolver(loaded, profile_dirs).fabric()


class _Resolver:
    def __init__(self, loaded: LoadedIntent, profile_dirs: Sequence[str | PathLike[str]]) -> None:
        self.loaded = loaded
        self.plan: Plan = plan(loaded)
        self.hardware = find_hardware(loaded, profile_dirs, self.plan.nodes)
        check_nics(loaded, (self.hardware.nic, *self.hardware.other_nics.values()))
        self.classes = class_set(loaded)
        self._builder = LayoutBuilder(loaded)
        self._layouts: dict[SwitchKind, Layout] = {}
        self._host_qos: dict[tuple[str, int, int], HostQos] = {}

    def fabric(self) -> Fabric:
        bundles = _bundles_by_node(self.plan)
        layouts = {
            n.name: self._layout(n, bundles.get(n.name, [])) for n in self.plan.nodes if n.role != "host"
        }
        switches = tuple(self._switch(n, *layouts[n.name]) for n in self.plan.nodes if n.role != "host")
        return Fabric(
            name=self.loaded.intent.fabric,
            door="intent",
            classes=self.classes,
            congestion=congestion_control(self.loaded, self.hardware.nic),
            switches=switches,
            hosts=tuple(self._host(n, bundles.get(n.name, [])) for n in self.plan.nodes if n.role == "host"),
            links=tuple(_links(self.plan, {name: layout for name, (_, layout) in layouts.items()})),
            networks=tuple(self._networks()),
            capacities=tuple(self._capacities(bundles)),
            sources=(self.loaded.document.file,),
            telemetry=self._telemetry(),
            lossy_origin=None if self.loaded.intent.pfc else self.loaded.origin("pfc"),
        )

    def _telemetry(self) -> Telemetry:
        declared, origin = self.loaded.intent.telemetry, self.loaded.origin("telemetry")
        if declared is None:
            return Telemetry(False, None, None, origin)
        interval_ms = None if declared.interval is None else declared.interval // 10**6
        return Telemetry(True, interval_ms, declared.alerts, origin)

    def _layout(self, node: Node, bundles: list[Bundle]) -> tuple[SwitchKind, Layout]:
        profile, hwsku, origin = self.hardware.switches[node.name]
        uses = tuple(_use(node.name, bundle) for bundle in bundles for _ in range(bundle.links))
        kind = SwitchKind(profile, hwsku, node.role, uses, origin)
        if kind not in self._layouts:
            try:
                self._layouts[kind] = self._builder.build(kind)
            except ProfileError as error:
                # Tables of a profile are parsed when first asked for, and a user's own may not fit.
                raise InputError([self.loaded.problem(origin, str(error))]) from None
        return kind, self._layouts[kind]

    def _switch(self, node: Node, kind: SwitchKind, layout: Layout) -> Switch:
        return Switch(
            name=node.name,
            role=node.role,
            hwsku_name=kind.hwsku.name,
            profile=kind.profile,
            hwsku=kind.hwsku,
            classes=self.classes,
            ports=layout.ports,
            demand=layout.demand,
            qos=layout.qos,
            origin=node.origin,
        )

    def _host(self, node: Node, bundles: list[Bundle]) -> Host:
        rate_bps = max((bundle.speed_bps for bundle in bundles), default=0)
        cable_m = max((bundle.cable_m for bundle in bundles), default=0)
        own = self.hardware.other_nics.get(node.name)
        nic = own or self.hardware.nic
        key = (nic.name, rate_bps, cable_m)
        if key not in self._host_qos:
            path = ("topology", "devices", node.name, "nic") if own else ("hardware", "nic")
            at = self.loaded.origin(*path)
            self._host_qos[key] = host_qos(self.loaded, nic, at, rate_bps, cable_m)
        return Host(node.name, self._host_qos[key])

    def _networks(self) -> Iterator[Network]:
        for name, network in sorted(self.loaded.intent.networks.items()):
            yield Network(
                name=name,
                separate=network.on == "separate",
                prefixes=network.prefixes,
                class_name=network.traffic_class,
                origin=self.loaded.origin("networks", name),
            )

    def _capacities(self, bundles: dict[str, list[Bundle]]) -> Iterator[Capacity]:
        """Yield one capacity per kind of leaf: leaves wired alike are counted once."""
        roles = {node.name: node.role for node in self.plan.nodes}
        alike: dict[tuple[object, ...], list[str]] = {}
        for node in self.plan.nodes:
            if node.role == "leaf":
                wiring = tuple((b.links, b.speed_bps, b.tier, b.origin) for b in bundles.get(node.name, []))
                alike.setdefault(wiring, []).append(node.name)
        for names in alike.values():
            found = bundles.get(names[0], [])
            down = [b for b in found if b.tier == "host"]
            # A link between two leaves carries no traffic up.
            up = [b for b in found if "spine" in (roles[b.a], roles[b.b])]
            if down and up:
                yield self._capacity(tuple(names), down, up)

    def _capacity(self, names: tuple[str, ...], down: list[Bundle], up: list[Bundle]) -> Capacity:
        topology = self.loaded.intent.topology
        shape = topology.leaf_spine
        down_bps, up_bps = _sum(down), _sum(up)
        note = (
            f"{_spoken(down, 'host')} = {format_capacity(down_bps)} down, "
            f"{_spoken(up, 'spine')} = {format_capacity(up_bps)} up, each counted one way"
        )
        accepted = max(topology.oversubscription, shape.oversubscription if shape else 1.0)
        return Capacity(names[0], down_bps, up_bps, note, accepted, up[0].origin, names)


def _use(node: str, bundle: Bundle) -> PortUse:
    name = bundle.a_port if bundle.a == node else bundle.b_port
    return PortUse(bundle.speed_bps, bundle.tier, bundle.cable_m, name, bundle.origin, bundle.cable_origin)


def _bundles_by_node(wiring: Plan) -> dict[str, list[Bundle]]:
    found: dict[str, list[Bundle]] = {}
    for bundle in wiring.bundles:
        found.setdefault(bundle.a, []).append(bundle)
        found.setdefault(bundle.b, []).append(bundle)
    return found


def _links(wiring: Plan, layouts: dict[str, Layout]) -> Iterator[Link]:
    """Yield every link; ports of a switch are used up in the order its layout was asked for them."""
    unused = {name: iter(layout.ports) for name, layout in layouts.items()}
    numbers = _host_port_numbers(wiring)
    for bundle in wiring.bundles:
        to_host = bundle.tier == "host"
        for _ in range(bundle.links):
            a_port = next(unused[bundle.a]).name
            if not to_host:
                b_port = next(unused[bundle.b]).name
            elif bundle.b_port is not None:
                b_port = bundle.b_port
            else:
                b_port = f"port{next(numbers[bundle.b])}"
            yield Link(bundle.a, a_port, bundle.b, b_port, bundle.speed_bps, to_host)


def _host_port_numbers(wiring: Plan) -> dict[str, Iterator[int]]:
    """Return, by host, the numbers of ports that no link names: 1, 2, ... without those of named ones."""
    named: dict[str, set[str | None]] = {}
    for bundle in wiring.bundles:
        if bundle.tier == "host":
            named.setdefault(bundle.b, set()).add(bundle.b_port)
    return {host: _numbers_beside(names) for host, names in named.items()}


def _numbers_beside(names: set[str | None]) -> Iterator[int]:
    return (n for n in count(1) if f"port{n}" not in names)


def _sum(bundles: Sequence[Bundle]) -> int:
    return sum(bundle.links * bundle.speed_bps for bundle in bundles)


def _spoken(bundles: Sequence[Bundle], noun: str) -> str:
    """Return ``16 hosts x 2 x 400G``, joined by plus where bundles differ."""
    groups: dict[tuple[int, int], int] = {}
    for bundle in bundles:
        key = (bundle.links, bundle.speed_bps)
        groups[key] = groups.get(key, 0) + 1
    return " + ".join(
        f"{n} {noun}{'s' if n > 1 else ''} x {links} x {format_rate(speed_bps)}"
        for (links, speed_bps), n in groups.items()
    )
