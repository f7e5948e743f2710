"""How long a scenario is followed, how often, and what is refused before it starts."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from lossless.analysis.simulation.engine.run import Simulation
from lossless.analysis.simulation.question.instance import DEAD_FROM_NS, instantiate
from lossless.analysis.simulation.question.request import Limits
from lossless.analysis.simulation.study import study as module
from lossless.analysis.simulation.study.loss import step_time_ns
from lossless.analysis.simulation.study.study import (
    LONGEST_STEPS,
    QUIET_TIMERS,
    Times,
    events_of,
    follow,
    is_random,
    study,
)
from lossless.analysis.simulation.study.verdict import run_verdict
from lossless.ground.basics.errors import ScenarioError
from lossless.model.fabric.cluster import PATTERNS
from lossless.model.hardware.load import load_nic
from lossless.output.report.simulation.verdict_text import measured
from tests.analysis.simulation.fabrics import (
    DEADLOCKED,
    EXAMPLE,
    PFC_ONLY,
    Patch,
    declared,
    deployed,
    example,
    put,
    ring_of_leaves,
)

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.network import SimNetwork
    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.study.measure import SeedResult
    from lossless.model.fabric.cluster import Pattern
    from lossless.model.fabric.view import View

US, MS = 1e3, 1e6
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
INCREASE_US = 300
"""ConnectX's rpg_time_reset."""
INTENT, LEAF = declared(), deployed()


def run(found: Scenario, seed: int = 1, **limits: Any) -> SeedResult:
    """Return the last of some seeds, each followed as a study follows it."""
    return study(found, Limits(seeds=seed, **limits)).seeds[-1]


# --- how long a step is ---


def test_a_step_takes_what_its_most_loaded_link_needs_at_line_rate() -> None:
    """8 MiB are 2,048 frames of 4,096 B, each with 62 B of headers and 20 B of gap: 171.13 us at 400G."""
    frames_ns = (8 * MIB + 2048 * 82) * 8 / 400
    network = {name: instantiate(put(LEAF, pattern=name), 1).network for name in PATTERNS}
    assert step_time_ns(network["incast"]) == pytest.approx(11 * frames_ns)
    assert step_time_ns(network["permutation"]) == pytest.approx(frames_ns)
    assert step_time_ns(network["all-to-all"]) == pytest.approx(frames_ns, rel=1e-3)
    assert step_time_ns(network["ring"]) == pytest.approx(2 * 11 / 12 * frames_ns, rel=1e-3)
    assert step_time_ns(network["tree"]) == pytest.approx(3 * frames_ns)


def test_parallel_links_share_the_load_of_a_step() -> None:
    """Eight NICs of leaf2 send to one at leaf1 by way of two links of 100G: longer than 15 take into 400G."""
    slow = {"topology": {"leaf_spine": {"spines": 1, "uplinks": "2 x 100G", "oversubscription": 16}}}
    network = instantiate(put(declared(slow)), 1).network
    assert step_time_ns(network) == pytest.approx(8 * (8 * MIB + 2048 * 82) * 8 / 200)


def test_a_step_of_sprayed_flows_takes_what_an_even_share_of_all_equal_paths_needs() -> None:
    """Sixteen NICs of 400G under two leaves, four uplinks of 800G each: a permutation fits, whatever paths collide."""
    frames_ns = (8 * MIB + 2048 * 82) * 8 / 400
    for seed in range(1, 9):
        stated = instantiate(put(INTENT, pattern="permutation"), seed).network
        sprayed = instantiate(put(INTENT, pattern="permutation", load_balancing="spray"), seed).network
        assert step_time_ns(sprayed) == pytest.approx(frames_ns)
        assert step_time_ns(stated) >= step_time_ns(sprayed)


def test_a_step_of_sprayed_flows_is_what_each_of_its_routes_carries_the_same_of() -> None:
    """On a Clos each route has the same part of a flow; uplinks of 100G carry four times what is theirs."""
    slow = {"topology": {"leaf_spine": {"uplinks": "2 x 100G", "oversubscription": 8}}}
    for pattern in PATTERNS:
        network = instantiate(put(declared(slow), pattern=pattern, load_balancing="adaptive"), 3).network
        assert step_time_ns(network) == pytest.approx(by_routes(network))


def by_routes(network: SimNetwork) -> float:
    """Return the same, route by route: every spine, and every parallel link, is one."""
    spines = [
        node for node in network.switches if not any(node in (f.path[1], f.path[-2]) for f in network.flows)
    ]
    loads: dict[tuple[int, int], float] = {}
    for flow in network.flows:
        near, far = flow.path[1], flow.path[-2]
        wire = flow.size_bytes + -(-flow.size_bytes // flow.mtu_bytes) * 82
        hops = [((flow.path[0], near), 1.0), ((far, flow.path[-1]), 1.0)]
        hops += [
            (hop, 1 / len(spines)) for spine in spines if near != far for hop in ((near, spine), (spine, far))
        ]
        for hop, part in hops:
            loads[hop] = loads.get(hop, 0) + wire * part
    rates = {pair: sum(c.rate_bps for c in network.cables if {c.a, c.b} == set(pair)) for pair in loads}
    return max(loads[pair] * 8e9 / rates[pair] for pair in loads)


# --- how long a run goes on ---

TIMES = st.tuples(st.floats(0, 3 * MS), st.floats(1, 5 * MS), st.floats(0, 2 * MS)).map(lambda t: Times(*t))


@settings(max_examples=60)
@given(TIMES, st.sampled_from(PATTERNS), st.sampled_from([100, 64 * KIB, 4 * MIB]), st.booleans())
def test_a_run_is_followed_for_a_step_and_until_nothing_grows_and_no_longer(
    times: Times, pattern: Pattern, size_bytes: int, of_intent: bool
) -> None:
    found = put(INTENT if of_intent else LEAF, pattern=pattern, size_bytes=size_bytes)
    seen = follow(instantiate(found, 1), 1, times)
    ended_ns, grew_ns = seen.outcome.ended_ns, seen.outcome.grew_ns
    under_way = seen.outcome.flows_done < seen.outcome.flows
    assert ended_ns <= times.horizon_ns + 0.001
    assert seen.cut == under_way
    if under_way:
        assert ended_ns >= min(times.step_ns, times.horizon_ns) - 0.001
    if under_way and ended_ns < times.horizon_ns - 0.001:
        assert ended_ns - grew_ns >= times.quiet_ns - 0.001


def test_nothing_is_followed_beyond_its_last_byte() -> None:
    seen = run(put(LEAF))
    assert not seen.cut
    assert seen.outcome.delivered_bytes == seen.outcome.size_bytes == 11 * 8 * MIB
    assert seen.outcome.ended_ns == pytest.approx(11 * 8 * MIB * (4178 / 4096) * 8 / 400, rel=0.01)


@pytest.mark.parametrize(("increase_us", "ended_ms"), [(INCREASE_US, 22.56), (1000, 22.56), (3000, 33.49)])
def test_a_run_ends_after_a_step_and_ten_increase_timers_without_growth(
    increase_us: int, ended_ms: float
) -> None:
    """A step of 20.5 ms with its slack is 22.56 ms; ten timers of 3 ms after the last growth, at 3.54 ms, are later."""
    assert QUIET_TIMERS == 10
    patch = {"congestion_control": {"dcqcn": {"rpg_time_reset": f"{increase_us}us"}}}
    found = put(declared(patch), size_bytes=64 * MIB)
    assert found.dcqcn is not None
    assert found.dcqcn.increase_us == increase_us
    seen = run(found)
    assert seen.cut
    assert seen.outcome.ended_ns == pytest.approx(ended_ms * MS, rel=1e-3)
    assert seen.outcome.ended_ns - seen.outcome.grew_ns >= 10 * increase_us * US - 0.001


def test_without_dcqcn_a_millisecond_of_quiet_is_enough() -> None:
    """Its WRED drops what it should mark: go-back-N goes on for long, and nothing grows."""
    drops = {"WRED_PROFILE": {"AZURE_LOSSLESS": {"ecn": "ecn_none"}}}
    seen = run(put(deployed(drops)))
    assert seen.cut
    assert seen.outcome.ended_ns - seen.outcome.grew_ns >= 1 * MS
    assert seen.outcome.ended_ns == pytest.approx(1.05 * 1.8824 * MS + 1 * MS, rel=1e-3)


@pytest.mark.parametrize("size_bytes", [8 * MIB, 64 * MIB])
@pytest.mark.parametrize("view", [INTENT, LEAF], ids=["intent", "leaf"])
def test_no_run_ends_in_a_silence_that_is_not_the_end(view: View, size_bytes: int) -> None:
    """Senders recover in waves, and each wave may be the one that fires PFC: later ones must show nothing new."""
    found = put(view, size_bytes=size_bytes, nic=load_nic("connectx-7"))
    seen, simulation = run(found), Simulation(instantiate(found, 1).network, 1)
    simulation.advance(200 * MS)
    later = simulation.outcome()
    assert (later.egress, later.group, later.headroom) == (
        seen.outcome.egress,
        seen.outcome.group,
        seen.outcome.headroom,
    )
    assert later.first_pause_ns == seen.outcome.first_pause_ns


def test_the_horizon_is_twenty_steps_and_twice_the_quiet_time() -> None:
    assert LONGEST_STEPS == 20
    found = study(put(INTENT), Limits(seeds=1))
    assert found.horizon_ns == pytest.approx(20 * found.step_ns + 2 * 10 * INCREASE_US * US)


def test_a_dead_nic_is_followed_until_the_watchdog_has_had_its_time_twice() -> None:
    """It polls every 600 ms and detects after 1,200 ms."""
    found = study(put(INTENT, dead_nic=True), Limits(seeds=1))
    assert found.horizon_ns == DEAD_FROM_NS + 2 * (1200 + 600) * MS
    assert found.seeds[0].outcome.ended_ns == found.horizon_ns
    assert found.seeds[0].cut


def test_a_pfc_deadlock_is_no_run_that_was_cut() -> None:
    """Nothing can happen any more, so nothing is gained by going on."""
    seen = run(put(ring_of_leaves({"pfc": {"watchdog": "off"}}), **DEADLOCKED))
    assert seen.outcome.flows_done < seen.outcome.flows
    assert (bool(seen.cycle), seen.cut) == (True, False)


# --- random seeds ---

CHANCY: tuple[tuple[Patch, dict[str, Any]], ...] = (
    ({}, {"pattern": "permutation"}),
    ({}, {"storage": 0.2}),
)


def test_dcqcn_runs_as_many_seeds_as_are_asked_for() -> None:
    found = study(put(INTENT, nics=8, size_bytes=MIB), Limits(seeds=5))
    assert [one.seed for one in found.seeds] == [1, 2, 3, 4, 5]
    assert len({one.outcome for one in found.seeds}) == 5


@pytest.mark.parametrize(("patch", "question"), CHANCY, ids=["permutation", "storage"])
def test_who_sends_to_whom_is_random(patch: Patch, question: dict[str, Any]) -> None:
    found = put(deployed(patch), **question)
    assert is_random(found)
    assert len({one.outcome for one in study(found, Limits(seeds=3)).seeds}) == 3


def test_which_path_is_taken_is_random() -> None:
    found = put(declared(PFC_ONLY))
    assert is_random(found)
    assert len({one.outcome for one in study(found, Limits(seeds=3)).seeds}) == 3


def test_where_nothing_is_random_one_seed_runs() -> None:
    """One switch, nobody who heeds marks: every seed shows the same, so that one is enough."""
    found = put(LEAF)
    assert not is_random(found)
    assert [one.seed for one in study(found, Limits(seeds=12)).seeds] == [1]
    times = Times(2 * MS, 20 * MS, 1 * MS)
    shown = {
        follow(instantiate(found, seed), seed, times)._replace(seed=0).outcome._replace(marks=0)
        for seed in (1, 2)
    }
    assert len({one._replace(first_mark_ns=None) for one in shown}) == 1


def test_frames_that_wred_drops_are_random() -> None:
    curve = {
        "green_min_threshold": "1000000",
        "green_max_threshold": "80000000",
        "green_drop_probability": "1",
    }
    found = put(deployed({"WRED_PROFILE": {"AZURE_LOSSLESS": {"ecn": "ecn_none", **curve}}}))
    times = Times(2 * MS, 20 * MS, 1 * MS)
    drops = {follow(instantiate(found, seed), seed, times).refused for seed in (1, 2, 3)}
    assert (len(drops) > 1) == is_random(found)


def test_no_seeds_are_no_study() -> None:
    with pytest.raises(ScenarioError, match="seeds is 0; expected at least 1"):
        study(put(LEAF), Limits(seeds=0))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_neither_threads_nor_their_order_change_what_is_seen(threads: int) -> None:
    found = put(INTENT, pattern="permutation", size_bytes=MIB)
    together = study(found, Limits(seeds=5, threads=threads))
    times = Times(together.step_ns, together.horizon_ns, 10 * INCREASE_US * US)
    alone = [follow(instantiate(found, seed), seed, times) for seed in (5, 3, 1, 4, 2)]
    assert list(together.seeds) == sorted(alone, key=lambda one: one.seed)


def test_progress_counts_up_to_all_seeds() -> None:
    told: list[tuple[int, int]] = []
    study(put(INTENT, size_bytes=64 * KIB), Limits(seeds=4), lambda done, of: told.append((done, of)))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


# --- how much work it is ---

ESTIMATED = [
    pytest.param("incast", 8 * MIB),
    pytest.param("incast", 64 * KIB),
    pytest.param("permutation", 8 * MIB),
    pytest.param("permutation", 64 * KIB),
    pytest.param("all-to-all", 8 * MIB),
    pytest.param("ring", 8 * MIB),
    pytest.param("tree", 2 * MIB),
]


@pytest.mark.parametrize(("pattern", "size_bytes"), ESTIMATED)
def test_the_estimate_is_no_less_than_the_events_that_happen(pattern: Pattern, size_bytes: int) -> None:
    found = put(INTENT, pattern=pattern, size_bytes=size_bytes)
    assert run(found).outcome.events <= events_of(instantiate(found, 1).network)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_estimate_is_of_the_order_of_the_events_that_happen(pattern: Pattern) -> None:
    for view in (declared(PFC_ONLY), LEAF):
        found = put(view, pattern=pattern, size_bytes=2 * MIB)
        seen = run(found)
        assert not seen.cut
        assert (
            seen.outcome.events / 1.2 <= events_of(instantiate(found, 1).network) <= 10 * seen.outcome.events
        )


@pytest.mark.parametrize("size_bytes", [8 * MIB, 64 * MIB])
def test_the_estimate_is_of_that_order_where_senders_are_slowed_down(size_bytes: int) -> None:
    found = put(INTENT, size_bytes=size_bytes)
    events = run(found).outcome.events
    assert events <= events_of(instantiate(found, 1).network) <= 10 * events


def test_too_many_events_are_refused_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> SeedResult:
        raise AssertionError("it ran")

    monkeypatch.setattr(module, "follow", never)
    found = put(example(), size_bytes=GIB)
    with pytest.raises(ScenarioError) as refused:
        study(found, Limits(seeds=12))
    events = events_of(instantiate(found, 1).network) * 12
    assert events > 2e9
    assert str(refused.value) == (
        f"this would take about {events:,} events, more than the 2,000,000,000 allowed; "
        "make --size, --nics or --seeds smaller, or allow more with --max-events"
    )


def test_each_seed_counts_toward_what_is_allowed() -> None:
    found = put(INTENT, size_bytes=64 * KIB)
    events = events_of(instantiate(found, 1).network)
    assert len(study(found, Limits(seeds=3, events=3 * events)).seeds) == 3
    with pytest.raises(ScenarioError, match="more than the"):
        study(found, Limits(seeds=3, events=3 * events - 1))


def test_a_study_runs_the_seeds_that_its_share_of_a_budget_has_events_for() -> None:
    """By the events of the first seed, so that no result depends on how fast a machine is."""
    found = put(INTENT)
    whole = study(found, Limits(seeds=6, budget=None))
    first = whole.seeds[0].outcome.events
    for fitting in (1, 3, 6):
        cut = study(found, Limits(seeds=6, budget=fitting * first), share=1)
        assert cut.seeds == whole.seeds[:fitting]
        assert cut.left_out == 6 - fitting
    least = study(found, Limits(seeds=6, budget=1))
    assert (len(least.seeds), least.left_out) == (1, 5), "one seed always runs"


def test_progress_counts_to_the_seeds_that_a_budget_leaves() -> None:
    first = study(put(INTENT), Limits(seeds=1)).seeds[0].outcome.events
    counted: list[tuple[int, int]] = []
    study(
        put(INTENT),
        Limits(seeds=6, threads=1, budget=3 * first),
        lambda *now: counted.append(now),
        share=1,
    )
    assert counted == [(1, 3), (2, 3), (3, 3)]


def test_seeds_that_a_budget_left_out_are_named() -> None:
    cut = run_verdict(study(put(INTENT), Limits(seeds=6, budget=1)))
    assert (
        "1 of 6 seeds, to keep to the events of a report (--seeds 6 runs all)" in dict(measured(cut))["ran"]
    )
    whole = run_verdict(study(put(INTENT), Limits(seeds=6)))
    assert dict(measured(whole))["ran"].startswith("6 seeds, ")


# --- interrupted ---

PROGRAM = f"""
import sys
from lossless.analysis.simulation.study import study
follow = study.follow
def said(*given):
    print("running", flush=True)
    return follow(*given)
study.follow = said
from lossless.interfaces.cli import main
sys.exit(main(["simulate", {str(EXAMPLE)!r}, "--workload", "ring", "--size", "256MiB", "--max-events", str(10**12)]))
"""


@pytest.mark.tools("hanging")
def test_ctrl_c_ends_it_without_a_traceback() -> None:
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=pipe, stderr=pipe, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert set(out.split()) <= {"running"}
