"""From a view of a fabric and a question to the verdict of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.buffers.port import Missing
from lossless.fabric.view import View
from lossless.records import NamedTuple
from lossless.simulation.request import MISSING_NUMBA

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.simulation.judge import RunVerdict
    from lossless.simulation.peers import Patience
    from lossless.simulation.recording import Recording
    from lossless.simulation.request import Ask
    from lossless.simulation.scenario import Scenario
    from lossless.simulation.study import Study


def has_numba() -> bool:
    """Return whether the packet-level model can be compiled here."""
    from importlib.util import find_spec

    return find_spec("numba") is not None and find_spec("numpy") is not None


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
    if not has_numba():
        return Answer(not_run=MISSING_NUMBA)
    from lossless.simulation.advice import advice
    from lossless.simulation.judge import judge
    from lossless.simulation.scenario import scenario

    verdicts: list[RunVerdict] = []
    recordings: list[Recording] = []
    reasons: list[str] = []
    for part in parts(view):
        found = scenario(part, ask.question)
        if isinstance(found, Missing):
            reasons.append(found.reason)
            continue
        seen, patient = followed(part, found, ask)
        verdicts.append(judge(seen, advice(part, seen, ask.limits), patient))
        recordings += [_recorded(found, seen, verdicts[-1])] if ask.record else []
    return Answer(tuple(verdicts), "; ".join(dict.fromkeys(reasons)) or None, tuple(recordings))


def followed(view: View, found: Scenario, ask: Ask) -> tuple[Study, Patience | None]:
    """Return what all seeds of a scenario showed, and how quick peers must be where drops depend on it."""
    from lossless.simulation.engine import compiled_before, prepare
    from lossless.simulation.peers import patience
    from lossless.simulation.study import study

    rare = ask.record or ask.question.dead_nic or ask.question.slow_nic_bps is not None
    if ask.compiling is not None and not compiled_before(rare=rare):
        ask.compiling()
    prepare(rare=rare)
    seen = study(found, ask.limits, ask.progress)
    return seen, patience(view, seen, ask.limits) if any(one.drops for one in seen.seen) else None


def _recorded(found: Scenario, seen: Study, verdict: RunVerdict) -> Recording:
    from lossless.simulation.recording import record
    from lossless.simulation.stage import stage

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
