"""What a sweep found: counts of its settings, its table, and names that are made harmless."""

from __future__ import annotations

from typing import Any

from inline_snapshot import snapshot

from lossless.analysis.simulation.study.grid import ThresholdSetting
from lossless.analysis.simulation.study.sweep import Sweep, SweepRow
from lossless.analysis.simulation.study.verdict import LossVerdict
from lossless.output.report.simulation.data import sweep_data
from lossless.output.report.simulation.sweep_text import sweep_csv, sweep_text


def row(dynamic_th: int | None, **others: Any) -> SweepRow:
    """Return a setting under which PFC stays silent, and nothing is lost."""
    return SweepRow(
        setting=ThresholdSetting(dynamic_th=dynamic_th), verdict="safe", drops=0, pauses=0, pfc_seeds=0,
        longest_pause_us=0.0, goodput_bps=390 * 10**9, egress_bytes=1_000_000, headroom_left_bytes=None, marks=5,
        stopped_queues=0, cut=False,
    )._replace(**others)  # fmt: skip


PAUSING = row(
    -2, pauses=3, pfc_seeds=1, longest_pause_us=1.5, headroom_left_bytes=2_000, goodput_bps=395 * 10**9
)
DROPPING = row(-8, verdict="unsafe", drops=7, pauses=9, pfc_seeds=1, longest_pause_us=8.0, cut=True)
LOSS = LossVerdict(0.01, 0.0, 0.02, 3, 1.5, 1.25, 0)


def sweep(*rows: SweepRow, scenario: str = "incast of 8 NICs", configured: SweepRow | None = None) -> Sweep:
    now = configured or row(None)
    return Sweep(scenario, ("dynamic_th",), now, rows, 1, 1, 300.0, 1000, ("one pool",), "rdma")


def test_settings_are_counted_before_they_are_listed() -> None:
    data = sweep_data(sweep(row(0), PAUSING, DROPPING))
    assert {name: data[name] for name in ("settings", "safe", "silent", "cut", "skipped")} == {
        "settings": 3,
        "safe": 2,
        "silent": 1,
        "cut": 1,
        "skipped": 1,
    }
    assert "no_loss" not in data
    assert [each["dynamic_th"] for each in data["rows"]] == [0, -2, -8]
    assert "dynamic_th" not in data["configured"]


def test_of_a_lossy_class_loss_is_counted_and_no_pauses() -> None:
    whole = LOSS._replace(dropped_share=0.0)
    data = sweep_data(sweep(row(0, loss=whole), row(1, loss=LOSS, drops=4), configured=row(None, loss=LOSS)))
    assert data["no_loss"] == 1
    assert not {"silent", "cut"} & data.keys()
    assert (data["rows"][1]["slowdown"], "pauses" in data["rows"][1]) == (1.5, False)


def test_a_sweep_as_text() -> None:
    assert sweep_text(sweep(row(0), PAUSING, DROPPING), "rdma: {buffer: {dynamic_th: 0}}") == snapshot("""\
sweep: 3 settings of dynamic_th, 0.3 ms
  incast of 8 NICs
  safe        2 of 3; always with dynamic_th -2 to 0; never with dynamic_th -8
  PFC silent  1 of 3; always with dynamic_th 0; never with dynamic_th -8 to -2
  under way   1 of 3 at the end: pauses and maxima may still come, and a longer --horizon shows them
  not run     1 setting: Kmin would be above Kmax

in the intent, place 1 (--write puts it there):
  rdma: {buffer: {dynamic_th: 0}}

     dynamic_th  verdict  drops  pauses  longest pause (us)  headroom left (B)
now           -  safe         0       0                   -           not used
  1           0  safe         0       0                   -           not used
  2          -2  safe         0       3                1.50              2,000
  3          -8  unsafe       7       9                8.00           not used
best first: safe before on the edge before unsafe, then fewest frames dropped, fewest pauses,
  shortest longest pause, most goodput
most goodput of all safe settings: place 2, dynamic_th -2: 395.0 Gb/s with 3 pauses

-v shows all settings, their goodput and peak queue depth, and what is assumed\
""")


def test_a_sweep_as_a_table_for_other_programs() -> None:
    assert sweep_csv([sweep(row(0), PAUSING)]) == snapshot("""\
dynamic_th,verdict,drops,pauses,pfc_seeds,longest_pause_us,goodput_bps,egress_bytes,headroom_left_bytes,marks,stopped_queues,cut,scenario
0,safe,0,0,0,0.0,390000000000,1000000,,5,0,False,incast of 8 NICs
-2,safe,0,3,1,1.5,395000000000,1000000,2000,5,0,False,incast of 8 NICs\
""")


def test_names_from_a_file_cannot_steer_a_terminal() -> None:
    text = sweep_text(sweep(row(0), scenario="incast into a\x1b[2Jb"), "\x07")
    assert "a\\x1b[2Jb" in text
    assert not {"\x1b", "\x07"} & set(text)
