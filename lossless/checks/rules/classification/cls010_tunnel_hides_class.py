"""A tunnel must carry the lossless class in its outer header.

Severity: warning
Confidence: medium
Subject: device, switch
Needs: TUNNEL

## What it does
Looks at `TUNNEL` rows of a device that sends packets through them to a peer (`PEER_SWITCH`). With `dscp_mode` uniform
the outer header carries the DSCP of the packet, which is accepted. With `pipe` it carries the DSCP of
`encap_tc_to_dscp_map`, and DSCP 0 without that map: every lossless traffic class must get a DSCP that is lossless on
some port of the device, in its own class or in one that tunnel remapping made. VXLAN tunnels copy the DSCP, as SONiC
sets no other mode for them.

On NVUE a VXLAN overlay that sets one outer DSCP is an error where ports are bridged into it, and that DSCP is not
lossless. On EOS the rule is not checked where no line configures the DSCP of VXLAN packets: it then follows from the
traffic class, by a map of the platform.

## Why it breaks a lossless fabric
The switches between the ends read the outer header alone. With an outer DSCP of 0, RDMA crosses them best effort and is
dropped there, though both ends protect it.

## Bad
```json config_db base=azure
{
  "PEER_SWITCH": {"leaf2": {"address_ipv4": "10.1.0.33"}},
  "TC_TO_DSCP_MAP": {"AZURE_TUNNEL": {"0": "8", "3": "2", "4": "4"}},
  "TUNNEL": {
    "MuxTunnel0": {
      "tunnel_type": "IPINIP", "dst_ip": "10.1.0.32", "src_ip": "10.1.0.33", "dscp_mode": "pipe",
      "ecn_mode": "copy_from_outer", "encap_ecn_mode": "standard", "ttl_mode": "pipe",
      "encap_tc_to_dscp_map": "AZURE_TUNNEL"   // <- here
    }
  }
}
```

```text switch base=switch-nvue
nv set interface swp1 bridge domain br_default access 100
nv set bridge domain br_default vlan 100 vni 10100
nv set nve vxlan state enabled
nv set nve vxlan encapsulation dscp action set
nv set nve vxlan encapsulation dscp value 0   # <- here
```

## Good
```json config_db base=azure
{
  "PEER_SWITCH": {"leaf2": {"address_ipv4": "10.1.0.33"}},
  "TUNNEL": {
    "MuxTunnel0": {
      "tunnel_type": "IPINIP", "dst_ip": "10.1.0.32", "src_ip": "10.1.0.33", "dscp_mode": "uniform",
      "ecn_mode": "copy_from_outer", "encap_ecn_mode": "standard", "ttl_mode": "pipe"
    }
  }
}
```

## Fix
Map each lossless class to a DSCP that is lossless on the path: 3 to 2 and 4 to 6 where tunnel remapping is on.

## Sources
- sonic-net/SONiC doc/qos/tunnel_dscp_remapping.md @12d907f (3 to 2 and 4 to 6 for bounced packets)
- sonic-swss orchagent/muxorch.cpp @02958e2 (which mode and which map a tunnel to the peer gets)
- sonic-swss orchagent/vxlanorch.cpp @038ac12 (sets no mode for VXLAN)
- NVIDIA, Cumulus Linux 5.3 User Guide, "VXLAN Tunnel DSCP Operations" (derive by default, copy or set)
- Arista, EOS User Manual, "VXLAN DSCP Mapping"
- opencomputeproject/SAI inc/saitunnel.h @003c080 (uniform where no mode is set; in pipe, DSCP 0 where none is set)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.interface_tables import raw_rows
from lossless.checks.rules.pfc.priorities import remapped
from lossless.formats.sonic.read.tables import plain_name
from lossless.formats.sonic.to_model.lags import rewrite_of
from lossless.ground.basics.records import UNKNOWN
from lossless.ground.basics.units import number_ranges
from lossless.model.fabric.qos import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lossless.checks.rules.subjects import Device, SwitchConfiguration
    from lossless.model.fabric.view import PortSet

DEFAULT_DSCP = 0
"""The default DSCP of the outer header in pipe mode (SAI inc/saitunnel.h @003c080)."""
_MAP = "encap_tc_to_dscp_map"


def check(device: Device) -> Results:
    """Yield a violation per tunnel to a peer switch in pipe mode whose outer DSCP is lossy for a lossless class."""
    if "TUNNEL" not in device.tables.data or not any(True for _ in raw_rows(device, "PEER_SWITCH")):
        return
    lossless = _lossless(device)
    for name, fields in raw_rows(device, "TUNNEL"):
        if fields.get("dscp_mode") == "pipe" and lossless:
            yield from _lost_classes(device, name, fields, lossless)


def on_switch(switch: SwitchConfiguration) -> Results:
    """Yield a violation per VXLAN overlay of another system with PFC whose outer DSCP is lossy."""
    sets = switch.view.lossless_sets
    for tunnel in switch.read.tunnels if sets else ():
        if tunnel.dscp is UNKNOWN:
            yield MissingInput(f"which DSCP and ECN packets of {tunnel.name} carry outside; no line says it")
            continue
        if tunnel.dscp is None or _is_lossless(sets, tunnel.dscp):
            continue
        yield Violation(
            origin=tunnel.origin,
            message=f"packets of {tunnel.name} carry DSCP {tunnel.dscp} outside, which no port takes in as lossless",
            note="the switches on the way see the outer header alone: RDMA inside crosses them best effort",
            help="let the outer header carry the DSCP of the packet inside",
            elements=tuple(f"{switch.read.switch.name}:{port}" for port in tunnel.ports),
            data={"outer_dscp": tunnel.dscp},
            severity="error" if tunnel.ports else None,
            confidence="high" if tunnel.ports else None,
        )


def _lossless(device: Device) -> set[int]:
    """Return the lossless traffic classes of the device, without those that tunnel remapping made."""
    return {
        tc for ports in device.view.lossless_sets for tc in {*ports.qos.pfc.priorities} - remapped(ports.qos)
    }


def _lost_classes(device: Device, name: str, fields: Mapping[str, object], lossless: set[int]) -> Results:
    map_name = _reference(fields)
    dscps = rewrite_of(device.tables, map_name).dscps if map_name else dict.fromkeys(lossless, DEFAULT_DSCP)
    if dscps is None:
        yield MissingInput(f"the {_MAP} of a tunnel is not there, or cannot be read")
        return
    lost = {
        tc: dscp
        for tc in sorted(lossless)
        if not _is_lossless(device.view.lossless_sets, dscp := dscps.get(tc, DEFAULT_DSCP))
    }
    if lost:
        yield _tunnel_hides_class(device, name, map_name, lost)


def _reference(fields: Mapping[str, object]) -> str:
    name = str(fields.get(_MAP) or "")
    return plain_name(name) if name.startswith("[") else name


def _is_lossless(sets: Sequence[PortSet], dscp: int) -> bool:
    """Return whether a DSCP is lossless on some port with PFC: also by an unreadable entry, or 802.1p trust."""
    taken = ((p.qos.traffic_class(dscp), p.qos) for p in sets)
    return any(tc == UNREADABLE or tc in qos.pfc.priorities or qos.trust_dot1p for tc, qos in taken)


def _tunnel_hides_class(device: Device, name: str, map_name: str, lost: Mapping[int, int]) -> Violation:
    outside = number_ranges({*lost.values()})
    return Violation(
        origin=device.tables.origin("TUNNEL").at(name, _MAP if map_name else "dscp_mode"),
        message=f"{name} gives lossless TC {number_ranges(lost)} DSCP {outside} outside, which no port takes in as "
        "lossless",
        note=f"{f'by {map_name}' if map_name else f'no {_MAP} is bound'}; the switches on the way see the outer header "
        "alone",
        help="map each lossless class to a DSCP that is lossless on the way, or set dscp_mode to uniform",
        data={"outer_dscps": {str(tc): dscp for tc, dscp in lost.items()}},
    )
