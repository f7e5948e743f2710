"""Settings in NX-OS policies without the intended effect: buffers, MTUs, shares, curves.

Headroom: the bytes under way when a pause is sent are at least one frame of the largest class, which the pause waits
for, and one of its own class at the other end (IEEE 802.1Q-2022, annex on the buffer requirements of PFC).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.switches.nxos.defaults import CLASS_MTU_BYTES
from lossless.formats.switches.nxos.names import qos_group
from lossless.formats.switches.nxos.read.rows import DEFAULT_CLASS, NETWORK, QOS, QUEUING, PauseBuffer
from lossless.ground.basics.wording import joined
from lossless.model.fabric.configured_switch import RefusedSetting
from lossless.model.fabric.qos import PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.switches.nxos.read.rows import Classes, NxosConfig, RandomDetect, Settings
    from lossless.formats.switches.nxos.to_model.switch import NoDrop, NxosSwitch

_WHOLE = 100
_SHARES = {"percent": "bandwidth percent", "remaining": "bandwidth remaining percent"}
_EIGHT_QUEUES = re.compile(r"c-out-8q-q.+")
_LARGEST_ROCE_BYTES = 4096
"""The largest MTU of RDMA, without the headers around it (InfiniBand Architecture Specification, path MTU)."""


def policy_refusals(config: NxosConfig, reader: NxosSwitch) -> Iterator[RefusedSetting]:
    """Yield settings of policies that are invalid, or have another effect than their words suggest."""
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
    """Return the MTU of each class of the network-qos policy in effect; without one NX-OS has its own."""
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
    """Yield the no-drop classes without an MTU, if no class has a larger one and so no other finding exists."""
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
    """The shares of a queuing policy: ``bandwidth percent`` of the link, ``bandwidth remaining percent`` of it."""

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
        """Yield the shares of the policy that are invalid."""
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
        """Yield that queues are left out of a policy that gives all bandwidth away."""
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
