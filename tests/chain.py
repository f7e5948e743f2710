"""The chain of a lossless class, for laws between commands: its rules, and at which ports of a path each row counts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lossless.analysis.buffers.headroom.comparison import NO_PFC, ConfiguredHeadroom, NoHeadroom
from lossless.api import headroom_of_ports, simulate, trace
from lossless.checks.rules.sonic.lossless_rows import THROWS
from lossless.ground.basics.errors import LosslessError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.api import Options, Report
    from lossless.checks.trace.model import Trace, TraceHop
    from lossless.ground.basics.findings import Finding

_OF_ROWS = ("CFG002", "CFG007", "SWS001", "SWS004", "SWS006", "SWS011", "SWS014", "SWS018")
CHAIN = frozenset(
    {
        *("CLS001", "CLS016"),  # the DSCP reaches the traffic class
        *("PFC001", "PFC003", "PFC004", "PFC005", "SWS009"),  # its priority is paused and obeyed
        *("BUF001", "BUF003", "BUF004", "BUF007", "BUF008", "BUF022", "BUF023"),  # it has its buffers
        *("ECN001", "ECN003", "ECN004", "SWS003"),  # it is marked in time
        *("WD001", "WD002", "WD003", "WD004", "WD005", "WD014", "WD016", "SWS005"),  # something ends a storm
        *("SCH005",),  # it is served
        # The rows that all of this stands in are applied.
        *_OF_ROWS,
    }
)
"""Rules whose errors break a path on which their rows count."""
BUFFERS = ("BUF", "WD", "SWS005", "SWS011", "SWS018", "SCM008", "CFG007", "PFC005", "CLS001")
"""Families and rules that speak of what closed forms compute: headroom, pools, and what ends a storm.

CLS001 too: where a map leaves the priority of the DSCP without traffic, closed forms still count the group that its
pauses are for, and PFC005 has nothing to say of it.
"""
_INGRESS = frozenset(
    {
        "DSCP_TO_TC_MAP",
        "TC_TO_PRIORITY_GROUP_MAP",
        "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
        "BUFFER_PG",
        "CABLE_LENGTH",
        "BUFFER_PORT_INGRESS_PROFILE_LIST",
    }
)
_EGRESS = frozenset(
    {
        "TC_TO_QUEUE_MAP",
        "MAP_PFC_PRIORITY_TO_QUEUE",
        "QUEUE",
        "SCHEDULER",
        "WRED_PROFILE",
        "PFC_WD",
        "BUFFER_QUEUE",
        "BUFFER_PORT_EGRESS_PROFILE_LIST",
    }
)
_NUMBERED = frozenset({"QUEUE", "BUFFER_QUEUE", "BUFFER_PG"})


def of_chain(findings: Iterable[Finding]) -> list[Finding]:
    """Return the errors of the chain."""
    return [finding for finding in findings if finding.severity == "error" and finding.code in CHAIN]


def counts_on(finding: Finding, hop: TraceHop, *, alone: bool) -> bool:
    """Return whether an error breaks a hop: it names a port of it, in the direction in which its row counts.

    Rows of queues and groups that the packet does not pass are no part of its chain. One that ends orchagent breaks all
    hops of its switch. ``alone``: there is one switch; else the folder of a file is called as its switch.
    """
    table, key = (*map(str, finding.origin.path), "", "")[:2]
    if THROWS in finding.note:
        return _is_of(finding, hop, alone=alone)
    number = hop.stages.priority_group.lookup.target or 0
    if table in _NUMBERED and key.rpartition("|")[2] != str(number):
        return False
    return _names(finding, hop)


def _is_of(finding: Finding, hop: TraceHop, *, alone: bool) -> bool:
    return alone or Path(finding.origin.file).parent.name == hop.switch


def _names(finding: Finding, hop: TraceHop) -> bool:
    """Return whether an error names a port of a hop in the direction in which its row counts."""
    path = finding.origin.path
    table, field = str(path[0]) if path else "", str(path[2]) if len(path) > 2 else ""
    named = {part for element in finding.elements for part in element.split(" - ")}
    ingress, egress = (f"{hop.switch}:{end.port}" in named for end in (hop.ingress, hop.egress))
    if table in _INGRESS or table == "BUFFER_PROFILE":
        return ingress
    if table in _EGRESS or finding.code.startswith("WD") or field.startswith("pfcwd"):
        return egress
    return ingress or egress


def explains(finding: Finding, hop: TraceHop, *, alone: bool) -> bool:
    """Return whether an error may be why a hop is broken.

    A row of any number can keep its port from being ready, and then no port of the switch gets any QoS.
    """
    table = str(finding.origin.path[0]) if finding.origin.path else ""
    keeps_waiting = finding.code in _OF_ROWS and table.startswith("BUFFER_")
    nameless = not any(":" in element for element in finding.elements)
    of_all = keeps_waiting or nameless or THROWS in finding.note
    return _names(finding, hop) or (of_all and _is_of(finding, hop, alone=alone))


def disagreements(path: Path, report: Report, source: str, target: str, options: Options) -> list[str]:
    """Return how lint and trace contradict each other on one path."""
    try:
        followed = trace(path, source, target, options.rdma_dscps[0], options=options).trace
    except LosslessError:
        return []
    return contradictions(followed, report)


def contradictions(followed: Trace, report: Report) -> list[str]:
    """Return how a report and a trace contradict each other; a port that is down carries nothing."""
    if any(hop.ingress.up is False or hop.egress.up is False for hop in followed.hops):
        return []
    path = f"{followed.source} to {followed.target}"
    alone = len(report.documents) == 1
    meets = explains if followed.broken else counts_on
    met = [
        finding
        for finding in of_chain(report.findings)
        if any(meets(finding, hop, alone=alone) for hop in followed.hops)
    ]
    if followed.broken:
        return [] if met else [f"{path} is broken, and lint reports no error of the chain on a hop of it"]
    return [f"{path} is unbroken, and lint reports {finding.code}" for finding in met]


def unsafe(path: Path, options: Options) -> list[str]:
    """Return what headroom and closed forms call unsafe."""
    (result,) = simulate(path, options)
    reasons = [*result.closed.reasons] if result.closed.overall == "unsafe" else []
    for kind in headroom_of_ports(path, options=options).comparisons:
        if isinstance(kind.configured, NoHeadroom) and kind.configured != NO_PFC:
            reasons.append(kind.configured.reason)
        if isinstance(kind.configured, ConfiguredHeadroom) and kind.configured.headroom_bytes < (
            kind.least_bytes or 0
        ):
            reasons.append(f"{kind.configured.headroom_bytes} B")
    return reasons


def is_of_buffers(report: Report) -> bool:
    """Return whether lint has an error or a warning of the family of what closed forms compute."""
    return any(f.code.startswith(BUFFERS) and f.severity != "info" for f in report.findings)
