"""A class that is not strict must be left a share of the link.

Severity: info
Subject: intent

## What it does
Looks for lossy classes of an intent that state no `bandwidth` where the other classes take all 100 %: such a
class gets weight 1. Lossless ones are SCH001's, and weights that a switch cannot hold SWS004's. The weights of a
SONiC switch need not add up to 100, so their sum is not checked. Arista EOS and Cisco NX-OS take shares in percent, of
which a port has 100: there `render` refuses such a class, lossless ones too, and it is an error.

## Why it breaks a lossless fabric
The class has one per cent as soon as the link is busy. If it carries CNPs, senders slow down too late; if it carries
routing, sessions are at stake; and the intent does not show it.

## Bad
```yaml intent base=leaf-spine
classes:
  backup: {dscp: 8, priority: 1}   # <- here
```

## Good
```yaml intent base=leaf-spine
classes:
  backup: {dscp: 8, priority: 1, bandwidth: 10%}
  default:
    bandwidth: 40%
```

```yaml intent base=leaf-spine
classes:
  backup: {dscp: 8, priority: 1}
  default:
    bandwidth: 40%
```

## Fix
State `bandwidth` for the class, and less for the others.

## Sources
- sonic-buildimage src/sonic-yang-models/yang-models/sonic-scheduler.yang @086b03b (weight 1 to 100, 1 where none is
  stated)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.scheduling.scheduler_use import scheduler_of, weights
from lossless.ground.basics.units import joined

if TYPE_CHECKING:
    from lossless.model.fabric.qos import Scheduler
    from lossless.model.fabric.view import View

_WHOLE = 100
_LEAST = 1


def check(view: View) -> Results:
    """Yield a violation per class for which the stated shares leave no share, and which no other rule reports."""
    refusing = tuple(switch.name for switch in view.fabric.switches if switch.shares_in_percent)
    # All ports of an intent serve its classes in the same way.
    for ports in view.port_sets[:1]:
        shared = weights(ports.qos)
        total = sum(shared.values())
        for cls in view.fabric.classes.classes if total > _WHOLE else ():
            scheduler = scheduler_of(ports.qos, cls.priority or 0) if refusing or not cls.lossless else None
            if scheduler is not None and scheduler.weight == _LEAST and _unstated(scheduler):
                yield _class_without_share(scheduler, cls.name, total, refusing)


def _unstated(scheduler: Scheduler) -> bool:
    """Return whether no share is stated: the origin is then the nearest key above the place of the share."""
    return scheduler.origin.mark == "key"


def _class_without_share(scheduler: Scheduler, name: str, total: int, refusing: tuple[str, ...]) -> Violation:
    refused = f"; a port of {joined(refusing, 4)} has no more than {_WHOLE} % to give" if refusing else ""
    return Violation(
        origin=scheduler.origin,
        message=f"class {name} can count on {_WHOLE * _LEAST / total:.1f} % of the link: "
        f"weight {_LEAST} of {total}",
        note=f"a class without bandwidth has what the others leave of {_WHOLE} %, at least weight {_LEAST}{refused}",
        severity="error" if refusing else None,
        help=f"state classes.{name}.bandwidth, and less for the others",
        data={"class": name, "weight": _LEAST, "total": total},
    )
