"""``lossless acceptance``: writes a folder of scripts, and says which lines of a test passed."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from lossless.api import acceptance
from tests.checks.plan.acceptance_runs import LAB
from tests.checks.verify.test_traffic_tests import perftest
from tests.paths import ROOT

if TYPE_CHECKING:
    from tests.interfaces.cli.conftest import Cli

INTENT = str(ROOT / "examples/roce-256/fabric.yaml")


def test_the_text_has_steps_coverage_and_what_is_not_covered(cli: Cli) -> None:
    outcome = cli("acceptance", str(ROOT / "examples/roce-256-mixed/fabric.yaml"))
    assert outcome.code == 0
    assert outcome.out.startswith("roce-256-mixed: 139 lines, 64 host ports of 32 hosts in 6 rounds")
    assert "\nbandwidth.sh " in outcome.out
    assert "\nleaf1   32 of 32 " in outcome.out
    assert "need SONiC" in outcome.out
    assert "acceptance" in outcome.hint


def test_a_folder_is_written_whole_and_a_smaller_test_takes_files_away(cli: Cli) -> None:
    assert cli("acceptance", INTENT, "-o", "test").code == 0
    files = {each.name for each in Path("test").rglob("*") if each.is_file()}
    listed = {
        each["path"].rpartition("/")[2]
        for each in json.loads(Path("test/manifest.json").read_text())["files"]
    }
    assert files == {*listed, "manifest.json"}
    assert {"README.md", "pfc-storm.py", "link-pull.sh"} <= files
    assert json.loads(Path("test/acceptance.json").read_text()) == json.loads(
        cli("acceptance", INTENT, "--format", "json").out
    )
    assert cli("acceptance", str(ROOT / "examples/infiniband-256-ndr"), "-o", "test").code == 0
    assert not Path("test/disturbing/link-pull.sh").exists()
    assert not Path("test/dscp.sh").exists()


def test_the_outcomes_decide_the_exit_code(cli: Cli) -> None:
    Path("fabric.yaml").write_text(LAB)
    Path("results/bandwidth/host1").mkdir(parents=True)
    place = Path("results/bandwidth/host1/within-1.txt")
    place.write_text(perftest(200.0, link="Ethernet"))
    told = cli("acceptance", "fabric.yaml", "--results", "results")
    assert told.code == 1
    assert told.out.splitlines()[0] == "base: 1 failed, 33 not run of 34 lines"
    assert "fail: within-1: host1 #1 to host3 #1: RDMA_Write of mlx5_0: 200 Gb/s" in told.out
    assert "not run: 8 of mtu, 9 of bandwidth, 8 of dscp" in told.out.replace("\n  ", " ")
    for step in ("mtu", "dscp"):
        Path("results", step).mkdir()
    place.write_text(perftest(391.0, link="Ethernet"))
    lines = [f"{line.id}\tPASS\tseen\n" for line in acceptance("fabric.yaml").lines if line.id != "within-1"]
    Path("results/mtu/lines.tsv").write_text("".join(lines))
    passed = cli("acceptance", "fabric.yaml", "--results", "results", "--format", "json")
    document = json.loads(passed.out)
    assert (passed.code, document["passed"], document["failed"], document["not_run"]) == (0, 34, 0, 0)


def test_a_result_that_cannot_be_read_is_no_outcome(cli: Cli) -> None:
    Path("fabric.yaml").write_text(LAB)
    Path("results/bandwidth/host1").mkdir(parents=True)
    Path("results/bandwidth/host1/within-1.json").write_text('{"test_info": {"test": "RDMA_Write_BW_Test"}}')
    told = cli("acceptance", "fabric.yaml", "--results", "results")
    assert told.code == 2
    assert "within-1.json" in told.err


def test_results_and_a_folder_to_write_exclude_each_other(cli: Cli) -> None:
    Path("results").mkdir()
    assert cli("acceptance", INTENT, "--results", "results", "-o", "test").code == 2
    assert not Path("test").exists()


def paged(cli: Cli) -> tuple[int, str]:
    """Return the exit code of the results in the current folder, and their page."""
    done = cli("acceptance", "fabric.yaml", "--results", "results", "--output", "html=page.html")
    return done.code, Path("page.html").read_text()


def test_the_page_of_results_has_the_failed_line_first_and_the_hash_of_each_file(cli: Cli) -> None:
    Path("fabric.yaml").write_text(LAB)
    Path("results/bandwidth/host1").mkdir(parents=True)
    Path("results/mtu").mkdir()
    place, recorded = Path("results/bandwidth/host1/within-1.txt"), Path("results/mtu/lines.tsv")
    place.write_text(perftest(200.0, link="Ethernet"))
    recorded.write_text("mtu-across-1\tFAIL\t<script>alert(1)</script>\u202e\n")
    code, page = paged(cli)
    assert code == 1
    assert "<title>Not passed: 2 failed, 32 not run of 34 lines - base - lossless acceptance</title>" in page
    assert "<td>within-1</td><td>host1 #1 to host3 #1</td>" in page
    assert "200 Gb/s, expected 392.1 Gb/s" in page
    assert page.index("Lines that did not pass") < page.index("The scripts")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\\u202e" in page
    for file in (Path("fabric.yaml"), place, recorded):
        assert f"{file}</td>" in page, file
        assert sha256(file.read_bytes()).hexdigest() in page
    # The three hosts that the failed lines name are in the two boxes of hosts.
    assert "2 of them: failed" in page
    assert "host8: failed" in page


def test_the_page_says_that_results_pass_or_are_incomplete(cli: Cli) -> None:
    Path("fabric.yaml").write_text(LAB)
    Path("results/mtu").mkdir(parents=True)
    lines = [f"{line.id}\tPASS\tseen\n" for line in acceptance("fabric.yaml").lines]
    recorded = Path("results/mtu/lines.tsv")
    recorded.write_text("".join(lines[:8]))
    code, page = paged(cli)
    assert (code, "<title>Not complete: 26 not run, 8 passed of 34 lines" in page) == (1, True)
    recorded.write_text("".join(lines))
    code, page = paged(cli)
    assert (code, "<title>Passed: all 34 lines - base" in page) == (0, True)
    Path("results/bandwidth/host1").mkdir(parents=True)
    Path("results/bandwidth/host1/within-1.json").write_text('{"test_info": {"test": "RDMA_Write_BW_Test"}}')
    code, page = paged(cli)
    assert (code, "<title>Check incomplete: 1 problem in the results" in page) == (2, True)
    assert "<h2>Not read</h2>" in page


def test_a_page_is_not_written_over_a_result(cli: Cli) -> None:
    Path("fabric.yaml").write_text(LAB)
    Path("results/mtu").mkdir(parents=True)
    recorded = Path("results/mtu/lines.tsv")
    recorded.write_text("mtu-across-1\tPASS\tseen\n")
    refused = cli("acceptance", "fabric.yaml", "--results", "results", "--output", f"html={recorded}")
    assert (refused.code, "one of the files that were checked" in refused.err) == (2, True)
    assert recorded.read_text() == "mtu-across-1\tPASS\tseen\n"


def test_the_page_of_a_test_has_its_scripts_figures_and_coverage(cli: Cli) -> None:
    cli("acceptance", INTENT, "--output", "html=page.html")
    page = Path("page.html").read_text()
    assert (
        "<title>Not run yet: 149 lines test 64 host ports of 32 hosts in 3 rounds of disjoint pairs" in page
    )
    assert "<td>disturbing/link-pull.sh</td>" in page
    assert "perftest of 68 pairs: 392.1 Gb/s, passed from 368.6 Gb/s on" in page
    assert "<td>leaf1</td><td>16 of 16</td>" in page
    assert "49 of 149 lines are left out here" in page
    assert "Marks here, by color and in words: disturbed." in page
