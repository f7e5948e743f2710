"""Settings of an NX-OS switch to the fabric model. A qos-group is a traffic class, and the queue of its number.

No-drop classes are set once for the switch, by the network-qos policy of ``system qos``; a port has the mode of PFC.
Without a line its mode is auto: then DCBX decides, and the paused priorities are unknown
(:mod:`lossless.formats.switches.nxos.session`).

A policy map of type qos classifies packets: it gives a qos-group to each DSCP and each CoS. Classes are matched in
their order, and a packet without a match has qos-group 0. A port without an input policy has that of ``system qos``;
NX-OS has no command that trusts a mark.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from lossless.formats.switches.nxos.read.grammar import DEFAULT_CLASS, NETWORK, QOS, QUEUING, is_port
from lossless.formats.switches.nxos.session import (
    FCOE_CLASS,
    FCOE_PRIORITY,
    PFC_MODE,
    UNCLASSIFIED,
    qos_group,
)
from lossless.formats.switches.other_systems import plain_switch
from lossless.ground.basics.findings import Origin, grouped, natural_key
from lossless.ground.basics.records import UNKNOWN, NamedTuple
from lossless.model.fabric.configured_switch import ClassMaps, Shaper
from lossless.model.fabric.model import Cable, Port, WatchdogPoll
from lossless.model.fabric.qos import (
    DSCPS,
    PRIORITIES,
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

    from lossless.formats.switches.nxos.read.grammar import (
        Classes,
        NxosConfig,
        NxosSetting,
        RandomDetect,
        Settings,
    )
    from lossless.model.fabric.model import Switch


_FIELDS = {"dscp": DSCPS, "cos": PRIORITIES}


class Classification(NamedTuple):
    """The maps of DSCP and CoS to qos-groups at a port.

    ``trust`` is the classified marks (dscp, pcp, both or none), empty if the text does not show them.

    A map is None if no class matches on that mark; both are UNREADABLE where ``trust`` is empty.
    """

    trust: str
    dscp_to_group: IndexMap | None
    cos_to_group: IndexMap | None


def nothing_known(origin: Origin) -> Classification:
    """Return a classification whose maps are unknown: every target of a DSCP or CoS is UNREADABLE."""
    unknown = (IndexMap("", (UNREADABLE,) * len(of), origin) for of in _FIELDS.values())
    return Classification("", *unknown)


UNMARKED = Classification("none", None, None)
"""The classification of a port without an input policy: all packets have qos-group 0."""


def classified(config: NxosConfig, name: str, policy: Classes) -> Classification:
    """Return the classification by a policy map of type qos."""
    dscp, cos = (_Map(config, name, policy, field).read() for field in _FIELDS)
    trusts = {(True, True): "both", (True, False): "dscp", (False, True): "pcp"}
    trust = trusts.get(
        (dscp is not None, cos is not None), "" if _looks_elsewhere(config, policy) else "none"
    )
    return Classification(trust, dscp, cos) if trust else nothing_known(policy.origin)


def _looks_elsewhere(config: NxosConfig, policy: Classes) -> bool:
    """Return whether a class of a policy matches on another field than DSCP and CoS."""
    return any(_is_open(config, name) for name in policy.below if name != DEFAULT_CLASS)


def _is_open(config: NxosConfig, name: str) -> bool:
    """Return whether a class may match on other fields than DSCP and CoS: by access list, or as its map is missing.

    FCoE has an Ethertype of its own, and no packet with a DSCP is in its class.
    """
    class_map = config.class_maps.get((QOS, name))
    return name != FCOE_CLASS and (class_map is None or ("other",) in class_map)


class _Map:
    """Builds a policy's map of one field (``dscp`` or ``cos``) to qos-groups, class by class."""

    def __init__(self, config: NxosConfig, name: str, policy: Classes, field: str) -> None:
        self._config = config
        self._name = name
        self._policy = policy
        self._field = field
        self._targets: dict[int, tuple[int, Origin]] = {}
        self._rest = (UNCLASSIFIED, policy.origin)

    def read(self) -> IndexMap | None:
        """Return the policy's map of the field to qos-groups, None if no class matches on the field."""
        looked = [self._take(name, settings) for name, settings in self._policy.below.items()]
        if not any(looked):
            return None
        entries = [self._targets.get(number, self._rest) for number in _FIELDS[self._field]]
        targets, origins = zip(*entries, strict=True)
        return IndexMap(f"policy-map {self._name}", targets, self._policy.origin, origins)

    def _take(self, name: str, settings: Settings) -> bool:
        """Add the next class, and return whether it matches on the field."""
        setting = settings.get(("qos-group",))
        entry = (
            setting.value if setting else UNCLASSIFIED,
            setting.origin if setting else self._policy.places[name],
        )
        if name == DEFAULT_CLASS:
            self._rest = self._rest if self._rest[0] == UNREADABLE else entry
            return False
        class_map = self._config.class_maps.get((QOS, name))
        numbers = [int(key[1]) for key in class_map or () if key[0] == self._field]
        all_of = class_map is not None and ("any",) in class_map and not class_map["any",].value
        # With match-all a packet must have the rest too: another mark, or what an access list matches.
        others = {key[0] for key in class_map or ()} - {self._field, "any"}
        for number in numbers:
            self._targets.setdefault(number, (UNREADABLE, entry[1]) if all_of and others else entry)
        # What an access list matches is not known; with match-all it matches nothing that the marks do not.
        if _is_open(self._config, name) and not (all_of and numbers):
            self._rest = (UNREADABLE, entry[1])
        return bool(numbers)


ALL = "*"
"""The name of a port that represents all, where a text names none."""
OUT, IN = "output", "input"
_SHARED = frozenset({"policy", "pfc", "watchdog", "log-only"})
"""The settings of a port that its QoS depends on."""
_UNUSED = Curve(False, False, None, None, None)


class NoDrop(NamedTuple):
    """A qos-group that is lossless: the priorities that pause it, and the class that makes it no-drop."""

    priorities: tuple[int, ...]
    name: str
    settings: Settings
    origin: Origin


class NxosSwitch:
    """Builds the switch of one NX-OS configuration; ports that are set identically share their QoS."""

    def __init__(self, config: NxosConfig, rdma_dscps: tuple[int, ...]) -> None:
        self.config = config
        self._rdma_dscps = rdma_dscps
        self._file = Origin(config.file)
        self._built: dict[object, PortQos] = {}
        self._settings = self._all_settings()
        self.main = self._main_classification()
        self.no_drop = self._no_drop()
        unseen = IndexMap("", (None,) * len(DSCPS), self._file)
        self.maps = ClassMaps(
            self.main.dscp_to_group or unseen,
            self.main.cos_to_group or unseen._replace(targets=(None,) * len(PRIORITIES)),
            IndexMap("qos-group", tuple(PRIORITIES), self._file),
        )

    def ports(self) -> list[str]:
        """Return the ports and port channels that the text names, with QoS settings or without, in natural order."""
        return sorted(filter(is_port, self.config.ports), key=natural_key)

    def switch(self) -> Switch:
        """Return the switch of the fabric model, with its ports in natural order."""
        named = self.config.switch.get(("hostname",))
        poll = self.config.switch.get(("watchdog", "interval"))
        names = self.ports() or [ALL] * bool(self.config.policies)
        return plain_switch(
            named.value if named else self.config.shown,
            tuple(map(self._port, names)),
            WatchdogPoll(poll.value if poll else None, poll.origin if poll else self._file),
            self._rdma_dscps,
            named.origin if named else self._file,
        )

    def settings_of(self, port: str) -> Settings:
        """Return the settings of a port, with those of its port profiles and its port channel."""
        return self._settings.get(port, {})

    def _all_settings(self) -> dict[str, Settings]:
        """Return the settings of each port; a port channel without a line has a watchdog if all members have one."""
        settings = {port: self.config.settings_of(port) for port in self.config.ports}
        members = grouped(
            (f"port-channel{lag.value}", own.get(("watchdog",)))
            for own in self.config.ports.values()
            if (lag := own.get(("lag",))) is not None
        )
        for channel, watchdogs in members.items():
            watched = [setting for setting in watchdogs if setting is not None and setting.value]
            if channel in settings and len(watched) == len(watchdogs):
                settings[channel].setdefault(("watchdog",), watched[0])
        return settings

    # --- policies ---

    def policy_of(self, settings: Settings, kind: str, direction: str) -> Bound | None:
        """Return a port's policy of a type and direction, its own or the switch's; None without one, or negated."""
        key = ("policy", kind, direction)
        bound = settings.get(key) or self.config.switch.get(key)
        if bound is None or bound.value is None:
            return None
        return Bound(bound.value, self.config.policies.get((kind, bound.value)))

    def classification(self, settings: Settings) -> Classification:
        """Return the classification of a port by its input policy; without one, all is unmarked, or unknown."""
        bound = self.policy_of(settings, QOS, IN)
        if bound is not None:
            return self._classified(bound)
        lag = settings.get(("lag",))
        away = lag is not None and f"port-channel{lag.value}" not in self.config.ports
        fcoe = any(no_drop.name == FCOE_CLASS for no_drop in self.no_drop.values())
        return nothing_known(self._file) if self.config.is_part or away or fcoe else UNMARKED

    def _classified(self, bound: Bound) -> Classification:
        if bound.policy is None:
            return nothing_known(self._file)
        return classified(self.config, bound.name, bound.policy)

    def _main_classification(self) -> Classification:
        """Return the classification of the switch's policy, else that of most ports, else the first, if any."""
        named = [self.policy_of(self.settings_of(port), QOS, IN) for port in self.config.ports]
        count = Counter(bound.name for bound in named if bound is not None and bound.policy is not None)
        names = [name for name, _ in count.most_common(1)]
        names += [name for kind, name in self.config.policies if kind == QOS]
        first = Bound(names[0], self.config.policies[QOS, names[0]]) if names else None
        main = self.policy_of({}, QOS, IN) or first
        return UNMARKED if main is None else self._classified(main)

    def _no_drop(self) -> dict[int, NoDrop]:
        """Return the no-drop qos-groups of the network-qos policy that is bound to the switch."""
        bound = self.policy_of({}, NETWORK, "")
        no_drop: dict[int, NoDrop] = {}
        for name, settings in bound.policy.below.items() if bound and bound.policy else ():
            pauses = [setting for key, setting in settings.items() if key[0] in ("pause", "no-drop")]
            group = self._group(name) if pauses else None
            if group is not None:
                no_drop[group] = NoDrop(
                    self._priorities(group, name, settings), name, settings, pauses[0].origin
                )
        return no_drop

    def _group(self, name: str) -> int | None:
        """Return the qos-group of a class of the network-qos policy, which may match the CoS that leads to it."""
        group = qos_group(self.config, NETWORK, name)
        cos = [int(key[1]) for key in self.config.class_maps.get((NETWORK, name), {}) if key[0] == "cos"]
        leads_to = self.main.cos_to_group
        if group is not None or not cos or leads_to is None:
            return group
        return leads_to.targets[cos[0]] if leads_to.targets[cos[0]] in PRIORITIES else None

    def _priorities(self, group: int, name: str, settings: Settings) -> tuple[int, ...]:
        """Return the priorities that pause a class: of its line, else its CoS matches, its group's CoS, its group."""
        class_map = self.config.class_maps.get((NETWORK, name), {})
        stated = sorted(int(key[1]) for key in settings if key[0] == "pause")
        matched = sorted(int(key[1]) for key in class_map if key[0] == "cos")
        cos = self.main.cos_to_group
        own = FCOE_PRIORITY if name == FCOE_CLASS else group
        return tuple(stated or matched or (cos.sources(group) if cos is not None else ()) or (own,))

    # --- ports ---

    def rest(self) -> Port | None:
        """Return a port with defaults for all ports without lines, None where a text has no ports, or no policies."""
        return None if self.config.is_part or not self.ports() else self._made("", {}, self._file)

    def _port(self, name: str) -> Port:
        origin = self.config.places.get(("interface", name), self._file)
        return self._made(name, self.settings_of(name), origin)

    def _made(self, name: str, settings: Settings, origin: Origin) -> Port:
        mtu, speed, up, lag = (settings.get((key,)) for key in ("mtu", "speed", "up", "lag"))
        return Port(
            name=name,
            speed_bps=speed.value if speed else None,
            lanes=None,
            mtu_bytes=mtu.value if mtu else UNKNOWN,
            admin_up=up is None or bool(up.value),
            leads_to=None,
            cable=Cable(UNKNOWN, None, origin),
            neighbor=None,
            qos=self._qos(settings, origin),
            placed=True,
            origin=origin,
            lag=f"port-channel{lag.value}" if lag else None,
        )

    def trusts(self) -> dict[str, str]:
        """Return the mark that each port classifies by, if the text shows it, and that of a switch-wide policy."""
        read = {name: self.classification(self.settings_of(name)).trust for name in self.ports()}
        if self.policy_of({}, QOS, IN) is not None:
            read[ALL] = self.classification({}).trust
        return {name: trust for name, trust in read.items() if trust}

    def mode(self, settings: Settings) -> str:
        """Return the mode of PFC at a port: on, off or auto, which is the default; off if the switch overrides it."""
        if ("override",) in self.config.switch:
            return "off"
        stated = settings.get(("pfc",))
        return stated.value if stated else PFC_MODE

    def watchdog(self, settings: Settings) -> Watchdog | None:
        """Return the PFC watchdog of a port, None without its line or, in a text of commands, without the switch's."""
        own, switch = settings.get(("watchdog",)), self.config.switch.get(("watchdog",))
        if own is None or not own.value:
            return None
        if self.config.says_watchdog and (switch is None or not switch.value):
            return None
        detection_ms, restoration_ms = self._times(settings)
        fixed = self.config.switch.get(("watchdog", "fixed"))
        # No source that was read states what the fixed-restore multiplier adds to the rule of the other.
        unknown = restoration_ms is None or (fixed is not None and fixed.value > 0)
        return Watchdog(
            detection_ms, restoration_ms, "not stated", own.origin, "unknown" if unknown else "quiet"
        )

    def _times(self, settings: Settings) -> tuple[int | None, int | None]:
        """Return detection and restoration time: intervals by their multipliers, None where either is not stated."""
        switch = self.config.switch
        interval = switch.get(("watchdog", "interval"))
        shut = settings.get(("watchdog", "interface")) or switch.get(("watchdog", "shutdown"))
        auto = switch.get(("watchdog", "auto"))
        times = (
            interval.value * multiplier.value if interval is not None and multiplier is not None else None
            for multiplier in (shut, auto)
        )
        detection_ms, restoration_ms = times
        return detection_ms or None, restoration_ms or None

    def _qos(self, settings: Settings, origin: Origin) -> PortQos:
        about = [(key, setting) for key, setting in sorted(settings.items(), key=str) if key[0] in _SHARED]
        away = self.classification(settings).trust
        shared = (away, *((key, setting.value, setting.origin.path[1:]) for key, setting in about))
        if shared not in self._built:
            self._built[shared] = self._build(settings, origin)
        return self._built[shared]

    def _build(self, settings: Settings, origin: Origin) -> PortQos:
        made = self.classification(settings)
        pfc = self._pfc(settings, origin)
        to_group = self._priority_map()
        return PortQos(
            dscp_to_tc=made.dscp_to_group,
            tc_to_queue=self.maps.tc_to_queue,
            tc_to_pg=None,
            pfc_to_queue=to_group,
            pfc_to_pg=to_group,
            trust_dot1p=made.trust == "pcp",
            pfc=pfc,
            watchdog_mask=None,
            watchdog=self.watchdog(settings),
            queues=tuple(self._queue(number, settings) for number in PRIORITIES),
            groups=self._groups(settings),
            profile_lists=((), ()),
            origin=origin,
            dot1p_to_tc=made.cos_to_group,
        )

    def _priority_map(self) -> IndexMap:
        """Return the map of PFC priorities to the qos-groups that they pause, and whose queues they stop."""
        groups = {p: group for group, no_drop in self.no_drop.items() for p in no_drop.priorities}
        return IndexMap("pause pfc-cos", tuple(map(groups.get, PRIORITIES)), self._file)

    def _pfc(self, settings: Settings, origin: Origin) -> PriorityMask:
        stated = self.config.switch.get(("override",)) or settings.get(("pfc",))
        mode = self.mode(settings)
        priorities = {p for no_drop in self.no_drop.values() for p in no_drop.priorities}
        paused = tuple(sorted(priorities)) if mode == "on" else ()
        place = stated.origin if stated else origin
        return PriorityMask(paused, place, undecided=mode == "auto" and bool(priorities))

    def _groups(self, settings: Settings) -> tuple[PriorityGroup | None, ...]:
        """Return the groups with headroom of a port with PFC on, or in mode auto if no port has PFC on."""
        mode = self.mode(settings)
        has = mode == "on" or (mode == "auto" and not self.anywhere_on)
        return tuple(
            PriorityGroup(n, None, generated=True, origin=self.no_drop[n].origin)
            if has and n in self.no_drop
            else None
            for n in PRIORITIES
        )

    @cached_property
    def anywhere_on(self) -> bool:
        """Whether PFC is on at some port."""
        return any(self.mode(self.settings_of(port)) == "on" for port in self.ports())

    # --- queues ---

    def shapers(self) -> Iterator[Shaper]:
        """Yield the shape rates of queues, port by port."""
        for port in self.ports():
            bound = self.policy_of(self.settings_of(port), QUEUING, OUT)
            for name, settings in bound.policy.below.items() if bound and bound.policy else ():
                stated, queue = settings.get(("shape",)), qos_group(self.config, QUEUING, name)
                if stated is not None and queue is not None:
                    yield Shaper(port, queue, stated.value.bps, stated.value.percent, stated.origin)

    def _queue(self, number: int, settings: Settings) -> Queue | None:
        queue = queue_of(self.config, self.policy_of(settings, QUEUING, OUT), number)
        marking = self._marked_by_network(number)
        if marking is None or (queue is not None and queue.wred is not None):
            return queue
        return queue._replace(wred=marking) if queue else Queue(number, None, marking, None, marking.origin)

    def _marked_by_network(self, number: int) -> Wred | None:
        """Return the ECN curve of a qos-group in the network-qos policy, where older switches have it, or None."""
        bound = self.policy_of({}, NETWORK, "")
        for name, settings in bound.policy.below.items() if bound and bound.policy else ():
            wred = _wred(name, settings)
            if wred is not None and wred.marks and qos_group(self.config, NETWORK, name) == number:
                return wred
        return None

    def defined_queues(self) -> tuple[Queue | None, ...]:
        """Return the queues of the first queuing policy if none is bound for output, else none."""
        blocks = (self.config.switch, *map(self.settings_of, self.config.ports))
        names = [name for kind, name in self.config.policies if kind == QUEUING]
        if not names or any(self.policy_of(block, QUEUING, OUT) for block in blocks):
            return ()
        policy = Bound(names[0], self.config.policies[QUEUING, names[0]])
        return tuple(queue_of(self.config, policy, number) for number in PRIORITIES)


class Bound(NamedTuple):
    """A policy that is bound by its name; ``policy`` is None if it is not defined."""

    name: str
    policy: Classes | None


def queue_of(config: NxosConfig, bound: Bound | None, number: int) -> Queue | None:
    """Return a queue by a queuing policy, None where none of its classes is of that qos-group."""
    policy = bound.policy if bound else None
    for name, settings in policy.below.items() if policy else ():
        if policy is not None and qos_group(config, QUEUING, name) == number:
            return Queue(number, _scheduler(name, settings), _wred(name, settings), None, policy.places[name])
    return None


def _scheduler(name: str, settings: Settings) -> Scheduler | None:
    """Return the scheduler of a queuing class: strict, else the larger of its shares; None without either."""
    strict = settings.get(("priority",))
    shares = [share for key in ("percent", "remaining") if (share := settings.get((key,))) is not None]
    if strict is None and not shares:
        return None
    share = max(shares, key=lambda each: int(each.value), default=None)
    origin = (strict or share or shares[0]).origin
    return Scheduler(name, "DWRR" if strict is None else "STRICT", share.value if share else None, origin)


def _wred(name: str, settings: Settings) -> Wred | None:
    stated: NxosSetting | None = settings.get(("ecn",))
    if stated is None or stated.value is None:
        return None
    marking: RandomDetect = stated.value
    curve = Curve(True, marking.ecn, marking.min_bytes, marking.max_bytes, marking.probability_percent)
    return Wred(name, curve, _UNUSED, _UNUSED, stated.origin)
