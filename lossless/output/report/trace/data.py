"""A trace as plain data, for machines: names of the model, findings as in the lint report.

Names once shipped stay; ``version`` increases when they change.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lossless.output.report.lint.locations import Locations
from lossless.output.report.plain import plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.checks.trace.model import Trace
    from lossless.ground.documents.excerpts import DocumentView

VERSION = 1
"""Of the names in the object."""


def trace_data(trace: Trace, documents: Mapping[str, DocumentView]) -> dict[str, Any]:
    """Return a trace as plain data; ``documents`` provide the lines of findings."""
    findings = {id(mark.finding): mark.finding for _, mark in trace.marks}.values()
    locations = Locations(documents, findings)
    fields = plain(trace, locations)
    severities = [finding.severity for finding in findings]
    summary = {name: severities.count(name) for name in ("error", "warning", "info")}
    summary["elsewhere"] = fields.pop("elsewhere")
    return {"version": VERSION, **fields, "broken": trace.broken, "summary": summary}


def json_text(data: Mapping[str, Any]) -> str:
    """Return a trace as one JSON object, in ASCII and in a stable order."""
    return json.dumps(data, indent=2)
