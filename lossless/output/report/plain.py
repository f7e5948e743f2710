"""Records as plain data for JSON."""

from __future__ import annotations

from typing import Any

from lossless.ground.basics.findings import Finding, Origin
from lossless.ground.basics.records import Record
from lossless.output.report.lint.json_format import finding_data
from lossless.output.report.lint.text import Locations, shown_file

_NO_FILES = Locations({}, ())


def plain(value: Any, locations: Locations = _NO_FILES) -> Any:
    """Return records as objects of their fields, in order, tuples as lists, and findings as in the lint report.

    Origins become a file and a path. ``locations`` are the lines and columns of findings in it.
    """
    if isinstance(value, Finding):
        return finding_data(value, locations)
    if isinstance(value, Origin):
        return {"file": shown_file(value.file), "path": list(value.path)}
    if isinstance(value, Record):
        return {name: plain(item, locations) for name, item in vars(value).items()}
    if isinstance(value, dict):
        return {name: plain(item, locations) for name, item in value.items()}
    if not isinstance(value, tuple):
        return value
    fields = getattr(value, "_fields", None)
    if fields is None:
        return [plain(item, locations) for item in value]
    return {name: plain(item, locations) for name, item in zip(fields, value, strict=True)}
