"""Packets that switches spread over paths need NICs that take them out of order.

Severity: warning

## What it does
Where an intent says that switches choose a path for each packet (`topology.routing.load_balancing: spray` or
`adaptive`), looks at what NICs take out of order (`hosts.reorder`). `none` is an error, and nothing said a warning.
Flowlets change paths after a gap that is longer than paths differ, and are not checked.

## Why it breaks a lossless fabric
A NIC that needs order takes the first packet that overtakes another for a loss. It asks for everything since, and
the sender sends it again, into a fabric that lost nothing. In a permutation that ran at line rate, more than half
is lost to that; in an incast it multiplies what waits, and with it the pauses.

## Bad
```yaml intent base=leaf-spine
topology:
  routing:
    load_balancing: spray   # <- here
hosts:
  reorder: none
```

```yaml intent base=leaf-spine
topology:
  routing:
    load_balancing: adaptive   # <- here
```

## Good
```yaml intent base=leaf-spine
topology:
  routing:
    load_balancing: spray
hosts:
  reorder: any
```

```yaml intent base=leaf-spine
topology:
  routing:
    load_balancing: flowlet
```

## Fix
Say how many frames the NICs take ahead of the one that is due, if they do; else let flows keep their paths. `lossless
simulate` shows what either brings.

## Sources
- IBTA InfiniBand Architecture volume 1, 9.7.5 (a responder answers a PSN out of sequence by a NAK, and the requester
  goes back)
- ultraethernet/uet-htsim @40ccb05, and this program's model (docs/guides/load-balancing.md): receivers in order under
  spraying
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.ground.basics.findings import RelatedPlace
from lossless.ground.basics.known import UNKNOWN

if TYPE_CHECKING:
    from lossless.model.fabric.view import View

_BY_PACKET = ("adaptive", "spray")


def check(view: View) -> Results:
    """Yield a violation where packets of one flow overtake each other, and NICs are not known to bear it."""
    order = view.fabric.packet_order
    if order is None or order.choice not in _BY_PACKET or not view.fabric.classes.lossless:
        return
    if order.ahead_frames is None:
        yield Violation(
            origin=order.choice_origin,
            message=f"load balancing is {order.choice}, and NICs take packets in order",
            note="each packet that overtakes another is taken for a loss, and what follows is sent again",
            help="let flows keep their paths: ecmp or flowlet; or use NICs that take packets out of order",
            severity="error",
            related=(RelatedPlace(order.hosts_origin, "what NICs take out of order"),),
        )
    elif order.ahead_frames is UNKNOWN:
        yield Violation(
            origin=order.choice_origin,
            message=f"load balancing is {order.choice}, and nothing says that NICs take packets out of order",
            note="NICs that need order take each packet that overtakes another for a loss",
            help="state hosts.reorder: how many frames they take ahead of the one that is due, or any",
        )
