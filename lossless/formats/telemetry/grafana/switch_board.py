"""The dashboard of one switch or several: ports, lossless classes, other priorities, watchdog, pools and polling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.telemetry.grafana.fabric_board import priority_variable
from lossless.formats.telemetry.grafana.host_board import (
    INTERFACE,
    PERIODIC,
    QUEUE,
    SWITCH,
    Board,
    BoardRow,
    BoardVariable,
    Panel,
    Query,
    any_sonic,
    per,
    rate,
    sonic,
)
from lossless.formats.telemetry.grafana.storm_board import (
    headroom_bytes,
    headroom_note,
    marking_note,
    watchdog_note,
)
from lossless.formats.telemetry.metrics import any_of
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.model import Fabric, TrafficClass

_PORT = "{{switch}} {{interface}}"
_OF_QUEUES = "queue_sent_packets_total"
"""A metric of ``lossless exporter`` that gnmic serves of every switch, too."""


def switch_board(fabric: Fabric) -> Board:
    """Return the dashboard of the switches of a RoCE fabric."""
    view = View(fabric)
    classes = (_class(view, cls) for cls in fabric.classes.lossless)
    watchdog = (_watchdog(view),) if fabric.classes.lossless else ()
    return Board(
        "switch",
        f"{fabric.name}: switch",
        f"Ports, queues, priority groups and buffer pools of switches of {fabric.name}.",
        (
            BoardVariable("switch", "Switch", f"label_values({any_sonic(('info', _OF_QUEUES))}, switch)"),
            BoardVariable(
                "interface",
                "Interface",
                f"label_values({any_sonic(('interface_up', _OF_QUEUES), SWITCH)}, interface)",
            ),
            priority_variable(fabric),
        ),
        (_ports(), *classes, _others(fabric), *watchdog, _pools(), _polling()),
    )


def _of_port(metric: str, *matchers: str) -> str:
    return sonic(metric, SWITCH, INTERFACE, *matchers)


def _ports() -> BoardRow:
    received, sent = (f"8 * {rate(_of_port(f'interface_{way}_bytes_total'))}" for way in ("received", "sent"))
    failed = tuple(
        Query(rate(_of_port(f"interface_{way}_{what}_total")), f"{_PORT} {way} {said}")
        for way in ("received", "sent")
        for what, said in (("dropped_packets", "dropped"), ("errors", "errors"))
    )
    return BoardRow(
        "Ports",
        (
            Panel("Received", "Bits received by each port.", "bps", (Query(received, _PORT),)),
            Panel("Sent", "Bits sent by each port.", "bps", (Query(sent, _PORT),)),
            Panel(
                "Drops and errors",
                "Packets that a port drops in either direction, of any class, and packets with errors. "
                "Errors are of the cable or the transceiver; they break RDMA as drops do.",
                "pps",
                failed,
            ),
            Panel(
                "Ports that are up",
                "Operational state of each port.",
                "bool_yes_no",
                (Query(_of_port("interface_up"), _PORT),),
                "states",
                good_from=1,
            ),
        ),
    )


def _class(view: View, cls: TrafficClass) -> BoardRow:
    name = f"{cls.name}, priority {cls.priority}"
    return BoardRow(f"Lossless class {name}", (*_pauses(cls), *_queues(view, cls), *_occupancy(view, cls)))


def _pauses(cls: TrafficClass) -> Iterator[Panel]:
    priority = f'priority="{cls.priority}"'
    for way, who in (("received", "from the neighbor: this port must not send"), ("sent", "to the neighbor")):
        yield Panel(
            f"{cls.name}: pauses {way}",
            f"PFC frames of priority {cls.priority} {who}.",
            "pps",
            (Query(rate(_of_port(f"pfc_{way}_frames_total", priority)), _PORT),),
            opens=("storm",),
        )
    yield Panel(
        f"{cls.name}: share of time paused",
        f"Part of the time in which the neighbor kept priority {cls.priority} of this port paused. Only "
        "where the switch polls the history of PFC.",
        "percentunit",
        (Query(rate(_of_port("pfc_received_pause_seconds_total", priority)), _PORT),),
        opens=("storm",),
    )


def _queues(view: View, cls: TrafficClass) -> Iterator[Panel]:
    queue = f'queue="{cls.priority}"'
    yield Panel(
        f"{cls.name}: sent",
        f"Bits that queue {cls.priority} sends.",
        "bps",
        (Query(f"8 * {rate(_of_port('queue_sent_bytes_total', queue))}", _PORT),),
    )
    yield Panel(
        f"{cls.name}: ECN marks",
        f"Packets that queue {cls.priority} marks.{marking_note(view, cls)}",
        "pps",
        (Query(rate(_of_port("queue_ecn_marked_packets_total", queue)), _PORT),),
    )
    yield Panel(
        f"{cls.name}: drops",
        f"Packets that queue {cls.priority} drops, those that WRED drops instead of marking, and packets that priority "
        f"group {cls.priority} drops because its headroom is full.",
        "pps",
        (
            Query(rate(_of_port("queue_dropped_packets_total", queue)), f"{_PORT} queue"),
            Query(rate(_of_port("queue_wred_dropped_packets_total", queue)), f"{_PORT} WRED"),
            Query(
                rate(_of_port("priority_group_dropped_packets_total", f'pg="{cls.priority}"')),
                f"{_PORT} priority group",
            ),
        ),
    )


def _occupancy(view: View, cls: TrafficClass) -> Iterator[Panel]:
    group = f'pg="{cls.priority}"'
    yield Panel(
        f"{cls.name}: peak queue depth",
        f"The most that queue {cls.priority} held in the telemetry interval.{marking_note(view, cls)}",
        "bytes",
        (Query(_of_port("queue_watermark_bytes", f'queue="{cls.priority}"', PERIODIC), _PORT),),
    )
    yield Panel(
        f"{cls.name}: peak PG occupancy",
        f"The most that priority group {cls.priority} held of the shared buffer in the telemetry interval.",
        "bytes",
        (Query(_of_port("priority_group_shared_watermark_bytes", group, PERIODIC), _PORT),),
    )
    yield Panel(
        f"{cls.name}: headroom in use",
        f"The most that priority group {cls.priority} held of its headroom in the telemetry interval; a dashed line is "
        f"where it is full, and drops begin.{headroom_note(view, cls)}",
        "bytes",
        (Query(_of_port("priority_group_headroom_watermark_bytes", group, PERIODIC), _PORT),),
        limits=headroom_bytes(view, cls),
    )


def _others(fabric: Fabric) -> BoardRow:
    names = any_of(cls.priority for cls in fabric.classes.lossless if cls.priority is not None)
    lossy = (f'priority!~"{names}"',) if names else ()
    pauses = tuple(
        Query(
            per("switch, interface, priority", rate(_of_port(f"pfc_{way}_frames_total", *lossy))),
            f"{_PORT} {way}, priority {{{{priority}}}}",
        )
        for way in ("received", "sent")
    )
    chosen = per("switch, interface, queue", f"8 * {rate(_of_port('queue_sent_bytes_total'))}")
    return BoardRow(
        "Other priorities",
        (
            Panel(
                "Pauses on lossy priorities",
                "PFC frames of priorities that the intent does not make lossless: a neighbor pauses "
                "traffic that it should not, by wrong PFC or a wrong DSCP map. There should be none.",
                "pps",
                pauses,
            ),
            Panel(
                "Sent by queue",
                "Bits that each queue sends. RDMA in queue 0 is RDMA that nobody classified.",
                "bps",
                (Query(chosen, f"{_PORT} queue {{{{queue}}}}"),),
            ),
        ),
    )


def _watchdog(view: View) -> BoardRow:
    queue = f"{_PORT} queue {{{{queue}}}}"
    return BoardRow(
        "PFC watchdog",
        (
            Panel(
                "Queues in a storm",
                f"Queues whose watchdog has triggered and has not restored them.{watchdog_note(view)}",
                "bool_yes_no",
                (Query(_of_port("pfc_watchdog_storm", QUEUE), queue),),
                "states",
                opens=("storm",),
                bad_from=1,
            ),
            Panel(
                "Storms detected and restored",
                "How often the watchdog of a queue triggers and restores it. Storms that come and go again "
                "are one cause that stays.",
                "cps",
                (
                    Query(rate(_of_port("pfc_watchdog_storms_detected_total", QUEUE)), f"{queue} detected"),
                    Query(rate(_of_port("pfc_watchdog_storms_restored_total", QUEUE)), f"{queue} restored"),
                ),
            ),
            Panel(
                "Dropped in a storm",
                "Packets of stormed queues that the watchdog drops: a job loses them.",
                "pps",
                (
                    Query(
                        rate(_of_port("pfc_watchdog_dropped_packets_total", QUEUE)),
                        f"{queue} {{{{direction}}}}",
                    ),
                ),
            ),
            Panel(
                "Times of the watchdog",
                f"Detection and restoration time that the switch applies.{watchdog_note(view)}",
                "s",
                (
                    Query(
                        per("switch, queue", _of_port("pfc_watchdog_detection_seconds", QUEUE), "max"),
                        "{{switch}} queue {{queue}} detection",
                    ),
                    Query(
                        per("switch, queue", _of_port("pfc_watchdog_restoration_seconds", QUEUE), "max"),
                        "{{switch}} queue {{queue}} restoration",
                    ),
                ),
            ),
        ),
    )


def _pools() -> BoardRow:
    return BoardRow(
        "Buffer pools",
        (
            Panel(
                "Peak pool occupancy",
                "The most that each buffer pool held in the telemetry interval.",
                "bytes",
                (Query(sonic("buffer_pool_watermark_bytes", SWITCH, PERIODIC), "{{switch}} {{pool}}"),),
            ),
            Panel(
                "Shared headroom in use",
                "The most that all priority groups together held of the headroom of a pool in the telemetry interval.",
                "bytes",
                (
                    Query(
                        sonic("buffer_pool_headroom_watermark_bytes", SWITCH, PERIODIC), "{{switch}} {{pool}}"
                    ),
                ),
            ),
        ),
    )


def _polling() -> BoardRow:
    return BoardRow(
        "Scraping",
        (
            Panel(
                "Counter polling",
                "Whether each group of FLEX_COUNTER_TABLE is polled. What is not polled does not move or is missing.",
                "bool_yes_no",
                (Query(sonic("polling_enabled", SWITCH), "{{switch}} {{group}}"),),
                "states",
                good_from=1,
            ),
            Panel(
                "Poll intervals",
                "How often the switch reads each group. A rate over a shorter time means nothing.",
                "s",
                (Query(sonic("polling_interval_seconds", SWITCH), "{{switch}} {{group}}"),),
            ),
            Panel(
                "Databases that answer",
                "Whether the exporter could read each database of the switch.",
                "bool_yes_no",
                (Query(sonic("database_up", SWITCH), "{{switch}} {{database}}"),),
                "states",
                good_from=1,
            ),
            Panel(
                "Time of a scrape",
                "How long the exporter took to read the databases.",
                "s",
                (Query(sonic("scrape_duration_seconds", SWITCH), "{{switch}}"),),
            ),
        ),
    )
