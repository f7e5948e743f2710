"""Rules about running state, run on each device by itself, then on all together.

A switch with several ASICs is seen by rules of one device as each ASIC by itself, with its own configuration.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lossless.checks.lint.run import CheckedReport, run, together
from lossless.checks.rules.counting import unknown_value
from lossless.checks.rules.host_counters.traffic_tests import verdicts
from lossless.checks.rules.registry import rules_for
from lossless.checks.rules.running_subjects import RunningDevice, RunningFabric
from lossless.checks.rules.storms.culprit import culprits
from lossless.checks.rules.subjects import Device
from lossless.ground.basics.findings import UncheckedRule
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.state import DeviceState, by_name, names_by_alias, namespaces_of, state_of_each
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lossless.checks.rules.registry import Codes
    from lossless.formats.inputs.captures import CapturedDevice
    from lossless.formats.inputs.devices import DeviceInput
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.model import Link, Switch


def asics_of(
    state: DeviceState,
    before: DeviceState | None,
    configured: Mapping[str | None, Device],
    intended: Switch | None,
) -> tuple[RunningDevice, ...]:
    """Return the host and each ASIC of a switch as subjects of rules, each with its part of state and intent.

    ``before`` is the switch's state at an earlier time; ``configured`` are its configurations by namespace.
    """
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


if TYPE_CHECKING:
    ReadDevice = Callable[[Document], DeviceInput]


class Intended(NamedTuple):
    """The intended switches and hosts by name, and the links between them."""

    switches: Mapping[str, Switch]
    hosts: Mapping[str, HostQos]
    links: tuple[Link, ...] = ()


def verified(
    devices: Sequence[RunningDevice],
    intended: Intended,
    chosen: Codes | None = None,
    pass_marks: Mapping[str, Mapping[str, float]] | None = None,
) -> CheckedReport:
    """Return the report of rules on running devices: on each device or ASIC by itself, and on all together.

    It has the answer to who caused pauses and losses too, whichever rules are chosen. ``pass_marks`` are those of
    traffic tests by file, where a configuration sets them.
    """
    rules = rules_for("running device", chosen=chosen)
    alone = [run(one, rules, "intent") for device in devices for one in device.asics or (device,)]
    fabric = RunningFabric(
        tuple(devices), intended.links, tuple(intended.switches.values()), pass_marks or {}, intended.hosts
    )
    shared = run(fabric, rules_for("running fabric", chosen=chosen), "intent")
    report = together([*alone, shared, CheckedReport(not_checked=tuple(_notes(devices)))])
    return report._replace(tests=verdicts(fabric), culprits=culprits(fabric))


def _notes(devices: Sequence[RunningDevice]) -> Iterator[UncheckedRule]:
    """Yield a note for each kind of impossible counter value, which rules treat as unknown, and of outdated values."""
    for device in devices:
        for capture in device.state.captures:
            yield from (UncheckedRule("", f"{capture.file}: {why}") for why in capture.outdated)
        reasons = (
            unknown_value(reading).reason
            for capture in device.state.captures
            for reading in capture.readings
            if reading.is_no_count
        )
        yield from (
            UncheckedRule("", f"{device.name}: {why}", times) for why, times in Counter(reasons).items()
        )


def running_devices(
    captured: Sequence[CapturedDevice],
    earlier: Sequence[CapturedDevice],
    intended: Intended,
    read: ReadDevice,
) -> tuple[RunningDevice, ...]:
    """Return captured devices as subjects of rules, with their configuration, intent and earlier state.

    ``earlier`` are captures of the same devices at an earlier time; ``read`` reads a configuration.
    """
    before = {device.name: DeviceState(device.name, device.captures) for device in earlier}
    return tuple(_running(device, before.get(device.name), intended, read) for device in captured)


def _running(
    device: CapturedDevice, before: DeviceState | None, intended: Intended, read: ReadDevice
) -> RunningDevice:
    state, switch = DeviceState(device.name, device.captures), intended.switches.get(device.name)
    names = names_by_alias(state, switch)
    state, before = by_name(state, names), None if before is None else by_name(before, names)
    configured = {
        namespace: made
        for namespace, document in device.configurations.items()
        if (made := _configured(document, switch, read)) is not None
    }
    asics = asics_of(state, before, configured, switch) if len(namespaces_of(state)) > 1 else ()
    # Of a switch with one ASIC, the configuration of the ASIC has the ports.
    own = next((made for namespace, made in configured.items() if namespace), configured.get(None))
    return RunningDevice(state, own, switch, intended.hosts.get(device.name), before, asics)


def _configured(document: Document, intended: Switch | None, read: ReadDevice) -> Device | None:
    """Return the device that a configuration makes; None where its hardware profile is unreadable, or it has no port.

    A few rows of CONFIG_DB, as that of a counter group or the host of several ASICs, do not describe lossless classes.
    """
    tables, _, fabric = read(document)
    if fabric is None or not any(switch.ports for switch in fabric.switches):
        return None
    return Device(tables, View(fabric), intended)
