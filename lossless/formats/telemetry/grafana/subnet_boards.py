"""The dashboards of an InfiniBand subnet: the whole of it, and its hosts; UFM Telemetry alone has its switches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.telemetry.grafana.board import Board, BoardRow, Panel, Query
from lossless.formats.telemetry.grafana.fabric_board import FIRING
from lossless.formats.telemetry.grafana.host_board import (
    DEVICE,
    DEVICE_VARIABLE,
    HOST_VARIABLE,
    traffic,
    transport,
)
from lossless.formats.telemetry.grafana.promql import HOST, HOSTS, UFM, node, per, rate, series, top
from lossless.ground.basics.known import Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.telemetry.grafana.board import Unit
    from lossless.model.fabric.infiniband.subnet import Subnet

_SHOWN = 10
_PORT = "{{node_guid}} port {{port_num}}"
_DEVICE = "{{instance}} {{device}}"


def subnet_fabric_board(subnet: Subnet) -> Board:
    """Return the dashboard of the whole subnet."""
    ufm = subnet.manager == "ufm"
    seen = "Switches by UFM Telemetry" if ufm else "Without UFM no exporter reads the counters of switches"
    return Board(
        "fabric",
        f"{subnet.name}: fabric",
        f"The InfiniBand subnet {subnet.name}. {seen}; hosts by node_exporter.",
        (),
        (_now(subnet, ufm=ufm), *(_switches() if ufm else ()), *_rails(subnet), _hosts()),
    )


def subnet_host_board(subnet: Subnet) -> Board:
    """Return the dashboard of its hosts."""
    return Board(
        "host",
        f"{subnet.name}: host",
        f"InfiniBand ports of hosts of {subnet.name}: traffic, waiting for credits, errors and retransmission.",
        (HOST_VARIABLE, DEVICE_VARIABLE),
        (traffic("Traffic"), _links(), transport()),
    )


def _now(subnet: Subnet, *, ufm: bool) -> BoardRow:
    hosts = 0 if isinstance(subnet.hosts, Unknown) else len(subnet.hosts)
    hcas = 0 if isinstance(subnet.hcas, Unknown) else len(subnet.hcas)
    active = f"sum({node('infiniband_state_id', HOSTS)} == bool 4)"
    panels = [
        _number(
            "Hosts that answer",
            f"Hosts whose last scrape succeeded. The intent has {hosts}.",
            per("", series("up", HOSTS)),
            hosts,
        ),
        _number(
            "Ports of hosts that are active",
            f"Ports that the subnet manager has brought up. The intent has {hcas}.",
            active,
            hcas,
        ),
    ]
    if ufm:
        seen = "Whether the last scrape of UFM Telemetry succeeded."
        panels.append(_number("UFM Telemetry answers", seen, per("", series("up", UFM)), 1))
    return BoardRow("Now", (*panels, FIRING))


def _number(title: str, description: str, expression: str, intended: int) -> Panel:
    return Panel(title, description, "short", (Query(expression, ""),), "number", good_from=intended)


def _switches() -> Iterator[BoardRow]:
    def panel(title: str, description: str, unit: Unit, counter: str) -> Panel:
        return Panel(title, description, unit, (Query(top(_SHOWN, rate(series(counter, UFM))), _PORT),))

    yield BoardRow(
        "Switches and their links",
        (
            panel(
                "Ports that wait for credits",
                "Ticks in which a port had data and no credits: the receiver is congested. Compare ports "
                "with each other; the length of a tick depends on the hardware.",
                "cps",
                "PortXmitWaitExtended",
            ),
            panel("Packets sent", "The ports that send most packets.", "pps", "PortXmitPktsExtended"),
            panel(
                "Packets discarded",
                "Packets that a port discards at its output: they waited too long, or the port is down.",
                "pps",
                "PortXmitDiscardsExtended",
            ),
            panel("Packets with errors", "Packets received with an error.", "pps", "PortRcvErrorsExtended"),
            panel(
                "Symbol errors",
                "Errors that neither FEC nor retransmission of the link corrected: change the cable or the "
                "transceiver.",
                "cps",
                "SymbolErrorCounterExtended",
            ),
            panel("Links that go down", "How often links go down.", "cps", "LinkDownedCounterExtended"),
        ),
    )


def _rails(subnet: Subnet) -> Iterator[BoardRow]:
    """Yield the rails, where hosts have several adapters: adapter n of every host is rail n."""
    if isinstance(subnet.hcas, Unknown) or len({hca.rail for hca in subnet.hcas}) < 2:
        return
    names = dict.fromkeys((hca.rail, hca.device) for hca in sorted(subnet.hcas, key=lambda hca: hca.rail))
    said = ", ".join(f"{device} is rail {rail}" for rail, device in names)

    def panel(title: str, what: str, unit: Unit, expression: str) -> Panel:
        query = Query(per("device", expression), "{{device}}")
        return Panel(f"Rails: {title}", f"{what} By device: {said}.", unit, (query,), opens=("host",))

    sent = f"8 * {rate(node('infiniband_port_data_transmitted_bytes_total', HOSTS))}"
    waits = rate(node("infiniband_port_transmit_wait_total", HOSTS))
    yield BoardRow(
        "Rails",
        (
            panel("traffic", "Bits that all hosts send on a rail.", "bps", sent),
            panel("waiting for credits", "Ticks in which hosts had data and no credits.", "cps", waits),
        ),
    )


def _hosts() -> BoardRow:
    def panel(title: str, description: str, unit: Unit, counter: str) -> Panel:
        of = rate(node(f"infiniband_{counter}", HOSTS))
        query = Query(top(_SHOWN, per("instance, device", of)), _DEVICE)
        return Panel(title, description, unit, (query,), opens=("host",))

    return BoardRow(
        "Hosts",
        (
            panel(
                "Hosts that wait for credits",
                "Ticks in which a host had data and no credits from its leaf.",
                "cps",
                "port_transmit_wait_total",
            ),
            panel(
                "Hosts with errors", "Packets received with an error.", "pps", "port_errors_received_total"
            ),
            panel(
                "Hosts whose link goes down", "How often links of hosts go down.", "cps", "link_downed_total"
            ),
        ),
    )


def _links() -> BoardRow:
    def lines(title: str, description: str, unit: Unit, **counters: str) -> Panel:
        queries = tuple(
            Query(rate(node(f"infiniband_{counter}", HOST, DEVICE)), f"{_DEVICE} {called}".rstrip())
            for counter, called in counters.items()
        )
        return Panel(title, description, unit, queries)

    data = rate(node("infiniband_port_data_transmitted_bytes_total", HOST, DEVICE))
    share = f"{data} / {node('infiniband_rate_bytes_per_second', HOST, DEVICE)}"
    return BoardRow(
        "Links",
        (
            Panel(
                "Share of the rate sent",
                "What each port sends, as a share of its rate.",
                "percentunit",
                (Query(share, _DEVICE),),
            ),
            lines(
                "Waiting for credits",
                "Ticks in which a port had data and no credits.",
                "cps",
                port_transmit_wait_total="",
            ),
            lines(
                "Errors of the link",
                "Symbol errors, links that recover or go down: a cable or a transceiver.",
                "cps",
                symbol_error_total="symbol errors",
                link_error_recovery_total="recovered",
                link_downed_total="down",
                local_link_integrity_errors_total="integrity",
            ),
            lines(
                "Packets lost",
                "Packets received with an error, and packets discarded at the output.",
                "pps",
                port_errors_received_total="errors",
                port_discards_transmitted_total="discards",
            ),
        ),
    )
