"""From a view of a fabric and a question to the verdict of runs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.analysis.buffers.dynamic_model import with_computed_buffers
from lossless.analysis.buffers.headroom.port import MissingInput
from lossless.analysis.simulation.question.request import INTERPRETED, MISSING_NUMBA
from lossless.ground.basics.errors import NotHereError, ScenarioError
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.analysis.simulation.engine.recording import Recording
    from lossless.analysis.simulation.question.request import Ask, Question
    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.study.peers import Patience
    from lossless.analysis.simulation.study.study import Study
    from lossless.analysis.simulation.study.verdict import RunVerdict


def has_numba() -> bool:
    """Return whether the packet-level model can be compiled here."""
    from importlib.util import find_spec

    return find_spec("numba") is not None and find_spec("numpy") is not None


def why_not() -> str | None:
    """Return why no model can be run here at all, None where it can."""
    if not has_numba():
        return MISSING_NUMBA
    return INTERPRETED if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0") else None


class Answer(NamedTuple):
    """A verdict for each part of a fabric, why there is none of some, and what was recorded for pictures."""

    runs: tuple[RunVerdict, ...] = ()
    not_run: str | None = None
    recordings: tuple[Recording, ...] = ()


def answer(view: View, ask: Ask) -> Answer:
    """Return what runs say of a fabric.

    Raises:
        ScenarioError: what is asked cannot be, or would take too long.
    """
    if (reason := why_not()) is not None:
        return Answer(not_run=reason)
    from lossless.analysis.simulation.study.advice import advice
    from lossless.analysis.simulation.study.verdict import judge

    view = View(with_computed_buffers(view.fabric))
    verdicts: list[RunVerdict] = []
    recordings: list[Recording] = []
    reasons: list[str] = []
    for part, found in asked(view, ask.question):
        if isinstance(found, MissingInput):
            reasons.append(found.reason)
            continue
        seen, patient = followed(part, found, ask)
        verdicts.append(judge(seen, advice(part, seen, ask.limits), patient))
        recordings += [_recorded(found, seen, verdicts[-1])] if ask.record else []
    return Answer(tuple(verdicts), "; ".join(dict.fromkeys(reasons)) or None, tuple(recordings))


def asked(view: View, question: Question) -> Iterator[tuple[View, Scenario | MissingInput]]:
    """Yield each part of a fabric with the question put to it, or why it cannot be asked there.

    A port that is named has to be in one of the parts; the others are not run, and it is said.

    Raises:
        ScenarioError: what is asked cannot be.
    """
    elsewhere: list[tuple[View, NotHereError]] = []
    here = 0
    for part in parts(view):
        try:
            found = posed(part, question)
        except NotHereError as error:
            elsewhere.append((part, error))
            continue
        here += not isinstance(found, MissingInput)
        yield part, found
    if elsewhere and not here:
        raise elsewhere[0][1]
    for part, reason in elsewhere:
        yield part, MissingInput(f"{part.fabric.switches[0].name} is not run: {reason}")


def posed(view: View, question: Question) -> Scenario | MissingInput:
    """Return a question put to one part of a fabric, or what of it the model cannot follow.

    Raises:
        ScenarioError: what is asked cannot be.
    """
    from lossless.analysis.simulation.engine.check import check
    from lossless.analysis.simulation.question.instance import stage
    from lossless.analysis.simulation.question.scenario import scenario

    found = scenario(view, question)
    if isinstance(found, MissingInput):
        return found
    try:
        staged = stage(found, 1)
        check(staged.network, {node: staged.names[node] for node in range(staged.network.nodes)})
    except ScenarioError as error:
        return MissingInput(f"the model cannot follow this fabric: {error}")
    return found


def followed(view: View, found: Scenario, ask: Ask) -> tuple[Study, Patience | None]:
    """Return what all seeds of a scenario showed, and how quick peers must be where drops depend on it."""
    from lossless.analysis.simulation.engine.run import compiled_before, prepare
    from lossless.analysis.simulation.study.peers import patience
    from lossless.analysis.simulation.study.study import study

    rare = ask.record or ask.question.dead_nic or ask.question.slow_nic_bps is not None
    if ask.compiling is not None and not compiled_before(rare=rare):
        ask.compiling()
    prepare(rare=rare)
    seen = study(found, ask.limits, ask.progress)
    return seen, patience(view, seen, ask.limits) if any(one.drops for one in seen.seen) else None


def _recorded(found: Scenario, seen: Study, verdict: RunVerdict) -> Recording:
    from lossless.analysis.simulation.engine.recording import record
    from lossless.analysis.simulation.question.instance import stage

    first = seen.seen[0]
    return record(stage(found, first.seed), first.seed, first.outcome.ended_ns, verdict.scenario)


def parts(view: View) -> Iterator[View]:
    """Yield a declared fabric whole, and of deployed devices those that are linked together, and each that is apart."""
    fabric = view.fabric
    if fabric.declared:
        yield view
        return
    linked = _linked(view)
    for names in {id(names): names for names in linked.values()}.values():
        switches = tuple(switch for switch in fabric.switches if switch.name in names)
        yield View(fabric._replace(switches=switches, links=tuple(x for x in fabric.links if x.a in names)))
    for switch, _ in view.alike:
        if switch.name not in linked:
            yield View(fabric._replace(switches=(switch,), links=()))


def _linked(view: View) -> dict[str, set[str]]:
    """Return for each switch that has a link to another all that it is connected with."""
    found: dict[str, set[str]] = {}
    for link in view.fabric.links:
        joined = found.get(link.a, {link.a}) | found.get(link.b, {link.b})
        found.update(dict.fromkeys(joined, joined))
    return found
