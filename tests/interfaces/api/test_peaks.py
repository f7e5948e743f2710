"""Measured peaks beside the model: of the right kind of port, in their window, and unknown where not captured."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from lossless.api import simulate
from lossless.output.report.columns import TextStyle
from lossless.output.report.simulation.verdict_text import peaks_text
from tests.checks.verify.running import INTENT, leaf_config

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.analysis.simulation.study.measure import PeakComparison

SHARED = "SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES"
XOFF = "SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES"
QUEUE = "SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES"
HOST_PORT, OTHER_HOST_PORT, UPLINK = "Ethernet0", "Ethernet4", "Ethernet32"


def database(peaks: dict[str, int], table: str = "USER_WATERMARKS", number: int = 3) -> str:
    """Return a database with peaks of one group and queue of some ports; headroom half of it, queue twice."""
    rows: dict[str, dict[str, str]] = {"COUNTERS_PG_NAME_MAP": {}, "COUNTERS_QUEUE_NAME_MAP": {}}
    for at, (port, held) in enumerate(peaks.items()):
        rows["COUNTERS_PG_NAME_MAP"][f"{port}:{number}"] = f"oid:0x1a{at:04x}"
        rows["COUNTERS_QUEUE_NAME_MAP"][f"{port}:{number}"] = f"oid:0x15{at:04x}"
        rows[f"{table}:oid:0x1a{at:04x}"] = {SHARED: str(held), XOFF: str(held // 2)}
        rows[f"{table}:oid:0x15{at:04x}"] = {QUEUE: str(2 * held)}
    return json.dumps(rows)


def compared(folder: Path, captures: dict[str, str]) -> dict[tuple[str, str, str], PeakComparison]:
    """Return every comparison by the roles at both ends of a link and its peak; no traffic is run."""
    (folder / "fabric.yaml").write_text(INTENT["fabric.yaml"])
    for name, text in captures.items():
        file = folder / "captures" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (result,) = simulate(folder / "fabric.yaml", captures=[folder / "captures"])
    assert result.problems == ()
    return {(peak.switch, peak.peer, peak.peak): peak for peak in result.peaks}


def test_peaks_are_told_apart_by_kind_of_port(tmp_path: Path) -> None:
    peaks = compared(
        tmp_path, {"leaf1/c.json": database({HOST_PORT: 600, OTHER_HOST_PORT: 1000, UPLINK: 4000})}
    )
    seen = {kind: (peak.measured_bytes, peak.at, peak.ports) for kind, peak in peaks.items() if peak.ports}
    assert seen == {
        ("leaf", "host", "shared_bytes"): (1000, f"leaf1:{OTHER_HOST_PORT}", 2),
        ("leaf", "host", "headroom_bytes"): (500, f"leaf1:{OTHER_HOST_PORT}", 2),
        ("leaf", "host", "queue_bytes"): (2000, f"leaf1:{OTHER_HOST_PORT}", 2),
        ("leaf", "spine", "shared_bytes"): (4000, f"leaf1:{UPLINK}", 1),
        ("leaf", "spine", "headroom_bytes"): (2000, f"leaf1:{UPLINK}", 1),
        ("leaf", "spine", "queue_bytes"): (8000, f"leaf1:{UPLINK}", 1),
    }
    assert peaks["leaf", "host", "headroom_bytes"].closed_form_bytes == 231_424
    assert peaks["leaf", "spine", "headroom_bytes"].closed_form_bytes == 362_496


def test_of_several_switches_and_windows_the_highest_counts(tmp_path: Path) -> None:
    captures = {
        "leaf1/c.json": database({HOST_PORT: 600}),
        "leaf2/c.json": database({HOST_PORT: 900}, "PERSISTENT_WATERMARKS"),
    }
    peak = compared(tmp_path, captures)["leaf", "host", "shared_bytes"]
    assert (peak.measured_bytes, peak.at, peak.since, peak.ports) == (
        900,
        f"leaf2:{HOST_PORT}",
        "persistent clear",
        2,
    )


@pytest.mark.parametrize(
    "captures",
    [
        {"leaf9/c.json": database({HOST_PORT: 600})},
        {"leaf1/c.json": database({HOST_PORT: 600}, number=1)},
        {"leaf1/c.json": database({"Ethernet500": 600})},
        {
            "leaf1/c.json": database({HOST_PORT: 600})
            .replace('"600"', '"N/A"')
            .replace('"1200"', '"N/A"')
            .replace('"300"', '"N/A"')
        },
    ],
    ids=["another switch", "a lossy group", "another port", "not said"],
)
def test_what_is_not_captured_of_the_fabric_is_unknown(tmp_path: Path, captures: dict[str, str]) -> None:
    peaks = compared(tmp_path, captures)
    assert {peak.measured_bytes for peak in peaks.values()} == {None}


def test_a_configuration_among_captures_says_what_is_lossless(tmp_path: Path) -> None:
    config = leaf_config(PORT_QOS_MAP={HOST_PORT: {"pfc_enable": ""}})
    files = {"leaf1/c.json": database({HOST_PORT: 600}), "leaf1/config_db.json": config}
    assert compared(tmp_path, files)["leaf", "host", "shared_bytes"].measured_bytes is None


def test_as_text(tmp_path: Path) -> None:
    peaks = compared(tmp_path, {"leaf1/c.json": database({HOST_PORT: 600_000})})
    assert peaks_text([*peaks.values()], TextStyle()) == snapshot("""\
measured peaks
  leaf to host, 400G  measured (B)  simulated (B)  closed form (B)  at               since
  PG, shared               600,000  -              XOFF 37,686,272  leaf1:Ethernet0  user clear
  PG, headroom             300,000  -              needed 231,424   leaf1:Ethernet0  user clear
  queue                  1,200,000  -              -                leaf1:Ethernet0  user clear
  leaf to spine, 800G  measured (B)  simulated (B)  closed form (B)  at  since
  PG, shared           not captured  -              XOFF 37,686,272  -   -
  PG, headroom         not captured  -              needed 362,496   -   -
  queue                not captured  -              -                -   -
  spine to leaf, 800G  measured (B)  simulated (B)  closed form (B)  at  since
  PG, shared           not captured  -              XOFF 38,256,640  -   -
  PG, headroom         not captured  -              needed 362,496   -   -
  queue                not captured  -              -                -   -
  simulated: the most of all seeds, in the traffic that was run; what was measured may come of other
  traffic. lossless verify checks headroom against what is needed\
""")
