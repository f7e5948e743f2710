"""Planted faults: drawn fabrics with a known culprit, run through the packet model, and what their devices then print.

No code that evaluates captures is used here. A case is two leaves with four hosts each and two spines (a ring of
switches for a cyclic buffer dependency). The packet model runs its traffic for some milliseconds; the counts of each
link are scaled to the time between two captures, and written as ``show`` prints them, as the collector of switches
prints the databases, and as ``ethtool -S`` prints counters of mlx5, beside the counts of healthy ports since boot. A
held pause is refreshed, as NICs and switches do, at half of the time that one frame asks for.

A leaf of several ASICs is two nodes with links of a backplane between them. A switch without a map of DSCPs, or a host
whose DSCP no map has, is a class without PFC in the model: its frames are lost where a queue is full; so is what comes
from the host at one port without a map. A cable in the wrong port is one that ``DEVICE_NEIGHBOR`` declares elsewhere.
"""

from __future__ import annotations

import json
import random
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from lossless.analysis.simulation.engine.network import (
    Hold,
    Physics,
    SimFlow,
    SimGroup,
    SimPort,
    SimQueue,
    SimSwitch,
    SlowHost,
)
from lossless.ground.basics.records import NamedTuple
from tests.analysis.simulation.made_networks import ENDLESS_BYTES, link_number, made, ring, run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from lossless.analysis.simulation.engine.network import SimNetwork
    from lossless.analysis.simulation.engine.run import Simulation

Fault = Literal[
    "dead NIC",
    "slow NIC",
    "two culprits",
    "watchdog on a victim",
    "incast",
    "healthy",
    "short headroom",
    "host that ignores PFC",
    "bad optics",
    "flapping link",
    "cycle",
    "missing map",
    "unmapped DSCP",
    "long cable",
    "wrong port",
    "several ASICs",
]
FAULTS: tuple[Fault, ...] = (
    "dead NIC",
    "slow NIC",
    "two culprits",
    "watchdog on a victim",
    "incast",
    "healthy",
    "short headroom",
    "host that ignores PFC",
    "bad optics",
    "flapping link",
    "cycle",
    "missing map",
    "unmapped DSCP",
    "long cable",
    "wrong port",
    "several ASICs",
)
Key = tuple[int, int, int]
"""A port: its node, the node at the other end, and the number of the cable between both."""
Answer = tuple[str, str]
"""A device and a port; of a cycle the kind, and no port."""
LINE_BPS = 100_000_000_000
_MODEL_NS = 1_500_000
_PAUSE_US = 65_535 * 512 / LINE_BPS * 1e6
_NODES = 12
_LEAVES, _SPINES = (8, 9), (10, 11)
_UPLINK_ASIC = 12
"""The second ASIC of a leaf that has several: that of the uplinks."""
_THRESHOLD_BYTES = 300_000
_LOSSY_BYTES = 1_000_000
_OF_HOSTS = {8: range(4), 9: range(4, 8)}
CYCLE: Answer = ("cycle", "")
_CONGESTED = (
    "incast",
    "short headroom",
    "host that ignores PFC",
    "missing map",
    "unmapped DSCP",
    "long cable",
)
"""Faults that show where several hosts send to one."""


class PlantedPort(NamedTuple):
    """The counts of one port in the time between two captures; ``received`` and ``sent`` are pauses.

    ``in_packets`` and ``out_packets`` are RDMA of the lossless class, ``stray_`` those outside of it, ``tcp_`` is other
    traffic. ``dropped`` counts at the ingress of the lossless class, the other two at the egress.
    """

    received: int = 0
    sent: int = 0
    paused_us: int = 0
    held_us: int = 0
    out_bytes: int = 0
    in_packets: int = 0
    dropped: int = 0
    out_packets: int = 0
    stray_in: int = 0
    stray_out: int = 0
    stray_dropped: int = 0
    tcp_in: int = 0
    tcp_out: int = 0
    tcp_dropped: int = 0


class PlantedCase(NamedTuple):
    """A fault, the files of the earlier and the later captures, and the answers that name its culprits.

    ``effect`` is the fault that the model runs, of a case whose ``fault`` is a wrong port or several ASICs: another.
    ``culprits`` has the accepted answers for each of them, ``beside`` those that are true too: an incast that makes a
    short headroom drop. ``nameable``: the captures show enough to name all of them.
    """

    fault: Fault
    effect: Fault
    before: Mapping[str, str]
    after: Mapping[str, str]
    culprits: tuple[frozenset[Answer], ...]
    beside: frozenset[Answer]
    nameable: bool
    words: str

    def written(self, folder: Path) -> tuple[Path, Path]:
        """Write the files below a folder, and return the folders of the later and the earlier captures."""
        for time, files in (("after", self.after), ("before", self.before)):
            for name, text in files.items():
                file = folder / time / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
        return folder / "after", folder / "before"


def planted(seed: int, fault: Fault | None = None) -> PlantedCase:
    """Return the case of a seed, of a drawn fault or of the given one."""
    rng = random.Random(seed)
    drawn = FAULTS[seed % len(FAULTS)] if fault is None else fault
    return _Planting(rng, drawn).case()


class _Planting:
    """A case in the making: the network and its run, the counts of its ports, and the choice of what is captured."""

    def __init__(self, rng: random.Random, fault: Fault) -> None:
        self.rng = rng
        self.fault = fault
        self.effect = fault
        if fault == "several ASICs":
            self.effect = rng.choice(("dead NIC", "slow NIC", "incast", "healthy"))
        elif fault == "wrong port":
            self.effect = rng.choice(("dead NIC", "slow NIC", "healthy"))
        self.target = rng.randrange(8)
        self.other = rng.choice([host for host in range(8) if host // 4 != self.target // 4])
        self.seconds = rng.choice((10, 30, 60, 300, 900))
        self.congested = rng.uniform(0.2, 1.0)
        self.form = rng.choice(("show", "databases", "databases"))
        self.joined = rng.choice(("config", "lldp", "both", "nothing"))
        if fault == "wrong port":
            self.joined = rng.choice(("config", "both", "both", "both"))
        self.watched = rng.random() < 0.5
        self.duration = rng.random() < 0.4
        self.cleared = rng.random() < 0.1
        self.wraps = rng.random() < 0.1
        self.missing = rng.random() < 0.2
        self.without_hosts = rng.random() < 0.3
        self.began = 1_790_000_000 + rng.randrange(10**6)
        self.ring = rng.choice((3, 4)) if fault == "cycle" else 0
        self.watched = self.watched or fault == "watchdog on a victim"
        self.queued = rng.random() < 0.8
        self.domain = ".dc1.example.net" if rng.random() < 0.2 else ""
        self.tcp = rng.choice((0.0, 0.02, 0.3))
        self.split = self._leaf(self.target) if fault == "several ASICs" else None
        self.internal = rng.random() < 0.5
        # The switch that has no map, and whether its configuration shows that.
        self.mapless = rng.choice((self._leaf(self.target), *_SPINES)) if fault == "missing map" else None
        self.unbound = rng.random() < 0.5
        self.stray_priority = rng.choice((0, 1, 3))
        self.stray = self._source() if fault == "unmapped DSCP" else None
        # One port of a leaf has no map: what its host sends leaves the class there, as the configuration shows.
        self.unbound_port: Key | None = None
        if fault == "missing map" and self.mapless not in _SPINES and rng.random() < 0.6:
            self.mapless, self.stray, self.stray_priority = None, self._source(), 3
            self.unbound_port = (self._leaf(self.target), self._source(), 0)
        self.flows = [] if self.ring else self._flows()
        self.long = self._long() if fault == "long cable" else None
        self.swapped = self._swapped() if fault == "wrong port" else ()

    def case(self) -> PlantedCase:
        network = self._network()
        simulation = run(network, _MODEL_NS, seed=self.rng.randrange(1, 1000))
        names = {node: self._name(node) for node in range(network.nodes)}
        ports = self._counts(network, simulation)
        base = {key: self._healthy(key[0]) for key in ports}
        captured = self._captured(network)
        before, after = (
            dict(self._files(network, names, ports, base, captured, later=later)) for later in (False, True)
        )
        culprits = self._culprits(names)
        return PlantedCase(
            self.fault,
            self.effect,
            before,
            after,
            culprits,
            self._beside(),
            self._nameable(network, captured) and self._shows(ports),
            self._words(captured),
        )

    def _name(self, node: int) -> str:
        if self.ring:
            return f"host{node}" if node < self.ring else f"sw{node - self.ring + 1}"
        if node == _UPLINK_ASIC:
            node = self._leaf(self.target)
        return f"host{node}" if node < 8 else f"leaf{node - 7}" if node < 10 else f"spine{node - 9}"

    # --- the run ---

    def _network(self) -> SimNetwork:
        headroom = {"short headroom": 6_000, "long cable": 40_000}.get(self.fault, 400_000)
        group = SimGroup(
            None, 40_000 if self.fault == "long cable" else 400_000, static_bytes=_THRESHOLD_BYTES
        )
        lossy = SimQueue(limit_bytes=_LOSSY_BYTES), SimGroup(None, None, static_bytes=10 * _LOSSY_BYTES)
        end = SimPort((SimQueue(),), (group,))
        if self.stray is not None:
            end = SimPort((SimQueue(), lossy[0]), (group, lossy[1]))
        switch = SimSwitch(buffer_bytes=64_000_000, pool_bytes=32_000_000)
        if self.ring:
            return ring(self.ring, 2, end, switch, rate_bps=LINE_BPS)
        links = [(host, leaf) for leaf in _LEAVES for host in _OF_HOSTS[leaf]]
        links += [(self._up(leaf), spine) for leaf in _LEAVES for spine in _SPINES] * 2
        asics = [*_LEAVES, *_SPINES]
        if self.split is not None:
            asics.append(_UPLINK_ASIC)
            links += [(self.split, _UPLINK_ASIC)] * 4
        network = made(
            links,
            dict.fromkeys(asics, switch),
            [],
            end,
            flows=self.flows,
            rate_bps=LINE_BPS,
            classes=1 if self.stray is None else 2,
            physics=Physics(ack_every=16) if self.fault in ("missing map", "unmapped DSCP") else Physics(),
        )
        source = self._source()
        cables = list(network.cables)
        seen: dict[tuple[int, int], int] = {}
        for place, cable in enumerate(cables):
            lane = seen[cable.a, cable.b] = seen.get((cable.a, cable.b), -1) + 1
            if self.long is not None and {self.long, _far(self.long)} & {(cable.a, cable.b, lane)}:
                cables[place] = cable._replace(propagation_ns=self.rng.uniform(4_000, 12_000))
            if self.mapless is not None and self.mapless in (cable.a, cable.b):
                # It takes all of its frames as those of a class without PFC.
                unprotected = SimPort((lossy[0],), (lossy[1],))
                cables[place] = (
                    cable._replace(a_end=unprotected, a_reaction_ns=1e9)
                    if cable.a == self.mapless
                    else cable._replace(b_end=unprotected, b_reaction_ns=1e9)
                )
            if self.fault == "short headroom" and cable.a == source:
                # Of this port alone the headroom is too small for its cable.
                short = SimPort(end.queues, (SimGroup(None, headroom, static_bytes=_THRESHOLD_BYTES),))
                cables[place] = cable._replace(b_end=short)
            if self.fault == "host that ignores PFC" and cable.a == source:
                cables[place] = cable._replace(a_reaction_ns=1e9)
        holds, slow = [], []
        accused = [self.target, *([self.other] if self.fault == "two culprits" else [])]
        for host in accused:
            dead = self.effect in ("dead NIC", "watchdog on a victim") or (
                self.fault == "two culprits" and self.rng.random() < 0.5
            )
            if dead:
                holds.append(Hold(self._leaf(host), host, 100_000, _MODEL_NS))
            elif self.effect in ("slow NIC", "two culprits"):
                slow.append(SlowHost(host, self.rng.uniform(0.2, 0.75) * LINE_BPS, 120_000, 60_000))
        return network._replace(cables=tuple(cables), holds=tuple(holds), slow_hosts=tuple(slow))

    def _source(self) -> int:
        """Return the host beside the target whose frames are dropped at its leaf."""
        return self.target // 4 * 4 + (self.target + 1) % 4

    def _leaf(self, host: int) -> int:
        return _LEAVES[host // 4]

    def _flows(self) -> list[SimFlow]:
        rng, pairs = self.rng, []
        hosts = list(range(8))
        shift = rng.randrange(1, 8)
        if self.effect in _CONGESTED:
            senders = [
                self._source(),
                *rng.sample([h for h in hosts if h not in (self.target, self._source())], 3),
            ]
            pairs = [(sender, self.target) for sender in senders]
        elif self.effect == "healthy" and rng.random() < 0.5:
            pairs = [(one, rng.choice([h for h in hosts if h != one])) for one in hosts]
        else:
            pairs = [(one, (one + shift) % 8) for one in hosts]
        return [
            SimFlow(
                path := self._path(a, b),
                ENDLESS_BYTES,
                mtu_bytes=4096,
                lanes=self._lanes(path, number),
                traffic_class=int(a == self.stray),
            )
            for number, (a, b) in enumerate(pairs)
        ]

    def _up(self, leaf: int) -> int:
        """Return the node of a leaf that has its uplinks."""
        return _UPLINK_ASIC if leaf == self.split else leaf

    def _path(self, a: int, b: int) -> tuple[int, ...]:
        one, other = self._leaf(a), self._leaf(b)
        if one == other:
            return (a, one, b)
        spine = self.mapless if self.mapless in _SPINES else self.rng.choice(_SPINES)
        up, down = ((leaf, self._up(leaf)) if leaf == self.split else (leaf,) for leaf in (one, other))
        return (a, *up, spine, *reversed(down), b)

    def _lanes(self, path: Sequence[int], number: int) -> tuple[int, ...]:
        """Return a lane for each hop; below a spine without a map flows of several lanes meet in one."""
        lanes = []
        for node, peer in pairwise(path):
            between = {node, peer}
            most = 4 if between == {self.split, _UPLINK_ASIC} else 2 if between & {*_SPINES} else 1
            lane = self.rng.randrange(most)
            if self.mapless in _SPINES and self.mapless in between:
                lane = number % 2 if peer == self.mapless else 0
            lanes.append(lane)
        return tuple(lanes)

    def _long(self) -> Key:
        """Return the port below a cable that is longer than declared: to a host, or to the last spine of a flow."""
        leaf = self._leaf(self.target)
        remote = next((flow for flow in self.flows if len(flow.path) == 5), None)
        if remote is None or self.rng.random() < 0.5:
            return leaf, self._source(), 0
        return leaf, remote.path[2], remote.lanes[2]

    def _swapped(self) -> tuple[Key, Key]:
        """Return two ports of switches whose cables are exchanged: those of two hosts, or uplinks of one leaf."""
        leaf = self._leaf(self.target)
        if self.rng.random() < 0.5:
            return (leaf, self.target, 0), (self._leaf(self.other), self.other, 0)
        return (leaf, _SPINES[0], self.rng.randrange(2)), (leaf, _SPINES[1], self.rng.randrange(2))

    def _declared(self, key: Key) -> Key:
        """Return the port at the other end of a cable as it is declared."""
        if self.swapped:
            one, other = self.swapped
            ends = {one: _far(other), other: _far(one), _far(one): other, _far(other): one}
            return ends.get(key, _far(key))
        return _far(key)

    # --- the counts ---

    def _counts(self, network: SimNetwork, simulation: Simulation) -> dict[Key, PlantedPort]:
        """Return the counts of each port: those of a node, its neighbor, and the number of the cable between both."""
        scale = self.seconds * self.congested * 1e9 / _MODEL_NS
        classes = simulation.index.classes
        seen: dict[tuple[int, int], int] = {}
        counts = {}
        for cable in network.cables:
            pair = (cable.a, cable.b)
            lane = seen.get(pair, 0)
            seen[pair] = lane + 1
            for node, peer in (pair, pair[::-1]):
                if len(simulation.index.wiring.link_of[node, peer]) > 1:
                    out = simulation.index.wiring.link_of[node, peer][lane] * classes
                    back = simulation.index.wiring.link_of[peer, node][lane] * classes
                else:
                    out = link_number(simulation, node, peer) * classes
                    back = link_number(simulation, peer, node) * classes
                counts[node, peer, lane] = self._port(simulation, node, out, back, scale)
            if cable.a in {flow.path[0] for flow in network.flows}:
                host, leaf = (*pair, lane), (*pair[::-1], lane)
                sent = int(_sent_frames(simulation, link_number(simulation, *pair) * classes) * scale)
                stray = pair[0] == self.stray
                counts[host] = counts[host]._replace(**{"stray_out" if stray else "out_packets": sent})
                counts[leaf] = counts[leaf]._replace(**{"stray_in" if stray else "in_packets": sent})
            if self.mapless in pair:
                # It counts the pauses that it is sent, and its frames are of another class.
                near = (self.mapless, pair[pair[0] == self.mapless], lane)
                asked = counts[_far(near)].sent
                paused_us = min(int(asked * _PAUSE_US / 2), int(scale * _MODEL_NS / 1e3))
                counts[near] = counts[near]._replace(received=asked, paused_us=paused_us)
            # Some pauses come and go on every link, also of a healthy fabric.
            for node, peer in (pair, pair[::-1]):
                few = self.rng.randrange(200)
                tcp = int(self.rng.uniform(0, self.tcp) * LINE_BPS / 8 / 1500 * self.seconds * self.congested)
                lost = int(tcp * self.rng.uniform(0, 1e-4)) if self.rng.random() < 0.3 else 0
                own, far = counts[node, peer, lane], counts[peer, node, lane]
                counts[node, peer, lane] = own._replace(
                    received=own.received + few,
                    tcp_out=tcp,
                    tcp_dropped=lost if node >= 8 else 0,
                )
                counts[peer, node, lane] = far._replace(sent=far.sent + few, tcp_in=tcp)
        return counts

    def _port(self, simulation: Simulation, node: int, out: int, back: int, scale: float) -> PlantedPort:
        state = simulation.state
        lossless = int(state.queues[out]["sent_frames"] * scale)
        stray = [0, 0, 0]
        if self.stray is not None:
            stray = [
                int(state.queues[out + 1]["sent_frames"] * scale),
                int(state.queues[back + 1]["sent_frames"] * scale),
                int(state.queues[out + 1]["drops"] * scale),
            ]
        elif node == self.mapless:
            lossless, stray = 0, [lossless, 0, int(state.queues[out]["drops"] * scale)]
        paused = _paused_us(simulation, out)
        held = _paused_us(simulation, back)
        group = state.groups[back]
        # A peer that ignores pauses is asked all the time, and not held.
        asked = held
        if group["paused"] and self.fault in ("host that ignores PFC", "missing map") and not held:
            asked = (int(state.clock["now"][0]) - int(group["first_pause_at"])) / 1e6
        return PlantedPort(
            _frames(int(state.queues[out]["pauses"]), paused, scale),
            _frames(int(state.groups[back]["pauses"]) or int(state.queues[back]["pauses"]), asked, scale),
            int(paused * scale),
            int(held * scale),
            int(state.queues[out]["sent_bytes"] * scale),
            int(state.queues[back]["sent_frames"] * scale),
            0 if node == self.mapless else int(state.groups[back]["drops"] * scale),
            lossless,
            stray_out=stray[0],
            stray_in=stray[1],
            stray_dropped=stray[2],
        )

    def _healthy(self, node: int) -> PlantedPort:
        """Return counts since boot as healthy ports have them, and ports of the node that is outside of the class."""
        rng = self.rng
        sent = rng.randrange(10**9, 10**10)
        strays = node in (self.mapless, self.stray)
        return PlantedPort(
            rng.randrange(400),
            rng.randrange(400),
            rng.randrange(40_000),
            rng.randrange(40_000),
            rng.randrange(10**12, 10**14),
            rng.randrange(10**9, 10**10),
            0,
            rng.randrange(1000) if strays else sent,
            stray_out=sent if strays else 0,
            tcp_in=rng.randrange(10**9),
            tcp_out=rng.randrange(10**9),
            tcp_dropped=rng.randrange(10**4),
        )

    # --- who is captured, and what that can show ---

    def _captured(self, network: SimNetwork) -> frozenset[int]:
        nodes = {node for node in range(network.nodes) if node in network.switches or not self.without_hosts}
        nodes.discard(_UPLINK_ASIC)
        if self.missing:
            nodes -= {self.rng.choice(sorted(nodes))}
        return frozenset(nodes)

    def _culprits(self, names: Mapping[int, str]) -> tuple[frozenset[Answer], ...]:
        if self.swapped:
            ends = [end for key in self.swapped for end in (key, _far(key)) if end[0] >= 8]
            wrong = frozenset((names[end[0]], self._ports(end[0])[end]) for end in ends)
            dead = frozenset({(self._name(self.target), "eth0"), (self._heard(self.target), "eth0")})
            return (wrong, dead) if self.effect != "healthy" else (wrong,)
        if self.effect == "healthy":
            return ()
        if self.ring:
            return (frozenset({CYCLE}),)
        if self.effect == "incast":
            return (frozenset({self._at_leaf(self.target)}),)
        if self.fault == "short headroom":
            return (frozenset({self._at_leaf(self._source())}),)
        if self.long is not None:
            return (frozenset({(names[self.long[0]], self._ports(self.long[0])[self.long])}),)
        if self.mapless is not None:
            ports = self._ports(self.mapless).values()
            return (frozenset((names[self.mapless], port) for port in ("", *ports)),)
        if self.unbound_port is not None:
            return (
                frozenset(
                    {(names[self.unbound_port[0]], self._ports(self.unbound_port[0])[self.unbound_port])}
                ),
            )
        if self.stray is not None:
            return (frozenset({(names[self.stray], "eth0"), self._at_leaf(self.stray)}),)
        if self.fault == "host that ignores PFC":
            return (frozenset({(names[self._source()], "eth0")}),)
        accused = [self.target, *([self.other] if self.fault == "two culprits" else [])]
        return tuple(
            frozenset({(names[host], "eth0"), (self._heard(host), "eth0"), self._at_leaf(host)})
            for host in accused
        )

    def _heard(self, node: int) -> str:
        """Return the name of a device in LLDP, with its domain where it has one."""
        return self._name(node) + self.domain

    def _beside(self) -> frozenset[Answer]:
        with_incast = self.fault in ("short headroom", "host that ignores PFC", "long cable")
        return frozenset({self._at_leaf(self.target)} if with_incast else ())

    def _at_leaf(self, host: int) -> Answer:
        return (f"leaf{host // 4 + 1}", f"Ethernet{host % 4 * 4}")

    def _nameable(self, network: SimNetwork, captured: frozenset[int]) -> bool:
        """Return whether the captures show the culprits, by what they contain: not by what any rule makes of them."""
        if self.ring:
            return self.joined != "nothing" and len(captured & network.switches.keys()) == self.ring
        if self.swapped:
            # The cable needs both what is declared and what is heard, at any of its ends.
            shown = self.joined == "both" and bool({end for end, *_ in self.swapped} & captured)
            return shown and (self.effect == "healthy" or self._leaf(self.target) in captured)
        if self.effect == "healthy":
            return False
        if self.mapless is not None:
            return self._shows_a_map_missing(captured)
        if self.stray is not None:
            return self._shows_a_stray(captured)
        leaves = {self._leaf(self.target)} | (
            {self._leaf(self.other)} if self.fault == "two culprits" else set()
        )
        own = self._source() if self.fault == "host that ignores PFC" else self.target
        at_leaf = leaves <= captured
        if self.fault in ("bad optics", "flapping link"):
            return own in captured
        if self.effect == "incast":
            return at_leaf and self.form == "databases" and not self.cleared
        if self.long is not None:
            return at_leaf and self.long[1] in captured and self.joined != "nothing" and not self.cleared
        if self.fault == "short headroom":
            return at_leaf and self._source() in captured and self.joined != "nothing" and not self.cleared
        if self.fault == "host that ignores PFC":
            return at_leaf and own in captured and self.joined != "nothing" and not self.cleared
        if self.fault == "two culprits" and self.joined == "nothing":
            return {self.target, self.other} <= captured
        # Without neighbors only the host's own counters show that it is a host.
        return at_leaf if self.joined != "nothing" else self.target in captured

    def _shows_a_map_missing(self, captured: frozenset[int]) -> bool:
        """Return whether captures show a switch to leave the class: what comes and goes, or what it is configured."""
        assert self.mapless is not None
        if self.mapless not in captured or not self.queued or self.cleared:
            return False
        senders = {
            node
            for flow in self.flows
            for node, peer in pairwise(flow.path)
            if peer == self.mapless and node in captured
        }
        return self.unbound or (self.joined != "nothing" and bool(senders))

    def _shows_a_stray(self, captured: frozenset[int]) -> bool:
        """Return whether captures show whose RDMA leaves the class: those of its NIC, else all around its leaf."""
        assert self.stray is not None
        if self.unbound_port is not None:
            shown = {self.unbound_port[0], self.stray} <= captured
            return shown and self.queued and self.joined != "nothing" and not self.cleared
        if self.stray_priority != 3:
            return self.stray in captured
        leaf = self._leaf(self.stray)
        around = {leaf, *_OF_HOSTS[leaf], *_SPINES}
        return around <= captured and self.queued and self.joined != "nothing" and not self.cleared

    def _shows(self, ports: Mapping[Key, PlantedPort]) -> bool:
        """Return whether the fault had an effect: pauses for one percent of the time, pauses of senders, or drops."""
        if self.effect in ("bad optics", "flapping link", "cycle", "healthy"):
            return True
        if self.effect == "incast":
            return any(count.sent for count in ports.values())
        if self.mapless is not None or self.stray is not None:
            return any(count.stray_dropped for count in ports.values())
        if self.long is not None:
            return ports[self.long].dropped > 0
        if self.fault in ("short headroom", "host that ignores PFC"):
            return ports[self._leaf(self.target), self._source(), 0].dropped > 0
        accused = [self.target, *([self.other] if self.fault == "two culprits" else [])]
        return all(ports[self._leaf(h), h, 0].paused_us >= 10_000 * self.seconds for h in accused)

    def _words(self, captured: frozenset[int]) -> str:
        return (
            f"{self.form}, {self.joined}, {self.seconds} s, congested {self.congested:.2f}, "
            f"captured {sorted(captured)}, watched {self.watched}, cleared {self.cleared}, wraps {self.wraps}, "
            f"{self.effect}, queued {self.queued}, mapless {self.mapless}, unbound {self.unbound}, "
            f"stray {self.stray} {self.stray_priority}, unbound {self.unbound_port}, long {self.long}, "
            f"swapped {self.swapped}"
        )

    # --- the files ---

    def _files(
        self,
        network: SimNetwork,
        names: Mapping[int, str],
        ports: Mapping[Key, PlantedPort],
        base: Mapping[Key, PlantedPort],
        captured: frozenset[int],
        *,
        later: bool,
    ) -> Iterator[tuple[str, str]]:
        for node in sorted(captured):
            nodes = (node, _UPLINK_ASIC) if node == self.split else (node,)
            own = [key for one in nodes for key in ports if key[0] == one]
            is_switch = node in network.switches
            cleared = self.cleared and later and is_switch
            counts = {key: _sum(base[key], ports[key], later=later, cleared=cleared) for key in own}
            if self.wraps and not is_switch:
                # A counter of 32 bits that began shortly before its end.
                counts = {key: _wrapped(count) for key, count in counts.items()}
            skew = self.rng.randrange(3)
            taken = self.began + later * self.seconds + skew
            if is_switch:
                yield from self._of_switch(node, names, counts, taken, later=later)
            else:
                yield (
                    f"{names[node]}/counters.txt",
                    self._of_host(node, names, counts[own[0]], taken, later=later),
                )

    def _ports(self, node: int) -> dict[Key, str]:
        """Return the names of the ports of a switch, or of one of its ASICs."""
        if self.ring:
            return {key: f"Ethernet{number * 4}" for number, key in enumerate(self._ring_keys(node))}
        if node in _SPINES:
            keys = [(node, self._up(leaf), lane) for lane in (0, 1) for leaf in _LEAVES]
            return {key: f"Ethernet{number * 4}" for number, key in enumerate(keys)}
        leaf = self._leaf(self.target) if node == _UPLINK_ASIC else node
        hosts = {(leaf, host, 0): f"Ethernet{host % 4 * 4}" for host in _OF_HOSTS[leaf]}
        keys = [(self._up(leaf), spine, lane) for lane in (0, 1) for spine in _SPINES]
        uplinks = {key: f"Ethernet{number * 4}" for number, key in enumerate(keys, start=4)}
        if leaf != self.split:
            return hosts | uplinks
        if node == leaf:
            return hosts | {(leaf, _UPLINK_ASIC, lane): f"Ethernet-BP{lane * 4}" for lane in range(4)}
        return uplinks | {(node, leaf, lane): f"Ethernet-BP{256 + lane * 4}" for lane in range(4)}

    def _of_switch(
        self,
        node: int,
        names: Mapping[int, str],
        counts: Mapping[Key, PlantedPort],
        taken: int,
        *,
        later: bool,
    ) -> Iterator[tuple[str, str]]:
        name = names[node]
        asics = {"": node} if node != self.split else {"asic0": node, "asic1": _UPLINK_ASIC}
        every = {key: port for one in asics.values() for key, port in self._ports(one).items()}
        storms = {key: self._storms(key, later=later) for key in counts}
        if self.form == "databases":
            databases = []
            for asic, one in asics.items():
                called = self._ports(one)
                rows = _database(
                    called,
                    counts,
                    storms if self.watched else None,
                    duration=self.duration,
                    queued=self.queued,
                )
                config = self._config(one, asic, names, called)
                databases += [(asic, "CONFIG_DB", config), (asic, "COUNTERS_DB", rows)]
                if self.joined in ("lldp", "both"):
                    databases.append((asic, "APPL_DB", self._neighbors(called)))
            yield f"{name}.txt", _snapshot(name, taken, databases)
            return
        shown = {key: port for key, port in every.items() if self.internal or "-BP" not in port}
        text = _show(name, shown, counts, storms if self.watched else None, queued=self.queued)
        if self.joined in ("lldp", "both"):
            text += _lldp(name, self._neighbors(every))
        yield f"{name}/show.txt", text
        if later:
            for asic, one in asics.items():
                config = self._config(one, asic, names, self._ports(one))
                yield f"{name}/{asic}/config_db.json", json.dumps(_tables(config), indent=1)

    def _storms(self, key: Key, *, later: bool) -> int:
        node, peer, _ = key
        if not later or self.effect not in ("dead NIC", "watchdog on a victim"):
            return 0
        leaf = self._leaf(self.target)
        if self.effect == "dead NIC":
            return 5 if (node, peer) == (leaf, self.target) else 0
        # The watchdog of a spine triggers at the port to the leaf, which is paused itself.
        return 3 if node in _SPINES and peer == leaf else 0

    def _config(
        self, node: int, asic: str, names: Mapping[int, str], called: Mapping[Key, str]
    ) -> dict[str, dict[str, str]]:
        metadata = {"hostname": names[node], "type": _role(names[node])}
        if asic:
            metadata |= {"asic_name": asic, "sub_role": "FrontEnd"}
        rows = {"DEVICE_METADATA|localhost": metadata}
        bound = not (node == self.mapless and self.unbound)
        for number, (key, port) in enumerate(called.items()):
            rows[f"PORT|{port}"] = {"lanes": str(number), "speed": "100000", "admin_status": "up"}
            if "-BP" in port:
                rows[f"PORT|{port}"]["role"] = "Int"
            rows[f"PORT_QOS_MAP|{port}"] = {
                "pfc_enable": "3",
                "tc_to_pg_map": "AZURE",
                "tc_to_queue_map": "AZURE",
                **({"dscp_to_tc_map": "AZURE"} if bound and key != self.unbound_port else {}),
            }
            rows[f"BUFFER_PG|{port}|3"] = {"profile": "pg_lossless"}
            if self.joined in ("config", "both"):
                far = self._declared(key)
                peer = names[far[0]]
                there = "eth0" if peer.startswith("host") else self._ports(far[0])[far]
                if "-BP" in port:
                    number = 0 if far[0] == self.split else 1
                    peer, there = f"ASIC{number}", f"Eth{key[2]}-ASIC{number}"
                rows[f"DEVICE_NEIGHBOR|{port}"] = {"name": peer, "port": there}
                rows[f"DEVICE_NEIGHBOR_METADATA|{peer}"] = {"type": "Asic" if "-BP" in port else _role(peer)}
        maps = {str(number): str(number if number in (3, 4) else 0) for number in range(8)}
        rows["TC_TO_PRIORITY_GROUP_MAP|AZURE"] = maps
        if bound:
            rows["DSCP_TO_TC_MAP|AZURE"] = {
                str(number): {26: "3", 48: "6"}.get(number, "0") for number in range(64)
            }
        rows["TC_TO_QUEUE_MAP|AZURE"] = {str(number): str(number) for number in range(8)}
        rows["BUFFER_POOL|ingress_lossless_pool"] = {"type": "ingress", "mode": "dynamic", "size": "32000000"}
        rows["BUFFER_PROFILE|pg_lossless"] = {
            "pool": "ingress_lossless_pool",
            "size": "1000",
            "xon": "1000",
            "xoff": "400000",
            "dynamic_th": "0",
        }
        return rows

    def _ring_keys(self, node: int) -> list[Key]:
        number = node - self.ring
        after, before = (self.ring + (number + step) % self.ring for step in (1, -1))
        links = [(self.ring + one, self.ring + (one + 1) % self.ring) for one in range(self.ring)]
        order = [b if a == node else a for a, b in links if node in (a, b)]
        assert {after, before} == set(order)
        return [(node, number, 0), *((node, peer, 0) for peer in order)]

    def _neighbors(self, called: Mapping[Key, str]) -> dict[str, dict[str, str]]:
        rows = {}
        for key, port in called.items():
            if "-BP" in port:
                continue
            is_host = self._name(key[1]).startswith("host")
            there = "eth0" if is_host else self._ports(key[1])[_far(key)]
            rows[f"LLDP_ENTRY_TABLE:{port}"] = {
                "lldp_rem_sys_name": self._heard(key[1]),
                "lldp_rem_port_id": f"02:00:00:00:00:{key[1]:02x}" if is_host else there,
                "lldp_rem_port_desc": there,
            }
        return rows

    def _of_host(
        self, node: int, names: Mapping[int, str], count: PlantedPort, taken: int, *, later: bool
    ) -> str:
        rng, own = self.rng, node == self.target
        deaf = self.fault == "host that ignores PFC" and node == self._source()
        packets = count.in_packets
        by_priority = {(way, number): 0 for way in ("rx", "tx") for number in (0, 1, 3)}
        by_priority["rx", 3], by_priority["tx", 3] = count.in_packets, count.out_packets
        by_priority["rx", self.stray_priority] += count.stray_in
        by_priority["tx", self.stray_priority] += count.stray_out
        by_priority["rx", 0] += packets // 50 + count.tcp_in
        by_priority["tx", 0] += packets // 60 + count.tcp_out
        lines = {
            "rx_packets": packets // 50 + count.tcp_in,
            "tx_packets": packets // 60 + count.tcp_out,
            "rx_vport_rdma_unicast_packets": packets + count.stray_in,
            "tx_vport_rdma_unicast_packets": count.out_packets + count.stray_out,
            "rx_out_of_buffer": rng.randrange(3) * later,
            "rx_discards_phy": 0,
            "rx_crc_errors_phy": self._crc(packets) * (own and later and self.fault == "bad optics"),
            "rx_corrected_bits_phy": rng.randrange(10**9),
            "rx_symbol_err_phy": rng.randrange(5),
            "link_down_events_phy": 1
            + (rng.randrange(2, 9) if own and later and self.fault == "flapping link" else 0),
            **{f"{way}_prio{number}_packets": number_of for (way, number), number_of in by_priority.items()},
            "rx_prio3_pause": 0 if deaf else count.received,
            "rx_prio3_pause_duration": 0 if deaf else count.paused_us,
            "tx_prio3_pause": count.sent,
            "tx_prio3_pause_duration": count.held_us,
            "tx_pause_storm_warning_events": 3 * (own and later and self.effect == "dead NIC"),
            "tx_pause_storm_error_events": 0,
            "outbound_pci_stalled_wr": rng.randrange(30, 95)
            if own and later and self.effect == "slow NIC"
            else 0,
        }
        printed = "\n".join(f"     {name}: {int(value)}" for name, value in lines.items())
        return f"# host {names[node]}\n# taken {taken} UTC\n==> ethtool -S eth0\nNIC statistics:\n{printed}\n"

    def _crc(self, packets: int) -> int:
        return max(200, int(packets * self.rng.uniform(1e-5, 1e-3)))


def _far(key: Key) -> Key:
    """Return the port at the other end of a cable."""
    node, peer, lane = key
    return peer, node, lane


def _paused_us(simulation: Simulation, queue: int) -> float:
    record = simulation.state.queues[queue]
    link = simulation.state.links[queue // simulation.index.classes]
    paused = int(record["paused_ps"])
    if record["paused_since"] >= 0:
        paused += int(simulation.state.clock["now"][0]) - int(record["paused_since"])
    return paused / 1e6 if link["held"] == 0 or paused else (_MODEL_NS - 100_000) / 1e3


def _sent_frames(simulation: Simulation, queue: int) -> float:
    """Return the frames that a host sent, which the model does not count: at line rate while it was not paused."""
    sending_us = _MODEL_NS / 1e3 - _paused_us(simulation, queue)
    return sending_us / 1e6 * LINE_BPS / 8 / (4096 + 62 + 20)


def _frames(begun: int, paused_us: float, scale: float) -> int:
    """Return the PFC frames of pauses: one for each that begins, and one for each half of the longest pause."""
    return int((begun + paused_us / (_PAUSE_US / 2)) * scale)


def _sum(base: PlantedPort, more: PlantedPort, *, later: bool, cleared: bool) -> PlantedPort:
    if not later:
        return base
    if cleared:
        return PlantedPort(*(count // 2 for count in more))
    return PlantedPort(*(a + b for a, b in zip(base, more, strict=True)))


def _wrapped(count: PlantedPort) -> PlantedPort:
    offset = (1 << 32) - 500
    return count._replace(
        received=(count.received + offset) % (1 << 32), sent=(count.sent + offset) % (1 << 32)
    )


def _role(name: str) -> str:
    if name.startswith("host"):
        return "Server"
    return "LeafRouter" if name.startswith("spine") else "ToRRouter"


def _tables(rows: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, Mapping[str, str]]]:
    tables: dict[str, dict[str, Mapping[str, str]]] = {}
    for key, fields in rows.items():
        table, _, name = key.partition("|")
        tables.setdefault(table, {})[name] = fields
    return tables


def _database(
    called: Mapping[Key, str],
    counts: Mapping[Key, PlantedPort],
    storms: Mapping[Key, int] | None,
    *,
    duration: bool,
    queued: bool,
) -> dict[str, dict[str, str]]:
    """Return the rows of COUNTERS_DB of some ports."""
    oids = {key: f"oid:0x{0x1000000000000 + number:x}" for number, key in enumerate(called)}
    queues = {key: f"oid:0x{0x15000000000000 + number:x}" for number, key in enumerate(called)}
    groups = {key: f"oid:0x{0x1A000000000000 + number:x}" for number, key in enumerate(called)}
    lossy = (
        {key: f"oid:0x{0x15000000001000 + number:x}" for number, key in enumerate(called)} if queued else {}
    )
    rows = {
        "COUNTERS_PORT_NAME_MAP": {port: oids[key] for key, port in called.items()},
        "COUNTERS_QUEUE_NAME_MAP": {f"{port}:3": queues[key] for key, port in called.items()}
        | {f"{called[key]}:0": oid for key, oid in lossy.items()},
        "COUNTERS_PG_NAME_MAP": {f"{port}:3": groups[key] for key, port in called.items()},
    }
    for key in called:
        count = counts[key]
        row = {
            "SAI_PORT_STAT_IF_OUT_OCTETS": count.out_bytes,
            "SAI_PORT_STAT_IF_IN_UCAST_PKTS": count.in_packets + count.stray_in + count.tcp_in,
            "SAI_PORT_STAT_IF_IN_ERRORS": 0,
        }
        for number in range(8):
            row[f"SAI_PORT_STAT_PFC_{number}_RX_PKTS"] = count.received if number == 3 else 0
            row[f"SAI_PORT_STAT_PFC_{number}_TX_PKTS"] = count.sent if number == 3 else 0
            if duration:
                row[f"SAI_PORT_STAT_PFC_{number}_RX_PAUSE_DURATION_US"] = (
                    count.paused_us if number == 3 else 0
                )
        rows[f"COUNTERS:{oids[key]}"] = {name: str(value) for name, value in row.items()}
        queue = {"SAI_QUEUE_STAT_DROPPED_PACKETS": "0"}
        if storms is not None:
            queue |= {
                "PFC_WD_STATUS": "operational",
                "PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED": str(storms[key]),
                "PFC_WD_QUEUE_STATS_DEADLOCK_RESTORED": str(storms[key]),
            }
        if queued:
            queue["SAI_QUEUE_STAT_PACKETS"] = str(count.out_packets)
            rows[f"COUNTERS:{lossy[key]}"] = {
                "SAI_QUEUE_STAT_PACKETS": str(count.stray_out + count.tcp_out),
                "SAI_QUEUE_STAT_DROPPED_PACKETS": str(count.stray_dropped + count.tcp_dropped),
            }
        rows[f"COUNTERS:{queues[key]}"] = queue
        rows[f"COUNTERS:{groups[key]}"] = {
            "SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS": str(count.dropped)
        }
    return rows


def _snapshot(
    name: str, taken: int, databases: Sequence[tuple[str, str, Mapping[str, Mapping[str, str]]]]
) -> str:
    """Return what the collector of switches prints of some databases."""
    lines = ["# lossless switch state 1", f"# switch {name}", f"# taken {taken} UTC"]
    for asic, database, rows in databases:
        for key, row in rows.items():
            words = [json.dumps(word) for field in row.items() for word in field]
            lines.append(f"==> sonic-db-cli {f'-n {asic} ' if asic else ''}{database} HGETALL '{key}'")
            lines += [f"{number}) {word}" for number, word in enumerate(words, start=1)]
    return "\n".join((*lines, "==> end", ""))


def _show(
    name: str,
    called: Mapping[Key, str],
    counts: Mapping[Key, PlantedPort],
    storms: Mapping[Key, int] | None,
    *,
    queued: bool,
) -> str:
    """Return a transcript of show commands at a switch."""
    lines = [f"admin@{name}:~$ show pfc counters"]
    for way in ("Rx", "Tx"):
        lines.append(f"{f'Port {way}':>14}  " + "  ".join(f"{f'PFC{number}':>13}" for number in range(8)))
        lines.append("--------------  " + "  ".join(["-" * 13] * 8))
        for key, port in called.items():
            count = counts[key].received if way == "Rx" else counts[key].sent
            cells = (f"{count if number == 3 else 0:>13,}" for number in range(8))
            lines.append(f"{port:>14}  " + "  ".join(cells))
        lines.append("")
    lines += [f"admin@{name}:~$ show priority-group drop counters", "Ingress PG dropped packets:"]
    lines.append(f"{'Port':>14}  " + "  ".join(f"{f'PG{number}':>9}" for number in range(8)))
    lines.append("--------------  " + "  ".join(["-" * 9] * 8))
    for key, port in called.items():
        cells = (f"{counts[key].dropped if number == 3 else 0:>9}" for number in range(8))
        lines.append(f"{port:>14}  " + "  ".join(cells))
    lines.append("")
    if queued:
        lines.append(f"admin@{name}:~$ show queue counters")
        lines.append("          Port    TxQ    Counter/pkts    Counter/bytes    Drop/pkts    Drop/bytes")
        lines.append("--------------  -----  --------------  ---------------  -----------  ------------")
        for key, port in called.items():
            own = counts[key]
            lossy = (own.stray_out + own.tcp_out, own.stray_dropped + own.tcp_dropped)
            for number in range(8):
                sent, lost = lossy if number == 0 else (own.out_packets, 0) if number == 3 else (0, 0)
                lines.append(
                    f"{port:>14}  {f'UC{number}':>5}  {sent:>14}  {sent * 1024:>15}  {lost:>11}  {lost * 1024:>12}"
                )
        lines.append("")
    if storms is not None:
        lines.append(f"admin@{name}:~$ show pfcwd stats")
        lines.append("           QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP")
        lines.append("----------------  -----------  -------------------------  ------------  ------------")
        for key, port in called.items():
            times = f"{storms[key]}/{storms[key]}"
            lines.append(f"{f'{port}:3':>16}  operational  {times:>25}           0/0           0/0")
        lines.append("")
    return "\n".join(lines) + "\n"


def _lldp(name: str, rows: Mapping[str, Mapping[str, str]]) -> str:
    lines = [
        f"admin@{name}:~$ show lldp table",
        "Capability codes: (R) Router, (B) Bridge, (O) Other",
        "LocalPort    RemoteDevice            RemotePortID       Capability    RemotePortDescr",
        "-----------  ----------------------  -----------------  ------------  -----------------",
    ]
    for key, row in rows.items():
        port = key.partition(":")[2]
        lines.append(
            f"{port:<11}  {row['lldp_rem_sys_name']:<22}  {row['lldp_rem_port_id']:<17}  "
            f"{'BR' if row['lldp_rem_port_id'] == row['lldp_rem_port_desc'] else '':<12}  {row['lldp_rem_port_desc']}"
        )
    return "\n".join((*lines, "-" * 50, f"Total entries displayed:  {len(rows)}", ""))


class PlantedScore(NamedTuple):
    """What was said of some cases: culprits that captures show, those named, accusations, and the right ones.

    An answer that names the right link by its wrong end is wrong. An answer that nobody is at fault, as an incast, is
    no accusation but where an incast was planted.
    """

    nameable: int = 0
    named: int = 0
    accused: int = 0
    right: int = 0

    def plus(self, other: PlantedScore) -> PlantedScore:
        """Return the sum of two scores."""
        return PlantedScore(*(one + two for one, two in zip(self, other, strict=True)))


def scored(case: PlantedCase, said: Sequence[tuple[str, str, str]]) -> PlantedScore:
    """Return the score of what was said of a case: kinds, devices and ports."""
    answers = [
        CYCLE if kind == "cycle" else (device, port)
        for kind, device, port in said
        if kind not in ("none", "workload") or (case.effect == "incast" and kind != "none")
    ]
    accepted = frozenset().union(*case.culprits)
    named = sum(bool(culprit & {*answers}) for culprit in case.culprits) if case.nameable else 0
    own = [answer for answer in answers if answer not in case.beside]
    return PlantedScore(
        len(case.culprits) if case.nameable else 0, named, len(own), sum(answer in accepted for answer in own)
    )
