"""What NX-OS refuses, or takes and cannot mean; no public validator looks at any of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.switches.nxos.names import type_of_class
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.wording import joined
from lossless.model.fabric.configured_switch import RefusedSetting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.switches.nxos.read.rows import PolicyClass, Stated
    from lossless.formats.switches.nxos.to_model.switch import NxosSwitch

_RDMA_BYTES = 4096
"""The payload of an RDMA packet of the largest path MTU (IBTA InfiniBand Architecture volume 1)."""
_GLOBAL = "priority-flow-control watch-dog-interval on"


def refusals(reader: NxosSwitch) -> Iterator[RefusedSetting]:
    """Yield settings that are refused, or mean something else than they say."""
    for origin, text in reader.config.impossible:
        why = "qos-groups, queues and priorities are 0 to 7, DSCPs 0 to 63, shares and probabilities percents"
        yield RefusedSetting(f"{text!r} is out of range", why, "", origin)
    yield from _classes_of_other_types(reader)
    yield from _curves(reader)
    yield from _shares(reader)
    yield from _short_frames(reader)
    yield from _pause_thresholds(reader)
    yield from _watchdogs(reader)
    yield from _negotiated(reader)
    yield from _storm_control(reader)


def _classes_of_other_types(reader: NxosSwitch) -> Iterator[RefusedSetting]:
    for (kind, name), policy in reader.config.policies.items():
        for of in policy:
            own = type_of_class(of.name)
            if own is not None and own != kind:
                yield RefusedSetting(
                    f"{of.name} is a class of type {own}, in policy-map type {kind} {name}",
                    "what it says there has no effect",
                    f"name the class of type {kind}, as c-8q-nq3 in network-qos and c-out-8q-q3 in queuing",
                    of.origin,
                )


def _queues(reader: NxosSwitch) -> Iterator[tuple[str, PolicyClass]]:
    for (kind, name), policy in reader.config.policies.items():
        if kind == "queuing":
            yield from ((name, of) for of in policy)


def _curves(reader: NxosSwitch) -> Iterator[RefusedSetting]:
    for _, of in _queues(reader):
        stated = of.rows.get("ecn")
        low, high = stated.value[:2] if stated is not None else (None, None)
        if stated is not None and low is not None and high is not None and low > high:
            yield RefusedSetting(
                f"the minimum threshold of {of.name} is {low:,} B, its maximum {high:,} B",
                "a curve cannot end before it begins",
                "exchange the thresholds",
                stated.origin,
            )


def _shares(reader: NxosSwitch) -> Iterator[RefusedSetting]:
    for name, classes in grouped(_queues(reader)).items():
        shares = [stated.value for of in classes if (stated := of.rows.get("percent")) is not None]
        place = reader.config.places[("policy-map", f"queuing {name}")]
        if len(shares) > 1 and not any(shares) and not any("strict" in of.rows for of in classes):
            yield RefusedSetting(
                f"every class of policy-map type queuing {name} has a share of 0 %",
                "no class is guaranteed anything",
                "give the lossless class and the default class the shares they need",
                place,
            )
        elif sum(shares) > 100:
            yield RefusedSetting(
                f"the shares of policy-map type queuing {name} add up to {sum(shares)} %",
                "shares of one port cannot exceed 100 %",
                "lower them to 100 % together",
                place,
            )


def _short_frames(reader: NxosSwitch) -> Iterator[RefusedSetting]:
    for (kind, name), policy in reader.config.policies.items():
        sizes = [stated.value for of in policy if (stated := of.rows.get("mtu")) is not None]
        for of in policy if kind == "network-qos" else ():
            own = of.rows.get("mtu")
            if "pause" in of.rows and own is not None and own.value < _RDMA_BYTES < max(sizes):
                yield RefusedSetting(
                    f"class {of.name} of {name} pauses and has an MTU of {own.value:,} B, others {max(sizes):,} B",
                    f"RDMA packets of a path MTU of {_RDMA_BYTES:,} B do not fit, and are dropped",
                    f"mtu {max(sizes)}, or a smaller path MTU at every host",
                    own.origin,
                )


def _pause_thresholds(reader: NxosSwitch) -> Iterator[RefusedSetting]:
    for policy in reader.config.policies.values():
        for of in policy:
            stated = of.rows.get("pause-bytes")
            size, pause, resume = stated.value if stated is not None else (3, 2, 1)
            if stated is not None and not size > pause > resume:
                yield RefusedSetting(
                    f"class {of.name} has a buffer of {size:,} B, pauses at {pause:,} B and resumes at {resume:,} B",
                    "a pause needs room above its threshold, and an end below it",
                    "state a buffer above the pause threshold, and that above the resume threshold",
                    stated.origin,
                )


def _stating(reader: NxosSwitch, key: str, value: object = None) -> dict[Stated, list[str]]:
    """Return the ports that have a setting, by the line that says it."""
    rows = ((reader.rows_of(name).get(key), name) for name in reader.names)
    return grouped(
        (stated, name) for stated, name in rows if stated is not None and value in (None, stated.value)
    )


def _watchdogs(reader: NxosSwitch) -> Iterator[RefusedSetting]:
    for stated, ports in _stating(reader, "wrong").items():
        yield RefusedSetting(
            f"{stated.value!r} is no command of NX-OS, on {joined(ports, 4)}",
            "the switch refuses it, and the port has no watchdog",
            _GLOBAL,
            stated.origin,
            tuple(ports),
        )
    on = reader.config.switch.get("watchdog")
    lines = _stating(reader, "watchdog", value=True)
    if lines and (on is None or not on.value):
        first = next(iter(lines))
        ports = [port for of in lines.values() for port in of]
        yield RefusedSetting(
            f"the watchdog is on at {joined(ports, 4)}, and not for the switch",
            "without the line of the switch that of a port has no effect",
            f"{_GLOBAL}, outside of interfaces",
            first.origin,
            tuple(ports),
        )


def _negotiated(reader: NxosSwitch) -> Iterator[RefusedSetting]:
    lossless = {pause.group for pause in reader.pauses}
    for stated, ports in _stating(reader, "pfc", value="auto").items():
        own = [port for port in ports if _classifies(reader, port, lossless)]
        if own:
            yield RefusedSetting(
                f"PFC of {joined(own, 4)} is left to DCBX, and its policy fills a lossless class",
                "the port pauses only where the peer agrees",
                "priority-flow-control mode on",
                stated.origin,
                tuple(own),
            )


def _classifies(reader: NxosSwitch, port: str, lossless: set[int]) -> bool:
    policy = reader.rows_of(port).get("input")
    maps = (reader.classes.index_map(policy.value, field) for field in ("dscp", "cos")) if policy else ()
    return any(index_map is not None and not lossless.isdisjoint(index_map.targets) for index_map in maps)


def _storm_control(reader: NxosSwitch) -> Iterator[RefusedSetting]:
    for stated, ports in _stating(reader, "storm").items():
        paused = [port for port in ports if reader.pfc_of(port).priorities]
        if paused and stated.value < 100:
            yield RefusedSetting(
                f"storm control drops unicast above {stated.value} % of the line rate on {joined(paused, 4)}",
                "it counts RDMA too, and drops it above that rate",
                "no storm-control unicast level",
                stated.origin,
                tuple(paused),
            )
