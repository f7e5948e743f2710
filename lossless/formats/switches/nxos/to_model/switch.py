"""Settings of an NX-OS switch to the fabric model: a qos-group is its traffic class, its queue and its group.

The switch gives a class headroom once its network QoS pauses it. What PFC of a port does in mode auto, the default, is
agreed on by DCBX and unknown: nothing is taken to be paused there (Cisco, Nexus 9000 Series NX-OS Quality of Service
Configuration Guide, priority flow control).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.switches.nxos.to_model.classes import Classes
from lossless.formats.switches.plain_switch import plain_switch
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.known import UNKNOWN
from lossless.ground.basics.natural_order import natural_key
from lossless.model.fabric.configured_switch import ClassMaps
from lossless.model.fabric.model import Cable, Port, WatchdogPoll
from lossless.model.fabric.qos import (
    DSCPS,
    PRIORITIES,
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
    from lossless.formats.switches.nxos.read.rows import NxosConfig, PolicyClass, Rows, Stated
    from lossless.model.fabric.model import Switch

_OFF = Curve(False, False, None, None, None)
_KINDS = ("Ethernet", "port-channel")
_WORDS = {(True, True): "both", (True, False): "dscp", (False, True): "pcp", (False, False): "none"}


class NxosSwitch:
    """Builds the switch of one configuration; ports that are set identically share their QoS."""

    def __init__(self, config: NxosConfig, rdma_dscps: tuple[int, ...]) -> None:
        self.config = config
        self.classes = Classes(config)
        self._rdma_dscps = rdma_dscps
        self._file = Origin(config.file)
        self._built: dict[object, PortQos] = {}
        self.pauses = self.classes.pauses()
        self.names = sorted(filter(_is_port, config.interfaces), key=natural_key)

    def switch(self) -> Switch:
        """Return the switch."""
        named = self.config.switch.get("hostname")
        return plain_switch(
            named.value if named else self.config.shown,
            tuple(map(self._port, self.names)),
            WatchdogPoll(None, self._file),
            self._rdma_dscps,
            named.origin if named else self._file,
        )

    def maps(self) -> ClassMaps:
        """Return the maps of the policy of all ports, else those of the first port that has one."""
        names = (policy.value for name in self.names if (policy := self.input_of(name)) is not None)
        bound = self.config.bound.get("input")
        policy = bound.value if bound is not None else next(names, None)
        dscp, cos = (
            self.classes.index_map(policy, field)
            or IndexMap(field, (None,) * size, self._file, (self._file,) * size)
            for field, size in (("dscp", len(DSCPS)), ("cos", len(PRIORITIES)))
        )
        return ClassMaps(dscp, cos, self._identity("qos-group"))

    def trusts(self) -> dict[str, str]:
        """Return the fields that the input policy of each port looks at; ``*`` are ports without lines."""
        bound = self.config.bound.get("input")
        of_all = {"*": self._trust(bound)} if bound is not None else {}
        return {**of_all, **{name: self._trust(self.input_of(name)) for name in self.names}}

    def _trust(self, policy: Stated | None) -> str:
        name = policy.value if policy is not None else None
        return _WORDS[self.classes.looks_at(name, "dscp"), self.classes.looks_at(name, "cos")]

    def rows_of(self, name: str) -> Rows:
        """Return the settings of a port; a member of a port-channel has its policies."""
        own = self.config.of_interface(name)
        lag = own.get("lag")
        bundle = self.config.of_interface(f"port-channel{lag.value}") if lag is not None else {}
        return {**{key: bundle[key] for key in ("input", "queuing") if key in bundle}, **own}

    def input_of(self, name: str) -> Stated | None:
        """Return the input policy of a port: its own, else that of the switch."""
        return self.rows_of(name).get("input") or self.config.bound.get("input")

    def _identity(self, name: str) -> IndexMap:
        return IndexMap(name, tuple(PRIORITIES), self._file, (self._file,) * len(PRIORITIES))

    # --- ports ---

    def _port(self, name: str) -> Port:
        rows = self.rows_of(name)
        origin = self.config.places.get(("interface", name), self._file)
        mtu, speed, up, lag = (rows.get(key) for key in ("mtu", "speed", "up", "lag"))
        return Port(
            name=name,
            speed_bps=speed.value if speed else None,
            lanes=None,
            mtu_bytes=mtu.value if mtu else UNKNOWN,
            admin_up=up is None or bool(up.value),
            leads_to=None,
            cable=Cable(UNKNOWN, None, origin),
            neighbor=None,
            qos=self._qos(name, rows),
            placed=True,
            origin=origin,
            lag=f"port-channel{lag.value}" if lag else None,
        )

    def _qos(self, name: str, rows: Rows) -> PortQos:
        pfc, origin = self.pfc_of(name), self.config.places.get(("interface", name), self._file)
        policy, served = self.input_of(name), rows.get("queuing") or self.config.bound.get("queuing")
        key = (policy and policy.value, served and served.value, pfc, self.watchdog_of(name))
        if key not in self._built:
            self._built[key] = self._build(policy, served, pfc, self.watchdog_of(name), origin)
        return self._built[key]

    def _build(
        self,
        policy: Stated | None,
        served: Stated | None,
        pfc: PriorityMask,
        watchdog: Watchdog | None,
        origin: Origin,
    ) -> PortQos:
        name = policy.value if policy is not None else None
        dscp, cos = self.classes.index_map(name, "dscp"), self.classes.index_map(name, "cos")
        queues = dict(self.classes.served(served))
        return PortQos(
            dscp_to_tc=dscp,
            tc_to_queue=self._identity("queue"),
            tc_to_pg=None,
            pfc_to_queue=self._by_priority("queue"),
            pfc_to_pg=self._by_priority("group"),
            # RoCEv2 is IP: where a policy looks at both, the DSCP decides.
            trust_dot1p=cos is not None and dscp is None,
            pfc=pfc,
            watchdog_mask=pfc if watchdog else None,
            watchdog=watchdog,
            queues=tuple(_queue(n, queues[n]) if n in queues else None for n in PRIORITIES),
            groups=self._groups(pfc),
            profile_lists=((), ()),
            origin=origin,
            dot1p_to_tc=cos if dscp is None else None,
        )

    def _groups(self, pfc: PriorityMask) -> tuple[PriorityGroup | None, ...]:
        """Return a group with headroom for each class that the port pauses; in mode auto that is unknown."""
        own = {pause.group: pause.origin for pause in self.pauses if pause.priority in pfc.priorities}
        return tuple(
            PriorityGroup(n, None, generated=True, origin=own[n]) if n in own else None for n in PRIORITIES
        )

    def _by_priority(self, name: str) -> IndexMap:
        """Return the queue, or the group, of each PFC priority."""
        groups = {pause.priority: pause.group for pause in self.pauses}
        targets = tuple(groups.get(priority, priority) for priority in PRIORITIES)
        return IndexMap(name, targets, self._file, (self._file,) * len(PRIORITIES))

    def pfc_of(self, name: str) -> PriorityMask:
        """Return what a port pauses: all that the network QoS does, where PFC is on."""
        mode = self.rows_of(name).get("pfc")
        override = self.config.switch.get("override")
        state = override.value if override else mode.value if mode else "auto"
        priorities = sorted({pause.priority for pause in self.pauses}) if state == "on" else []
        return PriorityMask(tuple(priorities), mode.origin if mode else self._file)

    def watchdog_of(self, name: str) -> Watchdog | None:
        """Return the watchdog of a port, whose timers and action are those of the switch.

        A port whose line has no effect without that of the switch has one all the same: another finding says so.
        """
        own = self.rows_of(name).get("watchdog") or self.rows_of(name).get("wrong")
        if own is None or own.value is False:
            return None
        return Watchdog(None, None, "not stated", own.origin)


def _is_port(name: str) -> bool:
    return name.startswith(_KINDS)


def _queue(number: int, of: PolicyClass) -> Queue:
    strict, percent = of.rows.get("strict"), of.rows.get("percent")
    scheduler = None
    if strict is not None:
        scheduler = Scheduler(of.name, "STRICT", None, strict.origin)
    elif percent is not None:
        scheduler = Scheduler(of.name, "DWRR", percent.value, percent.origin)
    return Queue(number, scheduler, _wred(of), None, of.origin)


def _wred(of: PolicyClass) -> Wred | None:
    stated = of.rows.get("ecn")
    if stated is None:
        return None
    low, high, percent, marks = stated.value
    return Wred(of.name, Curve(True, marks, low, high, percent), _OFF, _OFF, stated.origin)
