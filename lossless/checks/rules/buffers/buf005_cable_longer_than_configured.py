"""The configured cable length must not be below the real one.

Severity: error
Fix: unsafe
Subject: device
Needs: intent

## What it does
Compares `CABLE_LENGTH` of a deployed device with the real cables of an intent that is checked together with it. The
intent must have a switch of the same name and HWSKU with a port of the same name and speed. A length below the real one
is an error where the resulting headroom does not hold the cable, a warning where it is below the whole need or unknown,
and otherwise only information. A length above the real one only costs buffer. BUF004 reports `0m` and a missing length.

## Why it breaks a lossless fabric
The switch looks headroom up by the configured length, or computes it from that length. The buffer has no room for the
bytes on the rest of the cable when a pause is sent, and they are dropped.

## Bad
```json config_db base=rendered-leaf beside=leaf-spine.yaml
{
  "CABLE_LENGTH": {"AZURE": {
    "Ethernet32": "5m"   // <- here
  }},
  "BUFFER_PG": {"Ethernet32|3": null}
}
```

## Good
```json config_db base=rendered-leaf beside=leaf-spine.yaml
{
  "CABLE_LENGTH": {"AZURE": {
    "Ethernet0": "5m"
  }}
}
```

## Fix
Set `CABLE_LENGTH` to the next row of the HWSKU that is not shorter than the cable.

## Sources
- sonic-swss cfgmgr/buffermgr.cpp @029506c (headroom is looked up by the configured length)
- Bai et al., Empowering Azure Storage with RDMA, NSDI 2023 (headroom by cable length)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.headroom.port import LinkNeed, given_headroom, link_need, lossless_profile
from lossless.checks.rules.base import Results, Violation, merged
from lossless.checks.rules.fixes import lengths
from lossless.checks.rules.subjects import OTHER_HWSKU
from lossless.ground.basics.findings import RelatedPlace
from lossless.ground.basics.units import format_bytes
from lossless.model.fabric.qos import BufferProfile
from lossless.model.hardware.buffers import is_pg_profile_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.ground.basics.findings import Severity
    from lossless.model.fabric.model import Cable
    from lossless.model.fabric.view import PortSet


def check(device: Device) -> Results:
    """Yield violations on ports with PFC whose configured cable length is below the real length in an intent.

    An intent with another HWSKU, or another speed of the port, is not compared.
    """
    intended = device.intended
    if intended is None or not device.buffers.lossless_sets:
        return
    if intended.hwsku_name != device.switch.hwsku_name:
        yield OTHER_HWSKU
        return
    real = {(port.name, port.speed_bps): port.cable for port in intended.ports}
    yield from merged(
        violation for ports in device.buffers.lossless_sets for violation in _understated(ports, real)
    )


def _understated(ports: PortSet, real: dict[tuple[str, int | None], Cable]) -> Iterator[Violation]:
    configured_m = ports.cable.configured_m
    if not configured_m:
        return
    for port in ports.ports:
        # A port of another speed is another port: cages are split one way here and another there.
        cable = real.get((port.name, port.speed_bps))
        if cable is not None and isinstance(cable.real_m, int) and cable.real_m > configured_m:
            port_alone = ports._replace(ports=(port,), cable=port.cable._replace(real_m=cable.real_m))
            yield _cable_longer_than_configured(port_alone, configured_m, cable.real_m, cable)


def _cable_longer_than_configured(
    ports: PortSet, configured_m: int, real_m: int, intended: Cable
) -> Violation:
    need, given = link_need(ports), _given(ports, configured_m)
    link = need if isinstance(need, LinkNeed) else None
    computes, hwsku = _computes(ports), ports.switch.hwsku
    severity, outcome = _verdict(ports, link, given)
    row = hwsku.row_covering(ports.speed_bps, real_m) if hwsku and not computes else None
    return Violation(
        origin=ports.cable.origin,
        message=f"{configured_m} m are configured for a cable of {real_m} m{outcome}",
        note=f"the real length is the intent's; headroom is {'computed from' if computes else 'looked up by'} the "
        "configured one",
        help=f"set the length to {row.cable_m}m, the next row of the HWSKU"
        if row
        else f"set the length to {real_m}m" + ("" if computes else ", and give the group headroom for it"),
        data={
            "configured_m": configured_m,
            "real_m": real_m,
            "headroom_bytes": given,
            "need_bytes": link.need.headroom_bytes if link and link.need else None,
        },
        related=(RelatedPlace(intended.origin, f"the cable is {real_m} m long"),),
        severity=severity,
        fix=lengths(ports.ports, row.cable_m) if row else lengths(ports.ports, real_m) if computes else (),
    ).on_ports(ports)


def _computes(ports: PortSet) -> bool:
    """Return whether the switch computes headroom from the cable length instead of looking it up."""
    return ports.switch.qos.buffer_model == "dynamic"


def _given(ports: PortSet, configured_m: int) -> int | None:
    """Return the least headroom in bytes by the configured length; None where it is unknown.

    The switch replaces a generated profile of another length in the row of a group by that of the configured length.
    """
    hwsku = ports.switch.hwsku
    row = hwsku.row(ports.speed_bps, configured_m) if hwsku and not _computes(ports) else None
    headrooms: list[int] = []
    for priority in ports.qos.pfc.priorities:
        profile = lossless_profile(ports, priority)
        if isinstance(profile, BufferProfile):
            moved = row is not None and is_pg_profile_name(profile.name)
            headrooms.append(row.headroom_bytes if row and moved else given_headroom(ports.switch, profile))
    return min(headrooms, default=None)


def _verdict(ports: PortSet, link: LinkNeed | None, given: int | None) -> tuple[Severity, str]:
    """Return severity and reason for a length below the real one; no reason where need or headroom is unknown."""
    if link is None or given is None or link.need is None:
        return "warning", ""
    has = f": headroom of {format_bytes(given)} at {ports.rate}"
    if given < link.cable_bytes:
        return "error", f"{has} is below the cable alone, {format_bytes(link.cable_bytes)}"
    needed = f"the {format_bytes(link.need.headroom_bytes)} needed"
    if given < link.need.headroom_bytes:
        return "warning", f"{has} is below {needed}"
    return "info", f"{has} still holds {needed}"
