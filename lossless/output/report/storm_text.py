"""The blast radius of a PFC storm as text: which links stop and when, and which hosts stall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.foreign_text import spelled_out
from lossless.ground.basics.units import format_rate
from lossless.ground.basics.wording import listed
from lossless.output.report.columns import table, wrapped
from lossless.output.report.text_style import PLAIN, TextStyle
from lossless.output.report.workload_text import format_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Data = Mapping[str, Any]
    """The blast radius of a storm as plain data, by the names of :mod:`lossless.analysis.storm.blast_radius`."""

_FEW = 5
_COUNTED = ("hosts", "stopped")
"""What is counted here, and never named: in a large fabric there are too many names to spell out for nothing."""


def storm_text(data: Data, style: TextStyle = PLAIN) -> str:
    """Return the blast radius of a PFC storm from one host."""
    named = spelled_out({key: value for key, value in data.items() if key not in _COUNTED})
    return "\n\n".join(_blocks({**data, **named}, style))


def storm_picture(data: Data, picture: Data) -> Data:
    """Return what is drawn with the sentences of the text about it, before what lines and boxes mean."""
    said = [["", line] for line in (*_who(data), *_end(data))]
    return {**picture, "legend": [*said, *picture["legend"]]}


def _blocks(data: Data, style: TextStyle) -> Iterator[str]:
    slow = data["drains_bps"]
    what = f"takes in no more than {format_rate(slow)} a port" if slow else "pauses permanently"
    head = f"{data['from']} {what}: class {data['class']}, priority {data['priority']}"
    yield "\n".join(wrapped(line, style) for line in (head, *_who(data), *_end(data)))
    if data["cycle"]:
        yield _cycle(data, style)
    if data["loses"]:
        losing = listed(data["loses"], _FEW)
        yield wrapped(f"no PFC there, so packets are dropped: {losing}", style)
    reached = [stage for stage in data["stages"] if stage["stopped"]]
    verb = "slowed" if slow else "stopped"
    if reached:
        yield table(
            [("links", verb, "of", "first after (us)", "last after (us)"), *map(_stage, reached)], style
        )
    yield "\n".join(["assumed:", *(wrapped(text, style, "  ") for text in data["assumed"])])


def _stage(stage: Data) -> tuple[str, ...]:
    first, last = (_after(stage[key]) for key in ("first_ns", "last_ns"))
    return stage["name"], f"{stage['stopped']:,}", f"{stage['channels']:,}", first, last


def _after(at_ns: float) -> str:
    return "at once" if not at_ns else f"{at_ns / 1000:,.1f}"


def _who(data: Data) -> Iterator[str]:
    hosts, every = len(data["hosts"]), data["all_hosts"] - 1
    verb = "are held back" if data["drains_bps"] else "stall"
    if not hosts:
        yield f"no other of {every:,} hosts is paused"
        return
    last = max(data["hosts"].values())
    gpus = data["gpus"]
    gpus_text = "" if gpus is None else f", {gpus['stopped']:,} of {gpus['all']:,} GPUs with its own"
    yield f"{hosts:,} of {every:,} other hosts {verb}{gpus_text}; the last after {format_time(last)}"


def _cycle(data: Data, style: TextStyle) -> str:
    ports = data["cycle"]
    cycle = wrapped(
        f"PFC deadlock possible, cyclic buffer dependency: {' -> '.join([*ports, ports[0]])}", style
    )
    lasts = "once traffic fills every buffer of the cycle, these ports stay paused permanently"
    return "\n".join([cycle, wrapped(f"{lasts}, even if {data['from']} recovers", style)])


def _end(data: Data) -> Iterator[str]:
    if data["ends_ns"] is not None:
        yield f"the watchdog of {data['ended_at']} triggers after {format_time(data['ends_ns'])}"
    elif data["drains_bps"]:
        yield "no watchdog ends this: packets still move"
    else:
        yield "no watchdog ends this"
