"""A host must be set up as its intent declares it.

Severity: warning
Subject: host
Needs: intent

## What it does
Where an intent is checked together with files of one of its hosts, compares both: MTU and speed, trust, DCBX, DSCP map,
PFC, global pause, bandwidth shares, the cable length for the NIC's headroom, the storm prevention of the NIC,
reordering and retransmission of its queue pairs, the ToS byte, DCQCN with its priorities, CNPs and parameters, and of
NCCL the timeout, retry count, GID index, queue pairs per connection and class of control messages. Each setting that
differs is one finding, which names both places. Settings that no file of the host has are not compared. Where another
rule reports the effect on traffic at the same place, this rule does not report it.

## Why it breaks a lossless fabric
The intent was checked. A host has other settings after a reboot without the systemd unit, an update of the driver, or a
manual change: with one such host in a thousand, every collective runs at its speed.

## Bad
```text facts file=mlnx_qos.eth2.txt beside=leaf-spine.yaml
DCBX mode: OS controlled
Priority trust state: dscp
dscp2prio mapping:
        prio:3 dscp:26,10,   # <- here
        prio:6 dscp:48,
PFC configuration:
        priority    0   1   2   3   4   5   6   7
        enabled     0   0   0   1   0   0   0   0
```

## Good
```text facts file=mlnx_qos.eth2.txt beside=leaf-spine.yaml
DCBX mode: OS controlled
Priority trust state: dscp
dscp2prio mapping:
        prio:3 dscp:26,
        prio:6 dscp:48,
Cable len: 3
PFC configuration:
        priority    0   1   2   3   4   5   6   7
        enabled     0   0   0   1   0   0   0   0
```

## Fix
Run the rendered script on the host, `lossless-roce.sh`; its `--check` reports the same on the host itself.

## Sources
- Mellanox/nic-configuration-operator README.md @8bfbeb3 (settings of NICs are lost at every reboot)
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, 5.1 (configuration management and monitoring)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.hosts.host_drift import differences
from lossless.checks.rules.locations import beside

if TYPE_CHECKING:
    from lossless.checks.rules.hosts.host_drift import HostDifference
    from lossless.checks.rules.subjects import IntendedHost


def check(host: IntendedHost) -> Results:
    """Yield a violation per setting of a host that differs from the intent."""
    for difference in differences(host.have, host.want):
        yield _host_differs_from_intent(difference, host.names)


def _host_differs_from_intent(difference: HostDifference, names: tuple[str, ...]) -> Violation:
    return Violation(
        origin=difference.origin,
        message=f"{difference.setting} is {difference.have}, the intent says {difference.want}",
        help="run the rendered script on the host, or change the intent if the host is right",
        elements=names,
        data={"setting": difference.setting, "found": difference.have, "wanted": difference.want},
        related=beside(difference.origin, (difference.declared, "declared here")),
        severity="info" if difference.harmless else None,
    )
