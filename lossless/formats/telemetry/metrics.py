"""The catalog: every metric that ``lossless exporter`` serves, and the database fields that it is computed from.

The exporter uses it, alerts and dashboards take names from it. Names and units are those of Prometheus
(prometheus/docs docs/practices/naming.md): base units, counters end in ``_total``. A value that is missing in a
database gives no sample, never 0.
"""

from __future__ import annotations

from typing import Literal

from lossless.ground.basics.records import NamedTuple

PREFIX = "lossless_sonic_"
SWITCH = "switch"
NAMESPACE = "namespace"
"""The additional label of metrics on switches with several ASICs, two of which may have an interface of one name.

All metrics but ``info`` and ``scrape_duration_seconds`` have it there. On other switches there is no such label.
"""
WINDOWS = {
    "periodic": "PERIODIC_WATERMARKS",
    "persistent": "PERSISTENT_WATERMARKS",
    "user": "USER_WATERMARKS",
}
"""The tables of watermarks by the value of the label ``window`` (sonic-swss orchagent/watermarkorch.cpp @0545c4c)."""
DIRECTIONS = {"received": "rx", "sent": "tx"}
_US_PER_S = 1_000_000
_BYTES_PER_MBIT = 125_000
"""Bytes per second in 1 Mb/s, the unit of a port's speed.

Source: sonic-buildimage src/sonic-yang-models/yang-models/sonic-port.yang @086b03b.
"""

MetricKind = Literal["counter", "gauge"]
ObjectKind = Literal["port", "queue", "pg", "pool"]


class Source(NamedTuple):
    """The fields of a sample, and the labels that come with them.

    ``counters`` are names of :mod:`lossless.formats.sonic.state.rows`, which are added; in other databases than
    COUNTERS_DB they are the fields themselves. A value is multiplied by ``times`` and divided by ``per``, or looked up
    in ``words``. Where several sources give a sample the same labels, the first that has a value is used.
    """

    of: ObjectKind
    counters: tuple[str, ...]
    labels: tuple[tuple[str, str], ...] = ()
    table: str = "COUNTERS"
    database: str = "COUNTERS_DB"
    times: int = 1
    per: int = 1
    words: tuple[tuple[str, int], ...] = ()


class Metric(NamedTuple):
    """One metric: its full name, its labels in their order, its unit, and its sources.

    ``sources`` are empty for a metric of the switch or of a database, as opposed to one of their objects; ``origin``
    documents its source.
    """

    name: str
    kind: MetricKind
    labels: tuple[str, ...]
    unit: str
    help: str
    sources: tuple[Source, ...] = ()
    origin: str = ""


def _metric(name: str, labels: str, unit: str, text: str, *sources: Source, origin: str = "") -> Metric:
    kind: MetricKind = "counter" if name.endswith("_total") else "gauge"
    return Metric(PREFIX + name, kind, (SWITCH, *labels.split()), unit, text, sources, origin)


def _windows(of: ObjectKind, counter: str) -> tuple[Source, ...]:
    return tuple(Source(of, (counter,), (("window", name),), table) for name, table in WINDOWS.items())


def _port(name: str, unit: str, text: str, *counters: str) -> Metric:
    return _metric(f"interface_{name}_total", "interface", unit, text, Source("port", counters))


def _queue(name: str, unit: str, text: str) -> Metric:
    counter = {"sent_packets": "packets", "sent_bytes": "bytes"}.get(name, name)
    return _metric(f"queue_{name}_total", "interface queue", unit, text, Source("queue", (counter,)))


_UP = (("up", 1), ("down", 0))
_STORMS = (("stormed", 1), ("operational", 0))
"""The values of a queue's watchdog state (sonic-swss orchagent/pfcactionhandler.cpp @00c0428)."""
_POLLED = "FLEX_COUNTER_TABLE of CONFIG_DB"

METRICS: tuple[Metric, ...] = (
    _metric(
        "info",
        "hwsku platform release",
        "",
        "The switch; the value is always 1.",
        origin="DEVICE_METADATA of CONFIG_DB, and build_version of /etc/sonic/sonic_version.yml",
    ),
    _metric(
        "database_up",
        "database",
        "",
        "Whether a database answers and is not empty.",
        origin="DBSIZE",
    ),
    _metric(
        "scrape_duration_seconds",
        "",
        "seconds",
        "Time that the databases and this text took.",
        origin="the clock of the exporter",
    ),
    _metric(
        "polling_enabled",
        "group",
        "",
        "Whether a group of counters is polled; those of a group that is not are absent.",
        origin=_POLLED,
    ),
    _metric(
        "polling_interval_seconds",
        "group",
        "seconds",
        "Time between two polls of a group of counters, where it is configured.",
        origin=_POLLED,
    ),
    _metric(
        "interface_up",
        "interface",
        "",
        "Whether an interface is operationally up.",
        Source("port", ("oper_status",), (), "PORT_TABLE", "APPL_DB", words=_UP),
    ),
    _metric(
        "interface_speed_bytes_per_second",
        "interface",
        "bytes per second",
        "Operational speed of an interface, else the configured one.",
        Source("port", ("speed",), (), "PORT_TABLE", "STATE_DB", _BYTES_PER_MBIT),
        Source("port", ("speed",), (), "PORT_TABLE", "APPL_DB", _BYTES_PER_MBIT),
    ),
    _port("received_bytes", "bytes", "Bytes received.", "in_bytes"),
    _port("sent_bytes", "bytes", "Bytes sent.", "out_bytes"),
    _port(
        "received_packets",
        "packets",
        "Packets received: unicast and others.",
        "in_unicast_packets",
        "in_non_unicast_packets",
    ),
    _port(
        "sent_packets",
        "packets",
        "Packets sent: unicast and others.",
        "out_unicast_packets",
        "out_non_unicast_packets",
    ),
    _port("received_dropped_packets", "packets", "Packets discarded at ingress.", "in_discards"),
    _port("sent_dropped_packets", "packets", "Packets discarded at egress.", "out_discards"),
    _port("received_errors", "packets", "Packets received with errors.", "in_errors"),
    _port("sent_errors", "packets", "Packets that could not be sent due to errors.", "out_errors"),
    _metric(
        "pfc_received_frames_total",
        "interface priority",
        "frames",
        "PFC frames received.",
        Source("port", ("pfc_rx",)),
    ),
    _metric(
        "pfc_sent_frames_total",
        "interface priority",
        "frames",
        "PFC frames sent.",
        Source("port", ("pfc_tx",)),
    ),
    _metric(
        "pfc_received_pause_seconds_total",
        "interface priority",
        "seconds",
        "Time that received PFC frames paused a priority, where PFC history is on.",
        Source("port", ("pause_duration",), per=_US_PER_S),
    ),
    _metric(
        "pfc_watchdog_storm",
        "interface queue",
        "",
        "Whether the PFC watchdog sees a storm on a queue.",
        Source("queue", ("pfcwd_status",), words=_STORMS),
    ),
    _metric(
        "pfc_watchdog_storms_detected_total",
        "interface queue",
        "storms",
        "Storms that the PFC watchdog detected.",
        Source("queue", ("pfcwd_detected",)),
    ),
    _metric(
        "pfc_watchdog_storms_restored_total",
        "interface queue",
        "storms",
        "Storms after which the PFC watchdog restored the queue.",
        Source("queue", ("pfcwd_restored",)),
    ),
    _metric(
        "pfc_watchdog_dropped_packets_total",
        "interface queue direction",
        "packets",
        "Packets dropped by the PFC watchdog during storms.",
        *(
            Source("queue", (f"pfcwd_{short}_drop",), (("direction", name),))
            for name, short in DIRECTIONS.items()
        ),
    ),
    _metric(
        "pfc_watchdog_detection_seconds",
        "interface queue",
        "seconds",
        "Time without progress after which the PFC watchdog detects a storm.",
        Source("queue", ("pfcwd_detection_time",), per=_US_PER_S),
    ),
    _metric(
        "pfc_watchdog_restoration_seconds",
        "interface queue",
        "seconds",
        "Time without PFC frames after which the PFC watchdog restores a queue.",
        Source("queue", ("pfcwd_restoration_time",), per=_US_PER_S),
    ),
    _queue("sent_packets", "packets", "Packets sent from a queue."),
    _queue("sent_bytes", "bytes", "Bytes sent from a queue."),
    _queue("dropped_packets", "packets", "Packets dropped at a queue."),
    _queue("dropped_bytes", "bytes", "Bytes dropped at a queue."),
    _queue("ecn_marked_packets", "packets", "Packets that a queue marked with ECN."),
    _queue("ecn_marked_bytes", "bytes", "Bytes of packets that a queue marked with ECN."),
    _queue("wred_dropped_packets", "packets", "Packets that WRED dropped at a queue."),
    _queue("trimmed_packets", "packets", "Packets trimmed at a queue."),
    _metric(
        "queue_watermark_bytes",
        "interface queue window",
        "bytes",
        "Peak depth of a queue since its window began.",
        *_windows("queue", "shared_watermark_bytes"),
    ),
    _metric(
        "priority_group_dropped_packets_total",
        "interface pg",
        "packets",
        "Packets dropped at a priority group.",
        Source("pg", ("dropped_packets",)),
    ),
    _metric(
        "priority_group_shared_watermark_bytes",
        "interface pg window",
        "bytes",
        "Peak of the shared buffer that a priority group used since the window began.",
        *_windows("pg", "shared_watermark_bytes"),
    ),
    _metric(
        "priority_group_headroom_watermark_bytes",
        "interface pg window",
        "bytes",
        "Peak of the headroom that a priority group used since the window began.",
        *_windows("pg", "xoff_room_watermark_bytes"),
    ),
    _metric(
        "buffer_pool_watermark_bytes",
        "pool window",
        "bytes",
        "Peak occupancy of a buffer pool since the window began.",
        *_windows("pool", "watermark_bytes"),
    ),
    _metric(
        "buffer_pool_headroom_watermark_bytes",
        "pool window",
        "bytes",
        "Peak of the headroom of a buffer pool that was used since the window began.",
        *_windows("pool", "xoff_room_watermark_bytes"),
    ),
)
BY_NAME = {metric.name: metric for metric in METRICS}


def named(name: str) -> Metric:
    """Return a metric by its name without the prefix; KeyError where there is none."""
    return BY_NAME[PREFIX + name]
