"""What runs of traffic show of fabrics, as findings beside those of the other rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.errors import ScenarioError
from lossless.fabric.view import View
from lossless.lint.run import Verdicts, run, together
from lossless.rules.runs import Run
from lossless.rules.table import for_runs
from lossless.simulation.answer import Answer, answer
from lossless.simulation.request import Ask

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.fabric.model import Fabric


def with_runs(judged: Verdicts, fabrics: Iterable[Fabric]) -> Verdicts:
    """Return verdicts with what runs show; of what is already blamed for worse than information, no more is said."""
    blamed = {finding.origin[:2] for finding in judged.findings if finding.severity != "info"}
    verdicts = [judged]
    for fabric in fabrics:
        runs = [one for one in runs_of(fabric) if one.not_run or one.origin[:2] not in blamed]
        verdicts.append(run(runs, for_runs(), "intent" if fabric.declared else "config_db"))
    return together(verdicts)


def runs_of(fabric: Fabric) -> Iterator[Run]:
    """Yield what the default question shows of a fabric, and why it cannot be asked where it cannot."""
    try:
        found = answer(View(fabric), Ask())
    except ScenarioError as error:
        found = Answer(not_run=str(error))
    for one, (origin, element) in zip(found.runs, found.blames, strict=True):
        yield Run(one.verdict, one.scenario, one.reasons, one.changes, origin, element, one.numbers())
    if found.not_run is not None and fabric.switches:
        yield Run("not judged", "", (), (), fabric.switches[0].origin, None, {}, found.not_run)
