"""Only control traffic may be served strictly: neither RDMA nor bulk traffic may be.

Severity: warning
Subject: fabric, switch

## What it does
Looks at the STRICT queues of ports with PFC that no limit keeps below the port's speed. A lossless one is a warning:
all other queues wait for it. So is one of bulk traffic where a lossless queue has to wait for it: with an intent, a
class that takes the rest, or a DSCP below 40 (CS5) that is not CNP's; on a switch, the queue of DSCP 0. On a switch
that runs another system, queues with a share may wait on ports without PFC too. Strict service is meant for CNP, EF,
CS5 to CS7 and capped queues.

## Why it breaks a lossless fabric
A strict queue is served for as long as it holds a packet. RDMA fills links for seconds: behind it BGP misses its hold
time, and CNPs wait for the very traffic they are to slow down. The other way round, one bulk transfer stops RDMA, and
the traffic that a lossless queue cannot send is paused upstream.

## Bad
```yaml intent base=leaf-spine
classes:
  rdma:
    scheduling: strict   # <- here
    bandwidth: null
```

```yaml intent base=leaf-spine
classes:
  backup:
    dscp: 8
    priority: 1
    scheduling: strict   # <- here
```

```json config_db base=leaf
{
  "SCHEDULER": {"scheduler.1": {
    "type": "STRICT"   // <- here
  }}
}
```

```json config_db base=leaf
{
  "QUEUE": {
    "Ethernet0|0": {
      "scheduler": "scheduler.cnp"   // <- here
    }
  }
}
```

## Good
```yaml intent base=leaf-spine
classes:
  control: {dscp: 56, priority: 7, scheduling: strict}
```

```json config_db base=leaf
{
  "SCHEDULER": {"scheduler.bulk": {"type": "STRICT", "cir": "1000000000", "pir": "10000000000"}},
  "QUEUE": {
    "Ethernet0|0": {
      "scheduler": "scheduler.bulk"
    }
  }
}
```

## Fix
Serve RDMA and bulk traffic by weight (DWRR), and leave STRICT to CNP and control traffic.

## Sources
- opencomputeproject/SAI inc/saischeduler.h @0051fac
- CumulusNetworks/docs cumulus-linux-514 RDMA-over-Converged-Ethernet-RoCE.md @1ffba62 (RDMA 50 %, CNP strict)
- iancaragol/AzureLocal-Supportability Reference-TOR-QOS-Policy-Configuration.md @13714e6 (RDMA 50 %)
- RFC 2474 (class selectors), RFC 3246 (EF)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.classification.cls007_cnp_class_unsafe import CNP_CLASS, DEFAULT_CNP_DSCP
from lossless.checks.rules.ecn.wred_profiles import lossless_numbers
from lossless.checks.rules.locations import distinct
from lossless.checks.rules.scheduling.scheduler_use import (
    STRICT,
    WEIGHTED,
    queue_names,
    scheduler_uses,
    unbounded,
    waiting_for,
)
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.qos import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.checks.rules.subjects import SwitchConfiguration
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.model import TrafficClass
    from lossless.model.fabric.qos import PortQos, Queue, Scheduler
    from lossless.model.fabric.view import PortSet, View

CONTROL_DSCPS = range(40, 64)
"""CS5, EF, CS6, CS7 and the code points between them: signaling, voice and routing (RFC 2474, RFC 3246)."""
_BEST_EFFORT = 0


class _StrictQueue(NamedTuple):
    """A queue that is served strictly up to the speed of its port; ``starved`` are lossless queues behind it."""

    ports: PortSet
    queue: Queue
    scheduler: Scheduler
    starved: tuple[int, ...]


def check(view: View) -> Results:
    """Yield a violation per strict scheduler without a limit for a lossless queue, or for bulk traffic before one."""
    uses = grouped(((id(queue.scheduler), carries), queue) for queue, carries in _strict(view))
    for (_, carries), queues in uses.items():
        yield _bulk(view, queues, carries) if carries else _lossless(view, queues)


def on_switch(switch: SwitchConfiguration) -> Results:
    """Yield a violation per scheduler of another system that serves unmarked traffic before queues with a share.

    Ports with PFC are left to :func:`check`.
    """
    uses: dict[Scheduler, list[tuple[PortSet, tuple[int, ...]]]] = {}
    for ports in switch.view.port_sets:
        number = None if ports.qos.pfc.priorities else _queue_of_unmarked(ports.qos)
        queue = ports.qos.queues[number] if number is not None else None
        if number is None or queue is None or queue.scheduler is None or queue.scheduler.kind != STRICT:
            continue
        shared = tuple(n for n in waiting_for(ports.qos, number) if _has_share(ports.qos.queues[n]))
        if shared and unbounded(queue.scheduler, ports.speed_bps):
            uses.setdefault(queue.scheduler, []).append((ports, shared))
    for scheduler, placed in uses.items():
        yield Violation(
            origin=scheduler.origin,
            message=f"unmarked traffic is served strictly: {queue_names(placed[0][1])} waits for it",
            note="a share counts of what strict queues leave, and one bulk transfer leaves nothing",
            help="serve it by weight: DWRR",
            data={"queues": list(placed[0][1]), "scheduler": scheduler.name},
        ).on_ports(*(ports for ports, _ in placed))


def _has_share(queue: Queue | None) -> bool:
    return queue is not None and queue.scheduler is not None and queue.scheduler.kind in WEIGHTED


def _queue_of_unmarked(qos: PortQos) -> int | None:
    """Return the queue of packets with 0 in the field that a port trusts, None where it is not known."""
    if not qos.trust_dot1p:
        return _queue_of(qos, _BEST_EFFORT)
    traffic_class = qos.dot1p_to_tc.targets[_BEST_EFFORT] if qos.dot1p_to_tc else None
    return None if traffic_class in (None, UNREADABLE) else qos.queue_of(traffic_class)


def _strict(view: View) -> Iterator[tuple[_StrictQueue, str]]:
    """Yield each unlimited strict queue that is lossless, not for CNPs, or carries bulk traffic before lossless ones.

    With it comes a name for the bulk traffic, empty where the queue is lossless itself.
    """
    lossless: dict[int, list[int]] | None = None
    for ports in view.lossless_sets:
        for queue in ports.qos.queues:
            scheduler = queue.scheduler if queue else None
            if queue is None or scheduler is None or scheduler.kind != STRICT:
                continue
            lossless = lossless_numbers(view) if lossless is None else lossless
            own = set(lossless.get(id(ports.ports), ()))
            starved = tuple(sorted(own.intersection(waiting_for(ports.qos, queue.number))))
            carries = "" if queue.number in own else _bulk_traffic(view, ports, queue.number)
            first = queue.number in own and not _for_cnps(view, queue.number)
            if unbounded(scheduler, ports.speed_bps) and (first or (carries and starved)):
                yield _StrictQueue(ports, queue, scheduler, starved), carries or ""


def _for_cnps(view: View, number: int) -> bool:
    """Return whether an intent gives a queue to CNPs; CLS007 reports one that is lossless."""
    cnp_dscp = _cnp_dscp(view)
    return view.fabric.declared and any(
        cls.priority == number and (cls.name == CNP_CLASS or cnp_dscp in cls.dscps)
        for cls in view.fabric.classes.classes
    )


def _bulk_traffic(view: View, ports: PortSet, number: int) -> str | None:
    """Return a name for the bulk traffic of a queue, None where it is not known to carry any."""
    if view.fabric.declared:
        return next((f"class {c.name}" for c in _bulk_classes(view) if c.priority == number), None)
    return f"DSCP {_BEST_EFFORT}" if _queue_of(ports.qos, _BEST_EFFORT) == number else None


def _bulk_classes(view: View) -> Iterator[TrafficClass]:
    cnp_dscp = _cnp_dscp(view)
    for cls in view.fabric.classes.classes:
        others = [dscp for dscp in cls.dscps if dscp not in CONTROL_DSCPS and dscp != cnp_dscp]
        if (cls.rest or others) and cls.name != CNP_CLASS:
            yield cls


def _cnp_dscp(view: View) -> int | None:
    congestion = view.fabric.congestion
    return congestion.cnp_dscp if congestion else DEFAULT_CNP_DSCP


def _lossless(view: View, queues: list[_StrictQueue]) -> Violation:
    numbers, waiting = _numbers(queues), sorted(set(waiting_for(queues[0].ports.qos, queues[0].queue.number)))
    others = queue_names(tuple(n for n in waiting if n not in numbers)) if waiting else "all others"
    return _bulk_class_strict(
        view,
        queues,
        f"lossless {queue_names(numbers)} is served before {others}: while RDMA waits, they send nothing",
    )._replace(note=_control_note(view, queues[0]), help="serve RDMA by weight: DWRR")


def _control_note(view: View, strict: _StrictQueue) -> str:
    waiting = set(waiting_for(strict.ports.qos, strict.queue.number))
    cnp = _queue_of(strict.ports.qos, _cnp_dscp(view))
    if cnp in waiting:
        return f"CNPs (DSCP {_cnp_dscp(view)}) wait in queue {cnp} behind the traffic they are to slow down"
    unmarked = _queue_of(strict.ports.qos, _BEST_EFFORT)
    return f"unmarked traffic (DSCP {_BEST_EFFORT}) waits in queue {unmarked}" if unmarked in waiting else ""


def _queue_of(qos: PortQos, dscp: int | None) -> int | None:
    """Return the queue of a DSCP, None where it is not known."""
    if dscp is None or qos.dscp_to_tc is None or qos.trust_dot1p:
        return None
    traffic_class = qos.traffic_class(dscp)
    return None if traffic_class == UNREADABLE else qos.queue_of(traffic_class)


def _bulk(view: View, queues: list[_StrictQueue], carries: str) -> Violation:
    numbers = _numbers(queues)
    starved = tuple(sorted({number for queue in queues for number in queue.starved}))
    return _bulk_class_strict(
        view,
        queues,
        f"{queue_names(numbers)} of {carries} is served strictly: lossless {queue_names(starved)} waits for it",
    )._replace(
        note="what a lossless queue cannot send is paused upstream, for as long as the strict one holds anything",
        help=f"serve {carries} by weight: DWRR",
    )


def _bulk_class_strict(view: View, queues: list[_StrictQueue], message: str) -> Violation:
    return Violation(
        origin=_origin(view, queues),
        message=message,
        data={"queues": list(_numbers(queues)), "scheduler": queues[0].scheduler.name},
    ).on_ports(*distinct(queue.ports for queue in queues))


def _numbers(queues: Iterable[_StrictQueue]) -> tuple[int, ...]:
    return tuple(sorted({strict.queue.number for strict in queues}))


def _origin(view: View, queues: list[_StrictQueue]) -> Origin:
    """Return the origin of a scheduler's type where it serves no other queue, else of the row that chose it.

    In an intent it is that of the scheduler.
    """
    first = queues[0]
    if view.fabric.declared:
        return first.scheduler.origin
    serves = next(use.numbers for use in scheduler_uses(view) if use.scheduler is first.scheduler)
    return (
        first.scheduler.origin.at("type")
        if serves == _numbers(queues)
        else first.queue.origin.at("scheduler")
    )
