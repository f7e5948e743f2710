"""A speed and cable length must have a headroom row in the HWSKU's table.

Severity: error
Fix: unsafe
Subject: fabric

## What it does
In the traditional buffer model SONiC gives a port with PFC its lossless groups by looking up speed and cable length in
the HWSKU's `pg_profile_lookup.ini`, by exact match. Ports that are up, without a match and without a lossless group
that is configured by hand, are an error. Where such a group is configured, the switch does not change it: a warning
where it still names the profile of another speed or length, else only information. In an intent the next longer row is
configured; the rule fires where there is none. BUF004 reports a missing length or `0m`, TOP003 a port that the switch
does not have.

## Why it breaks a lossless fabric
Without a row the switch creates no lossless group: PFC is on without headroom, and packets of the lossless class drop.
Whether the port sends a pause before it drops depends on the chip: on `broadcom-dnx`, pauses for groups with a lossy
profile were reported. buffermgrd leaves a line in syslog.

## Bad
```json config_db base=leaf
{
  "CABLE_LENGTH": {"AZURE": {
    "Ethernet4": "7m"   // <- here
  }},
  "BUFFER_PG": {"Ethernet4|3": null}
}
```

```yaml intent base=leaf-spine
topology:
  leaf_spine:
    cables:
      uplink: 500m   # <- here
```

## Good
```json config_db base=leaf
{
  "CABLE_LENGTH": {"AZURE": {
    "Ethernet4": "40m"
  }},
  "BUFFER_PG": {"Ethernet4|3": null}
}
```

```yaml intent base=leaf-spine
topology:
  leaf_spine:
    cables:
      uplink: 300m
```

## Fix
Configure the next longer row, never a shorter one; or write a BUFFER_PROFILE and a BUFFER_PG row with
headroom for the real length; or choose a HWSKU that has the row, and those of the other ports of the switch.

## Sources
- sonic-swss cfgmgr/buffermgr.cpp @e6b0c5b
- sonic-net/sonic-buildimage issue 5837, pull request 24903 (no row, no lossless group)
- sonic-net/sonic-mgmt issue 13503 (`broadcom-dnx`: the lossy maximum is above the XOFF threshold, and PFC frames come)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.headroom.port import asic_inputs
from lossless.checks.rules.base import MissingInput, Results, Violation, merged
from lossless.checks.rules.fixes import lengths
from lossless.ground.basics.units import format_rate, joined
from lossless.model.hardware.buffers import is_pg_profile_name, pg_profile_name
from lossless.model.hardware.model import backs_headroom

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.qos import PriorityGroup
    from lossless.model.fabric.view import PortSet, View
    from lossless.model.hardware.model import Hwsku


def check(view: View) -> Results:
    """Yield violations on ports whose speed and cable length have no row in the HWSKU.

    In an intent a row for a longer cable is enough. Devices are checked in the traditional buffer model only, without
    groups that have the profile of that speed and length.
    """
    if view.fabric.declared:
        yield from merged(violation for ports in view.lossless_sets for violation in _declared(view, ports))
        return
    for ports in view.lossless_sets:
        if ports.switch.qos.buffer_model == "traditional" and ports.cable.configured_m:
            yield from _deployed(ports, ports.cable.configured_m)


def _declared(view: View, ports: PortSet) -> Iterator[Violation]:
    hwsku, real_m = ports.switch.hwsku, ports.cable.real_m
    # A port that the switch does not have is reported by TOP003, and its fix ends both findings.
    placed = any(port.placed for port in ports.ports)
    if placed and ports.cable.configured_m is None and hwsku is not None and isinstance(real_m, int):
        yield _headroom_row_missing(ports, hwsku, real_m, _declared_help(view, ports, hwsku))


def _declared_help(view: View, ports: PortSet, hwsku: Hwsku) -> str:
    identical = [each for each in view.lossless_sets if set(each.switches).intersection(ports.switches)]
    others = [other.name for other in _with_row(ports) if all(_covers(other, each) for each in identical)]
    choose = f"choose a HWSKU with such a row: {', '.join(others[:3])}" if others else "choose another switch"
    if not others and any(_with_row(ports)):
        speeds_bps = sorted({each.speed_bps for each in identical if each.speed_bps is not None})
        choose += f": no HWSKU of this one has rows for all of {joined(map(format_rate, speeds_bps))}"
    longest = max(_lengths(hwsku, ports.speed_bps), default=0)
    keep = [f"keep the cable within {longest} m"] if longest else []
    return ", or ".join(filter(None, [", ".join([*keep, *_computed(ports)]), choose]))


def _computed(ports: PortSet) -> list[str]:
    """Return the advice to use the dynamic buffer model; empty where SONiC has no formula for the chip."""
    profile = ports.switch.profile
    if profile is None or asic_inputs(profile.asic) is None:
        return []
    return ["let the switch compute headroom from the length (buffers: {model: dynamic})"]


def _with_row(ports: PortSet) -> list[Hwsku]:
    """Return the HWSKUs of a switch that have a row for a set of its ports."""
    return [
        other
        for other in (ports.switch.profile.hwskus if ports.switch.profile else ())
        if _covers(other, ports)
    ]


def _covers(hwsku: Hwsku, ports: PortSet) -> bool:
    """Return whether a HWSKU has a row for the speed and the cable of ports, and buffers to back it."""
    real_m = ports.cable.real_m
    backed = any(backs_headroom(hwsku, defaults) for defaults in hwsku.buffers)
    return backed and isinstance(real_m, int) and hwsku.row_covering(ports.speed_bps, real_m) is not None


def _deployed(ports: PortSet, cable_m: int) -> Results:
    groups = [ports.qos.groups[priority] for priority in ports.qos.pfc.priorities]
    hwsku = ports.switch.hwsku
    if any(group is not None and group.generated and group.buffer is None for group in groups):
        yield MissingInput(
            "the headroom rows of the switch, or the speed of the port, are unknown", ports.places
        )
    elif any(group is None for group in groups) and hwsku is not None:
        serving = tuple(port for port in ports.ports if port.admin_up is True)
        if serving:
            covering = hwsku.row_covering(ports.speed_bps, cable_m)
            longer = f"configure the next longer row, {covering.cable_m}m" if covering else ""
            of_serving = ports._replace(ports=serving, cable=serving[0].cable)
            violation = _headroom_row_missing(of_serving, hwsku, cable_m, longer or _by_hand(ports, cable_m))
            yield violation._replace(fix=lengths(serving, covering.cable_m) if covering else ())
    elif hwsku is not None and hwsku.headroom and ports.speed_bps is not None:
        yield from _by_hand_already(ports, hwsku, ports.speed_bps, cable_m, groups)


def _by_hand(ports: PortSet, cable_m: int) -> str:
    write = f"write the BUFFER_PROFILE {pg_profile_name(ports.speed_bps, cable_m)}"
    return f"{write}, or fit a shorter cable" if _lengths_of(ports) else f"{write}, or use a speed with rows"


def _lengths_of(ports: PortSet) -> tuple[int, ...]:
    return _lengths(ports.switch.hwsku, ports.speed_bps) if ports.switch.hwsku else ()


def _by_hand_already(
    ports: PortSet, hwsku: Hwsku, speed_bps: int, cable_m: int, groups: list[PriorityGroup | None]
) -> Iterator[Violation]:
    """Yield a violation for lossless groups with other profiles on ports whose speed and length have no row."""
    own = pg_profile_name(speed_bps, cable_m)
    names = {group.buffer.name for group in groups if group and group.buffer and group.buffer.lossless}
    if names and own not in names and hwsku.row(speed_bps, cable_m) is None:
        what = "length" if _lengths_of(ports) else "speed"
        violation = _headroom_row_missing(
            ports, hwsku, cable_m, f"configure a {what} that the HWSKU has a row for"
        )
        stays = f"the group keeps {', '.join(sorted(names))}, whatever the length says"
        # A name of this form is left over from another length and was not written for this one.
        left_over = any(map(is_pg_profile_name, names))
        yield violation._replace(
            severity="warning" if left_over else "info", note=f"{violation.note}; {stays}"
        )


def _headroom_row_missing(ports: PortSet, hwsku: Hwsku, cable_m: int, help_text: str) -> Violation:
    lengths = _lengths(hwsku, ports.speed_bps)
    rate = ports.rate
    rows = ", ".join(f"{length}m" for length in lengths)
    return Violation(
        origin=ports.cable.origin,
        message=f"{rate} over {cable_m} m has no headroom row in HWSKU {hwsku.name}",
        note=f"rows at {rate}: {rows}" if rows else f"the HWSKU has no row at {rate}",
        help=help_text,
        data={
            "speed_bps": ports.speed_bps,
            "cable_m": cable_m,
            "hwsku": hwsku.name,
            "row_cables_m": list(lengths),
        },
    ).on_ports(ports)


def _lengths(hwsku: Hwsku, speed_bps: int | None) -> tuple[int, ...]:
    return tuple(sorted(row.cable_m for row in hwsku.headroom if row.speed_bps == speed_bps))
