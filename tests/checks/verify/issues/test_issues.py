"""Each public issue about running state is found in the values that it reports, by its rule and by no other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lossless.checks.rules.registry import RULES
from tests.checks.verify.issues.all_issues import ISSUES
from tests.checks.verify.running import findings, report_on

if TYPE_CHECKING:
    from pathlib import Path

    from tests.checks.verify.issues.replay import StateIssue, StateReplay

REPLAYS = [
    pytest.param(replay, id=f"{issue.source.partition(',')[0]}-{number}")
    for issue in ISSUES
    for number, replay in enumerate(issue.replays, 1)
]


@pytest.mark.parametrize("replay", REPLAYS)
def test_a_capture_as_reported_has_its_findings_and_no_others(replay: StateReplay, tmp_path: Path) -> None:
    report = report_on(tmp_path, replay.files, replay.before)
    assert findings(report) == replay.found
    assert set(replay.not_checked) <= {item.code for item in report.not_checked}


@pytest.mark.parametrize("issue", ISSUES, ids=lambda issue: issue.source)
def test_an_issue_is_replayed_or_says_why_not(issue: StateIssue) -> None:
    assert bool(issue.replays) != bool(issue.unseen)
    for replay in issue.replays:
        assert bool(replay.found) != bool(replay.silent)
        assert {code for code, _ in replay.found} <= RULES.keys()
