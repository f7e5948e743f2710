"""Groups of like ports must pause at the same threshold.

Severity: warning
Subject: device, devices

## What it does
Compares the threshold (`dynamic_th`, or `static_th`) of the lossless groups of one priority on the ports of a deployed
switch that have the same speed, the same cable length, the same PFC priorities and the same kind of neighbor. Where
fewer than half of them have another threshold, those are reported. Ports with another speed, length, set of priorities
or kind of neighbor are not compared, because these can explain a difference. SWS013 reports a `dynamic_th` out of
range.

Given several switches, it compares alpha at each speed over those of one role. Where switches of one model agree and
only other models of the role have another alpha, that is information: their pools are of other sizes.

## Why it breaks a lossless fabric
Alpha decides how much of the shared buffer a group takes before it pauses. A group with 1/64 where the others have 1/16
pauses earlier: one new switch model with this default made pauses propagate through a data center.

## Bad
```json config_db base=leaf
{
  "PORT": {"Ethernet12": {"lanes": "16,17,18,19", "alias": "etp3a", "index": "3", "speed": "400000", "mtu": "9100",
    "admin_status": "up", "fec": "rs"}},
  "CABLE_LENGTH": {"AZURE": {"Ethernet12": "5m"}},
  "PORT_QOS_MAP": {"Ethernet12": {"dscp_to_tc_map": "AZURE", "tc_to_queue_map": "AZURE", "tc_to_pg_map": "AZURE",
    "pfc_to_queue_map": "AZURE", "pfc_to_pg_map": "AZURE", "pfc_enable": "3", "pfcwd_sw_enable": "3"}},
  "QUEUE": {"Ethernet12|3": {"scheduler": "scheduler.1", "wred_profile": "AZURE_LOSSLESS"}},
  "BUFFER_QUEUE": {"Ethernet12|3": {"profile": "egress_lossless_profile"}},
  "PFC_WD": {"Ethernet12": {"action": "drop", "detection_time": "1200", "restoration_time": "1200"}},
  "BUFFER_PROFILE": {"tried": {
    "pool": "ingress_lossless_pool", "size": "250880", "xon": "19456", "xoff": "231424", "dynamic_th": "-1"
  }},
  "BUFFER_PG": {
    "Ethernet12|3": {"profile": "pg_lossless_400000_5m_profile"},
    "Ethernet4|3": {
      "profile": "tried"   // <- here
    }
  }
}
```

```json config_db base=wired-leaf beside=wired-leaf2,wired-leaf3
{
  "BUFFER_PROFILE": {
    "pg_lossless_400000_5m_profile": {
      "dynamic_th": "-1"   // <- here
    }
  }
}
```

## Good
```json config_db base=leaf
{
  "BUFFER_PG": {
    "Ethernet4|3": {
      "profile": "pg_lossless_400000_5m_profile"
    }
  }
}
```

## Fix
Let the groups of like ports name one profile.

## Sources
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 6.2 (alpha 1/64 instead of 1/16)
- sonic-buildimage device/*/*/*/pg_profile_lookup.ini @086b03b (thresholds differ by speed and length only)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.ecn_marking import DYNAMIC_TH
from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.locations import beside, element, row_of
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_bytes, format_rate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.checks.rules.subjects import Device
    from lossless.model.fabric.deployed_devices import DeployedDevices
    from lossless.model.fabric.model import Port
    from lossless.model.fabric.qos import BufferProfile, PriorityGroup
    from lossless.model.fabric.view import PortSet


def across(devices: DeployedDevices) -> Results:
    """Yield a violation per alpha of lossless priority groups that differs from the usual one of its role and speed."""
    from lossless.checks.rules.roles.outliers import (  # a device alone does not pay for it
        outlier_violation,
        outliers_by_model,
    )

    for outlier in outliers_by_model(devices, "alpha"):
        here, usual = outlier.these[0].setting, outlier.usual[0].setting
        yield outlier_violation(outlier)._replace(
            origin=here.origin.at("dynamic_th"),
            note=f"alpha is {2.0 ** (here.value - usual.value):g} of what it is there",
            help="give the switches of a role the same dynamic_th",
        )


class _ComparedPorts(NamedTuple):
    """Priority, speed, cable length and PFC mask that ports must share for their groups' thresholds to be compared."""

    priority: int
    speed_bps: int | None
    cable_m: int | None
    priorities: tuple[int, ...]


class _GroupMember(NamedTuple):
    port: Port
    group: PriorityGroup
    profile: BufferProfile


def check(device: Device) -> Results:
    """Yield a violation per threshold of lossless priority groups that differs from that of most like ports."""
    sets_of = grouped(
        (_ComparedPorts(priority, ports.speed_bps, ports.cable.configured_m, ports.qos.pfc.priorities), ports)
        for ports in device.view.lossless_sets
        for priority in ports.qos.pfc.priorities
    )
    for compared, sets in sets_of.items():
        for neighbors in _by_neighbor(device, _members(compared, sets)):
            yield from _minority(device, compared, neighbors)


def _members(compared: _ComparedPorts, sets: list[PortSet]) -> Iterator[_GroupMember]:
    for ports in sets:
        group = ports.qos.groups[ports.qos.pausing_group(compared.priority)]
        if group is not None and group.buffer is not None and group.buffer.lossless:
            for port in ports.ports:
                yield _GroupMember(port, group, group.buffer)


def _threshold(profile: BufferProfile) -> tuple[int | None, int | None]:
    return profile.dynamic_th, profile.static_th_bytes


def _by_neighbor(device: Device, members: Iterator[_GroupMember]) -> list[list[_GroupMember]]:
    """Return lossless groups, each with its port, grouped by the type of the port's neighbor in the file."""
    table = device.tables.data.get("DEVICE_NEIGHBOR_METADATA")
    neighbor_rows = table if isinstance(table, dict) else {}
    return list(grouped((_kind(neighbor_rows, member.port), member) for member in members).values())


def _kind(neighbor_rows: Mapping[str, object], port: Port) -> object:
    if port.neighbor is None:
        return "no neighbor"
    row = neighbor_rows.get(port.neighbor[0])
    return ("type", str(row.get("type"))) if isinstance(row, dict) else "neighbor without a type"


def _minority(device: Device, compared: _ComparedPorts, members: list[_GroupMember]) -> Iterator[Violation]:
    groups = grouped((_threshold(member.profile), member) for member in members)
    usual = max(groups.values(), key=len)
    if 2 * len(usual) <= len(members):
        return
    for different in groups.values():
        if different is not usual:
            yield _alpha_differs_on_like_ports(device, compared, different, usual)


def _alpha_differs_on_like_ports(
    device: Device, compared: _ComparedPorts, different: list[_GroupMember], usual: list[_GroupMember]
) -> Violation:
    first, other = different[0], usual[0]
    origin = first.group.origin
    where = f"{format_rate(compared.speed_bps)}" if compared.speed_bps else "ports of one speed"
    length = f" over {compared.cable_m} m" if compared.cable_m else ""
    return Violation(
        origin=origin.at("profile") if origin.path[:1] == ("BUFFER_PG",) else origin,
        message=f"{first.profile.name} pauses priority {compared.priority} at {_shown(first.profile)}, and "
        f"{len(usual)} of {len(usual) + len(different)} ports with {where}{length} at {_shown(other.profile)}",
        note=f"{other.profile.name} on the others; nothing else tells these ports apart",
        help=f"name {other.profile.name}, or give both profiles the same threshold",
        elements=tuple(element(device, member.port.name) for member in different),
        data={"priority": compared.priority, "profile": first.profile.name, "usual": other.profile.name},
        related=beside(
            origin,
            (row_of(first.profile), "the profile of these ports"),
            (row_of(other.profile), "the profile of the others"),
        ),
    )


def _shown(profile: BufferProfile) -> str:
    exponent = profile.dynamic_th
    if exponent is None:
        return "no threshold" if profile.static_th_bytes is None else format_bytes(profile.static_th_bytes)
    if exponent in DYNAMIC_TH:
        return f"alpha {2**exponent}" if exponent >= 0 else f"alpha 1/{2**-exponent}"
    return f"dynamic_th {exponent}"
