"""The catalog: every metric that ``lossless exporter`` serves, and queried metrics of other exporters.

A metric has the database fields that it is computed from. The exporter uses it, alerts and dashboards take names from
it. Names and units are those of Prometheus (prometheus/docs docs/practices/naming.md): base units, counters end in
``_total``. A value that is missing in a database gives no sample, never 0.

Other exporters are node_exporter on hosts, and UFM Telemetry for InfiniBand. Sources. node_exporter:
collector/infiniband_linux.go and collector/ethtool_linux.go of prometheus/node_exporter, each name looked up in the
tags of its releases up to v1.12.1 @a7dcc3a: ``since`` is the first release that has it. UFM Telemetry:
docs.nvidia.com, UFM Telemetry v1.8, Prometheus Endpoint Support (labels, first names), and UFM Cyber-AI v2.6.1,
appendix Supported Counters (all names). Meaning of the counters: Linux Documentation/networking/device_drivers/
ethernet/mellanox/mlx5/counters.rst, InfiniBand Architecture Specification vol. 1, 16.1.3 (PortCounters).

``PortXmitDataExtended`` of UFM is not queried: its documentation declares bytes, and the sample beside it has 72 for
each packet, which is a MAD in words of four bytes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

Program = Literal["node_exporter", "UFM Telemetry", "Prometheus"]


class ForeignMetric(NamedTuple):
    """A metric of another exporter: its type, its labels beside those of the scrape, the first release that has it."""

    name: str
    kind: Literal["counter", "gauge", "untyped"]
    labels: tuple[str, ...]
    counts: str
    program: Program
    since: str


HW_COUNTERS_SINCE = "1.11.0"
"""The release of node_exporter that first reads hw_counters of RDMA devices (its CHANGELOG, #2827)."""
ETHTOOL_SINCE = "1.3.0"
"""The first release whose ethtool collector can be limited to some counters (#2165) of a host's thousands."""

_PORT = ("device", "port")
_HW_COUNTERS = {
    "np_cnp_packets_sent_total": "CNPs that the NIC sent because of marked packets",
    "np_ecn_marked_roce_packets_received_total": "RoCE packets received with an ECN mark",
    "rp_cnp_packets_handled_total": "CNPs received that slowed a flow down",
    "rp_cnp_ignored_packets_received_total": "CNPs received that changed nothing",
    "out_of_sequence_packets_received_total": "packets received out of order",
    "packet_sequence_errors_total": "NAKs received for missing packets",
    "local_ack_timeout_errors_total": "ACKs that did not come in time",
    "rnr_nak_retry_packets_received_total": "NAKs received from receivers that were not ready",
    "roce_adp_retransmits_total": "adaptive retransmissions",
    "roce_slow_restart_total": "slow restarts",
    "out_of_buffer_drops_total": "packets dropped for want of a receive request",
    "rx_icrc_encapsulated_errors_total": "RoCE packets with a wrong ICRC",
}
_PORT_COUNTERS = {
    "port_data_received_bytes_total": ("bytes of RDMA received", "0.16.0"),
    "port_data_transmitted_bytes_total": ("bytes of RDMA sent", "0.16.0"),
    "port_transmit_wait_total": ("ticks in which data waited for credits", "0.18.0"),
    "port_errors_received_total": ("packets received with an error", "0.18.0"),
    "port_discards_transmitted_total": ("packets discarded at the output", "0.18.0"),
    "link_downed_total": ("how often the link went down", "0.14.0"),
    "link_error_recovery_total": ("how often the link recovered by itself", "0.14.0"),
    "symbol_error_total": ("symbol errors", "1.1.0"),
    "local_link_integrity_errors_total": ("local physical errors above their threshold", "1.2.0"),
}
_PORT_GAUGES = {
    "state_id": ("state of the port: 4 is active", "1.0.0"),
    "physical_state_id": ("physical state of the port: 5 is link up", "1.0.0"),
    "rate_bytes_per_second": ("rate of the link", "1.0.0"),
}
_UFM = {
    "PortXmitPktsExtended": "packets sent",
    "PortRcvPktsExtended": "packets received",
    "PortXmitWaitExtended": "ticks in which data waited for credits",
    "PortXmitDiscardsExtended": "packets discarded at the output",
    "PortRcvErrorsExtended": "packets received with an error",
    "SymbolErrorCounterExtended": "symbol errors after FEC and retransmission",
    "LinkDownedCounterExtended": "how often the link went down",
    "LinkErrorRecoveryCounterExtended": "how often the link recovered by itself",
}
_UFM_LABELS = ("source", "node_guid", "port_guid", "port_num")
_STEMS = {
    "mlx5": (
        "rx_prio{}_pause",
        "tx_prio{}_pause",
        "rx_prio{}_pause_duration",
        "tx_prio{}_pause_duration",
        "rx_prio{}_discards",
    ),
    "bnxt_en": (
        "rx_pfc_ena_frames_pri{}",
        "tx_pfc_ena_frames_pri{}",
        "pfc_pri{}_rx_duration_us",
        "pfc_pri{}_tx_duration_us",
    ),
}
"""Counter names of ``ethtool -S`` by driver: a priority's pauses received and sent, their microseconds, and its drops.

mlx5 prints pauses of a priority only where PFC is on for it. Sources: counters.rst of mlx5; bnxt_ethtool.c of bnxt_en.
"""
_DRIVERS = {"mlx5": "mlx5", "bnxt_re": "bnxt_en", "bnxt_en": "bnxt_en"}
"""The Ethernet driver for each known value of :attr:`~lossless.model.fabric.hosts.HostQos.driver`."""


class PauseCounters(NamedTuple):
    """Names in ``ethtool -S`` of a priority's pause counters; ``drops`` is None where a driver has no such counter."""

    received: str
    sent: str
    received_us: str
    sent_us: str
    drops: str | None


def pause_counters(driver: object, priority: int) -> PauseCounters | None:
    """Return the pause counters of a priority by the driver in a NIC profile; None for an unknown driver."""
    stems = _STEMS.get(_DRIVERS.get(str(driver), ""))
    if stems is None:
        return None
    received, sent, received_us, sent_us, *drops = (stem.format(priority) for stem in stems)
    return PauseCounters(received, sent, received_us, sent_us, drops[0] if drops else None)


RDMA_SENT = "tx_vport_rdma_unicast_packets"
"""The counter of mlx5 for RDMA packets sent (counters.rst)."""


def packets_sent(priority: int) -> str:
    """Return the name in ``ethtool -S`` of mlx5's counter of packets sent in a priority."""
    return f"tx_prio{priority}_packets"


def ethtool_metric(counter: str) -> str:
    """Return the metric name that node_exporter derives from a counter of ``ethtool -S``, without ``node_``.

    It lowers the name, turns other characters into underscores, and spells ``rx`` and ``tx`` out.
    """
    name = re.sub(r"(?:(?<!_)_++)?[^0-9A-Za-z_]++_*+", "_", counter).lower().lstrip("_")
    name = re.sub(r"(^|_)rx(_|$)", r"\1received\2", name)
    return "ethtool_" + re.sub(r"(^|_)tx(_|$)", r"\1transmitted\2", name)


def _all() -> tuple[ForeignMetric, ...]:
    node: Program = "node_exporter"
    hardware = (
        ForeignMetric(f"node_infiniband_{name}", "counter", _PORT, counts, node, HW_COUNTERS_SINCE)
        for name, counts in _HW_COUNTERS.items()
    )
    ports = (
        ForeignMetric(f"node_infiniband_{name}", "counter", _PORT, counts, node, since)
        for name, (counts, since) in _PORT_COUNTERS.items()
    )
    gauges = (
        ForeignMetric(f"node_infiniband_{name}", "gauge", _PORT, counts, node, since)
        for name, (counts, since) in _PORT_GAUGES.items()
    )
    pauses = (
        ForeignMetric(
            f"node_{ethtool_metric(stem.format(priority))}", "untyped", ("device",), stem, node, ETHTOOL_SINCE
        )
        for stems in _STEMS.values()
        for stem in stems
        for priority in range(8)
    )
    packets = (
        ForeignMetric(f"node_{ethtool_metric(name)}", "untyped", ("device",), name, node, ETHTOOL_SINCE)
        for name in (RDMA_SENT, *map(packets_sent, range(8)))
    )
    ufm = (
        ForeignMetric(name, "counter", _UFM_LABELS, counts, "UFM Telemetry", "1.8")
        for name, counts in _UFM.items()
    )
    own = (
        ForeignMetric(
            "up", "gauge", (), "whether the last scrape of a target succeeded", "Prometheus", "0.1.0"
        ),
        ForeignMetric(
            "ALERTS",
            "gauge",
            ("alertname", "alertstate", "severity"),
            "alerts that are pending or fire",
            "Prometheus",
            "0.1.0",
        ),
    )
    return (*hardware, *ports, *gauges, *pauses, *packets, *ufm, *own)


FOREIGN: dict[str, ForeignMetric] = {metric.name: metric for metric in _all()}
"""The queried metrics of other exporters, by name."""


PREFIX = "lossless_sonic_"
SWITCH = "switch"
NAMESPACE = "namespace"
"""The additional label of metrics on switches with several ASICs, two of which may have an interface of one name.

``info``, ``scrape_duration_seconds`` and the metrics of the host's own databases are without it.
"""
WINDOWS = {
    "periodic": "PERIODIC_WATERMARKS",
    "persistent": "PERSISTENT_WATERMARKS",
    "user": "USER_WATERMARKS",
}
"""The tables of watermarks by the value of the label ``window`` (sonic-swss orchagent/watermarkorch.cpp @0545c4c)."""
READ_WINDOW = "periodic"
"""The window that rules, alerts and dashboards read."""
DIRECTIONS = {"received": "rx", "sent": "tx"}
_US_PER_S = 1_000_000
_BYTES_PER_MBIT = 125_000
"""Bytes per second in 1 Mb/s, the unit of a port's speed.

Source: sonic-buildimage src/sonic-yang-models/yang-models/sonic-port.yang @086b03b.
"""

MetricKind = Literal["counter", "gauge"]
ObjectKind = Literal["port", "queue", "pg", "pool"]
ReadOf = Literal["lossless", "all", "none"]


class Source(NamedTuple):
    """The database fields that a sample of a metric is computed from, and the labels that come with them.

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
    """One metric of ``lossless exporter``: its full name, its labels in their order, its unit, and its sources.

    ``sources`` are empty for a metric of the switch or of a database, as opposed to one of their objects; ``origin``
    documents its source. ``read`` says of which queues, groups and priorities rules, alerts or dashboards read it: of
    the lossless ones, of ``all``, or of ``none``.
    """

    name: str
    kind: MetricKind
    labels: tuple[str, ...]
    unit: str
    help: str
    sources: tuple[Source, ...] = ()
    origin: str = ""
    read: ReadOf = "lossless"


_READ: dict[str, ReadOf] = {
    # Alerts on pauses of lossy priorities, and the panel of what each queue sends.
    "pfc_received_frames_total": "all",
    "pfc_sent_frames_total": "all",
    "queue_sent_bytes_total": "all",
    "interface_received_packets_total": "none",
    "interface_sent_packets_total": "none",
    "queue_dropped_bytes_total": "none",
    "queue_ecn_marked_bytes_total": "none",
    "queue_trimmed_packets_total": "none",
}
"""The metrics that are read of more than lossless queues, groups and priorities, or of none."""


def _metric(name: str, labels: str, unit: str, text: str, *sources: Source, origin: str = "") -> Metric:
    kind: MetricKind = "counter" if name.endswith("_total") else "gauge"
    read = _READ.get(name, "lossless")
    return Metric(PREFIX + name, kind, (SWITCH, *labels.split()), unit, text, sources, origin, read)


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
        "interface_status_changes_total",
        "interface",
        "changes",
        "Changes of the operational status of an interface; down and up again are two.",
        # As the daemon counts them: each change that SAI reports (sonic-swss orchagent/portsorch.cpp @e6b0c5b).
        Source("port", ("flap_count",), (), "PORT_TABLE", "APPL_DB"),
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
    """Return a metric of ``lossless exporter`` by its name without the prefix; KeyError where there is none."""
    return BY_NAME[PREFIX + name]


_SPECIAL = re.compile(r"[][\\*+?(){}|^$]")


def any_of(values: Iterable[int | str]) -> str:
    """Return a regular expression for numbers or names as they are, as the text of a PromQL string.

    Sources: RE2's syntax, and prometheus/docs, querying/basics (a string has the escapes of Go's).
    """
    patterns = (_SPECIAL.sub(r"\\\g<0>", str(value)).replace(".", "[.]") for value in values)
    return "|".join(patterns).replace("\\", "\\\\").replace('"', '\\"')
