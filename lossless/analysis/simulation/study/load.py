"""The load that a fabric carries: a permutation among its NIC ports, and the costs that take rate from it.

In a permutation every NIC port sends to one other and receives from one other, so a fabric without oversubscription
could carry all of it at line rate. The same permutation runs under conditions of which each has one cost more: ideal
spreading with reordering allowed, the declared load balancing with PFC alone, the order that NICs need, and the
declared congestion control. A difference between two of them is the cost of the added condition.

Figures are shares of those under ideal spreading: flow rates in a window in which all flows send, and the time of a
step, in which every NIC port sends its bytes and the last flow ends it. NICs with DCQCN need a few rate-increase timers
to recover from the collisions of the first round-trip times, so long transfers and short steps may differ.
"""

from __future__ import annotations

import random
from functools import partial
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.buffers.verdict import PfcLoad
from lossless.analysis.simulation.engine.run import Simulation
from lossless.analysis.simulation.question.instance import instantiate
from lossless.analysis.simulation.question.request import chooses, spread_ideally
from lossless.analysis.simulation.study.calculated_load import (
    LEAST_COST,
    LEAST_LAST,
    LEAST_MEAN,
    IpPaths,
    SharingExpectation,
    choice_in_words,
    expectation,
    fair_rates_bps,
    mean_and_slowest,
)
from lossless.analysis.simulation.study.loss import step_time_ns
from lossless.analysis.simulation.study.measure import measure
from lossless.analysis.simulation.study.study import (
    LONGEST_STEPS,
    events_of,
    ideal_network,
    in_threads,
    require_events,
    seeds_of,
    without_loss,
)
from lossless.analysis.simulation.study.verdict import Range, describe, in_mib
from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import joined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lossless.analysis.simulation.engine.network import SimNetwork
    from lossless.analysis.simulation.question.instance import ScenarioInstance
    from lossless.analysis.simulation.question.request import Limits, Question
    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.study.measure import SeedResult

SEEDS = 3
"""Random seeds: each is another choice of who sends to whom, and of paths."""
WINDOW_STEPS, STEADY_STEPS = 8, 2
"""Length of the run in which all flows send, in steps at line rate: with congestion control, whose rates move, and
without. The second half of it is the window: DCQCN starts at line rate, and settles in the first."""
LOAD_SHARE = 1 / 2
"""The part of a report's budget of events for the runs of a permutation."""


class LoadRun(NamedTuple):
    """One run of the permutation: shares of the figures under ideal spreading.

    ``mean`` and ``slowest_tenth`` are flow rates in the window of the first seed: of all flows, and of the slowest
    tenth of them. ``last_flow`` is the time of a step under ideal spreading over that of the last flow, or over that of
    the run where a flow had not ended. ``time_in_pause`` is the paused part of the run of the NIC port that was paused
    most, the median over seeds.
    """

    name: str
    adds: str
    mean: float
    slowest_tenth: float
    last_flow: Range
    time_in_pause: float


class Load(NamedTuple):
    """The load of a permutation of the NIC ports of a fabric: the runs, each with one cost more than the one before.

    ``of_line_rate`` is the mean part of the line rate of NIC ports that flows of seed 1 have under ideal spreading,
    ``window_us`` the time in which flow rates of the last run are measured. ``stand_ins`` name the congestion
    controls that their NICs are not known to run as shipped: rates may lie between, or outside, those of
    the last two runs. ``reduced`` is a line on the parts that were left out to keep to a budget of events.
    """

    scenario: str
    seeds: int
    of_line_rate: float
    window_us: tuple[float, float]
    runs: tuple[LoadRun, ...]
    expected: SharingExpectation | None
    stand_ins: tuple[str, ...] = ()
    reduced: str = ""

    @property
    def verdict(self) -> str:
        """Whether the load is carried; it is no part of the verdict on loss."""
        declared = self.runs[-1]
        carried = declared.mean >= LEAST_MEAN and declared.last_flow.median >= LEAST_LAST
        return "carried" if carried else "not carried"

    @property
    def causes(self) -> tuple[str, ...]:
        """The costs above :data:`LEAST_COST` in words: flow rates or last flows before and after."""
        texts = []
        for before, run in pairwise(self.runs):
            parts = [
                f"{what} from {of[0]:.0%} to {of[1]:.0%}"
                for what, of in (
                    ("flow rates", (before.mean, run.mean)),
                    ("the last flow", (before.last_flow.median, run.last_flow.median)),
                )
                if of[0] - of[1] > LEAST_COST
            ]
            texts += [f"{run.adds}: {', '.join(parts)}"] if parts else []
        return tuple(texts)


class PosedLoad(NamedTuple):
    """A permutation reduced to the budget of a report, its number of seeds, and a line on the parts left out."""

    scenario: Scenario
    seeds: int
    reduced: str


def pose_load(
    pose: Callable[[Question], Scenario | MissingInput], question: Question, limits: Limits
) -> PosedLoad | MissingInput:
    """Return a permutation, reduced to fit into its share of the budget by an estimate of its runs with all causes.

    First leaves are left out, so that the uplinks of the others keep their full load; where two remain, or ``question``
    names how many NIC ports take part, seeds; last, NIC ports send less, a byte at least. ``pose`` returns the scenario
    of a question, or the missing input, which is then the result.

    Raises:
        ScenarioError: ``pose`` raises it.
    """
    posed = pose(question)
    if isinstance(posed, MissingInput):
        return posed
    whole = posed
    most = seeds = len(seeds_of(posed, limits._replace(seeds=min(limits.seeds, SEEDS))))
    allowed = None if limits.budget is None else int(LOAD_SHARE * limits.budget)
    while allowed is not None and (events := estimated_load_events(posed, seeds)) > allowed:
        fewer = question._replace(most_loaded=len(posed.nics) * allowed // events)
        with_fewer = pose(fewer)
        if isinstance(with_fewer, MissingInput):
            return with_fewer
        if len(with_fewer.nics) < len(posed.nics):
            posed, question = with_fewer, fewer
        elif seeds > 1:
            seeds -= 1
        elif question.size_bytes > 1:
            # A run takes a few events even without bytes: never as many bytes again.
            question = question._replace(size_bytes=max(1, question.size_bytes * allowed // events))
            smaller = pose(question)
            if isinstance(smaller, MissingInput):
                return smaller
            posed = smaller
        else:
            break
    return PosedLoad(posed, seeds, _reduced(whole, posed, most, seeds, allowed))


def estimated_load_events(scenario: Scenario, seeds: int) -> int:
    """Return about how many events the runs of a load take: a step for each seed, and windows of the first."""
    conditions = [*_conditions(scenario)]
    steps = len(conditions) * seeds + sum(_window_steps(each.scenario) for each in conditions)
    return steps * events_of(instantiate(scenario, 1).network)


def _reduced(whole: Scenario, posed: Scenario, most: int, seeds: int, allowed: int | None) -> str:
    """Return a line on the NICs, seeds and bytes of a permutation that were left out, empty if none were."""
    parts = []
    if len(posed.nics) < len(whole.nics):
        parts.append(f"{len(posed.nics):,} NICs on whole leaves of {len(whole.nics):,}")
    if seeds < most:
        parts.append(f"{seeds} of {most} seeds")
    if posed.question.size_bytes < whole.question.size_bytes:
        sizes = (in_mib(each.question.size_bytes) for each in (posed, whole))
        parts.append(f"{' of '.join(sizes)} each")
    return f"{joined(parts)}, to keep to {allowed:,} events (--seeds {SEEDS} runs all)" if parts else ""


def load_of(posed: PosedLoad, limits: Limits, *, with_causes: bool = True) -> tuple[Load | None, PfcLoad]:
    """Return the load of a permutation, and the load on PFC.

    Without causes only the declared condition is run, and the first result is None.

    Raises:
        ScenarioError: the runs would take more events than ``limits`` allow, or there is no seed to run.
    """
    scenario, limits = posed.scenario, limits._replace(seeds=posed.seeds)
    conditions = [*_conditions(scenario)][0 if with_causes else -1 :]
    seeds = seeds_of(scenario, limits)
    # Of each seed: in another permutation other flows cross the uplinks, which counts where these are oversubscribed.
    ideals = [_Ideal.of(scenario, seed) for seed in seeds]
    ideal = ideals[0]
    in_windows = sum(_window_steps(each.scenario) for each in conditions) if with_causes else 0
    runs_of_a_step = len(conditions) * len(seeds) + in_windows
    first = instantiate(scenario, 1)
    require_events(first.network, LONGEST_STEPS * ideal.step_ns, limits._replace(seeds=runs_of_a_step))
    steps = [
        partial(_step, each, own, seed)
        for each in conditions
        for own, seed in zip(ideals, seeds, strict=True)
    ]
    windows = [partial(_window, each, ideal) for each in conditions] if with_causes else []
    found = in_threads([*steps, *windows], limits.threads)
    of_condition = [found[at * len(seeds) : (at + 1) * len(seeds)] for at in range(len(conditions))]
    pfc = pfc_load(scenario, [step.seed for step in of_condition[-1]])
    if not with_causes:
        return None, pfc
    runs = []
    for each, steps_of, (mean, slowest) in zip(conditions, of_condition, found[len(steps) :], strict=True):
        last_flow = _range([step.share for step in steps_of])
        paused = median(step.seed.pauses.nic_share for step in steps_of)
        runs.append(LoadRun(each.name, each.adds, mean, slowest, last_flow, paused))
    end_us = _window_steps(scenario) * ideal.step_ns / 1000
    load = Load(
        describe(scenario),
        len(seeds),
        float(_ideal_rates_bps(scenario, first)[1].mean()),
        (end_us / 2, end_us),
        tuple(runs),
        _expected(scenario),
        tuple(
            control.name
            for control in scenario.rate_controls
            if control.stands_in and scenario.dcqcn is not None
        ),
        posed.reduced,
    )
    return load, pfc


class _Condition(NamedTuple):
    """A named scenario, and the cost that it adds to the condition before; ``roomy``: unlimited memory, no pauses."""

    name: str
    adds: str
    scenario: Scenario
    roomy: bool = False

    def instance(self, seed: int, steps: int = 1) -> ScenarioInstance:
        """Return the network of a seed in which each NIC port sends the bytes of so many steps."""
        question = self.scenario.question
        question = question._replace(size_bytes=question.size_bytes * steps)
        made = instantiate(self.scenario._replace(question=question), seed)
        return made._replace(network=without_loss(made.network)) if self.roomy else made


def _conditions(scenario: Scenario) -> Iterator[_Condition]:
    """Yield the conditions of a permutation, each with one cost more, up to the declared one."""
    question, alone = scenario.question, scenario._replace(dcqcn_of=dict.fromkeys(scenario.nics))
    yield _Condition("ideal spreading", "", alone._replace(question=spread_ideally(question)), roomy=True)
    choice = choice_in_words(question)
    if not chooses(question):
        yield _Condition(f"{choice}, PFC alone", "hash collisions", alone)
    else:
        if (question.load_balancing, question.by_tier) != ("spray", ()):
            free = alone._replace(question=question._replace(ahead_frames=0))
            yield _Condition(f"{choice}, any order, PFC alone", "paths that switches choose", free)
        if question.ahead_frames != 0:
            yield _Condition(f"{choice}, PFC alone", "packets out of order", alone)
    if scenario.dcqcn is not None:
        yield _Condition(f"{choice}, DCQCN", "rate control", scenario)


class _Ideal(NamedTuple):
    """A step under ideal spreading: its time, and the part of this time that NIC ports alone would take."""

    step_ns: float
    of_line_rate: float

    @classmethod
    def of(cls, scenario: Scenario, seed: int) -> _Ideal:
        network = ideal_network(scenario, seed)
        step_ns = step_time_ns(network)
        return cls(step_ns, step_time_ns(_without_switches(network)) / step_ns)


def _without_switches(network: SimNetwork) -> SimNetwork:
    """Return a network in which flows have the links of their NIC ports alone."""
    flows = []
    for flow in network.flows:
        flows += [flow._replace(path=ends, spread=None) for ends in (flow.path[:2], flow.path[-2:])]
    return network._replace(flows=tuple(flows))


class _Step(NamedTuple):
    """One seed of a step: its results, and the time under ideal spreading over that of the last flow."""

    seed: SeedResult
    share: float


def _step(of: _Condition, ideal: _Ideal, seed: int, go_on: Callable[[], bool]) -> _Step:
    instance = of.instance(seed)
    simulation = Simulation(instance.network, seed)
    simulation.advance(LONGEST_STEPS * ideal.step_ns, go_on)
    flows = simulation.state.flows[simulation.state.flows["counts"] == 1]
    done_ps = flows["done_at"]
    ended_ps = done_ps.max() if (done_ps >= 0).all() else simulation.state.clock["now"][0]
    seen = measure(simulation, instance, seed, cut=not simulation.ended)
    return _Step(seen, ideal.step_ns * 1000 / int(ended_ps))


def _window_steps(scenario: Scenario) -> int:
    return STEADY_STEPS if scenario.dcqcn is None else WINDOW_STEPS


def _window(of: _Condition, ideal: _Ideal, go_on: Callable[[], bool]) -> tuple[float, float]:
    """Return the mean flow rate, and that of the slowest tenth, in a window in which all flows send.

    Both are parts of the ideal rates.
    """
    steps = _window_steps(of.scenario)
    end_ns = steps * ideal.step_ns
    # More than a NIC port at line rate sends: no flow ends in the window.
    instance = of.instance(1, steps=1 + int(steps / ideal.of_line_rate))
    simulation = Simulation(instance.network, 1)
    delivered = []
    for until_ns in (end_ns / 2, end_ns):
        simulation.advance(until_ns, go_on)
        delivered.append(simulation.state.flows["expected_psn"][[*simulation.index.flow_at]])
    rates_bps = (delivered[1] - delivered[0]) * 8e9 / (end_ns / 2)
    return mean_and_slowest(rates_bps / _ideal_rates_bps(of.scenario, instance)[0])


def _ideal_rates_bps(scenario: Scenario, instance: ScenarioInstance) -> tuple[Any, Any]:
    """Return the payload rate of each flow under ideal spreading, and the part of its NIC ports' line rate that it is.

    Rates are max-min fair: flows that do not cross a full link have more than those that do.
    """
    network, topology = instance.network, scenario.topology
    # An instance numbers the nodes that its flows use, a topology all of them.
    node_of = {name: node for node, name in enumerate(topology.names)}
    ends = [[node_of[instance.names[end]] for end in (flow.path[0], flow.path[-1])] for flow in network.flows]
    rate_of = {frozenset((cable.a, cable.b)): cable.rate_bps for cable in network.cables}
    besides = network.physics.overhead_bytes + network.physics.gap_bytes
    paths, rng = _ideal_paths(scenario), random.Random(0)
    fair_bps = fair_rates_bps([paths.parts(source, target, rng) for source, target in ends], paths.rate_bps)
    payload = np.array([flow.mtu_bytes / (flow.mtu_bytes + besides) for flow in network.flows])
    line_bps = np.array([
        min(rate_of[frozenset(flow.path[:2])], rate_of[frozenset(flow.path[-2:])]) for flow in network.flows
    ])  # fmt: skip
    return fair_bps * payload, fair_bps / line_bps


def _ideal_paths(scenario: Scenario) -> IpPaths:
    return IpPaths(spread_ideally(scenario.question), scenario.topology, scenario.routes)


def _range(values: Sequence[float]) -> Range:
    return Range(min(values), median(values), max(values))


def _expected(scenario: Scenario) -> SharingExpectation | None:
    """Return the flow rates by calculation as switches choose links, None where no flow has a choice."""
    paths = IpPaths(scenario.question, scenario.topology, scenario.routes)
    return expectation(paths, scenario.groups, _ideal_paths(scenario))


def pfc_load(scenario: Scenario, seeds: Sequence[SeedResult]) -> PfcLoad:
    """Return the load on PFC over the seeds of a scenario."""
    by_length = sorted(seeds, key=lambda seed: seed.pauses.longest_ns / seed.pauses.longest_limit_ns)
    longest = by_length[len(seeds) // 2].pauses
    return PfcLoad(
        scenario=describe(scenario),
        seeds=len(seeds),
        nics_paused=median(seed.propagation.nics / max(1, seed.propagation.all_nics) for seed in seeds),
        longest_pause_us=longest.longest_ns / 1000,
        longest_pause_limit_us=longest.longest_limit_ns / 1000,
        time_in_pause=median(seed.pauses.nic_share for seed in seeds),
    )
