"""Checks of deployed devices: each by itself, then all together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.checks.lint.run import CheckedReport, gathered, run
from lossless.formats.inputs.intents import reported
from lossless.ground.basics.findings import UncheckedRule
from lossless.ground.basics.records import NamedTuple, Unknown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from lossless.checks.lint.run import Settings
    from lossless.checks.rules.registry import Codes, LoadedRule
    from lossless.checks.rules.subjects import Device
    from lossless.formats.inputs.devices import DeviceReader
    from lossless.formats.sonic.read.tables import Tables
    from lossless.ground.basics.findings import Finding
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.deployed_devices import DeviceSummary
    from lossless.model.fabric.model import Fabric, Port, Switch
    from lossless.model.fabric.qos import PortQos


class DeviceResult(NamedTuple):
    """The report of rules on devices, and the summaries used to compare these with others.

    ``file`` is that of a single device. Origins name its document.
    """

    report: CheckedReport
    summaries: tuple[DeviceSummary, ...] = ()
    file: str = ""


def check_devices(documents: Sequence[Document], settings: Settings) -> list[DeviceResult]:
    """Check SONiC devices, each by itself, and return the result of each."""
    if not documents:
        return []
    from lossless.formats.inputs.devices import DeviceReader

    reader = DeviceReader(settings.profile_dirs)
    return [check_device(document, settings, reader) for document in reported(documents, settings.progress)]


def check_device(document: Document, settings: Settings, reader: DeviceReader) -> DeviceResult:
    """Return the report of one SONiC device by itself, and its summary if it can be read and devices are compared."""
    from lossless.checks.rules.registry import rules_for
    from lossless.checks.rules.subjects import Device
    from lossless.formats.inputs.devices import name_in_intent
    from lossless.model.fabric.view import View

    tables, problems, fabric = reader.read(document, settings.dscps_of(document.file))
    if fabric is None:
        return DeviceResult(CheckedReport(errors=problems), file=document.file)
    intended = settings.intended_switch(name_in_intent(tables, fabric.switches[0].name))
    longest_m: dict[int, int] = {}
    if intended is not None:
        fabric = _as_declared(intended, fabric)
        longest_m = _longest_cables_m(fabric, intended)
    switch = fabric.switches[0]
    stated = settings.without_rdma(document.file, switch)
    if stated:
        from lossless.formats.inputs.fabrics import without_class

        fabric = fabric._replace(switches=(without_class(switch, stated),))
    view = View(_with_cables(fabric, longest_m) if longest_m else fabric)
    device = Device(tables, view, intended, stated)
    chosen = settings.chosen(document.file)
    by_fabric = run(view, rules_for("fabric", chosen=chosen), "config_db")
    by_buffers = run(device.buffers, rules_for("buffers", chosen=chosen), "config_db")
    unread = (UncheckedRule("", note) for note in fabric.unread)
    reports = (
        by_fabric,
        by_buffers,
        CheckedReport(tuple(_explained(fabric, by_buffers, longest_m, chosen)) if longest_m else ()),
        run(device, _rules_for(device, chosen), "config_db"),
        CheckedReport(
            errors=problems,
            not_checked=(*unread, *_not_compared(device, settings)),
            ports_without_rdma=ports_outside(switch, stated, tables),
            layouts={document.name: document.part.layout} if document.part else {},
        ),
    )
    summaries = (_summary(device),) if settings.compared else ()
    return DeviceResult(gathered(reports), summaries, document.file)


def ports_outside(switch: Switch, stated: Collection[str], tables: Tables | None = None) -> int:
    """Return how many ports that are up are outside of the RDMA domain; ``stated`` are those declared to be.

    A port is outside where its map, its PFC and its lossless group are all absent; one that has a part is inside, and
    missing parts are faults. A port with a watchdog row in ``tables`` is inside too: SONiC starts the watchdog on ports
    with PFC alone (sonic-utilities pfcwd/main.py @a7c6cb4). In-band and recirculation ports are outside even
    with a map. Where no port is inside, there is no RDMA domain, and only declared ports count.
    """
    distinct = {id(port.qos): port.qos for port in switch.ports}
    parts = {key: None if qos is None else _part(switch, qos) for key, qos in distinct.items()}
    watched = tables.table("PFC_WD") if tables else ()
    up = [port for port in switch.ports if port.admin_up is True]
    outside = [
        port
        for port in up
        if port.name in stated
        or (parts[id(port.qos)] is None and port.name not in watched)
        or (parts[id(port.qos)] == "map" and tables is not None and _is_inner(tables, port.name))
    ]
    return len(outside) if len(outside) < len(up) else sum(port.name in stated for port in up)


def _part(switch: Switch, qos: PortQos) -> Literal["map", "pause", None]:
    """Return ``pause`` for a port with PFC or a lossless group, ``map`` with an own DSCP map or 802.1p, else None."""
    if qos.pfc.priorities or any(group is not None and group.lossless for group in qos.groups):
        return "pause"
    own_map = qos.dscp_to_tc is not None and qos.dscp_to_tc is not switch.qos.global_dscp_map
    return "map" if own_map or qos.trust_dot1p else None


def _is_inner(tables: Tables, port: str) -> bool:
    row = tables.table("PORT").get(port)
    return row is not None and row.fields.get("role") in ("Inb", "Rec")


def _not_compared(device: Device, settings: Settings) -> Iterator[UncheckedRule]:
    """Yield why a device beside an intent is compared with no switch of it: its hostname or folder matches none."""
    if settings.intended and device.intended is None:
        why = (
            "the intent has no switch of its hostname"
            if "hostname" in device.metadata
            else "its file names no hostname (DEVICE_METADATA) and its folder no switch"
        )
        yield UncheckedRule(
            "CFG004", f"{device.tables.shown}: {why}, so it is compared with no switch of the intent"
        )


def _as_declared(intended: Switch, fabric: Fabric) -> Fabric:
    """Return the fabric of a device with the classes and the headroom ratio that its intent declares.

    If the file does not name the HWSKU of the device, as a part of a configuration, that of the intent is taken.
    """
    ratio = intended.qos.headroom_oversubscription
    switches = tuple(
        _on_declared(intended, switch)._replace(
            classes=intended.classes, qos=switch.qos._replace(headroom_oversubscription=ratio)
        )
        for switch in fabric.switches
    )
    return fabric._replace(classes=intended.classes, switches=switches)


def _on_declared(intended: Switch, switch: Switch) -> Switch:
    if not isinstance(switch.hwsku_name, Unknown):
        return switch
    return switch._replace(hwsku_name=intended.hwsku_name, profile=intended.profile, hwsku=intended.hwsku)


def _longest_cables_m(fabric: Fabric, intended: Switch) -> dict[int, int]:
    """Return the longest cable in the intent for each configured cable length, in meters.

    A device is configured with the length of a headroom row, which covers the cable. A configured length is left out if
    it equals the longest cable, or if a port with it has an unknown or longer cable.
    """
    real = {port.name: port.cable.real_m for port in intended.ports}
    longest: dict[int, int] = {}
    unknown: set[int | None] = {None}
    for port in (port for switch in fabric.switches for port in switch.ports):
        told_m, length_m = port.cable.configured_m, real.get(port.name)
        if isinstance(length_m, int) and told_m is not None and length_m <= told_m:
            longest[told_m] = max(length_m, longest.get(told_m, 0))
        else:
            unknown.add(told_m)
    return {told_m: length_m for told_m, length_m in longest.items() if told_m not in {length_m, *unknown}}


def _with_cables(fabric: Fabric, longest_m: Mapping[int, int]) -> Fabric:
    """Return the fabric with cables of the configured lengths in ``longest_m`` as long as the longest in the intent.

    So ports with the same configured length stay equal.
    """

    def cabled(port: Port) -> Port:
        real_m = longest_m.get(port.cable.configured_m or 0)
        return port if real_m is None else port._replace(cable=port.cable._replace(real_m=real_m))

    return fabric._replace(
        switches=tuple(switch._replace(ports=tuple(map(cabled, switch.ports))) for switch in fabric.switches)
    )


_CHECKED_BY_LENGTH = frozenset({"BUF001", "BUF002"})
"""Rules that a cable shorter than the configured length can satisfy."""


def _explained(
    as_told: Fabric, by_buffers: CheckedReport, longest_m: Mapping[int, int], chosen: Codes | None
) -> Iterator[Finding]:
    """Yield as information the findings at the configured cable length that the real, shorter cable explains."""
    from lossless.checks.rules.registry import rules_for
    from lossless.checks.rules.subjects import computing_buffers
    from lossless.model.fabric.view import View

    codes = _CHECKED_BY_LENGTH if chosen is None else _CHECKED_BY_LENGTH & chosen
    places = {finding.origin for finding in by_buffers.findings if finding.code in _CHECKED_BY_LENGTH}
    view = computing_buffers(View(as_told))
    for finding in run(view, rules_for("buffers", chosen=codes), "config_db").findings:
        told_m = finding.data["cable_m"]
        real_m = longest_m.get(told_m) if isinstance(told_m, int) else None
        if real_m is not None and finding.origin not in places:
            places.add(finding.origin)
            note = f"in the intent no cable there is longer than {real_m} m, and the headroom covers that"
            yield finding._replace(severity="info", note=note, help="", fixable="no", fix=())


def _rules_for(device: Device, chosen: Codes | None) -> tuple[LoadedRule, ...]:
    """Return the rules that can apply to a device."""
    from lossless.checks.rules.registry import codes_for, rules_for

    schema = codes_for("device", needs="refusals")
    has = {*device.tables.data}
    checks_schema = chosen is None or not chosen.isdisjoint(schema)
    if checks_schema and (device.conformity.problems or device.conformity.unknown_tables):
        has.add("refusals")
    if device.tables.remarks or device.tables.numbers:
        has.add("normalized forms")
    if device.intended is not None:
        has.add("intent")
    return rules_for("device", chosen=chosen, has=has)


def compare(summaries: Sequence[DeviceSummary], settings: Settings) -> CheckedReport:
    """Compare all devices with each other by their summaries; a single one gives an empty report.

    Findings of a rule that was chosen for some of the files only are left out in the others.
    """
    if len(summaries) < 2:
        return CheckedReport()
    from lossless.checks.rules.registry import codes_for, rules_for
    from lossless.model.fabric.deployed_devices import DeployedDevices

    choices = {settings.chosen(summary.file) for summary in summaries}
    union = frozenset().union(*(codes_for("devices") if chosen is None else chosen for chosen in choices))
    of_fabrics = [summary._replace(fabric=settings.fabric_of(summary.file)) for summary in summaries]
    report = run(DeployedDevices(of_fabrics), rules_for("devices", chosen=union), "config_db")
    return report._replace(findings=tuple(filter(settings.is_chosen, report.findings)))


def _summary(device: Device) -> DeviceSummary:
    from lossless.checks.rules.device_summary import summary_of

    return summary_of(device)
