"""Global pause must be off where PFC is on.

Severity: error
Fix: unsafe
Subject: intent, hosts

## What it does
Looks for `hosts.global_pause: on`, or global pause on a host that was read, on NICs that have PFC on some priority.
Ports of SONiC have no such setting.

## Why it breaks a lossless fabric
The two exclude each other on a port. A NIC that runs global pause stops all classes at once, CNPs included, and
does not answer the switch's pauses of one priority; the switch does not answer its pauses of all. Either way one
end keeps sending into full buffers.

## Bad
```yaml intent base=leaf-spine
hosts:
  global_pause: true   # <- here
```

## Good
```yaml intent base=leaf-spine
hosts: {global_pause: off}
```

## Fix
Leave `global_pause` out: the rendered script switches it off.

## Sources
- Linux Documentation/networking/flow_control.rst @7bd80ed (link-wide pause must be off with PFC: IEEE 802.1Q, 36)
- Mellanox/nic-configuration-operator @8bfbeb3 (its API asks for pause frames to be off)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, unread
from lossless.checks.rules.fixes import without
from lossless.ground.basics.records import UNKNOWN
from lossless.ground.basics.units import spell

if TYPE_CHECKING:
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per kind of host with both global pause and PFC on."""
    for host, names in view.host_kinds:
        if host.global_pause is UNKNOWN or host.pfc_priorities is UNKNOWN:
            yield unread("whether PFC and global pause are on", names)
        elif host.global_pause and host.pfc_priorities:
            yield Violation(
                origin=host.at("global_pause"),
                message=f"global pause is on beside PFC on {spell(host.pfc_priorities)}: they exclude each other",
                note="a NIC under global pause stops every class, and ignores pauses of one",
                help="leave hosts.global_pause out: the rendered script switches it off"
                if host.provenance == "intent"
                else "switch it off: ethtool -A IF rx off tx off",
                elements=names,
                data={"priorities": list(host.pfc_priorities)},
                fix=without(host, "global_pause"),
            )
