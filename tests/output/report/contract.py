"""The JSON report as its contract has it: parsed, and checked against the schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

SCHEMA = json.loads((Path(__file__).parent / "lint-report.schema.json").read_text())


def parsed(text: str) -> dict[str, Any]:
    """Return the report; fails where it breaks the contract."""
    report: dict[str, Any] = json.loads(text)
    Draft202012Validator(SCHEMA).validate(report)
    return report
