"""Captures in a trace: the counters of the class at each hop, and the findings about them that concern it.

Nothing is checked a second time: findings are those of the rules about running state. Each names a switch, a port and
a number (``leaf1:Ethernet4:3``, ``leaf1:Ethernet0:PG3``), and concerns the packet if it passes that queue or group.
Pauses of another priority on a port that it passes concern a lossless packet as well: one end pauses a priority that
the other does not treat as lossless.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.trace.counters import RunningCounters
from lossless.checks.trace.findings import concerns_traffic
from lossless.checks.trace.model import TraceFinding
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.checks.trace.findings import TracePacket
    from lossless.checks.trace.model import StageName, TraceHop, TraceHost, TracePfcPort
    from lossless.ground.basics.findings import Finding
    from lossless.model.fabric.view import View

_STAGES: dict[str, StageName] = {
    "APP001": "classification",
    "APP002": "priority_group",
    "APP004": "watchdog",
    "CTR002": "pfc",
    "CTR003": "ecn",
    "CTR006": "ports",
    "STM002": "pfc",
}
_FAMILIES: dict[str, StageName] = {"CTR": "queue", "STM": "watchdog"}
"""Where rules of a family speak that have no stage of their own; of a priority group it is that of the group."""
_GROUP = "PG"
_OTHER_PRIORITY = "CTR002"


class RunningTrace(NamedTuple):
    """Devices with captures by name, and the findings of rules on them."""

    devices: Mapping[str, RunningDevice]
    findings: Sequence[Finding]


def with_counters(view: View, hop: TraceHop, packet: TracePacket, running: RunningTrace) -> TraceHop:
    """Return a hop with the counters of the class, and the findings about them that concern the packet."""
    unit = view.switch_by_name[hop.switch].device
    names = dict.fromkeys((hop.switch, unit))
    device = next((running.devices[name] for name in names if name in running.devices), None)
    counters = RunningCounters(hop.switch, device).at(hop)
    marks = (*hop.marks, *_marks(hop, tuple(names), packet, running.findings))
    return hop._replace(counters=counters, marks=marks)


def host_with_counters(
    host: TraceHost, side: TracePfcPort, packet: TracePacket, running: RunningTrace
) -> TraceHost:
    """Return a host with the counters of its NICs, and the findings about them.

    ``side`` is the port of the switch that it is attached to: pauses on the link are of its priority.
    """
    priority = side.priority if side.priority is not None else host.priority
    about = (finding for finding in running.findings if _names(finding, host.host))
    marks = [
        TraceFinding("host", finding)
        for finding in about
        if concerns_traffic(finding, packet, lossless_only=True)
    ]
    counters = RunningCounters(host.host, running.devices.get(host.host))
    return host._replace(marks=(*host.marks, *marks), counters=counters.of_host(priority))


def _names(finding: Finding, host: str) -> bool:
    return any(element == host or element.startswith(f"{host}:") for element in finding.elements)


def _marks(
    hop: TraceHop, names: Sequence[str], packet: TracePacket, findings: Sequence[Finding]
) -> Iterator[TraceFinding]:
    for finding in findings:
        stages = (
            stage
            for element in finding.elements
            for name in names
            if (stage := _stage(hop, packet, finding, element, name)) is not None
        )
        stage = next(stages, None)
        if stage is not None:
            yield TraceFinding(stage, finding)


def _stage(
    hop: TraceHop, packet: TracePacket, finding: Finding, element: str, switch: str
) -> StageName | None:
    """Return the stage at which a finding on one element of a switch concerns the packet, None if it does not."""
    if element == switch:
        return _STAGES.get(finding.code)
    if not element.startswith(f"{switch}:"):
        return None
    port, _, number = element.removeprefix(f"{switch}:").partition(":")
    stage = _STAGES.get(finding.code) or _FAMILIES.get(finding.code.rstrip("0123456789"))
    if number.startswith(_GROUP):
        stage, number = "priority_group", number.removeprefix(_GROUP)
    if stage is None:
        return None
    met = _met(hop, stage)
    another = finding.code == _OTHER_PRIORITY and packet.lossless
    return stage if any(port == at and (another or number in ("", own)) for at, own in met) else None


def _met(hop: TraceHop, stage: StageName) -> tuple[tuple[str, str], ...]:
    """Return the ports of a stage, and the number that the packet has there."""
    stages, ingress, egress = hop.stages, hop.ingress.port, hop.egress.port
    if stage == "priority_group":
        return ((ingress, str(stages.priority_group.lookup.target)),)
    if stage == "pfc":
        return (ingress, str(stages.pfc.ingress.priority)), (egress, str(stages.pfc.egress.priority))
    if stage in ("ports", "classification"):
        return (ingress, ""), (egress, "")
    return ((egress, str(stages.queue.lookup.target)),)
