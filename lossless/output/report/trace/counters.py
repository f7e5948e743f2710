"""Counters of a class along its path as text: one table of switches, one of hosts, and the unknown ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.grouping import grouped
from lossless.output.report.columns import table, wrapped
from lossless.output.report.quantities import SINCE
from lossless.output.report.trace.stages import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.checks.trace.model import Trace, TraceCounter
    from lossless.output.report.text_style import TextStyle
    from lossless.output.report.trace.stages import StageLine

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
"""What a counter is called, by its stage and its name; pauses at a switch are told apart by their port."""
_BYTES = " (B)"
_PAUSES = {"pfc_rx": "pauses received", "pfc_tx": "pauses sent"}


def counters_text(trace: Trace, style: TextStyle) -> Iterator[str]:
    """Yield the counters of the switches on a path, and those of its hosts; empty without captures."""
    hops = [(hop.switch, hop.counters, hop.ingress.port) for hop in trace.hops]
    ends = [trace.sender, trace.receiver]
    hosts = [(host.host, host.counters, "") for host in ends if host]
    for title, columns in (("counters of the class", hops), ("counters of NICs", hosts)):
        if any(counters for _, counters, _ in columns):
            yield "\n".join(_block(title, columns, style))


def counted(counters: Sequence[TraceCounter], line: StageLine) -> str:
    """Return the known counters of one line of a hop, in a line of their own; empty without any."""
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
    """Return the value of a counter; of several NICs each with its name."""
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
