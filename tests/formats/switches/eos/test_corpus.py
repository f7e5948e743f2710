"""Real configurations say what people read in them; faults that they have are found, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.check_dialects import compared

if TYPE_CHECKING:
    from pathlib import Path

THIN_CURVES = 2
"""Files that mark at most 1 % of packets, or from 10 kB on: what DCQCN's authors use, and so nothing to report."""


def test_configurations_of_eos_are_read_as_people_read_them(reference: Path) -> None:
    result = compared(reference / "captures" / "dialects")
    eos = result["by_dialect"]["eos"]
    assert (eos["differ"], eos["unread"], eos["unsupported"], eos["false_errors"]) == (0, 0, 0, 0)
    assert eos["faults_missed"] == THIN_CURVES
    assert eos["agree"] > 300
    assert eos["faults_found"] >= 12
