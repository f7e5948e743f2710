"""A cable length must be whole meters, written as SONiC looks it up: 5m.

Severity: warning
Subject: device

## What it does
Looks for ports with PFC on a deployed device whose `CABLE_LENGTH` is not a whole number followed by `m`. Where the port
has no lossless group because of it, BUF004 reports it; this rule reports ports whose groups are written by hand, and
the dynamic model, where a length that is no number without its last character is an error.

## Why it breaks a lossless fabric
The traditional model looks headroom up by the exact text, and finds no row for `2.5m` or `5`. As long as the group
is written by hand the port keeps it, but the next change of speed or cable makes none. The dynamic model computes
headroom from the number before the `m` and cannot without one: the group has no headroom.

## Bad
```json config_db base=leaf
{
  "CABLE_LENGTH": {"AZURE": {
    "Ethernet4": "4.5m"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "CABLE_LENGTH": {"AZURE": {
    "Ethernet4": "5m"
  }}
}
```

## Fix
Write the next longer row of the HWSKU in whole meters.

## Sources
- sonic-swss cfgmgr/buffermgr.cpp @029506c (the text is part of the key it looks up)
- sonic-swss cfgmgr/buffer_headroom_mellanox.lua @e6b0c5b (the number without its last letter)
- sonic-buildimage src/sonic-yang-models/yang-models/sonic-cable-length.yang @086b03b
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, merged
from lossless.checks.rules.locations import element

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.ground.basics.findings import Severity
    from lossless.model.fabric.view import PortSet


def check(device: Device) -> Results:
    """Yield a violation per text of a cable length that is no whole number of meters, with its ports.

    In the dynamic buffer model only a text that is no number without its last character, as SONiC's script reads it; in
    the traditional model only where all lossless groups of the port are written by hand.
    """
    sets = [ports for ports in device.view.lossless_sets if ports.cable.configured_m is None]
    if sets:
        yield from merged(violation for ports in sets for violation in _violations(device, ports))


def _violations(device: Device, ports: PortSet) -> Iterator[Violation]:
    for port in ports.ports:
        # Ports of one set may differ in this: one has a field, another none at all.
        if len(port.cable.origin.path) != 3:
            continue
        _, row_key, name = port.cable.origin.path
        row = device.tables.row("CABLE_LENGTH", str(row_key))
        text = row.fields[str(name)] if row else ""
        severity = _severity(device, ports, text)
        if severity is None:
            continue
        yield Violation(
            origin=port.cable.origin,
            message=f"cable length {text!r} is no whole number of meters, as in '5m': {_outcome(severity)}",
            help="write the next longer row of the HWSKU, in whole meters",
            elements=(element(device, port.name),),
            data={"text": text},
            severity=severity,
        )


def _severity(device: Device, ports: PortSet, text: str) -> Severity | None:
    if device.switch.qos.buffer_model == "dynamic":
        number = text[:-1].strip().replace(".", "", 1)
        return None if number.isascii() and number.isdecimal() else "error"
    by_hand = all(ports.qos.groups[priority] is not None for priority in ports.qos.pfc.priorities)
    return "warning" if by_hand else None


def _outcome(severity: Severity) -> str:
    if severity == "error":
        return "the dynamic model cannot compute headroom from it"
    return "no row is found for it, and only the group written by hand has headroom"
