"""The arrays of flows that are received in any order, and of senders with a congestion window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine import window_records
from lossless.analysis.simulation.engine.records import ANY_ORDER, NEVER, NEWS
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.analysis.simulation.engine.network import SimFlow, SimNetwork, SimWindow

_CONTROLS = {"none": 0, "nscc": 1}
_PS_PER_BYTE = 8e12
_SPARE_NEWS = 64
"""News of a flow beside those of its window: credit that it has not looked at."""


class Windows(NamedTuple):
    """``packets``, ``sent`` and ``asked`` have an entry for each packet."""

    packets: Any
    sent: Any
    asked: Any
    senders: Any
    news: Any
    windows: Any
    pullers: Any


def windows_of(network: SimNetwork, flows: Any, place: Sequence[int], links: Any) -> Windows:
    """Return the arrays of a network's windows, and set the indexes of its flows in them."""
    flows["first_packet"] = flows["sender"] = -1
    any_order = [n for n, flow in enumerate(network.flows) if flow.window or flow.ahead_frames is not None]
    packets = _set_packets(network, flows, place, any_order)
    windowed = [(n, window) for n in any_order if (window := network.flows[n].window) is not None]
    lines = [(window, _line_bps(flows[place[n]], links)) for n, window in windowed]
    kinds = sorted(set(lines), key=repr)
    senders = np.zeros(len(windowed), window_records.SENDER)
    senders["window"] = [kinds.index(line) for line in lines]
    depths = [
        _set_sender(record, network.flows[n], flows[place[n]], line)
        for record, (n, _), line in zip(senders, windowed, lines, strict=True)
    ]
    senders["depth"] = depths
    senders["first_news"] = 2 * (np.cumsum(depths) - depths) if depths else 0
    senders["flow"] = [place[n] for n, _ in windowed]
    flows["sender"][senders["flow"]] = range(len(windowed))
    flows["stamped"][senders["flow"]] = True
    for number, acks in enumerate(flows["acks"][senders["flow"]].tolist()):
        if acks >= 0:
            flows["taken"][acks], flows["told"][acks] = NEWS, number
    hosts = _set_pullers(network, senders, windowed)
    return Windows(
        packets=np.zeros(packets, np.uint8),
        sent=np.zeros(packets if windowed else 0, window_records.SENT),
        asked=np.zeros(packets if hosts else 0, window_records.ASK),
        senders=senders,
        news=np.zeros(2 * sum(depths), window_records.NEWS),
        windows=_windows(kinds),
        pullers=_pullers(network, flows, place, links, hosts),
    )


def _line_bps(flow: Any, links: Any) -> float:
    return round(_PS_PER_BYTE / float(links["ps_per_byte"][flow["first_link"]]))


def _set_packets(network: SimNetwork, flows: Any, place: Sequence[int], any_order: Sequence[int]) -> int:
    """Set the index of each flow's first packet; return the number of packets."""
    many = 0
    for number in any_order:
        flow, record = network.flows[number], flows[place[number]]
        record["taken"], record["first_packet"] = ANY_ORDER, many
        record["window_frames"] = flow.ahead_frames or 0
        many += -(-flow.size_bytes // flow.mtu_bytes)
    return many


def _set_sender(record: Any, flow: SimFlow, own: Any, line: tuple[SimWindow, float]) -> int:
    """Set the state of a sender at its start; return the maximum number of news under way to it."""
    window, line_bps = line
    record["base_rtt_ps"] = round(window.base_rtt_us * 1e6)
    first_bytes = max(window.bdps * line_bps / 8 * window.base_rtt_us / 1e6, _frame_bytes(own))
    record["cwnd"] = first_bytes if window.control == "nscc" or not window.credit_bytes else float(NEVER)
    record["credit"] = round(first_bytes)
    record["speculates"] = window.credit_bytes > 0
    record["puller"] = record["first_sent"] = record["last_sent"] = record["last_held"] = -1
    record["recycles"] = bool(flow.spread and flow.spread.recycles)
    packets = -(-flow.size_bytes // flow.mtu_bytes)
    return int(min(packets, 4 * first_bytes // _frame_bytes(own))) + _SPARE_NEWS


def _frame_bytes(flow: Any) -> int:
    return int(flow["mtu_bytes"]) + int(flow["overhead_bytes"])


def _windows(kinds: Sequence[tuple[SimWindow, float]]) -> Any:
    records = np.zeros(len(kinds), window_records.WINDOW)
    for record, (window, line_bps) in zip(records, kinds, strict=True):
        record["bdps"], record["target"] = window.bdps, window.target_rtts
        record["line_bytes_per_ps"] = line_bps / _PS_PER_BYTE
        record["base_rtt_ps"] = round(window.base_rtt_us * 1e6)
        record["timeout_ps"] = round((window.timeout_us or 0) * 1e6)
        record["ack_bytes"] = window.ack_bytes
        record["control"], record["nacks"] = _CONTROLS[window.control], window.nacks
    return records


def _set_pullers(
    network: SimNetwork, senders: Any, windowed: Sequence[tuple[int, SimWindow]]
) -> dict[int, list[int]]:
    """Set which puller gives each sender credit; return the flows of each host that pulls."""
    hosts: dict[int, list[int]] = {}
    for record, (number, window) in zip(senders, windowed, strict=True):
        if window.credit_bytes:
            host = network.flows[number].path[-1]
            hosts.setdefault(host, []).append(number)
            record["puller"] = list(hosts).index(host)
    return hosts


def _pullers(
    network: SimNetwork, flows: Any, place: Sequence[int], links: Any, hosts: dict[int, list[int]]
) -> Any:
    records = np.zeros(len(hosts), window_records.PULLER)
    for record, numbers in zip(records, hosts.values(), strict=True):
        window = network.flows[numbers[0]].window
        assert window is not None
        ps_per_byte = float(links["ps_per_byte"][flows["last_link"][place[numbers[0]]]])
        record["credit_bytes"] = window.credit_bytes
        record["ps_per_byte"] = ps_per_byte / window.credit_part
        record["first_ask"], record["first"] = -1, -1
    return records
