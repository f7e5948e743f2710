"""Settings of an EOS switch to the fabric model, and those that EOS refuses or that have no intended effect.

A setting without a line has EOS's default, or is unknown. EOS has no priority groups that are configured: the chip
gives a class headroom once a priority of it is no-drop, and computes how much (SongKou/songkou.github.io
content/posts/arista-eos-roce-config.md @0c73d9a).

An input policy classifies packets ahead of a port's trust: it gives a traffic class to each DSCP and CoS. Classes are
matched in their order; a packet that matches none of them, or whose class sets nothing, has the class that the trust
of the port gives it.

pyavd 6.4.0 validates none of the refusals. Ranges: timeout and recovery time 0.01 to 60 s, polling interval 0.005 to
30 s and at most half of the smaller of both (SongKou/songkou.github.io content/posts/arista-eos-roce-config.md
@0c73d9a, quoting the manual of EOS; pyavd 6.4.0 has the same as text). DSCPs are written again by ``qos rewrite
dscp`` alone: without it pyavd documents that as disabled.

Sources of the defaults: Arista, EOS User Manual, "Quality of Service" (as SongKou/songkou.github.io
content/posts/arista-eos-roce-config.md @0c73d9a quotes it) and "VLANs"; Arista, AI Network Fabric Deployment Guide
(CS3 has traffic class 3 without a line).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lossless.formats.switches.eos.read.grammar import SHARED, EcnThresholds, Setting
from lossless.formats.switches.other_systems import plain_switch
from lossless.ground.basics.findings import Origin, natural_key
from lossless.ground.basics.records import UNKNOWN
from lossless.ground.basics.units import joined
from lossless.model.fabric.configured_switch import ClassMaps, RefusedSetting, Shaper
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
    from collections.abc import Callable, Iterator, Sequence

    from lossless.formats.switches.eos.read.grammar import EosConfig, Settings
    from lossless.model.fabric.model import Switch


DEFAULT_CLASS = "class-default"


def names_marks(config: EosConfig, policy: str) -> bool:
    """Return whether a class map of a policy names DSCPs or CoS itself, and not by an access list alone."""
    class_maps = (config.class_maps.get(name, {}) for name in config.policies.get(policy, ()))
    return any(key[0] in ("dscp", "cos") for class_map in class_maps for key in class_map)


def classified(config: EosConfig, policy: str, key: str, trusted: IndexMap) -> IndexMap:
    """Return the map of ``dscp`` or ``cos`` to traffic classes at a port with an input policy.

    If a class that sets a traffic class may match on another field, marks that no class names are UNREADABLE.
    """
    targets: dict[int, int | None] = {}
    rest: int | None = None
    for name, settings in config.policies.get(policy, {}).items():
        stated = settings.get(("traffic-class",))
        target = stated.value if stated is not None else None
        if name == DEFAULT_CLASS:
            rest = target if rest is None else rest
            break
        for number in _numbers(config, name, key):
            targets.setdefault(number, target)
        if target is not None and _is_open(config, name, key):
            rest = UNREADABLE
    entries = tuple(
        own if (set_to := targets.get(number, rest)) is None else set_to
        for number, own in enumerate(trusted.targets)
    )
    return trusted._replace(name=f"policy-map {policy}", targets=entries)


def _numbers(config: EosConfig, name: str, key: str) -> set[int]:
    class_map = config.class_maps.get(name, {})
    numbers = {int(each[1]) for each in class_map if each[0] == key}
    if key == "dscp":
        lists = (config.access_lists.get(str(each[1])) for each in class_map if each[0] == "access-list")
        numbers.update(dscp for permitted in lists for dscp in permitted or ())
    return numbers


def _is_open(config: EosConfig, name: str, key: str) -> bool:
    """Return whether packets may match a class by another field than this mark (``dscp`` or ``cos``)."""
    class_map: Settings | None = config.class_maps.get(name)
    if class_map is None:
        return True
    lists = [str(each[1]) for each in class_map if each[0] == "access-list"]
    others = any(each[0] not in (key, "access-list", "any") for each in class_map)
    return (
        others
        or any(config.access_lists.get(each) is None for each in lists)
        or (key == "cos" and bool(lists))
    )


_OFF = Curve(False, False, None, None, None)
_ACTIONS = {"drop": "drop", "no-drop": "forward", "errdisable": "errdisable", "notify-only": "alert"}
"""The actions of EOS's PFC watchdog, in the words of the model."""


class SwitchReader:
    """Builds the switch of one EOS configuration; ports that are set identically share their QoS."""

    def __init__(self, config: EosConfig, rdma_dscps: tuple[int, ...]) -> None:
        self._config = config
        self._rdma_dscps = rdma_dscps
        self._file = Origin(config.file)
        self._built: dict[object, PortQos] = {}
        self._dscp_to_tc = self._map("dscp", len(DSCPS), 8)
        self._cos_to_tc = self._map("cos", len(PRIORITIES), 1)
        self._tc_to_queue = self._identity("tx-queue")
        dscp, cos = self._main_classification()
        self.maps = ClassMaps(dscp, cos, self._tc_to_queue)

    def switch(self) -> Switch:
        """Return the switch of the fabric model, with its ports in natural order."""
        ports = tuple(
            self._port(name) for name in sorted(self._config.interfaces, key=natural_key) if is_port(name)
        )
        named = self._config.switch.get(("hostname",))
        poll = self._config.switch.get(("watchdog", "polling-interval"))
        return plain_switch(
            named.value if named else self._config.shown,
            ports,
            WatchdogPoll(poll.value if poll else None, poll.origin if poll else self._file),
            self._rdma_dscps,
            named.origin if named else self._file,
        )

    # --- maps ---

    def _map(self, key: str, size: int, each: int) -> IndexMap:
        """Return the map of ``dscp`` or ``cos`` to traffic classes: entries, else EOS's defaults, or UNREADABLE.

        Defaults are not assumed where the text prints them (``show running-config all``).
        """
        written = {number: self._config.switch.get((key, number)) for number in range(size)}
        default = [
            CLASS_OF_COS[number // each] if self._config.complete else UNREADABLE for number in range(size)
        ]
        return self._indexed(key, [written[number] for number in range(size)], default)

    def _identity(self, key: str) -> IndexMap:
        written = [self._config.switch.get((key, number)) for number in PRIORITIES]
        return self._indexed(key, written, list(PRIORITIES))

    def _indexed(self, name: str, written: Sequence[Setting | None], default: Sequence[int]) -> IndexMap:
        targets = tuple(
            own if setting is None else setting.value for setting, own in zip(written, default, strict=True)
        )
        origins = tuple(self._file if setting is None else setting.origin for setting in written)
        return IndexMap(name, targets, self._file, origins)

    def _main_classification(self) -> tuple[IndexMap, IndexMap]:
        """Return the DSCP and CoS maps: of the most common input policy if it names marks, else of the switch."""
        bound = Counter(
            policy for name in self._config.interfaces if (policy := self._policy(self.settings_of(name)))
        )
        main = next((policy for policy, _ in bound.most_common(1)), "")
        if not names_marks(self._config, main):
            return self._dscp_to_tc, self._cos_to_tc
        return self._classified(main, "dscp"), self._classified(main, "cos")

    @staticmethod
    def _policy(settings: Settings) -> str:
        bound = settings.get(("policy",))
        return bound.value or "" if bound is not None else ""

    def _classified(self, policy: str, key: str) -> IndexMap:
        return classified(self._config, policy, key, self._dscp_to_tc if key == "dscp" else self._cos_to_tc)

    # --- ports ---

    def _port(self, name: str) -> Port:
        origin = self._config.places.get(("interface", name), self._file)
        return self._made(name, self.settings_of(name), origin)

    def _made(self, name: str, own: Settings, origin: Origin) -> Port:
        mtu, speed, up, lag = (own.get((key,)) for key in ("mtu", "speed", "up", "lag"))
        if mtu is None and self.is_routed(own):
            mtu = self._config.switch.get(("mtu",))
        return Port(
            name=name,
            speed_bps=speed.value if speed else None,
            lanes=None,
            mtu_bytes=mtu.value if mtu else UNKNOWN,
            admin_up=up is None or bool(up.value),
            leads_to=None,
            cable=Cable(UNKNOWN, None, origin),
            neighbor=None,
            qos=self._qos(own, origin),
            placed=True,
            origin=origin,
            lag=f"Port-Channel{lag.value}" if lag else None,
        )

    def rest(self) -> Port | None:
        """Return a port with defaults for all ports without lines, None if the text has no ports or is not whole."""
        if not self._config.whole or not any(map(is_port, self._config.interfaces)):
            return None
        return self._made("", {}, self._file)

    def shapers(self) -> Iterator[Shaper]:
        """Yield the shape rates of ports and of their queues."""
        for name in filter(is_port, self._config.interfaces):
            for key, setting in self.settings_of(name).items():
                if key[-1] == "shape":
                    queue = int(key[1]) if len(key) > 1 else None
                    yield Shaper(name, queue, setting.value.bps, setting.value.percent, setting.origin)

    def trust_of(self, name: str) -> str:
        """Return the mark that an interface trusts: dscp, pcp or none."""
        return {"cos": "pcp"}.get(trust := self._trust(self.settings_of(name)), trust)

    def settings_of(self, name: str) -> Settings:
        """Return the settings of an interface, its QoS profile and its port channel."""
        return self._config.settings_of(name)

    def _qos(self, settings: Settings, origin: Origin) -> PortQos:
        about = tuple(
            (key, setting) for key, setting in sorted(settings.items(), key=str) if key[0] in SHARED
        )
        trust = self._trust(settings)
        shared = (trust, tuple((key, setting.value, setting.origin.path[1:]) for key, setting in about))
        if shared not in self._built:
            self._built[shared] = self._build(settings, trust, origin)
        return self._built[shared]

    def _trust(self, settings: Settings) -> str:
        stated = settings.get(("trust",))
        return stated.value if stated else ROUTED_TRUST if self.is_routed(settings) else SWITCHED_TRUST

    def is_routed(self, settings: Settings) -> bool:
        """Return whether a port is routed: by its own line, or by that of the switch."""
        default = self._config.switch.get(("ports",))
        by_default = default is not None and default.value == "routed" and ("switched",) not in settings
        return ("routed",) in settings or by_default

    def _build(self, settings: Settings, trust: str, origin: Origin) -> PortQos:
        pfc = self._pfc(settings, origin)
        dscp, cos = self._read_marks(self._policy(settings), trust)
        return PortQos(
            dscp_to_tc=dscp,
            tc_to_queue=self._tc_to_queue,
            tc_to_pg=None,
            pfc_to_queue=self._by_class(lambda tc: self._tc_to_queue.targets[tc]),
            pfc_to_pg=self._by_class(lambda tc: tc),
            trust_dot1p=trust == "cos" and dscp is None,
            pfc=pfc,
            watchdog_mask=pfc if (watchdog := self._watchdog(settings)) else None,
            watchdog=watchdog,
            queues=tuple(self._queue(number, settings) for number in PRIORITIES),
            groups=self._groups(pfc),
            profile_lists=((), ()),
            origin=origin,
            dot1p_to_tc=cos,
        )

    def _read_marks(self, policy: str, trust: str) -> tuple[IndexMap | None, IndexMap | None]:
        """Return the DSCP and CoS maps of a port by input policy, then by trust; None for a mark that is not read."""
        dscp = self._dscp_to_tc if trust == "dscp" else None
        cos = self._cos_to_tc if trust == "cos" else None
        if not policy:
            return dscp, cos
        untrusted = (UNREADABLE,) * len(DSCPS)
        if policy not in self._config.policies:
            return self._dscp_to_tc._replace(name=policy, targets=untrusted), None
        trusted = dscp or self._dscp_to_tc._replace(targets=untrusted)
        by_dscp = classified(self._config, policy, "dscp", trusted)
        by_cos = classified(self._config, policy, "cos", cos) if cos is not None else None
        return by_dscp if dscp is not None or by_dscp.targets != untrusted else None, by_cos

    def _by_class(self, target_of: Callable[[int], int | None]) -> IndexMap:
        """Return the map of PFC priorities to queues or groups, which EOS derives from the class of each CoS."""
        classes = self._cos_to_tc.targets
        targets = tuple(tc if tc in (None, UNREADABLE) else target_of(tc) for tc in classes)
        return IndexMap("cos", targets, self._file, self._cos_to_tc.origins)

    def _pfc(self, settings: Settings, origin: Origin) -> PriorityMask:
        on = settings.get(("pfc",))
        paused = {
            number: setting
            for number in PRIORITIES
            if (setting := settings.get(("no-drop", number))) is not None and setting.value
        }
        off = self._config.switch.get(("all-off",))
        if on is None or not on.value or off is not None:
            return PriorityMask((), (off or on or Setting(None, origin)).origin)
        return PriorityMask(tuple(paused), next((s.origin for s in paused.values()), on.origin))

    def _watchdog(self, settings: Settings) -> Watchdog | None:
        """Return the PFC watchdog of a port: own timers, else the switch's; None if it is off or has no timeout."""
        off = settings.get(("watchdog",))
        timeout = self._watched(settings, "timeout")
        if timeout is None or (off is not None and not off.value):
            return None
        recovery, action = self._watched(settings, "recovery-time"), self._watched(settings, "action")
        action = self._config.switch.get(("watchdog", "override")) or action
        forced = settings.get(("watchdog", "forced"))
        is_forced = forced is not None and bool(forced.value)
        return Watchdog(
            detection_ms=timeout.value,
            restoration_ms=recovery.value if recovery else None,
            action=_ACTIONS[action.value] if action else "not stated",
            origin=timeout.origin,
            recovery="unknown" if recovery is None else "fixed" if is_forced else "quiet",
        )

    def _watched(self, settings: Settings, key: str) -> Setting | None:
        return settings.get(("watchdog", key)) or self._config.switch.get(("watchdog", key))

    def _groups(self, pfc: PriorityMask) -> tuple[PriorityGroup | None, ...]:
        """Return a priority group, whose headroom the chip computes, for the class of each no-drop priority."""
        classes = {self._cos_to_tc.targets[priority] for priority in pfc.priorities}
        groups = (PriorityGroup(number, None, generated=True, origin=pfc.origin) for number in PRIORITIES)
        return tuple(group if group.number in classes else None for group in groups)

    def _queue(self, number: int, settings: Settings) -> Queue | None:
        opened = settings.get(("queue", number)) or settings.get(("ecn",))
        if opened is None:
            return None
        return Queue(
            number=number,
            scheduler=_scheduler(number, settings, opened.origin),
            wred=_wred(number, settings),
            buffer=None,
            origin=opened.origin,
        )


def is_port(name: str) -> bool:
    """Return whether an interface is a port of the chip: ``Ethernet1/1``, shortened too."""
    return name.lower().startswith("et")


def _scheduler(number: int, settings: Settings, origin: Origin) -> Scheduler | None:
    strict, percent = (settings.get(("queue", number, key)) for key in ("strict", "percent"))
    if strict is not None and strict.value:
        return Scheduler(f"tx-queue {number}", "STRICT", None, strict.origin)
    if strict is None and percent is None:
        return None
    return Scheduler(
        f"tx-queue {number}",
        "DWRR",
        percent.value if percent else None,
        (percent or strict or (None, origin))[1],
    )


def _wred(number: int, settings: Settings) -> Wred | None:
    """Return the curve by which a queue or its port marks, else the one by which the queue drops; None without both."""
    ecn = settings.get(("queue", number, "ecn")) or settings.get(("ecn",))
    marks = ecn is not None and ecn.value is not None
    stated = ecn if marks else settings.get(("queue", number, "drop"))
    if stated is None:
        return None
    thresholds: EcnThresholds = stated.value
    curve = Curve(True, marks, thresholds.min_bytes, thresholds.max_bytes, thresholds.probability_percent)
    return Wred(f"tx-queue {number}", curve, _OFF, _OFF, stated.origin)


CLASS_OF_COS = (1, 0, 2, 3, 4, 5, 6, 7)
"""The traffic class of each CoS, and of each eighth of the DSCPs."""
ROUTED_TRUST, SWITCHED_TRUST = "dscp", "cos"
"""The mark that a port trusts by default. Ports are switched unless ``switchport default mode routed`` is set (EOS 4.18
and later), and a switched port is an access port of VLAN 1 unless a line makes it a trunk: it gets no tags."""


_TIMEOUT_MS = range(10, 60_000 + 1)
_POLL_MS = range(5, 30_000 + 1)
_QUEUES = range(8)


def refusals(config: EosConfig) -> Iterator[RefusedSetting]:
    """Yield the settings of a switch that EOS refuses, or that have another effect than their words suggest."""
    for origin, text in config.impossible:
        yield RefusedSetting(
            f"{text!r} is out of range",
            "classes, queues and priorities are 0 to 7, DSCPs 0 to 63, and times are in seconds",
            "",
            origin,
        )
    for text, (origin, meant) in {text: (at, meant) for at, text, meant in reversed(config.refused)}.items():
        yield RefusedSetting(f"{text!r} is no command of EOS", "it sets nothing", meant, origin)
    off = config.switch.get(("all-off",))
    if off is not None and any(_pauses(s) for s in (*config.profiles.values(), *config.interfaces.values())):
        yield RefusedSetting(
            "priority-flow-control all off is set",
            "it overrides the PFC of every port, and nothing is paused",
            "no priority-flow-control all off",
            off.origin,
        )
    yield from _not_on(config)
    yield from _paused_by_link(config)
    yield from _rewrites(config)
    yield from _unmatched(config)
    yield from _timers(config.switch)
    for settings in (*config.profiles.values(), *config.interfaces.values()):
        yield from _timers({**config.switch, **settings}, own=settings)
        yield from _curves(settings)
        yield from _shares(settings)


def _pauses(settings: Settings) -> bool:
    on = settings.get(("pfc",))
    return on is not None and bool(on.value)


def _not_on(config: EosConfig) -> Iterator[RefusedSetting]:
    """Yield priorities that are no-drop at ports that are up, without a line that turns PFC on or off."""
    lines: dict[Origin, list[str]] = {}
    for name in config.interfaces:
        settings = config.settings_of(name)
        no_drop = [s for key, s in settings.items() if key[0] == "no-drop" and s.value]
        up = settings.get(("up",))
        if no_drop and ("pfc",) not in settings and config.complete and (up is None or up.value):
            lines.setdefault(no_drop[0].origin, []).append(name)
    for origin, names in lines.items():
        yield RefusedSetting(
            f"a priority is no-drop at {joined(names, 4)}, and PFC is not on there",
            "without its line PFC is off, and the line of the priority has no effect",
            "priority-flow-control on",
            origin,
            tuple(names),
        )


def _paused_by_link(config: EosConfig) -> Iterator[RefusedSetting]:
    """Yield link-level flow control at ports with PFC, the ports of one line together; none with all PFC off."""
    lines: dict[Origin, list[str]] = {}
    for name in config.interfaces:
        settings = config.settings_of(name)
        on = [
            s for way in ("send", "receive") if (s := settings.get(("flowcontrol", way))) and s.value == "on"
        ]
        if on and _pauses(settings) and ("all-off",) not in config.switch:
            lines.setdefault(on[0].origin, []).append(name)
    for origin, names in lines.items():
        yield RefusedSetting(
            f"link-level flow control is on beside PFC at {joined(names, 4)}",
            "a pause of the link stops all classes, the lossy ones too",
            "flowcontrol receive off, and flowcontrol send off",
            origin,
            tuple(names),
        )


def _rewrites(config: EosConfig) -> Iterator[RefusedSetting]:
    """Yield maps that write DSCPs while rewriting is off, as it is without its line.

    Such a line may be meant to classify packets: the map from DSCPs to traffic classes has the same words in another
    order.
    """
    if ("rewrites",) in config.switch or not config.complete:
        return
    for key, setting in config.switch.items():
        if key[:2] == ("rewrite", "dscp"):
            yield RefusedSetting(
                f"traffic-class {key[2]} is to write DSCP {setting.value}, and 'qos rewrite dscp' is not set",
                f"it writes nothing, and does not say which class DSCP {setting.value} belongs to",
                f"qos map dscp {setting.value} to traffic-class {key[2]}, where that is meant",
                setting.origin,
            )


def _unmatched(config: EosConfig) -> Iterator[RefusedSetting]:
    """Yield classes that set a traffic class and whose class map has no match."""
    for classes in config.policies.values():
        for name, settings in classes.items():
            target = settings.get(("traffic-class",))
            if target is not None and target.value is not None and config.class_maps.get(name) == {}:
                yield RefusedSetting(
                    f"class map {name} has no match line",
                    f"no mark leads to traffic-class {target.value}, which the class sets",
                    f"match dscp 26 in class-map type qos match-any {name}",
                    target.origin,
                )


def _timers(settings: Settings, own: Settings | None = None) -> Iterator[RefusedSetting]:
    own = settings if own is None else own
    for name, limits in (
        ("timeout", _TIMEOUT_MS),
        ("recovery-time", _TIMEOUT_MS),
        ("polling-interval", _POLL_MS),
    ):
        setting = own.get(("watchdog", name))
        if setting is not None and setting.value not in limits:
            least, most = limits[0] / 1000, limits[-1] / 1000
            yield RefusedSetting(
                f"the watchdog's {name} is {setting.value / 1000:g} s",
                f"EOS takes {least:g} to {most:g} s",
                f"set a {name} within that range",
                setting.origin,
            )
    poll = settings.get(("watchdog", "polling-interval"))
    timers = [
        t for name in ("timeout", "recovery-time") if (t := settings.get(("watchdog", name))) is not None
    ]
    if poll is None or not timers or not any(t.value < 2 * poll.value for t in timers):
        return
    if any(("watchdog", name) in own for name in ("timeout", "recovery-time", "polling-interval")):
        shortest = min(t.value for t in timers)
        yield RefusedSetting(
            f"the watchdog's polling interval is {poll.value / 1000:g} s, and its shortest timer {shortest / 1000:g} s",
            "the polling interval may be half of the timeout and of the recovery time at most",
            f"set a polling interval of {shortest / 2000:g} s or less",
            poll.origin,
        )


def _curves(settings: Settings) -> Iterator[RefusedSetting]:
    for number in _QUEUES:
        setting = settings.get(("queue", number, "ecn"))
        if setting is None or not isinstance(setting.value, EcnThresholds):
            continue
        low, high, percent = setting.value
        if low is not None and high is not None and low > high:
            yield RefusedSetting(
                f"the minimum threshold of tx-queue {number} is {low:,} B, its maximum {high:,} B",
                "a curve cannot end before it begins",
                "exchange the thresholds",
                setting.origin,
            )
        if percent is not None and percent > 100:
            yield RefusedSetting(
                f"the mark probability of tx-queue {number} is {percent} %",
                "EOS takes 1 to 100",
                "",
                setting.origin,
            )


def _shares(settings: Settings) -> Iterator[RefusedSetting]:
    shares = {n: s for n in _QUEUES if (s := settings.get(("queue", n, "percent"))) is not None}
    total = sum(share.value for share in shares.values())
    if total > 100:
        last = shares[max(shares)]
        yield RefusedSetting(
            f"the bandwidth of queues {', '.join(map(str, shares))} adds up to {total} %",
            "shares of one port cannot exceed 100 %",
            "lower them to 100 % together",
            last.origin,
        )
