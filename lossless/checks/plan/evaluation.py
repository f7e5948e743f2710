"""Dangers to the traffic of jobs in a state of a fabric, according to rules, trace and closed forms.

A state is evaluated by its parts: each switch once for each configuration that it can have on the way, and the two
ends of a link once for each pair of behaviors that can meet there. So every subset of finished switches is covered,
without building any of the fabrics.

Rules of severity error count, and those in ``WARNINGS``, without those that require equal switches. A finding counts if
it concerns a DSCP that jobs send (:mod:`lossless.checks.trace.findings`) or the whole buffer of a switch: a partly
configured class without traffic harms no job.
"""

from __future__ import annotations

import json
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from lossless.checks.lint.run import run, together
from lossless.checks.plan.systems import carrying_jobs
from lossless.checks.rules.device_summary import summary_of
from lossless.checks.rules.registry import RULES, codes_for, rules_for
from lossless.checks.rules.subjects import Device
from lossless.checks.trace.findings import TracePacket, concerns_traffic, findings_on, reference_to
from lossless.checks.trace.model import losses_of
from lossless.checks.trace.route import TraceStep
from lossless.checks.trace.stages import arrival_of, departure_of, hop_of, transit_of
from lossless.formats.sonic.effective.chain import chain_of
from lossless.formats.sonic.read.tables import Tables
from lossless.ground.basics.records import NamedTuple, Unknown
from lossless.model.fabric.deployed_devices import DeployedDevices
from lossless.model.fabric.model import Fabric
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.checks.rules.registry import LoadedRule
    from lossless.checks.trace.model import TraceHop
    from lossless.checks.trace.stages import TraceArrival, TraceDeparture
    from lossless.ground.basics.findings import Finding
    from lossless.model.fabric.deployed_devices import DeviceSummary, LinkEnd
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.model import Switch
    from lossless.model.fabric.view import PortSet
    from lossless.model.hardware.load import FindHardware

WARNINGS = frozenset(
    {"BUF002", "BUF007", "BUF012", "BUF014", "BUF022", "CLS004", "ECN004", "ECN005"}
    | {"PFC002", "PFC016", "SWS001", "SWS013"}
)
"""Rules that count as errors, also with severity warning: a lossless class can lose packets, or is marked too late."""
_WHOLE_SWITCH = frozenset({"BUF007", "BUF008", "BUF012", "BUF014"})
"""Rules about the total buffer of a switch, which all of its lossless traffic depends on."""
_EVERYWHERE = frozenset({"CFG011", "CLS014", "ECN015", "LNK003", "BUF010"})
"""Rules that require equal configuration of switches or ports, impossible during a change; they do not count."""


class Danger(NamedTuple):
    """One danger to traffic in a state: the code of a rule, or ``trace``, the place, and the message."""

    code: str
    place: str
    message: str


class PlacedEnd(NamedTuple):
    """One end of a link, and the summary of its switch.

    ``behavior`` numbers the behavior toward neighbors: identical ends have the same number.
    """

    summary: DeviceSummary
    end: LinkEnd
    behavior: int


class DeviceVerdict(NamedTuple):
    """The dangers of one configuration of a switch by itself, and its link ends by port."""

    dangers: tuple[Danger, ...]
    ends: Mapping[str, PlacedEnd]


class Evaluator:
    """The evaluation of states of a fabric; ``states`` counts those of switches, links and hosts so far."""

    def __init__(self, find_hardware: FindHardware) -> None:
        self.states = 0
        self.find_hardware = find_hardware
        self._behaviors: dict[LinkEnd, int] = {}
        self._devices: dict[Any, DeviceVerdict] = {}
        self._links: dict[Any, tuple[Danger, ...]] = {}

    def device(
        self, name: str, config: Mapping[str, Any], dscps: frozenset[int], cables_m: Mapping[str, int]
    ) -> DeviceVerdict:
        """Return the verdict on a SONiC switch for packets of ``dscps``; ``cables_m`` are the known cable lengths."""
        self.states += 1
        # A rollback goes through states of the plan itself.
        content = blake2b(json.dumps(config).encode(), digest_size=16).digest()
        key = (name, content, dscps, tuple(sorted(cables_m.items())))
        if key not in self._devices:
            self._devices[key] = self._device(name, config, dscps, cables_m)
        return self._devices[key]

    def _device(
        self, name: str, config: Mapping[str, Any], dscps: frozenset[int], cables_m: Mapping[str, int]
    ) -> DeviceVerdict:
        tables = Tables(f"{name}/config_db.json", config, shown=name)
        chain = chain_of([tables], self.find_hardware, [tuple(sorted(dscps))])
        written, applied = (_view(fabric, name, cables_m) for fabric in (chain.written, chain.applied))
        as_written = Device(tables, written, programmed=chain.states[0])
        dangers = tuple(_dangers(applied, _findings(as_written), dscps, written)) if dscps else ()
        summary = summary_of(Device(tables, applied))
        return DeviceVerdict(dangers, {end.port: self._placed(summary, end) for end in summary.ends})

    def system(
        self,
        name: str,
        switch: Switch,
        silent: frozenset[str],
        dscps: frozenset[int],
        cables_m: Mapping[str, int],
    ) -> DeviceVerdict:
        """Return the verdict on a switch of another system for packets of ``dscps``; ``silent`` rules are not run."""
        self.states += 1
        own = carrying_jobs(_cabled(switch, cables_m), name, dscps)
        fabric = Fabric("", "deployed", own.classes, None, (own,), (), (), (), (), (name,))
        device = Device(Tables(name, {}, shown=name), View(fabric))
        rules = [rule for rule in _rules("fabric") if rule.code not in silent]
        findings = run(device.view, rules, "commands").findings if dscps else ()
        dangers = tuple(_dangers(device.view, findings, dscps)) if dscps else ()
        summary = summary_of(device)
        return DeviceVerdict(dangers, {end.port: self._placed(summary, end) for end in summary.ends})

    def _placed(self, summary: DeviceSummary, end: LinkEnd) -> PlacedEnd:
        number = self._behaviors.setdefault(end._replace(neighbor=None), len(self._behaviors))
        return PlacedEnd(summary, end, number)

    def link(self, near: PlacedEnd, far: PlacedEnd, dscps: frozenset[int]) -> tuple[Danger, ...]:
        """Return the dangers of the two ends of a link to packets of ``dscps``, evaluated once for equal ends."""
        key = (near.behavior, far.behavior, dscps)
        if key not in self._links:
            self.states += 1
            self._links[key] = tuple(_of_link(near, far, dscps))
        return self._links[key]

    def host(self, host: HostQos, at: PlacedEnd, dscps: frozenset[int]) -> tuple[Danger, ...]:
        """Return the dangers of a host's NIC and its switch port to packets of ``dscps``."""
        key = (id(host), at.behavior, dscps)
        if key not in self._links:
            self.states += 1
            self._links[key] = tuple(_of_host(host, at.end, dscps))
        return self._links[key]


def _view(fabric: Fabric, name: str, cables_m: Mapping[str, int]) -> View:
    switch = _cabled(fabric.switches[0], cables_m)
    return View(fabric._replace(switches=(switch._replace(name=name),)))


def _cabled(switch: Switch, cables_m: Mapping[str, int]) -> Switch:
    """Return a switch with the real lengths of its cables, where they are known."""
    ports = (
        port._replace(cable=port.cable._replace(real_m=cables_m[port.name]))
        if port.name in cables_m
        else port
        for port in switch.ports
    )
    return switch._replace(ports=tuple(ports))


def _findings(device: Device) -> tuple[Finding, ...]:
    """Return the findings on one device that make a state unsafe, without those of rules that compare switches."""
    has = {*device.tables.data}
    verdicts = (
        run(device.view, _rules("fabric"), "config_db"),
        run(device.buffers, _rules("buffers"), "config_db"),
        run(device, rules_for("device", chosen=_codes(), has=has), "config_db"),
    )
    return together(verdicts).findings


@lru_cache(maxsize=8)
def _rules(subject: Any) -> tuple[LoadedRule, ...]:
    return tuple(rules_for(subject, chosen=_codes()))


@lru_cache(maxsize=1)
def _codes() -> frozenset[str]:
    """Return the codes of the rules whose findings make a state unsafe: of this package, not those of plugins."""
    from lossless.checks.rules.documentation import rule_of

    known = codes_for("fabric") | codes_for("buffers") | codes_for("device") | codes_for("devices")
    errors = {code for code in known & RULES.keys() if rule_of(code).severity == "error"}
    return frozenset((errors | WARNINGS) - _EVERYWHERE)


def _dangers(
    view: View, findings: Sequence[Finding], dscps: Iterable[int], written: View | None = None
) -> Iterator[Danger]:
    """Yield the dangers of a switch: findings on its whole buffer, and for each DSCP those between any two ports.

    A switch without a lossless port is a danger to each DSCP. ``view`` has the rows of SONiC as the switch applies
    them, ``written`` as they are in CONFIG_DB.
    """
    said: set[Danger] = set()
    unsaid = [*findings]
    if not view.lossless_sets:
        name = view.fabric.switches[0].name
        for dscp in sorted(dscps):
            yield Danger("trace", f"{name} DSCP {dscp}", f"DSCP {dscp} at {name}: no port pauses anything")
    for finding in findings:
        if finding.code in _WHOLE_SWITCH:
            yield from _of_finding(finding)
    for dscp in sorted(dscps):
        for transit in _transits(view, dscp):
            for danger in _at_hop(view, transit, dscp, unsaid, written or view):
                if danger not in said:
                    said.add(danger)
                    yield danger


class _Transit(NamedTuple):
    """A trace hop between two sets of identical ports of a switch, by one port of each."""

    hop: TraceHop
    ingress: PortSet
    egress: PortSet


def _transits(view: View, dscp: int) -> Iterator[_Transit]:
    """Yield a hop of packets of a DSCP from every set of identical ports of a switch to every other, and to itself."""
    departures: dict[tuple[str, int | None], TraceDeparture] = {}
    for ingress in view.port_sets:
        arrival: TraceArrival | None = None
        for egress in view.port_sets:
            passed = transit_of(
                view, TraceStep(ingress.switch.name, ingress.ports[0].name, egress.ports[-1].name)
            )
            arrival = arrival or arrival_of(passed, dscp)
            traffic_class = arrival.classification.lookup.target
            leaves = (passed.egress.name, traffic_class)
            if leaves not in departures:
                departures[leaves] = departure_of(passed, traffic_class)
            hop = hop_of(passed, dscp, {}, (None, None), arrival, departures[leaves])
            yield _Transit(hop, ingress, egress)


def _at_hop(
    view: View, transit: _Transit, dscp: int, unsaid: list[Finding], written: View
) -> Iterator[Danger]:
    """Yield the dangers to a DSCP at a hop of a switch; a finding that is yielded is removed from ``unsaid``."""
    hop = transit.hop
    for loss in losses_of(hop.stages):
        is_egress = loss.why.startswith(f"{hop.egress.port} obeys")
        yield from _at_ports(transit.egress if is_egress else transit.ingress, dscp, loss.stage, loss.why)
    group = hop.stages.priority_group
    if (
        group.generated
        and _has_no_row(written, transit.ingress, group.lookup.target)
        and transit.ingress.switch.runs_sonic
        and transit.ingress.switch.qos.buffer_model == "traditional"
    ):
        # Where a row has gone, the buffer manager writes another one when the port comes up, not before. In the
        # dynamic model it computes those that there are: a group without a row is lossy there.
        why = f"PG {group.lookup.target} of {hop.ingress.port} has no row"
        yield from _at_ports(transit.ingress, dscp, "generated", why)
    if hop.stages.watchdog.watched is False:
        why = f"no watchdog watches queue {hop.stages.queue.lookup.target} of {hop.egress.port}"
        yield from _at_ports(transit.egress, dscp, "watchdog", why)
    if not unsaid:
        return
    packet = TracePacket(frozenset({dscp}), None, True, frozenset(hop.stages.numbers))
    said = [mark.finding for mark in findings_on(reference_to(view, hop), packet, unsaid)]
    for finding in said:
        unsaid.remove(finding)
        yield from _of_finding(finding)


def _has_no_row(written: View, ports: PortSet, number: int | None) -> bool:
    port = written.port(ports.switch.name, ports.ports[0].name)
    group = port.qos.groups[number] if port and port.qos and number is not None else None
    return group is None or group.generated


def _at_ports(ports: PortSet, dscp: int, stage: str, why: str) -> Iterator[Danger]:
    """Yield the danger of one hop at each port of a set of identical ports."""
    for port in ports.ports:
        place = f"{ports.switch.name}:{port.name} DSCP {dscp} {stage}"
        yield Danger("trace", place, f"DSCP {dscp} at {ports.switch.name}: {why}")


def _of_finding(finding: Finding) -> Iterator[Danger]:
    """Yield a finding as a danger at each element that it names, else at its own path."""
    for place in finding.elements or ("|".join(map(str, finding.origin.path)),):
        yield Danger(finding.code, place, finding.message)


def _of_link(near: PlacedEnd, far: PlacedEnd, dscps: frozenset[int]) -> Iterator[Danger]:
    """Yield findings of rules on a link, and DSCPs that one end sends with another priority than the far end pauses."""
    for sender, receiver in ((near.end, far.end), (far.end, near.end)):
        sent, paused = dict(sender.sent), dict(receiver.paused)
        for dscp in sorted(dscps):
            out, into = sent.get(dscp), paused.get(dscp)
            if out != into:
                place = f"{near.end.name} - {far.end.name} DSCP {dscp}"
                yield Danger("trace", place, _mismatch(dscp, sender.name, receiver.name, out, into))
    numbers = (dict(each.end.sent).get(dscp) for each in (near, far) for dscp in dscps)
    packet = TracePacket(dscps, None, True, frozenset(n for n in numbers if n is not None))
    for finding in _across(near, far) if dscps else ():
        if concerns_traffic(finding, packet, lossless_only=True):
            yield from _of_finding(finding)


def _mismatch(dscp: int, sender: str, receiver: str, out: int | None, into: int | None) -> str:
    leaves = (
        f"leaves {sender} with priority {out}" if out is not None else f"is lossy where it leaves {sender}"
    )
    arrives = (
        f"{receiver} pauses priority {into}" if into is not None else f"{receiver} does not pause for it"
    )
    return f"DSCP {dscp} {leaves}, and {arrives}"


def _across(near: PlacedEnd, far: PlacedEnd) -> tuple[Finding, ...]:
    """Return the findings on one link of rules that compare devices."""
    devices = DeployedDevices([_alone(near, far), _alone(far, near)])
    return run(devices, _rules("devices"), "config_db").findings


def _alone(placed: PlacedEnd, other: PlacedEnd) -> DeviceSummary:
    """Return the summary of a switch with one port alone, cabled to the other end, and without shared settings."""
    end = placed.end._replace(neighbor=(other.end.switch, other.end.port))
    return placed.summary._replace(ends=(end,), settings=(), beyond=())


def _of_host(host: HostQos, at: LinkEnd, dscps: frozenset[int]) -> Iterator[Danger]:
    """Yield DSCPs that a NIC does not pause with the priority with which its switch port pauses or sends them.

    A NIC that does not classify by DSCP, or whose map or PFC is unknown, is not compared. A DSCP that the switch itself
    maps to a lossy class is reported for the switch.
    """
    if isinstance(host.dscp_to_priority, Unknown) or isinstance(host.pfc_priorities, Unknown):
        return
    own = {dscp: priority for dscp, priority in host.dscp_to_priority if priority in host.pfc_priorities}
    sent, paused = dict(at.sent), dict(at.paused)
    for dscp in sorted(dscps) if host.trust == "dscp" else ():
        mine = own.get(dscp)
        for there in (paused.get(dscp), sent.get(dscp)):
            if there is not None and mine != there:
                place = f"{at.name} NIC DSCP {dscp}"
                nic = f"the NIC pauses priority {mine}" if mine is not None else "the NIC has it lossy"
                yield Danger("trace", place, f"DSCP {dscp}: {nic}, and {at.name} priority {there}")
                break
