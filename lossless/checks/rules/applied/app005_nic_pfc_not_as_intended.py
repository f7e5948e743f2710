"""The PFC mode of a NIC must be the intended one.

Severity: error
Subject: running device

## What it does
Compares the priorities that PFC is on for, as `dcb`, `mlnx_qos` or a node's own tools read them back from a NIC, with
the priorities that the intent has for the host. Where an intent names the RDMA interfaces, others are left alone; a
file that names no interface counts as one of the RDMA interfaces. An intended priority without PFC is an error, PFC on
other priorities a warning. Where a file does not have the state of every priority, it is *not checked*.

## Why it breaks a lossless fabric
A NIC does not always keep the configured PFC mode: hardware that has PFC by traffic class has it for all priorities of
a class, DCBX replaces the mode by that of the switch, and a reboot resets it. A priority with PFC on the NIC and not
on the switch is lossy; PFC on a priority that needs none stops traffic that may be dropped.

## Bad
```text capture beside=leaf-spine.yaml
# host host1
==> dcb pfc show dev eth0
pfc-cap 4 macsec-bypass off delay 0
prio-pfc 0:on 1:on 2:on 3:on 4:on 5:on 6:on 7:on   # <- here
```

## Good
```text capture beside=leaf-spine.yaml
# host host1
==> dcb pfc show dev eth0
pfc-cap 8 macsec-bypass off delay 0
prio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off
```

## Fix
Set the mode again (`dcb pfc set dev IF prio-pfc all:off 3:on`, or the rendered script) and read it back. Where the mode
changes again, turn DCBX of the firmware off; where the driver cannot set it, choose a priority for which it has a
class.

## Sources
- Linux commit 8c1671e0d13d (hns3): asked for four priorities of one class, the driver showed PFC on for all eight
- iproute2/iproute2 man8/dcb-pfc.8 @ee2a4a8 (prio-pfc)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.host_counters.nics import is_intended, pfc_modes
from lossless.ground.basics.findings import RelatedPlace
from lossless.ground.basics.records import UNKNOWN

if TYPE_CHECKING:
    from lossless.checks.rules.host_counters.nics import PfcMode
    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.model.fabric.hosts import HostQos


def check(device: RunningDevice) -> Results:
    """Yield a violation per RDMA interface whose PFC mode differs from that of the host's intent."""
    intended = device.intended_host
    if intended is None or intended.pfc_priorities is UNKNOWN:
        return
    modes = pfc_modes(device)
    if not modes and next(device.state.named("pfc_enabled", "priority"), None) is not None:
        yield MissingInput("a capture does not say of every priority whether PFC is on")
    wanted = frozenset(intended.pfc_priorities)
    for mode in modes:
        if is_intended(mode.name, intended) and mode.priorities != wanted:
            yield _nic_pfc_not_as_intended(device, mode, wanted, intended)


def _nic_pfc_not_as_intended(
    device: RunningDevice, mode: PfcMode, wanted: frozenset[int], intended: HostQos
) -> Violation:
    first = min(mode.priorities ^ wanted)
    return Violation(
        origin=mode.by_priority[first].origin,
        message=f"PFC of {mode.name or 'the NIC'} is on for {_listed(mode.priorities)}, "
        f"the intent has {_listed(wanted)}",
        help="set it again and read it back; turn DCBX of the firmware off where it does not stay",
        elements=(f"{device.name}:{mode.name}" if mode.name else device.name,),
        data={"applied": [*sorted(mode.priorities)], "intended": [*sorted(wanted)]},
        severity=None if wanted - mode.priorities else "warning",
        related=(RelatedPlace(intended.pfc_origin, "intended here"),),
    )


def _listed(priorities: frozenset[int]) -> str:
    return ", ".join(map(str, sorted(priorities))) or "none"
