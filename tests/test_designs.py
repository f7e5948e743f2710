"""Eleven published designs as intents: what is checked, rendered and simulated of each, and what is said where not.

The files are in ``reference/designs``; their first line says which fabric they describe.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lossless.api import lint_documents
from lossless.ground.documents import load_text
from tests.interfaces.cli.conftest import Cli, cli

pytestmark = pytest.mark.tools("records")

__all__ = ["cli"]
ERRORS: dict[str, set[str]] = {
    "azure-nd-h100-infiniband": set(),
    "colossus-3tier": set(),
    "colossus-rails": set(),
    "hpn-dual-plane": {"BUF003"},
    "lossy-roce": set(),
    "meta-3tier-1to7": {"BUF003", "PFC009"},
    "storage-converged-25g": set(),
    "superpod-roce-1su": set(),
    "superpod-roce-dynamic": set(),
    "tomahawk5-thor2": set(),
    "uec": set(),
}
"""What makes each design unsafe as it stands: no HWSKU of the 7060X6 has rows for 200G and 400G, or for 300 m."""


@pytest.fixture
def designs(reference: Path) -> Path:
    return reference / "reference" / "designs"


def test_all_designs_are_here(designs: Path) -> None:
    assert {path.stem for path in designs.iterdir()} == set(ERRORS)


@pytest.mark.parametrize("name", ERRORS)
def test_a_design_has_the_errors_of_its_hardware_and_no_other(name: str, designs: Path, cli: Cli) -> None:
    report = json.loads(cli("lint", "--format", "json", str(designs / f"{name}.yaml")).out)
    assert report["errors"] == []
    found = [finding for finding in report["findings"] if finding["severity"] == "error"]
    assert {finding["code"] for finding in found} == ERRORS[name]
    assert len(found) == len(ERRORS[name]), "one cause is one finding"


VERDICTS = {name: "unsafe" if codes else "safe" for name, codes in ERRORS.items()}
VERDICTS |= dict.fromkeys(("lossy-roce", "uec"), "not checked")
del VERDICTS["azure-nd-h100-infiniband"]


@pytest.mark.parametrize("name", VERDICTS)
def test_the_closed_forms_agree_with_lint(name: str, designs: Path, cli: Cli) -> None:
    said = cli("simulate", "--closed-form", str(designs / f"{name}.yaml"))
    assert said.out.partition("\n")[0] == f"verdict: {VERDICTS[name]}"
    assert said.code == {"safe": 0, "unsafe": 1, "not checked": 2}[VERDICTS[name]]


@pytest.mark.parametrize("name", ["lossy-roce", "superpod-roce-1su", "superpod-roce-dynamic", "uec"])
def test_what_is_rendered_reads_back_clean_alone_and_beside_its_intent(
    name: str, designs: Path, cli: Cli
) -> None:
    intent = str(designs / f"{name}.yaml")
    assert cli("render", intent, "-o", "tree").code == 0
    for paths in (["tree"], [intent, "tree"]):
        report = json.loads(cli("lint", "--format", "json", *paths).out)
        assert report["errors"] == []
        assert {finding["severity"] for finding in report["findings"]} <= {"info"}


@pytest.mark.parametrize("name", ["hpn-dual-plane", "meta-3tier-1to7"])
def test_what_has_errors_is_not_rendered(name: str, designs: Path, cli: Cli) -> None:
    assert cli("render", str(designs / f"{name}.yaml"), "-o", "tree").code == 2
    assert not Path("tree").exists()


def test_an_incast_of_lossy_roce_is_unsafe_and_one_of_ultra_ethernet_is_not(designs: Path, cli: Cli) -> None:
    """Go-back-N repeats all that followed a lost packet; both switches have the same buffers."""
    quick = ("--seeds", "1", "--size", "1 MiB")
    lossy = cli("simulate", str(designs / "lossy-roce.yaml"), *quick)
    assert lossy.out.startswith("verdict: unsafe\n")
    assert "packets that are lost" in lossy.out
    ultra = cli("simulate", str(designs / "uec.yaml"), "-v", *quick)
    assert (ultra.code, ultra.out.partition("\n")[0]) == (0, "verdict: safe")
    assert "congestion control is not that of Ultra Ethernet" in " ".join(ultra.out.split())


def changed(path: Path, *changes: tuple[str, str]) -> str:
    text = path.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    Path("fabric.yaml").write_text(text)
    return "fabric.yaml"


def test_a_tomahawk_5_whose_dlb_mode_is_not_stated_is_safe_and_its_order_of_packets_not_checked(
    designs: Path, cli: Cli
) -> None:
    intent = str(designs / "tomahawk5-thor2.yaml")
    lint = cli("lint", "-v", intent)
    assert (lint.code, lint.out) == (0, "")
    assert "not checked: TOP015: load balancing is dlb, and nothing says its mode" in lint.err
    run = cli("simulate", intent, "-v", "--workload", "permutation", "--size", "64 KiB", "--seeds", "1")
    assert run.out.startswith("verdict: safe\n")
    assert "DLB is in its flowlet mode" in run.out
    rendered = cli("render", intent, "-o", "tree")
    assert rendered.code == 0
    assert "no file sets load balancing dlb" in rendered.out + rendered.err


@pytest.mark.parametrize("stated", ["", ", load_balancing: flowlet"])
def test_a_tomahawk_5_with_thor_2_is_safe_where_its_flows_or_their_flowlets_keep_their_order(
    stated: str, designs: Path, cli: Cli
) -> None:
    intent = changed(designs / "tomahawk5-thor2.yaml", (", load_balancing: dlb", stated))
    assert (cli("lint", intent).code, cli("lint", intent).out) == (0, "")
    assert cli("simulate", "--closed-form", intent).out.startswith("verdict: safe\n")
    assert cli("render", intent, "-o", "tree").code == 0


def test_hpn_is_safe_on_a_switch_with_rows_for_both_speeds_and_its_planes_run(
    designs: Path, cli: Cli
) -> None:
    intent = changed(designs / "hpn-dual-plane.yaml", ("arista-7060x6-64pe", "dell-z9864f"))
    assert (cli("lint", intent).code, cli("lint", intent).out) == (0, "")
    quick = ("--workload", "permutation", "--nics", "16", "--size", "64 KiB", "--seeds", "2")
    run = cli("simulate", intent, "-v", *quick)
    assert run.out.startswith("verdict: safe\n")
    assert "2 planes that no link joins: each NIC port sends within its own" in run.out


def test_three_tiers_of_rails_are_the_12288_gpus_of_colossus(designs: Path, cli: Cli) -> None:
    """Eight leaves of a pod share 64 hosts; with leaves that have hosts of their own there are as many GPUs."""
    changes = (
        ("planes: 16\n", "planes: 16\n    rails: 8\n"),
        ("hosts_per_leaf: 8", "hosts_per_leaf: 64"),
        ("tiers: [hosts, uplinks]", "tiers: [hosts, uplinks, spine_uplinks]"),
        ("gpus: 12288", "gpus: 12288, rails: 8"),
    )
    intent = changed(designs / "colossus-3tier.yaml", *changes)
    assert (cli("lint", intent).code, cli("lint", intent).out) == (0, "")
    before = json.loads(cli("topology", "--format", "json", str(designs / "colossus-3tier.yaml")).out)
    after = json.loads(cli("topology", "--format", "json", intent).out)
    assert after["links"] == before["links"]
    assert [group["switches"] for group in after["switches"]] == [192, 192, 128]
    assert sum(group["hosts"] for group in after["hosts"]) * 8 == 12288


@pytest.mark.parametrize(
    ("accepted", "codes"), [("7", []), ("{spine: 7}", []), ("{leaf: 7}", ["TOP001"]), ("1", ["TOP001"])]
)
def test_only_the_spines_of_meta_are_oversubscribed_seven_to_one(
    accepted: str, codes: list[str], designs: Path
) -> None:
    text = (designs / "meta-3tier-1to7.yaml").read_text()
    stated = text.replace("oversubscription: 7", f"oversubscription: {accepted}")
    report = lint_documents([load_text(stated, "fabric.yaml")])
    assert [finding.code for finding in report.findings if finding.code == "TOP001"] == codes
    pausing = next(finding for finding in report.findings if finding.code == "PFC009")
    assert pausing.data == {"ratio": 7.0, "priorities": [3]}
    assert {element.rstrip("0123456789") for element in pausing.elements} == {"spine"}
