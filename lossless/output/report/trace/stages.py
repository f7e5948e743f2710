"""The stages of one hop as lines: the action, and the row of the configuration that decides it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_bytes, format_rate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.trace.model import (
        TraceClassification,
        TraceEcn,
        TraceEgressBuffer,
        TraceEgressDscp,
        TraceHop,
        TraceLookup,
        TracePfcPort,
        TracePort,
        TracePriorityGroup,
        TraceQueue,
        TraceStages,
        TraceWatchdog,
    )

UNKNOWN = "unknown"
SONIC = "sonic"
_WITHOUT_ENTRY = {"no entry": ", as the map has no entry", "no map": ", as no map is bound"}


class StageLine(NamedTuple):
    """One line of a hop: its label, the action, the row that decides it, and the stage it belongs to."""

    label: str
    what: str
    by: str
    stage: str


def end_text(end: TracePort, word: str) -> str:
    """Return one port of a hop: ``Ethernet0, 400G over 3 m, from host1:port1``."""
    speed = UNKNOWN if end.speed_bps is None else format_rate(end.speed_bps)
    cable = "cable unknown" if end.cable_m is None else f"{end.cable_m} m"
    parts = [end.port, f"{speed} over {cable}", f"{word} {end.peer}" if end.peer else ""]
    parts.append("admin down" if end.up is False else "")
    parts.append("said to carry no RDMA" if end.outside else "")
    return ", ".join(filter(None, parts))


def lines_of(hop: TraceHop) -> Iterator[StageLine]:
    """Yield the lines of a hop; of a system without CONFIG_DB there are no rows to name, and no buffers to state."""
    for line in stage_lines(hop.stages):
        if hop.format == SONIC:
            yield line
        elif line.label not in ("group", "buffer"):
            yield line._replace(what=_without_rows(line, hop.stages), by="")


def _without_rows(line: StageLine, stages: TraceStages) -> str:
    """Return the text of a line for a system other than SONiC."""
    if line.label == "headroom" and stages.priority_group.lossless is not False:
        return "computed by the switch"
    if line.label == "ECN" and stages.ecn.wred is None:
        return "marks nothing"
    return line.what.replace(": not stated", ", its action is not stated")


def stage_lines(stages: TraceStages) -> Iterator[StageLine]:
    """Yield the lines of a hop in the order a packet meets them."""
    classification, group, queue = stages.classification, stages.priority_group, stages.queue
    traffic_class = classification.lookup.target
    yield StageLine("class", *_classified(classification), "classification")
    yield StageLine("group", *_mapped(traffic_class, group.lookup, "PG", "TC_TO_PRIORITY_GROUP_MAP"), "")
    yield StageLine("headroom", _headroom(group), _profile(group), "priority_group")
    yield StageLine("PFC in", _pfc(stages.pfc.ingress, "sends"), "", "")
    yield StageLine("PFC out", _pfc(stages.pfc.egress, "obeys"), "", "pfc")
    yield StageLine("watchdog", _watchdog(stages.watchdog, stages.pfc.egress), "", "watchdog")
    yield StageLine("queue", *_mapped(traffic_class, queue.lookup, "queue", "TC_TO_QUEUE_MAP"), "")
    yield StageLine("served", _served(queue), _named("SCHEDULER", queue.scheduler), "queue")
    yield StageLine("ECN", _ecn(stages.ecn), _named("WRED_PROFILE", stages.ecn.wred), "ecn")
    buffer = stages.egress_buffer
    yield StageLine("buffer", _buffer(buffer), _named("BUFFER_PROFILE", buffer.profile), "egress_buffer")
    yield StageLine("DSCP", *_egress_dscp(stages.egress_dscp, traffic_class), "egress_dscp")


def _named(table: str, name: str | None) -> str:
    return f"{table} {name}" if name else ""


def _classified(classification: TraceClassification) -> tuple[str, str]:
    lookup = classification.lookup
    by = _named("DSCP_TO_TC_MAP", lookup.map_name)
    if lookup.stated == "802.1p":
        return "the port goes by 802.1p, not by DSCP: TC unknown", by
    if lookup.target is None:
        return f"DSCP {classification.dscp} -> TC unknown: its entry cannot be read", by
    return (
        f"DSCP {classification.dscp} -> TC {lookup.target}{_WITHOUT_ENTRY.get(lookup.stated, '')}",
        by,
    )


def _mapped(traffic_class: int | None, lookup: TraceLookup, what: str, table: str) -> tuple[str, str]:
    by = _named(table, lookup.map_name)
    if traffic_class is None:
        return f"{what} unknown, as the TC is", by
    if lookup.target is None:
        return f"TC {traffic_class} -> {what} unknown: its entry cannot be read", by
    return f"TC {traffic_class} -> {what} {lookup.target}{_WITHOUT_ENTRY.get(lookup.stated, '')}", by


def _profile(group: TracePriorityGroup) -> str:
    made = ", made by the switch" if group.generated and group.profile else ""
    return _named("BUFFER_PROFILE", group.profile) + made


def _headroom(group: TracePriorityGroup) -> str:
    if group.headroom_bytes is not None:
        return f"{format_bytes(group.headroom_bytes)}, {_need(group)}"
    if group.lossless is False:
        return "none: " + ("the group is lossy" if group.profile else "there is no lossless group")
    return f"{UNKNOWN}: {group.unknown}"


def _need(group: TracePriorityGroup) -> str:
    if group.need_bytes is None:
        return f"need {UNKNOWN}" + (f": {group.unknown}" if group.unknown else "")
    return f"needed {format_bytes(group.need_bytes)} ({group.need_method})"


def _pfc(side: TracePfcPort, verb: str) -> str:
    port, priority = side.port, side.priority
    if priority is None:
        return f"{port}: priority {UNKNOWN}"
    if side.on:
        return f"{port} {verb} pauses of priority {priority}"
    enabled = ", ".join(map(str, side.enabled))
    return f"{port} {verb} none of priority {priority}; PFC is " + (f"on for {enabled}" if enabled else "off")


def _watchdog(watchdog: TraceWatchdog, egress: TracePfcPort) -> str:
    if watchdog.state is None or egress.on is False:
        return "nothing to watch: no PFC for this queue"
    if watchdog.state != "running":
        return str(watchdog.state)
    where = "" if watchdog.watched is not False else f", but not on priority {egress.priority}"
    times = [
        f"{text} {time_ms} ms"
        for text, time_ms in (("detects in", watchdog.detection_ms), ("restores in", watchdog.restoration_ms))
        if time_ms is not None
    ]
    poll = f"polls every {watchdog.poll_ms} ms" if watchdog.poll_ms is not None else ""
    return "; ".join(filter(None, [f"running{where}: {watchdog.action}", *times, poll]))


def _served(queue: TraceQueue) -> str:
    if queue.kind is None:
        return "no scheduler is bound"
    weight = f", weight {queue.weight}" if queue.weight is not None and queue.kind != "STRICT" else ""
    return f"{queue.kind}{weight}"


def _ecn(ecn: TraceEcn) -> str:
    if ecn.wred is None:
        return "marks nothing: no WRED profile is bound"
    if not ecn.marks and not ecn.drops:
        return "marks nothing: the curve is off"
    low, high = (UNKNOWN if size is None else format_bytes(size) for size in (ecn.kmin_bytes, ecn.kmax_bytes))
    share = UNKNOWN if ecn.probability_percent is None else f"{ecn.probability_percent} %"
    return f"{'marks' if ecn.marks else 'DROPS'}: Kmin {low}, Kmax {high}, {share}"


def _buffer(buffer: TraceEgressBuffer) -> str:
    if buffer.profile is None:
        return "no profile is bound"
    threshold = "no threshold"
    if buffer.dynamic_th is not None:
        threshold = f"dynamic_th {buffer.dynamic_th}"
    elif buffer.static_th_bytes is not None:
        threshold = f"static_th {format_bytes(buffer.static_th_bytes)}"
    return f"{threshold} of {buffer.pool or 'an unknown pool'}"


def _egress_dscp(marking: TraceEgressDscp, traffic_class: int | None) -> tuple[str, str]:
    by = _named("TC_TO_DSCP_MAP", marking.rewritten_by)
    why = {
        "unchanged": "unchanged",
        "rewritten": "rewritten",
        "no entry": f"the map has no entry for TC {UNKNOWN if traffic_class is None else traffic_class}",
        "refused": "unchanged: the switch refuses the map",
        "no such map": "unchanged: the map is not in the file",
    }[marking.stated]
    return f"leaves with {marking.dscp}, {why}", by
