"""The headroom of the dynamic buffer model depends on the configured share of small packets.

Severity: info
Fix: unsafe
Subject: device

## What it does
In the dynamic buffer model of a switch whose chip has a known formula, reads `small_packet_percentage` of
`LOSSLESS_TRAFFIC_PATTERN`. Below 100 it reports the headroom that the most demanding kind of port gets, and the
headroom at 100, as information. The MTU in the same row is not checked: it changes the result by single KiB, and no
file has the packet sizes of hosts.

## Why it breaks a lossless fabric
A packet of 64 B takes a whole cell: 192 B on Spectrum-4. Headroom for few small packets overflows when an incast of
small messages, or of acknowledgments in the class of the data, arrives after the pause.

## Bad
```json config_db base=leaf
{
  "DEVICE_METADATA": {"localhost": {"buffer_model": "dynamic"}},
  "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "0"}},
  "LOSSLESS_TRAFFIC_PATTERN": {"AZURE": {
    "mtu": "1024",
    "small_packet_percentage": "50"   // <- here
  }},
  "BUFFER_PG": {"Ethernet8|3": {"profile": "NULL"}}
}
```

## Good
```json config_db base=leaf
{
  "DEVICE_METADATA": {"localhost": {"buffer_model": "dynamic"}},
  "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "0"}},
  "LOSSLESS_TRAFFIC_PATTERN": {"AZURE": {"mtu": "1024", "small_packet_percentage": "100"}},
  "BUFFER_PG": {"Ethernet8|3": {"profile": "NULL"}}
}
```

## Fix
Set it to 100 where lossless traffic may be small messages; to less where the share was measured and buffer is short.

## Sources
- sonic-swss cfgmgr/buffer_headroom_mellanox.lua and buffer_headroom_barefoot.lua @e6b0c5b
- sonic-buildimage device/mellanox/x86_64-nvidia_sn5600-r0/ACS-SN5600/pg_profile_lookup.ini @086b03b (all rows: 100)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.headroom.port import dynamic_headroom, shares_headroom
from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.fixes import field
from lossless.formats.sonic.read.tables import whole_number
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.read.tables import ConfigRow
    from lossless.model.fabric.view import PortSet

_ALL_PERCENT = 100
_MTUS = range(64, 9216 + 1)


class _DynamicHeadroom(NamedTuple):
    """The computed headroom of ports with the configured share of small packets, and with small packets alone."""

    ports: PortSet
    headroom_bytes: int
    all_small_bytes: int


def check(device: Device) -> Results:
    """Yield a violation where ``LOSSLESS_TRAFFIC_PATTERN`` assumes a share of small packets below 100 %.

    Only in the dynamic buffer model, and where headroom is computed.
    """
    if device.switch.qos.buffer_model != "dynamic":
        return
    # The device uses the first row it finds, and only one is expected.
    row = next(iter(device.tables.table("LOSSLESS_TRAFFIC_PATTERN").values()), None)
    if row is None:
        return
    percent = whole_number(row.fields.get("small_packet_percentage", ""))
    mtu_bytes = whole_number(row.fields.get("mtu", ""))
    if (
        percent is not None
        and mtu_bytes is not None
        and percent in range(_ALL_PERCENT)
        and mtu_bytes in _MTUS
    ):
        yield from _most_demanding(device, row, percent, mtu_bytes)


def _most_demanding(device: Device, row: ConfigRow, percent: int, mtu_bytes: int) -> Iterator[Violation]:
    sets = [ports for ports in device.view.lossless_sets if _is_computed(ports)]
    headrooms = [headroom for ports in sets if (headroom := _computed(ports, percent, mtu_bytes)) is not None]
    if headrooms:
        worst = max(headrooms, key=lambda headroom: headroom.all_small_bytes)
        yield _small_packets_assumed_few(device, row, percent, worst, sets)


def _is_computed(ports: PortSet) -> bool:
    qos = ports.qos
    groups = (qos.groups[qos.pausing_group(priority)] for priority in qos.pfc.priorities)
    return any(group is not None and group.generated for group in groups)


def _computed(ports: PortSet, percent: int, mtu_bytes: int) -> _DynamicHeadroom | None:
    """Return the headroom for both shares of small packets; None where the inputs of the formula are unknown."""
    shared = shares_headroom(ports.switch)
    needs = (
        dynamic_headroom(ports, mtu_bytes, share, shared_headroom=shared) for share in (percent, _ALL_PERCENT)
    )
    headrooms = [need.headroom_bytes for need in needs if need is not None]
    return _DynamicHeadroom(ports, *headrooms) if headrooms else None


def _small_packets_assumed_few(
    device: Device, row: ConfigRow, percent: int, worst: _DynamicHeadroom, sets: list[PortSet]
) -> Violation:
    ports = worst.ports
    return Violation(
        origin=device.tables.origin("LOSSLESS_TRAFFIC_PATTERN", row, "small_packet_percentage"),
        message=f"headroom counts on {percent} % of small packets: {format_bytes(worst.headroom_bytes)} at "
        f"{ports.rate} over {ports.cable.configured_m} m, where nothing but small packets "
        f"need {format_bytes(worst.all_small_bytes)}",
        note="small packets are 64 B, and each takes whole cells",
        help="set small_packet_percentage to 100, unless the lossless traffic is known to be large",
        fix=field(
            device.tables.origin("LOSSLESS_TRAFFIC_PATTERN", row, "small_packet_percentage"),
            str(_ALL_PERCENT),
        ),
        data={
            "small_packet_percentage": percent,
            "headroom_bytes": worst.headroom_bytes,
            "all_small_bytes": worst.all_small_bytes,
        },
    ).on_ports(*sets)
