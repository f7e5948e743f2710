"""A run in a repository, as reports for other programs are told of it."""

from __future__ import annotations

from lossless.ground.basics.findings import SEVERITIES, Severity
from lossless.output.report.lint.summary import RuleHelp, RunContext


def describe(code: str) -> RuleHelp | None:
    """Return the words for the rules of the samples; WD001 has none."""
    return (
        None if code == "WD001" else RuleHelp(f"{code} in short", f"# {code}\n\nat length", "error", "high")
    )


def setting(
    folder: str = "/repo", root: str = "/repo", failing: tuple[Severity, ...] = SEVERITIES[:1]
) -> RunContext:
    """Return the setting of a run that begins in ``folder``."""
    return RunContext(folder, root, describe, failing)
