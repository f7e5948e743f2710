"""Captures in a trace: the counters of the class at each hop, and the findings about them that concern it.

Nothing is checked a second time: findings are those of the rules about running state. Each names a switch, a port and
a number (``leaf1:Ethernet4:3``, ``leaf1:Ethernet0:PG3``), and concerns the packet if it passes that queue or group.
Pauses of another priority on a port that it passes concern a lossless packet as well: one end pauses a priority that
the other does not treat as lossless.

The counters of a packet's class at a hop or a host, as captures show them: facts, no verdicts.

A counter without a capture is unknown, with the reason, and never 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.checks.rules.counting import counted, each, not_polled
from lossless.checks.trace.findings import concerns_traffic
from lossless.checks.trace.model import TraceCounter, TraceFinding
from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.records import NamedTuple, Unknown
from lossless.model.fabric.state import highest_peaks

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


if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.checks.trace.model import StageName, TraceHop
    from lossless.model.fabric.state import PlacedReading

    PortNumbers = tuple[str, int]


class _Counted(NamedTuple):
    """One counter that is shown at each hop: its stage, its direction, its kind of element, its name and unit."""

    stage: StageName
    way: Literal["ingress", "egress"]
    kind: Literal["pg", "queue", "priority"]
    name: str
    unit: str = "packets"


_AT_HOPS = (
    _Counted("priority_group", "ingress", "pg", "shared_watermark_bytes", "bytes"),
    _Counted("priority_group", "ingress", "pg", "xoff_room_watermark_bytes", "bytes"),
    _Counted("priority_group", "ingress", "pg", "dropped_packets"),
    _Counted("pfc", "ingress", "priority", "pfc_tx"),
    _Counted("pfc", "ingress", "priority", "pfc_rx"),
    _Counted("pfc", "egress", "priority", "pfc_rx"),
    _Counted("pfc", "egress", "priority", "pfc_tx"),
    _Counted("watchdog", "egress", "queue", "pfcwd_status", ""),
    _Counted("watchdog", "egress", "queue", "pfcwd_detected", "storms"),
    _Counted("watchdog", "egress", "queue", "pfcwd_restored", "storms"),
    _Counted("queue", "egress", "queue", "packets"),
    _Counted("queue", "egress", "queue", "dropped_packets"),
    _Counted("ecn", "egress", "queue", "ecn_marked_packets"),
    _Counted("egress_buffer", "egress", "queue", "shared_watermark_bytes", "bytes"),
)
_OF_PRIORITY = ("pfc_rx", "pfc_tx")
_OF_RDMA = (
    "out_of_sequence",
    "np_ecn_marked_roce_packets",
    "np_cnp_sent",
    "rp_cnp_handled",
    "rp_cnp_ignored",
)
"""Counters of RDMA devices, by the names of the kernel (hw_counters); those of CNPs as mlx5 has them."""
_NOT_CAPTURED = "not captured"


class RunningCounters:
    """The counters of one device, or why none is known."""

    def __init__(self, name: str, device: RunningDevice | None) -> None:
        self._name = name
        self._device = device
        self._indexes: dict[tuple[str, str], dict[PortNumbers, PlacedReading]] = {}

    def at(self, hop: TraceHop) -> tuple[TraceCounter, ...]:
        """Return the counters that are shown at a hop, each of them."""
        return tuple(self._of(row, hop) for row in _AT_HOPS)

    def of_host(self, priority: int | None) -> tuple[TraceCounter, ...]:
        """Return the counters of a host's NICs: pauses of a priority, out of sequence, and CNPs."""
        asked = [(name, "priority", priority) for name in _OF_PRIORITY]
        asked += [(name, "", None) for name in _OF_RDMA]
        return tuple(counter for one in asked for counter in self._of_nics(*one))

    def _of(self, row: _Counted, hop: TraceHop) -> TraceCounter:
        port = getattr(hop, row.way).port
        blank = TraceCounter(row.stage, row.name, port, row.kind, _number(row, hop), unit=row.unit)
        if self._device is None:
            return blank._replace(unknown=f"no captures of {self._name}")
        if blank.number is None:
            return blank._replace(unknown=f"which {row.kind} the packet meets is unknown")
        placed = self._index(row.name, row.kind).get((port, blank.number))
        if placed is None:
            return blank._replace(unknown=_NOT_CAPTURED)
        return _told(self._device, placed, blank)

    def _index(self, name: str, kind: str) -> dict[PortNumbers, PlacedReading]:
        assert self._device is not None
        if (name, kind) not in self._indexes:
            state = self._device.state
            readings = (
                (placed.part("port") or "", placed.part(kind) or "", placed)
                for placed in each(state, name, "port", kind)
            )
            index = {(port, int(number)): placed for port, number, placed in readings if number.isdecimal()}
            if name.endswith("watermark_bytes"):
                index |= highest_peaks(state, name, kind)
            self._indexes[name, kind] = index
        return self._indexes[name, kind]

    def _of_nics(self, name: str, kind: str, number: int | None) -> Iterator[TraceCounter]:
        blank = TraceCounter("host", name, "", kind, number, unit="packets")
        if self._device is None:
            yield blank._replace(unknown=f"no captures of {self._name}")
        elif kind and number is None:
            yield blank._replace(unknown="the priority of the packet is unknown")
        else:
            placed = [*self._named(name, kind, number)]
            yield from (_told(self._device, one, blank._replace(port=_nic(one))) for one in placed)
            if not placed:
                yield blank._replace(unknown=_NOT_CAPTURED)

    def _named(self, name: str, kind: str, number: int | None) -> Iterator[PlacedReading]:
        assert self._device is not None
        for placed in self._device.state.named(name, *([kind] if kind else [])):
            if not kind or placed.part(kind) == str(number):
                yield placed


def _number(row: _Counted, hop: TraceHop) -> int | None:
    stages = hop.stages
    if row.kind == "priority":
        return stages.pfc.ingress.priority if row.way == "ingress" else stages.pfc.egress.priority
    return (stages.priority_group if row.kind == "pg" else stages.queue).lookup.target


def _told(device: RunningDevice, placed: PlacedReading, blank: TraceCounter) -> TraceCounter:
    """Return the value of a reading: a peak or a status as it is, a counter with its increase."""
    reading = placed.reading
    told = blank._replace(origin=placed.origin, unit=reading.unit or blank.unit)
    at_switch = blank.stage != "host"
    kinds = ("port", blank.kind) if at_switch else tuple(kind for kind, _ in reading.identity)
    if reading.name.endswith("watermark_bytes") or reading.since == "now":
        standing = not_polled(device.state, reading.name, blank.kind)
        if standing is not None:
            return told._replace(unknown=standing.reason)
        if reading.value is None or isinstance(reading.value, Unknown):
            return told._replace(
                unknown=f"the captures do not say the value of {reading.heading or reading.name}"
            )
        return told._replace(value=reading.value, since=reading.since)
    count = counted(device, placed, *kinds)
    if isinstance(count, MissingInput):
        return told._replace(unknown=count.reason)
    return told._replace(
        value=count.amount, since="earlier capture" if count.between else count.placed.reading.since
    )


def _nic(placed: PlacedReading) -> str:
    return placed.part("device") or placed.part("port") or ""
