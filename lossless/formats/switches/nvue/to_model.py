"""The tree of an NVUE configuration to the fabric model.

A switch priority is a traffic class of the model, and a traffic class of NVUE one of its queues. Settings of all ports
(``qos roce``, the profiles ``default-global``) are on a port of its own, :data:`OTHERS`: no text lists them.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from lossless.formats.switches.nvue.read import (
    CABLE_M,
    EIGHTHS,
    KMAX_BYTES,
    KMIN_BYTES,
    MODES,
    OFF,
    ON,
    PLAIN,
    POLL_MS,
    PRIORITIES,
    PROBABILITY,
    ROBUSTNESS,
    ROCE_CABLE_M,
    WATCHDOG,
    Node,
)
from lossless.formats.switches.other_systems import plain_switch
from lossless.ground.basics.findings import natural_key
from lossless.ground.basics.records import UNKNOWN
from lossless.model.fabric.configured_switch import ClassMaps, Shaper
from lossless.model.fabric.model import Cable, Port, WatchdogPoll
from lossless.model.fabric.qos import (
    DSCPS,
    UNREADABLE,
    Curve,
    IndexMap,
    PortQos,
    PriorityGroup,
    PriorityMask,
    Queue,
    Scheduler,
    Watchdog,
    Wred,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.switches.nvue.read import QosDefaults
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.model import Switch


OTHERS = "swp*"
"""The name of the port in place of all ports without lines of their own."""
GLOBAL = "default-global"
_KBPS = 1000
_NO_LIMIT_KBPS = 2**31 - 1
"""The rate of a shaper that means no limit, in kb/s (NVIDIA, Cumulus Linux User Guide, "Quality of Service")."""
_OF_ALL_PORTS = (
    ("roce",),
    ("pfc",),
    ("mapping",),
    *((kind, GLOBAL) for kind in ("congestion-control", "egress-queue-mapping", "egress-scheduler")),
)
"""Paths below ``qos`` that configure ports that are not named; a setting that they omit has NVUE's default."""


def _target(rows: Node | None, index: int, word: str) -> int | None:
    """Return the target of an entry of a QoS map, None if there is no entry, UNREADABLE if it is not 0 to 7."""
    if rows is None or rows.value(str(index), word) is None:
        return None
    target = rows.number(str(index), word)
    return target if target in PRIORITIES else UNREADABLE


def _lanes(node: Node) -> int:
    """Return how many ports a port is split into (``link breakout 2x``), 0 if it is whole or written otherwise."""
    split = re.fullmatch("([248])x", node.value("link", "breakout") or "")
    return int(split[1]) if split is not None else 0


def _adapts(node: Node) -> bool:
    """Return whether adaptive routing is on, for the switch or a port; releases before 5.15 call the state enable."""
    stated = ("router", "adaptive-routing")
    return (node.value(*stated, "state") or node.value(*stated, "enable")) in ON


def _as_member(port: Node | None, bond: Node) -> Node:
    """Return a port with the QoS of its bond, plus its own settings: the watchdog, and those that NVUE refuses."""
    member = Node(port.origin if port is not None else bond.origin_of("bond", "member"))
    member.below.update(port.below if port is not None else {})
    member.below["qos"] = qos = Node(bond.origin_of("qos"))
    of_bond = {kind: node for kind, node in bond.all("qos").items() if kind != "pfc-watchdog"}
    qos.below.update({**of_bond, **(port.all("qos") if port is not None else {})})
    return member


class NvueSwitch:
    """One NVUE configuration, and the switch of the fabric model that it makes."""

    def __init__(self, tree: Node, shown: str, rdma_dscps: tuple[int, ...]) -> None:
        self.tree = tree
        self._shown = shown
        self._rdma_dscps = rdma_dscps
        self.base = self._base()
        self.pfc_profiles = tree.at("qos", "pfc")
        self.whole = any(tree.says("qos", *words) for words in _OF_ALL_PORTS)
        """Whether the text configures ports that it does not name: parts of configurations do not."""
        self.maps = self._class_maps()

    # --- what holds for all ports ---

    @property
    def roce(self) -> Node | None:
        """The node of ``qos roce``, on or off; None if the text does not have it."""
        return self.tree.at("qos", "roce")

    def _base(self) -> QosDefaults:
        roce = self.roce
        if roce is None or roce.removed:
            return PLAIN
        stated = roce.value("enable") or roce.value("state")
        return PLAIN if stated in OFF else MODES.get(roce.value("mode") or "lossless", PLAIN)

    def _queues(self) -> tuple[int, ...]:
        """Return the traffic class of NVUE for each switch priority."""
        rows = self.tree.at("qos", "egress-queue-mapping", GLOBAL, "switch-priority")
        stated = {sp: _target(rows, sp, "traffic-class") for sp in PRIORITIES}
        return tuple(
            own if (set_to := stated.get(sp)) is None else set_to for sp, own in enumerate(self.base.queues)
        )

    def _class_maps(self) -> ClassMaps:
        """Return the DSCP and PCP maps to traffic classes of NVUE, which are the queues of the model."""
        queues, origin = self._queues(), self.tree.origin_of("qos", "mapping", GLOBAL)
        dscp, pcp = self._dscp_map(GLOBAL), self._pcp_map(GLOBAL)

        def through(index_map: IndexMap | None) -> IndexMap:
            targets = index_map.targets if index_map else (None,) * len(DSCPS)
            return IndexMap("", tuple(t if t in (None, UNREADABLE) else queues[t] for t in targets), origin)

        return ClassMaps(through(dscp), through(pcp), IndexMap("", tuple(PRIORITIES), origin))

    # --- maps ---

    def _dscp_map(self, profile: str) -> IndexMap | None:
        """Return a profile's map of DSCPs to switch priorities or None; NVUE's own if it trusts DSCPs and maps none."""
        unnamed = self.tree.at("qos", "mapping", profile, "dscp") is None
        trusted = self.tree.value("qos", "mapping", profile, "trust") in ("l3", "both")
        if unnamed and trusted:
            return IndexMap(
                f"{profile} dscp", EIGHTHS, self.tree.origin_of("qos", "mapping", profile, "trust")
            )
        return self._map(profile, "dscp", self.base.dscp, len(DSCPS))

    def _port_map(self, profile: str) -> IndexMap | None:
        """Return the map of all DSCPs to the ``port-default-sp`` of a mapping profile; None without a valid one."""
        stated = ("qos", "mapping", profile, "port-default-sp")
        priority = self.tree.number(*stated)
        if priority not in PRIORITIES:
            return None
        return IndexMap(f"{profile} port-default-sp", (priority,) * len(DSCPS), self.tree.origin_of(*stated))

    def _pcp_map(self, profile: str) -> IndexMap | None:
        return self._map(profile, "pcp", self.base.pcp, len(PRIORITIES))

    def _map(self, profile: str, key: str, own: tuple[int, ...] | None, size: int) -> IndexMap | None:
        """Return a map of DSCP or PCP to switch priorities: entries, else defaults or UNREADABLE; None without both."""
        rows = self.tree.at("qos", "mapping", profile, key)
        written = {n: _target(rows, n, "switch-priority") for n in range(size)}
        if not self.whole or (profile != GLOBAL and rows is not None):
            own = (UNREADABLE,) * size
        if own is None and rows is None:
            return None
        default = own or (UNREADABLE,) * size
        targets = tuple(default[n] if (set_to := written.get(n)) is None else set_to for n in range(size))
        origin = self.tree.origin_of("qos", "mapping", profile, key)
        return IndexMap(f"{profile} {key}", targets, origin)

    # --- the switch ---

    def switch(self) -> Switch:
        """Return the switch of the fabric model."""
        ports = tuple(self._ports())
        name = self.tree.value("system", "hostname")
        poll = WatchdogPoll(self.poll_ms, self.tree.origin_of("qos", "pfc-watchdog"))
        origin = self.tree.origin_of("system", "hostname")
        return plain_switch(name or self._shown, ports, poll, self._rdma_dscps, origin)

    @property
    def poll_ms(self) -> int:
        """The polling interval of the PFC watchdog in ms, NVUE's default if it is not set."""
        return self.tree.number("qos", "pfc-watchdog", "polling-interval") or POLL_MS

    def _ports(self) -> Iterator[Port]:
        if self.whole:
            yield self._port(OTHERS, None)
        ports = self.interfaces
        yield from (self._port(name, ports[name]) for name in sorted(ports, key=natural_key))

    @cached_property
    def interfaces(self) -> dict[str, Node]:
        """The named interfaces: members have their bond's QoS, and the lanes of a split port take its place."""
        interfaces = self.tree.at("interface")
        named = interfaces.below if interfaces is not None else {}
        ports = {name: node for name, node in named.items() if not _lanes(node)}
        for name, node in named.items():
            for lane in (f"{name}s{number}" for number in range(_lanes(node))):
                ports.setdefault(lane, Node(node.origin_of("link", "breakout")))
        for bond in named.values():
            for member in bond.all("bond", "member"):
                ports[member] = _as_member(ports.get(member), bond)
        return ports

    def _port(self, name: str, node: Node | None) -> Port:
        origin = node.origin if node is not None else self._origin_of_all()
        mtu = node.number("link", "mtu") if node is not None else None
        down = node is not None and node.value("link", "state") == "down"
        has_qos = node is None or name.startswith("swp")
        return Port(
            name=name,
            speed_bps=None,
            lanes=None,
            mtu_bytes=UNKNOWN if mtu is None else mtu,
            admin_up=not down,
            leads_to=None,
            cable=self._cable(node),
            neighbor=None,
            qos=self._qos(node, origin) if has_qos else None,
            placed=True,
            origin=origin,
            adaptive=node is not None and _adapts(self.tree) and _adapts(node),
        )

    def _origin_of_all(self) -> Origin:
        return self.roce.origin if self.roce is not None else self.tree.origin_of("qos", "pfc", GLOBAL)

    def pfc_profile(self, node: Node | None) -> tuple[str, Node | None]:
        """Return the name of a port's PFC profile, and its node, None where the switch has none of that name."""
        name = (node.value("qos", "pfc", "profile") if node is not None else None) or GLOBAL
        return name, self.tree.at("qos", "pfc", name)

    def _cable(self, node: Node | None) -> Cable:
        name, profile = self.pfc_profile(node)
        stated = profile.number("cable-length") if profile is not None else None
        own = ROCE_CABLE_M if self.base.paused and name == GLOBAL else CABLE_M
        return Cable(
            UNKNOWN,
            own if stated is None else stated,
            self.tree.origin_of("qos", "pfc", name, "cable-length"),
        )

    def _qos(self, node: Node | None, origin: Origin) -> PortQos:
        mapping = self._mapping(node)
        trust = self.trust_of(mapping)
        pfc = self.pfc_of(node, origin)
        dscp, pcp = self._dscp_map(mapping), self._pcp_map(mapping)
        # RoCEv2 is IP: where a port reads both, the DSCP decides.
        reads_dscp, reads_pcp = trust in ("l3", "both"), trust == "l2"
        # A pause names a switch priority, and stops the traffic class that serves it.
        queues = IndexMap("egress-queue-mapping", self._queues(), origin)
        return PortQos(
            dscp_to_tc=dscp if reads_dscp else self._port_map(mapping) if trust == "port" else None,
            tc_to_queue=queues,
            tc_to_pg=None,
            pfc_to_queue=queues,
            pfc_to_pg=None,
            trust_dot1p=reads_pcp,
            pfc=pfc,
            watchdog_mask=pfc if (watchdog := self.watchdog_of(node)) else None,
            watchdog=watchdog,
            queues=tuple(self._queue(number, node, origin) for number in PRIORITIES),
            groups=tuple(
                PriorityGroup(n, None, generated=True, origin=pfc.origin) if n in pfc.priorities else None
                for n in PRIORITIES
            ),
            profile_lists=((), ()),
            origin=origin,
            dot1p_to_tc=pcp if reads_pcp else None,
        )

    def users_of(self, name: str) -> tuple[str, ...]:
        """Return the names of the ports that use a PFC profile."""
        ports: dict[str, Node | None] = {**({OTHERS: None} if self.whole else {}), **self.interfaces}
        return tuple(
            port
            for port, node in ports.items()
            if (node is None or port.startswith("swp")) and self.pfc_profile(node)[0] == name
        )

    def trusts(self) -> dict[str, str]:
        """Return the mark that each port trusts, stated or known by default: dscp, pcp, both or none."""
        words = {"l2": "pcp", "l3": "dscp", "both": "both", "port": "none"}
        ports: dict[str, Node | None] = {**({OTHERS: None} if self.whole else {}), **self.interfaces}
        stated = {name: self.trust_of(self._mapping(node)) for name, node in ports.items()}
        return {name: words[trust] for name, trust in stated.items() if trust in words}

    @staticmethod
    def _mapping(node: Node | None) -> str:
        return (node.value("qos", "mapping", "profile") if node is not None else None) or GLOBAL

    def trust_of(self, mapping: str) -> str | None:
        """Return the mark that a mapping profile trusts, stated or by default; None where a part does not state it."""
        stated = self.tree.value("qos", "mapping", mapping, "trust")
        return stated or (self.base.trust if self.whole else None)

    def pfc_of(self, node: Node | None, origin: Origin) -> PriorityMask:
        """Return the PFC priorities of a port: of its profile; those of ``qos roce`` if default-global has none."""
        name, profile = self.pfc_profile(node)
        if profile is not None and all(profile.value(word) in OFF for word in ("tx", "rx")):
            return PriorityMask((), profile.origin_of("tx"))
        stated = profile.at("switch-priority") if profile is not None else None
        if stated is not None and profile is not None:
            priorities = sorted(
                int(word)
                for word, node in stated.below.items()
                if word.isascii() and word.isdecimal() and int(word) < len(PRIORITIES) and not node.removed
            )
            return PriorityMask(tuple(priorities), profile.origin_of("switch-priority"))
        implied = self.base.paused if name == GLOBAL else ()
        return PriorityMask(implied, self._origin_of_all() if implied else origin)

    def watchdog_of(self, node: Node | None) -> Watchdog | None:
        """Return the PFC watchdog of a port, which is switched on port by port, None where it is off.

        Ports without lines (node None) are most often unused: they have that of the first port with a watchdog, if any.
        """
        if node is None:
            return next((dog for port in self.interfaces.values() if (dog := self.watchdog_of(port))), None)
        own = node.at("qos", "pfc-watchdog")
        if own is None or own.removed or (own.value("state") or own.value("enable")) in OFF:
            return None
        if own.below and WATCHDOG.keys().isdisjoint(own.below):
            return None  # Words that NVUE does not have turn nothing on.
        robustness = self.tree.number("qos", "pfc-watchdog", "robustness") or ROBUSTNESS
        return Watchdog(self.poll_ms * robustness, None, "not stated", own.origin, "unknown")

    # --- queues ---

    def _queue(self, number: int, node: Node | None, origin: Origin) -> Queue | None:
        scheduler, wred = self._scheduler(number, node, origin), self._wred(number, node, origin)
        return Queue(number, scheduler, wred, None, origin) if scheduler or wred else None

    def _scheduler(self, number: int, node: Node | None, origin: Origin) -> Scheduler | None:
        name = (node.value("qos", "egress-scheduler", "profile") if node is not None else None) or GLOBAL
        own = self.tree.at("qos", "egress-scheduler", name, "traffic-class", str(number))
        if own is None:
            if not self.whole or number not in self.base.shares:
                return None
            share = self.base.shares[number]
            return Scheduler(f"traffic-class {number}", "DWRR" if share else "STRICT", share, origin)
        kind = "STRICT" if own.value("mode") == "strict" else "DWRR"
        return Scheduler(f"traffic-class {number}", kind, own.number("bw-percent"), own.origin)

    def _wred(self, number: int, node: Node | None, origin: Origin) -> Wred | None:
        name = (node.value("qos", "congestion-control", "profile") if node is not None else None) or GLOBAL
        own = self.tree.at("qos", "congestion-control", name, "traffic-class", str(number))
        if own is None:
            numbers = self.base.marking.get(number) if self.whole and name == GLOBAL else None
            return None if numbers is None else self._marking(number, numbers, origin)
        marks = own.value("ecn") not in OFF
        if not marks and own.value("red") not in ON:
            return None
        numbers = (
            own.number("min-threshold") or own.number("min-threshold-bytes") or KMIN_BYTES,
            own.number("max-threshold") or own.number("max-threshold-bytes") or KMAX_BYTES,
            PROBABILITY if (stated := own.number("probability")) is None else stated,
        )
        return self._marking(number, numbers, own.origin, marks=marks)

    @staticmethod
    def _marking(number: int, numbers: tuple[int, int, int], origin: Origin, *, marks: bool = True) -> Wred:
        """Return the curve of a traffic class: RED drops packets, with ECN only those that cannot be marked."""
        unmarked = Curve(False, False, None, None, None)
        return Wred(f"traffic-class {number}", Curve(True, marks, *numbers), unmarked, unmarked, origin)

    def shapers(self) -> Iterator[Shaper]:
        """Yield the maximum rates of ports and of their queues in b/s; NVUE has kb/s."""
        for name, node in self.interfaces.items():
            profile = self.tree.at(
                "qos", "egress-shaper", node.value("qos", "egress-shaper", "profile") or GLOBAL
            )
            if profile is None or not name.startswith("swp"):
                continue
            rows: list[tuple[int | None, Node, str]] = [(None, profile, "port-max-rate")]
            rows += [
                (int(number), row, "max-rate")
                for number, row in profile.all("traffic-class").items()
                if number.isascii() and number.isdecimal()
            ]
            for queue, row, word in rows:
                rate = row.number(word)
                if rate is not None and rate != _NO_LIMIT_KBPS:
                    yield Shaper(name, queue, rate * _KBPS, None, row.origin_of(word))
