"""A NIC with RDMA must not use global pause.

Severity: warning
Subject: running device

## What it does
Looks for NICs that have sent or received pause frames of 802.3x, which stop all priorities at once. Where the port
carries RDMA, or an intent has PFC on it, this is a warning. Where the traffic of the port is unknown, it is
information, and only if the NIC counts the duration of pauses. On a port that is known to carry no RDMA, and has no PFC
by an intent, global pause is no finding. An intent has PFC on the interfaces that it names, on all where it names none;
but not on a NIC without RDMA next to one that carries it. PFC pause frames do not count here.

## Why it breaks a lossless fabric
With global pause a congested RDMA receiver stops all traffic on its link: CNPs, acknowledgments, TCP and LLDP. The
switch at the other end waits with all its queues, and the pauses propagate in priorities that are not lossless. A NIC
counts them only in global mode, so PFC is not on.

## Bad
```text capture
tx_pause_ctrl_phy: 1266552
rx_global_pause: 0
rx_global_pause_duration: 0
tx_global_pause: 1266552   # <- here
tx_global_pause_duration: 555665182
tx_pause_storm_error_events: 0
```

## Good
```text capture
rx_vport_rdma_unicast_packets: 3809045607
rx_global_pause: 0
tx_global_pause: 0
rx_prio3_pause: 1266552
rx_prio3_pause_duration: 55566518
```

## Fix
Turn global pause off (`ethtool -A IF rx off tx off`) and PFC on for the priority of RDMA, on the NIC and its switch
port. Where the host itself sent the pauses, find the cause of its slow reception: PCIe, or memory of another socket.

## Sources
- Linux mlx5/counters.rst @16f448d: rx/tx_global_pause count only where global pause is on
- ConnectX-4 Lx counters in public notes: 1,266,552 pauses sent, of 555 s in all, none received
- IEEE 802.3, annex 31B (PAUSE); IEEE 802.1Q, clause 36 (PFC)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.host_counters.nics import carries_rdma, is_intended, nics
from lossless.ground.basics.units import format_duration

if TYPE_CHECKING:
    from lossless.checks.rules.host_counters.nics import Nic
    from lossless.checks.rules.running_subjects import RunningDevice

_NS_PER_S = 1_000_000_000
_US_PER_S = 1_000_000
_UNNAMED = "no capture says how long the link was paused, nor whether it carries RDMA"


def check(device: RunningDevice) -> Results:
    """Yield a violation per NIC with global pause frames that carries RDMA, or has PFC in the intent.

    Where its RDMA traffic is unknown, a NIC is reported only if it counts how long pauses lasted.
    """
    for nic in nics(device):
        wanted = _wants_pfc(device, nic)
        directions = [direction for direction in ("tx", "rx") if nic.count(f"global_pause_{direction}")]
        # A NIC without RDMA traffic between two captures may still carry RDMA.
        rdma = carries_rdma(device, nic.whole or nic)
        if not directions or (rdma is False and not wanted):
            continue
        certain = rdma is True or wanted
        if certain or any(nic.count(f"global_pause_{direction}_us") for direction in directions):
            yield _global_pause(nic, directions, certain=certain)
        else:
            yield MissingInput(_UNNAMED)


def _wants_pfc(device: RunningDevice, nic: Nic) -> bool:
    """Return whether an intent has PFC on a NIC: not where only other NICs of the host carry RDMA."""
    intended = device.intended_host
    if intended is None or not intended.pfc_priorities or not is_intended(nic.name, intended):
        return False
    without = carries_rdma(device, nic.whole or nic) is False
    return not without or not any(carries_rdma(device, each.whole or each) for each in nics(device))


def _global_pause(nic: Nic, directions: list[str], *, certain: bool) -> Violation:
    placed = nic.placed(f"global_pause_{directions[0]}")
    assert placed is not None
    said = " and ".join(_said(nic, direction) for direction in directions)
    return Violation(
        origin=placed.origin,
        message=f"{nic.label} has {said} {nic.window}, which stop all priorities of the link",
        note="whether it carries RDMA is not known" if not certain else "",
        help="turn global pause off (ethtool -A) and PFC on for the priority of RDMA, here and on the switch",
        elements=(nic.element,),
        data={direction: nic.count(f"global_pause_{direction}") for direction in directions},
        severity=None if certain else "info",
    )


def _said(nic: Nic, direction: str) -> str:
    frames, lasted_us = nic.count(f"global_pause_{direction}"), nic.count(f"global_pause_{direction}_us")
    verb = "sent" if direction == "tx" else "received"
    seconds = (lasted_us or 0) // _US_PER_S
    lasted = f" ({format_duration(seconds * _NS_PER_S)} in all)" if seconds else ""
    return f"{verb} {frames:,} global pause frames{lasted}"
