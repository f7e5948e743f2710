"""From a view of a fabric and a question to the verdict of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.buffers.port import Missing
from lossless.fabric.view import View
from lossless.records import NamedTuple
from lossless.simulation.request import MISSING_NUMBA

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.findings import Origin
    from lossless.simulation.judge import RunVerdict
    from lossless.simulation.recording import Recording
    from lossless.simulation.request import Ask
    from lossless.simulation.scenario import Scenario
    from lossless.simulation.study import Study


def has_numba() -> bool:
    """Return whether the packet-level model can be compiled here."""
    from importlib.util import find_spec

    return find_spec("numba") is not None and find_spec("numpy") is not None


class Answer(NamedTuple):
    """A verdict for each part of a fabric, why there is none of some, and what was recorded for pictures.

    ``blames`` has for each verdict where what is to blame was written, and the port where it showed.
    """

    runs: tuple[RunVerdict, ...] = ()
    not_run: str | None = None
    recordings: tuple[Recording, ...] = ()
    blames: tuple[tuple[Origin, str | None], ...] = ()


def answer(view: View, ask: Ask) -> Answer:
    """Return what runs say of a fabric.

    Raises:
        ScenarioError: what is asked cannot be, or would take too long.
    """
    if not has_numba():
        return Answer(not_run=MISSING_NUMBA)
    from lossless.simulation.blame import blame
    from lossless.simulation.scenario import scenario

    verdicts: list[RunVerdict] = []
    recordings: list[Recording] = []
    blames: list[tuple[Origin, str | None]] = []
    reasons: list[str] = []
    for part in _parts(view):
        found = scenario(part, ask.question)
        if isinstance(found, Missing):
            reasons.append(found.reason)
        else:
            verdict, seen = _judged(part, found, ask)
            verdicts.append(verdict)
            blames.append(blame(part, seen))
            recordings += [_recorded(found, seen, verdict)] if ask.record else []
    why = "; ".join(dict.fromkeys(reasons)) or None
    return Answer(tuple(verdicts), why, tuple(recordings), tuple(blames))


def _judged(view: View, found: Scenario, ask: Ask) -> tuple[RunVerdict, Study]:
    from lossless.simulation.advice import advice
    from lossless.simulation.engine import compiled_before, prepare
    from lossless.simulation.judge import judge
    from lossless.simulation.peers import patience
    from lossless.simulation.study import study

    rare = ask.record or ask.question.dead_nic or ask.question.slow_nic_bps is not None
    if ask.compiling is not None and not compiled_before(rare=rare):
        ask.compiling()
    prepare(rare=rare)
    seen = study(found, ask.limits, ask.progress)
    patient = patience(view, seen, ask.limits) if any(one.drops for one in seen.seen) else None
    return judge(seen, advice(view, seen, ask.limits), patient), seen


def _recorded(found: Scenario, seen: Study, verdict: RunVerdict) -> Recording:
    from lossless.simulation.recording import record
    from lossless.simulation.stage import stage

    first = seen.seen[0]
    return record(stage(found, first.seed), first.seed, first.outcome.ended_ns, verdict.scenario)


def _parts(view: View) -> Iterator[View]:
    """Yield a declared fabric whole, and of deployed devices one of each kind: links between them are not known."""
    if view.fabric.declared or view.fabric.links:
        yield view
        return
    for switch, _ in view.alike:
        yield View(view.fabric._replace(switches=(switch,)))
