"""Indexes over a fabric, built once: rules iterate over groups of identical devices and ports."""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_rate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.model import Cable, Fabric, Host, Link, Port, Switch
    from lossless.model.fabric.qos import PortQos


class PortSet(NamedTuple):
    """Ports with one :class:`PortQos`, one speed and one cable length, on identical switches.

    ``switch`` stands for all of ``switches``; ``ports`` are the ports of each of them.
    """

    switch: Switch
    switches: tuple[str, ...]
    qos: PortQos
    speed_bps: int | None
    cable: Cable
    ports: tuple[Port, ...]

    @property
    def places(self) -> int:
        """The number of these ports, over all switches."""
        return len(self.switches) * len(self.ports)

    @property
    def rate(self) -> str:
        """The speed of each of these ports as text, ``400G``; ``0 b/s`` where it is unknown."""
        return format_rate(self.speed_bps or 0)

    @property
    def elements(self) -> tuple[str, ...]:
        """The ports of the first five switches by name, ``leaf1:Ethernet0``."""
        return tuple(f"{name}:{port.name}" for name in self.switches[:5] for port in self.ports)


def single_port(switch: Switch, port: Port, qos: PortQos) -> PortSet:
    """Return one port of one switch as a set."""
    return PortSet(switch, (switch.name,), qos, port.speed_bps, port.cable, (port,))


class View:
    """A fabric and its indexes. Rules receive a view, and share the results that one of them computed."""

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric

    @cached_property
    def identical(self) -> tuple[tuple[Switch, tuple[str, ...]], ...]:
        """Groups of switches that share ports, QoS, classes and HWSKU: the first of each, and the names of all."""
        groups = grouped(
            ((id(switch.ports), id(switch.qos), id(switch.classes), id(switch.hwsku)), switch)
            for switch in self.fabric.switches
        )
        return tuple((switches[0], tuple(s.name for s in switches)) for switches in groups.values())

    @cached_property
    def port_sets(self) -> tuple[PortSet, ...]:
        """Sets of the ports in use: those with QoS rows that are not known to be down."""
        return tuple(port_set for switch, names in self.identical for port_set in _port_sets(switch, names))

    @cached_property
    def lossless_sets(self) -> tuple[PortSet, ...]:
        """The :attr:`port_sets` with PFC on for any priority."""
        return tuple(port_set for port_set in self.port_sets if port_set.qos.pfc.priorities)

    @cached_property
    def switch_by_name(self) -> dict[str, Switch]:
        """Switches by name."""
        return {switch.name: switch for switch in self.fabric.switches}

    @cached_property
    def units(self) -> dict[str, list[Switch]]:
        """The switches of a device, one for each ASIC, by the name of the device."""
        return grouped((switch.device, switch) for switch in self.fabric.switches)

    @cached_property
    def host_by_name(self) -> dict[str, Host]:
        """Hosts by name."""
        return {host.name: host for host in self.fabric.hosts}

    @cached_property
    def host_kinds(self) -> tuple[tuple[HostQos, tuple[str, ...]], ...]:
        """Hosts grouped by identical configuration: their QoS, and their names."""
        groups = grouped((id(host.qos), host) for host in self.fabric.hosts)
        return tuple((hosts[0].qos, tuple(h.name for h in hosts)) for hosts in groups.values())

    @cached_property
    def links_of(self) -> dict[str, list[Link]]:
        """Links by the name of the switch or host at either end."""
        return grouped((end, link) for link in self.fabric.links for end in (link.a, link.b))

    @cached_property
    def plane_of(self) -> dict[str, int]:
        """The plane of each switch, each device, and each switch outside; no link joins switches of two planes."""
        near: dict[str, set[str]] = {switch.name: set() for switch in self.fabric.switches}
        units = ((switch.name, switch.device) for switch in self.fabric.switches)
        links = ((link.a, link.b) for link in self.fabric.links if not link.to_host)
        beyond = ((link.switch, link.far) for link in self.fabric.beyond if not link.to_host)
        for a, b in chain(units, links, beyond):
            near.setdefault(a, set()).add(b)
            near.setdefault(b, set()).add(a)
        plane_of: dict[str, int] = {}
        for number, first in enumerate(near):
            reached = [] if first in plane_of else [first]
            for name in reached:
                plane_of[name] = number
                further = [other for other in near[name] if other not in plane_of]
                plane_of.update(dict.fromkeys(further, number))
                reached += further
        return plane_of

    @cached_property
    def rail_of(self) -> dict[str, int]:
        """The rail of each switch with hosts, from 0, counted in its plane; empty without rails, and if deployed.

        A rail is the switches that have the same ports of hosts. An intent has rails where no two switches of a plane
        share a part of these ports alone, and some plane has several rails. With several planes the ports of an
        adapter follow each other, one in each plane: rail n is the n-th of those in the plane. The two leaves of a
        dual ToR have different ports of one host, which are no rails: they share the traffic of one adapter.
        """
        if not self.fabric.declared or any(switch.qos.tunnel is not None for switch in self.fabric.switches):
            return {}
        device_of = {switch.name: switch.device for switch in self.fabric.switches}
        ends = ((device_of.get(link.a, link.a), link.b_port) for link in self.fabric.links if link.to_host)
        ports_of = {device: frozenset(ports) for device, ports in grouped(ends).items()}
        planes = grouped((self.plane_of.get(device, 0), ports) for device, ports in ports_of.items())
        order: dict[int, list[frozenset[str]]] = {}
        for plane, sets in planes.items():
            order[plane] = sorted(set(sets), key=lambda ports: min(map(_numbered, ports)))
            if sum(map(len, order[plane])) > len(frozenset().union(*order[plane])):
                return {}
        if not any(len(rails) > 1 for rails in order.values()):
            return {}
        return {
            name: order[self.plane_of.get(device, 0)].index(ports_of[device])
            for name, device in device_of.items()
            if device in ports_of
        }

    def port(self, switch: str, name: str) -> Port | None:
        """Return a port of a switch, None where either does not exist."""
        return self._ports_by_name.get(switch, {}).get(name)

    @cached_property
    def _ports_by_name(self) -> dict[str, dict[str, Port]]:
        shared: dict[int, dict[str, Port]] = {}
        for switch in self.fabric.switches:
            if id(switch.ports) not in shared:
                shared[id(switch.ports)] = {port.name: port for port in switch.ports}
        return {switch.name: shared[id(switch.ports)] for switch in self.fabric.switches}


def _port_sets(switch: Switch, names: tuple[str, ...]) -> Iterator[PortSet]:
    groups: dict[tuple[object, ...], list[Port]] = {}
    for port in switch.ports:
        if port.qos is not None and port.admin_up is not False:
            key = (id(port.qos), port.speed_bps, port.offered_bps, port.cable.real_m, port.cable.configured_m)
            groups.setdefault(key, []).append(port)
    for ports in groups.values():
        first = ports[0]
        if first.qos is not None:
            yield PortSet(switch, names, first.qos, first.speed_bps, first.cable, tuple(ports))


def _numbered(port: str) -> tuple[int, str]:
    """Return the key by which names of ports sort by their numbers: ``port2`` before ``port10``."""
    return len(port), port


def bare(value: Any) -> Any:
    """Return a value of the model without its origins, for comparisons of meaning.

    Named tuples become plain tuples, so that a value read from a device equals the one it was rendered from.
    """
    if isinstance(value, tuple):
        fields = getattr(value, "_fields", None)
        items = zip(fields, value, strict=True) if fields else ((None, item) for item in value)
        return tuple(bare(item) for name, item in items if not (name or "").endswith(("origin", "origins")))
    return value
