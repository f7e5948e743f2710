"""The dashboard of a pause storm: its source, the stalled ports, its cost, and the next steps.

The dashboard of switches too shows intended values from here: headroom, marking thresholds, the watchdog's times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.telemetry.collection import host_facing
from lossless.formats.telemetry.grafana.fabric_board import priority_variable
from lossless.formats.telemetry.grafana.host_board import (
    GROUP,
    HOSTS,
    PERIODIC,
    PRIORITY,
    QUEUE,
    Board,
    BoardRow,
    Panel,
    Query,
    node,
    per,
    rate,
    sonic,
    top,
)
from lossless.formats.telemetry.metrics import any_of, ethtool_metric, pause_counters
from lossless.ground.basics.units import listed, size_text
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.model import Fabric, TrafficClass
    from lossless.model.fabric.view import PortSet


def headroom_bytes(view: View, cls: TrafficClass) -> tuple[int, ...]:
    """Return the headroom of a class's priority groups in bytes, each value once; none where it is unknown."""
    values = {_headroom(ports, cls) for ports in view.lossless_sets}
    return tuple(sorted(values - {0}))


def headroom_note(view: View, cls: TrafficClass) -> str:
    """Return the headroom of a class on ports of each rate, as a sentence; empty where it is unknown."""
    pairs = dict.fromkeys((ports.rate, _headroom(ports, cls)) for ports in view.lossless_sets)
    known = [f"{size_text(value)} on ports of {rate}" for rate, value in pairs if value]
    return f" The intent gives {listed(known, 4)}." if known else ""


def marking_note(view: View, cls: TrafficClass) -> str:
    """Return a class's ECN thresholds (Kmin, Kmax) and mark probability, as a sentence; empty without marking."""
    profiles = (
        queue.wred
        for ports in view.port_sets
        if cls.priority is not None and (queue := ports.qos.queues[cls.priority]) is not None
    )
    curves = dict.fromkeys(
        profile.green.thresholds for profile in profiles if profile is not None and profile.marks
    )
    known = [
        f"from {size_text(low)} to {size_text(high)}, there {percent}%"
        for low, high, percent in curves
        if low is not None and high is not None and percent is not None
    ]
    return f" ECN marks {listed(known, 4)}." if known else ""


def watchdog_note(view: View) -> str:
    """Return detection times and actions of the PFC watchdog, as a sentence; empty without detection times."""
    dogs = dict.fromkeys(ports.qos.watchdog.settings for ports in view.lossless_sets if ports.qos.watchdog)
    known = [f"after {detection} ms ({action})" for detection, _, action in dogs if detection]
    return f" The watchdog triggers {listed(known, 4)}." if known else ""


def _headroom(ports: PortSet, cls: TrafficClass) -> int:
    group = ports.qos.groups[cls.priority] if cls.priority is not None else None
    return group.buffer.xoff_bytes if group is not None and group.buffer is not None else 0


_SHOWN = 10
"""The most ports or hosts of a query, so that their lines remain distinguishable."""
_PORT = "{{switch}} {{interface}}"
_STEPS = (
    "**Who pauses.** A host that sends pauses and receives none is the source. Look at its NIC, its PCIe and its job; "
    "take it out of service if it does not stop.",
    "**Incast or storm.** Behind an incast a port runs at line rate: marking and DCQCN should slow its senders down. "
    "Ports that are idle and paused are a storm.",
    "**What runs.** Gather the switch and its hosts (`lossless collector --switch`, `lossless collector`), and compare "
    "them with the intent: `lossless verify fabric.yaml CAPTURES`.",
    "**Which way.** Follow the class: `lossless trace fabric.yaml --from HOST --to HOST --dscp {dscp}`.",
    "**What it stalls.** `lossless storm fabric.yaml --from HOST` says which hosts stall before the watchdog triggers.",
)
"""The next steps of an operator, in order."""


def storm_board(fabric: Fabric) -> Board:
    """Return the dashboard of a pause storm."""
    return Board(
        "storm",
        f"{fabric.name}: pause storm",
        f"Where pauses in {fabric.name} come from, what they stall, and what to run next.",
        (priority_variable(fabric),),
        (_now(fabric), _source(fabric), *_stalled(fabric), _cost(), _next(fabric)),
    )


def _now(fabric: Fabric) -> BoardRow:
    return BoardRow(
        "Storms",
        (
            Panel(
                "Queues in a storm",
                f"Queues whose watchdog has triggered and has not restored them.{watchdog_note(View(fabric))}",
                "bool_yes_no",
                (Query(f"{sonic('pfc_watchdog_storm')} == 1", f"{_PORT} queue {{{{queue}}}}"),),
                "states",
                opens=("switch",),
                bad_from=1,
            ),
            Panel(
                "Storms detected",
                "How often watchdogs trigger, by switch and port.",
                "cps",
                (
                    Query(
                        top(
                            _SHOWN,
                            per("switch, interface", rate(sonic("pfc_watchdog_storms_detected_total"))),
                        ),
                        _PORT,
                    ),
                ),
                opens=("switch",),
            ),
        ),
    )


def _pauses(way: str, *matchers: str) -> str:
    return per("switch, interface", rate(sonic(f"pfc_{way}_frames_total", PRIORITY, *matchers)))


def _source(fabric: Fabric) -> BoardRow:
    only = _by_switch("received"), _by_switch("sent")
    return BoardRow(
        "Where it comes from",
        (
            *_from_hosts(fabric),
            Panel(
                "Ports that receive most pauses",
                f"The {_SHOWN} ports whose neighbor pauses them most. Follow them: the neighbor that sends pauses and "
                "receives none is the source.",
                "pps",
                (Query(top(_SHOWN, _pauses("received")), _PORT),),
                opens=("switch",),
            ),
            Panel(
                "Ports that send most pauses",
                f"The {_SHOWN} ports that pause their neighbor most.",
                "pps",
                (Query(top(_SHOWN, _pauses("sent")), _PORT),),
                opens=("switch",),
            ),
            Panel(
                "Switches that pause others and are not paused",
                "Pauses sent by switches that receive none. Such a switch is where the congestion is: with "
                "ports at line rate an incast, else a fault of its own.",
                "pps",
                (Query(f"({only[1]} > 0) unless ({only[0]} > 0)", "{{switch}}"),),
                opens=("switch",),
            ),
        ),
    )


def _by_switch(way: str) -> str:
    return per("switch", rate(sonic(f"pfc_{way}_frames_total", PRIORITY)))


def _from_hosts(fabric: Fabric) -> Iterator[Panel]:
    queries = tuple(
        Query(top(_SHOWN, _pauses("received", f'tier="{tier}"', f'interface=~"{any_of(names)}"')), _PORT)
        for tier, names in host_facing(fabric)
    )
    if queries:
        yield Panel(
            "Hosts that pause their switch",
            f"The {_SHOWN} ports to hosts, as the intent has them, that receive most pauses: the host at "
            "the other end cannot take what comes.",
            "pps",
            queries,
            opens=("switch",),
        )


def _stalled(fabric: Fabric) -> Iterator[BoardRow]:
    paused = rate(sonic("pfc_received_pause_seconds_total", PRIORITY))
    panels = [
        Panel(
            "Ports paused longest",
            f"The {_SHOWN} ports that are paused for the largest part of the time. Only where switches poll "
            "the history of PFC.",
            "percentunit",
            (Query(top(_SHOWN, per("switch, interface", paused, "max")), _PORT),),
            opens=("switch",),
        )
    ]
    counters = _host_counters(fabric)
    if counters:
        queries = tuple(Query(top(_SHOWN, per("instance", rate(of))), "{{instance}}") for of in counters)
        panels.append(
            Panel(
                "Hosts that are paused",
                f"The {_SHOWN} hosts that get most pauses from their leaf: the storm has reached them, and "
                "their jobs wait.",
                "pps",
                queries,
                opens=("host",),
            )
        )
    yield BoardRow("What it stalls", tuple(panels))


def _host_counters(fabric: Fabric) -> tuple[str, ...]:
    drivers = dict.fromkeys(str(qos.driver) for qos, _ in View(fabric).host_kinds)
    counters = (
        pause_counters(driver, cls.priority)
        for driver in drivers
        for cls in fabric.classes.lossless
        if cls.priority is not None
    )
    return tuple(node(ethtool_metric(names.received), HOSTS) for names in counters if names is not None)


def _cost() -> BoardRow:
    headroom = sonic("priority_group_headroom_watermark_bytes", GROUP, PERIODIC)
    return BoardRow(
        "What it costs",
        (
            Panel(
                "Dropped by the watchdog",
                "Packets of stormed queues that watchdogs drop, by switch.",
                "pps",
                (
                    Query(
                        per("switch, direction", rate(sonic("pfc_watchdog_dropped_packets_total", QUEUE))),
                        "{{switch}} {{direction}}",
                    ),
                ),
                opens=("switch",),
            ),
            Panel(
                "Dropped by priority groups",
                "Packets that came after the headroom was full, by switch: PFC failed.",
                "pps",
                (
                    Query(
                        per("switch", rate(sonic("priority_group_dropped_packets_total", GROUP))),
                        "{{switch}}",
                    ),
                ),
                opens=("switch",),
            ),
            Panel(
                "Ports with most headroom in use",
                f"The {_SHOWN} ports whose headroom watermark is highest.",
                "bytes",
                (Query(top(_SHOWN, per("switch, interface", headroom, "max")), _PORT),),
                opens=("switch",),
            ),
        ),
    )


def _next(fabric: Fabric) -> BoardRow:
    dscp = next((dscp for cls in fabric.classes.lossless for dscp in cls.dscps), "DSCP")
    steps = (f"{number}. {step.format(dscp=dscp)}" for number, step in enumerate(_STEPS, 1))
    return BoardRow("What to run next", (Panel("Steps", "\n".join(steps), "string", (), "text"),))
