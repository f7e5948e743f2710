"""Closed forms held to what upstream's tests of QoS expect on real switches."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from copy import copy
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

    from lossless.model.hardware.model import SwitchProfile

PROFILES = [load_switch(name) for name in switch_names()]
TH5 = Recorded("Tomahawk 5", "topo-lt2-o128", "400000_500m", "xoff_1", "headroom", 4475, 4, 254)


@pytest.fixture(scope="module")
def file(reference: Path) -> Path:
    return reference / "reference" / "qos-params" / "qos-params.json"


@pytest.fixture(scope="module")
def found(file: Path) -> dict[str, Any]:
    return compared(read(file))


@pytest.fixture(scope="module")
def everything(file: Path) -> tuple[Recorded, ...]:
    """Return the counts of both files: Trident 3, Tomahawk 3 and Tomahawk 6 are in the second."""
    return (*read(file), *read(file.with_name("qos-params-2.json")))


@pytest.fixture(scope="module")
def all_rows(everything: tuple[Recorded, ...]) -> dict[str, Any]:
    return compared(everything)


def test_unique_headroom_is_the_recorded_one_on_nine_rows_in_ten(all_rows: dict[str, Any]) -> None:
    """Of today's files: rows of older files, copies and rows that nobody measured are apart."""
    unique = [
        r for r in all_rows["rows"] if (r["what"], r["join"], r["apart"]) == ("headroom", "unique", False)
    ]
    assert sum(row["verdict"] == "agrees" for row in unique) / len(unique) >= 0.9
    by_chip = all_rows["summary"]["headroom"]
    assert {name: (of["agree"], of["compared"], of["apart"]) for name, of in by_chip.items()} == {
        "Trident 2": (15, 15, 0),
        "Trident 3": (8, 8, 10),
        "Tomahawk": (27, 27, 0),
        "Tomahawk 2": (13, 15, 3),
        "Tomahawk 3": (6, 6, 0),
        "Tomahawk 5": (54, 54, 12),
        "Tomahawk 6": (102, 105, 63),
    }


def test_xoff_is_the_recorded_one_on_four_rows_in_five_and_close_on_trident_3(
    all_rows: dict[str, Any],
) -> None:
    by_chip = all_rows["summary"]["xoff point"]
    assert {name: (of["agree"], of["compared"], of["apart"]) for name, of in by_chip.items()} == {
        "Trident 2": (6, 6, 4),
        "Trident 3": (0, 12, 0),
        "Tomahawk": (18, 18, 0),
        "Tomahawk 2": (2, 2, 10),
        "Tomahawk 3": (4, 4, 0),
        "Tomahawk 5": (26, 26, 18),
        "Tomahawk 6": (96, 102, 54),
    }
    large = [by_chip[name] for name in ("Tomahawk", "Tomahawk 5", "Tomahawk 6")]
    assert sum(of["agree"] for of in large) / sum(of["compared"] for of in large) >= 0.8
    assert all(of["most_off"] <= 0.03 for of in by_chip.values())


def test_recorded_xoff_tells_the_parts_of_a_buffer(everything: tuple[Recorded, ...]) -> None:
    """With another number of parts no recorded count agrees."""
    reasons = Reasons(PROFILES)
    for name in ("Trident 2", "Tomahawk", "Tomahawk 3", "Tomahawk 5", "Tomahawk 6"):
        own = [p for p in PROFILES if p.asic.name == name]
        rows = [one for one in everything if (one.asic, one.what) == (name, "xoff point")]
        known = own[0].asic.buffer_parts
        agreeing = {
            parts: sum(
                predicted([with_parts(p, parts) for p in own], one, reasons.recording_of(one)).verdict
                == "agrees"
                for one in rows
            )
            for parts in (1, 2, 4)
        }
        assert agreeing[known or 0] > 0
        assert [parts for parts, count in agreeing.items() if count] == [known], name


def with_parts(profile: SwitchProfile, parts: int) -> SwitchProfile:
    other = copy(profile)
    other.asic = profile.asic._replace(buffer_parts=parts)
    return other


def test_verdicts_are_these(found: dict[str, Any]) -> None:
    counted = Counter((row["what"], row["verdict"]) for row in found["rows"])
    assert counted == {
        ("headroom", "agrees"): 109,
        ("headroom", "differs"): 17,
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


def test_of_the_second_file_trident_3_and_one_switch_of_tomahawk_6_are_unexplained(
    all_rows: dict[str, Any],
) -> None:
    unexplained = {
        (row["asic"], row["topology"], row["what"])
        for row in all_rows["rows"]
        if row["reason"] == UNEXPLAINED
    }
    places = ("topo-any", "topo-dualtor", "topo-dualtor-56", "topo-t1-lag")
    assert unexplained == {
        *(("Trident 3", place, "xoff point") for place in places),
        *(("Trident 3", place, "pool limit") for place in ("topo-any", "topo-dualtor-56")),
        *(("Tomahawk 6", place, "xoff point") for place in ("topo-lt2-o224", "topo-lt2-o256-u32d224")),
        ("Tomahawk 6", "topo-lt2-o256-u32d224", "headroom"),
    }


def test_each_change_on_record_explains_a_count(everything: tuple[Recorded, ...]) -> None:
    """And none speaks where profiles do: they are of rows that differ."""
    reasons = Reasons(PROFILES)
    rows = (predicted(PROFILES, one, reasons.recording_of(one)) for one in everything)
    differing = [one for one in rows if one.verdict == "differs"]
    assert all(any(other.speaks_of(one) for one in everything) for other in reasons.recordings)
    assert all(any(other.speaks_of(one.recorded) for one in differing) for other in reasons.copies)
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
