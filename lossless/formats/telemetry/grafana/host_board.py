"""The dashboard of one host or several: RDMA traffic, congestion control, retransmissions, and pauses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.telemetry.foreign_metrics import HW_COUNTERS_SINCE, ethtool_metric, pause_counters
from lossless.formats.telemetry.grafana.board import Board, BoardRow, BoardVariable, Panel, Query, Unit
from lossless.formats.telemetry.grafana.promql import HOST, HOSTS, node, rate, series
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.model import Fabric, TrafficClass

HOST_VARIABLE = BoardVariable("host", "Host", f"label_values({series('up', HOSTS)}, instance)")
DEVICE = 'device=~"$device"'
DEVICE_VARIABLE = BoardVariable(
    "device", "RDMA device", f"label_values({node('infiniband_state_id', HOST)}, device)"
)
_PORT = "{{instance}} {{device}}"
_FROM = f"From node_exporter {HW_COUNTERS_SINCE} on."


def host_board(fabric: Fabric) -> Board:
    """Return the dashboard."""
    pauses = (row for cls in fabric.classes.lossless for row in _pauses(fabric, cls))
    return Board(
        "host",
        f"{fabric.name}: host",
        f"RDMA ports of hosts of {fabric.name}: traffic, congestion control, retransmission and pauses.",
        (HOST_VARIABLE, DEVICE_VARIABLE),
        (traffic("RDMA traffic"), _congestion_control(), transport(), *pauses),
    )


def traffic(title: str) -> BoardRow:
    """Return the row of RDMA traffic by port; the kernel's mlx5 driver fills these counters with RDMA alone."""
    sent = f"8 * {_rdma('port_data_transmitted_bytes_total')}"
    return BoardRow(
        title,
        (
            Panel(
                "Sent",
                "Bits of RDMA that each port sends.",
                "bps",
                (Query(sent, _PORT),),
            ),
            Panel(
                "Received",
                "Bits of RDMA that each port receives.",
                "bps",
                (Query(f"8 * {_rdma('port_data_received_bytes_total')}", _PORT),),
            ),
            Panel(
                "Ports that are active",
                "State of each RDMA port: yes is active.",
                "bool_yes_no",
                (Query(f"{node('infiniband_state_id', HOST, DEVICE)} == bool 4", _PORT),),
                "states",
                good_from=1,
            ),
        ),
    )


def _rdma(counter: str) -> str:
    return rate(node(f"infiniband_{counter}", HOST, DEVICE))


def _congestion_control() -> BoardRow:
    return BoardRow(
        "Congestion control",
        (
            _rates(
                "Marked packets and CNPs sent",
                "RoCE packets that come with an ECN mark, and the CNPs that the receiver sends because of "
                f"them. Marks without CNPs: DCQCN is off at the receiver. {_FROM}",
                np_ecn_marked_roce_packets_received_total="marked",
                np_cnp_packets_sent_total="CNPs sent",
            ),
            _rates(
                "CNPs received",
                "CNPs that slow a flow down, and CNPs that change nothing: the sender's DCQCN is off, or "
                f"they came on a priority that it does not watch. {_FROM}",
                rp_cnp_packets_handled_total="handled",
                rp_cnp_ignored_packets_received_total="ignored",
            ),
        ),
    )


def transport() -> BoardRow:
    """Return the row of retransmissions of reliable connections, by their causes."""
    return BoardRow(
        "Retransmission",
        (
            _rates(
                "Packets out of order or missing",
                "Packets received out of order, and NAKs received for missing ones. On a lossless fabric "
                f"with one path a flow both are 0; spraying and adaptive routing raise the first alone. {_FROM}",
                out_of_sequence_packets_received_total="out of order",
                packet_sequence_errors_total="NAK",
            ),
            _rates(
                "Timeouts and adaptive retransmissions",
                "ACKs that did not come in time, retransmissions that the NIC began by itself, and slow "
                f"restarts: the path was paused, cut or lossy. {_FROM}",
                local_ack_timeout_errors_total="ACK timeouts",
                roce_adp_retransmits_total="adaptive retransmissions",
                roce_slow_restart_total="slow restarts",
            ),
            _rates(
                "Receivers that are not ready",
                "RNR NAKs received, and packets that this host dropped for want of a receive request: the "
                f"application is slow, not the network. {_FROM}",
                rnr_nak_retry_packets_received_total="RNR NAKs",
                out_of_buffer_drops_total="no receive request",
            ),
            _rates(
                "Wrong ICRC",
                f"RoCE packets whose ICRC is wrong: something on the way changes them, or a cable does. {_FROM}",
                rx_icrc_encapsulated_errors_total="ICRC",
            ),
        ),
    )


def _rates(title: str, description: str, **counters: str) -> Panel:
    """Return a panel of counters of RDMA ports, each with its legend."""
    queries = tuple(Query(_rdma(counter), f"{_PORT} {called}") for counter, called in counters.items())
    return Panel(title, description, "pps", queries)


def _pauses(fabric: Fabric, cls: TrafficClass) -> Iterator[BoardRow]:
    """Yield the row with the pauses of a class, by the counter names of the drivers of the fabric's NICs."""
    if cls.priority is None:
        return
    drivers = dict.fromkeys(str(qos.driver) for qos, _ in View(fabric).host_kinds)
    called = [names for driver in drivers if (names := pause_counters(driver, cls.priority)) is not None]
    if not called:
        return

    def panel(title: str, description: str, unit: Unit, names: list[str], scale: str = "") -> Panel:
        queries = tuple(Query(rate(node(ethtool_metric(name), HOST)) + scale, _PORT) for name in names)
        return Panel(f"{cls.name}: {title}", description, unit, queries, opens=("storm",))

    drops = [names.drops for names in called if names.drops]
    panels = [
        panel(
            "pauses sent",
            f"PFC frames of priority {cls.priority} that the host sends to its leaf: its NIC cannot take "
            "what comes. One host that sends many and receives none is the source of a storm.",
            "pps",
            [names.sent for names in called],
        ),
        panel(
            "pauses received",
            f"PFC frames of priority {cls.priority} that the host gets from its leaf.",
            "pps",
            [names.received for names in called],
        ),
        panel(
            "share of time paused",
            f"Part of the time in which the leaf kept priority {cls.priority} of the host paused.",
            "percentunit",
            [names.received_us for names in called],
            " / 1e6",
        ),
    ]
    if drops:
        why = f"Packets of priority {cls.priority} that the NIC dropped for want of buffer, in spite of PFC."
        panels.append(panel("drops", why, "pps", drops))
    yield BoardRow(f"Pauses of lossless class {cls.name}, priority {cls.priority}", tuple(panels))
