"""Counters along a path: those of the packet's class at the ports it passes, or why they are unknown; never 0."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from lossless.api import trace
from lossless.output.report.columns import TextStyle
from lossless.output.report.trace import trace_data, trace_text
from tests.checks.verify.running import INTENT, pauses, queue_counters, storm
from tests.output.report.test_report_trace import validated

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.checks.trace.model import TraceCounter, TraceHop
    from lossless.interfaces.api.trace import TraceResult

HOST1, OTHER = "host1", "host5"
OUT = "Ethernet32"
"""The uplink of leaf1 that the packet leaves by."""
PG = "oid:0x1a000000000001"


def traced(folder: Path, captures: dict[str, str], before: dict[str, str] | None = None) -> TraceResult:
    """Return the packet of class rdma from a host of leaf1 to one of another leaf, with captures beside it."""
    (folder / "fabric.yaml").write_text(INTENT["fabric.yaml"])
    now, earlier = folder / "now", folder / "before"
    for root, files in ((now, captures), (earlier, before or {})):
        root.mkdir()
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
    since = [earlier] if before is not None else []
    return trace(folder / "fabric.yaml", HOST1, OTHER, 26, captures=[now], since=since)


def leaf1(result: TraceResult) -> TraceHop:
    return result.trace.hops[0]


def counter(hop: TraceHop, stage: str, name: str, port: str = "") -> TraceCounter:
    """Return one counter of a hop."""
    (found,) = (c for c in hop.counters if (c.stage, c.name) == (stage, name) and port in ("", c.port))
    return found


def watermarks(**peaks: int) -> str:
    """Return a database with peaks of PG 3 of Ethernet0, by the table that they are in."""
    return json.dumps(
        {
            "COUNTERS_PG_NAME_MAP": {"Ethernet0:3": PG},
            **{f"{table}:{PG}": {_SHARED: str(peak), _XOFF: str(peak // 2)} for table, peak in peaks.items()},
        }
    )


_SHARED = "SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES"
_XOFF = "SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES"


class TestAHop:
    """leaf1: in at the port of host1, out at an uplink."""

    def test_what_is_not_captured_is_unknown_and_never_0(self, tmp_path: Path) -> None:
        hop = leaf1(traced(tmp_path, {"spine1/q.txt": queue_counters({"Ethernet0 UC3": 0})}))
        assert {c.value for c in hop.counters} == {None}
        assert {c.unknown for c in hop.counters} == {"no captures of leaf1"}

    def test_counters_are_those_of_the_queue_the_packet_leaves_by(self, tmp_path: Path) -> None:
        counts = queue_counters({f"{OUT} UC3": 12, f"{OUT} UC4": 99, "Ethernet0 UC3": 98})
        dropped = counter(leaf1(traced(tmp_path, {"leaf1/q.txt": counts})), "queue", "dropped_packets")
        assert (dropped.value, dropped.since, dropped.port, dropped.number) == (12, "unknown", OUT, 3)

    def test_of_several_windows_the_highest_peak_is_shown_with_its_window(self, tmp_path: Path) -> None:
        database = watermarks(USER_WATERMARKS=700, PERSISTENT_WATERMARKS=900, PERIODIC_WATERMARKS=100)
        hop = leaf1(traced(tmp_path, {"leaf1/c.json": database}))
        shared = counter(hop, "priority_group", "shared_watermark_bytes")
        headroom = counter(hop, "priority_group", "xoff_room_watermark_bytes")
        assert (shared.value, shared.since) == (900, "persistent clear")
        assert (headroom.value, headroom.unit) == (450, "bytes")

    def test_two_captures_give_differences_and_peaks_stay_peaks(self, tmp_path: Path) -> None:
        now = {
            "leaf1/c.json": watermarks(USER_WATERMARKS=700),
            "leaf1/p.txt": pauses("Rx", {"Ethernet0": 50}),
        }
        then = {
            "leaf1/c.json": watermarks(USER_WATERMARKS=600),
            "leaf1/p.txt": pauses("Rx", {"Ethernet0": 30}),
        }
        hop = leaf1(traced(tmp_path, now, then))
        received = counter(hop, "pfc", "pfc_rx", "Ethernet0")
        assert (received.value, received.since) == (20, "earlier capture")
        assert counter(hop, "priority_group", "shared_watermark_bytes").value == 700

    def test_counters_of_a_group_that_is_off_are_unknown(self, tmp_path: Path) -> None:
        row = json.loads(watermarks(USER_WATERMARKS=700))
        row["FLEX_COUNTER_TABLE|PG_WATERMARK"] = {"FLEX_COUNTER_STATUS": "disable"}
        hop = leaf1(traced(tmp_path, {"leaf1/c.json": json.dumps(row)}))
        shared = counter(hop, "priority_group", "shared_watermark_bytes")
        assert shared.value is None
        assert shared.unknown == "counter group PG_WATERMARK is off: its counters do not move"


class TestFindings:
    """Those of the rules about running state, at the stage they concern; none of other ports and queues."""

    def test_a_storm_on_the_path_breaks_it_at_its_watchdog(self, tmp_path: Path) -> None:
        result = traced(tmp_path, {"leaf1/w.txt": storm(OUT)})
        assert [(mark.stage, mark.finding.code) for mark in leaf1(result).marks] == [("watchdog", "STM001")]
        assert result.trace.broken
        assert counter(leaf1(result), "watchdog", "pfcwd_status").value == "stormed"

    def test_a_storm_on_another_queue_of_the_port_is_counted_elsewhere(self, tmp_path: Path) -> None:
        text = storm(OUT).replace(f"{OUT}:3", f"{OUT}:4")
        result = traced(tmp_path, {"leaf1/w.txt": text})
        assert leaf1(result).marks == ()
        assert result.trace.elsewhere == 1

    def test_a_storm_on_another_port_is_counted_elsewhere(self, tmp_path: Path) -> None:
        result = traced(tmp_path, {"leaf1/w.txt": storm("Ethernet8")})
        assert leaf1(result).marks == ()
        assert (result.trace.broken, result.trace.elsewhere) == (False, 1)

    @pytest.mark.parametrize(("port", "expected"), [("Ethernet0", ["CTR002"]), ("Ethernet8", [])])
    def test_pauses_of_another_priority_contradict_the_configuration(
        self, tmp_path: Path, port: str, expected: list[str]
    ) -> None:
        result = traced(tmp_path, {"leaf1/p.txt": pauses("Rx", {port: 5}, priority=4)})
        assert [mark.finding.code for mark in leaf1(result).marks] == expected

    def test_drops_of_another_queue_do_not_concern_the_packet(self, tmp_path: Path) -> None:
        result = traced(tmp_path, {"leaf1/q.txt": queue_counters({"Ethernet0 UC3": 5})})
        assert leaf1(result).marks == ()


class TestHosts:
    """NICs at both ends, each with its name where the capture has it."""

    def test_pauses_cnps_and_losses(self, tmp_path: Path) -> None:
        files = {
            "host1/nic.txt": "NIC statistics:\n  rx_prio3_pause: 12\n  tx_prio3_pause: 7\n  rx_prio4_pause: 9\n",
            "host1/rdma.txt": "\n".join(
                f"/sys/class/infiniband/mlx5_{nic}/ports/1/hw_counters/{name}={value}"
                for nic, name, value in (
                    (0, "out_of_sequence", 4),
                    (1, "out_of_sequence", 0),
                    (0, "np_cnp_sent", 44),
                )
            ),
        }
        sender = traced(tmp_path, files).trace.sender
        assert sender is not None
        known = {(c.name, c.port): c.value for c in sender.counters if c.value is not None}
        assert known == {
            ("pfc_rx", ""): 12,
            ("pfc_tx", ""): 7,
            ("out_of_sequence", "mlx5_0"): 4,
            ("out_of_sequence", "mlx5_1"): 0,
            ("np_cnp_sent", "mlx5_0"): 44,
        }

    def test_a_host_without_captures_is_said(self, tmp_path: Path) -> None:
        receiver = traced(tmp_path, {"leaf1/w.txt": storm("Ethernet8")}).trace.receiver
        assert receiver is not None
        assert {c.unknown for c in receiver.counters} == {f"no captures of {OTHER}"}


def test_what_a_person_sees(tmp_path: Path) -> None:
    result = traced(tmp_path, {"leaf1/c.json": watermarks(USER_WATERMARKS=7000)})
    validated(trace_data(result.trace, result.documents))
    text = trace_text(result.trace, result.documents)
    table = text[text.index("counters of the class") : text.index("\n\nno captures of host1\n")]
    assert table.rstrip() == snapshot("""\
counters of the class    leaf1  spine1   leaf2    since
PG shared peak (B)       7,000  unknown  unknown  the last user clear
PG headroom peak (B)     3,500  unknown  unknown  the last user clear
PG drops               unknown  unknown  unknown  -
pauses sent (in)       unknown  unknown  unknown  -
pauses received (in)   unknown  unknown  unknown  -
pauses received (out)  unknown  unknown  unknown  -
pauses sent (out)      unknown  unknown  unknown  -
watchdog               unknown  unknown  unknown  -
storms detected        unknown  unknown  unknown  -
storms restored        unknown  unknown  unknown  -
queue packets          unknown  unknown  unknown  -
queue drops            unknown  unknown  unknown  -
ECN marked             unknown  unknown  unknown  -
peak queue depth (B)   unknown  unknown  unknown  -
leaf1: not captured: PG drops, pauses sent (in), pauses received (in), pauses received (out), pauses
  sent (out), watchdog, storms detected, storms restored, queue packets, queue drops, ECN marked,
  peak queue depth (B)
no captures of spine1
no captures of leaf2\
""")
    verbose = trace_text(result.trace, result.documents, TextStyle(verbose=True))
    assert "PG shared peak 7,000 B since the last user clear; PG headroom peak 3,500 B" in verbose


def test_without_captures_nothing_is_counted(tmp_path: Path) -> None:
    (tmp_path / "fabric.yaml").write_text(INTENT["fabric.yaml"])
    result = trace(tmp_path, HOST1, OTHER, 26)
    assert leaf1(result).counters == ()
    assert "counters of" not in trace_text(result.trace, result.documents)
