"""Recorded series: the intent as values, rates by port, shares of time, sums of the fabric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.telemetry.prometheus.bench import (
    INTENT,
    PORT,
    FabricSeries,
    Group,
    RecordingRule,
    any_of,
    duration,
)
from lossless.ground.basics.grouping import grouped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.formats.telemetry.prometheus.inventory import AlertTimes, Inventory, LosslessPriority

_INTENT_INTERVAL_S = 60
"""Evaluation interval of constant values; Prometheus looks back five minutes for a value."""
_PAUSE_BYTES = 65_535 * 512 // 8
"""Bytes of a port's rate in the longest pause of one PFC frame: 65,535 quanta of 512 bit times.

Source: IEEE 802.1Q, 36.2.
"""


def intent_groups(intended: Inventory) -> tuple[Group, ...]:
    """Return the values of the intent: first those of the whole fabric, then the ports of each switch."""
    ports = grouped((port.switch, port) for port in intended.ports)
    fabric = {"fabric": intended.fabric}
    of_switches = (
        Group(
            f"lossless-intent-{intended.fabric}-{switch}",
            _INTENT_INTERVAL_S,
            tuple(
                _value(
                    "port:info", 1, fabric | port.identity | port.known | {"pfc": port.pfc} | _state(port.up)
                )
                for port in of_switch
            ),
        )
        for switch, of_switch in ports.items()
    )
    name = f"lossless-intent-{intended.fabric}"
    return (Group(name, _INTENT_INTERVAL_S, tuple(_of_fabric(intended))), *of_switches)


def _state(up: bool) -> dict[str, str]:
    return {} if up else {"out_of_service": "true"}


def _of_fabric(intended: Inventory) -> Iterator[RecordingRule]:
    fabric = {"fabric": intended.fabric}
    for place, hwsku in intended.switches:
        known = {"switch": place.name, "tier": place.tier, "rail": place.rail, "hwsku": hwsku}
        yield _value("switch:info", 1, fabric | {name: value for name, value in known.items() if value})
    for host in intended.hosts:
        yield _value("host:info", 1, fabric | {"instance": host})
    for pool in intended.pools:
        asic = {"namespace": pool.namespace} if pool.namespace else {}
        labels = fabric | {"switch": pool.switch, **asic, "pool": pool.pool}
        yield _value("headroom_pool:bytes", pool.headroom_bytes, labels)
    for name, kind in intended.kinds.items():
        for lossless in kind.priorities:
            yield from _of_kind(fabric | {"kind": name}, lossless)


def _of_kind(kind: dict[str, str], lossless: LosslessPriority) -> Iterator[RecordingRule]:
    """Yield the values of one lossless priority of a kind of ports."""
    queue, group = {"queue": str(lossless.queue)}, {"pg": str(lossless.group)}
    yield _value("priority:info", 1, kind | {"priority": str(lossless.priority)})
    yield _value("queue:info", 1, kind | queue)
    yield _value("priority_group:info", 1, kind | group)
    if lossless.headroom_bytes is not None:
        yield _value("headroom:bytes", lossless.headroom_bytes, kind | group)
    if lossless.kmax_bytes is not None:
        yield _value("kmax:bytes", lossless.kmax_bytes, kind | queue)
    if lossless.detection_s is not None:
        yield _value("watchdog:seconds", lossless.detection_s, kind | {"queue": str(lossless.priority)})


def _value(name: str, value: float, labels: dict[str, str]) -> RecordingRule:
    return RecordingRule(f"{INTENT}{name}", f"vector({value:.12g})", labels)


def rate_group(intended: Inventory, every: AlertTimes) -> Group:
    """Return the rates and shares of a fabric, each port with the labels of the intent, then sums over ports."""
    of = FabricSeries(intended.fabric)
    return Group(
        f"lossless-rates-{intended.fabric}",
        every.scrape,
        (*_of_pauses(of, duration(every.rate)), *_of_losses(of, intended, duration(every.rate)), *_sums(of)),
    )


def _of_pauses(of: FabricSeries, window: str) -> Iterator[RecordingRule]:
    for direction in ("received", "sent"):
        frames = f"rate({of.sonic(f'pfc_{direction}_frames_total')}[{window}])"
        yield RecordingRule(f"lossless:pfc_{direction}_frames:rate", of.with_port(frames))
    pauses = f"rate({of.sonic('pfc_received_pause_seconds_total')}[{window}])"
    yield RecordingRule("lossless:pfc_received_pause:ratio", of.with_port(pauses))
    yield RecordingRule("lossless:pfc_received_pause:ratio_at_most", of.with_port(_at_most(of, window)))


def _of_losses(of: FabricSeries, intended: Inventory, window: str) -> Iterator[RecordingRule]:
    """Yield the rates of packets that lossless queues and groups sent, marked and dropped, and their levels."""
    queues, groups = f'queue=~"{any_of(intended.queues)}"', f'pg=~"{any_of(intended.groups)}"'
    for name in ("sent_packets", "ecn_marked_packets", "dropped_packets"):
        counted = f"rate({of.sonic(f'queue_{name}_total', queues)}[{window}])"
        yield RecordingRule(f"lossless:queue_{name}:rate", of.with_port(counted))
    dropped = f"rate({of.sonic('priority_group_dropped_packets_total', groups)}[{window}])"
    yield RecordingRule("lossless:priority_group_dropped_packets:rate", of.with_port(dropped))
    yield from _levels(of)


def _at_most(of: FabricSeries, window: str) -> str:
    """Return an upper bound of the share of time that a port was paused: each received frame as the longest pause."""
    frames = f"rate({of.sonic('pfc_received_frames_total')}[{window}])"
    longest = (
        f"on ({PORT}) group_left () ({_PAUSE_BYTES} / ({of.sonic('interface_speed_bytes_per_second')} > 0))"
    )
    return f"clamp_max({frames} * {longest}, 1)"


def _levels(of: FabricSeries) -> Iterator[RecordingRule]:
    """Yield watermarks of the last period as shares of the intended values."""
    periodic = 'window="periodic"'
    headroom = of.with_port(of.sonic("priority_group_headroom_watermark_bytes", periodic))
    yield RecordingRule(
        "lossless:priority_group_headroom:ratio",
        f"({headroom})\n/ on (fabric, kind, pg) group_left () {of.intended('headroom:bytes')}",
    )
    peak = of.with_port(of.sonic("queue_watermark_bytes", periodic))
    yield RecordingRule(
        "lossless:queue_peak_to_kmax:ratio",
        f"({peak})\n/ on (fabric, kind, queue) group_left () {of.intended('kmax:bytes')}",
    )
    pool = of.sonic("buffer_pool_headroom_watermark_bytes", periodic)
    yield RecordingRule(
        "lossless:headroom_pool:ratio",
        f"{pool}\n/ on (fabric, switch, namespace, pool) group_left () {of.intended('headroom_pool:bytes')}",
    )


_SUMMED = {
    "pfc_received_frames:rate": "priority",
    "pfc_sent_frames:rate": "priority",
    "queue_ecn_marked_packets:rate": "queue",
    "queue_dropped_packets:rate": "queue",
    "priority_group_dropped_packets:rate": "pg",
}


def _sums(of: FabricSeries) -> Iterable[RecordingRule]:
    """Yield sums over the fabric by tier, rail and destination of ports."""
    return (
        RecordingRule(
            f"lossless_fabric:{name}",
            f"sum by (fabric, tier, rail, leads_to, {label}) ({of(f'lossless:{name}')})",
        )
        for name, label in _SUMMED.items()
    )
