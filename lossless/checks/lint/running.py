"""Runs the rules about running state: each device by itself, then all together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.lint.run import run, together
from lossless.checks.rules.registry import rules_for
from lossless.checks.rules.running_subjects import RunningDevice, RunningFabric
from lossless.checks.rules.subjects import Device
from lossless.formats.inputs.devices import DeviceReader
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.state.device_state import DeviceState
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lossless.checks.lint.run import Verdicts
    from lossless.checks.rules.registry import Codes
    from lossless.formats.inputs.captures import CapturedDevice
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.model import Link, Switch


class Intended(NamedTuple):
    """What an intent wants of devices, by their names, and how it links them."""

    switches: Mapping[str, Switch]
    hosts: Mapping[str, HostQos]
    links: tuple[Link, ...] = ()


def verified(
    devices: Sequence[RunningDevice], chosen: Codes | None = None, links: tuple[Link, ...] = ()
) -> Verdicts:
    """Return what rules say of devices that run."""
    alone = [run(device, rules_for("running device", chosen=chosen), "intent") for device in devices]
    fabric = RunningFabric(tuple(devices), links)
    return together([*alone, run(fabric, rules_for("running fabric", chosen=chosen), "intent")])


def running_devices(
    captured: Sequence[CapturedDevice],
    earlier: Sequence[CapturedDevice],
    intended: Intended,
    reader: DeviceReader,
) -> tuple[RunningDevice, ...]:
    """Return devices as rules see them; ``earlier`` are captures of the same devices at an earlier time."""
    before = {device.name: DeviceState(device.name, device.captures) for device in earlier}
    return tuple(
        RunningDevice(
            DeviceState(device.name, device.captures),
            _configured(device, intended, reader),
            intended.switches.get(device.name),
            intended.hosts.get(device.name),
            before.get(device.name),
        )
        for device in captured
    )


def _configured(device: CapturedDevice, intended: Intended, reader: DeviceReader) -> Device | None:
    """Return the configuration of a device, None where no file holds it, or its hardware profile is unreadable."""
    if device.configuration is None:
        return None
    tables, _, fabric = reader.read(device.configuration)
    return Device(tables, View(fabric), intended.switches.get(device.name)) if fabric is not None else None
