"""Packets that switches spray over paths need NICs that accept them out of order.

Severity: warning
Subject: intent

## What it does
Where an intent declares that switches, or those of one tier, choose a path for each packet
(`topology.routing.load_balancing: spray` or `adaptive`), checks how far NICs accept packets out of order
(`hosts.reorder`). `none` is an error, and no statement a warning, with the facts of the NIC's profile: that it needs
packets in order, or the setting that lets it accept them out of order. `hosts.reorder` beyond the profile is a warning
too. Flowlets change paths after a gap that is longer than paths differ, and are not checked. `dlb` has a mode for each,
which is a setting of its own; nothing is checked until the intent has its mode. NICs that support Ultra Ethernet accept
packets in any order, and are not checked where no class is lossless.

## Why it breaks a lossless fabric
A NIC that needs order takes the first packet that overtakes another for a loss. It requests all packets since, and the
sender sends them again, into a fabric that lost nothing. In a permutation that ran at line rate, more than half of the
bandwidth is lost to that; in an incast it multiplies the queued data, and with it the pauses.

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
State how many frames the NICs accept ahead of the one that is due, if they do: `lossless render` then configures NVIDIA
NICs accordingly. Else let flows keep their paths. `lossless simulate` shows the effect of either.

## Sources
- IBTA InfiniBand Architecture volume 1, 9.7.5 (a responder answers a PSN out of sequence by a NAK, and the requester
  goes back)
- Juniper, Dynamic Load Balancing (packets may come out of order in per-packet mode; the mode must be configured, as
  there is no default)
- NVIDIA DOCA 2.9.0, Out-of-Order Data Placement (ConnectX-5 and above handle packets that arrive out of order,
  instead of dropping them); mstflint register_access_table.adb @b9d9e84 (adaptive_routing_forced_en of register
  ROCE_ACCL: all queue pairs are created with adaptive routing)
- ultraethernet/uet-htsim @40ccb05, and this program's model (docs/guides/load-balancing.md): receivers in order under
  spraying
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.ground.basics.findings import RelatedPlace
from lossless.model.fabric.cabling import BY_PACKET

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.cabling import PacketOrder
    from lossless.model.fabric.view import View
    from lossless.model.hardware.model import PacketReorder

IN_ORDER = "each packet that overtakes another is taken for a loss, and what follows is sent again"
OTHERWISE = "let flows keep their paths: ecmp or flowlet; or use NICs that take packets out of order"


def check(view: View) -> Results:
    """Yield a violation where paths reorder packets that NICs may not accept, or an intent exceeds NICs' profiles."""
    order = view.fabric.packet_order
    if order is None or (view.fabric.ultra_ethernet and not view.fabric.classes.lossless):
        return
    if isinstance(order.ahead_frames, int):
        yield from _beyond(order, order.ahead_frames, _known(view))
        return
    stated = order.all_choices()
    by_packet = next((choice for choice in stated if choice in BY_PACKET), None)
    if by_packet is not None:
        role, origin = stated[by_packet]
        where = f" at {role} switches" if role else ""
        choice = f"load balancing{where} is {by_packet}"
        yield (
            _in_order(choice, origin, order) if order.ahead_frames is None else _unsaid(choice, origin, view)
        )
    elif "dlb" in stated:
        yield MissingInput(
            "load balancing is dlb, and nothing says its mode; state adaptive if it chooses for each packet, or flowlet"
        )


def _known(view: View) -> Mapping[str, PacketReorder | None]:
    """Return the reordering of each kind of NIC, None where it is unknown, by the name of its profile."""
    nics = [host.nic for host, _ in view.host_kinds if host.nic is not None]
    return {nic.name: nic.reorder for nic in nics}


def _beyond(
    order: PacketOrder, ahead_frames: int, known: Mapping[str, PacketReorder | None]
) -> Iterator[Violation]:
    """Yield a violation where an intent declares more reordering for NICs than their profile has."""
    said = f"{ahead_frames:,}" if ahead_frames else "any"
    for name, reorder in known.items():
        if reorder is not None and not reorder.able:
            yield Violation(
                origin=order.hosts_origin,
                message=f"hosts.reorder is {said}, and {name} takes packets in order",
                note=IN_ORDER,
                help=f"set hosts.reorder: none, and {OTHERWISE}",
                data={"nic": name, "frames": None},
            )
        elif reorder is not None and reorder.frames and (not ahead_frames or ahead_frames > reorder.frames):
            yield Violation(
                origin=order.hosts_origin,
                message=f"hosts.reorder is {said}, and {name} takes at most {reorder.frames:,} frames ahead",
                help=f"set hosts.reorder: {reorder.frames}",
                data={"nic": name, "frames": reorder.frames},
            )


def _in_order(choice: str, origin: Origin, order: PacketOrder) -> Violation:
    return Violation(
        origin=origin,
        message=f"{choice}, and NICs take packets in order",
        note=IN_ORDER,
        help=OTHERWISE,
        severity="error",
        related=(RelatedPlace(order.hosts_origin, "what NICs take out of order"),),
    )


def _unsaid(choice: str, origin: Origin, view: View) -> Violation:
    """Return the violation for NICs without a stated reordering, with the facts of their profiles."""
    known = _known(view)
    unable = [name for name, reorder in known.items() if reorder is not None and not reorder.able]
    if unable:
        return Violation(
            origin=origin,
            message=f"{choice}, and {unable[0]} takes packets in order",
            note=IN_ORDER,
            help=OTHERWISE,
            data={"nic": unable[0]},
        )
    state = "state hosts.reorder: how many frames they take ahead of the one that is due, or any"
    settings = {
        name: reorder.setting for name, reorder in known.items() if reorder is not None and reorder.setting
    }
    return Violation(
        origin=origin,
        message=f"{choice}, and nothing says that NICs take packets out of order",
        note="NICs that need order take each packet that overtakes another for a loss",
        help="; ".join([state, *(f"{name} can, by {setting}" for name, setting in settings.items())]),
    )
