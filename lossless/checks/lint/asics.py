"""A switch with several ASICs as rules of one device see it: each ASIC by itself, with its own configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.running_subjects import RunningDevice
from lossless.checks.rules.subjects import Device
from lossless.model.fabric.state import state_of_each

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.model.fabric.model import Switch
    from lossless.model.fabric.state import DeviceState


def asics_of(
    state: DeviceState,
    before: DeviceState | None,
    configured: Mapping[str | None, Device],
    intended: Switch | None,
) -> tuple[RunningDevice, ...]:
    """Return the host and each ASIC of a switch, each with its part of the state, of its earlier state and intent."""
    ports = {name: [port.name for port in device.switch.ports] for name, device in configured.items()}
    earlier = {} if before is None else state_of_each(before, ports)
    return tuple(
        _asic(own, configured.get(name), intended, earlier.get(name))
        for name, own in state_of_each(state, ports).items()
    )


def _asic(
    state: DeviceState, configured: Device | None, intended: Switch | None, before: DeviceState | None
) -> RunningDevice:
    part = None if intended is None else _part(intended, state, configured)
    device = None if configured is None else Device(configured.tables, configured.view, part)
    return RunningDevice(state, device, part, None, before)


def _part(intended: Switch, state: DeviceState, configured: Device | None) -> Switch:
    """Return the intended switch with only the ports of one ASIC, as in its configuration, or else in its captures."""
    if configured is not None:
        names = {port.name for port in configured.switch.ports}
    else:
        names = {
            port
            for capture in state.captures
            for reading in capture.readings
            for kind, port in reading.identity
            if kind == "port"
        }
    return intended._replace(ports=tuple(port for port in intended.ports if port.name in names))
