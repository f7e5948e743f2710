"""Sweeps: each setting is what a run of its own shows, whoever does the work and in whatever order."""

from __future__ import annotations

import threading
import tracemalloc
from bisect import bisect_left
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import given, settings, strategies as st

from lossless.analysis.simulation.engine.network import (
    UNBOUNDED,
    SimFlow,
    SimGroup,
    SimQueue,
    SimSwitch,
    SimWatchdog,
    SimWred,
)
from lossless.analysis.simulation.engine.run import Simulation, prepare
from lossless.analysis.simulation.question.instance import ScenarioInstance, instantiate
from lossless.analysis.simulation.question.nodes import PortLink
from lossless.analysis.simulation.question.request import Limits, Question
from lossless.analysis.simulation.question.scenario import Scenario, scenario
from lossless.analysis.simulation.study import grid as grids
from lossless.analysis.simulation.study.grid import Grid, ThresholdSetting, TrialSetting, parse_grid
from lossless.analysis.simulation.study.measure import measure
from lossless.analysis.simulation.study.study import Study
from lossless.analysis.simulation.study.sweep import Sweep, SweepRow, sweep
from lossless.analysis.simulation.study.trial import Bench
from lossless.analysis.simulation.study.verdict import run_verdict
from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.basics.errors import QuantityError, ScenarioError
from lossless.ground.documents import load_text
from lossless.model.fabric.view import View
from tests.all_cases import ALL_CASES
from tests.analysis.simulation.connected import connected
from tests.interfaces.cli.inputs import INTENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lossless.analysis.simulation.study.measure import SeedResult

HORIZON_NS = 100_000
ONE, THREE = Limits(seeds=1), Limits(seeds=3)
GRID = Grid(dynamic_th=(-8, -4, 0), kmin_bytes=(20_000, 400_000), headroom_bytes=(9_000, 99_000, 400_000))
"""From settings that drop to settings that never pause."""
INCAST = Question(size_bytes=1 << 20)


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    prepare()


@cache
def scene(question: Question = INCAST, intent: str = INTENT) -> Scenario:
    found = scenario(View(resolve(load_intent(load_text(intent, "fabric.yaml")))), question)
    assert isinstance(found, Scenario)
    return found


def rebuilt(found: Scenario, setting: ThresholdSetting) -> Scenario:
    """Return the scenario of a fabric that is configured so."""
    ends = {
        key: end._replace(
            queues=(queue_with(end.queues[0], setting), *end.queues[1:]),
            groups=(group_with(end.groups[0], setting), *end.groups[1:]),
        )
        for key, end in found.ends.items()
    }
    return found._replace(ends=ends)


def queue_with(queue: SimQueue, setting: ThresholdSetting) -> SimQueue:
    given = setting.kmin_bytes, setting.kmax_bytes, setting.pmax_percent
    if given == (None, None, None):
        return queue
    old = queue.wred or SimWred(0, 0, 0)
    kmin, kmax, pmax = given
    return queue._replace(
        wred=SimWred(
            old.kmin_bytes if kmin is None else kmin,
            old.kmax_bytes if kmax is None else kmax,
            old.pmax if pmax is None else pmax / 100,
        )
    )


def group_with(group: SimGroup, setting: ThresholdSetting) -> SimGroup:
    if group.headroom_bytes is None:
        return group
    if setting.headroom_bytes is not None:
        group = group._replace(headroom_bytes=setting.headroom_bytes)
    return group if setting.dynamic_th is None else group._replace(alpha=2.0**setting.dynamic_th)


def single_runs(
    found: Scenario, setting: ThresholdSetting, seeds: int, horizon_ns: float = HORIZON_NS
) -> tuple[SeedResult, ...]:
    """Run a setting by itself, each seed on arrays of its own."""
    seen = []
    for seed in range(1, seeds + 1):
        staged = instantiate(rebuilt(found, setting), seed)
        simulation = Simulation(staged.network, seed)
        simulation.advance(horizon_ns)
        seen.append(measure(simulation, staged, seed, cut=not simulation.ended))
    return tuple(seen)


def row_of(
    found: Scenario, setting: ThresholdSetting, seeds: int, horizon_ns: float = HORIZON_NS
) -> SweepRow:
    """Return what single runs of a setting say, by the verdict of ``lossless simulate``."""
    seen = single_runs(found, setting, seeds, horizon_ns)
    verdict = run_verdict(Study(found, seen, 1.0, horizon_ns, 1.0))
    return SweepRow(
        setting=setting,
        verdict=verdict.verdict,
        drops=max(one.drops + one.refused for one in seen),
        pauses=max(one.outcome.pauses for one in seen),
        pfc_seeds=verdict.pfc.seeds,
        longest_pause_us=verdict.longest_pause_us,
        goodput_bps=round(verdict.goodput_bps),
        egress_bytes=int(verdict.egress_bytes.most),
        headroom_left_bytes=verdict.headroom_margin_bytes,
        marks=max(one.outcome.marks for one in seen),
        stopped_queues=verdict.stopped_queues,
        cut=any(one.cut for one in seen),
    )


def swept(found: Scenario, grid: Grid = GRID, limits: Limits = ONE, **others: Any) -> Sweep:
    return sweep(found, grid, limits, HORIZON_NS, **others)


@pytest.mark.parametrize("limits", [ONE, THREE])
def test_every_setting_is_what_a_run_of_its_own_shows(limits: Limits) -> None:
    found = swept(scene(), limits=limits)
    assert {row.setting: row for row in found.rows} == {
        setting: row_of(scene(), setting, limits.seeds) for setting in grids.settings(GRID)
    }
    assert found.configured == row_of(scene(), ThresholdSetting(), limits.seeds)
    assert {row.verdict for row in found.rows} == {"safe", "on the edge", "unsafe"}
    assert {row.silent for row in found.rows} == {True, False}


SCENES = (
    Question("incast", 1 << 20),
    Question("all-to-all", 1 << 18),
    Question("ring", 1 << 20),
    Question("permutation", 1 << 20),
    Question("incast", 1 << 19, storage=0.3),
    Question("incast", 1 << 19, slow_nic_bps=50_000_000_000),
)


class Fabric(NamedTuple):
    """What is unlike the fabric of the intent: its headroom, queues that are bounded, a lossy port, the watchdog."""

    headroom_bytes: int | None
    pool_bytes: int | None
    limit_bytes: int
    has_lossy_port: bool
    detection_ms: float

    def applied(self, found: Scenario) -> Scenario:
        """Return a scenario on this fabric."""
        found = rebuilt(found, ThresholdSetting(headroom_bytes=self.headroom_bytes))
        ends = {
            key: end._replace(
                queues=tuple(queue._replace(limit_bytes=self.limit_bytes) for queue in end.queues),
                groups=tuple(
                    group._replace(headroom_bytes=None) if self.has_lossy_port and not number else group
                    for group in end.groups
                ),
            )
            for number, (key, end) in enumerate(found.ends.items())
        }
        dog = SimWatchdog(self.detection_ms / 2, self.detection_ms, None, "alert", "mellanox", (0,))
        switches = {
            key: one._replace(headroom_pool_bytes=self.pool_bytes, watchdog=dog)
            for key, one in found.switches.items()
        }
        return found._replace(ends=ends, switches=switches)


def optional(values: st.SearchStrategy[int]) -> st.SearchStrategy[int | None]:
    return st.none() | values


FABRICS = st.builds(
    Fabric,
    headroom_bytes=st.sampled_from([None, 5_000]),
    pool_bytes=st.sampled_from([None, 50_000, 300_000]),
    limit_bytes=st.sampled_from([UNBOUNDED, 300_000]),
    has_lossy_port=st.booleans(),
    detection_ms=st.sampled_from([0.02, 0.09, 200]),
)
SETTINGS = st.builds(
    ThresholdSetting,
    dynamic_th=st.sampled_from([-8, -7, -6, 0, None]),
    kmin_bytes=optional(st.integers(0, 819_200)),
    kmax_bytes=optional(st.integers(819_200, 4_000_000)),
    pmax_percent=optional(st.integers(0, 100)),
    headroom_bytes=st.sampled_from([0, 10_000, 100_000, 200_000, None]),
    queue_dynamic_th=st.none(),
    trimming=st.none(),
).filter(lambda setting: setting != ThresholdSetting())


@pytest.mark.tools("runs")
@settings(max_examples=200 if ALL_CASES else 100)
@given(question=st.sampled_from(SCENES), fabric=FABRICS, setting=SETTINGS)
def test_so_it_is_with_any_traffic_on_any_fabric(
    question: Question, fabric: Fabric, setting: ThresholdSetting
) -> None:
    found = scene(
        question, INTENT.replace("{on: separate, prefixes", "{on: fabric, class: default, prefixes")
    )
    found = fabric.applied(found)
    grid = Grid(*(() if value is None else (value,) for value in setting))
    assert swept(found, grid).rows == (row_of(found, setting, 1),)


USUAL = Fabric(None, None, UNBOUNDED, has_lossy_port=False, detection_ms=200)
LATE = ThresholdSetting(dynamic_th=-8, headroom_bytes=200_000)


@pytest.mark.parametrize(
    ("fabric", "drops"),
    [
        (USUAL._replace(headroom_bytes=5_000), False),
        (USUAL._replace(headroom_bytes=5_000, pool_bytes=50_000), True),
        (USUAL._replace(pool_bytes=300_000), True),
        (USUAL._replace(limit_bytes=300_000), True),
        (USUAL._replace(has_lossy_port=True), False),
    ],
)
def test_headroom_is_given_to_lossless_groups_and_to_no_pool_that_is_configured(
    fabric: Fabric, drops: bool
) -> None:
    """Headroom that is raised exists in full, unless the switch says how much of it all groups share."""
    found = fabric.applied(scene())
    (row,) = swept(found, Grid(dynamic_th=(-8,), headroom_bytes=(200_000,))).rows
    assert row == row_of(found, LATE, 1)
    assert (row.drops > 0) == drops


def test_little_left_of_a_shared_headroom_pool_is_on_the_edge() -> None:
    def verdict(pool_bytes: int) -> str:
        found = USUAL._replace(pool_bytes=pool_bytes).applied(scene())
        (row,) = swept(found, Grid(dynamic_th=(-8,))).rows
        assert row == row_of(found, row.setting, 1)
        return row.verdict

    pools = range(400_000, 800_000, 2_000)
    enough = pools[bisect_left(pools, True, key=lambda pool: verdict(pool) != "unsafe")]
    assert verdict(enough - 2_000) == "unsafe"
    assert verdict(enough) == "on the edge"
    assert verdict(enough + 10_000) == "safe"


def test_a_pause_of_half_the_detection_time_is_on_the_edge() -> None:
    (usual,) = swept(USUAL.applied(scene()), Grid(dynamic_th=(-8,))).rows
    assert usual.verdict == "safe"
    detection_ms = 1.9 * usual.longest_pause_us / 1000
    (held,) = swept(USUAL._replace(detection_ms=detection_ms).applied(scene()), Grid(dynamic_th=(-8,))).rows
    assert held == usual._replace(verdict="on the edge")


def test_a_dead_nic_is_checked_by_whether_the_watchdog_ends_its_storm() -> None:
    found = scene(Question(nics=4, dead_nic=True))
    grid, horizon_ns = Grid(dynamic_th=(0, 3)), 3.7e9
    rows = sweep(found, grid, ONE, horizon_ns).rows
    assert {row.setting: row for row in rows} == {
        setting: row_of(found, setting, 1, horizon_ns) for setting in grids.settings(grid)
    }
    assert all(row.stopped_queues for row in rows)
    with pytest.raises(ScenarioError, match=r"horizon is 3 ms; a dead NIC .* at least 3,600\.1 ms"):
        sweep(found, grid, ONE, 3e6)


def ring(switches_on_the_path: int) -> ScenarioInstance:
    """Return three switches in a ring; each has a host that sends round it, all in the same direction."""
    links = [(host, 3 + host) for host in range(3)] + [(3, 4), (4, 5), (5, 3)]
    paths = [[(host + step) % 3 for step in range(switches_on_the_path)] for host in range(3)]
    flows = [SimFlow((path[0], *(3 + one for one in path), path[-1]), 4 << 20) for path in paths]
    network = connected(links, {node: SimSwitch(2_000_000, 1_000_000) for node in (3, 4, 5)}, flows)
    port = scene().topology.wires[0].a_port
    wires = tuple(PortLink(one.a, one.b, port, port, 100_000_000_000, 1) for one in network.cables)
    return ScenarioInstance(network, ("a", "b", "c", "A", "B", "C"), wires, 0)


@pytest.mark.parametrize(("switches_on_the_path", "cycle"), [(2, False), (3, True)])
def test_a_pfc_deadlock_is_seen(switches_on_the_path: int, cycle: bool) -> None:
    """Over three switches every link of the ring waits for the next; over two, links to hosts come in between."""
    trial = Bench(ring(switches_on_the_path), 1).trial(TrialSetting(ThresholdSetting(dynamic_th=-8)), 3e6)
    assert trial.pauses > 0
    assert trial.cycle is cycle


class Backwards(Executor):
    """Does what it was given last first, or else first first, on one thread, once nothing more comes for a moment."""

    def __init__(self, *, last_first: bool = True) -> None:
        self._step = -1 if last_first else 1
        self.futures: list[Future[Any]] = []
        self._waiting: list[tuple[Future[Any], Callable[[], Any]]] = []
        self._lock = threading.Lock()

    def submit(self, task: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        with self._lock:
            self.futures.append(future)
            self._waiting.append((future, lambda: task(*args, **kwargs)))
            if len(self._waiting) == 1:
                threading.Timer(0.05, self._work).start()
        return future

    def _work(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for future, task in waiting[:: self._step]:
            if future.set_running_or_notify_cancel():
                future.set_result(task())


def executors() -> Iterator[Executor | None]:
    yield None
    yield Backwards()
    with ThreadPoolExecutor(3) as threads:
        yield threads
    with ProcessPoolExecutor(2, get_context("spawn")) as processes:
        yield processes


def test_who_does_the_work_and_in_which_order_changes_nothing() -> None:
    first, *others = (swept(scene(), limits=THREE, executor=executor) for executor in executors())
    assert others == [first] * 3


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_the_number_of_threads_changes_nothing(threads: int) -> None:
    assert swept(scene(), limits=ONE._replace(threads=threads)) == swept(scene())


def test_workers_that_go_on_to_another_sweep_lay_out_its_own_arrays() -> None:
    other = scene(Question("ring", 1 << 20))
    with ThreadPoolExecutor(1) as threads:
        assert swept(scene(), executor=threads) == swept(scene())
        assert swept(other, executor=threads) == swept(other)


def test_the_best_setting_comes_first() -> None:
    rows = swept(scene(), GRID._replace(dynamic_th=range(-8, 3))).rows
    for better, worse in pairwise(rows):
        verdicts = ("safe", "on the edge", "unsafe")
        assert verdicts.index(better.verdict) <= verdicts.index(worse.verdict)
        if better.verdict == worse.verdict:
            key = (better.drops, better.pauses, better.longest_pause_us, -better.goodput_bps)
            assert key <= (worse.drops, worse.pauses, worse.longest_pause_us, -worse.goodput_bps)
    assert rows[0].silent
    assert rows[-1].drops


def test_settings_that_show_the_same_stay_in_the_order_of_their_values() -> None:
    grid = Grid(dynamic_th=(1, 0), headroom_bytes=(400_000, 300_000))
    assert [row.setting for row in swept(scene(), grid).rows] == list(grids.settings(grid))


def test_every_seed_is_run_and_the_worst_counts() -> None:
    grid = Grid(dynamic_th=(-8,))
    (three,) = swept(scene(), grid, THREE).rows
    singles = single_runs(scene(), three.setting, 3)
    pauses = [one.outcome.pauses for one in singles]
    assert len(set(pauses)) > 1
    assert (three.pauses, three.pfc_seeds) == (max(pauses), sum(map(bool, pauses)))


def test_where_nothing_is_random_one_seed_is_enough() -> None:
    found = scene(Question(size_bytes=1 << 18, nics=3), INTENT.replace("leaves: 2", "leaves: 1"))
    found = found._replace(dcqcn_of={})
    assert swept(found, Grid(dynamic_th=(0,)), THREE).seeds == 1


def test_kmin_above_kmax_is_counted_and_not_run() -> None:
    found = swept(scene(), Grid(kmin_bytes=(100_000, 200_000, 300_000), kmax_bytes=(100_000, 200_000)))
    assert (len(found.rows), found.skipped) == (3, 3)
    assert all((row.setting.kmin_bytes or 0) <= (row.setting.kmax_bytes or 0) for row in found.rows)


def test_kmin_alone_is_held_against_kmax_as_configured() -> None:
    configured = 3200 * 1024
    found = swept(scene(), Grid(kmin_bytes=(configured, configured + 1)))
    assert ([row.setting.kmin_bytes for row in found.rows], found.skipped) == ([configured], 1)
    with pytest.raises(ScenarioError, match="Kmin would be above Kmax in every one of 1 settings"):
        swept(scene(), Grid(kmin_bytes=(configured + 1,)))


def test_a_queue_that_marks_nothing_needs_the_whole_curve() -> None:
    bare = scene(
        INCAST, INTENT.replace(", ecn: {min: 800 KiB, max: 3200 KiB, probability: 20%}", ", ecn: off")
    )
    with pytest.raises(ScenarioError, match="kmin_bytes, kmax_bytes cannot be varied alone"):
        swept(bare, Grid(kmin_bytes=(1000,), kmax_bytes=(2000,)))
    grid = Grid(kmin_bytes=(20_000,), kmax_bytes=(100_000,), pmax_percent=(50,))
    (row,) = swept(bare, grid).rows
    assert row == row_of(bare, row.setting, 1)
    assert row.marks > 0


def test_a_static_threshold_has_no_alpha_to_vary() -> None:
    ends = {
        key: end._replace(groups=(end.groups[0]._replace(alpha=None, static_bytes=200_000),))
        for key, end in scene().ends.items()
    }
    with pytest.raises(ScenarioError, match="dynamic_th cannot be varied: lossless groups have a static"):
        swept(scene()._replace(ends=ends))


def test_without_dcqcn_marks_change_nothing_and_that_is_said() -> None:
    found = scene()._replace(dcqcn_of={})
    first, *others = swept(found, Grid(kmin_bytes=(0, 400_000), pmax_percent=(1, 100))).rows
    for other in others:
        assert other._replace(setting=first.setting, marks=first.marks) == first
    assert "no sender runs DCQCN: kmin, kmax and pmax change what is marked, and nothing else" in (
        swept(found, Grid(kmin_bytes=(0,))).assumed
    )


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        (
            Grid(),
            "nothing is varied; expected values for at least one of dynamic_th, kmin, kmax, pmax, headroom,"
            " queue_dynamic_th, trimming",
        ),
        (Grid(dynamic_th=(8,)), "dynamic_th is 8; expected -8 to 7"),
        (Grid(kmin_bytes=(-1,)), "kmin_bytes is -1; expected a size from 0 B to 2,147,483,647 B"),
        (Grid(pmax_percent=(101,)), "pmax_percent is 101; expected 0% to 100%"),
        (Grid(headroom_bytes=(1 << 50,)), f"headroom_bytes is {1 << 50}; expected a size up to 1,024 GiB"),
        (
            Grid(kmin_bytes=range(400), kmax_bytes=range(400)),
            "160,000 settings are more than the 100,000 that are swept at once; name fewer values",
        ),
    ],
)
def test_a_grid_that_cannot_be_is_refused(grid: Grid, message: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        swept(scene(), grid)
    assert str(refused.value) == message


def test_a_horizon_and_seeds_must_be_some() -> None:
    with pytest.raises(ScenarioError, match="horizon is 0 ns; expected a time above zero"):
        sweep(scene(), GRID, ONE, 0)
    with pytest.raises(ScenarioError, match="seeds is 0; expected at least 1"):
        swept(scene(), limits=Limits(seeds=0))


def test_more_events_than_allowed_are_refused_before_they_are_run() -> None:
    done = []
    few = ONE._replace(events=500_000)
    with pytest.raises(
        ScenarioError, match=r"1,100 settings would take about .* billion events \([\d,]+ each was"
    ):
        swept(
            scene(),
            Grid(dynamic_th=(0,), kmin_bytes=range(1100)),
            few,
            progress=lambda *now: done.append(now),
        )
    assert not done
    swept(scene(), Grid(dynamic_th=(0,)), few)


def test_progress_counts_up_to_all_settings() -> None:
    told: list[tuple[int, int]] = []
    swept(scene(), progress=lambda *now: told.append(now))
    assert told == sorted(told)
    assert told[-1] == (18, 18)


def stop_at_once(_done: int, _of: int) -> None:
    raise KeyboardInterrupt


def test_an_interrupted_sweep_has_no_result_and_leaves_no_thread() -> None:
    before = threading.active_count()
    many = Grid(dynamic_th=(0,), kmin_bytes=range(2000))
    with pytest.raises(KeyboardInterrupt):
        swept(scene(), many, progress=stop_at_once)
    assert threading.active_count() == before


def test_what_an_executor_was_given_is_taken_back_when_interrupted() -> None:
    forwards = Backwards(last_first=False)
    with pytest.raises(KeyboardInterrupt):
        swept(scene(), Grid(kmin_bytes=range(400)), executor=forwards, progress=stop_at_once)
    assert sum(future.cancelled() for future in forwards.futures) > len(forwards.futures) // 2


@pytest.mark.tools("runs")
def test_memory_grows_by_rows_alone() -> None:
    def peak_bytes(many: int) -> int:
        tracemalloc.start()
        sweep(scene(), Grid(kmin_bytes=range(many)), ONE, 2_000)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    peak_bytes(10)
    few, many = peak_bytes(100), peak_bytes(1100)
    assert (many - few) / 1000 < 1500


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("dynamic_th=-4..3", tuple(range(-4, 4))),
        ("dynamic_th=-4..3/3", (-4, 0, 3)),
        ("dynamic_th=-1,3..5,4", (-1, 3, 4, 5)),
        ("kmin=100KiB", (102_400,)),
        ("kmin=100KiB..300 KiB/3,1.5MB", (102_400, 204_800, 307_200, 1_500_000)),
        ("kmax=1B..4B/4", (1, 2, 3, 4)),
        ("pmax=5%..100%/5", (5, 29, 53, 76, 100)),
        ("headroom = 0B, 1kB", (0, 1000)),
    ],
)
def test_ranges_are_written_so(text: str, values: tuple[int, ...]) -> None:
    found = parse_grid([text])
    (name,) = found.names
    assert getattr(found, name) == values


@given(low=st.integers(0, 10**6), gap=st.integers(1, 10**6), many=st.integers(2, 200))
def test_evenly_spaced_values_are_within_half_a_byte_of_even(low: int, gap: int, many: int) -> None:
    text = f"kmin={low}B..{low + gap}B/{many}"
    if many > gap + 1:
        with pytest.raises(QuantityError, match=f"asks for {many} values; there are"):
            parse_grid([text])
        return
    values = parse_grid([text]).kmin_bytes
    assert (len(values), values[0], values[-1]) == (many, low, low + gap)
    assert all(abs(value - low - at * gap / (many - 1)) <= 0.5 for at, value in enumerate(values))


def test_a_grid_has_every_combination_once() -> None:
    grid = parse_grid(["dynamic_th=-1..1", "pmax=5%,10%"])
    found = list(grids.settings(grid))
    assert grid.size == len(found) == len(set(found)) == 6
    assert found[1] == ThresholdSetting(dynamic_th=-1, pmax_percent=10)
