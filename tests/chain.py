"""The chain of a lossless class, for laws between commands: its rules, and at which ports of a path each row counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.ground.basics.findings import Finding

CHAIN = frozenset(
    {
        *("CLS001", "CLS016"),  # the DSCP reaches the traffic class
        *("PFC001", "PFC003", "PFC004", "PFC005", "SWS009"),  # its priority is paused and obeyed
        *("BUF001", "BUF003", "BUF004", "BUF007", "BUF008", "BUF022", "BUF023"),  # it has its buffers
        *("ECN001", "ECN003", "ECN004", "SWS003"),  # it is marked in time
        *("WD001", "WD002", "WD003", "WD004", "WD005", "WD014", "WD016", "SWS005"),  # something ends a storm
        *("SCH005",),  # it is served
        # The rows that all of this stands in are applied.
        *("CFG002", "CFG007", "SWS001", "SWS006", "SWS011", "SWS014", "SWS018"),
    }
)
"""Rules whose errors break a path on which their rows count."""
BUFFERS = ("BUF", "WD", "SWS005", "SWS011", "SWS018", "SCM008", "CFG007", "PFC005")
"""Families and rules that speak of what closed forms compute: headroom, pools, and what ends a storm."""
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


def counts_on(finding: Finding, ingress: str, egress: str, number: int) -> bool:
    """Return whether an error names a port of a hop in the direction in which its row counts.

    ``number`` is that of the group and of the queue of the class: rows of others are no part of its chain.
    """
    table, key = (*map(str, finding.origin.path), "", "")[:2]
    if table in _NUMBERED and key.rpartition("|")[2] != str(number):
        return False
    field = str(finding.origin.path[2]) if len(finding.origin.path) > 2 else ""
    named = {element.rpartition(":")[2] for element in finding.elements}
    if table in _INGRESS or table == "BUFFER_PROFILE":
        return ingress in named
    if table in _EGRESS or finding.code.startswith("WD") or field.startswith("pfcwd"):
        return egress in named
    return bool(named & {ingress, egress})
