"""Settings that should be the same on all switches of a role, read from one device.

A setting that differs between the ports of one device is left out, because it cannot be compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.locations import has_egress_profiles
from lossless.checks.rules.sonic.ars_tables import PROFILE, adaptive_routing
from lossless.checks.rules.trimming.trimmed_packets import TABLE, trimming
from lossless.formats.sonic.read.tables import PORT_MAPS
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.units import format_bytes, format_rate
from lossless.model.fabric.deployed_devices import SharedSetting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.read.tables import ConfigRow
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.view import PortSet


def settings_of(device: Device) -> tuple[SharedSetting, ...]:
    """Return the settings of a device that all switches of its role should share, if all its ports agree on them."""
    by_subject = grouped(((setting.kind, setting.subject), setting) for setting in _all(device)).values()
    return tuple(same[0] for same in by_subject if len({setting.value for setting in same}) == 1)


def _all(device: Device) -> Iterator[SharedSetting]:
    yield from _maps(device)
    yield from _policies(device)
    yield from _pools(device)
    yield from _queue_buffers(device)
    for ports in device.view.lossless_sets:
        yield from _schedulers(ports)
        yield from _curves(ports)
        yield from _shares(ports)
        yield from _watchdogs(ports)


def _maps(device: Device) -> Iterator[SharedSetting]:
    for table in PORT_MAPS.values():
        for name, row in device.tables.table(table).items():
            value = tuple(sorted(row.fields.items()))
            yield SharedSetting("map", f"{table}|{name}", value, "", device.tables.origin(table, row))


def _policies(device: Device) -> Iterator[SharedSetting]:
    switch = device.switch
    model, version = switch.qos.buffer_model, switch.qos.database_version
    metadata = device.tables.row("DEVICE_METADATA", "localhost")
    yield SharedSetting(
        "policy", "buffer model", model, model, device.tables.origin("DEVICE_METADATA", metadata)
    )
    for subject, text in (
        ("adaptive routing", adaptive_routing(device)),
        ("packet trimming", trimming(device)),
    ):
        yield SharedSetting("policy", subject, text, text, _place_of(device, subject, metadata))
    if version:
        origin = device.tables.origin("VERSIONS", device.tables.row("VERSIONS", "DATABASE"), "VERSION")
        yield SharedSetting("release", "database version", version, version, origin)


def _place_of(device: Device, subject: str, metadata: ConfigRow | None) -> Origin:
    """Return the origin of the table of adaptive routing or trimming; without it, of ``DEVICE_METADATA|localhost``."""
    table = {"adaptive routing": PROFILE, "packet trimming": TABLE}[subject]
    if table in device.tables.data:
        return device.tables.origin(table)
    return device.tables.origin("DEVICE_METADATA", metadata)


def _pools(device: Device) -> Iterator[SharedSetting]:
    for pool in device.switch.qos.pools:
        for what, field, amount in (
            ("the size", "size", pool.size_bytes),
            ("the shared headroom", "xoff", pool.shared_headroom_bytes),
        ):
            if amount:
                origin = pool.origin.at(field)
                yield SharedSetting("pool", f"{what} of {pool.name}", amount, format_bytes(amount), origin)


def _queue_buffers(device: Device) -> Iterator[SharedSetting]:
    """Yield whether BUFFER_QUEUE has rows, unless BUF022 reports by the file alone that they are missing.

    Fragments, VOQ switches and those without PFC are left out.
    """
    tables = device.tables
    if not device.view.lossless_sets or device.switch.is_fragment or device.switch.qos.voq:
        return
    if tables.table("BUFFER_QUEUE"):
        yield SharedSetting("queues", "queues", True, "", tables.origin("BUFFER_QUEUE"))
    elif not has_egress_profiles(device):
        yield SharedSetting("queues", "queues", False, "", tables.origin("PORT_QOS_MAP"))


def _schedulers(ports: PortSet) -> Iterator[SharedSetting]:
    for queue in ports.qos.queues:
        if queue is not None and queue.scheduler is not None:
            scheduler = queue.scheduler
            weight = "" if scheduler.weight is None else f" of weight {scheduler.weight}"
            value = (scheduler.kind, scheduler.weight)
            subject = f"the scheduler of queue {queue.number}"
            yield SharedSetting("scheduler", subject, value, f"{scheduler.kind}{weight}", scheduler.origin)


def _curves(ports: PortSet) -> Iterator[SharedSetting]:
    for priority in ports.qos.pfc.priorities:
        queue = ports.qos.queues[priority]
        if queue is None or queue.wred is None or not ports.speed_bps:
            continue
        wred = queue.wred
        value = wred.green if wred.marks else None
        low, high = wred.green.min_bytes or 0, wred.green.max_bytes or 0
        text = f"{format_bytes(low)} to {format_bytes(high)}, {wred.green.probability_percent}%"
        subject = f"ECN at {format_rate(ports.speed_bps)}"
        yield SharedSetting("ecn", subject, value, text if value else "no marking", wred.origin)


def _shares(ports: PortSet) -> Iterator[SharedSetting]:
    for priority in ports.qos.pfc.priorities:
        group = ports.qos.groups[ports.qos.pausing_group(priority)]
        if group is None or group.buffer is None or group.buffer.dynamic_th is None or not ports.speed_bps:
            continue
        exponent = group.buffer.dynamic_th
        subject = f"the alpha of lossless groups at {format_rate(ports.speed_bps)}"
        text = f"2^{exponent} (dynamic_th {exponent})"
        yield SharedSetting("alpha", subject, exponent, text, group.buffer.origin)


def _watchdogs(ports: PortSet) -> Iterator[SharedSetting]:
    watchdog = ports.qos.watchdog
    if watchdog is not None:
        value = (ports.switch.qos.poll.poll_ms, *watchdog.settings)
        text = f"detection {watchdog.detection_ms} ms, restoration {watchdog.restoration_ms} ms, {watchdog.action}"
        yield SharedSetting("policy", "watchdog", value, text, watchdog.origin)
