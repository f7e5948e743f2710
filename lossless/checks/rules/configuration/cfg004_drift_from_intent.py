"""A switch must be configured as its intent declares it.

Severity: warning
Subject: device
Needs: intent

## What it does
Where an intent is checked together with the file of one of its switches, compares both: HWSKU, buffer model, pools,
settings of the dynamic buffer model, poll interval, counters, trimming, the maps of the switch and of its tunnel, and
for each port of the intent its speed, MTU, configured cable, maps, PFC, watchdog, queues, groups and buffer profiles.
Each row that differs is one finding for all its ports. Maps and profiles are compared by their content and not by their
names. A file without any QoS is a base for rendering and no drift; of a switch of another HWSKU or buffer model only
that difference is reported. Differences that other rules report are left to them: a missing watchdog, a lossless queue
without marking, a cable that is configured too short, PFC on ports that the intent does not use. The classes of the
switch are those that its intent declares. A file without a hostname, such as `leaf1/qos.json`, belongs to the switch
with the name of its folder.

Drift that leaves a lossless class without protection is an error: a DSCP, traffic class or priority that is mapped to
a lossy one, a priority without PFC or watchdog, a lossless queue or priority group without its row or headroom, a port
without QoS rows that pauses by the intent. Other numbers of queues and groups are none where a port keeps each class
lossless by them, and by its priority. Rows that the intent has no use for are information; all else is a warning.

## Why it breaks a lossless fabric
The intent was checked. The switch runs another configuration, from a manual change or because a rendered file never
reached it, and the results that were computed for the intent do not hold for this fabric.

## Bad
```json config_db base=rendered-leaf beside=leaf-spine.yaml
{
  "DSCP_TO_TC_MAP": {
    "AZURE": {
      "10": "6"   // <- here
    }
  }
}
```

```json config_db base=rendered-leaf beside=leaf-spine.yaml
{
  "WRED_PROFILE": {
    "AZURE_LOSSLESS": {"green_drop_probability": "30"}   // <- here
  }
}
```

## Good
```json config_db base=rendered-leaf beside=leaf-spine.yaml
{}
```

```json config_db base=rendered-leaf beside=leaf-spine.yaml
{
  "PORT": {"Ethernet0": {"description": "host1"}},
  "SYSLOG_SERVER": {"10.0.0.9": {}}
}
```

## Fix
`lossless render INTENT -o DIR --base DIR` writes the switch's file as declared; or change the intent, if the switch is
right. Pools and profiles of a running switch cannot always be changed in place: plan a reload.

## Sources
- arithmetic: both sides are read into the same model and compared
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, merged
from lossless.checks.rules.configuration.drift import (
    MAPS,
    SwitchDifference,
    of_map,
    of_pool,
    of_port,
    of_trimming,
    of_tunnel,
)
from lossless.checks.rules.locations import element
from lossless.formats.sonic.effective.chain import is_lossless
from lossless.formats.sonic.from_model import OWNED, dynamic_values
from lossless.formats.sonic.to_model.trimming import FIELDS, RATIO, TRIM_TABLE
from lossless.ground.basics.findings import RelatedPlace, grouped
from lossless.ground.basics.units import format_rate, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.checks.rules.subjects import Device
    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.qos import DynamicBuffers


def check(device: Device) -> Results:
    """Yield a violation where the HWSKU or buffer model is not that of the intent, else per difference of rows."""
    have, want = device.switch, device.intended
    if want is None or not any(device.tables.table(table) for table in OWNED if table != "CABLE_LENGTH"):
        return
    metadata = device.tables.row("DEVICE_METADATA", "localhost")
    at = device.tables.origin("DEVICE_METADATA", metadata)
    if have.hwsku_name != want.hwsku_name:
        hwsku = f"hwsku is {have.hwsku_name}, the intent says {want.hwsku_name}"
        yield _drift_from_intent(SwitchDifference(at.at("hwsku"), hwsku, want.origin))
    elif have.qos.buffer_model != want.qos.buffer_model:
        model = f"buffer_model is {have.qos.buffer_model}, the intent says {want.qos.buffer_model}"
        yield _drift_from_intent(SwitchDifference(at.at("buffer_model"), model, want.origin))
    else:
        yield from merged(_violations(device, have, want))


def _violations(device: Device, have: Switch, want: Switch) -> Iterator[Violation]:
    yield from (_drift_from_intent(difference) for difference in _whole_switch(device, have, want))
    present = {port.name: port for port in have.ports}
    used = [port for port in want.ports if port.admin_up is not False]
    yield from _unused(device, present, want)
    missing = [port for port in used if port.placed and port.name not in present]
    if missing:
        message = f"PORT has no {listed([port.name for port in missing])}, which the intent uses"
        yield _drift_from_intent(
            SwitchDifference(device.tables.origin("PORT").key(), message, missing[0].origin)
        )
    pairs = [(present[port.name], port) for port in used if port.name in present and port.qos is not None]
    up = [(configured, declared) for configured, declared in pairs if configured.admin_up is not False]
    for configured, declared in up:
        where = (element(device, configured.name),)
        yield from (
            _drift_from_intent(difference, where) for difference in _port(device, configured, declared)
        )
    identical = grouped((_identity(*pair), pair) for pair in up)
    for ports in identical.values():
        yield from _ports(device, ports)


def _identity(configured: Port, declared: Port) -> tuple[object, ...]:
    """Return the key of ports that are configured identically and declared identically."""
    return id(configured.qos), id(declared.qos), declared.speed_bps, declared.cable.configured_m


def _unused(device: Device, present: Mapping[str, Port], want: Switch) -> Iterator[Violation]:
    """Yield a violation for the unused ports that are up though the intent reclaims their buffer."""
    down = [port for port in want.ports if port.admin_up is False]
    names = [port.name for port in down if port.name in present and present[port.name].admin_up]
    if names:
        are, them = ("is", "it") if len(names) == 1 else ("are", "them")
        message = f"{listed(names)} {are} up, and the intent says that no link uses {them}"
        difference = SwitchDifference(device.tables.origin("PORT").key(), message, down[0].origin)
        yield _drift_from_intent(difference, tuple(element(device, name) for name in names))


def _ports(device: Device, pairs: list[tuple[Port, Port]]) -> Iterator[Violation]:
    """Yield a violation per difference of ports that are configured and declared identically, by their first pair."""
    have, want = pairs[0]
    if have.qos is not None and want.qos is not None:
        elements = tuple(element(device, port.name) for port, _ in pairs)
        links = [(port.speed_bps, port.cable.configured_m) for port in (have, want)]
        kept = all(
            is_lossless(device.programmed, have.name, dscp, cls.priority)
            for cls in device.switch.classes.lossless
            if cls.priority is not None
            for dscp in cls.dscps
        )
        differences = of_port(have.name, have.qos, want.qos, same_link=links[0] == links[1], kept=kept)
        yield from (_drift_from_intent(difference, elements) for difference in dict.fromkeys(differences))


def _whole_switch(device: Device, have: Switch, want: Switch) -> Iterator[SwitchDifference]:
    pools = {pool.name: pool for pool in have.qos.pools}
    for pool in want.qos.pools:
        if pool.name in pools:
            yield from of_pool(pools[pool.name], pool)
        else:
            at = device.tables.origin("BUFFER_POOL").key()
            yield SwitchDifference(at, f"BUFFER_POOL has no {pool.name}, which the intent uses", pool.origin)
    poll, wanted = have.qos.poll, want.qos.poll
    if wanted.poll_ms is not None and poll.poll_ms != wanted.poll_ms and device.tables.table("PFC_WD"):
        message = f"POLL_INTERVAL is {poll.poll_ms or 'not set'}, the intent says {wanted.poll_ms}"
        yield SwitchDifference(poll.origin, message, wanted.origin)
    if want.qos.global_dscp_map is not None:
        nowhere = device.tables.origin("PORT_QOS_MAP").key()
        own = have.qos.global_dscp_map
        # Ports with a map of their own never use that of the switch.
        led = [qos for ports in device.view.lossless_sets if (qos := ports.qos).dscp_to_tc in (None, own)]
        lossless = [cls.priority for cls in want.classes.lossless if cls.priority is not None] if led else []
        yield from of_map(MAPS[0], own, want.qos.global_dscp_map, nowhere, lossless)
    if want.qos.tunnel is not None and have.qos.tunnel is not None:
        yield from of_tunnel(have.qos.tunnel, want.qos.tunnel)
    yield from of_trimming(have.qos, want.qos, device.tables.origin(TRIM_TABLE).key())
    if want.qos.dynamic is not None:
        yield from _dynamic(device, have.qos.dynamic, want.qos.dynamic)
    yield from _counters(device, have, want)


def _dynamic(device: Device, have: DynamicBuffers | None, want: DynamicBuffers) -> Iterator[SwitchDifference]:
    """Yield the settings of the dynamic buffer model that differ; a ratio of 0 counts as unset."""
    configured = dynamic_values(have) if have else {}
    for field, declared in dynamic_values(want).items():
        table, value = FIELDS[field], configured.get(field)
        if value != declared and (value or declared or field != RATIO):
            row = next(iter(device.tables.table(table).values()), None)
            at = device.tables.origin(table, row, *([field] if row and field in row.fields else []))
            message = f"{table} says {field} {_number(value)}, the intent says {_number(declared)}"
            yield SwitchDifference(at, message, want.origin)


def _number(value: int | None) -> str:
    return "not at all" if value is None else str(value)


def _counters(device: Device, have: Switch, want: Switch) -> Iterator[SwitchDifference]:
    """Yield the counter groups that are not polled as declared; other rules report that of the watchdog."""
    polled = dict(have.qos.counters)
    for group, on in want.qos.counters:
        if group != "PFCWD" and polled.get(group, False) != on:
            at = device.tables.origin("FLEX_COUNTER_TABLE")
            message = f"counters of {group} are {'not ' if on else ''}polled, the intent says {'on' if on else 'off'}"
            yield SwitchDifference(at.at(group) if group in polled else at.key(), message, want.qos.origin)


def _port(device: Device, have: Port, want: Port) -> Iterator[SwitchDifference]:
    """Yield the differences in speed, MTU, QoS rows and cable of a port; an MTU above the declared one is accepted."""
    row = device.tables.row("PORT", have.name)
    if have.speed_bps != want.speed_bps and have.speed_bps and want.speed_bps:
        message = f"speed is {format_rate(have.speed_bps)}, the intent says {format_rate(want.speed_bps)}"
        yield SwitchDifference(device.tables.origin("PORT", row, "speed"), message, want.origin)
    if (
        isinstance(have.mtu_bytes, int)
        and isinstance(want.mtu_bytes, int)
        and have.mtu_bytes < want.mtu_bytes
    ):
        message = f"mtu is {have.mtu_bytes}, the intent says {want.mtu_bytes}"
        yield SwitchDifference(device.tables.origin("PORT", row, "mtu"), message, want.origin)
    if have.qos is None:
        message = "no QoS rows, and the intent uses the port"
        pauses = want.qos is not None and bool(want.qos.pfc.priorities)
        at = device.tables.origin("PORT_QOS_MAP").key()
        yield SwitchDifference(at, message, want.origin, "error" if pauses else None)
    yield from _cable(have, want)


def _cable(have: Port, want: Port) -> Iterator[SwitchDifference]:
    length_m, real_m = have.cable.configured_m, want.cable.real_m
    too_short = not length_m or (isinstance(real_m, int) and length_m < real_m)
    if length_m != want.cable.configured_m and not too_short:
        message = f"CABLE_LENGTH is {length_m}m, the intent says {want.cable.configured_m}m"
        yield SwitchDifference(have.cable.origin, message, want.cable.origin)


def _drift_from_intent(difference: SwitchDifference, elements: tuple[str, ...] = ()) -> Violation:
    origin, declared = difference.origin, difference.declared
    related = (RelatedPlace(declared, "declared here"),) if declared.file != origin.file else ()
    return Violation(
        origin=origin,
        message=difference.message,
        help="render the switch again, or change the intent if the switch is right",
        elements=elements,
        data={"object": "|".join(map(str, origin.path))},
        related=related,
        severity=difference.severity,
    )
