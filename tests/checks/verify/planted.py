"""Planted faults: drawn fabrics with a known culprit, run through the packet model, and what their devices then print.

No code that evaluates captures is used here. A case is two leaves with four hosts each and two spines (a ring of
switches for a cyclic buffer dependency). The packet model runs its traffic for some milliseconds; the counts of each
link are scaled to the time between two captures, and written as ``show`` prints them, as the collector of switches
prints the databases, and as ``ethtool -S`` prints counters of mlx5, beside the counts of healthy ports since boot. A
held pause is refreshed, as NICs and switches do, at half of the time that one frame asks for.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Literal

from lossless.analysis.simulation.engine.network import (
    Hold,
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
)
Answer = tuple[str, str]
"""A device and a port; of a cycle the kind, and no port."""
LINE_BPS = 100_000_000_000
_MODEL_NS = 1_500_000
_PAUSE_US = 65_535 * 512 / LINE_BPS * 1e6
_NODES = 12
_LEAVES, _SPINES = (8, 9), (10, 11)
_THRESHOLD_BYTES = 300_000
_OF_HOSTS = {8: range(4), 9: range(4, 8)}
CYCLE: Answer = ("cycle", "")


class PlantedPort(NamedTuple):
    """The counts of one port in the time between two captures; ``received`` and ``sent`` are pauses."""

    received: int = 0
    sent: int = 0
    paused_us: int = 0
    held_us: int = 0
    out_bytes: int = 0
    in_packets: int = 0
    dropped: int = 0


class PlantedCase(NamedTuple):
    """A fault, the files of the earlier and the later captures, and the answers that name its culprits.

    ``culprits`` has the accepted answers for each of them, ``beside`` those that are true too: an incast that makes a
    short headroom drop. ``nameable``: the captures show enough to name all of them.
    """

    fault: Fault
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
        self.target = rng.randrange(8)
        self.other = rng.choice([host for host in range(8) if host // 4 != self.target // 4])
        self.seconds = rng.choice((10, 30, 60, 300, 900))
        self.congested = rng.uniform(0.2, 1.0)
        self.form = rng.choice(("show", "databases", "databases"))
        self.joined = rng.choice(("config", "lldp", "nothing"))
        self.watched = rng.random() < 0.5
        self.duration = rng.random() < 0.4
        self.cleared = rng.random() < 0.1
        self.wraps = rng.random() < 0.1
        self.missing = rng.random() < 0.2
        self.without_hosts = rng.random() < 0.3
        self.began = 1_790_000_000 + rng.randrange(10**6)
        self.ring = rng.choice((3, 4)) if fault == "cycle" else 0
        self.watched = self.watched or fault == "watchdog on a victim"

    def case(self) -> PlantedCase:
        network = self._network()
        simulation = run(network, _MODEL_NS, seed=self.rng.randrange(1, 1000))
        names = {node: self._name(node) for node in range(network.nodes)}
        ports = self._counts(network, simulation)
        base = {key: self._healthy() for key in ports}
        captured = self._captured(network)
        before, after = (
            dict(self._files(network, names, ports, base, captured, later=later)) for later in (False, True)
        )
        culprits = self._culprits(names)
        return PlantedCase(
            self.fault,
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
        return f"host{node}" if node < 8 else f"leaf{node - 7}" if node < 10 else f"spine{node - 9}"

    # --- the run ---

    def _network(self) -> SimNetwork:
        headroom = 6_000 if self.fault == "short headroom" else 400_000
        end = SimPort((SimQueue(),), (SimGroup(None, 400_000, static_bytes=_THRESHOLD_BYTES),))
        switch = SimSwitch(buffer_bytes=64_000_000, pool_bytes=32_000_000)
        if self.ring:
            return ring(self.ring, 2, end, switch, rate_bps=LINE_BPS)
        links = [(host, leaf) for leaf in _LEAVES for host in _OF_HOSTS[leaf]]
        links += [(leaf, spine) for leaf in _LEAVES for spine in _SPINES] * 2
        network = made(
            links,
            dict.fromkeys((*_LEAVES, *_SPINES), switch),
            [],
            end,
            flows=self._flows(),
            rate_bps=LINE_BPS,
        )
        source = self._source()
        cables = list(network.cables)
        for place, cable in enumerate(cables):
            if self.fault == "short headroom" and cable.a == source:
                # Of this port alone the headroom is too small for its cable.
                short = SimPort(end.queues, (SimGroup(None, headroom, static_bytes=_THRESHOLD_BYTES),))
                cables[place] = cable._replace(b_end=short)
            if self.fault == "host that ignores PFC" and cable.a == source:
                cables[place] = cable._replace(a_reaction_ns=1e9)
        holds, slow = [], []
        accused = [self.target, *([self.other] if self.fault == "two culprits" else [])]
        for host in accused:
            dead = self.fault in ("dead NIC", "watchdog on a victim") or (
                self.fault == "two culprits" and self.rng.random() < 0.5
            )
            if dead:
                holds.append(Hold(self._leaf(host), host, 100_000, _MODEL_NS))
            elif self.fault in ("slow NIC", "two culprits"):
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
        if self.fault in ("incast", "short headroom", "host that ignores PFC"):
            senders = [
                self._source(),
                *rng.sample([h for h in hosts if h not in (self.target, self._source())], 3),
            ]
            pairs = [(sender, self.target) for sender in senders]
        elif self.fault == "healthy" and rng.random() < 0.5:
            pairs = [(one, rng.choice([h for h in hosts if h != one])) for one in hosts]
        else:
            pairs = [(one, (one + shift) % 8) for one in hosts]
        return [
            SimFlow(self._path(a, b), ENDLESS_BYTES, mtu_bytes=4096, lanes=self._lanes(a, b))
            for a, b in pairs
        ]

    def _path(self, a: int, b: int) -> tuple[int, ...]:
        one, other = self._leaf(a), self._leaf(b)
        return (a, one, b) if one == other else (a, one, self.rng.choice(_SPINES), other, b)

    def _lanes(self, a: int, b: int) -> tuple[int, ...]:
        if self._leaf(a) == self._leaf(b):
            return (0, 0)
        return (0, self.rng.randrange(2), self.rng.randrange(2), 0)

    # --- the counts ---

    def _counts(self, network: SimNetwork, simulation: Simulation) -> dict[tuple[int, int, int], PlantedPort]:
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
                counts[node, peer, lane] = self._port(simulation, out, back, scale)
            # Some pauses come and go on every link, also of a healthy fabric.
            for node, peer in (pair, pair[::-1]):
                few = self.rng.randrange(200)
                own, far = counts[node, peer, lane], counts[peer, node, lane]
                counts[node, peer, lane] = own._replace(received=own.received + few)
                counts[peer, node, lane] = far._replace(sent=far.sent + few)
        return counts

    def _port(self, simulation: Simulation, out: int, back: int, scale: float) -> PlantedPort:
        state = simulation.state
        paused = _paused_us(simulation, out)
        held = _paused_us(simulation, back)
        group = state.groups[back]
        # A peer that ignores pauses is asked all the time, and not held.
        asked = held
        if group["paused"] and self.fault == "host that ignores PFC" and not held:
            asked = (int(state.clock["now"][0]) - int(group["first_pause_at"])) / 1e6
        return PlantedPort(
            _frames(int(state.queues[out]["pauses"]), paused, scale),
            _frames(int(state.groups[back]["pauses"]) or int(state.queues[back]["pauses"]), asked, scale),
            int(paused * scale),
            int(held * scale),
            int(state.queues[out]["sent_bytes"] * scale),
            int(state.queues[back]["sent_frames"] * scale),
            int(state.groups[back]["drops"] * scale),
        )

    def _healthy(self) -> PlantedPort:
        """Return counts since boot as healthy ports have them."""
        rng = self.rng
        return PlantedPort(
            rng.randrange(400),
            rng.randrange(400),
            rng.randrange(40_000),
            rng.randrange(40_000),
            rng.randrange(10**12, 10**14),
            rng.randrange(10**9, 10**10),
            0,
        )

    # --- who is captured, and what that can show ---

    def _captured(self, network: SimNetwork) -> frozenset[int]:
        nodes = {node for node in range(network.nodes) if node in network.switches or not self.without_hosts}
        if self.missing:
            nodes -= {self.rng.choice(sorted(nodes))}
        return frozenset(nodes)

    def _culprits(self, names: Mapping[int, str]) -> tuple[frozenset[Answer], ...]:
        if self.fault == "healthy":
            return ()
        if self.ring:
            return (frozenset({CYCLE}),)
        if self.fault == "incast":
            return (frozenset({self._at_leaf(self.target)}),)
        if self.fault == "short headroom":
            return (frozenset({self._at_leaf(self._source())}),)
        if self.fault == "host that ignores PFC":
            return (frozenset({(names[self._source()], "eth0")}),)
        accused = [self.target, *([self.other] if self.fault == "two culprits" else [])]
        return tuple(frozenset({(names[host], "eth0"), self._at_leaf(host)}) for host in accused)

    def _beside(self) -> frozenset[Answer]:
        with_incast = self.fault in ("short headroom", "host that ignores PFC")
        return frozenset({self._at_leaf(self.target)} if with_incast else ())

    def _at_leaf(self, host: int) -> Answer:
        return (f"leaf{host // 4 + 1}", f"Ethernet{host % 4 * 4}")

    def _nameable(self, network: SimNetwork, captured: frozenset[int]) -> bool:
        """Return whether the captures show the culprits, by what they contain: not by what any rule makes of them."""
        if self.ring:
            return self.joined != "nothing" and len(captured & network.switches.keys()) == self.ring
        if self.fault == "healthy":
            return False
        leaves = {self._leaf(self.target)} | (
            {self._leaf(self.other)} if self.fault == "two culprits" else set()
        )
        own = self._source() if self.fault == "host that ignores PFC" else self.target
        at_leaf = leaves <= captured
        if self.fault in ("bad optics", "flapping link"):
            return own in captured
        if self.fault == "incast":
            return at_leaf and self.form == "databases" and not self.cleared
        if self.fault == "short headroom":
            return at_leaf and self._source() in captured and self.joined != "nothing" and not self.cleared
        if self.fault == "host that ignores PFC":
            return at_leaf and own in captured and self.joined != "nothing" and not self.cleared
        if self.fault == "two culprits" and self.joined == "nothing":
            return {self.target, self.other} <= captured
        # Without neighbors only the host's own counters show that it is a host.
        return at_leaf if self.joined != "nothing" else self.target in captured

    def _shows(self, ports: Mapping[tuple[int, int, int], PlantedPort]) -> bool:
        """Return whether the fault had an effect: pauses for one percent of the time, pauses of senders, or drops."""
        if self.fault in ("bad optics", "flapping link", "cycle", "healthy"):
            return True
        if self.fault == "incast":
            return any(count.sent for count in ports.values())
        if self.fault in ("short headroom", "host that ignores PFC"):
            return ports[self._leaf(self.target), self._source(), 0].dropped > 0
        accused = [self.target, *([self.other] if self.fault == "two culprits" else [])]
        return all(ports[self._leaf(h), h, 0].paused_us >= 10_000 * self.seconds for h in accused)

    def _words(self, captured: frozenset[int]) -> str:
        return (
            f"{self.form}, {self.joined}, {self.seconds} s, congested {self.congested:.2f}, "
            f"captured {sorted(captured)}, watched {self.watched}, cleared {self.cleared}, wraps {self.wraps}"
        )

    # --- the files ---

    def _files(
        self,
        network: SimNetwork,
        names: Mapping[int, str],
        ports: Mapping[tuple[int, int, int], PlantedPort],
        base: Mapping[tuple[int, int, int], PlantedPort],
        captured: frozenset[int],
        *,
        later: bool,
    ) -> Iterator[tuple[str, str]]:
        for node in sorted(captured):
            own = [key for key in ports if key[0] == node]
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

    def _port_names(self, keys: Sequence[tuple[int, int, int]]) -> dict[tuple[int, int, int], str]:
        return {key: f"Ethernet{number * 4}" for number, key in enumerate(keys)}

    def _of_switch(
        self,
        node: int,
        names: Mapping[int, str],
        counts: Mapping[tuple[int, int, int], PlantedPort],
        taken: int,
        *,
        later: bool,
    ) -> Iterator[tuple[str, str]]:
        called = self._port_names([*counts])
        storms = {key: self._storms(key, later=later) for key in counts}
        config = self._config(node, names, called)
        neighbors = self._neighbors(names, called)
        if self.form == "databases":
            rows = _database(called, counts, storms if self.watched else None, duration=self.duration)
            databases = [("CONFIG_DB", config), ("COUNTERS_DB", rows)]
            if self.joined == "lldp":
                databases.append(("APPL_DB", neighbors))
            yield f"{names[node]}.txt", _snapshot(names[node], taken, databases)
            return
        text = _show(names[node], called, counts, storms if self.watched else None)
        if self.joined == "lldp":
            text += _lldp(names[node], neighbors)
        yield f"{names[node]}/show.txt", text
        if later:
            yield f"{names[node]}/config_db.json", json.dumps(_tables(config), indent=1)

    def _storms(self, key: tuple[int, int, int], *, later: bool) -> int:
        node, peer, _ = key
        if not later or self.fault not in ("dead NIC", "watchdog on a victim"):
            return 0
        leaf = self._leaf(self.target)
        if self.fault == "dead NIC":
            return 5 if (node, peer) == (leaf, self.target) else 0
        # The watchdog of a spine triggers at the port to the leaf, which is paused itself.
        return 3 if node in _SPINES and peer == leaf else 0

    def _config(
        self, node: int, names: Mapping[int, str], called: Mapping[tuple[int, int, int], str]
    ) -> dict[str, dict[str, str]]:
        rows = {"DEVICE_METADATA|localhost": {"hostname": names[node], "type": _role(names[node])}}
        for number, (key, port) in enumerate(called.items()):
            rows[f"PORT|{port}"] = {"lanes": str(number), "speed": "100000", "admin_status": "up"}
            rows[f"PORT_QOS_MAP|{port}"] = {
                "pfc_enable": "3",
                "tc_to_pg_map": "AZURE",
                "tc_to_queue_map": "AZURE",
            }
            rows[f"BUFFER_PG|{port}|3"] = {"profile": "pg_lossless"}
            if self.joined == "config":
                peer = names[key[1]]
                port_there = "eth0" if peer.startswith("host") else self._far_port(key)
                rows[f"DEVICE_NEIGHBOR|{port}"] = {"name": peer, "port": port_there}
                rows[f"DEVICE_NEIGHBOR_METADATA|{peer}"] = {"type": _role(peer)}
        maps = {str(number): str(number if number in (3, 4) else 0) for number in range(8)}
        rows["TC_TO_PRIORITY_GROUP_MAP|AZURE"] = maps
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

    def _far_port(self, key: tuple[int, int, int]) -> str:
        """Return the port at the other end of a cable between switches."""
        node, peer, lane = key
        keys = self._ring_keys(peer) if self.ring else self._in_order(peer)
        return f"Ethernet{keys.index((peer, node, lane)) * 4}"

    def _in_order(self, node: int) -> list[tuple[int, int, int]]:
        if node in _SPINES:
            return [(node, leaf, lane) for lane in (0, 1) for leaf in _LEAVES]
        hosts = [(node, host, 0) for host in _OF_HOSTS[node]]
        return hosts + [(node, spine, lane) for lane in (0, 1) for spine in _SPINES]

    def _ring_keys(self, node: int) -> list[tuple[int, int, int]]:
        number = node - self.ring
        after, before = (self.ring + (number + step) % self.ring for step in (1, -1))
        links = [(self.ring + one, self.ring + (one + 1) % self.ring) for one in range(self.ring)]
        order = [b if a == node else a for a, b in links if node in (a, b)]
        assert {after, before} == set(order)
        return [(node, number, 0), *((node, peer, 0) for peer in order)]

    def _neighbors(
        self, names: Mapping[int, str], called: Mapping[tuple[int, int, int], str]
    ) -> dict[str, dict[str, str]]:
        rows = {}
        for key, port in called.items():
            peer = names[key[1]]
            is_host = peer.startswith("host")
            there = "eth0" if is_host else self._far_port(key)
            rows[f"LLDP_ENTRY_TABLE:{port}"] = {
                "lldp_rem_sys_name": peer,
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
        lines = {
            "rx_packets": packets // 50,
            "tx_packets": packets // 60,
            "rx_vport_rdma_unicast_packets": packets,
            "tx_vport_rdma_unicast_packets": packets,
            "rx_out_of_buffer": rng.randrange(3) * later,
            "rx_discards_phy": 0,
            "rx_crc_errors_phy": self._crc(packets) * (own and later and self.fault == "bad optics"),
            "rx_corrected_bits_phy": rng.randrange(10**9),
            "rx_symbol_err_phy": rng.randrange(5),
            "link_down_events_phy": 1
            + (rng.randrange(2, 9) if own and later and self.fault == "flapping link" else 0),
            "rx_prio0_packets": packets // 50,
            "tx_prio0_packets": packets // 60,
            "rx_prio3_packets": packets,
            "tx_prio3_packets": packets,
            "rx_prio3_pause": 0 if deaf else count.received,
            "rx_prio3_pause_duration": 0 if deaf else count.paused_us,
            "tx_prio3_pause": count.sent,
            "tx_prio3_pause_duration": count.held_us,
            "tx_pause_storm_warning_events": 3 * (own and later and self.fault == "dead NIC"),
            "tx_pause_storm_error_events": 0,
            "outbound_pci_stalled_wr": rng.randrange(30, 95)
            if own and later and self.fault == "slow NIC"
            else 0,
        }
        printed = "\n".join(f"     {name}: {int(value)}" for name, value in lines.items())
        return f"# host {names[node]}\n# taken {taken} UTC\n==> ethtool -S eth0\nNIC statistics:\n{printed}\n"

    def _crc(self, packets: int) -> int:
        return max(200, int(packets * self.rng.uniform(1e-5, 1e-3)))


def _paused_us(simulation: Simulation, queue: int) -> float:
    record = simulation.state.queues[queue]
    link = simulation.state.links[queue // simulation.index.classes]
    paused = int(record["paused_ps"])
    if record["paused_since"] >= 0:
        paused += int(simulation.state.clock["now"][0]) - int(record["paused_since"])
    return paused / 1e6 if link["held"] == 0 or paused else (_MODEL_NS - 100_000) / 1e3


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
    called: Mapping[tuple[int, int, int], str],
    counts: Mapping[tuple[int, int, int], PlantedPort],
    storms: Mapping[tuple[int, int, int], int] | None,
    *,
    duration: bool,
) -> dict[str, dict[str, str]]:
    """Return the rows of COUNTERS_DB of some ports."""
    oids = {key: f"oid:0x{0x1000000000000 + number:x}" for number, key in enumerate(called)}
    queues = {key: f"oid:0x{0x15000000000000 + number:x}" for number, key in enumerate(called)}
    groups = {key: f"oid:0x{0x1A000000000000 + number:x}" for number, key in enumerate(called)}
    rows = {
        "COUNTERS_PORT_NAME_MAP": {port: oids[key] for key, port in called.items()},
        "COUNTERS_QUEUE_NAME_MAP": {f"{port}:3": queues[key] for key, port in called.items()},
        "COUNTERS_PG_NAME_MAP": {f"{port}:3": groups[key] for key, port in called.items()},
    }
    for key in called:
        count = counts[key]
        row = {
            "SAI_PORT_STAT_IF_OUT_OCTETS": count.out_bytes,
            "SAI_PORT_STAT_IF_IN_UCAST_PKTS": count.in_packets,
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
        rows[f"COUNTERS:{queues[key]}"] = queue
        rows[f"COUNTERS:{groups[key]}"] = {
            "SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS": str(count.dropped)
        }
    return rows


def _snapshot(name: str, taken: int, databases: Sequence[tuple[str, Mapping[str, Mapping[str, str]]]]) -> str:
    """Return what the collector of switches prints of some databases."""
    lines = ["# lossless switch state 1", f"# switch {name}", f"# taken {taken} UTC"]
    for database, rows in databases:
        for key, row in rows.items():
            words = [json.dumps(word) for field in row.items() for word in field]
            lines.append(f"==> sonic-db-cli {database} HGETALL '{key}'")
            lines += [f"{number}) {word}" for number, word in enumerate(words, start=1)]
    return "\n".join((*lines, "==> end", ""))


def _show(
    name: str,
    called: Mapping[tuple[int, int, int], str],
    counts: Mapping[tuple[int, int, int], PlantedPort],
    storms: Mapping[tuple[int, int, int], int] | None,
) -> str:
    """Return a transcript of show commands at a switch."""
    lines = [f"admin@{name}:~$ show pfc counters"]
    for way in ("Rx", "Tx"):
        lines.append(f"{f'Port {way}':>11}  " + "  ".join(f"{f'PFC{number}':>13}" for number in range(8)))
        lines.append("-----------  " + "  ".join(["-" * 13] * 8))
        for key, port in called.items():
            count = counts[key].received if way == "Rx" else counts[key].sent
            cells = (f"{count if number == 3 else 0:>13,}" for number in range(8))
            lines.append(f"{port:>11}  " + "  ".join(cells))
        lines.append("")
    lines += [f"admin@{name}:~$ show priority-group drop counters", "Ingress PG dropped packets:"]
    lines.append(f"{'Port':>11}  " + "  ".join(f"{f'PG{number}':>9}" for number in range(8)))
    lines.append("-----------  " + "  ".join(["-" * 9] * 8))
    for key, port in called.items():
        cells = (f"{counts[key].dropped if number == 3 else 0:>9}" for number in range(8))
        lines.append(f"{port:>11}  " + "  ".join(cells))
    lines.append("")
    if storms is not None:
        lines.append(f"admin@{name}:~$ show pfcwd stats")
        lines.append("       QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP")
        lines.append("------------  -----------  -------------------------  ------------  ------------")
        for key, port in called.items():
            times = f"{storms[key]}/{storms[key]}"
            lines.append(f"{f'{port}:3':>12}  operational  {times:>25}           0/0           0/0")
        lines.append("")
    return "\n".join(lines) + "\n"


def _lldp(name: str, rows: Mapping[str, Mapping[str, str]]) -> str:
    lines = [
        f"admin@{name}:~$ show lldp table",
        "Capability codes: (R) Router, (B) Bridge, (O) Other",
        "LocalPort    RemoteDevice    RemotePortID       Capability    RemotePortDescr",
        "-----------  --------------  -----------------  ------------  -----------------",
    ]
    for key, row in rows.items():
        port = key.partition(":")[2]
        lines.append(
            f"{port:<11}  {row['lldp_rem_sys_name']:<14}  {row['lldp_rem_port_id']:<17}  "
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
        if kind not in ("none", "workload") or (case.fault == "incast" and kind != "none")
    ]
    accepted = frozenset().union(*case.culprits)
    named = sum(bool(culprit & {*answers}) for culprit in case.culprits) if case.nameable else 0
    own = [answer for answer in answers if answer not in case.beside]
    return PlantedScore(
        len(case.culprits) if case.nameable else 0, named, len(own), sum(answer in accepted for answer in own)
    )
