"""A trace as plain data, for machines and for the text: names of the model, findings as in the lint report.

Names once shipped stay; ``version`` says when they change.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

from lossless.ground.basics.findings import Finding, Origin
from lossless.output.report.lint.json_format import finding_data
from lossless.output.report.lint.locations import Locations, shown_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.ground.documents.excerpts import DocumentView

VERSION = 1
"""Of the names in the object."""


class FindingMark(Protocol):
    """A finding at one stage."""

    @property
    def finding(self) -> Finding:
        """What is found."""


class PacketTrace(Protocol):
    """The path of a packet, as :class:`lossless.checks.trace.model.Trace` has it."""

    @property
    def marks(self) -> tuple[tuple[str, FindingMark], ...]:
        """All findings on the path."""

    @property
    def broken(self) -> bool:
        """Whether the chain breaks anywhere."""

    def _asdict(self) -> dict[str, Any]: ...


def trace_data(trace: PacketTrace, documents: Mapping[str, DocumentView]) -> dict[str, Any]:
    """Return a trace as plain data; ``documents`` say on which line a finding is."""
    findings = {id(mark.finding): mark.finding for _, mark in trace.marks}.values()
    locations = Locations(documents, findings)
    fields = {name: _plain(value, locations) for name, value in trace._asdict().items()}
    severities = [finding.severity for finding in findings]
    summary = {name: severities.count(name) for name in ("error", "warning", "info")}
    summary["elsewhere"] = fields.pop("elsewhere")
    return {"version": VERSION, **fields, "broken": trace.broken, "summary": summary}


def json_text(data: Mapping[str, Any]) -> str:
    """Return a trace as one JSON object, in ASCII and in a stable order."""
    return json.dumps(data, indent=2)


def _plain(value: Any, locations: Locations) -> Any:
    if isinstance(value, Finding):
        return finding_data(value, locations)
    if isinstance(value, Origin):
        return {"file": shown_file(value.file), "path": list(value.path)}
    if not isinstance(value, tuple):
        return value
    fields = getattr(value, "_fields", None)
    if fields is None:
        return [_plain(item, locations) for item in value]
    return {name: _plain(item, locations) for name, item in zip(fields, value, strict=True)}
