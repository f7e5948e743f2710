"""Findings that concern a packet, by the stage and hop at which they do.

Nothing is checked a second time: a finding of the rules is placed at the stage whose rows it is about. It concerns the
packet under three conditions. It is about this switch and, if it names ports, about the port of the stage. The row it
points at is one the packet passes: its maps, its profiles, its number of queue or group. And it is about this traffic:
by the DSCPs, priorities or queues among its numbers, else because both the finding and the packet are about lossless
traffic. An error that takes a whole switch down concerns each lossless packet there.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.checks.rules.sonic.lossless_rows import THROWS
from lossless.checks.trace.model import StageName, TraceFinding
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.checks.trace.model import TraceHop
    from lossless.ground.basics.findings import Finding, Json, Path
    from lossless.model.fabric.view import View

_FAMILIES: dict[str, StageName] = {
    "CLS": "classification",
    "BUF": "priority_group",
    "PFC": "pfc",
    "WD": "watchdog",
    "SCH": "queue",
    "ECN": "ecn",
}
"""The stage of the findings of a family of rules; those of BUF on rows of queues are at ``egress_buffer``."""
_TABLES: dict[str, StageName] = {
    "PORT": "ports",
    "PORTCHANNEL": "ports",
    "VLAN": "ports",
    "DEVICE_NEIGHBOR": "ports",
    "DSCP_TO_TC_MAP": "classification",
    "DOT1P_TO_TC_MAP": "classification",
    "PORT_QOS_MAP": "classification",
    "TC_TO_PRIORITY_GROUP_MAP": "priority_group",
    "BUFFER_PG": "priority_group",
    "CABLE_LENGTH": "priority_group",
    "BUFFER_PORT_INGRESS_PROFILE_LIST": "priority_group",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": "pfc",
    "MAP_PFC_PRIORITY_TO_QUEUE": "pfc",
    "PFC_WD": "watchdog",
    "TC_TO_QUEUE_MAP": "queue",
    "QUEUE": "queue",
    "SCHEDULER": "queue",
    "WRED_PROFILE": "ecn",
    "BUFFER_QUEUE": "egress_buffer",
    "BUFFER_PORT_EGRESS_PROFILE_LIST": "egress_buffer",
}
"""The stage at which a packet meets the rows of a table; that of buffer profiles and pools depends on their names."""
_FIELDS: dict[str, StageName] = {
    "tc_to_pg_map": "priority_group",
    "tc_to_queue_map": "queue",
    "pfc_to_pg_map": "pfc",
    "pfc_to_queue_map": "pfc",
    "pfc_enable": "pfc",
    "pfcwd_sw_enable": "watchdog",
    "tc_to_dscp_map": "egress_dscp",
}
"""Fields of PORT_QOS_MAP that a packet meets at another stage than classification."""
_INGRESS: tuple[StageName, ...] = ("classification", "priority_group")
_EGRESS: tuple[StageName, ...] = ("watchdog", "queue", "ecn", "egress_buffer", "egress_dscp")
_DIRECTED: dict[str, StageName] = {
    **{table: stage for table, stage in _TABLES.items() if stage in _EGRESS},
    **{table: stage for table, stage in _TABLES.items() if stage in _INGRESS and table != "PORT_QOS_MAP"},
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": "priority_group",
    "MAP_PFC_PRIORITY_TO_QUEUE": "queue",
}
"""The stage of tables whose rows count at the ingress port alone, or at the egress port, for rules of any family."""
_LOSSLESS: tuple[StageName, ...] = ("priority_group", "pfc", "watchdog", "ecn")
"""Stages at which findings of rules concern lossless traffic unless their numbers name other traffic."""
_OWN_ROWS = (
    "DSCP_TO_TC_MAP",
    "TC_TO_PRIORITY_GROUP_MAP",
    "TC_TO_QUEUE_MAP",
    "BUFFER_PG",
    "BUFFER_QUEUE",
    "BUFFER_PROFILE",
    "BUFFER_POOL",
    "QUEUE",
    "SCHEDULER",
    "WRED_PROFILE",
)
"""Tables whose rows a packet meets by its DSCP, class, queue or group: an unreadable row harms lossy traffic too."""
_NO_SUCH_PORT = ("TOP002", "TOP003")
"""Rules about ports that a switch does not have; findings of other TOP rules concern the priorities that they have."""
_OF_TUNNEL = "CLS010"
"""The rule of tunnels: it names ports whose packets enter one; packets that leave by such a port do not enter it."""
UNSTATED = (_OF_TUNNEL, "CLS016", "PFC016")
"""Rules about the DSCP and class of packets at a hop: if they are not checked, a packet cannot be followed."""
_OF_CLASS = ("CLS", "ECN", "SCH")
"""Families of rules that point at the class they are about; others point at the first lossless class for all."""
_PRIORITIES = ("priority", "priorities", "unwatched", "missing", "extra", "queues")
_PAIRS = (("nic", "switch"), ("one_end", "other_end"))
"""Names in the data of a finding for two sets of priorities that should be equal: it concerns those in one alone."""


class TracePacket(NamedTuple):
    """A traced packet: the DSCPs on its path, its declared class, and whether it is lossless.

    ``numbers`` are those of the traffic classes, priorities, groups and queues that it meets.
    """

    dscps: frozenset[int]
    class_name: str | None
    lossless: bool
    numbers: frozenset[int]


class HopReference(NamedTuple):
    """The names by which findings refer to a hop; ``switches`` are it and the switches with the same configuration.

    ``schedulers`` are those of the queues of the egress port. A finding about any other scheduler of the port is about
    the whole port, and so concerns the packet.
    """

    hop: TraceHop
    file: str
    switches: frozenset[str]
    declared: bool
    schedulers: frozenset[str]


def reference_to(view: View, hop: TraceHop) -> HopReference:
    """Return a hop with the names by which findings refer to it: file, identical switches, and schedulers."""
    identical = next((names for _, names in view.identical if hop.switch in names), (hop.switch,))
    file = view.switch_by_name[hop.switch].origin.file
    egress = view.port(hop.switch, hop.egress.port)
    queues = egress.qos.queues if egress and egress.qos else ()
    schedulers = frozenset(queue.scheduler.name for queue in queues if queue and queue.scheduler)
    return HopReference(hop, file, frozenset(identical), view.fabric.declared, schedulers)


def findings_on(
    place: HopReference, packet: TracePacket, findings: Sequence[Finding]
) -> tuple[TraceFinding, ...]:
    """Return the findings that concern a packet at one hop."""
    return tuple(
        concerning for finding in findings if (concerning := _concerning(place, packet, finding)) is not None
    )


def findings_on_host(host: str, packet: TracePacket, findings: Sequence[Finding]) -> tuple[TraceFinding, ...]:
    """Return the findings that name a host and concern the packet."""
    return tuple(
        TraceFinding("host", finding)
        for finding in findings
        if host in finding.elements and concerns_traffic(finding, packet, lossless_only=True)
    )


def _concerning(place: HopReference, packet: TracePacket, finding: Finding) -> TraceFinding | None:
    stage = _stage(place, finding)
    if THROWS in finding.note and finding.severity == "error" and finding.origin.file == place.file:
        return TraceFinding(stage or "classification", finding) if packet.lossless else None
    if stage is None or not _is_here(place, finding, stage):
        return None
    if finding.code == _OF_TUNNEL and f"{place.hop.switch}:{place.hop.egress.port}" in finding.elements:
        return None
    if not _passes(place, packet, finding):
        return None
    if stage == "ports":
        return TraceFinding(stage, finding)
    lossless_only = stage in _LOSSLESS and not _is_own_row(finding)
    return (
        TraceFinding(stage, finding)
        if concerns_traffic(finding, packet, lossless_only=lossless_only)
        else None
    )


def _family(finding: Finding) -> str:
    return finding.code.rstrip("0123456789")


def _is_own_row(finding: Finding) -> bool:
    path = finding.origin.path
    return _family(finding) not in _FAMILIES and len(path) > 1 and path[0] in _OWN_ROWS


def _stage(place: HopReference, finding: Finding) -> StageName | None:
    path, family = finding.origin.path, _family(finding)
    if place.hop.format != "sonic" and (stage := _of_command(finding, family)) is not None:
        return stage
    if family == "TOP":
        unplaced = not (place.hop.ingress.placed and place.hop.egress.placed)
        return _of_topology(finding, unplaced=unplaced)
    if finding.object_form == "intent":
        return _FAMILIES.get(family)
    stage = _of_row(place, path)
    if family == "BUF" and stage in ("egress_buffer", "queue"):
        return "egress_buffer"
    return _FAMILIES.get(family) or stage


def _of_command(finding: Finding, family: str) -> StageName | None:
    """Return the stage of a finding about commands of a system other than SONiC, None if no stage follows from it.

    A finding of a refused or undefined command is at the stage ``pfc`` if it is an error: the port is then lossy.
    """
    if family == "CFG":
        return "pfc" if finding.severity == "error" else None
    return "ports" if finding.code == "CLS016" and "mtu" in finding.data else None


def _of_topology(finding: Finding, *, unplaced: bool) -> StageName | None:
    if finding.code in _NO_SUCH_PORT:
        return "ports" if unplaced else None
    return "pfc" if "priority" in finding.data or "priorities" in finding.data else None


def _of_row(place: HopReference, path: Path) -> StageName | None:
    table = str(path[0]) if path else ""
    if table == "PORT_QOS_MAP" and len(path) > 2:
        return _FIELDS.get(str(path[2]), "classification")
    if table in ("BUFFER_PROFILE", "BUFFER_POOL"):
        stages = place.hop.stages
        field = "profile" if table == "BUFFER_PROFILE" else "pool"
        named = str(path[1]) if len(path) > 1 else None
        at_egress = named == getattr(stages.egress_buffer, field)
        at_ingress = named == getattr(stages.priority_group, field)
        return "egress_buffer" if at_egress and not at_ingress else "priority_group"
    return _TABLES.get(table)


def _is_here(place: HopReference, finding: Finding, stage: StageName) -> bool:
    """Return whether a finding is about this switch and, if it names ports, about those of the stage."""
    named = [part for element in finding.elements for part in element.split(" - ")]
    ports = {_split(name) for name in named if ":" in name}
    if ports:
        met = _DIRECTED.get(str(finding.origin.path[0]) if finding.origin.path else "", stage)
        here = {(switch, port) for switch in place.switches for port in _ports(place.hop, met)}
        return bool(ports & here) and _of_file(place, finding, named)
    if named:
        return bool(place.switches.intersection(named))
    return place.declared or finding.origin.file == place.file


def _of_file(place: HopReference, finding: Finding, named: Sequence[str]) -> bool:
    """Return whether a finding is of the hop's file, or of the same intent, or about a link: it then names both ends.

    Two files can have one hostname.
    """
    return place.declared or finding.origin.file == place.file or len(named) > len(finding.elements)


def _split(name: str) -> tuple[str, str]:
    switch, _, port = name.rpartition(":")
    return switch, port


def _ports(hop: TraceHop, stage: StageName) -> tuple[str, ...]:
    if stage in _INGRESS:
        return (hop.ingress.port,)
    if stage in _EGRESS:
        return (hop.egress.port,)
    return (hop.ingress.port, hop.egress.port)


def _passes(place: HopReference, packet: TracePacket, finding: Finding) -> bool:
    """Return whether the row or the class that a finding points at is one that the packet meets."""
    path = finding.origin.path
    if finding.object_form == "intent":
        names_class = len(path) > 1 and path[0] == "classes" and _family(finding) in _OF_CLASS
        return not names_class or _dscps(finding.data) != [] or path[1] == packet.class_name
    if len(path) < 2 or finding.origin.file != place.file:
        return True
    table, key = str(path[0]), str(path[1])
    met = _met(place.hop).get(table)
    if table == "SCHEDULER" and finding.elements and key not in place.schedulers:
        return True
    if met is not None:
        return key in met.names and (len(path) < 3 or met.entry is None or _same(path[2], met.entry))
    return _row_is_met(place.hop, table, key, path, by_port=not finding.elements)


class _PassedRows(NamedTuple):
    """The rows of a table that a packet passes: the names of objects, and the entry.

    ``names`` are those of the objects, ``entry`` is the number that the packet looks up in a map. It is None for an
    object that is no map, and where the number is unknown.
    """

    names: tuple[str | None, ...]
    entry: int | None


def _met(hop: TraceHop) -> Mapping[str, _PassedRows]:
    stages = hop.stages
    traffic_class = stages.classification.lookup.target
    group, queue = stages.priority_group, stages.queue
    return {
        "DSCP_TO_TC_MAP": _PassedRows((stages.classification.lookup.map_name,), stages.classification.dscp),
        "TC_TO_PRIORITY_GROUP_MAP": _PassedRows((group.lookup.map_name,), traffic_class),
        "TC_TO_QUEUE_MAP": _PassedRows((queue.lookup.map_name,), traffic_class),
        "SCHEDULER": _PassedRows((queue.scheduler,), None),
        "WRED_PROFILE": _PassedRows((stages.ecn.wred,), None),
        "BUFFER_PROFILE": _PassedRows((group.profile, stages.egress_buffer.profile), None),
        "BUFFER_POOL": _PassedRows((group.pool, stages.egress_buffer.pool), None),
    }


def _same(entry: str | int, number: int) -> bool:
    """Return whether a map's entry is that of a number; a field that is no number concerns the whole map."""
    text = str(entry)
    return not (text.isascii() and text.isdecimal()) or int(text) == number


def _row_is_met(hop: TraceHop, table: str, key: str, path: Path, *, by_port: bool) -> bool:
    """Return whether a packet meets a row of a table, by its queue or group and, with ``by_port``, by its ports.

    Without ``by_port`` the finding names its ports, which count instead of that of the row.
    """
    stages, parts = hop.stages, key.split("|")
    ports: set[str] = {hop.ingress.port, hop.egress.port}
    number: int | None = None
    if table in ("QUEUE", "BUFFER_QUEUE"):
        ports, number = {hop.egress.port}, stages.queue.lookup.target
    elif table == "BUFFER_PG":
        ports, number = {hop.ingress.port}, stages.priority_group.lookup.target
    if number is not None and not _within(number, parts[-1]):
        return False
    if not by_port or table not in _PORT_TABLES:
        return True
    names = {
        str(part) for text in (path[2:3] if table == "CABLE_LENGTH" else parts) for part in _listed(text)
    }
    return not names or bool(names & (ports | {"global", "GLOBAL"}))


_PORT_TABLES = (
    "PORT",
    "DEVICE_NEIGHBOR",
    "PORT_QOS_MAP",
    "PFC_WD",
    "QUEUE",
    "BUFFER_QUEUE",
    "BUFFER_PG",
    "CABLE_LENGTH",
    "BUFFER_PORT_INGRESS_PROFILE_LIST",
    "BUFFER_PORT_EGRESS_PROFILE_LIST",
)


def _listed(text: str | int) -> Iterator[str]:
    return (part.strip() for part in str(text).split(","))


def _within(number: int, text: str) -> bool:
    match = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", text)
    # A key that cannot be read may have meant this number.
    return match is None or int(match[1]) <= number <= int(match[2] or match[1])


def concerns_traffic(finding: Finding, packet: TracePacket, *, lossless_only: bool) -> bool:
    """Return whether a finding is about the traffic of a packet, by the DSCPs, priorities or queues in its data.

    A finding without such data concerns every packet, with ``lossless_only`` only packets of lossless traffic.
    """
    data = finding.data
    dscps = _dscps(data)
    if dscps:
        return bool(packet.dscps.intersection(dscps))
    for near, far in _PAIRS:
        if near in data and far in data:
            return bool(packet.numbers.intersection(set(_ints(data[near])) ^ set(_ints(data[far]))))
    meant = [number for name in _PRIORITIES if name in data for number in _ints(data[name])]
    meant += [number for name in data if name.endswith("_priority") for number in _ints(data[name])]
    if meant:
        return bool(packet.numbers.intersection(meant))
    return packet.lossless or not lossless_only


def _dscps(data: Mapping[str, Json]) -> list[int]:
    named = (
        value for name, value in data.items() if re.search(r"(^|_)dscps?$", name) and name != "outer_dscp"
    )
    return [number for value in named for number in _ints(value)]


def _ints(value: Json) -> list[int]:
    values = value if isinstance(value, list) else [value]
    return [number for number in values if isinstance(number, int) and not isinstance(number, bool)]
