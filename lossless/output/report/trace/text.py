"""A trace as people read it: one block a hop, one line a stage, findings right below the stage they concern."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.foreign_text import spelled_out, visible
from lossless.output.report.columns import facts, table, wrapped
from lossless.output.report.lint.locations import Locations, shown_file
from lossless.output.report.text_style import PLAIN, TextStyle
from lossless.output.report.trace.counters import counted, counters_text
from lossless.output.report.trace.stages import SONIC, UNKNOWN, StageLine, end_text, lines_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.checks.trace.model import (
        Trace,
        TraceDifference,
        TraceFinding,
        TraceHop,
        TraceHost,
        TraceLoss,
        TracePathChoice,
    )
    from lossless.ground.basics.findings import Finding
    from lossless.ground.documents.excerpts import DocumentView

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
"""Stages as the lines of a hop call them, where they do not bear their own name."""


def trace_text(trace: Trace, documents: Mapping[str, DocumentView], style: TextStyle = PLAIN) -> str:
    """Return a trace: whether the chain is unbroken, the path, its hops; a verbose style shows every stage of each.

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
        """Return whether something is found here that was not explained at an earlier hop."""
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
    """Return a hop in short: its ports, the class, group and queue of the packet, and the faults that break it."""
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
    """Yield the devices of a path, with the findings at each and, of switches, the losses."""
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
    """Yield the settings of the NIC; its packet marking matters on the sender."""
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
    """Return the verdict on a chain without a break; for a lossless packet, with the hops of unknown groups."""
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
