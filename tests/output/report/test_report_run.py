"""What runs of the packet-level model showed, as a person sees it."""

from __future__ import annotations

from typing import Any

import pytest
from inline_snapshot import snapshot

from lossless.analysis.buffers.verdict import BufferVerdict, FabricVerdict, PfcLoad
from lossless.analysis.simulation.study.answer import SimulationResult
from lossless.analysis.simulation.study.verdict import Occurrence, Range, RunVerdict
from lossless.ground.basics.findings import MissingInput
from lossless.output.report.columns import TextStyle
from lossless.output.report.simulation.data import load_data, run_data, verdict_data
from lossless.output.report.simulation.verdict_text import load_text, run_text, verdict_text

VERBOSE = TextStyle(verbose=True)


spread = Range


def always(value: float) -> Range:
    return spread(value, value, value)


def happens(seeds: int, first_us: float | None = None, of: int = 12) -> Occurrence:
    return Occurrence(seeds, of, first_us)


def run(**fields: Any) -> RunVerdict:
    """Return what twelve seeds showed of a sound fabric in which PFC stays silent."""
    given: dict[str, Any] = {
        "verdict": "safe",
        "scenario": "incast of 15 NICs into host1:port1, 8 MiB each, class rdma",
        "cut": False,
        "reasons": (),
        "changes": (),
        "drops": happens(0),
        "pfc": happens(0),
        "marks": happens(12, 2.03),
        "marks_before_pfc": 12,
        "watchdog": happens(0),
        "egress_bytes": always(1_234_567),
        "egress_at": "leaf1:Ethernet0",
        "group_bytes": always(202_752),
        "headroom_bytes": None,
        "headroom_margin_bytes": None,
        "headroom_at": None,
        "headroom_ran_out": False,
        "longest_pause_us": 0.0,
        "longest_pause_at": None,
        "pause_goes_on": False,
        "spread_links": 0,
        "spread_ports": "0 of 32",
        "spread_nics": "0 of 16",
        "drain_us": 24.69,
        "goodput_bps": 392.14e9,
        "of_line_rate": 1.0,
        "ran_us": 2567.0,
        "events": 68_059,
        "seeds": 12,
        "cycle": (),
        "stopped_queues": 0,
        "stopped_frames": 0,
        "assumed": (),
    }
    return RunVerdict(**given | fields)


PAUSED: dict[str, Any] = {
    "pfc": happens(12, 120.27),
    "headroom_bytes": spread(0, 63_360, 97_152),
    "headroom_margin_bytes": 134_272,
    "headroom_at": "leaf1:Ethernet12",
    "longest_pause_us": 681.9,
    "longest_pause_at": "host16:port2",
    "spread_links": 1,
    "spread_ports": "3 of 32",
    "spread_nics": "15 of 16",
}
"""What is different where PFC fires."""


def closed(overall: BufferVerdict) -> FabricVerdict:
    """Return the closed forms of a fabric of which no port is shown."""
    return FabricVerdict(overall, (), (), (), ())


def row(name: str, **fields: Any) -> str:
    """Return what one measure of a run says."""
    lines = run_text(run(**fields)).splitlines()
    (found,) = [line for line in lines if line.startswith(f"  {name}  ") or line == f"  {name}"]
    return found[len(name) + 2 :].strip()


# --- whole texts ---


def test_a_quiet_fabric() -> None:
    assert run_text(run()) == snapshot("""\
packet-level model: safe
  incast of 15 NICs into host1:port1, 8 MiB each, class rdma
  drops              none
  PFC                never
  ECN                marks in 12 of 12 seeds, first after 2.03 us
  peak queue depth   1,234,567 B at leaf1:Ethernet0, 24.69 us to drain
  peak PG occupancy  202,752 B
  headroom           not used
  goodput            392.1 Gb/s of payload, 100% of what the topology carries
  ran                12 seeds, 2.57 ms, 68,059 events\
""")


def test_where_pfc_fires_it_is_said_how_far_and_what_would_keep_it_silent() -> None:
    shown = run(
        **PAUSED,
        egress_bytes=spread(58_527_744, 63_062_208, 68_859_648),
        changes=("to pause less, raise dynamic_th of pg_lossless_400000_5m_profile (now 0)",),
        assumed=("every peer takes as long to obey PFC as IEEE 802.3 allows at its rate",),
    )
    assert "assumed" not in run_text(shown)
    assert run_text(shown, VERBOSE) == snapshot("""\
packet-level model: safe
  incast of 15 NICs into host1:port1, 8 MiB each, class rdma
  drops              none
  PFC                fires in 12 of 12 seeds, first after 120.27 us
  ECN                marks in 12 of 12 seeds, first after 2.03 us, before PFC in 12
  peak queue depth   63,062,208 B (58,527,744 B to 68,859,648 B) at leaf1:Ethernet0, at most
                     24.69 us to drain
  peak PG occupancy  202,752 B
  headroom           63,360 B (0 B to 97,152 B) used, 134,272 B left at leaf1:Ethernet12
  longest pause      681.90 us at host16:port2
  pause propagation  1 hop, 3 of 32 switch ports and 15 of 16 NICs
  goodput            392.1 Gb/s of payload, 100% of what the topology carries
  ran                12 seeds, 2.57 ms, 68,059 events
  assumed:
    every peer takes as long to obey PFC as IEEE 802.3 allows at its rate\
""")


def test_drops() -> None:
    shown = run(
        **PAUSED
        | {
            "verdict": "unsafe",
            "reasons": ("lossless frames are dropped at leaf1:Ethernet20 in 12 of 12 seeds",),
            "changes": ("raise xoff of pg_lossless_400000_5m_profile from 20,480 B to at least 67,518 B",),
            "drops": happens(12, 120.6),
            "headroom_bytes": always(16_896),
            "headroom_margin_bytes": 3_584,
            "headroom_ran_out": True,
            "of_line_rate": 0.914,
        },
    )
    assert run_text(shown) == snapshot("""\
packet-level model: unsafe
  incast of 15 NICs into host1:port1, 8 MiB each, class rdma
  drops              happen in 12 of 12 seeds, first after 120.60 us
  PFC                fires in 12 of 12 seeds, first after 120.27 us
  ECN                marks in 12 of 12 seeds, first after 2.03 us, before PFC in 12
  peak queue depth   1,234,567 B at leaf1:Ethernet0, 24.69 us to drain
  peak PG occupancy  202,752 B
  headroom           16,896 B used, ran out at leaf1:Ethernet12
  longest pause      681.90 us at host16:port2
  pause propagation  1 hop, 3 of 32 switch ports and 15 of 16 NICs
  goodput            392.1 Gb/s of payload, 91% of what the topology carries
  ran                12 seeds, 2.57 ms, 68,059 events\
""")


def test_a_run_that_was_cut() -> None:
    shown = run(**PAUSED | {"cut": True, "pause_goes_on": True, "of_line_rate": 0.27, "goodput_bps": 105.1e9})
    assert run_text(shown) == snapshot("""\
packet-level model: safe
  incast of 15 NICs into host1:port1, 8 MiB each, class rdma
  drops              none
  PFC                fires in 12 of 12 seeds, first after 120.27 us
  ECN                marks in 12 of 12 seeds, first after 2.03 us, before PFC in 12
  peak queue depth   >= 1,234,567 B at leaf1:Ethernet0, 24.69 us to drain
  peak PG occupancy  >= 202,752 B
  headroom           >= 63,360 B (0 B to 97,152 B) used, 134,272 B left at leaf1:Ethernet12
  longest pause      >= 681.90 us at host16:port2
  pause propagation  1 hop, 3 of 32 switch ports and 15 of 16 NICs
  goodput            105.1 Gb/s of payload, 27% of what the topology carries
  ran                12 seeds, 2.57 ms, 68,059 events; stopped with traffic under way, so >= where
                     maxima may still grow\
""")


def test_a_dead_nic_under_a_watchdog() -> None:
    shown = run(
        **PAUSED
        | {
            "scenario": "incast of 15 NICs into host1:port1, 8 MiB each, class rdma, host1:port1 dead: "
            "it pauses its switch without end",
            "longest_pause_us": 1_799_800.0,
            "longest_pause_at": "spine2:Ethernet0",
            "spread_links": 4,
            "watchdog": happens(12, 1_800_000.0),
            "stopped_queues": 31,
            "stopped_frames": 127_828,
            "goodput_bps": 0.0,
            "of_line_rate": 0.0,
            "ran_us": 3_600_100.0,
        },
    )
    assert run_text(shown) == snapshot("""\
packet-level model: safe
  incast of 15 NICs into host1:port1, 8 MiB each, class rdma, host1:port1 dead: it pauses its switch
    without end
  drops              none but what the watchdog dropped
  PFC                fires in 12 of 12 seeds, first after 120.27 us
  ECN                marks in 12 of 12 seeds, first after 2.03 us, before PFC in 12
  peak queue depth   1,234,567 B at leaf1:Ethernet0, 24.69 us to drain
  peak PG occupancy  202,752 B
  headroom           63,360 B (0 B to 97,152 B) used, 134,272 B left at leaf1:Ethernet12
  longest pause      1.80 s at spine2:Ethernet0
  pause propagation  4 hops, 3 of 32 switch ports and 15 of 16 NICs
  watchdog           triggers in 12 of 12 seeds, first after 1.80 s; it stopped 31 queues and
                     dropped 127,828 frames
  goodput            0.0 Gb/s of payload, 0% of what the topology carries
  ran                12 seeds, 3.60 s, 68,059 events\
""")


def test_what_depends_on_the_seed_is_called_that() -> None:
    shown = run(
        **PAUSED
        | {
            "pfc": happens(8, 114.46),
            "drops": happens(1, 130.0),
            "marks_before_pfc": 8,
            "verdict": "unsafe",
            "headroom_ran_out": True,
        }
    )
    assert run_text(shown) == snapshot("""\
packet-level model: unsafe
  incast of 15 NICs into host1:port1, 8 MiB each, class rdma
  drops              happen in 1 of 12 seeds, first after 130.00 us; depends on the seed
  PFC                fires in 8 of 12 seeds, first after 114.46 us; depends on the seed
  ECN                marks in 12 of 12 seeds, first after 2.03 us, before PFC in 8
  peak queue depth   1,234,567 B at leaf1:Ethernet0, 24.69 us to drain
  peak PG occupancy  202,752 B
  headroom           63,360 B (0 B to 97,152 B) used, ran out at leaf1:Ethernet12
  longest pause      681.90 us at host16:port2
  pause propagation  1 hop, 3 of 32 switch ports and 15 of 16 NICs
  goodput            392.1 Gb/s of payload, 100% of what the topology carries
  ran                12 seeds, 2.57 ms, 68,059 events\
""")


def test_one_seed() -> None:
    shown = run(
        **PAUSED
        | {
            "pfc": happens(1, 120.27, of=1),
            "drops": happens(0, of=1),
            "marks": happens(1, 2.03, of=1),
            "marks_before_pfc": 1,
            "headroom_bytes": always(63_360),
            "seeds": 1,
        }
    )
    assert run_text(shown) == snapshot("""\
packet-level model: safe
  incast of 15 NICs into host1:port1, 8 MiB each, class rdma
  drops              none
  PFC                fires in 1 of 1 seeds, first after 120.27 us
  ECN                marks in 1 of 1 seeds, first after 2.03 us, before PFC in 1
  peak queue depth   1,234,567 B at leaf1:Ethernet0, 24.69 us to drain
  peak PG occupancy  202,752 B
  headroom           63,360 B used, 134,272 B left at leaf1:Ethernet12
  longest pause      681.90 us at host16:port2
  pause propagation  1 hop, 3 of 32 switch ports and 15 of 16 NICs
  goodput            392.1 Gb/s of payload, 100% of what the topology carries
  ran                1 seed, 2.57 ms, 68,059 events\
""")


# --- single measures ---


@pytest.mark.parametrize(
    ("time_us", "said"),
    [(0.5, "0.50 us"), (999.99, "999.99 us"), (1000, "1.00 ms"), (999_990, "999.99 ms"), (3.6e6, "3.60 s")],
)
def test_times_have_the_unit_that_suits_them(time_us: float, said: str) -> None:
    assert row("ran", ran_us=time_us) == f"12 seeds, {said}, 68,059 events"


def test_where_nothing_marks_that_is_said() -> None:
    assert row("ECN", marks=happens(0)) == "marks nothing"


def test_whether_marks_come_first_is_said_only_where_pfc_fires() -> None:
    assert row("ECN") == "marks in 12 of 12 seeds, first after 2.03 us"
    assert row("ECN", pfc=happens(3, 5.0), marks_before_pfc=3) == (
        "marks in 12 of 12 seeds, first after 2.03 us, before PFC in 3"
    )


def test_a_spread_is_given_with_its_least_and_most() -> None:
    assert row("peak PG occupancy", group_bytes=spread(1, 2.5, 3_000)) == "2 B (1 B to 3,000 B)"
    assert row("peak PG occupancy", group_bytes=always(7), cut=True) == ">= 7 B"


def test_only_frames_that_the_watchdog_dropped_are_no_drops() -> None:
    assert row("drops", stopped_frames=5) == "none but what the watchdog dropped"
    assert (
        row("drops", stopped_frames=5, drops=happens(12, 1.0))
        == "happen in 12 of 12 seeds, first after 1.00 us"
    )


@pytest.mark.parametrize(("links", "said"), [(1, "1 hop"), (3, "3 hops")])
def test_propagation_hops_are_counted(links: int, said: str) -> None:
    paused = PAUSED | {"spread_links": links}
    assert row("pause propagation", **paused) == f"{said}, 3 of 32 switch ports and 15 of 16 NICs"


def test_one_queue_that_was_stopped_is_a_queue() -> None:
    text = run_text(run(watchdog=happens(12, 1.8e6), stopped_queues=1, stopped_frames=1))
    assert "it stopped 1 queue and dropped 1 frame\n" in text.replace("\n" + " " * 21, " ")


def test_headroom_did_not_run_out_where_an_egress_queue_dropped() -> None:
    """WRED dropped; of 231,424 B of headroom 97,152 B were used."""
    assert "ran out" not in row("headroom", **PAUSED | {"drops": happens(12, 13.49)})


def test_names_from_a_file_cannot_steer_a_terminal() -> None:
    named = run(
        scenario="incast into a\x1b[2Jb",
        egress_at="x\x1b]0;y:Ethernet0",
        reasons=("at \x07",),
        changes=("raise xoff of \x9b1m",),
        assumed=("\u202e",),
    )
    text = verdict_text(SimulationResult(closed("unsafe"), (named,)))
    assert {"at \\x07", "raise xoff of \\x9b1m"} <= {line.strip() for line in text.splitlines()}
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(text)


def test_reasons_and_changes_come_before_the_runs() -> None:
    forms = closed("unsafe")._replace(reasons=("headroom",), not_checked=("speed",))
    runs = run(changes=("raise xoff",)), run(reasons=("drops",))
    blocks = verdict_text(SimulationResult(forms, runs, "the pool is unknown")).split("\n\n")
    assert [block.splitlines()[0] for block in blocks] == [
        "verdict: unsafe",
        "why:",
        "change:",
        "packet-level model: safe",
        "packet-level model: safe",
        "packet-level model: not run",
        "not checked:",
    ]
    assert blocks[1:3] == ["why:\n  headroom\n  drops", "change:\n  raise xoff"]
    assert blocks[5] == "packet-level model: not run\n  the pool is unknown"


def test_lossless_classes_that_were_not_run_are_not_checked() -> None:
    result = SimulationResult(
        closed("safe")._replace(not_checked=("speed",)), (run(),), other_classes=("storage",)
    )
    said = "the packet-level model did not run class storage; --class storage runs it"
    assert verdict_text(result).endswith(f"not checked:\n  speed\n  {said}")
    assert verdict_data(result)["not_checked"] == ["speed", said]


def test_causes_repeat_reasons_and_are_not_in_the_data() -> None:
    assert {*RunVerdict._fields} - run_data(run()).keys() == {"causes"}


def test_what_pfc_carries_stands_beside_its_limits() -> None:
    load = PfcLoad("permutation among 16 NICs", 3, 0.25, 1.0, 2.0, 0.1)
    data = dict(load_data(load))
    assert (data["verdict"], data["nics_paused"]) == ("above limits", {"value": 0.25, "limit": 0.1})
    assert load_text(load).splitlines()[2:] == [
        "  NICs paused    25.0% (above the limit of 10%)",
        "  longest pause  1.00 us (limit 2.00 us)",
        "  time in pause  10.0% (limit 30%), of the worst NIC",
    ]
    unknown = MissingInput("no NIC is known")
    assert load_data(unknown) == {"verdict": "not evaluated", "reason": "no NIC is known"}
    assert load_text(unknown).endswith(": not evaluated\n  no NIC is known")
