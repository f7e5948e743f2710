"""Settings that EOS refuses, or accepts without the intended effect. pyavd 6.4.0 validates none of it.

Ranges: timeout and recovery time 0.01 to 60 s, polling interval 0.005 to 30 s and at most half of the smaller of both
(SongKou/songkou.github.io content/posts/arista-eos-roce-config.md @0c73d9a, quoting the manual of EOS; pyavd 6.4.0 has
the same as text). DSCPs are written again by ``qos rewrite dscp`` alone: without it pyavd documents that as disabled.

Defaults of EOS for settings without a line.

Sources: Arista, EOS User Manual, "Quality of Service" (as SongKou/songkou.github.io
content/posts/arista-eos-roce-config.md @0c73d9a quotes it) and "VLANs"; Arista, AI Network Fabric Deployment Guide (CS3
has traffic class 3 without a line).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.switches.eos.read.grammar import EcnThresholds
from lossless.ground.basics.wording import joined
from lossless.model.fabric.configured_switch import RefusedSetting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.switches.eos.read.grammar import EosConfig, Settings
    from lossless.ground.basics.findings import Origin


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
    """Yield priorities that are no-drop at ports without a line that turns PFC on or off, by their lines."""
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
    """Yield link-level flow control at ports with PFC, the ports of one line together."""
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

    Most are attempts at classification: a map of DSCPs has the words the other way round.
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
