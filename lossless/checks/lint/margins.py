"""Margins in traffic simulations of fabrics before a change and after it, part by part."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lossless.analysis.simulation.question.request import SimulationRequest
from lossless.analysis.simulation.study.answer import checked_scenario, parts, run_study, why_not
from lossless.checks.lint.report import MarginChange
from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.findings import MissingInput
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.analysis.simulation.study.verdict import RunVerdict
    from lossless.model.fabric.model import Fabric


def margins_between(then: Sequence[Fabric], now: Sequence[Fabric]) -> tuple[MarginChange, ...]:
    """Return the simulation verdicts before and after a change, part by part."""
    before, after = dict(_runs(then)), dict(_runs(now))
    parts_of_both = dict.fromkeys((*after, *before))
    return tuple(
        MarginChange(part, before.get(key), after.get(key)) for key in parts_of_both for part in [key[0]]
    )


def _runs(fabrics: Sequence[Fabric]) -> Iterator[tuple[tuple[str, int], RunVerdict]]:
    """Yield the simulation verdicts on fabrics, by the name of the part and the number of its run."""
    if why_not() is not None:
        return
    number = Counter[str]()
    for fabric in fabrics:
        for part in parts(View(fabric)):
            verdict = _verdict(part) if part.lossless_sets else None
            if verdict is not None:
                name = _name(part)
                number[name] += 1
                yield (name, number[name]), verdict


def _verdict(part: View) -> RunVerdict | None:
    """Return the simulation verdict on one part, None if it cannot be run: lint reports that as not checked."""
    from lossless.analysis.simulation.study.verdict import run_verdict

    try:
        scenario = checked_scenario(part, SimulationRequest().question)
        if isinstance(scenario, MissingInput):
            return None
        results, reaction_limit = run_study(part, scenario, SimulationRequest())
    except LosslessError:
        return None
    return run_verdict(results, (), reaction_limit)


def _name(part: View) -> str:
    fabric = part.fabric
    if fabric.declared:
        return fabric.sources[0]
    names = [switch.name for switch in fabric.switches]
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more"
