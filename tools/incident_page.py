"""The page of published failures, written from the replays: ``python tools/incident_page.py [--check]``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from lossless.output.report.columns import markdown_table  # noqa: E402
from tests.checks.rules.incidents.replays import INCIDENTS  # noqa: E402
from tests.checks.verify.issues.all_issues import ISSUES  # noqa: E402
from tools.generated import write_or_check  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.checks.rules.incidents.replays import Incident
    from tests.checks.verify.issues.replay import StateIssue, StateReplay

PAGE = ROOT / "docs" / "incidents.md"
_INTRODUCTION = """\
# Published failures, and the rules that find them

Each failure that is visible in an intent or a `config_db.json` is injected into `examples/roce-256`, or into
`examples/infiniband-256-ndr`, as a test. The rule in the last column must report it; without it the examples have no
findings. For failures that are visible in no such file, the last column says why.
"""
_RUNNING = """\
## Public issues about running state

What people captured when something was wrong, as they reported it, is given to
[`lossless verify`](guides/verify.md) as a test: the rules in the last column must report it, and no other rule may
report anything. Where nothing is reported, the column says why that is right. Where an issue tells what was seen and
prints no value, the capture is written as it tells, and its row says so.
"""


def page() -> str:
    """Return the text of the page."""
    heads = ("", "what happened", "source", "injected fault", "reported by")
    rows = [row for incident in INCIDENTS for row in _rows(incident)]
    table = markdown_table(heads, rows)
    return f"{_INTRODUCTION}\n{_counts(INCIDENTS)}\n\n{table}\n\n{_of_running_state()}\n"


def _of_running_state() -> str:
    heads = ("source", "what happened", "captured", "reported by")
    rows = [row for issue in ISSUES for row in _issue_rows(issue)]
    return f"{_RUNNING}\n{_counts(ISSUES)}\n\n{markdown_table(heads, rows)}"


def _counts(all_of_them: Sequence[Incident] | Sequence[StateIssue]) -> str:
    return f"{sum(bool(one.replays) for one in all_of_them)} of {len(all_of_them)} are replayed."


def _issue_rows(issue: StateIssue) -> list[tuple[str, ...]]:
    about = (issue.source, issue.what)
    if not issue.replays:
        return [(*about, "-", f"not visible: {issue.unseen}")]
    return [(*about, replay.shown, _reported(replay)) for replay in issue.replays]


def _reported(replay: StateReplay) -> str:
    codes = sorted({code for code, _ in replay.found})
    return ", ".join(f"[{code}](rules/{code}.md)" for code in codes) or f"nothing: {replay.silent}"


def _rows(incident: Incident) -> list[tuple[str, ...]]:
    about = (incident.number, incident.what, incident.source)
    if not incident.replays:
        return [(*about, "-", f"not visible: {incident.unseen}")]
    return [
        (*about, replay.injected, f"[{replay.code}](rules/{replay.code}.md)") for replay in incident.replays
    ]


def main(arguments: Sequence[str]) -> int:
    """Write the page, or with ``--check`` report that it is stale."""
    return write_or_check({PAGE: page()}, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
