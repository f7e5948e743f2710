"""Switches must offer the load balancing that is declared for them.

Severity: warning
Subject: intent

## What it does
Compares the declared choice among equal paths (`topology.routing.load_balancing`) with the known choices of the
switches' product under the system that they run (`format`; `lossless profiles NAME` shows it). A choice that the system
is known not to have is a warning. One that it has on links of some speeds alone is information where links between
switches have another speed. Without a public source, nothing is reported.

## Why it breaks a lossless fabric
A switch that does not have the choice goes on hashing flows. Hashed flows share links while others stand empty, and
queues grow until they pause. Simulation and other results for the intent then describe another fabric than the running
one.

## Bad
```yaml intent base=leaf-spine
hardware:
  switch: {profile: nvidia-sn4700, format: nvue}
  leaf: null
  spine: null
topology:
  leaf_spine:
    uplinks: 4 x 400G
  routing:
    load_balancing: adaptive   # <- here
hosts:
  reorder: any
```

```yaml intent base=leaf-spine
hardware:
  switch: {profile: nvidia-sn5600, format: nvue}
  leaf: null
  spine: null
topology:
  routing:
    load_balancing:
      leaf: adaptive   # <- here
      spine: ecmp
hosts:
  reorder: any
```

## Good
```yaml intent base=leaf-spine
hardware:
  switch: {profile: nvidia-sn5600, format: nvue}
  leaf: null
  spine: null
topology:
  leaf_spine:
    uplinks: 4 x 400G
  routing:
    load_balancing: adaptive
hosts:
  reorder: any
```

## Fix
Declare the actual choice of the switches, or use switches and links that offer it: a cage of 800G is also two ports of
400G.

## Sources
- NVIDIA Cumulus Linux 5.17, Equal Cost Multipath Load Sharing, Adaptive Routing (switches with the Spectrum-4 ASIC at
  400G and 200G; not on links of 800G)
- NVIDIA NVUE reference, Show Commands, Adaptive Routing (Spectrum-2 and Spectrum-3: a beta feature for evaluation up to
  Cumulus Linux 5.5)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, merged
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_rate, joined
from lossless.model.fabric.cabling import BY_PACKET
from lossless.model.fabric.model import Switch, known_tier
from lossless.model.hardware.model import LoadBalancing, OfferedChoices

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.cabling import PacketOrder
    from lossless.model.fabric.view import View


class _Kind(NamedTuple):
    """Identical switches, their declared choice among equal paths, and the known choices of their product."""

    switch: Switch
    names: tuple[str, ...]
    choice: LoadBalancing
    origin: Origin
    known: OfferedChoices | None

    @property
    def lacks(self) -> bool:
        """Whether the product is known not to have the stated choice."""
        return self.known is not None and self.choice in self.known.lacks


def check(view: View) -> Results:
    """Yield a violation per choice that a kind of switch is known not to offer, or not at the speed of its links."""
    order = view.fabric.packet_order
    if order is not None:
        yield from merged(_violations(view, order))


def _violations(view: View, order: PacketOrder) -> Iterator[Violation]:
    kinds = [_kind(order, switch, names) for switch, names in view.identical]
    # Where no switch sprays packets, none comes out of order; NICs that are said to need it are an error all the same.
    spreads = any(kind.choice in BY_PACKET and not kind.lacks for kind in kinds)
    for kind in kinds:
        if kind.lacks:
            yield _lacking(kind)._replace(conclusive=not spreads and order.ahead_frames is not None)
        elif others := _other_speeds(view, kind):
            yield _at_speeds(kind, others)


def _kind(order: PacketOrder, switch: Switch, names: tuple[str, ...]) -> _Kind:
    tier = known_tier(switch.tier)
    choice, origin = order.at(tier.word if tier else "switch")
    known = switch.profile.load_balancing.get(switch.format) if switch.profile is not None else None
    return _Kind(switch, names, choice, origin, known)


def _said(kind: _Kind) -> Violation:
    switch, names, choice, origin, _ = kind
    role = origin.path[-1]
    where = "" if role == "load_balancing" else f" at {role} switches"
    name = switch.profile.name if switch.profile is not None else ""
    return Violation(
        origin=origin,
        message=f"load balancing{where} is {choice}, which {name} does not offer under {switch.format}",
        elements=names,
        places=len(names),
        data={"profile": name, "choice": choice},
    )


def _lacking(kind: _Kind) -> Violation:
    offered = joined(kind.known.offers) if kind.known is not None else ""
    return _said(kind)._replace(
        note=f"it is known to offer {offered}",
        help=f"declare what it offers, or use switches that offer {kind.choice}",
    )


def _other_speeds(view: View, kind: _Kind) -> tuple[int, ...]:
    """Return the speeds of links to other switches at which a choice is missing, where only some speeds have it."""
    offered = kind.known.speeds_bps.get(kind.choice) if kind.known is not None else None
    if offered is None:
        return ()
    links = (link for name in kind.names for link in view.links_of.get(name, ()) if not link.to_host)
    return tuple(sorted({link.speed_bps for link in links} - {*offered}))


def _at_speeds(kind: _Kind, others: tuple[int, ...]) -> Violation:
    said, speeds_bps = _said(kind), kind.known.speeds_bps[kind.choice] if kind.known is not None else ()
    offered = " or ".join(map(format_rate, speeds_bps))
    return said._replace(
        message=f"{said.message} on links of {joined(map(format_rate, others))}",
        note=f"it is known to offer it on links of {offered}",
        help=f"use links of {offered} between switches, or declare ecmp",
        data={**said.data, "speeds_bps": [*others]},
        severity="info",
        conclusive=False,
    )
