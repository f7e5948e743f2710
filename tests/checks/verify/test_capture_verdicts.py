"""What verify says of captures of real devices is on record, finding by finding, with the verdict of a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tools.capture_verdicts import RECORD, VERDICTS, Said, differing, verified
from tools.verdict_record import differences, on_record, recorded

pytestmark = pytest.mark.tools("records")

if TYPE_CHECKING:
    from pathlib import Path

STORM = Said("spine1.txt", "STM001", "error", 1, "spine1:Ethernet0:3")


def test_every_finding_and_every_unread_file_is_on_record(reference: Path) -> None:
    folder = reference / "captures" / "state"
    if not (folder / "index.json").is_file():
        pytest.skip(f"no captures of running state at {folder}")
    assert differing(verified(folder)) == []


def test_every_verdict_says_why() -> None:
    assert [key for key, one in recorded(on_record(RECORD), Said._fields).items() if not one["why"]] == []


@pytest.mark.parametrize(
    ("found", "verdict", "expected"),
    [
        ({STORM}, "right", []),
        ({STORM, STORM._replace(code="STM005")}, "right", ["new"]),
        ({STORM._replace(findings=2)}, "right", ["new", "gone"]),
        (set(), "right", ["gone"]),
        ({STORM}, "wrong", ["wrong"]),
        ({STORM}, "unjudged", ["unjudged"]),
    ],
)
def test_what_is_new_gone_or_not_right_is_named(found: set[Said], verdict: str, expected: list[str]) -> None:
    lines = differences(found, {tuple(STORM): {"verdict": verdict}}, VERDICTS)
    assert [line.partition(":")[0] for line in lines] == expected
