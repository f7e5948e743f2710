"""A setting must be one that the switch accepts and applies as written.

Severity: warning
Subject: switch

## What it does
Looks for settings that a switch's own system refuses, or accepts without their apparent effect, in a configuration that
was written elsewhere: timers out of range, a marking curve whose minimum is above its maximum, shares of more than 100
%, maps to classes that do not exist, QoS on members of a bond, a watchdog without PFC or without its line of the
switch, PFC that is left to DCBX, pauses in one direction alone, a port buffer that holds no frame, a no-drop class
whose MTU is smaller than that of others, and storm control or a policer that drops what PFC protects. Validators of
structured configurations accept these. A setting that leaves a named or declared lossless class without protection is
an error.

## Why it breaks a lossless fabric
A refused command leaves the previous setting in place, on that switch alone. The written configuration has a watchdog,
or a marking curve, and the switch has another one, or none.

## Bad
```text switch base=switch-leaf
interface Ethernet2
   tx-queue 3
      random-detect ecn minimum-threshold 2 mbytes maximum-threshold 1 mbytes max-mark-probability 10   # <- here
```

```text switch base=switch-leaf
priority-flow-control pause watchdog default timeout 120   # <- here
```

```text switch base=switch-leaf
qos map dscp 26 to traffic-class 9   # <- here
```

```text switch base=switch-nxos
interface Ethernet1/1
  priority-flow-control watch-dog-interval 200   # <- here
```

## Good
```text switch base=switch-leaf
qos map dscp 34 to traffic-class 4
priority-flow-control pause watchdog default timeout 0.3
```

## Fix
Set a value that the system accepts.

## Sources
- SongKou/songkou.github.io content/posts/arista-eos-roce-config.md @0c73d9a (ranges of the watchdog's
  timers, quoted from the manual of EOS)
- CumulusNetworks/docs content/cumulus-linux-519/.../Quality-of-Service/_index.md @16b8323 (what NVUE takes on bonds and
  members, and with a watchdog)
- ydk-models-cisco-nx-os 9.3.1, Cisco-NX-OS-device.yang (ranges of NX-OS; a watchdog with disableAction only logs)
- pyavd 6.4.0, schema of eos_cli_config_gen: the same ranges as text; the lines of maps are free text, timers strings
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import SwitchConfiguration


def on_switch(switch: SwitchConfiguration) -> Results:
    """Yield a violation per setting that the system refuses, or accepts without its apparent effect."""
    for refused in switch.read.refused:
        yield Violation(
            origin=refused.origin,
            message=f"{refused.what}; {refused.why}",
            help=refused.help,
            elements=tuple(f"{switch.read.switch.name}:{port}" for port in refused.ports),
            severity="error" if refused.lossy and switch.is_named else None,
        )
