"""A run in a repository, as reports for other programs are told of it."""

from __future__ import annotations

from lossless.ground.basics.findings import SEVERITIES, Severity
from lossless.output.report.lint.run_context import RuleText, Setting


def describe(code: str) -> RuleText | None:
    """Return the words for the rules of the samples; WD001 has none."""
    return (
        None if code == "WD001" else RuleText(f"{code} in short", f"# {code}\n\nat length", "error", "high")
    )


def setting(
    folder: str = "/repo", root: str = "/repo", failing: tuple[Severity, ...] = SEVERITIES[:1]
) -> Setting:
    """Return the setting of a run that begins in ``folder``."""
    return Setting(folder, root, describe, failing)
