"""Both ends of a link must have the same MTU, and RDMA's largest frame must fit.

Severity: error
Fix: unsafe
Subject: devices

## What it does
Compares the MTU of the two ports of a link between two devices, both up: that of its LAG where a port is in one, and of
a VLAN with addresses where that is smaller. Where none is written it is SONiC's default. It is an error where RDMA's
largest packet does not fit the smaller of the two and both ports pause a priority: 4,156 bytes with an RDMA MTU of
4096, or less where hosts that are checked too state a smaller one. A difference above that, 9100 against 9216, is a
warning. A link of which both ends are too small is an error where other paused ports of these
switches take what it does not.

## Why it breaks a lossless fabric
A frame larger than the smaller MTU is dropped at that end: frames are lost on a link whose buffers never overflow. RDMA
retransmits them at the same size, and they are lost again.

## Bad
```json config_db base=wired-leaf beside=wired-spine
{
  "PORT": {"Ethernet8": {
    "mtu": "1500"   // <- here
  }}
}
```

```json config_db base=wired-leaf beside=wired-spine
{
  "PORT": {"Ethernet8": {
    "mtu": "9000"   // <- here
  }}
}
```

## Good
```json config_db base=wired-leaf beside=wired-spine
{
  "PORT": {"Ethernet8": {"mtu": "9100"}}
}
```

## Fix
Give both ports the larger of the two.

## Sources
- sonic-swss cfgmgr/portmgr.h @e1abf76 (DEFAULT_MTU_STR, 9100), cfgmgr/teammgr.cpp @e6b0c5b (a member has the MTU of
  its LAG), orchagent/portsorch.cpp @e6b0c5b (the MTU of a VLAN is that of its router interface)
- InfiniBand Architecture, supplement to volume 1 release 1.2.1, annex A17 (RoCEv2: IP and UDP headers, BTH, RETH and
  ICRC around a payload of the RDMA MTU)
- iancaragol/AzureLocal-Supportability
  TSG/Networking/Top-Of-Rack-Switch/Reference-TOR-QOS-Policy-Configuration.md @13714e6 (one MTU on the whole path)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.links.cabling import Disagreement, disagreements
from lossless.ground.basics.findings import RelatedPlace, grouped
from lossless.model.fabric.hosts import RDMA_HEADERS_BYTES, RDMA_MTUS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.model.fabric.deployed_devices import CabledPair, DeployedDevices, LinkEnd


def across(devices: DeployedDevices) -> Results:
    """Yield a violation per two devices and MTUs that differ across their links, and per two with too small MTUs.

    The latter only where other paused ports of one of the two take RDMA's largest packet.
    """
    packet_bytes = _largest_packet_bytes(devices)
    for links in disagreements(devices, _mtu):
        yield _link_mtu_differs(links, packet_bytes)
    small = [pair for pair in devices.compared if _is_small(pair, packet_bytes)]
    ends = (end for summary in devices.by_name.values() for end in summary.ends if end.in_service)
    larger = {end.switch for end in ends if _fits(end, packet_bytes)}
    by_switches = grouped(((pair.near.switch, pair.far.switch), pair) for pair in small)
    for switches, pairs in by_switches.items():
        if not larger.isdisjoint(switches):
            yield _both_small(pairs, packet_bytes)


def _largest_packet_bytes(devices: DeployedDevices) -> int:
    """Return the size of RDMA's largest IP packet in bytes, by the hosts that state an RDMA MTU, else for 4096."""
    hosts = [end.host for summary in devices.summaries for end in summary.ends if end.host is not None]
    stated = [host.rdma_mtu_bytes for host in hosts if isinstance(host.rdma_mtu_bytes, int)]
    return max(stated, default=RDMA_MTUS[0]) + RDMA_HEADERS_BYTES


def _mtu(end: LinkEnd) -> int | None:
    return end.mtu_bytes if isinstance(end.mtu_bytes, int) else None


def _fits(end: LinkEnd, packet_bytes: int) -> bool:
    mtu_bytes = _mtu(end)
    return bool(end.pfc) and mtu_bytes is not None and mtu_bytes >= packet_bytes


def _is_small(pair: CabledPair, packet_bytes: int) -> bool:
    near_bytes, far_bytes = _mtu(pair.near), _mtu(pair.far)
    is_paused = bool(pair.near.pfc) and bool(pair.far.pfc)
    return is_paused and near_bytes is not None and near_bytes == far_bytes and near_bytes < packet_bytes


def _link_mtu_differs(links: Disagreement, packet_bytes: int) -> Violation:
    low, high = links.low, links.high
    small, large = links.values
    loses_rdma = bool(low.pfc) and bool(high.pfc) and small < packet_bytes
    lost = f"; packets of RDMA have up to {packet_bytes} B" if loses_rdma else ""
    return Violation(
        origin=low.mtu_origin,
        message=f"{low.name} has an MTU of {small} B, its neighbor {high.name} {large} B{lost}",
        note=f"frames above {small} B that {high.switch} sends are dropped here: {large - small} B too large at most",
        help=f"set mtu of {' '.join(map(str, low.mtu_path[:2]))} to {large}"
        if low.mtu_path
        else f"set the MTU of both ports to {large}",
        severity=None if loses_rdma else "warning",
        fix=() if low.mtu_path else links.lower_to_higher("mtu", str(large)),
        elements=links.elements,
        data={"mtu_bytes": [small, large]},
        related=(RelatedPlace(high.mtu_origin, f"the end with {large} B"),),
    )


def _both_small(pairs: Sequence[CabledPair], packet_bytes: int) -> Violation:
    near, far = pairs[0].near, pairs[0].far
    return Violation(
        origin=near.mtu_origin,
        message=f"{near.name} and its neighbor {far.name} have an MTU of {near.mtu_bytes} B, and packets "
        f"of RDMA have up to {packet_bytes} B",
        note="other paused ports of these switches take such packets, and those that must cross this link are dropped",
        help="give these ports the MTU of the other ports",
        elements=tuple(pair.name for pair in pairs),
        data={"mtu_bytes": [_mtu(near), _mtu(far)]},
        related=(RelatedPlace(far.mtu_origin, "the other end"),),
    )
