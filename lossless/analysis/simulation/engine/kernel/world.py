"""The state that kernel functions work on, under one name."""

from __future__ import annotations

from typing import Any, NamedTuple


class World(NamedTuple):
    """The state of a simulated fabric; ``engine.records`` documents the fields of each array.

    Indexes are made unsigned where they are used: of a signed one the compiled code would test each time whether it
    counts from the end. ``classes`` is the number of classes of a link, ``bits`` how many bits of an agenda entry are
    its slot.
    """

    clock: Any
    agenda: Any
    frames: Any
    links: Any
    queues: Any
    groups: Any
    units: Any
    flows: Any
    points: Any
    params: Any
    cnps: Any
    paths: Any
    receivers: Any
    holds: Any
    probes: Any
    samples: Any
    routes: Any
    fans: Any
    flowlets: Any
    packets: Any
    sent: Any
    asked: Any
    senders: Any
    news: Any
    windows: Any
    pullers: Any
    classes: int
    bits: int
