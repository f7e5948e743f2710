"""One ``lossless.toml`` holds for every command that reads deployed files: ports without RDMA, DSCPs, exclusions."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from lossless.api import (
    Options,
    Watch,
    baseline,
    diff_fabric,
    fix,
    headroom_of_ports,
    lint,
    lint_documents,
    lint_text,
    load_fabrics,
    parse_grid,
    plan,
    report_as,
    simulate,
    sweep,
    trace,
)
from lossless.ground.basics.errors import InputError
from lossless.ground.documents import load_text
from tests.checks.rules.snippets import BASES, merge

LEAF: dict[str, Any] = load_text((BASES / "leaf.json").read_text(), "leaf.json").data
EXAMPLE = Path(__file__).parents[3] / "examples" / "roce-256"
PLAIN = Options(configured=False)
LOSSY_PORT = {
    "PORT_QOS_MAP": {"Ethernet4": {"pfc_enable": ""}},
    "BUFFER_PG": {"Ethernet4|3": None},
    "CABLE_LENGTH": {"AZURE": {"Ethernet4": "0m"}},
    "PFC_WD": {"Ethernet4": None},
}
"""A port with half a chain."""
UNWATCHED = {"PFC_WD": {"Ethernet4": None}}
"""A port that pauses, and of which nothing ends a storm."""
WITHOUT = '[[ports]]\nnames = "Ethernet4"\nrdma = false\n'


def written(folder: Path, patch: dict[str, Any], says: str = "", name: str = "leaf1") -> Path:
    """Return the folder of a switch, with a configuration above it."""
    (folder / ".git").mkdir(exist_ok=True)
    (folder / "lossless.toml").write_text(says)
    (folder / name).mkdir(parents=True)
    (folder / name / "config_db.json").write_text(json.dumps(merge(LEAF, patch)))
    return folder / name


def errors(path: Path, options: Options) -> set[str]:
    return {finding.code for finding in lint([path], options).findings if finding.severity == "error"}


# --- ports without RDMA ---


def test_a_port_without_rdma_makes_no_verdict_in_any_command(tmp_path: Path) -> None:
    path = written(tmp_path, UNWATCHED, WITHOUT)
    plain, said = (Options(rdma_dscps=(26,), configured=each) for each in (False, None))
    assert errors(path, plain) == {"WD001"}
    assert errors(path, said) == set()
    assert simulate(path, plain)[0].closed.overall == "unsafe"
    assert simulate(path, said)[0].closed.overall == "safe"
    ports = [
        {element for kind in headroom_of_ports(path, options=each).comparisons for element in kind.elements}
        for each in (plain, said)
    ]
    assert ports[0] - ports[1] == {"leaf1:Ethernet4"}


def test_a_trace_follows_the_packet_through_a_port_without_rdma_and_says_what_it_is(tmp_path: Path) -> None:
    path = written(tmp_path, LOSSY_PORT, WITHOUT)
    told = trace(path, "Ethernet4", "Ethernet8", 26).trace
    assert (told.hops[0].ingress.outside, told.hops[0].egress.outside) == (True, False)
    assert told.broken
    assert [mark.finding.code for _, mark in told.marks if mark.finding.severity == "error"] == []
    assert not trace(path, "Ethernet0", "Ethernet8", 26).trace.broken


# --- whether configurations apply ---


def test_functions_that_check_files_read_configurations_unless_told_not_to(tmp_path: Path) -> None:
    path = written(tmp_path, UNWATCHED, WITHOUT)
    config = path / "config_db.json"
    for options, wanted in ((Options(rdma_dscps=(26,)), 0), (Options(rdma_dscps=(26,), configured=False), 1)):
        document = load_text(config.read_text(), str(config))
        reports = {
            "lint": lint([path], options),
            "lint_text": lint_text(config.read_bytes(), str(config), options),
            "lint_documents": lint_documents([document], options),
            "Watch": Watch([path], options).lint(),
            "fix": fix([path], options, write=False).report,
        }
        found = {
            name: [each.code for each in report.findings].count("WD001") for name, report in reports.items()
        }
        assert found == dict.fromkeys(reports, wanted)


def test_a_baseline_goes_where_the_configuration_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, UNWATCHED, 'baseline = "known.json"\n')
    made = baseline([path], options=Options(rdma_dscps=(26,)))
    assert (tmp_path / "known.json").samefile(made.file)
    assert "WD001" not in errors(path, Options(rdma_dscps=(26,)))
    assert "WD001" in errors(path, Options(rdma_dscps=(26,), configured=False))


# --- where the pages of rules are ---


def test_reports_link_to_the_pages_of_rules_where_a_configuration_says(tmp_path: Path) -> None:
    for says, wanted in (
        ("", None),
        ('rules-url = "https://docs.example.net/{code}/#fix"\n', "https://docs.example.net/WD001/#fix"),
    ):
        folder = tmp_path / ("linked" if says else "plain")
        folder.mkdir()
        report = lint([written(folder, UNWATCHED, says)], Options(rdma_dscps=(26,), select=("WD001",)))
        (finding,) = json.loads(report_as(report).text)["findings"]
        driver = json.loads(report_as(report, "sarif").text)["runs"][0]["tool"]["driver"]
        assert (finding["url"], driver["rules"][0].get("helpUri")) == (wanted, wanted)


# --- the DSCP that must be lossless ---

TO_ZERO = {"DSCP_TO_TC_MAP": {"AZURE": {"26": "0"}}}


@pytest.mark.parametrize("dscps", ["26", "0, 26"])
def test_a_configured_dscp_is_named_in_every_command(dscps: str, tmp_path: Path) -> None:
    path = written(tmp_path, TO_ZERO, f"rdma-dscp = [{dscps}]\n")
    assert errors(path, Options()) >= {"CLS001"}
    assert trace(path, "Ethernet0", "Ethernet8", 26).trace.broken
    closed = simulate(path)[0].closed
    assert "DSCP 26 is lossy on 3 ports with PFC; lint says why" in closed.not_checked
    documents = [load_text((path / "config_db.json").read_text(), str(path / "config_db.json"))]
    (fabric,) = load_fabrics(documents).fabrics
    assert fabric.switches[0].classes.knowledge == "named"


def test_a_dscp_on_the_command_line_takes_the_place_of_the_configured_one(tmp_path: Path) -> None:
    path = written(tmp_path, TO_ZERO, "rdma-dscp = [26]\n")
    options = Options(rdma_dscps=(3,))
    assert "CLS001" not in {
        f.code for f in lint([path], options).findings if f.severity == "error" and "26" in f.message
    }


def test_without_a_configuration_nothing_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, {}, "rdma-dscp = [26]\n")
    documents = [load_text((path / "config_db.json").read_text(), str(path / "config_db.json"))]
    assert load_fabrics(documents, PLAIN).fabrics[0].switches[0].classes.knowledge == "inferred"


@pytest.mark.parametrize(
    ("says", "message"),
    [
        ("rdma-dscp = 26\n", "26 is no list of DSCPs"),
        ("rdma-dscp = [64]\n", "64 is not a DSCP"),
        ("rdma-dscp = [true]\n", "true is not a DSCP"),
        ("rdma-dscps = [26]\n", "did you mean rdma-dscp?"),
        (
            'rules-url = "https://docs.example.net/rules/"\n',
            "is no address of rules; expected one such as https://",
        ),
        ('rules-url = "file:///etc/{code}"\n', "is no address of rules"),
        ('rules-url = "https://a b/{code}"\n', "is no address of rules"),
    ],
)
def test_a_mistake_in_a_configuration_is_said_by_every_command(
    says: str, message: str, tmp_path: Path
) -> None:
    path = written(tmp_path, {}, says)
    (problem,) = lint([path]).errors
    assert message in problem.message
    for run in (
        lambda: trace(path, "Ethernet0", "Ethernet8", 26),
        lambda: simulate(path),
        lambda: headroom_of_ports(path),
        lambda: sweep(path, parse_grid(["pmax=5%"])),
    ):
        with pytest.raises(InputError, match=re.escape(message)):
            run()


# --- which files ---


def test_excluded_files_are_read_by_no_command(tmp_path: Path) -> None:
    written(tmp_path, {"PFC_WD": None}, "exclude = ['old']\n", "old")
    path = written(tmp_path, {}, "exclude = ['old']\n").parent
    assert simulate(path)[0].closed.overall == "safe"
    assert not trace(path, "leaf1:Ethernet0", "leaf1:Ethernet8", 26).trace.broken
    assert {e for kind in headroom_of_ports(path).comparisons for e in kind.elements} >= {"leaf1:Ethernet0"}
    assert simulate(path, PLAIN)[0].closed.overall == "unsafe"


def test_diff_and_plan_read_no_excluded_files(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE / "base", tmp_path / "sites" / "now")
    shutil.copytree(EXAMPLE / "base" / "leaf1", tmp_path / "sites" / "old" / "leaf1")
    (tmp_path / ".git").mkdir()
    (tmp_path / "lossless.toml").write_text("exclude = ['old']\n")
    intent, sites = EXAMPLE / "fabric.yaml", [tmp_path / "sites"]
    for options, twice in ((PLAIN, ["leaf1"]), (Options(), [])):
        found = diff_fabric(sites, intent, options=options)
        assert [p.message.split("'")[1] for p in found.errors if "and so is" in p.message] == twice
    with pytest.raises(InputError, match=r"and so is"):
        plan(sites, intent, options=PLAIN)
    assert plan(sites, intent).steps


# --- which fabric ---


def test_switches_of_two_sites_may_have_one_name(tmp_path: Path) -> None:
    says = '[[fabric]]\npaths = "east"\n[[fabric]]\npaths = "west"\n'
    other = {"DEVICE_METADATA": {"localhost": {"hostname": "leaf2"}}}
    written(tmp_path, {}, says, "east/leaf1")
    written(tmp_path, {}, says, "west/leaf1")
    written(tmp_path, other, says, "west/leaf2")
    assert len(simulate(tmp_path)) == 2
    assert len(simulate(tmp_path, PLAIN)) == 1
    told = trace(tmp_path, "leaf2:Ethernet0", "leaf2:Ethernet8", 26).trace
    assert not told.broken
    with pytest.raises(InputError, match="2 fabrics here"):
        trace(tmp_path, "leaf1:Ethernet0", "leaf1:Ethernet8", 26)
