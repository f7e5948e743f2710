"""What ``lossless simulate`` printed: its JSON held to the contract, and what its text says of runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator

from tests.interfaces.cli.inputs import BASES
from tests.paths import TESTS

if TYPE_CHECKING:
    from tests.interfaces.cli.conftest import Outcome

_SCHEMA = TESTS / "output" / "report" / "simulate-report.schema.json"
SCHEMA = json.loads(_SCHEMA.read_text())
TWELVE_PORTS = (BASES / "rendered-leaf.json").read_text()
SMALL = ("--size", "64KiB", "--seeds", "2")
"""Traffic that takes no time."""


def report_of(outcome: Outcome) -> Any:
    """Return the JSON object, which must keep the contract."""
    report = json.loads(outcome.out)
    Draft202012Validator(SCHEMA).validate(report)
    return report


def packet_level(outcome: Outcome) -> str:
    """Return what the text says of runs."""
    (block,) = [part for part in outcome.out.split("\n\n") if part.startswith("packet-level model:")]
    return block.rstrip("\n")


def switch_with(table: str, row: str, **fields: str) -> str:
    """Return a leaf of twelve ports with fields of one row set."""
    data = json.loads(TWELVE_PORTS)
    data[table][row] |= fields
    return json.dumps(data)
