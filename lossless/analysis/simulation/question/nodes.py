"""A fabric as a network for frames: its nodes, links and paths, and the DCQCN of its hosts.

Nodes are NIC ports and switches; links have the configuration of their ends. A fabric read from devices names no
hosts: there a port with PFC, of known speed and cable, that is not down and leads to no other switch of the fabric
gets a NIC of its own speed. Paths are
the shortest, one of equal ones at random, as switches choose by hash (ECMP).

Paths may have a cyclic buffer dependency: a frame that waits for link (v, w) holds memory that was filled over link
(u, v), so the one link waits for the other. Where those waits have no cycle, no traffic can close one (Dally and
Seitz, Deadlock-free message routing in multiprocessor interconnection networks, IEEE Transactions on Computers,
1987).

DCQCN comes from the parameters by their ConnectX names. Meanings and units: NVIDIA DOCA 3.4.0, DCQCN congestion
control parameters. Sources disagree on the unit of RPG_BYTE_RESET; it is read as 64 bytes, which makes the default of
32,767 the 2 MB that Spirent's RoCEv2 profile of DCQCN has as its default (Rocev2DcqcnProfile, ByteResetInMb). mlxconfig
says bytes (mstflint mlxconfig/mlxconfig_dbs/mlxconfig_host.db @b9d9e84), which would be 8 packets of 4 KiB.

The congestion control of a NIC as shipped is a fact of its profile. Where that is another algorithm than DCQCN, or
unknown, DCQCN stands for it, or PFC alone without parameters (:func:`rate_control`).

No pacing lock: at ConnectX's least rate of 1 Mb/s a frame would block its queue pair for 33 ms although the rate has
risen long since. That lock is known from a simulator's code, not from NICs, and it hides the waves in which senders
recover.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

from lossless.analysis.buffers.headroom.formulas import PAUSE_QUANTA, pause_response_bytes
from lossless.analysis.simulation.engine.network import SimDcqcn
from lossless.ground.basics.errors import ScenarioError
from lossless.ground.basics.findings import MissingInput, grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import LIGHT_IN_FIBRE_M_PER_S, joined

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from lossless.model.fabric import hosts
    from lossless.model.fabric.cluster import RailTraffic
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.view import View
    from lossless.model.hardware.devices import NicProfile


BYTE_RESET_UNIT = 64
_FIXED_POINT = 1024
"""Alpha and its weight are parts of 1,024."""
_MBPS = 1e6


_FIELDS: dict[str, tuple[str, Callable[[int], Any]]] = {
    "dce_tcp_g": ("g", lambda value: (_FIXED_POINT - value) / _FIXED_POINT),
    "dce_tcp_rtt": ("alpha_us", float),
    "rate_reduce_monitor_period": ("decrease_us", float),
    "rpg_time_reset": ("increase_us", float),
    "rpg_threshold": ("threshold", int),
    "rpg_ai_rate": ("ai_bps", lambda value: value * _MBPS),
    "rpg_hai_rate": ("hai_bps", lambda value: value * _MBPS),
    "rpg_min_rate": ("min_rate_bps", lambda value: value * _MBPS),
    "min_time_between_cnps": ("cnp_gate_us", float),
    "rpg_byte_reset": ("byte_reset", lambda value: value * BYTE_RESET_UNIT),
    "initial_alpha_value": ("initial_alpha", lambda value: value / _FIXED_POINT),
    "rpg_gd": ("alpha_to_rate", lambda value: _FIXED_POINT / 2**value),
    "rpg_min_dec_fac": ("min_decrease", lambda value: value / 100),
    "rate_to_set_on_first_cnp": ("first_rate_bps", lambda value: value * _MBPS),
    "rpg_max_rate": ("release_bps", lambda value: value * _MBPS),
    "clamp_tgt_rate": ("clamp", bool),
    "clamp_tgt_rate_after_time_inc": ("clamp_after_increase", bool),
}
"""The field of :class:`SimDcqcn` for each ConnectX parameter, and the conversion of its value."""


def dcqcn_of(qos: hosts.HostQos) -> SimDcqcn | None:
    """Return the DCQCN parameters of a host, None where DCQCN is off or unknown there."""
    return dcqcn(dict(qos.dcqcn.values)) if qos.dcqcn.enabled is True and qos.dcqcn.values else None


def dcqcn_defaults(nic: NicProfile) -> SimDcqcn | None:
    """Return the default DCQCN parameters of a NIC, None if they are unknown."""
    defaults = {name.lower(): parameter.default for name, parameter in nic.dcqcn.items()}
    return dcqcn(defaults) if defaults else None


def dcqcn(values: Mapping[str, int]) -> SimDcqcn:
    """Return DCQCN parameters from values by ConnectX's names, in lower case, and in ConnectX's units."""
    return SimDcqcn(pacing_lock=False, **{field: of(values[name]) for name, (field, of) in _FIELDS.items()})


class RateControl(NamedTuple):
    """The congestion control of senders, by a name that has the source of its parameters.

    ``stands_in``: the NIC of the senders is not known to run this congestion control as shipped; the name then
    includes the name of the NIC.
    """

    name: str
    stands_in: bool


PFC_ALONE = "PFC alone"


def rate_control(host: HostQos | None, nic: NicProfile | None) -> RateControl:
    """Return the congestion control that a host has in a run; of a NIC by its defaults where no host is known."""
    if host is not None and host.dcqcn.enabled is False:
        return RateControl(PFC_ALONE, stands_in=False)
    nic = nic if host is None else host.nic
    read = host is not None and host.dcqcn.provenance == "deployed"
    shipped = nic.shipped_control if nic is not None else None
    algorithm = shipped.algorithm if shipped is not None else None
    runs = _dcqcn_as_read(host) if read else _dcqcn_by_defaults(host, nic)
    own = read or (shipped is not None and shipped.defaults_of is None)
    if runs is not None and own and (algorithm == "DCQCN" or nic is None):
        return RateControl(runs, stands_in=False)
    of = "" if nic is None else f" of {nic.product}"
    unmodeled = f"{algorithm or 'unknown algorithm'}{of}"
    if algorithm == "DCQCN" and runs is None:
        unmodeled += ", parameters unknown"
    return RateControl(f"{unmodeled}; {runs or PFC_ALONE} stands for it", stands_in=True)


def _dcqcn_as_read(host: HostQos | None) -> str | None:
    return "DCQCN as read from hosts" if host is not None and dcqcn_of(host) else None


def _dcqcn_by_defaults(host: HostQos | None, nic: NicProfile | None) -> str | None:
    """Return the name of DCQCN with the parameters of a profile and of an intent, None without any."""
    if nic is None or not nic.dcqcn:
        return None
    shipped = nic.shipped_control
    product = (shipped and shipped.defaults_of) or nic.product
    defaults = {name.lower(): parameter.default for name, parameter in nic.dcqcn.items()}
    changed = (
        () if host is None else [name for name, value in host.dcqcn.values if defaults.get(name) != value]
    )
    return f"DCQCN of {product} defaults{f' but for {joined(changed)}' if changed else ''}"


def with_parameters(before: SimDcqcn, values: Mapping[str, int]) -> SimDcqcn:
    """Return DCQCN parameters with ``values`` changed, by ConnectX's names in lower case and in its units."""
    return before._replace(**{_FIELDS[name][0]: _FIELDS[name][1](value) for name, value in values.items()})


if TYPE_CHECKING:
    Near = dict[int, set[int]]
    """For each switch, by number, the switches that it has a link to."""


def may_close_cycle(topology: SimTopology, nics: Sequence[int]) -> bool:
    """Return whether shortest paths between the switches of NIC ports have a cyclic buffer dependency."""
    near, leaves = _near(topology), {topology.leaf(nic) for nic in nics}
    waits: dict[tuple[int, int], set[tuple[int, int]]] = {}
    for last in leaves:
        _add_waits(waits, near, leaves, last)
    return has_cycle(waits)


def has_cycle(waits: Mapping[Any, Iterable[Any]]) -> bool:
    """Return whether the dependencies between links contain a cycle."""
    try:
        TopologicalSorter(waits).prepare()
    except CycleError:
        return True
    return False


def is_two_tier(topology: SimTopology) -> bool:
    """Return whether the fabric is a leaf-spine in which every two leaves share a spine: no cycle can close there."""
    near, leaves = _near(topology), {topology.leaf(nic) for nic in topology.nics}
    if any((node in leaves) == (other in leaves) for node, others in near.items() for other in others):
        return False
    return all(not near[node].isdisjoint(near[other]) for node, other in combinations(leaves, 2))


def _near(topology: SimTopology) -> Near:
    near: Near = {node: set() for node in topology.switch_of}
    for wire in topology.wires:
        if wire.a in near and wire.b in near:
            near[wire.a].add(wire.b)
            near[wire.b].add(wire.a)
    return near


def _add_waits(
    waits: dict[tuple[int, int], set[tuple[int, int]]], near: Near, leaves: set[int], last: int
) -> None:
    """Add the buffer dependencies of all shortest paths from ``leaves`` to the switch ``last``."""
    far = distances(last, near.__getitem__)
    reached = [leaf for leaf in leaves if leaf in far]
    seen = set(reached)
    for node in reached:
        for nearer in near[node]:
            if far[nearer] != far[node] - 1:
                continue
            onward = {(nearer, peer) for peer in near[nearer] if far[peer] == far[nearer] - 1}
            waits.setdefault((node, nearer), set()).update(onward)
            if nearer not in seen:
                seen.add(nearer)
                reached.append(nearer)


_QUANTUM_BITS = 512


class PortLink(NamedTuple):
    """One link of a fabric: switch ``a`` and its port, and node ``b`` with its port, None for a NIC."""

    a: int
    b: int
    a_port: Port
    b_port: Port | None
    rate_bps: int
    cable_m: int


class SimTopology(NamedTuple):
    """Nodes by number with their names, the switches and hosts among them, and the links of each node.

    ``host_of`` is None for a NIC that the fabric does not describe. ``left_out`` counts links for which a switch has no
    port, or a port without QoS, and ports without a link whose speed is unknown, or whose cable length is unknown or 0.
    ``plane_of`` numbers the planes of switches: switches of two planes are separate by design. ``rail_of`` numbers the
    rails of switches with NIC ports, empty in a fabric without rails.
    """

    names: tuple[str, ...]
    switch_of: dict[int, Switch]
    host_of: dict[int, HostQos | None]
    wires: tuple[PortLink, ...]
    wires_of: dict[int, list[int]]
    left_out: int
    declared: bool
    plane_of: dict[int, int]
    rail_of: dict[int, int]

    def leaf(self, nic: int) -> int:
        """Return the switch that a NIC port is attached to."""
        return self.wires[self.wires_of[nic][0]].a

    def by_plane(self, nics: Iterable[int]) -> list[list[int]]:
        """Return NIC ports grouped by the plane they are in, each group in the order given."""
        return list(grouped((self.plane_of[self.leaf(nic)], nic) for nic in nics).values())

    def exchanging(self, nics: Iterable[int], traffic: RailTraffic) -> list[list[int]]:
        """Return NIC ports in groups that exchange traffic: those of a plane, under ``rail`` those of a rail in it."""
        if traffic == "any":
            return self.by_plane(nics)
        leaves = ((nic, self.leaf(nic)) for nic in nics)
        return list(
            grouped(((self.rail_of.get(leaf), self.plane_of[leaf]), nic) for nic, leaf in leaves).values()
        )

    @property
    def nics(self) -> tuple[int, ...]:
        """All NIC ports, in the order of the fabric."""
        return tuple(self.host_of)


def sim_topology(view: View, failed: frozenset[tuple[str, str]] = frozenset()) -> SimTopology | MissingInput:
    """Return a fabric as nodes and links, without elements out of service and links with an end in ``failed``.

    ``failed`` are switch and port by name. A missing input is returned where the speed or cable length of a link is
    unknown, or, if no other link is left, that of a port for a NIC.
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
        {
            node: view.rail_of[switch.name]
            for node, switch in builder.switch_of.items()
            if switch.name in view.rail_of
        },
    )


def _add_nics(builder: _Builder, view: View, failed: frozenset[tuple[str, str]]) -> MissingInput | None:
    """Attach a NIC to each open port that has not failed and has all inputs; return the first missing input or None."""
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
        """Add a link and return None, or the missing input; a link without a port or QoS, or down, is left out."""
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
    """Yield the ports with PFC, not known to be down, that have no link to a known switch."""
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
    """Return how long a signal takes along a cable, in ns."""
    return cable_m / LIGHT_IN_FIBRE_M_PER_S * 1e9


def reaction_ns(rate_bps: int) -> float:
    """Return how long a transmitter may take to obey PFC, in ns: the pause quanta of its rate.

    At a rate without an entry, those of the fastest rate that has one. Source:
    :data:`lossless.analysis.buffers.headroom.formulas.PAUSE_QUANTA`.
    """
    known = pause_response_bytes(rate_bps)
    bits = known * 8 if known is not None else PAUSE_QUANTA[max(PAUSE_QUANTA)] * _QUANTUM_BITS
    return bits / rate_bps * 1e9


class EcmpRoutes:
    """Shortest paths between NIC ports of a network; distances to a destination's switch are computed once."""

    def __init__(self, topology: SimTopology) -> None:
        self._topology = topology
        self._far: dict[int, dict[int, int]] = {}
        self._pairs: dict[tuple[int, int], set[frozenset[int]]] = {}
        self._nearer: dict[tuple[int, int], list[int]] = {}

    def path(self, source: int, target: int, rng: random.Random) -> tuple[int, ...]:
        """Return the nodes of a random shortest path between two NIC ports; parallel links are equally likely.

        Raises:
            ScenarioError: no path leads from one to the other.
        """
        first, last = self._topology.leaf(source), self._topology.leaf(target)
        far = self._distances(last)
        if first not in far:
            names = self._topology.names
            raise ScenarioError(f"no path leads from {names[source]} to {names[target]}")
        nodes = [source, first]
        while nodes[-1] != last:
            nodes.append(rng.choice(self.nearer(last, nodes[-1])))
        return (*nodes, target)

    def choices(self, first: int, last: int) -> int:
        """Return the number of links that a switch chooses among towards another."""
        return len(self.nearer(last, first)) if first != last else 0

    def nearer(self, last: int, node: int) -> list[int]:
        """Return the neighbors of a switch that are nearer to switch ``last``, one entry for each link."""
        if (last, node) not in self._nearer:
            far = self._distances(last)
            nearer = [peer for peer in self._peers(node) if far.get(peer) == far[node] - 1]
            self._nearer[last, node] = nearer
        return self._nearer[last, node]

    def reaches(self, nic: int, target: int) -> bool:
        """Return whether a path leads from one NIC port to another."""
        return self._topology.leaf(nic) in self._distances(self._topology.leaf(target))

    def pairs(self, paths: Iterable[Sequence[int]], *, equal: bool) -> set[frozenset[int]]:
        """Return the pairs of neighboring nodes on paths; with ``equal``, on all shortest paths with these ends."""
        if not equal:
            return {frozenset(pair) for path in paths for pair in pairwise(path)}
        paths = list(paths)
        ends = {frozenset(pair) for path in paths for pair in (path[:2], path[-2:])}
        return ends.union(*(self._between(path[1], path[-2]) for path in paths))

    def _between(self, first: int, last: int) -> set[frozenset[int]]:
        """Return the pairs of neighboring switches on all shortest paths between two switches."""
        if (first, last) not in self._pairs:
            far, pairs, reached = self._distances(last), set(), [first]
            for node in reached:
                for peer in dict.fromkeys(self._peers(node)):
                    if far.get(peer) == far[node] - 1:
                        pairs.add(frozenset((node, peer)))
                        reached += [peer] if peer not in reached else []
            self._pairs[first, last] = pairs
        return self._pairs[first, last]

    def wires(self, pairs: set[frozenset[int]]) -> list[int]:
        """Return the numbers of the links between the nodes of each pair, parallel ones included, sorted."""
        wires = self._topology.wires
        near = {wire for pair in pairs for wire in self._topology.wires_of[min(pair, key=self._degree)]}
        return sorted(wire for wire in near if frozenset((wires[wire].a, wires[wire].b)) in pairs)

    def _degree(self, node: int) -> int:
        return len(self._topology.wires_of[node])

    def _peers(self, node: int) -> list[int]:
        """Return the switches at the other ends of a switch's links, one entry for each link."""
        wires = (self._topology.wires[at] for at in self._topology.wires_of[node])
        ends = (wire.b if wire.a == node else wire.a for wire in wires)
        return [end for end in ends if end in self._topology.switch_of]

    def _distances(self, last: int) -> dict[int, int]:
        if last not in self._far:
            self._far[last] = distances(last, self._peers)
        return self._far[last]


def distances(last: int, peers: Callable[[int], Iterable[int]]) -> dict[int, int]:
    """Return the number of links from each switch to switch ``last``; switches without a path are left out."""
    far, reached = {last: 0}, [last]
    for node in reached:
        for peer in peers(node):
            if peer not in far:
                far[peer] = far[node] + 1
                reached.append(peer)
    return far
