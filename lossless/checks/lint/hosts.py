"""Checks of hosts by their facts, and of switches of systems other than SONiC by their configurations.

Hosts are checked against their intent, against the switches they are attached to, and by themselves. Configurations
of such switches are read into the same model and checked by the rules of fabrics that apply to them; findings are
written in the commands of that system.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.lint.devices import DeviceResult
from lossless.checks.lint.run import CheckedReport, gathered, run
from lossless.checks.rules.classification.host_markings import shows_rdma
from lossless.checks.rules.registry import rules_for
from lossless.checks.rules.subjects import IntendedHost, SwitchConfiguration
from lossless.formats.inputs.switches import (
    fabric_of_switches,
    hosts_of,
    ports_on_fabric,
    read_switch,
    with_known_names,
)
from lossless.ground.basics.findings import Finding, UncheckedRule, grouped
from lossless.ground.basics.records import UNKNOWN
from lossless.model.fabric.deployed_devices import DeployedDevices, DeviceSummary, LinkEnd
from lossless.model.fabric.hosts import NIC_DSCP_PRIORITIES
from lossless.model.fabric.model import ClassSet, Fabric, Host, TrafficClass
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from lossless.checks.lint.run import Settings
    from lossless.checks.rules.registry import LoadedRule
    from lossless.formats.inputs.collect import Inputs
    from lossless.formats.inputs.switches import SwitchInput
    from lossless.ground.basics.findings import Origin
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.configured_switch import ReadSwitch, Words
    from lossless.model.fabric.hosts import Attachment, HostInterfaces, HostQos


_OTHER_PORT = "a port of a host that is not on the fabric of its intent"


def check_hosts(
    inputs: Inputs, fabrics: Sequence[Fabric], switches: Sequence[DeviceSummary], settings: Settings
) -> DeviceResult:
    """Return the results of the hosts whose facts were read; ``switches`` are the summaries of the switches read."""
    read = hosts_of(inputs.facts, settings.profile_dirs)
    declaring = _declaring(fabrics)
    neighbors = (end.neighbor[0] for switch in switches for end in switch.ends if end.neighbor)
    hosts, others = ports_on_fabric(with_known_names({*declaring, *neighbors}, read.hosts), declaring)
    summaries = tuple(_summaries(hosts, declaring, switches))
    views = _views(hosts, declaring, fabrics, DeployedDevices((*switches, *summaries)))
    notes = (UncheckedRule("", why) for why in read.notes)
    elsewhere = (UncheckedRule("", _OTHER_PORT, others),) if others else ()
    report = gathered(
        [
            CheckedReport(errors=read.problems, not_checked=(*elsewhere, *notes)),
            *(run(view, rules_for("hosts"), "intent") for view in views),
            *(run(pair, rules_for("host"), "intent") for pair in _intended(hosts, declaring)),
            run(DeployedDevices((*switches, *summaries)), rules_for("attached hosts"), "intent"),
        ]
    )
    chosen = tuple(filter(settings.is_chosen, report.findings))
    return DeviceResult(report._replace(findings=chosen), summaries)


def hosts_against(
    hosts: Sequence[DeviceSummary], switches: Sequence[DeviceSummary], settings: Settings
) -> list[CheckedReport]:
    """Return the report of links between hosts and switches of systems other than SONiC.

    Without such hosts or without such switches it is empty.

    Only PFC is compared (PFC003): the other rules on links name rows of CONFIG_DB.
    """
    if not hosts or not switches:
        return []
    texts = {switch.file for switch in switches}
    rules = rules_for("devices", chosen=frozenset({"PFC003"}))
    report = run(DeployedDevices((*switches, *hosts)), rules, "intent")
    findings = (
        finding._replace(object_form="commands") if finding.origin.file in texts else finding
        for finding in report.findings
    )
    return [report._replace(findings=tuple(filter(settings.is_chosen, findings)))]


def ports_at_hosts_without_rdma(devices: DeployedDevices) -> int:
    """Return how many switch ports that are up, with a lossless class, lead to a host with PFC off and without RDMA.

    Only ports that pause a priority count.
    """
    pairs = ((pair.near, pair.far) for pair in devices.pairs)
    both = (ends for near, far in pairs for ends in ((near, far), (far, near)))
    return len(
        {port.name for host, port in both if _is_without_rdma(host) and port.up is True and port.paused}
    )


def _is_without_rdma(end: LinkEnd) -> bool:
    return end.host is not None and end.host.pfc_priorities == () and not shows_rdma(end.host)


def without_repeated(report: CheckedReport, others: Iterable[CheckedReport]) -> CheckedReport:
    """Return a report of hosts without findings that another report has, as of the intent: same code and message."""
    repeated = {(finding.code, finding.message) for each in others for finding in each.findings}
    new = (finding for finding in report.findings if (finding.code, finding.message) not in repeated)
    return report._replace(findings=tuple(new))


def _declaring(fabrics: Iterable[Fabric]) -> dict[str, tuple[Fabric, HostQos]]:
    """Return the fabric and the settings of every host that exactly one intent declares; duplicates are ambiguous."""
    by_name: dict[str, tuple[Fabric, HostQos] | None] = {}
    for fabric in fabrics:
        for host in fabric.hosts:
            by_name[host.name] = None if host.name in by_name else (fabric, host.qos)
    return {name: declared for name, declared in by_name.items() if declared is not None}


def _intended(
    hosts: Iterable[HostInterfaces], declaring: Mapping[str, tuple[Fabric, HostQos]]
) -> Iterator[IntendedHost]:
    pairs = ((host, declaring[host.host][1]) for host in hosts if host.host in declaring)
    for identical in grouped(((id(host.qos), id(want)), (host, want)) for host, want in pairs).values():
        host, want = identical[0]
        yield IntendedHost(host.qos, want, tuple(host.name for host, _ in identical))


def _views(
    hosts: Iterable[HostInterfaces],
    declaring: Mapping[str, tuple[Fabric, HostQos]],
    fabrics: Sequence[Fabric],
    devices: DeployedDevices,
) -> Iterator[View]:
    """Yield a view of each fabric with the hosts that were read.

    The fabric is that of an intent, else one with the lossless classes of the hosts' switch ports or of the hosts.
    """
    facing = _facing(devices)
    by_fabric: dict[int, tuple[Fabric, list[HostInterfaces]]] = {}
    by_classes: dict[tuple[object, ...], tuple[Fabric, list[HostInterfaces]]] = {}
    for host in hosts:
        fabric = declaring[host.host][0] if host.host in declaring else _only(fabrics)
        if fabric is not None:
            by_fabric.setdefault(id(fabric), (fabric, []))[1].append(host)
        else:
            ends = facing.get(host.host, ())
            classes = _classes(ends) if ends else _own_classes(host.qos)
            key = tuple((cls.dscps, cls.priority) for cls in classes.classes)
            by_classes.setdefault(key, (_bare(classes), []))[1].append(host)
    for fabric, of_it in (*by_fabric.values(), *by_classes.values()):
        read = tuple(Host(host.name, host.qos) for host in of_it)
        yield View(fabric._replace(hosts=read, provenance="hosts"))


def _only(fabrics: Sequence[Fabric]) -> Fabric | None:
    """Return the fabric of hosts that no intent names: that of the only intent; None with several, or for a cloud."""
    return fabrics[0] if len(fabrics) == 1 and fabrics[0].managed is None else None


def _bare(classes: ClassSet) -> Fabric:
    return Fabric("", "hosts", classes, None, (), (), (), (), (), ())


def _facing(devices: DeployedDevices) -> dict[str, list[LinkEnd]]:
    """Return the link ends that face each device, by the name of that device."""
    ends = ((pair.near, pair.far) for pair in devices.pairs)
    both = (pair for near, far in ends for pair in ((near, far), (far, near)))
    return grouped((near.switch, far) for near, far in both)


def _classes(ends: Iterable[LinkEnd]) -> ClassSet:
    """Return the lossless classes of switch ports: one for each priority that they pause, with its DSCPs."""
    dscps: dict[int, set[int]] = {}
    origins: dict[int, Origin] = {}
    for end in ends:
        for dscp, priority in end.paused:
            dscps.setdefault(priority, set()).add(dscp)
            origins.setdefault(priority, end.pfc_origin)
    classes = (
        TrafficClass(
            f"priority {p}", tuple(sorted(of_it)), rest=False, priority=p, lossless=True, origin=origins[p]
        )
        for p, of_it in sorted(dscps.items())
    )
    return ClassSet("inferred", tuple(classes))


def _own_classes(host: HostQos) -> ClassSet:
    """Return the lossless classes of a host's own configuration: the priorities that it pauses, with the DSCPs of each.

    A host by itself is compared with these classes: its jobs can contradict its NICs.
    """
    if host.pfc_priorities is UNKNOWN:
        return ClassSet("inferred", ())
    dscps: Sequence[tuple[int, int]] = ()
    if host.trust == "dscp" and host.dscp_to_priority is not UNKNOWN:
        dscps = host.dscp_to_priority
    elif host.trust == "dscp" and "roceOptimized" in host.pfc_origin.path:
        # NVIDIA's operator has no setting for the map: it stays as the NIC has it.
        dscps = tuple(enumerate(NIC_DSCP_PRIORITIES))
    classes = (
        TrafficClass(
            f"priority {p}",
            tuple(dscp for dscp, priority in dscps if priority == p),
            rest=False,
            priority=p,
            lossless=True,
            origin=host.pfc_origin,
        )
        for p in host.pfc_priorities
    )
    return ClassSet("inferred", tuple(classes))


def _summaries(
    hosts: Iterable[HostInterfaces],
    declaring: Mapping[str, tuple[Fabric, HostQos]],
    switches: Sequence[DeviceSummary],
) -> Iterator[DeviceSummary]:
    for name, of_host in grouped((host.host, host) for host in hosts).items():
        attached = [(host.qos, attachment) for host in of_host for attachment in host.attachments]
        alias = _alias(name, attached, switches)
        ends = tuple(
            _end(name, qos, attachment, alias)._replace(host=qos, declared=name in declaring)
            for qos, attachment in attached
        )
        origin = of_host[0].qos.origin
        yield DeviceSummary(
            name, None, None, None, origin.file, ends, (), intended=name in declaring, origin=origin
        )


def _alias(
    host: str, attached: Sequence[tuple[HostQos, Attachment]], switches: Iterable[DeviceSummary]
) -> str | None:
    """Return the name by which switches know the only interface of a host, None with several interfaces or names."""
    named = {
        end.neighbor[1]
        for switch in switches
        for end in switch.ends
        if end.neighbor is not None and end.neighbor[0] == host
    }
    return named.pop() if len(attached) == 1 and len(named) == 1 else None


def _end(host: str, qos: HostQos, attached: Attachment, alias: str | None) -> LinkEnd:
    """Return an interface of a host as a link end, without its MTU, which may be smaller than the switch port's."""
    pfc = None if qos.pfc_priorities is UNKNOWN else qos.pfc_priorities
    mapped = qos.dscp_to_priority if qos.trust == "dscp" else UNKNOWN
    lossless = () if mapped is UNKNOWN else tuple(pair for pair in mapped if pair[1] in (pfc or ()))
    map_origin = qos.at("dscp_to_priority")
    return LinkEnd(
        switch=host,
        port=attached.interface,
        alias=alias,
        file=qos.pfc_origin.file,
        neighbor=attached.neighbor,
        up=True,
        speed_bps=qos.rate_bps if isinstance(qos.rate_bps, int) else None,
        mtu_bytes=UNKNOWN,
        pfc=pfc,
        pfc_path=qos.pfc_origin.path,
        lossless=bool(pfc),
        sent=lossless,
        paused=lossless,
        dscp_path=map_origin.path,
    )


def check_switches(documents: Sequence[Document], settings: Settings) -> DeviceResult:
    """Return the report and summaries of switches of systems other than SONiC, each checked by itself."""
    from lossless.checks.rules.device_summary import summary_of_switch

    systems = [(document, read_switch(document, settings.dscps_of(document.file))) for document in documents]
    return DeviceResult(
        gathered(report for each in systems for report in _check(*each, settings)),
        tuple(summary_of_switch(system.read.switch, document.name) for document, system in systems),
    )


def _check(document: Document, system: SwitchInput, settings: Settings) -> Iterator[CheckedReport]:
    from lossless.formats.inputs.fabrics import without_class

    read = system.read
    intended = settings.intended_switch(read.switch.name)
    switch = read.switch if intended is None else read.switch._replace(classes=intended.classes)
    stated = settings.without_rdma(document.file, switch)
    view = View(fabric_of_switches((without_class(switch, stated),), (document.name,)))
    chosen = settings.chosen(document.file)
    for report in (
        run(view, _applicable(rules_for("fabric", "buffers", chosen=chosen), system), "commands"),
        run(SwitchConfiguration(read, view, intended), rules_for("switch", chosen=chosen), "commands"),
    ):
        yield report._replace(findings=tuple(_said(finding, system.words) for finding in report.findings))
    unread = tuple(UncheckedRule("", f"{document.shown}: {note}") for note in read.unread)
    yield CheckedReport(not_checked=unread, ports_without_rdma=_outside(read, stated))


def _outside(read: ReadSwitch, stated: Collection[str]) -> int:
    """Return how many ports that are not down are outside of the RDMA domain; ``stated`` are those declared outside.

    If no port is inside, only declared ports count.
    """
    inside = read.inside - set(stated)
    up = [port for port in read.switch.ports if port.qos is not None and port.admin_up is not False]
    others = [port for port in up if port.name not in inside and port != read.rest]
    return len(others) if inside else sum(port.name in stated for port in up)


def _applicable(rules: Sequence[LoadedRule], system: SwitchInput) -> list[LoadedRule]:
    return [rule for rule in rules if rule.code not in system.not_applicable]


def _said(finding: Finding, words: Mapping[str, Words]) -> Finding:
    """Return a finding in the words of a switch system, without edits: those are of SONiC's files."""
    own = words.get(f"{finding.code} {finding.severity}") or words.get(finding.code)
    plain = finding._replace(fix=(), fixable="no")
    if own is None:
        return plain
    return plain._replace(
        message=own.message or finding.message, note=own.note or finding.note, help=own.help or finding.help
    )
