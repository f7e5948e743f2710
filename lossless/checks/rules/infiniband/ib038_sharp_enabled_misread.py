"""sharp_enabled must have a value of its file, and agree with the SHARP that is declared.

Severity: error
Fix: unsafe
Subject: subnet

## What it does
Looks at `sharp_enabled` in opensm.conf, where 0 leaves switches as they are, 1 turns SHARP off and 2 turns it on,
and in UFM's gv.cfg, where it is a boolean of section [Sharp]. Each place that contradicts the declared `sharp` is a
finding: UFM turns its aggregation manager off beside `sharp: {manager: ...}`, or on beside `sharp: off`; opensm turns
SHARP off where it is declared, or on where no aggregation manager is; SHARP or UFM are declared with the upstream
opensm, which has no such key.

## Why it breaks a lossless fabric
A 1 that is intended as yes turns SHARP off on every switch: jobs fall back to the hosts, and reductions take twice the
traffic.

## Bad
```conf opensm base=none
routing_engine updn
sharp_enabled TRUE   # <- here
```

```conf opensm base=none beside=sharp_am.cfg
routing_engine updn
sharp_enabled 1   # <- here
```

```yaml intent base=infiniband
flavour: nvidia
subnet_manager:
  manager: ufm
  ufm:
    Sharp:
      sharp_enabled: 2   # <- here
```

```yaml intent base=infiniband
flavour: nvidia
subnet_manager:
  manager: ufm
  ufm:
    Sharp:
      sharp_enabled: "false"   # <- here
sharp: {manager: sm1}
```

```yaml intent base=infiniband
flavour: upstream
sharp:
  manager: sm1   # <- here
```

## Good
```conf opensm base=none
routing_engine updn
sharp_enabled 2
```

```yaml intent base=infiniband
flavour: nvidia
sharp: {manager: sm1}
```

## Fix
Write `sharp_enabled 2` in opensm.conf to turn it on, and `true` in gv.cfg. SHARP and UFM need `flavour: nvidia`.

## Sources
- the comment of a generated opensm.conf of NVIDIA's, as quoted by third parties (0, 1 and 2)
- Mellanox/nccl-rdma-sharp-plugins .ci/configure_sharp.sh @2f5ac02 (SHARP needs `sharp_enabled 2`)
- NVIDIA UFM Enterprise user manual 6.19.5, Optional Configurations ([Sharp] sharp_enabled, off by default)
- opensm 3.3.23, run: `Unrecognized token: "sharp_enabled"`
- NVIDIA UFM-SDN Appliance command reference 4.15.0-5, SHARP Configuration in OpenSM (enable, no enable, ignore)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import set_to
from lossless.ground.basics.findings import RelatedPlace
from lossless.model.fabric.infiniband.subnet import c_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.infiniband.subnet import ManagerSetting, Subnet


KEY = "sharp_enabled"
OFF, ON = 1, 2
SECTION = "Sharp"
"""The section of gv.cfg that has the key."""


def check(subnet: Subnet) -> Results:
    """Yield a violation where ``sharp_enabled`` has no valid value, or contradicts the SHARP that is declared.

    Also where SHARP or UFM is declared with the upstream opensm.
    """
    setting = subnet.option(KEY)
    if setting is not None:
        yield from _option(subnet, setting)
    for stated in subnet.gv:
        if stated.key == KEY:
            yield from _gv(subnet, stated)
    if subnet.flavour == "upstream":
        yield from _upstream(subnet)


def _gv(subnet: Subnet, stated: ManagerSetting) -> Iterator[Violation]:
    word, sharp = stated.text.lower(), subnet.sharp
    section = stated.origin.path[-2] if len(stated.origin.path) > 1 else SECTION
    if section != SECTION:
        yield Violation(
            origin=stated.origin.key(),
            message=f"sharp_enabled is a key of section [{SECTION}] of gv.cfg, not of [{section}]",
            help=f"state it under {SECTION}",
            data={"section": str(section)},
        )
    if word not in _BOOLEANS:
        yield Violation(
            origin=stated.origin,
            message=f"sharp_enabled of gv.cfg is true or false, not {stated.text}",
            help="write true, or false",
            data={"text": stated.text},
        )
    elif sharp is not None and sharp.on != _BOOLEANS[word]:
        yield Violation(
            origin=stated.origin,
            message="UFM keeps the aggregation manager off, and SHARP is declared"
            if sharp.on
            else "UFM starts the aggregation manager, and SHARP is declared off",
            help=f"write {str(sharp.on).lower()}, or change sharp",
            data={"text": stated.text},
            related=(RelatedPlace(sharp.origin, "SHARP"),),
        )


_BOOLEANS = {"true": True, "false": False}


def _upstream(subnet: Subnet) -> Iterator[Violation]:
    """Yield a violation where the upstream opensm is to serve UFM, or SHARP."""
    flavour = RelatedPlace(subnet.origin._replace(path=("flavour",)), "the flavor of opensm")
    if subnet.manager == "ufm":
        yield Violation(
            origin=subnet.origin.at("manager"),
            message="UFM runs NVIDIA's OpenSM, and the upstream opensm is declared",
            help="state flavour: nvidia",
            data={"flavour": "upstream"},
            related=(flavour,),
        )
    elif subnet.sharp is not None and subnet.sharp.on:
        yield Violation(
            origin=subnet.sharp.origin.at("manager"),
            message="SHARP needs NVIDIA's OpenSM: the upstream one has no sharp_enabled",
            help="state flavour: nvidia, or sharp: off",
            data={"flavour": "upstream"},
            related=(flavour,),
            severity="warning",
        )


def _option(subnet: Subnet, setting: ManagerSetting) -> Iterator[Violation]:
    number = c_number(setting.text)
    # The options of its manager show that SHARP is wanted.
    wanted = subnet.sharp is not None and (subnet.sharp.on or bool(subnet.sharp.settings))
    if number is None or not 0 <= number <= ON:
        yield _sharp_enabled_misread(setting, f"sharp_enabled is 0, 1 or 2, not {setting.text}", wanted)
    elif number == OFF and wanted:
        yield _sharp_enabled_misread(setting, "sharp_enabled 1 turns SHARP off on every switch", wanted)
    elif number == ON and subnet.sharp is None and subnet.provenance == "intent" and subnet.manager != "ufm":
        yield Violation(
            origin=setting.origin,
            message="opensm turns SHARP on, and no aggregation manager is declared",
            note="without one no job reduces in the switches",
            help="declare sharp: {manager: ...}, or take the key out",
            data={"text": setting.text},
            severity="warning",
        )


def _sharp_enabled_misread(setting: ManagerSetting, message: str, wanted: bool) -> Violation:
    return Violation(
        origin=setting.origin,
        message=message,
        note="0 leaves switches as they are, 1 turns SHARP off, 2 turns it on",
        help="write 2 to turn it on",
        data={"text": setting.text},
        fix=set_to(setting, str(ON)) if wanted else (),
    )
