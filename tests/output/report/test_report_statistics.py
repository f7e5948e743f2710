"""Where to begin with a repository that was never linted."""

from __future__ import annotations

from lossless.output.report.lint.summary import statistics_text
from tests.output.report.samples import on_switch, oversubscribed, sample


def test_rules_are_counted_the_most_frequent_first() -> None:
    report = sample(
        oversubscribed(),
        *(on_switch("PORT", f"Ethernet{n}", severity="warning", places=64) for n in range(12)),
        on_switch("PORT", severity="info"),
    )
    assert statistics_text(report).splitlines() == [
        "findings  places  severity  rule",
        "      12     768  warning   WD001 watchdog-missing",
        "       1       1  error     TOP001 oversubscription-undeclared",
        "       1       1  info      WD001 watchdog-missing",
    ]


def test_nothing_found_is_no_table() -> None:
    assert statistics_text(sample()) == ""
