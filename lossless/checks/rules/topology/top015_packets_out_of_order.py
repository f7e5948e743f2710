"""Packets that switches spread over paths need NICs that take them out of order.

Severity: warning

## What it does
Where an intent says that switches, or those of one tier, choose a path for each packet
(`topology.routing.load_balancing: spray` or `adaptive`), looks at what NICs take out of order (`hosts.reorder`). `none`
is an error, and nothing said a warning. Flowlets change paths after a gap that is longer than paths differ, and are not
checked. `dlb` has a mode for each, which is a setting of its own; nothing is checked until the intent has its mode.

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

```yaml intent base=leaf-spine
topology:
  routing:
    load_balancing:
      leaf: adaptive   # <- here
      spine: ecmp
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
- Juniper, Dynamic Load Balancing (packets may come out of order in per-packet mode; the mode must be configured, as
  there is no default)
- ultraethernet/uet-htsim @40ccb05, and this program's model (docs/guides/load-balancing.md): receivers in order under
  spraying
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.ground.basics.findings import RelatedPlace
from lossless.model.fabric.routing import BY_PACKET

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.routing import PacketOrder
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation where packets of one flow overtake each other, and NICs are not known to bear it."""
    order = view.fabric.packet_order
    if order is None or isinstance(order.ahead_frames, int) or not view.fabric.classes.lossless:
        return
    stated = order.all_choices()
    by_packet = next((choice for choice in stated if choice in BY_PACKET), None)
    if by_packet is not None:
        role, origin = stated[by_packet]
        where = f" at {role} switches" if role else ""
        yield _violation(f"load balancing{where} is {by_packet}", origin, order)
    elif "dlb" in stated:
        yield MissingInput(
            "load balancing is dlb, and nothing says its mode; state adaptive if it chooses for each packet, or flowlet"
        )


def _violation(choice: str, origin: Origin, order: PacketOrder) -> Violation:
    if order.ahead_frames is None:
        return Violation(
            origin=origin,
            message=f"{choice}, and NICs take packets in order",
            note="each packet that overtakes another is taken for a loss, and what follows is sent again",
            help="let flows keep their paths: ecmp or flowlet; or use NICs that take packets out of order",
            severity="error",
            related=(RelatedPlace(order.hosts_origin, "what NICs take out of order"),),
        )
    return Violation(
        origin=origin,
        message=f"{choice}, and nothing says that NICs take packets out of order",
        note="NICs that need order take each packet that overtakes another for a loss",
        help="state hosts.reorder: how many frames they take ahead of the one that is due, or any",
    )
