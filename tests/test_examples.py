"""The examples: one as an article printed it, one corrected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lossless.api import lint, lint_documents, render, simulate
from lossless.ground.documents import load, load_text

EXAMPLES = Path(__file__).parent.parent / "examples"
PUBLISHED = EXAMPLES / "roce-256-as-published" / "fabric.yaml"
RIGHT = EXAMPLES / "roce-256"
SUBNET_PUBLISHED = EXAMPLES / "infiniband-256-as-published" / "fabric.yaml"
SUBNET_RIGHT = EXAMPLES / "infiniband-256-ndr"


def test_the_published_reference_draws_what_is_wrong_with_it() -> None:
    report = lint([PUBLISHED])
    assert report.errors == ()
    assert {finding.code: finding.severity for finding in report.findings} == {
        "CLS007": "error",  # no class carries CNPs
        "ECN001": "error",  # no thresholds
        "PFC009": "error",  # pauses on 8:1 uplinks without ECN
        "TOP001": "error",  # 8:1
        "TOP002": "error",  # four ports short
        "TOP003": "error",  # no 800G port on that switch
        "WD001": "error",  # no watchdog
    }


def ratio_with(uplinks: str) -> Any:
    text = PUBLISHED.read_text().replace("uplinks: 1 x 800G", f"uplinks: {uplinks}")
    findings = lint_documents([load_text(text, "fabric.yaml")]).findings
    (found,) = (finding for finding in findings if finding.code == "TOP001")
    assert found.object == "topology.leaf_spine.uplinks"
    return found.data["ratio"]


def test_twice_the_uplinks_halve_the_oversubscription() -> None:
    assert ratio_with("1 x 800G") == 8
    assert ratio_with("2 x 800G") == 4


def test_the_published_reference_is_not_rendered(tmp_path: Path) -> None:
    result = render(PUBLISHED, tmp_path / "out")
    assert result.files == ()
    assert not (tmp_path / "out").exists()


def test_the_same_fabric_corrected_is_clean_and_safe(tmp_path: Path) -> None:
    report = lint([RIGHT])
    assert (report.findings, report.errors) == ((), ())
    assert [verdict.overall for verdict in simulate(RIGHT)] == ["safe"]
    result = render(RIGHT, tmp_path, base_dir=RIGHT / "base")
    assert {path.partition("/")[0] for path in result.files} >= {
        "leaf1",
        "leaf2",
        "spine1",
        "spine2",
        "host32",
    }
    rendered = lint([tmp_path])
    assert (rendered.findings, rendered.errors) == ((), ())


def test_a_rendered_tree_is_safe_from_the_switches_side_too(tmp_path: Path) -> None:
    render(RIGHT, tmp_path, base_dir=RIGHT / "base")
    assert [verdict.overall for verdict in simulate(tmp_path / "leaf1" / "config_db.json")] == ["safe"]


@pytest.mark.parametrize(
    ("name", "tool"), [("roce-256", "mlnx_qos"), ("thor-64", "dcb"), ("inbox-drivers", "dcb")]
)
def test_hosts_of_every_family_are_rendered(name: str, tool: str, tmp_path: Path) -> None:
    report = lint([EXAMPLES / name])
    assert (report.findings, report.errors) == ((), ())
    assert [verdict.overall for verdict in simulate(EXAMPLES / name)] == ["safe"]
    result = render(EXAMPLES / name, tmp_path)
    assert result.notes == ()
    host = tmp_path / "host1"
    assert {"lossless-roce.sh", "lossless-roce.service", "lossless-roce.json"} <= {
        path.name for path in host.iterdir()
    }
    assert json.loads((host / "lossless-roce.json").read_text())["tool"] == tool


PRESETS = {
    "nvidia": ("nvidia-sn5600", "connectx-7", "2 x 400G", "4 x 800G"),
    "pfc-only": ("nvidia-sn5600", "connectx-7", "2 x 400G", "4 x 800G"),
    "azure": ("arista-7260cx3", "connectx-6-dx", "1 x 100G", "4 x 100G"),
}


@pytest.mark.parametrize("preset", PRESETS)
def test_a_healthy_fabric_starts_green(preset: str) -> None:
    switch, nic, host_links, uplinks = PRESETS[preset]
    shape = {"leaves": 2, "spines": 2, "hosts_per_leaf": 8, "host_links": host_links, "uplinks": uplinks}
    intent = {
        "lossless": "v1",
        "fabric": "first",
        "transport": "rocev2",
        "preset": preset,
        "hardware": {"leaf": switch, "spine": switch, "nic": nic},
        "topology": {"leaf_spine": {**shape, "cables": {"host": "3m", "uplink": "30m"}}},
    }
    report = lint_documents([load_text(json.dumps(intent), "fabric.yaml")])
    assert report.errors == ()
    assert [f"{f.code}: {f.message}" for f in report.findings if f.severity != "info"] == []


def test_every_example_reads() -> None:
    for path in EXAMPLES.rglob("fabric.yaml"):
        assert load(path).problems == ()


def test_the_published_subnet_draws_what_does_not_fit_together() -> None:
    report = lint([SUBNET_PUBLISHED])
    assert report.errors == ()
    errors = [finding for finding in report.findings if finding.severity == "error"]
    assert {(one.data["product"], one.data["rate"]) for one in errors if one.code == "IB006"} == {
        ("ConnectX-6", "NDR"),  # "HDR NICs" on "400Gbps" ports
        ("QM8790", "NDR"),
        ("QM8790", "XDR"),  # "800Gbps uplinks"
    }
    assert [dict(one.data) for one in errors if one.code == "IB040"] == [
        {"ratio": 8.0, "down_bps": 12_800 * 10**9, "up_bps": 1600 * 10**9}
    ]


def test_the_published_subnet_is_not_rendered(tmp_path: Path) -> None:
    assert render(SUBNET_PUBLISHED, tmp_path / "out").files == ()
    assert not (tmp_path / "out").exists()


def test_the_same_subnet_corrected_is_clean_and_rendered(tmp_path: Path) -> None:
    report = lint([SUBNET_RIGHT])
    assert (report.findings, report.errors) == ((), ())
    files = render(SUBNET_RIGHT, tmp_path).files
    assert {path for path in files if path.startswith("sm1/")} == {
        "sm1/opensm.conf",
        "sm1/partitions.conf",
        "sm1/qos-policy.conf",
        "sm1/root_guid.conf",
    }
    assert {path.partition("/")[0] for path in files} == {
        "manifest.json",
        "sm1",
        "sm2",
        *(f"host{number}" for number in range(1, 33)),
    }
