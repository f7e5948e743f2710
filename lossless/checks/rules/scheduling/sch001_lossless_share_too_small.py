"""Lossless queues must be guaranteed a share of the link.

Severity: warning
Confidence: medium
Subject: fabric

## What it does
Adds up the weights of the queues that share a port by weight, and checks that the lossless ones get at least half of an
equal share. With an intent, or where RDMA's DSCPs are named, each lossless queue is checked alone; on a deployed switch
that does not declare which of its lossless queues carries RDMA, all are checked together. Stock SONiC's 15 of 100 for
each of two queues in seven is a sound share.

## Why it breaks a lossless fabric
A lossless queue does not drop the traffic that it cannot send, it holds it: while the other queues are busy, a queue of
2 % drains at 2 % of the link, its ingress groups fill, and the pause propagates to ports with unrelated traffic. The
usual cause is a slip: a weight of 1 left from a default, or a percentage in the wrong class.

## Bad
```yaml intent base=leaf-spine
classes:
  rdma:
    bandwidth: 5%   # <- here
  default:
    bandwidth: 95%
```

```json config_db base=leaf
{
  "SCHEDULER": {"scheduler.1": {
    "weight": "1"   // <- here
  }}
}
```

## Good
```yaml intent base=leaf-spine
classes:
  rdma:
    bandwidth: 30%
  default:
    bandwidth: 70%
```

```json config_db base=leaf
{
  "SCHEDULER": {"scheduler.1": {
    "weight": "50"
  }}
}
```

## Fix
Give RDMA the share of the link that it needs while everything else is busy too; vendors publish half.

## Sources
- CumulusNetworks/docs cumulus-linux-514 RDMA-over-Converged-Ethernet-RoCE.md @1ffba62 (50 % for RDMA)
- iancaragol/AzureLocal-Supportability Reference-TOR-QOS-Policy-Configuration.md @13714e6 (50 % for RDMA)
- sonic-buildimage files/build_templates/qos_config.j2 @086b03b (15 and 15 of 100)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.ecn.wred_profiles import lossless_numbers
from lossless.checks.rules.scheduling.scheduler_use import (
    WEIGHTS,
    below_half_share,
    queue_names,
    scheduler_of,
    weights,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.model.fabric.qos import Scheduler
    from lossless.model.fabric.view import PortSet, View


def check(view: View) -> Results:
    """Yield violations for schedulers that leave lossless queues less than half of an equal share."""
    lossless = lossless_numbers(view)
    for ports in view.lossless_sets:
        shared = weights(ports.qos)
        if len(shared) < 2 or not all(weight in WEIGHTS for weight in shared.values()):
            continue
        numbers = [n for n in dict.fromkeys(lossless.get(id(ports.ports), ())) if n in shared]
        for group in _asked(ports, numbers):
            scheduler = scheduler_of(ports.qos, group[0])
            if scheduler is not None and below_half_share(shared, group):
                yield _lossless_share_too_small(view, ports, scheduler, shared, group)


def _asked(ports: PortSet, numbers: list[int]) -> list[tuple[int, ...]]:
    """Return the queues that need a share: each that carries RDMA, or all together where that is unknown."""
    classes = ports.switch.classes
    if classes.knowledge == "inferred":
        return [tuple(numbers)] if numbers else []
    if classes.knowledge == "declared":
        return [(number,) for number in numbers]
    named = {ports.qos.queue_of(ports.qos.traffic_class(d)) for cls in classes.lossless for d in cls.dscps}
    return [(number,) for number in numbers if number in named]


def _lossless_share_too_small(
    view: View, ports: PortSet, scheduler: Scheduler, shared: Mapping[int, int], group: tuple[int, ...]
) -> Violation:
    weight, total = sum(shared[number] for number in group), sum(shared.values())
    share, equal = 100 * weight / total, 100 * len(group) / len(shared)
    numbers = tuple(sorted(group))
    return Violation(
        origin=scheduler.origin if view.fabric.declared else scheduler.origin.at("weight"),
        message=f"lossless {queue_names(numbers)} can count on {share:.1f} % of the link: "
        f"weight {weight} of {total}",
        note=f"equal weights on {len(shared)} queues would give {equal:.1f} %; "
        "what a lossless queue cannot send in time is paused upstream",
        help=f"{_remedy(view, group)}; vendors publish 50 % for RDMA",
        data={"queues": list(numbers), "weight": weight, "total": total, "percent": round(share, 2)},
    ).on_ports(ports)


def _remedy(view: View, numbers: tuple[int, ...]) -> str:
    """Return the setting to raise: the class's share in an intent, else the weight of its scheduler."""
    names = [cls.name for cls in view.fabric.classes.lossless if cls.priority in numbers]
    return f"raise classes.{names[0]}.bandwidth" if view.fabric.declared and names else "raise its weight"
