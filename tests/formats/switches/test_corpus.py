"""Real configurations say what people read in them; faults that they have are found, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tools.check_dialects import compared

if TYPE_CHECKING:
    from pathlib import Path

THIN_CURVES = 2
"""Files that mark at most 1 % of packets, or from 10 kB on: no public source says from which value on that is wrong."""

UNPAUSED = 1
"""A file whose lossless class takes no effect: that it marks nothing either is not said before it does."""


@pytest.mark.parametrize(
    ("name", "missed", "agree", "faults"),
    [("eos", THIN_CURVES, 330, 12), ("nvue", 0, 420, 16), ("nxos", UNPAUSED, 230, 23)],
)
def test_configurations_are_read_as_people_read_them(
    reference: Path, name: str, missed: int, agree: int, faults: int
) -> None:
    counts = compared(reference / "captures" / "dialects")["by_dialect"][name]
    assert (counts["differ"], counts["unread"], counts["unsupported"], counts["false_errors"]) == (0, 0, 0, 0)
    assert counts["faults_missed"] == missed
    assert counts["agree"] >= agree
    assert counts["faults_found"] >= faults
