"""From a view of a fabric and a question to the verdict of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.buffers.port import Missing
from lossless.fabric.view import View
from lossless.simulation.request import MISSING_NUMBA

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.simulation.judge import RunVerdict
    from lossless.simulation.request import Ask
    from lossless.simulation.scenario import Scenario


def has_numba() -> bool:
    """Return whether the packet-level model can be compiled here."""
    from importlib.util import find_spec

    return find_spec("numba") is not None and find_spec("numpy") is not None


def answer(view: View, ask: Ask) -> tuple[tuple[RunVerdict, ...], str | None]:
    """Return a verdict for each part of a fabric, and why there is none.

    Raises:
        ScenarioError: what is asked cannot be, or would take too long.
    """
    if not has_numba():
        return (), MISSING_NUMBA
    from lossless.simulation.scenario import scenario

    verdicts: list[RunVerdict] = []
    reasons: list[str] = []
    for part in _parts(view):
        found = scenario(part, ask.question)
        if isinstance(found, Missing):
            reasons.append(found.reason)
        else:
            verdicts.append(_judged(part, found, ask))
    return tuple(verdicts), "; ".join(dict.fromkeys(reasons)) or None


def _judged(view: View, found: Scenario, ask: Ask) -> RunVerdict:
    from lossless.simulation.advice import advice
    from lossless.simulation.engine import compiled_before, prepare
    from lossless.simulation.judge import judge
    from lossless.simulation.peers import patience
    from lossless.simulation.study import study

    rare = ask.question.dead_nic or ask.question.slow_nic_bps is not None
    if ask.compiling is not None and not compiled_before(rare=rare):
        ask.compiling()
    prepare(rare=rare)
    seen = study(found, ask.limits, ask.progress)
    patient = patience(view, seen, ask.limits) if any(one.drops for one in seen.seen) else None
    return judge(seen, advice(view, seen, ask.limits), patient)


def _parts(view: View) -> Iterator[View]:
    """Yield a declared fabric whole, and of deployed devices one of each kind: links between them are not known."""
    if view.fabric.declared or view.fabric.links:
        yield view
        return
    for switch, _ in view.alike:
        yield View(view.fabric._replace(switches=(switch,)))
