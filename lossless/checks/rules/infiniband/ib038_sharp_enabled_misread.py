"""sharp_enabled is 0, 1 or 2 for a subnet manager, and true or false for UFM.

Severity: error
Fix: unsafe
Subject: subnet

## What it does
Looks at `sharp_enabled` in opensm.conf, where 0 leaves switches as they are, 1 turns SHARP off and 2 turns it on,
and in UFM's gv.cfg, where it is a boolean.

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
subnet_manager:
  manager: ufm
  ufm:
    Sharp:
      sharp_enabled: 2   # <- here
```

## Good
```conf opensm base=none
routing_engine updn
sharp_enabled 2
```

## Fix
Write `sharp_enabled 2` in opensm.conf to turn it on, and `true` in gv.cfg.

## Sources
- the comment of a generated opensm.conf of NVIDIA's, as quoted by third parties
- NVIDIA UFM-SDN Appliance command reference 4.15.0-5, SHARP Configuration in OpenSM (enable, no enable, ignore)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import set_to
from lossless.model.fabric.infiniband.subnet import c_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.infiniband.subnet import ManagerSetting, Subnet


KEY = "sharp_enabled"
OFF, ON = 1, 2


def check(subnet: Subnet) -> Results:
    """Yield a violation where ``sharp_enabled`` has no valid value, or turns off SHARP that the subnet is to use."""
    setting = subnet.option(KEY)
    if setting is not None:
        yield from _option(subnet, setting)
    for stated in subnet.gv:
        if stated.key == KEY and stated.text.lower() not in ("true", "false"):
            yield Violation(
                origin=stated.origin,
                message=f"sharp_enabled of gv.cfg is true or false, not {stated.text}",
                help="write true, or false",
                data={"text": stated.text},
            )


def _option(subnet: Subnet, setting: ManagerSetting) -> Iterator[Violation]:
    number = c_number(setting.text)
    # The options of its manager show that SHARP is wanted.
    wanted = subnet.sharp is not None and (subnet.sharp.on or bool(subnet.sharp.settings))
    if number is None or not 0 <= number <= ON:
        yield _sharp_enabled_misread(setting, f"sharp_enabled is 0, 1 or 2, not {setting.text}", wanted)
    elif number == OFF and wanted:
        yield _sharp_enabled_misread(setting, "sharp_enabled 1 turns SHARP off on every switch", wanted)


def _sharp_enabled_misread(setting: ManagerSetting, message: str, wanted: bool) -> Violation:
    return Violation(
        origin=setting.origin,
        message=message,
        note="0 leaves switches as they are, 1 turns SHARP off, 2 turns it on",
        help="write 2 to turn it on",
        data={"text": setting.text},
        fix=set_to(setting, str(ON)) if wanted else (),
    )
