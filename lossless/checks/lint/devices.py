"""Checks deployed devices: each by itself, then all together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.lint.run import Verdicts, run
from lossless.formats.inputs.progress import reported
from lossless.ground.basics.findings import UncheckedRule
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.checks.lint.settings import Settings
    from lossless.checks.rules.registry import Codes, LoadedRule
    from lossless.checks.rules.subjects import Device
    from lossless.formats.inputs.devices import DeviceReader
    from lossless.ground.basics.errors import Problem
    from lossless.ground.documents.document import Document
    from lossless.ground.documents.layout import PartLayout
    from lossless.model.fabric.deployed_devices import DeviceSummary
    from lossless.model.fabric.model import Fabric, Port, Switch


class DeviceResult(NamedTuple):
    """What rules say of one device; ``summary`` is None where nothing is to be compared.

    Origins name the document of the device; ``layout`` says where its file has them, None where that is the same.
    """

    file: str
    verdicts: Verdicts
    errors: tuple[Problem, ...]
    summary: DeviceSummary | None
    name: str = ""
    layout: PartLayout | None = None


def check_devices(documents: Sequence[Document], settings: Settings) -> list[DeviceResult]:
    """Check devices, each by itself."""
    if not documents:
        return []
    from lossless.formats.inputs.devices import DeviceReader

    reader = DeviceReader(settings.profile_dirs, settings.rdma_dscps)
    return [check_device(document, settings, reader) for document in reported(documents, settings.progress)]


def check_device(document: Document, settings: Settings, reader: DeviceReader) -> DeviceResult:
    """Check one device by itself."""
    from lossless.checks.rules.registry import rules_for
    from lossless.checks.rules.subjects import Device
    from lossless.model.fabric.view import View

    tables, problems, fabric = reader.read(document)
    if fabric is None:
        return DeviceResult(document.file, Verdicts(), problems, None)
    intended = settings.intended.get(fabric.switches[0].name)
    if intended is not None:
        fabric = _as_intended(fabric, intended)
    view = View(fabric)
    device = Device(tables, view, intended)
    chosen = settings.chosen(document.file)
    verdicts = (
        run(view, rules_for("fabric", chosen=chosen), "config_db"),
        run(device, _rules_for(device, chosen), "config_db"),
        Verdicts(not_judged=tuple(UncheckedRule("", note) for note in fabric.unread)),
        Verdicts(not_judged=tuple(_not_compared(device, settings))),
    )
    summary = _summary(device) if settings.compared else None
    layout = document.part.layout if document.part else None
    return DeviceResult(document.file, _joined(verdicts), problems, summary, document.name, layout)


def _not_compared(device: Device, settings: Settings) -> Iterator[UncheckedRule]:
    """Yield why a device beside an intent is compared with no switch of it: its file does not say which it is."""
    if settings.intended and device.intended is None and "hostname" not in device.metadata:
        why = "its file names no hostname (DEVICE_METADATA), so it is compared with no switch of the intent"
        yield UncheckedRule("CFG004", f"{device.tables.shown}: {why}")


def _as_intended(fabric: Fabric, intended: Switch) -> Fabric:
    """Return the fabric of a device with the classes and the lengths of cables that its intent declares."""
    switches = tuple(
        switch._replace(classes=intended.classes, ports=_with_real_lengths(switch.ports, intended.ports))
        for switch in fabric.switches
    )
    return fabric._replace(classes=intended.classes, switches=switches)


def _with_real_lengths(ports: tuple[Port, ...], intended: Sequence[Port]) -> tuple[Port, ...]:
    """Return the ports of a device that are told more than the length of their cable, with the longest of their kind.

    A device is told the length of a headroom row, which covers the cable. Ports that are told the same stay alike.
    """
    real = {port.name: port.cable.real_m for port in intended}
    longest: dict[int | None, int] = {}
    unknown: set[int | None] = {None}
    for port in ports:
        told_m, length_m = port.cable.configured_m, real.get(port.name)
        if isinstance(length_m, int) and told_m is not None and length_m <= told_m:
            longest[told_m] = max(length_m, longest.get(told_m, 0))
        else:
            unknown.add(told_m)
    return tuple(
        port
        if (told_m := port.cable.configured_m) in unknown
        else port._replace(cable=port.cable._replace(real_m=longest[told_m]))
        for port in ports
    )


def _rules_for(device: Device, chosen: Codes | None) -> tuple[LoadedRule, ...]:
    """Return the rules that can have something to say of a device."""
    from lossless.checks.rules.registry import codes_for, rules_for

    schema = codes_for("device", needs="refusals")
    has = {*device.tables.data}
    checks_schema = chosen is None or not chosen.isdisjoint(schema)
    if checks_schema and (device.conformity.problems or device.conformity.unknown_tables):
        has.add("refusals")
    if device.tables.remarks or device.tables.numbers:
        has.add("normalised forms")
    if device.intended is not None:
        has.add("intent")
    return rules_for("device", chosen=chosen, has=has)


def compare(summaries: Sequence[DeviceSummary], settings: Settings) -> Verdicts:
    """Check all devices together; one alone has nothing to be compared with.

    Findings of a rule that was chosen for some of the files only are left out in the others.
    """
    if len(summaries) < 2:
        return Verdicts()
    from lossless.checks.rules.registry import codes_for, rules_for
    from lossless.model.fabric.deployed_devices import DeployedDevices

    choices = {settings.chosen(summary.file) for summary in summaries}
    union = frozenset().union(*(codes_for("devices") if chosen is None else chosen for chosen in choices))
    verdicts = run(DeployedDevices(summaries), rules_for("devices", chosen=union), "config_db")
    return verdicts._replace(findings=tuple(filter(settings.is_chosen, verdicts.findings)))


def _summary(device: Device) -> DeviceSummary:
    from lossless.checks.rules.device_summary import summary_of

    return summary_of(device)


def _joined(verdicts: Sequence[Verdicts]) -> Verdicts:
    return Verdicts(
        tuple(finding for v in verdicts for finding in v.findings),
        tuple(gap for v in verdicts for gap in v.not_judged),
    )
