"""What tuning found: as text, as a table of all settings, and as data."""

from __future__ import annotations

from inline_snapshot import snapshot

from lossless.analysis.simulation.study.grid import PortKind, ThresholdSetting, TrialSetting
from lossless.analysis.simulation.tune.choose import Choice, Nearby, Reason, Rejected
from lossless.analysis.simulation.tune.kpis import Effect, Kpis, Spread, WorkloadKpis
from lossless.analysis.simulation.tune.space import Axis, OutOfRange, PortThresholds, TriedSetting
from lossless.analysis.simulation.tune.tune import Standing, Tuned
from lossless.checks.thresholds.tuned_intent import TuneResult
from lossless.formats.intent.class_changes import StatedThresholds
from lossless.output.report.simulation.tune_text import tune_csv, tune_data, tune_text

LEAF = PortKind("leaf", 400e9)
NOW = PortThresholds(ThresholdSetting(0, 819_200, 3_276_800, 20), 40_000_000, 0)


def kpis(queue_us: float, name: str = "incast") -> Kpis:
    """Return what a safe setting showed of one workload in which PFC stays silent."""
    silent = Spread(0, 0, 0)
    workload = WorkloadKpis(
        name, dead_nic=False, verdict="safe", drops=0, stopped_queues=0, pfc_before_ecn=0, seeds=2, pause_us=silent,
        pause_count=silent, marking_ratio=Spread(0.1, 0.2, 0.3), jct_ratio=Spread(1.1, 1.2, 1.3), queue_bytes=100,
        queue_us=Spread(queue_us, queue_us, queue_us), headroom_left_bytes=None, of_detection=None,
    )  # fmt: skip
    return Kpis("safe", 0, 0.0, 1.2, queue_us, (workload,))


def tried(kmax_bytes: int, queue_us: float, step: str = "grid") -> TriedSetting:
    setting = TrialSetting(by_kind=((LEAF, ThresholdSetting(1, 102_400, kmax_bytes, 10)),))
    return TriedSetting(setting, kpis(queue_us), step)


BEST, SECOND, WORST = tried(409_600, 20), tried(819_200, 40), tried(1_638_400, 90, "now")


def found(workload: str = "incast") -> TuneResult:
    """Return a tuning that chose the second of its front, as the first is not acceptable."""
    near = (Nearby("Kmax -10 %", kpis(36)), Nearby("Kmax +10 %", kpis(44)))
    reason = Reason(LEAF, "kmax_bytes", 3_276_800, 819_200, "without it: p99 queueing delay 30.0 % more")
    chosen = Choice(
        SECOND, near, 2, (Rejected(BEST.setting, "lint finds ECN005"),), Effect("jct_ratio", 3.1, 2.2, 4.0),
        (reason,), (OutOfRange(LEAF, "kmin_bytes", 102_400, 104_000, 2_000_000),), None,
    )  # fmt: skip
    standings = (
        Standing("now", kpis(91), kpis(90), dominated=True, beaten=2, beaten_by=BEST),
        Standing("nvidia", kpis(31), kpis(30), dominated=False, beaten=1, beaten_by=SECOND),
        Standing("azure", kpis(11), kpis(10), dominated=False, beaten=0, beaten_by=None),
    )
    tuned = Tuned(
        "rdma", {LEAF: NOW}, (Axis("kmax", (409_600, 819_200), 0, 1 << 20),), {"now": 1, "grid": 2},
        (WORST, BEST, SECOND), chosen, kpis(41, workload), (BEST, SECOND), standings, 2, 1000, ("one pool",),
    )  # fmt: skip
    line = "rdma: {ecn: {min: 100 KiB, max: 800 KiB}}"
    stated = StatedThresholds("fabric.yaml", line, "before", "after")
    return TuneResult(tuned, {workload: "incast of 8 NICs"}, (), {}, lambda _: stated)


def test_what_was_chosen_and_how_it_stands_is_said() -> None:
    assert tune_text(found()) == snapshot("""\
tune: 3 settings tried for class rdma, 2 seeds each
  incast  incast of 8 NICs
  Kmax    400 KiB, 800 KiB
  tried   1 as configured, 2 on the grid

proposed, against what is configured: completion time 3.1 % less (95 % interval 2.2 to 4.0)
p99 queueing delay of the worst workload: 41 us, now 91 us; no bound is declared (queueing_delay of
  class rdma)
in the intent (--write puts it there):
  rdma: {ecn: {min: 100 KiB, max: 800 KiB}}

        ports      dynamic_th  Kmin (B)   Kmax (B)  Pmax  Kmax before XOFF (B)
now     leaf 400G           0   819,200  3,276,800   20%                     -
chosen  leaf 400G           1   102,400    819,200   10%            25,847,467
Kmax (leaf 400G): without it: p99 queueing delay 30.0 % more
outside the published range: Kmin 102,400 B at leaf 400G ports; published are 104,000 B to
  2,000,000 B
against the best setting within the published range: no setting within it that was tried is worth a
  change

with 2 seeds that the search has not seen:
  incast  verdict  PFC          PFC    PFC  ECN Marking       JCT Ratio                p99  headroom
                   before     Pause  Pause  Ratio (%)                             queueing  left (B)
                   ECN     Duration  Count                                           delay
                               (us)                                                   (us)
  chosen  safe     0 of 2         0      0  20.0 (10.0-30.0)  1.200                     41  not used
                                                              (1.100-1.300)
  now     safe     0 of 2         0      0  20.0 (10.0-30.0)  1.200                     91  not used
                                                              (1.100-1.300)
  nvidia  safe     0 of 2         0      0  20.0 (10.0-30.0)  1.200                     31  not used
                                                              (1.100-1.300)
  azure   safe     0 of 2         0      0  20.0 (10.0-30.0)  1.200                     11  not used
                                                              (1.100-1.300)
now: the chosen setting is no worse in anything, and better in something
nvidia: place 2 of the front is no worse in anything, and better in something (ports in pause 0.000,
  JCT Ratio 1.200, p99 queueing delay 40 us)
azure: none of the 3 settings tried is no worse in everything and better in something

the chosen setting after a small change:
              verdict  ports in pause  JCT Ratio  p99 queueing delay (us)
  none        safe              0.000      1.200                       40
  Kmax -10 %  safe              0.000      1.200                       36
  Kmax +10 %  safe              0.000      1.200                       44
it has place 2 of the front
not taken: lint finds ECN005

Pareto front: every other safe setting is worse in something than one of these, and better in nothing
    first ports:  Kmin (B)  Kmax (B)  Pmax     PFC before  ports in pause  JCT Ratio    p99 queueing
      dynamic_th                                      ECN                                 delay (us)
1              1   102,400   409,600   10%              0           0.000      1.200              20
2              1   102,400   819,200   10%              0           0.000      1.200              40
best first: safe before on the edge before unsafe; then fewest runs with PFC before the first ECN
  mark, shortest PFC Pause Duration, lowest JCT Ratio, shortest p99 queueing delay

-v shows each workload, the whole front, and what is assumed\
""")


def test_the_margin_of_a_port_is_what_xoff_is_above_kmax() -> None:
    """With alpha 2 a single loaded group holds two thirds of 40,000,000 B."""
    (margin,) = found().tuned.margins
    assert (margin.xoff_bytes, margin.kmax_margin_bytes) == (26_666_667, 26_666_667 - 819_200)
    (now,) = tune_data(found())["chosen"]["margins"]
    assert now == {
        "role": "leaf",
        "rate_bps": 400 * 10**9,
        "xoff_bytes": 26_666_667,
        "kmax_margin_bytes": 25_847_467,
    }


def test_places_are_those_of_the_front() -> None:
    tuned = found().tuned
    assert [tuned.place_of(row.setting) for row in (BEST, SECOND, WORST)] == [1, 2, None]
    beaten_by = [each["beaten_by"] and each["beaten_by"]["place"] for each in tune_data(found())["standings"]]
    assert beaten_by == [1, 2, None]


def test_every_setting_that_was_tried_is_a_line_for_each_kind_of_port() -> None:
    assert tune_csv(found().tuned) == snapshot("""\
setting,step,role,rate_bps,dynamic_th,kmin_bytes,kmax_bytes,pmax_percent,headroom_bytes,dcqcn,verdict,pfc_before_ecn,pause_share,jct_ratio,queue_us
1,now,leaf,400000000000,1,102400,1638400,10,,,safe,0,0.0,1.2,90
2,grid,leaf,400000000000,1,102400,409600,10,,,safe,0,0.0,1.2,20
3,grid,leaf,400000000000,1,102400,819200,10,,,safe,0,0.0,1.2,40\
""")


def test_a_measure_over_seeds_is_a_list_of_its_least_mean_and_most() -> None:
    (workload,) = tune_data(found())["fresh"]["workloads"]
    assert workload["marking_ratio"] == [0.1, 0.2, 0.3]


def test_names_from_an_intent_cannot_steer_a_terminal() -> None:
    text = tune_text(found("x\x1b[2J"))
    assert "x\\x1b[2J" in text
    assert "\x1b" not in text
