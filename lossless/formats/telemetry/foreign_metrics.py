"""Metrics of other exporters that rules and dashboards query: node_exporter on hosts, UFM Telemetry for InfiniBand.

Sources. node_exporter: collector/infiniband_linux.go and collector/ethtool_linux.go of prometheus/node_exporter, each
name looked up in the tags of its releases up to v1.12.1 @a7dcc3a: ``since`` is the first release that has it. UFM
Telemetry: docs.nvidia.com, UFM Telemetry v1.8, Prometheus Endpoint Support (labels, first names), and UFM Cyber-AI
v2.6.1, appendix Supported Counters (all names). Meaning of the counters: Linux Documentation/networking/device_drivers/
ethernet/mellanox/mlx5/counters.rst, InfiniBand Architecture Specification vol. 1, 16.1.3 (PortCounters).

``PortXmitDataExtended`` of UFM is not queried: its documentation declares bytes, and the sample beside it has 72 for
each packet, which is a MAD in words of four bytes.
"""

from __future__ import annotations

import re
from typing import Literal

from lossless.ground.basics.records import NamedTuple

Program = Literal["node_exporter", "UFM Telemetry", "Prometheus"]


class ForeignMetric(NamedTuple):
    """A metric: its type as exposed, its labels beside those of the scrape, and the first release that has it."""

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
"""The Ethernet driver for each value of :attr:`~lossless.model.fabric.hosts.HostQos.driver`."""


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
    """Return the counter of mlx5 for packets sent in a priority."""
    return f"tx_prio{priority}_packets"


def ethtool_metric(counter: str) -> str:
    """Return the metric name that node_exporter derives from a counter of ``ethtool -S``, without ``node_``.

    It lowers the name, turns other characters into underscores, and spells ``rx`` and ``tx`` out.
    """
    name = re.sub(r"_*[^0-9A-Za-z_]+_*", "_", counter).lower().lstrip("_")
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
"""The metrics by name."""
