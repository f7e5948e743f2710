"""The blast radius of a PFC storm as text: which links stop and when, and which hosts stall."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.foreign_text import spelled_out
from lossless.ground.basics.units import format_rate, listed
from lossless.output.report.columns import PLAIN, TextStyle, table, wrapped
from lossless.output.report.workload_text import format_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.analysis.storm.blast_radius import BlastRadius, PropagationStage
    from lossless.analysis.topology.summary import Picture

_FEW = 5
_NAMED = ("source", "class_name", "ended_at", "stages", "loses", "assumed", "cycle")
"""The fields whose names are shown. Hosts are only counted: a large fabric has too many of them to spell out."""


def storm_text(radius: BlastRadius, style: TextStyle = PLAIN) -> str:
    """Return the blast radius of a PFC storm from one host."""
    shown = radius._replace(**{name: spelled_out(getattr(radius, name)) for name in _NAMED})
    return "\n\n".join(_blocks(shown, style))


def storm_picture(radius: BlastRadius) -> Picture:
    """Return the picture with sentences from the text report, before the legend of lines and boxes."""
    picture = radius.picture()
    said = (("", line) for line in (*_who(radius), *_end(radius)))
    return picture._replace(legend=(*said, *picture.legend))


def _blocks(radius: BlastRadius, style: TextStyle) -> Iterator[str]:
    slow = radius.source.drains_bps
    what = f"takes in no more than {format_rate(slow)} a port" if slow else "pauses permanently"
    head = f"{radius.source.end} {what}: class {radius.class_name}, priority {radius.priority}"
    yield "\n".join(wrapped(line, style) for line in (head, *_who(radius), *_end(radius)))
    if radius.cycle:
        yield _cycle(radius, style)
    if radius.loses:
        losing = listed(radius.loses, _FEW)
        yield wrapped(f"no PFC there, so packets are dropped: {losing}", style)
    reached = [stage for stage in radius.stages if stage.stopped]
    verb = "slowed" if slow else "stopped"
    if reached:
        yield table(
            [("links", verb, "of", "first after (us)", "last after (us)"), *map(_stage, reached)], style
        )
    yield "\n".join(["assumed:", *(wrapped(text, style, "  ") for text in radius.assumed)])


def _stage(stage: PropagationStage) -> tuple[str, ...]:
    first, last = (_after(at_ns) for at_ns in (stage.first_ns, stage.last_ns))
    return stage.name, f"{stage.stopped:,}", f"{stage.channels:,}", first, last


def _after(at_ns: float | None) -> str:
    return "at once" if not at_ns else f"{at_ns / 1000:,.1f}"


def _who(radius: BlastRadius) -> Iterator[str]:
    hosts, every = len(radius.hosts), radius.all_hosts - 1
    verb = "are held back" if radius.source.drains_bps else "stall"
    if not hosts:
        yield f"no other of {every:,} hosts is paused"
        return
    last = max(round(at_ns) for _, at_ns in radius.hosts)
    each, gpus_text = radius.gpus_per_host, ""
    if each is not None:
        gpus_text = f", {(hosts + 1) * each:,} of {radius.all_hosts * each:,} GPUs with its own"
    yield f"{hosts:,} of {every:,} other hosts {verb}{gpus_text}; the last after {format_time(last)}"


def _cycle(radius: BlastRadius, style: TextStyle) -> str:
    ports = radius.cycle
    cycle = wrapped(
        f"PFC deadlock possible, cyclic buffer dependency: {' -> '.join([*ports, ports[0]])}", style
    )
    lasts = "once traffic fills every buffer of the cycle, these ports stay paused permanently"
    return "\n".join([cycle, wrapped(f"{lasts}, even if {radius.source.end} recovers", style)])


def _end(radius: BlastRadius) -> Iterator[str]:
    if radius.ends_ns is not None:
        yield f"the watchdog of {radius.ended_at} triggers after {format_time(radius.ends_ns)}"
    elif radius.source.drains_bps:
        yield "no watchdog ends this: packets still move"
    else:
        yield "no watchdog ends this"
