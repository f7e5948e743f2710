"""Findings of runs: what is unsafe, what is on the edge, what another rule has said already, what cannot be run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lossless import api
from lossless.fabric.view import View
from lossless.lint import traffic
from lossless.simulation.answer import Answer
from lossless.simulation.request import MISSING_NUMBA
from lossless.source import load_text
from tests.rules.snippets import BASES, merge

LEAF = json.loads((BASES / "leaf.json").read_text())
LOW = {
    "BUFFER_PROFILE": {
        "pg_lossless_400000_5m_profile": {"size": "19456", "dynamic_th": "-5"},
        "pg_lossless_800000_40m_profile": {"size": "38912", "dynamic_th": "-5"},
    },
    "WRED_PROFILE": {"AZURE_LOSSLESS": {f"{c}_max_threshold": "2000000" for c in ("green", "yellow", "red")}},
}


def pool(shared_headroom_bytes: int) -> dict[str, Any]:
    return {**LOW, "BUFFER_POOL": {"ingress_lossless_pool": {"xoff": str(shared_headroom_bytes)}}}


def linted(patch: dict[str, Any], *, simulate: bool = True) -> api.Report:
    document = load_text(json.dumps(merge(LEAF, patch), indent=1), "leaf1.json")
    return api.lint_documents([document], api.Options(simulate=simulate))


def drawn(report: api.Report) -> list[tuple[str, str]]:
    return [(f.code, f.severity) for f in report.findings if f.code.startswith("SIM")]


def test_a_pool_of_headroom_that_runs_out_is_an_error_at_its_size() -> None:
    report = linted(pool(30_000))
    (finding,) = [f for f in report.findings if f.code == "SIM001"]
    assert finding.severity == "error"
    assert finding.origin.path == ("BUFFER_POOL", "ingress_lossless_pool", "xoff")
    assert finding.message.startswith("lossless frames are dropped at leaf1:Ethernet")
    assert finding.help == (
        "raise xoff of ingress_lossless_pool: the shared headroom ran short, not the headroom of one group"
    )
    assert finding.data["seeds_with_drops"] == finding.data["seeds"] == 1


def test_with_less_than_a_frame_left_it_is_a_warning_and_with_more_nothing() -> None:
    assert drawn(linted(pool(107_000))) == [("SIM002", "warning")]
    assert drawn(linted(pool(800_000))) == []


def test_nothing_is_run_unless_it_is_asked_for() -> None:
    assert drawn(linted(pool(30_000), simulate=False)) == []


def test_a_threshold_that_another_rule_blames_is_not_blamed_again() -> None:
    short = {"pg_lossless_400000_5m_profile": {"size": "30456", "xoff": "11000", "dynamic_th": "-5"}}
    report = linted({**LOW, "BUFFER_PROFILE": {**LOW["BUFFER_PROFILE"], **short}})
    blamed = {f.code for f in report.findings if "pg_lossless_400000_5m_profile" in f.origin.path}
    assert blamed
    assert not {code for code in blamed if code.startswith("SIM")}


def test_what_cannot_be_run_is_not_judged_and_says_why() -> None:
    report = linted({"CABLE_LENGTH": {"AZURE": {"Ethernet0": None}}})
    reasons = [gap.reason for gap in report.not_judged if gap.code == "SIM001"]
    assert reasons == ["the length of the cable at leaf1:Ethernet0 is unknown"]


def test_without_numba_it_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traffic, "answer", lambda _view, _ask: Answer(not_run=MISSING_NUMBA))
    report = linted(pool(30_000))
    assert drawn(report) == []
    assert MISSING_NUMBA in [gap.reason for gap in report.not_judged]


def test_the_example_is_clean_with_traffic_too() -> None:
    example = Path(__file__).parents[2] / "examples" / "roce-256" / "fabric.yaml"
    assert api.lint([example], api.Options(simulate=True)).findings == ()


def test_every_deployed_kind_of_switch_is_run() -> None:
    fabric = api.load_fabrics([load_text(json.dumps(LEAF), "leaf1.json")]).fabrics[0]
    (run,) = traffic.runs_of(fabric)
    assert (run.verdict, run.not_run) == ("safe", None)
    assert View(fabric).alike
