"""The dashboard of a whole RoCE fabric: current faults, then each tier, the rails, the hosts, and the scraping."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.telemetry.collection import places_in_service, switch_places, tiers
from lossless.formats.telemetry.grafana.host_board import (
    GROUP,
    HOSTS,
    PERIODIC,
    PRIORITY,
    QUEUE,
    SWITCHES,
    Board,
    BoardRow,
    BoardVariable,
    Panel,
    Query,
    node,
    per,
    rate,
    series,
    sonic,
    top,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.model import Fabric

_BUSIEST = 10
"""The most ports of a tier, or hosts, in one panel, so that their lines remain distinguishable."""
_TIER_TITLES = {"leaf": "Leaves", "spine": "Spines", "super-spine": "Super-spines", "switch": "Switches"}


FIRING = Panel(
    "Alerts that fire",
    "Alerts of this tool that fire now; the description and the runbook of each are in Alertmanager.",
    "none",
    (Query(series("ALERTS", 'alertname=~"Lossless.+"', 'alertstate="firing"'), ""),),
    "table",
)


def priority_variable(fabric: Fabric) -> BoardVariable:
    """Return a dashboard's variable for priorities, initially the lossless ones of the intent."""
    chosen = tuple(str(cls.priority) for cls in fabric.classes.lossless)
    query = f"label_values({sonic('pfc_received_frames_total')}, priority)"
    return BoardVariable("priority", "Priority", query, chosen)


def fabric_board(fabric: Fabric) -> Board:
    """Return the dashboard of a whole RoCE fabric."""
    names = ", ".join(f"{cls.name} (priority {cls.priority})" for cls in fabric.classes.lossless)
    rows = [
        _now(fabric),
        *(_tier(tier) for tier in tiers(fabric)),
        *_rails(fabric),
        *_hosts(fabric),
        _scraping(),
    ]
    return Board(
        "fabric",
        f"{fabric.name}: fabric",
        f"All switches and hosts of {fabric.name}. Lossless classes: {names or 'none'}.",
        (priority_variable(fabric),),
        tuple(rows),
    )


def _now(fabric: Fabric) -> BoardRow:
    switches, hosts = len(places_in_service(fabric)), len(fabric.hosts)
    return BoardRow(
        "Now",
        (
            Panel(
                "Switches that answer",
                f"Switches whose last scrape succeeded. The intent has {switches} in service.",
                "short",
                (Query(per("", series("up", SWITCHES)), ""),),
                "number",
                good_from=switches,
            ),
            Panel(
                "Hosts that answer",
                f"Hosts whose last scrape succeeded. The intent has {hosts}.",
                "short",
                (Query(per("", series("up", HOSTS)), ""),),
                "number",
                good_from=hosts,
            ),
            Panel(
                "Queues in a storm",
                "Queues whose watchdog has triggered and has not restored them: what they hold is dropped "
                "or forwarded.",
                "short",
                (Query(per("", sonic("pfc_watchdog_storm")), ""),),
                "number",
                opens=("storm",),
                bad_from=1,
            ),
            Panel(
                "Drops in lossless queues",
                "Packets of the chosen priorities that egress queues and priority groups drop: lossless "
                "traffic has none.",
                "pps",
                (
                    Query(per("", rate(sonic("queue_dropped_packets_total", QUEUE))), "queues"),
                    Query(
                        per("", rate(sonic("priority_group_dropped_packets_total", GROUP))), "priority groups"
                    ),
                ),
                "number",
                opens=("storm",),
                bad_from=0.001,
            ),
            Panel(
                "Pauses sent",
                "PFC frames of the chosen priorities that all switches send. Some are normal under incast.",
                "pps",
                (Query(per("", rate(sonic("pfc_sent_frames_total", PRIORITY))), ""),),
                "number",
                opens=("storm",),
            ),
            FIRING,
        ),
    )


def _tier(tier: str) -> BoardRow:
    at = f'tier="{tier}"'
    title = _TIER_TITLES[tier]
    bits = f"8 * {rate(sonic('interface_sent_bytes_total', at))}"
    share = (
        f"{bits} / on (switch, namespace, interface) (8 * {sonic('interface_speed_bytes_per_second', at)})"
    )
    return BoardRow(
        title,
        (
            Panel(
                f"{title}: pauses received",
                "PFC frames of the chosen priorities from neighbors, by switch. One switch that receives "
                "many and sends few is next to the source of a storm.",
                "pps",
                (Query(per("switch", rate(sonic("pfc_received_frames_total", at, PRIORITY))), "{{switch}}"),),
                opens=("switch", "storm"),
            ),
            Panel(
                f"{title}: pauses sent",
                "PFC frames of the chosen priorities to neighbors, by switch: its priority groups are above XOFF.",
                "pps",
                (Query(per("switch", rate(sonic("pfc_sent_frames_total", at, PRIORITY))), "{{switch}}"),),
                opens=("switch", "storm"),
            ),
            Panel(
                f"{title}: ECN marks",
                "Packets that queues of the chosen priorities mark, by switch. Pauses without marks before "
                "them mean that marking begins too late, or is off.",
                "pps",
                (
                    Query(
                        per("switch", rate(sonic("queue_ecn_marked_packets_total", at, QUEUE))), "{{switch}}"
                    ),
                ),
                opens=("switch",),
            ),
            Panel(
                f"{title}: drops in lossless queues",
                "Packets that egress queues and priority groups of the chosen priorities drop, by switch.",
                "pps",
                (
                    Query(
                        per("switch", rate(sonic("queue_dropped_packets_total", at, QUEUE))),
                        "{{switch}} queues",
                    ),
                    Query(
                        per("switch", rate(sonic("priority_group_dropped_packets_total", at, GROUP))),
                        "{{switch}} priority groups",
                    ),
                ),
                opens=("switch",),
            ),
            Panel(
                f"{title}: largest headroom in use",
                "The highest headroom watermark of any port in the telemetry interval, by switch. Above 0, "
                "pauses came too late for the shared buffer; at the configured headroom, packets are dropped.",
                "bytes",
                (
                    Query(
                        per(
                            "switch",
                            sonic("priority_group_headroom_watermark_bytes", at, GROUP, PERIODIC),
                            "max",
                        ),
                        "{{switch}}",
                    ),
                ),
                opens=("switch",),
            ),
            Panel(
                f"{title}: busiest ports",
                f"The {_BUSIEST} ports that send most, as a share of their speed. A port at line rate whose "
                "switch pauses others is an incast; a storm pauses ports that are idle.",
                "percentunit",
                (Query(f"topk({_BUSIEST}, {share})", "{{switch}} {{interface}}"),),
                opens=("switch",),
            ),
        ),
    )


def _rails(fabric: Fabric) -> Iterator[BoardRow]:
    if not any(place.rail for place in switch_places(fabric)):
        return
    on_rail = 'rail!=""'
    pauses = per("rail", rate(sonic("pfc_received_frames_total", on_rail, PRIORITY)))
    sent = per("rail", f"8 * {rate(sonic('interface_sent_bytes_total', on_rail))}")
    marks = per("rail", rate(sonic("queue_ecn_marked_packets_total", on_rail, QUEUE)))
    yield BoardRow(
        "Rails",
        (
            Panel(
                "Rails: traffic",
                "Bits that the leaves of each rail send. Collectives load all rails equally; one that falls "
                "behind slows all.",
                "bps",
                (Query(sent, "rail {{rail}}"),),
                opens=("switch",),
            ),
            Panel(
                "Rails: pauses received",
                "PFC frames of the chosen priorities that the leaves of each rail receive.",
                "pps",
                (Query(pauses, "rail {{rail}}"),),
                opens=("storm",),
            ),
            Panel(
                "Rails: ECN marks",
                "Packets that the leaves of each rail mark in queues of the chosen priorities.",
                "pps",
                (Query(marks, "rail {{rail}}"),),
                opens=("storm",),
            ),
        ),
    )


def _hosts(fabric: Fabric) -> Iterator[BoardRow]:
    if not fabric.hosts:
        return
    retries = per("instance", rate(node("infiniband_packet_sequence_errors_total", HOSTS)))
    handled = per("", rate(node("infiniband_rp_cnp_packets_handled_total", HOSTS)))
    sent = per("", rate(node("infiniband_np_cnp_packets_sent_total", HOSTS)))
    ignored = per("", rate(node("infiniband_rp_cnp_ignored_packets_received_total", HOSTS)))
    timeouts = per("instance", rate(node("infiniband_local_ack_timeout_errors_total", HOSTS)))
    yield BoardRow(
        "Hosts",
        (
            Panel(
                "Hosts: CNPs",
                "CNPs that all hosts send, that slow a flow down, and that change nothing. Sent and "
                "handled should be equal: fewer handled than sent means that CNPs are lost. From "
                "node_exporter 1.11 on.",
                "pps",
                (Query(sent, "sent"), Query(handled, "handled"), Query(ignored, "ignored")),
            ),
            Panel(
                "Hosts: packets missing",
                f"NAKs for missing packets, the {_BUSIEST} hosts with most: each is a packet that was "
                "dropped or came out of order. From node_exporter 1.11 on.",
                "pps",
                (Query(top(_BUSIEST, retries), "{{instance}}"),),
                opens=("host",),
            ),
            Panel(
                "Hosts: ACK timeouts",
                f"ACKs that did not come in time, the {_BUSIEST} hosts with most: the path was paused or "
                "down for longer than the timeout. From node_exporter 1.11 on.",
                "cps",
                (Query(top(_BUSIEST, timeouts), "{{instance}}"),),
                opens=("host",),
            ),
        ),
    )


def _scraping() -> BoardRow:
    return BoardRow(
        "Scraping",
        (
            Panel(
                "Time of a scrape",
                "How long the exporter took to read the databases of each switch.",
                "s",
                (Query(per("switch", sonic("scrape_duration_seconds"), "max"), "{{switch}}"),),
                opens=("switch",),
            ),
            Panel(
                "Counter groups that are not polled",
                "Groups of FLEX_COUNTER_TABLE that are disabled: their counters do not move or are "
                "missing, which looks like no traffic.",
                "short",
                (
                    Query(
                        "count by (switch, group) (" + sonic("polling_enabled") + " == 0)",
                        "{{switch}} {{group}}",
                    ),
                ),
                opens=("switch",),
            ),
        ),
    )
