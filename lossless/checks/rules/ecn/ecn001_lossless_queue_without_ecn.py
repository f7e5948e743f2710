"""A lossless queue must mark congestion.

Severity: error
Fix: unsafe
Subject: fabric, switch

## What it does
Follows every priority with PFC to its egress queue and looks at the WRED profile there: one must be bound, its green
curve enabled, and green packets marked. With an intent, missing marking is an error, also on only some tiers, speeds or
devices, unless `congestion_control: pfc-only` states it. On a deployed switch, whose file does not have the congestion
control of the senders, it is a warning. A profile that is enabled and does not mark is an error wherever the queue can
grow to its minimum: it drops. A priority whose traffic has no headroom is not checked; there PFC itself is the mistake.
On a switch that is configured by commands, a class whose pause has no effect must have a profile too.

## Why it breaks a lossless fabric
Marks slow senders down before PFC stops them. Without marks PFC is the only control: any congestion pauses whole links,
and the pause propagates to victim flows. A curve without marking is worse: it drops RDMA packets between its
thresholds, in a queue that PFC should keep from dropping.

## Bad
```yaml intent base=leaf-spine
classes:
  rdma:
    ecn: off   # <- here
```

```yaml intent base=leaf-spine
classes:
  rdma:
    ecn:
      by_tier:
        spine: off   # <- here
```

```json config_db base=leaf
{
  "WRED_PROFILE": {"AZURE_LOSSLESS": {
    "ecn": "ecn_none"   // <- here
  }}
}
```

```json config_db base=leaf
{
  "WRED_PROFILE": {"AZURE_LOSSLESS": {
    "wred_green_enable": "false"   // <- here
  }}
}
```

```json config_db base=leaf
{
  "QUEUE": {
    "Ethernet4|3": {   // <- here
      "wred_profile": null
    }
  }
}
```

## Good
```yaml intent base=leaf-spine
classes:
  rdma:
    ecn: off
congestion_control: pfc-only
```

```json config_db base=leaf
{
  "WRED_PROFILE": {"AZURE_LOSSLESS": {
    "ecn": "ecn_green",
    "wred_green_enable": "true"
  }}
}
```

## Fix
Give the class an `ecn` curve for every link speed; on a switch bind a WRED profile to the queue, with
`wred_green_enable: true` and `ecn: ecn_all`.

## Sources
- sonic-swss orchagent/qosorch.cpp @e6b0c5b (marking needs both; enabled without ECN drops)
- sonic-buildimage issue 4545
- Gangidi et al., RDMA over Ethernet for Distributed AI Training at Meta Scale, SIGCOMM 2024, 5.2.1
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.ecn.wred_profiles import (
    WredUse,
    in_reach,
    lossless_queues,
    numbers,
    pfc_only,
    uses,
)
from lossless.checks.rules.locations import below, beside, distinct
from lossless.ground.basics.findings import Edit, grouped
from lossless.ground.basics.units import format_rate, joined
from lossless.model.fabric.model import known_tier
from lossless.model.fabric.qos import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lossless.checks.rules.ecn.wred_profiles import LosslessQueue
    from lossless.checks.rules.subjects import SwitchConfiguration
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.model import TrafficClass
    from lossless.model.fabric.view import PortSet, View

_MOST = 4
_WHY = "without marks PFC is the only control, and any congestion pauses whole links"


def check(view: View) -> Results:
    """Yield a violation per WRED profile of lossless queues that drops or does not mark, and for queues without one.

    The latter are one per switch, with an intent one per class and origin. With ``pfc-only`` only drops are reported.
    """
    for use in uses(view):
        if use.wred.drops and in_reach(use, use.wred.green):
            yield _drops(use)
        elif not use.wred.marks and not pfc_only(view):
            yield _does_not_mark(use, view.fabric.declared)
    if pfc_only(view):
        return
    yield from _unreadable(view)
    bare = [queue for queue in lossless_queues(view) if queue.wred is None]
    if view.fabric.declared:
        yield from _classes_without(view, bare)
    else:
        yield from _queues_without(bare)


def on_switch(switch: SwitchConfiguration) -> Results:
    """Yield a violation per class without marking that would be lossless if its pause took effect."""
    read, paused = switch.read, {name for name, _ in switch.read.silent}
    ports = [(port.name, port.qos.queues) for port in read.switch.ports if port.name in paused and port.qos]
    for cls in read.intended:
        bare = [name for name, queues in ports if (queue := queues[cls.queue]) is None or queue.wred is None]
        if bare:
            yield Violation(
                origin=cls.origin,
                message=f"class {cls.name} is meant to be lossless, and its queue {cls.queue} marks nothing",
                note=_WHY,
                data={"queues": [cls.queue]},
                severity="warning",
                elements=tuple(f"{read.switch.name}:{name}" for name in bare),
            )


def _unreadable(view: View) -> Iterator[MissingInput]:
    for ports in view.lossless_sets:
        if any(ports.qos.queue_of(priority) == UNREADABLE for priority in ports.qos.pfc.priorities):
            yield MissingInput("the queue of a lossless priority cannot be read", ports.places)


def _drops(use: WredUse) -> Violation:
    green = use.wred.green
    return Violation(
        origin=use.wred.origin.at("ecn"),
        message=f"{use.wred.name} drops packets of a lossless queue from {green.min_bytes or 0:,} B on: "
        "its curve is enabled and does not mark",
        note="between min and max a growing share is dropped, above max everything; PFC cannot prevent it",
        help='set "ecn": "ecn_all"',
        data={"min_bytes": green.min_bytes, "max_bytes": green.max_bytes, "queues": list(use.numbers)},
        severity="error",
        fix=(Edit(use.wred.origin.at("ecn"), "set", "ecn_all"),),
    ).on_ports(*use.sets)


def _does_not_mark(use: WredUse, declared: bool) -> Violation:
    green = use.wred.green
    lacking = [
        ("wred_green_enable", "true", green.enabled),
        ("ecn", "ecn_all", green.marks),
    ]
    settings = [(field, value) for field, value, has in lacking if not has]
    field = settings[0][0]
    # Without thresholds the profile marks every packet, or none.
    bare = not green.max_bytes
    return Violation(
        origin=use.wred.origin.at(field),
        message=f"{use.wred.name} marks nothing on a lossless queue: "
        + ("wred_green_enable is not true" if not green.enabled else "ecn does not mark green packets"),
        note=_WHY,
        help="set wred_green_enable to true, ecn to ecn_all, and green_min_threshold and green_max_threshold in bytes"
        if bare
        else "set " + " and ".join(f'"{name}": "{value}"' for name, value in settings),
        data={"queues": list(use.numbers)},
        severity=None if declared else "warning",
        fix=() if bare else tuple(Edit(use.wred.origin.at(name), "set", value) for name, value in settings),
    ).on_ports(*use.sets)


def _queues_without(bare: Sequence[LosslessQueue]) -> Results:
    for queue in bare:
        if queue.in_fragment:
            yield MissingInput(
                "a fragment without PORT rows: its WRED profiles may be elsewhere", queue.ports.places
            )
    whole = ((id(queue.ports.switch), queue) for queue in bare if not queue.in_fragment)
    yield from map(_queue_violation, grouped(whole).values())


def _queue_violation(queues: Sequence[LosslessQueue]) -> Violation:
    which = numbers(queues)
    subject = f"queue {which[0]} has" if len(which) == 1 else f"queues {', '.join(map(str, which))} have"
    origin = _queue_origin(queues[0])
    return Violation(
        origin=origin,
        message=f"lossless {subject} no WRED profile: congestion is not marked",
        note=_WHY,
        help="bind one that marks, as wred_profile of the QUEUE row",
        data={"queues": list(which)},
        severity="warning",
        related=beside(origin, (_made_lossless(queues[0]), "what makes the class lossless")),
    ).on_ports(*distinct(queue.ports for queue in queues))


def _made_lossless(queue: LosslessQueue) -> Origin | None:
    """Return the origin that makes a queue's class no-drop; None on SONiC, and without a priority group."""
    qos = queue.ports.qos
    group = qos.groups[qos.pausing_group(queue.priority)]
    return None if queue.ports.switch.runs_sonic or group is None else group.origin


def _queue_origin(queue: LosslessQueue) -> Origin:
    """Return the origin of a queue's QUEUE row or class, else that of PFC: a BUFFER_QUEUE row does not count."""
    row = queue.queue.origin if queue.queue else None
    if row is None or row.path[:1] == ("BUFFER_QUEUE",) or not row.path:
        return queue.ports.qos.pfc.origin
    return row.key() if row.path[0] == "QUEUE" else row


def _classes_without(view: View, bare: Sequence[LosslessQueue]) -> Iterator[Violation]:
    classes = {cls.priority: cls for cls in view.fabric.classes.lossless}
    for priority, cls in classes.items():
        marked = [queue for queue in lossless_queues(view) if queue.priority == priority and queue.wred]
        without = ((_declared_at(queue, cls), queue) for queue in bare if queue.priority == priority)
        for origin, queues in grouped(without).items():
            yield _class_violation(cls.name, origin, queues, marked)


def _declared_at(queue: LosslessQueue, cls: TrafficClass) -> Origin:
    """Return the origin that leaves a queue without a curve: the key that turns it off, else ``ecn`` of the class."""
    stated = queue.queue.wred_origin if queue.queue else None
    return stated if stated is not None and stated.mark != "key" else below(cls.origin, "ecn")


def _class_violation(
    name: str, origin: Origin, queues: Sequence[LosslessQueue], marked: Sequence[LosslessQueue]
) -> Violation:
    speeds_bps = {queue.ports.speed_bps for queue in queues if queue.ports.speed_bps}
    if marked:
        where, others = _apart(queues, marked)
        message = f"lossless class {name} marks nothing on {where}: ecn has no curve for them"
        note = f"there is one for {others}; {_WHY}"
    else:
        message, note = f"lossless class {name} has no ECN and marks nothing", _WHY
    return Violation(
        origin=origin,
        message=message,
        note=note,
        help=f"state min, max and probability {_key(name, origin)}; where senders ignore marks, "
        "congestion_control: pfc-only",
        data={"speeds": [*map(format_rate, sorted(speeds_bps))]},
    ).on_ports(*distinct(queue.ports for queue in queues))


def _key(name: str, origin: Origin) -> str:
    """Return the key for a new curve, for the help: the one that turns it off, else ``ecn`` of the class."""
    path = (
        origin.path
        if origin.path[:1] == ("classes",) and origin.mark == "value"
        else ("classes", name, "ecn")
    )
    return f"as {'.'.join(map(str, path))}"


def _apart(queues: Sequence[LosslessQueue], marked: Sequence[LosslessQueue]) -> tuple[str, str]:
    """Return words for queues without and with marks, by the first property that separates the two, or the last."""
    where: list[str] = []
    others: list[str] = []
    for words in (_tier, _links, _links_of_tier, _switches, _links_of_switches):
        where, others = _each_once(queues, words), _each_once(marked, words)
        if not {*where} & {*others}:
            break
    return joined(where, _MOST), joined(others, _MOST)


def _each_once(queues: Sequence[LosslessQueue], words: Callable[[PortSet], Sequence[str]]) -> list[str]:
    by_speed = sorted((queue.ports for queue in queues), key=lambda ports: ports.speed_bps or 0)
    return [*dict.fromkeys(word for ports in by_speed for word in words(ports))]


def _tier(ports: PortSet) -> Sequence[str]:
    tier = known_tier(ports.switch.tier)
    return [f"{tier.word} switches" if tier else "switches without a tier"]


def _links(ports: PortSet) -> Sequence[str]:
    return [f"{ports.rate} links"]


def _links_of_tier(ports: PortSet) -> Sequence[str]:
    return [f"{ports.rate} links of {tier}" for tier in _tier(ports)]


def _switches(ports: PortSet) -> Sequence[str]:
    return ports.switches


def _links_of_switches(ports: PortSet) -> Sequence[str]:
    return [f"{ports.rate} links of {name}" for name in ports.switches]
