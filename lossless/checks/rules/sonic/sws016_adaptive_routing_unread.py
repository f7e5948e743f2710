"""Adaptive routing needs an image that reads its tables.

Severity: info
Confidence: medium
Subject: device
Needs: ARS_PROFILE

## What it does
Looks for tables of adaptive routing (`ARS_PROFILE`, `ARS_OBJECT`, and in singular or plural `ARS_INTERFACE`,
`ARS_NEXTHOP` and `ARS_PORTCHANNEL`) on a deployed device whose `VERSIONS|DATABASE|VERSION` declares a release up to
202605. SONiC has a design for them; the YANG model and the orchagent that read them are open pull requests. An image
that was built with these does read them: hence information. The tables are not listed again by SCM007.

## Why it breaks a lossless fabric
A released orchagent ignores the tables and logs nothing: next-hop groups stay static ECMP. Instead of an even load, a
few large flows share one link, and that link marks and pauses. `config reload FILE` aborts at tables without a model.

## Bad
```json config_db base=leaf
{
  "ARS_PROFILE": {"default": {"default_ars_object": "any", "ars_nhg_path_selector_mode": "global"}},   // <- here
  "ARS_OBJECT": {"any": {"assign_mode": "per_packet_quality"}}
}
```

## Good
```json config_db base=leaf
{
  "VERSIONS": null,
  "ARS_PROFILE": {"default": {"default_ars_object": "any", "ars_nhg_path_selector_mode": "global"}},
  "ARS_OBJECT": {"any": {"assign_mode": "per_packet_quality"}}
}
```

## Fix
Ask the vendor of the image whether it reads the tables; without that, remove them.

## Sources
- sonic-net/SONiC doc/ARS/Local_ARS_HLD.md @98de38f (the design)
- sonic-net/sonic-swss pull request 3597, sonic-net/sonic-buildimage pull request 22264 (open in 2026)
- sonic-net/sonic-swss branches 202411 @8aa8f0f, 202505 @e9dcd50, 202511 @4ea5c3a, 202605 @2478b9c, master @e6b0c5b
  (no orchagent/arsorch.cpp)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.sonic.ars_tables import ARS_TABLES
from lossless.ground.basics.findings import Origin

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import Device

_LAST_READ = "202605"
"""The newest release branch whose orchagent was searched for the tables (sonic-swss @2478b9c)."""


def check(device: Device) -> Results:
    """Yield one violation for all tables of adaptive routing on a release that does not read them."""
    names = [name for name in ARS_TABLES if device.tables.data.get(name)]
    release = _release(device)
    if names and release is not None and release <= _LAST_READ:
        yield Violation(
            origin=Origin(device.tables.file, (names[0],), "key"),
            message=f"orchagent of SONiC {release} reads no {', no '.join(names)}: paths stay static",
            note="the tables are those of a design, and of pull requests that no release has; an image may have them",
            help="ask the vendor of the image, or remove the tables",
            elements=(*names,),
            data={"tables": [*names], "release": release},
        )


def _release(device: Device) -> str | None:
    """Return the SONiC release that CONFIG_DB declares, such as 202505; None where the file does not declare it."""
    version = (device.switch.qos.database_version or "").split("_")
    release = version[1] if len(version) > 1 else ""
    return release if len(release) == len(_LAST_READ) and release.isdecimal() else None
