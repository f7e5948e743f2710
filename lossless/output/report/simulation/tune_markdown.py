"""``report.md``: the choice of tuning and its reasons, for the ticket of the change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.output.report.simulation.tune_text import tune_text
from lossless.output.report.text_style import TextStyle

if TYPE_CHECKING:
    from lossless.checks.thresholds.tuned_intent import TuneResult

_WORDS = """\
PFC Pause Duration, PFC Pause Count, ECN Marking Ratio and JCT Ratio are those of
`draft-calabria-bmwg-ai-fabric-training-bench` (`fcalabri/bmwg-ai-fabric-training-bench` @e19e018): time in pause,
summed over all ports, pauses asked for, share of frames that were marked, and time to completion over the time at line
rate. The queueing delay is how long the deepest queue takes to empty.
"""
_STYLE = TextStyle(columns=120, verbose=True)


def tune_markdown(result: TuneResult) -> str:
    """Return a tuning result as Markdown."""
    lines = [
        f"# Thresholds of class {result.tuned.class_name}",
        "",
        _WORDS,
        "```",
        tune_text(result, style=_STYLE),
        "```",
        "",
    ]
    return "\n".join(lines)
