"""A fabric as a network for frames: NIC ports and switches as nodes, links with the configuration of their ends.

A fabric read from devices names no hosts: there every port with PFC that leads to no other switch of the fabric gets a
NIC of its own speed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.headroom.formulas import PAUSE_QUANTA, pause_response_bytes
from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import LIGHT_IN_FIBRE_M_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.view import View

_QUANTUM_BITS = 512


class PortLink(NamedTuple):
    """One link of a fabric: the port of switch ``a``, and the port at ``b`` where that is a switch too."""

    a: int
    b: int
    a_port: Port
    b_port: Port | None
    rate_bps: int
    cable_m: int


class SimTopology(NamedTuple):
    """Nodes by number with their names, the switches and hosts among them, and the links of each node.

    ``host_of`` is None for a NIC that the fabric does not describe. ``left_out`` counts links for which a switch has no
    port, or a port without QoS, and ports without a link that declare no cable length or a length of 0. ``plane_of``
    numbers the planes of switches: switches of two planes are separate by design.
    """

    names: tuple[str, ...]
    switch_of: dict[int, Switch]
    host_of: dict[int, HostQos | None]
    wires: tuple[PortLink, ...]
    wires_of: dict[int, list[int]]
    left_out: int
    declared: bool
    plane_of: dict[int, int]

    def leaf(self, nic: int) -> int:
        """Return the switch that a NIC is attached to."""
        return self.wires[self.wires_of[nic][0]].a

    def by_plane(self, nics: Iterable[int]) -> list[list[int]]:
        """Return NIC ports by the plane they are in, each in the order given."""
        return list(grouped((self.plane_of[self.leaf(nic)], nic) for nic in nics).values())

    @property
    def nics(self) -> tuple[int, ...]:
        """All NIC ports, in the order of the fabric."""
        return tuple(self.host_of)


def sim_topology(view: View, failed: frozenset[tuple[str, str]] = frozenset()) -> SimTopology | MissingInput:
    """Return a fabric as nodes and links, without elements out of service and links with an end in ``failed``.

    ``failed`` are switch and port by name.
    """
    builder, stated = _Builder(view), view.fabric.failures
    for link in view.fabric.links:
        ends = {(link.a, link.a_port), (link.b, link.b_port)}
        works = stated is None or stated.works(link.a, link.b)
        if works and not ends & failed:
            reason = builder.add(link.a, link.a_port, link.b, link.b_port, to_host=link.to_host)
            if reason is not None:
                return reason
    reason = None if view.fabric.declared else _add_nics(builder, view, failed)
    if reason is not None and not builder.wires:
        return reason
    return SimTopology(
        tuple(builder.names),
        builder.switch_of,
        builder.host_of,
        tuple(builder.wires),
        builder.wires_of,
        builder.left_out,
        view.fabric.declared,
        {node: view.plane_of[switch.name] for node, switch in builder.switch_of.items()},
    )


def _add_nics(builder: _Builder, view: View, failed: frozenset[tuple[str, str]]) -> MissingInput | None:
    """Give every open port a NIC; ports with missing inputs are left out, and the first reason is returned."""
    first = None
    for switch in view.fabric.switches:
        for port in _open_ports(view, switch):
            if (switch.name, port.name) in failed:
                continue
            reason = builder.add(switch.name, port.name, f"NIC at {switch.name}", port.name, to_host=True)
            builder.left_out += reason is not None
            first = first or reason
    return first


class _Builder:
    def __init__(self, view: View) -> None:
        self.view = view
        self.names: list[str] = []
        self.switch_of: dict[int, Switch] = {}
        self.host_of: dict[int, HostQos | None] = {}
        self.wires: list[PortLink] = []
        self.wires_of: dict[int, list[int]] = {}
        self.left_out = 0
        self._numbers: dict[str, int] = {}

    def add(self, a: str, a_port: str, b: str, b_port: str, *, to_host: bool) -> MissingInput | None:
        """Add a link, or return the input that is missing for it."""
        near = self.view.port(a, a_port)
        far = None if to_host else self.view.port(b, b_port)
        if near is None or (far is None and not to_host):
            return None
        if any(port is not None and (port.qos is None or not port.placed) for port in (near, far)):
            self.left_out += 1
            return None
        if any(port is not None and port.admin_up is False for port in (near, far)):
            return None
        if near.speed_bps is None:
            return MissingInput(f"the speed of {a}:{a_port} is unknown")
        cable_m = near.cable.known_m or (far.cable.known_m if far else None)
        if not cable_m:
            return MissingInput(f"the length of the cable at {a}:{a_port} is unknown")
        ends = self._switch(a), self._nic(b, b_port) if to_host else self._switch(b)
        self.wires.append(PortLink(*ends, near, far, near.speed_bps, cable_m))
        for end in ends:
            self.wires_of.setdefault(end, []).append(len(self.wires) - 1)
        return None

    def _switch(self, name: str) -> int:
        node = self._node(name)
        self.switch_of[node] = self.view.switch_by_name[name]
        return node

    def _nic(self, host: str, port: str) -> int:
        known = self.view.host_by_name.get(host)
        node = self._node(f"{host}:{port}")
        self.host_of[node] = known.qos if known else None
        return node

    def _node(self, name: str) -> int:
        if name not in self._numbers:
            self._numbers[name] = len(self.names)
            self.names.append(name)
        return self._numbers[name]


def _open_ports(view: View, switch: Switch) -> Iterator[Port]:
    """Yield the ports with PFC that lead to no other switch that is known."""
    taken = {
        port
        for link in view.links_of.get(switch.name, [])
        for name, port in ((link.a, link.a_port), (link.b, link.b_port))
        if name == switch.name
    }
    for port in switch.ports:
        if (
            port.qos is not None
            and port.qos.pfc.priorities
            and port.admin_up is not False
            and port.name not in taken
        ):
            yield port


def propagation_ns(cable_m: int) -> float:
    """Return how long a signal takes along a cable."""
    return cable_m / LIGHT_IN_FIBRE_M_PER_S * 1e9


def reaction_ns(rate_bps: int) -> float:
    """Return how long a transmitter may take to obey PFC: the pause quanta of its rate.

    At a rate without an entry, those of the fastest rate that has one. Source:
    :data:`lossless.analysis.buffers.headroom.formulas.PAUSE_QUANTA`.
    """
    known = pause_response_bytes(rate_bps)
    bits = known * 8 if known is not None else PAUSE_QUANTA[max(PAUSE_QUANTA)] * _QUANTUM_BITS
    return bits / rate_bps * 1e9
