"""Settings that NX-OS refuses, or accepts without the intended effect: of policies, of ports and of the switch.

In policies these are buffers, MTUs, shares and curves. Headroom: the bytes under way when a pause is sent are at
least one frame of the largest class, which the pause waits for, and one of its own class at the other end (IEEE
802.1Q-2022, annex on the buffer requirements of PFC).

Sources: Cisco-NX-OS-device.yang 9.3(1) of ydk-models-cisco-nx-os 9.3.1 (``disableAction``, ``overrideInterface``) and
the configurations that :mod:`lossless.formats.switches.nxos.read.grammar` names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.switches.nxos.read.grammar import DEFAULT_CLASS, NETWORK, QOS, QUEUING, PauseBuffer
from lossless.formats.switches.nxos.session import CLASS_MTU_BYTES, qos_group
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.units import joined
from lossless.model.fabric.configured_switch import RefusedSetting
from lossless.model.fabric.qos import PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.formats.switches.nxos.read.grammar import (
        Classes,
        Key,
        NxosConfig,
        NxosSetting,
        RandomDetect,
        Settings,
    )
    from lossless.formats.switches.nxos.to_model import NoDrop, NxosSwitch
    from lossless.ground.basics.findings import Origin


_WHOLE = 100
_SHARES = {"percent": "bandwidth percent", "remaining": "bandwidth remaining percent"}
_EIGHT_QUEUES = re.compile(r"c-out-8q-q.+")
_LARGEST_ROCE_BYTES = 4096
"""The largest MTU of RDMA, without the headers around it (InfiniBand Architecture Specification, path MTU)."""


def policy_refusals(config: NxosConfig, reader: NxosSwitch) -> Iterator[RefusedSetting]:
    """Yield settings of policy maps that are invalid, or have another effect than their words suggest."""
    for group, no_drop in reader.no_drop.items():
        yield from _without_traffic(config, group, no_drop)
        yield from _smaller_frames(reader, no_drop)
        yield from _received_only(no_drop)
    for (kind, name), policy in config.policies.items():
        for cls, settings in policy.below.items():
            yield from _buffer(config, reader, cls, settings)
            yield from _curve(cls, settings)
            if kind == QOS:
                yield from _policed(reader, cls, settings)
                yield from _unmatched(config, cls, settings)
        if kind == QUEUING:
            yield from _Shares(config, reader, name, policy).refusals()


def _without_traffic(config: NxosConfig, group: int, no_drop: NoDrop) -> Iterator[RefusedSetting]:
    """Yield a no-drop class without a policy map of type qos that leads to it; a part of a text may have none."""
    policies = [policy for (kind, _), policy in config.policies.items() if kind == QOS]
    groups = {s.value for each in policies for row in each.below.values() if (s := row.get(("qos-group",)))}
    if policies and group and group not in groups:
        yield RefusedSetting(
            f"class {no_drop.name} is no-drop, and no class of a policy map of type qos sets qos-group {group}",
            "no packet is in the class, and RDMA has another one",
            f"set qos-group {group} for the class of RDMA",
            no_drop.origin,
        )


def _mtus(reader: NxosSwitch) -> dict[str, int]:
    """Return the MTU of each class of the bound network-qos policy, NX-OS's default where it sets none."""
    bound = reader.policy_of({}, NETWORK, "")
    classes = bound.policy.below if bound and bound.policy else {}
    return {cls: s.value if (s := row.get(("mtu",))) else CLASS_MTU_BYTES for cls, row in classes.items()}


def _smaller_frames(reader: NxosSwitch, no_drop: NoDrop) -> Iterator[RefusedSetting]:
    mtus = _mtus(reader)
    own, (largest, other) = mtus[no_drop.name], max((mtu, cls) for cls, mtu in mtus.items())
    if own >= largest:
        return
    stated = no_drop.settings.get(("mtu",))
    fits = "" if own > _LARGEST_ROCE_BYTES else f", and an RDMA MTU of {_LARGEST_ROCE_BYTES:,} does not fit"
    yield RefusedSetting(
        f"the MTU of no-drop class {no_drop.name} is {own:,} B, that of {other} {largest:,} B",
        f"larger frames of RDMA are dropped{fits}",
        f"mtu {largest} in class type network-qos {no_drop.name}",
        stated.origin if stated else no_drop.origin,
    )


def default_mtus(reader: NxosSwitch) -> Iterator[str]:
    """Yield a note on each no-drop class with the largest MTU of all classes where that is 4,096 B at most.

    The platform decides what such an MTU does.
    """
    mtus = _mtus(reader)
    for no_drop in reader.no_drop.values():
        if mtus[no_drop.name] == max(mtus.values()) <= _LARGEST_ROCE_BYTES:
            yield f"class {no_drop.name} has an MTU of {mtus[no_drop.name]:,} B, whose effect is the platform's"


def _received_only(no_drop: NoDrop) -> Iterator[RefusedSetting]:
    receive = no_drop.settings.get(("receive",))
    if receive is not None:
        yield RefusedSetting(
            f"class {no_drop.name} obeys pauses and sends none",
            "what arrives here is lossy",
            "leave out receive",
            receive.origin,
            lossy=True,
        )


def _buffer(config: NxosConfig, reader: NxosSwitch, cls: str, settings: Settings) -> Iterator[RefusedSetting]:
    stated = settings.get(("buffer",))
    if stated is None:
        return
    buffer: PauseBuffer = stated.value
    room_bytes = buffer.size_bytes - buffer.pause_bytes
    need_bytes = _in_flight_bytes(config, reader, cls)
    if buffer.resume_bytes > buffer.pause_bytes:
        yield RefusedSetting(
            f"class {cls} resumes at {buffer.resume_bytes:,} B, and pauses at {buffer.pause_bytes:,} B",
            "the pause would end before it begins",
            "set a resume-threshold of at most the pause-threshold",
            stated.origin,
        )
    if room_bytes < need_bytes:
        yield RefusedSetting(
            f"the pause buffer of class {cls} has {room_bytes:,} B above its pause-threshold",
            f"frames that are under way when it pauses take {need_bytes:,} B, and more on a long cable",
            "raise buffer-size, or lower pause-threshold",
            stated.origin,
            lossy=cls in {no_drop.name for no_drop in reader.no_drop.values()},
        )


def _in_flight_bytes(config: NxosConfig, reader: NxosSwitch, cls: str) -> int:
    """Return the size of two frames: the largest of any class, and the largest of the class that is paused."""
    mtus = _mtus(reader)
    groups = {qos_group(config, NETWORK, name): mtu for name, mtu in mtus.items()}
    group = next((g for kind in (QUEUING, NETWORK) if (g := qos_group(config, kind, cls)) is not None), None)
    return max(mtus.values(), default=CLASS_MTU_BYTES) + groups.get(group, CLASS_MTU_BYTES)


def _curve(cls: str, settings: Settings) -> Iterator[RefusedSetting]:
    stated = settings.get(("ecn",))
    if stated is None or stated.value is None:
        return
    marking: RandomDetect = stated.value
    low, high = marking.min_bytes, marking.max_bytes
    if low is not None and high is not None and low > high:
        yield RefusedSetting(
            f"the minimum threshold of class {cls} is {low:,} B, its maximum {high:,} B",
            "a curve cannot end before it begins",
            "exchange the thresholds",
            stated.origin,
        )


def _policed(reader: NxosSwitch, cls: str, settings: Settings) -> Iterator[RefusedSetting]:
    police, group = settings.get(("police",)), settings.get(("qos-group",))
    if police is not None and (group.value if group else 0) in reader.no_drop:
        yield RefusedSetting(
            f"class {cls} of no-drop qos-group {group.value if group else 0} is policed",
            "a policer drops what exceeds its rate, and PFC cannot prevent it",
            "leave out police",
            police.origin,
        )


def _unmatched(config: NxosConfig, cls: str, settings: Settings) -> Iterator[RefusedSetting]:
    """Yield a class that sets a qos-group and whose class map has no match."""
    class_map, group = config.class_maps.get((QOS, cls)), settings.get(("qos-group",))
    if (
        cls == DEFAULT_CLASS
        or class_map is None
        or group is None
        or any(key[0] != "any" for key in class_map)
    ):
        return
    yield RefusedSetting(
        f"class map {cls} has no match line",
        f"no mark leads to qos-group {group.value}, which the class sets",
        f"match dscp 26, or match cos 3, in class-map type qos {cls}",
        config.places[f"class-map type {QOS}", cls],
    )


class _Shares:
    """The shares of a queuing policy: ``bandwidth percent`` of the link, and of the rest (``remaining``)."""

    def __init__(self, config: NxosConfig, reader: NxosSwitch, name: str, policy: Classes) -> None:
        self._config = config
        self._reader = reader
        self._name = name
        self._policy = policy
        self._of = {
            key: {cls: s.value for cls, row in policy.below.items() if (s := row.get((key,))) is not None}
            for key in _SHARES
        }

    def refusals(self) -> Iterator[RefusedSetting]:
        """Yield the invalid shares of the policy.

        They are more than 100 % together, 0 % for a no-drop class or for all classes, or leave queues without a share.
        """
        over = [
            (words, total)
            for key, words in _SHARES.items()
            if (total := sum(self._of[key].values())) > _WHOLE
        ]
        for words, total in over:
            yield self._refusal(
                f"{words} of the classes of {self._name} adds up to {total} %",
                "shares of one port cannot exceed 100 %",
                "lower them to 100 % together",
            )
        if not over:
            yield from self._nothing_left()

    def _nothing_left(self) -> Iterator[RefusedSetting]:
        shares = {**self._of["percent"], **self._of["remaining"]}
        strict = [cls for cls, row in self._policy.below.items() if ("priority",) in row]
        if len(shares) > 1 and not any(shares.values()) and not strict:
            yield self._refusal(
                f"every class of {self._name} has a share of 0 %",
                "no class is guaranteed anything, the no-drop ones neither",
                "give the no-drop class half: bandwidth remaining percent 50",
            )
            return
        for cls in (cls for cls, share in shares.items() if not share and any(shares.values())):
            if qos_group(self._config, QUEUING, cls) in self._reader.no_drop and cls not in strict:
                yield self._refusal(
                    f"no-drop class {cls} of {self._name} has a share of 0 %",
                    "it sends what the others leave, and pauses its senders meanwhile",
                    f"bandwidth remaining percent 50 in class type queuing {cls}",
                )
        yield from self._unnamed(sum(shares.values()))

    def _unnamed(self, total: int) -> Iterator[RefusedSetting]:
        """Yield a refusal if a policy of eight queues gives all bandwidth away and leaves queues out."""
        if total < _WHOLE or not any(map(_EIGHT_QUEUES.fullmatch, self._policy.below)):
            return
        named = {qos_group(self._config, QUEUING, cls) for cls in self._policy.below}
        left = [f"c-out-8q-q{n or '-default'}" for n in PRIORITIES if n not in named]
        if left:
            yield self._refusal(
                f"{self._name} gives {total} % away, and leaves {joined(left, 4)} out",
                "a queue without a line keeps a share of its own, so that the stated ones are less than they say",
                "bandwidth remaining percent 0 for each queue that is not used",
            )

    def _refusal(self, what: str, why: str, remedy: str) -> RefusedSetting:
        return RefusedSetting(what, why, remedy, self._policy.origin)


_WATCHDOG = "priority-flow-control watch-dog-interval on"
_MODES = {
    "auto": "PFC runs only if the DCBX of the peer agrees",
    "off": "what it classifies as lossless is dropped there under congestion",
}
"""The effects of the modes of PFC that do not turn it on."""
_VALUES = (
    "qos-groups, CoS and queues are 0 to 7, DSCPs 0 to 63, shares and probabilities 0 to 100 %, priority levels "
    "1 to 8, the MTU of a class 576 to 9,216, buffers 5,000 B and more"
)


def refusals(config: NxosConfig, reader: NxosSwitch) -> Iterator[RefusedSetting]:
    """Yield settings that NX-OS refuses, or that have another effect than their words suggest."""
    for origin, text in config.impossible:
        yield RefusedSetting(f"{text!r} has a value out of range", _VALUES, "", origin)
    for origin, text, meant in config.refused:
        yield RefusedSetting(f"{text!r} is no command of NX-OS", "it sets nothing", meant, origin)
    ports = _PortRefusals(config, reader)
    yield from ports.overridden()
    yield from ports.watched_by_ports_alone()
    yield from ports.watched_without_pfc()
    yield from ports.only_logged()
    if reader.no_drop:
        yield from ports.not_on()
        yield from ports.stormy()
        yield from ports.paused_by_link()
    yield from policy_refusals(config, reader)


class _PortRefusals:
    """Refused settings of ports that are not shut down, including those of profiles and port channels."""

    def __init__(self, config: NxosConfig, reader: NxosSwitch) -> None:
        self._config = config
        self._reader = reader
        settings = {port: reader.settings_of(port) for port in reader.ports()}
        self._ports = {
            port: own for port, own in settings.items() if (up := own.get(("up",))) is None or up.value
        }

    def _with(self, key: Key, *values: object) -> dict[str, NxosSetting]:
        """Return the setting of a key by port, where its value is among ``values``."""
        stated = {port: own[key] for port, own in self._ports.items() if key in own}
        return {port: setting for port, setting in stated.items() if setting.value in values}

    def _mode(self, port: str) -> str:
        return self._reader.mode(self._ports[port])

    def overridden(self) -> Iterator[RefusedSetting]:
        """Yield a refusal of the line that turns the PFC of all ports off, if a port has PFC on or auto."""
        off, on = self._config.switch.get(("override",)), self._with(("pfc",), "on", "auto")
        if off is not None and on:
            yield RefusedSetting(
                "priority-flow-control override-interface mode off is set",
                "it overrides the PFC of every port, and nothing is paused",
                "no priority-flow-control override-interface mode off",
                off.origin,
                tuple(on),
            )

    def watched_by_ports_alone(self) -> Iterator[RefusedSetting]:
        """Yield the first line of a port's watchdog where the switch has none."""
        switch, watched = self._config.switch.get(("watchdog",)), self._with(("watchdog",), True)
        said = self._config.says_watchdog and not self._config.is_part
        if said and watched and (switch is None or not switch.value):
            for where, origin, ports in _gathered(watched, apart=False):
                yield RefusedSetting(
                    f"the PFC watchdog is on at {where}, and not on the switch",
                    "it needs the line of the switch too, and watches nothing without it",
                    f"before the interfaces: {_WATCHDOG}",
                    origin,
                    ports,
                )

    def watched_without_pfc(self) -> Iterator[RefusedSetting]:
        """Yield lines of watchdogs at ports that have no PFC."""
        if ("override",) in self._config.switch:
            return
        watched = self._with(("watchdog",), True)
        off = [port for port in watched if self._mode(port) == "off" or ("pfc",) not in self._ports[port]]
        for where, origin, ports in _gathered({port: watched[port] for port in off}):
            yield RefusedSetting(
                f"the PFC watchdog is on at {where}, and PFC is not",
                "it watches queues that PFC can stop",
                "priority-flow-control mode on",
                origin,
                ports,
            )

    def only_logged(self) -> Iterator[RefusedSetting]:
        """Yield watchdogs that only write a message."""
        for where, origin, ports in _gathered(self._with(("log-only",), True)):
            yield RefusedSetting(
                f"the PFC watchdog of {where} has disable-action",
                "a stuck queue is written to the log, and nothing ends the storm",
                _WATCHDOG,
                origin,
                ports,
            )

    def not_on(self) -> Iterator[RefusedSetting]:
        """Yield ports with PFC off or auto and a policy of their own; others too if no port has PFC on."""
        if ("override",) in self._config.switch:
            return
        nowhere, stated = not self._reader.anywhere_on, False
        for mode, why in _MODES.items():
            lines = self._with(("pfc",), mode)
            classifying = {
                p: s for p, s in lines.items() if nowhere or ("policy", QOS, "input") in self._ports[p]
            }
            stated = stated or bool(classifying)
            for where, origin, ports in _gathered(classifying):
                what = f"a class is no-drop, and PFC is {mode} at {where}"
                yield RefusedSetting(what, why, "priority-flow-control mode on", origin, ports)
        if self._ports and nowhere and not stated:
            no_drop = next(iter(self._reader.no_drop.values()))
            yield RefusedSetting(
                f"class {no_drop.name} is no-drop, and no interface has PFC on",
                f"without a line its mode is auto: {_MODES['auto']}",
                "below each interface: priority-flow-control mode on",
                no_drop.origin,
                tuple(self._ports),
            )

    def stormy(self) -> Iterator[RefusedSetting]:
        """Yield storm control of unicast below 100 % at ports with PFC."""
        stated = {port: own[("storm",)] for port, own in self._ports.items() if ("storm",) in own}
        limited = {p: s for p, s in stated.items() if s.value < 100 and self._mode(p) == "on"}
        for where, origin, ports in _gathered(limited):
            yield RefusedSetting(
                f"storm control drops unicast above {limited[ports[0]].value:g} % of the rate of {where}",
                "that drops packets of a no-drop class, which PFC cannot prevent",
                "no storm-control unicast level",
                origin,
                ports,
            )

    def paused_by_link(self) -> Iterator[RefusedSetting]:
        """Yield link-level flow control at ports with PFC."""
        lines = {**self._with(("flowcontrol", "send"), "on"), **self._with(("flowcontrol", "receive"), "on")}
        for where, origin, ports in _gathered({p: s for p, s in lines.items() if self._mode(p) == "on"}):
            yield RefusedSetting(
                f"link-level flow control is on beside PFC at {where}",
                "a pause of the link stops all classes, the lossy ones too",
                "flowcontrol receive off, and flowcontrol send off",
                origin,
                ports,
            )


def _gathered(
    lines: Mapping[str, NxosSetting], *, apart: bool = True
) -> Iterator[tuple[str, Origin, tuple[str, ...]]]:
    """Yield groups of ports with one value, as text, with a line and their names; a port profile is its own group.

    The setting of a profile is reported once for all its ports. With ``apart`` False ports are grouped by value alone,
    and the line of a profile is shown where one of them has its value from it.
    """
    profiles = {s.origin for s in lines.values() if str(s.origin.path[:1]).startswith("('port-profile ")}
    same = grouped(
        ((s.value, s.origin if apart and s.origin in profiles else None), port) for port, s in lines.items()
    )
    for ports in same.values():
        shown = next((lines[p].origin for p in ports if lines[p].origin in profiles), lines[ports[0]].origin)
        yield joined(ports, 4), shown, tuple(ports)
