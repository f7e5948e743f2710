"""The trace of a packet as text for people, and as plain data for machines.

The text has a table of hops, and a block for each hop with new findings or losses; with -v a block for every hop
instead. A block has the lines of its stages, and findings right below the stage they concern. A line has the
action, and any row of the configuration that decides it. Counters of a class along its path are tables: one of
switches, one of hosts, and below them the unknown counters.

The data have the names of the model's fields, and findings as in the lint report. Keys once shipped stay; ``version``
increases when they change.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.findings import grouped
from lossless.ground.basics.foreign_text import spelled_out, visible
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_bytes, format_rate
from lossless.ground.documents.excerpts import Locations
from lossless.output.report.columns import PLAIN, TextStyle, facts, table, wrapped
from lossless.output.report.lint.text import shown_file
from lossless.output.report.plain import plain
from lossless.output.report.quantities import SINCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Annotated, Literal, TypedDict

    from lossless.checks.trace.model import (
        Trace,
        TraceClassification,
        TraceCounter,
        TraceDifference,
        TraceEcn,
        TraceEgressBuffer,
        TraceEgressDscp,
        TraceFinding,
        TraceHop,
        TraceHost,
        TraceLookup,
        TraceLoss,
        TracePathChoice,
        TracePfcPort,
        TracePort,
        TracePriorityGroup,
        TraceQueue,
        TraceStages,
        TraceWatchdog,
    )
    from lossless.ground.basics.findings import Finding

    class TotalsData(TypedDict):
        """Findings on the path by severity, and errors that do not concern this packet."""

        error: int
        warning: int
        info: int
        elsewhere: int

    class OutcomeData(TypedDict):
        """The outcome of a trace: whether the lossless chain is broken, and the number of findings."""

        version: Literal[1]
        broken: bool
        summary: TotalsData

    TraceData = Annotated[dict[str, Any], Trace, ("elsewhere",), OutcomeData]
    from lossless.ground.documents.excerpts import DocumentView


_LABELS = {
    ("priority_group", "shared_watermark_bytes"): "PG shared peak (B)",
    ("priority_group", "xoff_room_watermark_bytes"): "PG headroom peak (B)",
    ("priority_group", "dropped_packets"): "PG drops",
    ("watchdog", "pfcwd_status"): "watchdog",
    ("watchdog", "pfcwd_detected"): "storms detected",
    ("watchdog", "pfcwd_restored"): "storms restored",
    ("queue", "packets"): "queue packets",
    ("queue", "dropped_packets"): "queue drops",
    ("ecn", "ecn_marked_packets"): "ECN marked",
    ("egress_buffer", "shared_watermark_bytes"): "peak queue depth (B)",
    ("host", "pfc_rx"): "pauses received",
    ("host", "pfc_tx"): "pauses sent",
    ("host", "out_of_sequence"): "out of sequence",
    ("host", "np_ecn_marked_roce_packets"): "ECN marked",
    ("host", "np_cnp_sent"): "CNPs sent",
    ("host", "rp_cnp_handled"): "CNPs handled",
    ("host", "rp_cnp_ignored"): "CNPs ignored",
}
"""The label of a counter, by its stage and name; for pauses at a switch see :data:`_PAUSES`."""
_BYTES = " (B)"
_PAUSES = {"pfc_rx": "pauses received", "pfc_tx": "pauses sent"}


def counters_text(trace: Trace, style: TextStyle) -> Iterator[str]:
    """Yield a block of counters of the switches on a path, and one of its hosts; none without captures."""
    hops = [(hop.switch, hop.counters, hop.ingress.port) for hop in trace.hops]
    ends = [trace.sender, trace.receiver]
    hosts = [(host.host, host.counters, "") for host in ends if host]
    for title, columns in (("counters of the class", hops), ("counters of NICs", hosts)):
        if any(counters for _, counters, _ in columns):
            yield "\n".join(_block(title, columns, style))


def counted(counters: Sequence[TraceCounter], line: StageLine) -> str:
    """Return the known counters that belong to one line of a hop, as one line of text; empty without any."""
    counters = [counter for counter in counters if counter.value is not None]
    if line.label in ("PFC in", "PFC out"):
        pauses = [counter for counter in counters if counter.stage == "pfc"]
        own = [counter for counter in pauses if line.what.startswith(f"{counter.port} ")]
        return _listed(own, _PAUSES)
    names = {name: label for (stage, name), label in _LABELS.items() if stage == line.stage}
    return _listed([counter for counter in counters if counter.stage == line.stage], names)


def _listed(counters: Sequence[TraceCounter], labels: Mapping[str, str]) -> str:
    parts = []
    for counter in counters:
        label, since = labels[counter.name].removesuffix(_BYTES), _since(counter)
        unit = " B" if labels[counter.name].endswith(_BYTES) else ""
        parts.append(f"{label} {_value(counter)}{unit}{f' since {since}' if since else ''}")
    return "; ".join(parts)


def _block(
    title: str, columns: Sequence[tuple[str, Sequence[TraceCounter], str]], style: TextStyle
) -> Iterator[str]:
    """Yield a table with a row for each counter and a column for each device, and below it the unknown counters.

    Without any known counter there is no table.
    """
    by_label = [
        grouped((_label(counter, port), counter) for counter in counters) for _, counters, port in columns
    ]
    labels = [*dict.fromkeys(label for column in by_label for label in column)]
    rows = [[title, *(name for name, _, _ in columns), "since"]]
    for label in labels:
        every = [column.get(label, []) for column in by_label]
        windows = dict.fromkeys(since for same in every for counter in same if (since := _since(counter)))
        rows.append([label, *map(_cell, every), ", ".join(windows) or "-"])
    if any(counter.value is not None for _, counters, _ in columns for counter in counters):
        yield table(rows, style, whole=True)
    for (name, _, _), column in zip(columns, by_label, strict=True):
        yield from (wrapped(line, style) for line in _unknown(name, column))


def _label(counter: TraceCounter, ingress: str) -> str:
    if counter.stage == "pfc":
        return f"{_PAUSES[counter.name]} ({'in' if counter.port == ingress else 'out'})"
    return _LABELS[counter.stage, counter.name]


def _cell(same: Sequence[TraceCounter]) -> str:
    """Return the value of a counter; of several NICs all values, each with its NIC; ``unknown`` without a value."""
    if len(same) == 1:
        return _value(same[0])
    return ", ".join(f"{counter.port or 'NIC'} {_value(counter)}" for counter in same) or UNKNOWN


def _value(counter: TraceCounter) -> str:
    value = counter.value
    if value is None:
        return UNKNOWN
    return f"{value:,}" if isinstance(value, int) else str(value)


def _since(counter: TraceCounter) -> str:
    since = counter.since
    return "" if since in (None, "now") else str(SINCE.get(since, since))


def _unknown(name: str, column: Mapping[str, Sequence[TraceCounter]]) -> Iterator[str]:
    """Yield why counters of a device are unknown, each reason once with its counters."""
    reasons = grouped(
        (counter.unknown, label) for label, same in column.items() for counter in same if counter.unknown
    )
    for reason, labels in reasons.items():
        of = "" if len(labels) == len(column) else f": {', '.join(labels)}"
        yield f"{reason}{of}" if reason.endswith(name) else f"{name}: {reason}{of}"


UNKNOWN = "unknown"
SONIC = "sonic"
_WITHOUT_ENTRY = {"no entry": ", as the map has no entry", "no map": ", as no map is bound"}


class StageLine(NamedTuple):
    """One line of a hop: its label, the action, the row that decides it, and the stage that ends with it.

    The row and the stage are empty where there is none. Findings, losses and counters of a stage are printed below the
    line that has it.
    """

    label: str
    what: str
    by: str
    stage: str


def end_text(end: TracePort, word: str) -> str:
    """Return one port of a hop, ``Ethernet0, 400G over 3 m, from host1:port1``; ``word`` is ``from`` or ``to``."""
    speed = UNKNOWN if end.speed_bps is None else format_rate(end.speed_bps)
    cable = "cable unknown" if end.cable_m is None else f"{end.cable_m} m"
    parts = [end.port, f"{speed} over {cable}", f"{word} {end.peer}" if end.peer else ""]
    parts.append("admin down" if end.up is False else "")
    parts.append("said to carry no RDMA" if end.outside else "")
    return ", ".join(filter(None, parts))


def lines_of(hop: TraceHop) -> Iterator[StageLine]:
    """Yield the lines of a hop; for a switch of another system than SONiC without rows, PG and buffer lines."""
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
        text.format(time_ms)
        for text, time_ms in (
            ("detects in {} ms", watchdog.detection_ms),
            ("restores {} ms after pauses end", watchdog.restoration_ms),
        )
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


_SHOWN_DIFFERENCES = 4
_INDENT = "  "
_LABEL = 10
_HOPS = ("hop", "in", "out", "TC", "PG", "queue", "broken by")
_STAGE_WORDS = {
    "classification": "class",
    "priority_group": "group",
    "pfc": "PFC",
    "ecn": "ECN",
    "egress_buffer": "buffer",
    "egress_dscp": "DSCP",
}
"""The label of a stage in the lines of a hop, if it differs from the name of the stage."""


def trace_text(trace: Trace, documents: Mapping[str, DocumentView], style: TextStyle = PLAIN) -> str:
    """Return the text of a trace: whether the chain is unbroken, the path, its hops; if verbose every stage of each.

    Lines and columns of findings are looked up in ``documents``.
    """
    return "\n\n".join(_TraceWriter(trace, documents, style).blocks())


class _TraceWriter:
    """Writes one trace; a finding that shows at several hops is explained at the first."""

    def __init__(self, trace: Trace, documents: Mapping[str, DocumentView], style: TextStyle) -> None:
        self._trace: Trace = spelled_out(trace)
        self._style = style
        findings = [mark.finding for _, mark in trace.marks]
        locations = Locations(documents, findings)
        shown = (mark.finding for _, mark in self._trace.marks)
        self._places = {
            _key(one): _place(found, locations) for one, found in zip(shown, findings, strict=True)
        }
        self._told: dict[tuple[object, ...], str] = {}

    def blocks(self) -> Iterator[str]:
        trace, verbose = self._trace, self._style.verbose
        yield "\n".join(self._head())
        if not verbose:
            yield table([_HOPS, *map(_hop_row, trace.hops)], self._style)
        yield from counters_text(trace, self._style)
        if trace.sender and (verbose or self._news(trace.sender.marks)):
            yield self._host(trace.sender, "sends")
        for hop in trace.hops:
            if verbose or hop.losses or self._news(hop.marks):
                yield self._hop(hop)
        if trace.receiver and (verbose or self._news(trace.receiver.marks)):
            yield self._host(trace.receiver, "receives")
        if not verbose:
            yield "-v shows every stage of each hop, and what the hosts send"

    def _news(self, marks: Sequence[TraceFinding]) -> bool:
        """Return whether one of the findings was not explained at an earlier hop."""
        return any(_key(mark.finding) not in self._told for mark in marks)

    def _head(self) -> Iterator[str]:
        trace = self._trace
        name = f"class {trace.class_name}, " if trace.class_name else ""
        kind = "lossless" if trace.lossless else "lossy"
        ends = f"{trace.source} to {trace.target}"
        for line in wrapped(f"DSCP {trace.dscp} from {ends}: {name}{kind}", self._style).split("\n"):
            yield self._style.paint(line, "place")
        yield from self._verdict()
        yield wrapped(f"path: {' - '.join(device for device, _, _ in _places(trace))}", self._style)
        choice = _choice(trace.choice, {hop.switch for hop in trace.hops})
        yield from (wrapped(line, self._style) for line in choice)

    def _hop(self, hop: TraceHop) -> str:
        lines = [
            self._style.paint(hop.switch, "place") + ("" if hop.format == SONIC else f" ({hop.format})"),
            wrapped(f"in   {end_text(hop.ingress, 'from')}", self._style, _INDENT),
            wrapped(f"out  {end_text(hop.egress, 'to')}", self._style, _INDENT),
            *self._findings(hop.switch, hop.marks, "ports"),
        ]
        stages = list(lines_of(hop))
        width = max((len(line.what) for line in stages if line.by), default=0)
        for line in stages:
            lines += _row(line, width, self._style)
            said = counted(hop.counters, line)
            lines += _row(StageLine("", said, "", ""), 0, self._style) if said else []
            losses = (loss.why for loss in hop.losses if loss.stage == line.stage)
            lines += (f"{_INDENT * 2}{self._style.paint('X', 'error')} {why}" for why in losses)
            lines += self._findings(hop.switch, hop.marks, line.stage)
        return "\n".join(lines)

    def _host(self, host: TraceHost, verb: str) -> str:
        port = f" {host.port}" if host.port else ""
        head = f"{self._style.paint(host.host, 'place')}{port} {verb}"
        if host.nic is None:
            return f"{head}; nothing else is known of it"
        rows = [*_host_rows(host, self._trace.dscp if verb == "sends" else None)]
        lines = [f"{head}, {host.nic}", facts(rows, self._style, _INDENT)]
        return "\n".join([*lines, *self._findings(host.host, host.marks, "host")])

    def _findings(self, where: str, marks: Sequence[TraceFinding], stage: str) -> Iterator[str]:
        for finding in (mark.finding for mark in marks if mark.stage == stage):
            sign = "X" if finding.severity == "error" else "!"
            code = self._style.paint(f"{sign} {finding.code}", finding.severity)
            if _key(finding) in self._told:
                yield f"{_INDENT * 2}{code} as at {self._told[_key(finding)]}"
                continue
            self._told[_key(finding)] = where
            yield from self._explained(finding, code)

    def _explained(self, finding: Finding, code: str) -> Iterator[str]:
        doubt = "" if finding.severity == "error" else f" [{finding.severity}]"
        indent = _INDENT * 2
        # Colors take no columns, so the code is set before a text that was wrapped without it.
        plain = f"{finding.severity[:1]} {finding.code}"
        text = wrapped(f"{plain} {finding.name}: {finding.message}{doubt}", self._style, indent)
        yield f"{indent}{code}{text[len(indent) + len(plain) :]}"
        yield f"{indent}{_INDENT}{self._places[_key(finding)]}"
        if finding.help:
            yield wrapped(f"help: {finding.help}", self._style, f"{indent}{_INDENT}", " " * len("help: "))

    def _verdict(self) -> Iterator[str]:
        broken = list(_broken(self._trace))
        if broken:
            text = wrapped(f"broken: {'; '.join(broken)}", self._style)
            yield self._style.paint("broken", "error") + text.removeprefix("broken")
        else:
            yield wrapped(_unbroken(self._trace), self._style)
            if any(difference.breaks or difference.losses for difference in self._trace.choice.differences):
                yield "other paths of its length are broken, see below"
        elsewhere = self._trace.elsewhere
        if elsewhere:
            noun = "error concerns" if elsewhere == 1 else "errors concern"
            yield f"{elsewhere} {noun} other traffic or other devices; lossless lint shows all"
        for rule in self._trace.not_checked:
            yield wrapped(f"not checked: {rule.code}: {rule.reason}", self._style)


def _key(finding: Finding) -> tuple[object, ...]:
    return finding.code, *finding.origin[:2], finding.message


def _place(finding: Finding, locations: Locations) -> str:
    """Return the file of a finding, with line and column where they are known."""
    span = locations.span(finding.origin)
    return ":".join(
        [visible(shown_file(finding.origin.file)), *((str(span.line), str(span.column)) if span else ())]
    )


def _hop_row(hop: TraceHop) -> tuple[str, ...]:
    """Return the row of a hop: switch, ports, TC, PG and queue of the packet, and the errors and losses there."""
    stages = hop.stages
    targets = (stage.lookup.target for stage in (stages.classification, stages.priority_group, stages.queue))
    errors = [mark.finding.code for mark in hop.marks if mark.finding.severity == "error"]
    breaks = [*dict.fromkeys(errors), *(loss.why for loss in hop.losses)]
    ports = (hop.ingress.port, hop.egress.port)
    return (
        hop.switch,
        *ports,
        *(UNKNOWN if one is None else str(one) for one in targets),
        ", ".join(breaks) or "none",
    )


def _places(trace: Trace) -> Iterator[tuple[str, Sequence[TraceFinding], Sequence[TraceLoss]]]:
    """Yield the devices of a path, each with its findings and, for a switch, the losses there."""
    if trace.sender:
        yield trace.sender.host, trace.sender.marks, ()
    yield from ((hop.switch, hop.marks, hop.losses) for hop in trace.hops)
    if trace.receiver:
        yield trace.receiver.host, trace.receiver.marks, ()


def _choice(choice: TracePathChoice, met: set[str]) -> Iterator[str]:
    if not choice.up_down:
        yield "no path goes up and then down; this is the shortest of any kind"
    if choice.detour:
        yield "longer than the shortest path"
    if choice.equal == 1:
        yield "the only path of its length"
        return
    identical = "" if choice.differences else ", all identical"
    yield f"one of {choice.equal:,} equal-cost paths, each link counted{identical}"
    for difference in choice.differences[:_SHOWN_DIFFERENCES]:
        yield f"differs: {_unlike(difference, met)}"
    more = len(choice.differences) - _SHOWN_DIFFERENCES
    if more > 0:
        yield f"differs: {more} more"


def _unlike(difference: TraceDifference, met: set[str]) -> str:
    switch, ingress, egress = difference.switch, difference.ingress, difference.egress
    parts = []
    if difference.stages:
        parts.append("other " + ", ".join(_STAGE_WORDS.get(name, name) for name in difference.stages))
    breaks = [*difference.breaks, *difference.losses]
    if breaks:
        parts.append("broken by " + ", ".join(breaks))
    ends = f"--from {switch}:{ingress} --to {switch}:{egress}"
    look = f"look with {ends if switch in met else f'--via {switch}'}"
    return f"{switch}, {ingress} to {egress}: {'; '.join([*parts, look])}"


def _host_rows(host: TraceHost, dscp: int | None) -> Iterator[tuple[str, str]]:
    """Yield the settings of a host's NIC; its packet marking only for the sender, of which ``dscp`` is given."""
    if dscp is not None:
        byte, nccl = host.traffic_class, host.nccl_tc
        marks = "nothing sets the ToS byte" if byte is None else f"ToS {byte}, DSCP {host.sends_dscp}"
        other = host.sends_dscp not in (None, dscp)
        yield "RDMA", f"{marks}; DSCP {dscp} is other traffic of this host" if other else marks
        if nccl is not None:
            yield "NCCL", f"NCCL_IB_TC {nccl}, DSCP {host.nccl_dscp}"
    untold = "unknown: the NIC goes by PCP, not by DSCP" if host.trust == "pcp" else "unknown"
    yield "priority", untold if host.priority is None else str(host.priority)
    enabled = ", ".join(map(str, host.pfc_priorities)) or "nothing"
    yield "PFC", f"on for {enabled}"


def _broken(trace: Trace) -> Iterator[str]:
    for device, marks, losses in _places(trace):
        codes = dict.fromkeys(mark.finding.code for mark in marks if mark.finding.severity == "error")
        reasons = [*codes, *(loss.why for loss in losses)]
        if reasons:
            yield f"{device} ({', '.join(reasons)})"


def _unbroken(trace: Trace) -> str:
    """Return the verdict on a chain without a break; for a lossless packet with the switches whose PG is unknown."""
    groups = {hop.switch: hop.stages.priority_group.lossless for hop in trace.hops}
    untold = [switch for switch, lossless in groups.items() if lossless is None]
    if trace.lossless and untold:
        return f"no break found, but it is unknown whether the group is lossless at {', '.join(untold)}"
    if not trace.lossless:
        return "lossy: no hop protects this DSCP from drops; no error on this path concerns it"
    return "unbroken: no error on this path concerns this DSCP"


def _row(line: StageLine, width: int, style: TextStyle) -> list[str]:
    """Return a line of a hop; the row that decides it stands beside it, or below if there is no room."""
    label, what, by = line.label, line.what, line.by
    lead = f"{_INDENT}{label.ljust(_LABEL)}"
    beside = f"{lead}{what.ljust(width)}  {by}".rstrip()
    if len(beside) <= style.columns:
        return [beside]
    blank = " " * len(lead)
    # The label is set before a text that was wrapped without it: it would be split from it.
    first = lead + wrapped(what, style, blank, "")[len(lead) :]
    return [first, *([wrapped(by, style, blank, "")] if by else [])]


VERSION: Literal[1] = 1
"""The version of the keys in the JSON object."""


def trace_data(trace: Trace, documents: Mapping[str, DocumentView]) -> TraceData:
    """Return a trace as plain data; lines and columns of findings are looked up in ``documents``."""
    findings = {id(mark.finding): mark.finding for _, mark in trace.marks}.values()
    locations = Locations(documents, findings)
    fields = plain(trace, locations)
    severities = [finding.severity for finding in findings]
    summary = {name: severities.count(name) for name in ("error", "warning", "info")}
    summary["elsewhere"] = fields.pop("elsewhere")
    return {"version": VERSION, **fields, "broken": trace.broken, "summary": summary}


def json_text(data: Mapping[str, Any]) -> str:
    """Return a trace as one JSON object, in ASCII and in a stable order."""
    return json.dumps(data, indent=2)
