"""Buffers are sized for two lossless priorities.

Severity: warning
Subject: fabric

## What it does
Counts the priorities with PFC on each port, without 2 and 6 where tunnel remapping added them, and warns of more
than two. Where DSCPs are named, priorities that none of them uses are PFC001's and are not counted. That the path
of one of them is lossy is PFC005's.

## Why it breaks a lossless fabric
Each lossless priority takes headroom of its own on every port, from the buffer that all share. The third one leaves
less for bursts, so that pauses come sooner for all, and is one more class that must never mix with the others. Large
operators run one or two.

## Bad
```yaml intent base=leaf-spine
classes:
  default: {bandwidth: 20%}
  storage:
    {dscp: 28, priority: 4, lossless: true, bandwidth: 15%, ecn: {min: 800 KiB, max: 3200 KiB, probability: 20%}}
  control:
    lossless: true   # <- here
    dscp: 30
    priority: 5
    bandwidth: 15%
    ecn: {min: 800 KiB, max: 3200 KiB, probability: 20%}
```

## Good
```yaml intent base=leaf-spine
classes:
  default: {bandwidth: 20%}
  storage:
    {dscp: 28, priority: 4, lossless: true, bandwidth: 30%, ecn: {min: 800 KiB, max: 3200 KiB, probability: 20%}}
```

## Fix
Let classes that may pause each other share a priority, or leave traffic that recovers from loss by itself lossy.

## Sources
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016 (headroom limits switches to two lossless classes)
- Bai et al., Empowering Azure Storage with RDMA, NSDI 2023 (two lossless queues)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.locations import below
from lossless.checks.rules.pfc.priorities import by_switch, remapped
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.view import PortSet, View

MOST = 2


def check(view: View) -> Results:
    """Yield a violation per kind of switch and set of more than two lossless priorities."""
    for _, device in by_switch(view.lossless_sets):
        many = (ports for ports in device if len(ports.qos.pfc.priorities) > MOST)
        for priorities, sets in grouped((_counted(ports), ports) for ports in many).items():
            if len(priorities) > MOST:
                yield _too_many_lossless_priorities(view, priorities, sets)


def _counted(ports: PortSet) -> tuple[int, ...]:
    qos, classes = ports.qos, ports.switch.classes
    counted = set(qos.pfc.priorities) - remapped(qos)
    if classes.knowledge != "inferred" and not qos.trust_dot1p:
        used = {cls.priority for cls in classes.lossless}
        counted &= used | {qos.traffic_class(dscp) for cls in classes.lossless for dscp in cls.dscps}
    return tuple(sorted(counted))


def _too_many_lossless_priorities(
    view: View, priorities: tuple[int, ...], sets: Sequence[PortSet]
) -> Violation:
    per_port = _headroom_bytes(sets[0], priorities)
    note = (
        f"each takes headroom of its own on every port, {format_bytes(per_port)} for one" if per_port else ""
    )
    return Violation(
        origin=_origin(view, sets[0]),
        message=f"PFC is on for {len(priorities)} priorities: {', '.join(map(str, priorities))}",
        note=note,
        help=f"keep at most {MOST}: let classes share a priority, or leave lossy what recovers from loss by itself",
        data={"priorities": [*priorities], "most": MOST, "headroom_bytes": per_port},
    ).on_ports(*sets)


def _headroom_bytes(ports: PortSet, priorities: tuple[int, ...]) -> int | None:
    """Return the headroom of the last of the priorities on one of the ports, None where it is not known."""
    group = ports.qos.groups[ports.qos.group_of(priorities[-1])]
    return group.buffer.headroom_bytes if group is not None and group.buffer is not None else None


def _origin(view: View, ports: PortSet) -> Origin:
    """Return the origin of the lossless class of highest priority in an intent, else that of the PFC mask."""
    if view.fabric.declared:
        last = max(ports.switch.classes.lossless, key=lambda cls: cls.priority or 0)
        return below(last.origin, "lossless")
    return ports.qos.pfc.origin
