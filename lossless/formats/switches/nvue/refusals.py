"""Settings that NVUE refuses, or accepts without the intended effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.switches.nvue.grammar import PROFILED
from lossless.ground.basics.wording import joined
from lossless.model.fabric.configured_switch import RefusedSetting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.formats.switches.nvue.read.tree import Node
    from lossless.formats.switches.nvue.to_model.switch import NvueSwitch
    from lossless.ground.basics.findings import Origin

_FRAME_BYTES = 1500
"""The payload of the smallest frame that a port may be set to in earnest: less headroom cannot hold one."""


def refusals(reader: NvueSwitch) -> Iterator[RefusedSetting]:
    """Yield settings that NVUE refuses, or that have another effect than their words suggest."""
    ports = reader.tree.all("interface")
    yield from _on_members(ports)
    yield from _without_profile(ports)
    yield from _unpaused_watchdogs(reader, reader.interfaces)
    yield from _paused_by_link(reader, reader.interfaces)
    yield from _small_headroom(reader)
    yield from _curves(reader)
    yield from _quota(reader)
    yield from _one_sided(reader)


def _on_members(ports: Mapping[str, Node]) -> Iterator[RefusedSetting]:
    members = {name for port in ports.values() if (rows := port.at("bond", "member")) for name in rows.below}
    refused: dict[Origin, list[str]] = {}
    for name in sorted(members):
        qos = ports[name].at("qos") if name in ports else None
        kinds = [kind for kind in (qos.below if qos is not None else {}) if kind != "pfc-watchdog"]
        if qos is not None and kinds:
            refused.setdefault(qos.origin_of(kinds[0], "profile"), []).append(name)
    for origin, names in refused.items():
        yield RefusedSetting(
            f"QoS is set on {joined(names, 4)}: {'a member' if len(names) == 1 else 'members'} of a bond",
            "NVUE refuses it there",
            "set it on the bond",
            origin,
            tuple(names),
        )


def _without_profile(ports: Mapping[str, Node]) -> Iterator[RefusedSetting]:
    """Yield the names of profiles that follow the kind at once, as examples of early guides have them."""
    refused: dict[tuple[Origin, str, str], list[str]] = {}
    for port, node in ports.items():
        for kind in PROFILED:
            own = node.at("qos", kind)
            for word, name in (own.below if own is not None else {}).items():
                if word != "profile":
                    refused.setdefault((name.origin, kind, word), []).append(port)
    for (origin, kind, stated), names in refused.items():
        yield RefusedSetting(
            f"qos {kind} {stated} of {joined(names, 4)} has no word 'profile'",
            "NVUE refuses it, and the ports keep the profile that they had",
            f"nv set interface {names[0]} qos {kind} profile {stated}",
            origin,
            tuple(names),
        )


def _unpaused_watchdogs(reader: NvueSwitch, ports: Mapping[str, Node]) -> Iterator[RefusedSetting]:
    idle: dict[Origin, list[str]] = {}
    for name, port in ports.items():
        watchdog = reader.watchdog_of(port)
        pauses = reader.pfc_of(port, port.origin).priorities or port.at("qos", "link-pause") is not None
        if watchdog is not None and not pauses:
            idle.setdefault(watchdog.origin, []).append(name)
    for origin, names in idle.items():
        yield RefusedSetting(
            f"the PFC watchdog is on at {joined(names, 4)}, without PFC or link pause",
            "NVUE takes it with one of these alone",
            "turn PFC on, with qos roce or a PFC profile",
            origin,
            tuple(names),
        )


def _paused_by_link(reader: NvueSwitch, ports: Mapping[str, Node]) -> Iterator[RefusedSetting]:
    """Yield ports with a profile of link pause that pause priorities too."""
    paused: dict[Origin, list[str]] = {}
    for name, port in ports.items():
        profile = port.value("qos", "link-pause", "profile")
        if profile is not None and reader.pfc_of(port, port.origin).priorities:
            paused.setdefault(port.origin_of("qos", "link-pause", "profile"), []).append(name)
    for origin, names in paused.items():
        yield RefusedSetting(
            f"link pause is set beside PFC at {joined(names, 4)}",
            "NVUE takes one of both for a port; a pause of the link stops all classes",
            f"nv unset interface {names[0]} qos link-pause",
            origin,
            tuple(names),
        )


def _small_headroom(reader: NvueSwitch) -> Iterator[RefusedSetting]:
    for name, profile in (reader.pfc_profiles.below if reader.pfc_profiles is not None else {}).items():
        size, xoff = profile.number("port-buffer"), profile.number("xoff-threshold")
        room = None if size is None else size - (xoff or 0)
        if room is not None and room < _FRAME_BYTES:
            yield RefusedSetting(
                f"PFC profile {name} leaves {room:,} B of port buffer above XOFF",
                "that cannot hold one frame, and what arrives after the pause is dropped",
                "leave port-buffer out, and state the cable length",
                profile.origin_of("port-buffer"),
                users := reader.users_of(name),
                bool(users),
            )


def _curves(reader: NvueSwitch) -> Iterator[RefusedSetting]:
    profiles = reader.tree.at("qos", "congestion-control")
    for name, profile in (profiles.below if profiles is not None else {}).items():
        classes = profile.at("traffic-class")
        for number, row in (classes.below if classes is not None else {}).items():
            low, high = row.number("min-threshold"), row.number("max-threshold")
            if low is not None and high is not None and low > high:
                yield RefusedSetting(
                    f"the minimum threshold of traffic class {number} in {name} is {low:,} B, its maximum {high:,} B",
                    "a curve cannot end before it begins",
                    "exchange the thresholds",
                    row.origin_of("min-threshold"),
                )


def _quota(reader: NvueSwitch) -> Iterator[RefusedSetting]:
    buffer = reader.tree.at("qos", "advance-buffer-config", "default-global", "egress-lossless-buffer")
    quota = buffer.number("shared-bytes") if buffer is not None else None
    if buffer is not None and quota is not None:
        yield RefusedSetting(
            f"the lossless egress buffer is limited to {quota:,} B",
            "a lossless class that reaches a limit at the egress drops",
            "leave the lossless egress buffer without a limit",
            buffer.origin_of("shared-bytes"),
        )


def _one_sided(reader: NvueSwitch) -> Iterator[RefusedSetting]:
    for name, profile in (reader.pfc_profiles.below if reader.pfc_profiles is not None else {}).items():
        sends, obeys = (profile.value(word) not in ("disable", "off") for word in ("tx", "rx"))
        if profile.at("switch-priority") is None or sends == obeys:
            continue
        what, why = ("sent and not obeyed", "rx") if sends else ("obeyed and not sent", "tx")
        yield RefusedSetting(
            f"by PFC profile {name} pauses are {what}",
            "one direction of the link is then lossy",
            f"nv set qos pfc {name} {why} enable",
            profile.origin_of(why),
            users := reader.users_of(name),
            bool(users),
        )
