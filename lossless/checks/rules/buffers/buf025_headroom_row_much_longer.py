"""A headroom row should be for about the length of the cable.

Severity: info
Subject: intent

## What it does
In the traditional buffer model `render` configures the length of the next longer row of the HWSKU for a cable without a
row of its own, never of a shorter one. This rule looks in an intent for links whose row has more than twice the
headroom that SONiC's own formula gives for the cable, and reports the buffer that this leaves unused on a switch. Rows
that are a little longer are normal in SONiC and are not reported. Chips for which SONiC has no formula, rows that the
formula does not reproduce, and headroom that the intent states are left alone.

## Why it breaks a lossless fabric
It does not: more headroom than a cable needs is safe. But the surplus is never used, and it is missing in the buffer
that all ports share: thresholds are lower and pauses come earlier. A shared headroom pool is larger than needed.

## Bad
```yaml intent base=leaf-spine
topology:
  leaf_spine:
    cables:
      uplink: 50m   # <- here
```

## Good
```yaml intent base=leaf-spine
topology:
  leaf_spine:
    cables:
      uplink: 40m
```

```yaml intent base=leaf-spine
buffers: {model: dynamic}
topology:
  leaf_spine:
    cables:
      uplink: 50m
```

## Fix
Keep the cable within the next shorter row, or let the switch compute headroom from the length, with the dynamic buffer
model.

## Sources
- sonic-swss cfgmgr/buffermgr.cpp @e6b0c5b (a length without a row has no lossless group)
- sonic-swss cfgmgr/buffer_headroom_mellanox.lua and buffer_headroom_barefoot.lua @e6b0c5b (the formula)
- sonic-buildimage device/mellanox/x86_64-nvidia_sn5600-r0/ACS-SN5600/pg_profile_lookup.ini @086b03b (at 800G rows of
  5 m, 40 m and 300 m)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.headroom.port import formula_need, lossless_profile, shares_headroom
from lossless.checks.rules.base import Results, Violation
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_bytes
from lossless.model.fabric.qos import BufferProfile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.analysis.buffers.headroom.formulas import HeadroomNeed
    from lossless.model.fabric.view import PortSet, View
    from lossless.model.hardware.model import HeadroomRow


class _LongRow(NamedTuple):
    """Ports with the headroom row of a longer cable, their need by formula, and the number of such groups per port."""

    ports: PortSet
    row: HeadroomRow
    need: HeadroomNeed
    groups: int

    @property
    def unused_bytes(self) -> int:
        """The headroom of a group in bytes beyond its need by the formula."""
        return self.row.headroom_bytes - self.need.headroom_bytes

    @property
    def unused_on_switch_bytes(self) -> int:
        """The unused headroom of all groups of these ports on one switch, in bytes."""
        return self.unused_bytes * len(self.ports.ports) * self.groups


def check(view: View) -> Results:
    """Yield a violation per stated cable length and headroom row that has more than twice the need by the formula.

    Only in the traditional buffer model, and where groups have the headroom of the row.
    """
    rows = (it for ports in view.lossless_sets if (it := _long_row(ports)) is not None)
    for identical in grouped(
        ((it.ports.cable.origin, it.row, it.need.headroom_bytes), it) for it in rows
    ).values():
        yield _headroom_row_much_longer(identical)


def _long_row(ports: PortSet) -> _LongRow | None:
    cable_m, hwsku = ports.cable.real_m, ports.switch.hwsku
    row = hwsku.row_covering(ports.speed_bps, cable_m) if hwsku and isinstance(cable_m, int) else None
    if row is None or ports.switch.qos.buffer_model != "traditional":
        return None
    need = formula_need(ports)
    groups = sum(1 for profile in _profiles(ports) if profile.headroom_bytes == row.headroom_bytes)
    if need is None or not groups or row.headroom_bytes <= 2 * need.headroom_bytes:
        return None
    return _LongRow(ports, row, need, groups)


def _profiles(ports: PortSet) -> Iterator[BufferProfile]:
    profiles = (lossless_profile(ports, priority) for priority in ports.qos.pfc.priorities)
    return (profile for profile in profiles if isinstance(profile, BufferProfile))


def _headroom_row_much_longer(identical: Sequence[_LongRow]) -> Violation:
    most = max(identical, key=lambda it: it.unused_on_switch_bytes)
    ports, row, need = most.ports, most.row, most.need
    lent = shares_headroom(ports.switch)
    shorter = [it.cable_m for it in _rows(ports) if it.cable_m < row.cable_m]
    keep = f"keep the cable within {max(shorter)} m, or " if shorter else ""
    return Violation(
        origin=ports.cable.origin,
        message=f"{ports.rate} over {ports.cable.real_m} m takes the headroom row of {row.cable_m} m: "
        f"{format_bytes(row.headroom_bytes)} a group, where the formula gives {format_bytes(need.headroom_bytes)}",
        note=f"on {ports.switch.name} {len(ports.ports) * most.groups} groups keep "
        f"{format_bytes(most.unused_on_switch_bytes)} of {'the shared headroom pool' if lent else 'the shared buffer'}"
        " that this cable never fills",
        help=f"{keep}let the switch compute headroom from the length, buffers: {{model: dynamic}}",
        data={
            "row_cable_m": row.cable_m,
            "row_headroom_bytes": row.headroom_bytes,
            "need_bytes": need.headroom_bytes,
            "unused_on_switch_bytes": most.unused_on_switch_bytes,
        },
    ).on_ports(*(it.ports for it in identical))


def _rows(ports: PortSet) -> Sequence[HeadroomRow]:
    rows = ports.switch.hwsku.headroom if ports.switch.hwsku else ()
    return [row for row in rows if row.speed_bps == ports.speed_bps]
