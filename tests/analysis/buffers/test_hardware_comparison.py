"""Closed forms held to what upstream's tests of QoS expect on real switches."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.hardware import compared, summary
from benchmarks.hardware_predictions import predicted, within
from benchmarks.hardware_reasons import UNEXPLAINED, Reasons
from benchmarks.hardware_records import Recorded, read
from lossless.model.hardware.load import load_switch, switch_names
from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PROFILES = [load_switch(name) for name in switch_names()]
TH5 = Recorded("Tomahawk 5", "topo-lt2-o128", "400000_500m", "xoff_1", "headroom", 4475, 4, 254)


@pytest.fixture(scope="module")
def file(reference: Path) -> Path:
    return reference / "reference" / "qos-params" / "qos-params.json"


@pytest.fixture(scope="module")
def found(file: Path) -> dict[str, Any]:
    return compared(read(file))


def test_unique_headroom_is_the_recorded_one_on_nine_rows_in_ten(found: dict[str, Any]) -> None:
    summed = found["summary"]
    assert (summed["unique_headroom"], summed["unique_headroom_agrees"]) == (60, 57)
    assert summed["unique_headroom_part"] >= 0.9


def test_verdicts_are_these(found: dict[str, Any]) -> None:
    counted = Counter((row["what"], row["verdict"]) for row in found["rows"])
    assert counted == {
        ("headroom", "agrees"): 112,
        ("headroom", "differs"): 14,
        ("headroom", "not compared"): 79,
        ("xoff point", "agrees"): 54,
        ("xoff point", "differs"): 30,
        ("xoff point", "not compared"): 54,
        ("pool limit", "agrees"): 40,
        ("pool limit", "differs"): 17,
        ("pool limit", "not compared"): 46,
        ("nothing", "not compared"): 11,
    }


def test_whatever_differs_has_a_reason_and_whatever_is_alone_and_agrees_needs_none(
    found: dict[str, Any],
) -> None:
    for row in found["rows"]:
        assert row["reason"] != UNEXPLAINED, row
        assert bool(row["reason"]) == (row["verdict"] != "agrees" or row["join"] == "ambiguous"), row


def test_each_change_on_record_explains_a_count(file: Path) -> None:
    """And none speaks where profiles do: they are of rows that differ."""
    reasons = Reasons(PROFILES)
    differing = [one for one in (predicted(PROFILES, r) for r in read(file)) if one.verdict == "differs"]
    for revision in reasons.revisions:
        assert any(
            revision.speaks_of(one.recorded)
            and within(one.recorded, revision.candidate.packets(one.recorded))
            for one in differing
        ), revision.reason
    assert all(any(remark.speaks_of(one.recorded) for one in differing) for remark in reasons.remarks)


def test_a_row_of_one_hwsku_is_unique_and_one_of_several_is_not() -> None:
    assert predicted(PROFILES, TH5).join == "unique"
    leaf = TH5._replace(topology="topo-t0-standalone", row="200000_5m", packets=1185, margin=2)
    assert predicted(PROFILES, leaf).join == "ambiguous"
    assert predicted(PROFILES, TH5._replace(asic="jr2")).join == "none"


def test_a_count_beyond_the_margin_differs() -> None:
    within_margin, beyond = (predicted(PROFILES, TH5._replace(packets=4475 + more)) for more in (4, 5))
    assert (within_margin.verdict, beyond.verdict) == ("agrees", "differs")
    assert Reasons(PROFILES).of(beyond, [beyond]) == UNEXPLAINED


def test_the_headroom_of_another_row_is_named() -> None:
    other = predicted(PROFILES, TH5._replace(packets=6385))
    reason = Reasons(PROFILES).of(other, [other])
    assert reason.startswith("the headroom of another row: 800G 300m of ")


def test_nothing_to_compare_is_no_part_of_what_agrees() -> None:
    assert summary([])["unique_headroom_part"] is None


def test_the_program_prints_one_object(tmp_path: Path) -> None:
    rows = {
        "400000_500m": {
            "pkts_num_leak_out": 0,
            "xoff_1": {"pkts_num_trig_pfc": 108469, "pkts_num_trig_ingr_drp": 112944, "pkts_num_margin": 4},
        },
        "100000_5m": {"pkts_num_leak_out": 0},
    }
    file = tmp_path / "one.json"
    family = {"th5": {"topo-lt2-o128": {"rows": rows, "topology": {"cell_size": 254}}}}
    file.write_text(json.dumps({"asics": {"th5": family}, "source": ""}), encoding="utf-8")
    script = str(ROOT / "benchmarks" / "hardware.py")
    ran = subprocess.run([sys.executable, script, str(file)], capture_output=True, text=True, check=True)
    printed = json.loads(ran.stdout)
    assert [(row["what"], row["verdict"], row["predicted"]) for row in printed["rows"]] == [
        ("xoff point", "agrees", 108470),
        ("headroom", "agrees", 4475),
        ("nothing", "not compared", None),
    ]
