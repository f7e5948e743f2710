"""The dashboard of one host or several, and the types and queries that all dashboards use.

The dashboard has RDMA traffic, congestion control, retransmissions, and pauses. As plain data a dashboard is
variables, rows and panels, with PromQL queries from common parts; :mod:`lossless.formats.telemetry.grafana.build`
lays them out and writes Grafana's JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.formats.telemetry.metrics import HW_COUNTERS_SINCE, ethtool_metric, pause_counters
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.model import Fabric, TrafficClass


Kind = Literal["lines", "number", "states", "table", "text"]
BoardName = Literal["fabric", "switch", "host", "storm"]
Unit = Literal["none", "short", "bool_yes_no", "percentunit", "pps", "bps", "cps", "bytes", "s", "string"]
"""Ids of units in Grafana (grafana/grafana packages/grafana-data/src/valueFormats/categories.ts)."""


class Query(NamedTuple):
    """A PromQL expression, and the legend of its series, with labels in double braces."""

    expression: str
    legend: str


class Panel(NamedTuple):
    """One panel of a dashboard.

    ``limits`` are values in its unit that are drawn as dashed lines; ``opens`` names linked dashboards.

    A panel of kind ``text`` has no queries and shows its description, in Markdown. A number or a state is red
    from ``bad_from`` on, or below ``good_from``; where both are None it has no color.
    """

    title: str
    description: str
    unit: Unit
    queries: tuple[Query, ...]
    kind: Kind = "lines"
    opens: tuple[BoardName, ...] = ()
    limits: tuple[float, ...] = ()
    bad_from: float | None = None
    good_from: float | None = None


class BoardRow(NamedTuple):
    """The panels of a dashboard below one heading."""

    title: str
    panels: tuple[Panel, ...]


class BoardVariable(NamedTuple):
    """A variable of a dashboard: the reader's choice of results of ``query``, at first ``chosen``, or all if empty."""

    name: str
    label: str
    query: str
    chosen: tuple[str, ...] = ()


class Board(NamedTuple):
    """One dashboard of a fabric or of an InfiniBand subnet."""

    name: BoardName
    title: str
    description: str
    variables: tuple[BoardVariable, ...]
    rows: tuple[BoardRow, ...]


SWITCHES, HOSTS, UFM = 'job="lossless-switches"', 'job="lossless-hosts"', 'job="lossless-ufm"'
"""Matchers of the jobs of the scrape configuration."""
SWITCH, INTERFACE, HOST = 'switch=~"$switch"', 'interface=~"$interface"', 'instance=~"$host"'
PRIORITY, QUEUE, GROUP = 'priority=~"$priority"', 'queue=~"$priority"', 'pg=~"$priority"'
"""Matchers of variables. In an intent a priority is PFC priority, queue and priority group at once."""
FABRIC = 'fabric="$fabric"'
"""Matcher of the label that all targets of a fabric have."""
PERIODIC = 'window="periodic"'
"""Matcher of the watermarks that the switch itself clears every telemetry interval."""


def sonic(metric: str, *matchers: str) -> str:
    """Return the selector of a metric of ``lossless exporter``, given without its prefix."""
    return series(f"lossless_sonic_{metric}", *matchers)


def any_sonic(metrics: tuple[str, ...], *matchers: str) -> str:
    """Return the selector of several metrics of ``lossless exporter``, since gnmic serves only some of them."""
    return f'{{__name__=~"lossless_sonic_({"|".join(metrics)})",{",".join((FABRIC, *matchers))}}}'


def node(metric: str, *matchers: str) -> str:
    """Return the selector of a metric of node_exporter, given without its prefix."""
    return series(f"node_{metric}", *matchers)


def series(metric: str, *matchers: str) -> str:
    """Return the selector of the series of a metric in this fabric; one Prometheus may watch several fabrics."""
    return f"{metric}{{{','.join((FABRIC, *matchers))}}}"


def rate(of: str) -> str:
    """Return the PromQL rate of a counter, over the interval that Grafana derives from scrape interval and zoom."""
    return f"rate({of}[$__rate_interval])"


def per(labels: str, expression: str, function: str = "sum") -> str:
    """Return a PromQL expression aggregated by labels; with empty labels, to one value."""
    by = f" by ({labels})" if labels else ""
    return f"{function}{by} ({expression})"


def top(count: int, expression: str) -> str:
    """Return the ``count`` largest series of a PromQL expression that are above 0."""
    return f"topk({count}, {expression}) > 0"


HOST_VARIABLE = BoardVariable("host", "Host", f"label_values({series('up', HOSTS)}, instance)")
DEVICE = 'device=~"$device"'
DEVICE_VARIABLE = BoardVariable(
    "device", "RDMA device", f"label_values({node('infiniband_state_id', HOST)}, device)"
)
_PORT = "{{instance}} {{device}}"
_FROM = f"From node_exporter {HW_COUNTERS_SINCE} on."


def host_board(fabric: Fabric) -> Board:
    """Return the dashboard of the hosts of a RoCE fabric."""
    pauses = (row for cls in fabric.classes.lossless for row in _pauses(fabric, cls))
    return Board(
        "host",
        f"{fabric.name}: host",
        f"RDMA ports of hosts of {fabric.name}: traffic, congestion control, retransmission and pauses.",
        (HOST_VARIABLE, DEVICE_VARIABLE),
        (traffic("RDMA traffic"), _congestion_control(), transport(), *pauses),
    )


def traffic(title: str) -> BoardRow:
    """Return the row of RDMA traffic by host port; the kernel's mlx5 driver fills its counters with RDMA alone."""
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
    """Return a panel of rates of node_exporter's InfiniBand counters by RDMA port, each with its legend."""
    queries = tuple(Query(_rdma(counter), f"{_PORT} {called}") for counter, called in counters.items())
    return Panel(title, description, "pps", queries)


def _pauses(fabric: Fabric, cls: TrafficClass) -> Iterator[BoardRow]:
    """Yield the row of a lossless class's pauses at hosts, by the counters of their NICs' drivers; none if unknown."""
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
