"""Ports without RDMA: what is outside the lossless domain, who says so, and that it is counted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from lossless.api import Options, lint
from lossless.ground.documents import load_text
from lossless.output.report.lint.summary import summary_text
from tests.checks.rules.snippets import BASES, merge
from tests.checks.rules.test_hosts_by_their_files import qos

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.api import Report

LEAF: dict[str, Any] = load_text((BASES / "leaf.json").read_text(), "leaf.json").data
BARE = {
    "PORT_QOS_MAP": {"Ethernet4": None},
    "BUFFER_PG": {"Ethernet4|0": None, "Ethernet4|3": None},
    "BUFFER_QUEUE": {f"Ethernet4|{queue}": None for queue in range(8)},
    "QUEUE": {f"Ethernet4|{queue}": None for queue in range(8)},
    "PFC_WD": {"Ethernet4": None},
}
"""A port that has nothing of a class."""
NOWHERE = dict.fromkeys(("PORT_QOS_MAP", "BUFFER_PG", "BUFFER_QUEUE", "QUEUE", "PFC_WD"))
"""A switch that has nothing of one."""


def linted(folder: Path, patch: dict[str, Any], says: str = "", **options: Any) -> Report:
    """Return the report on a leaf in a folder, with a configuration above it."""
    (folder / ".git").mkdir()
    (folder / "leaf1").mkdir()
    (folder / "leaf1" / "config_db.json").write_text(json.dumps(merge(LEAF, patch)))
    (folder / "lossless.toml").write_text(says)
    return lint([folder / "leaf1"], Options(configured=True, **{"rdma_dscps": (26,), **options}))


def errors(report: Report) -> list[str]:
    return [finding.code for finding in report.findings if finding.severity == "error"]


def test_a_sound_switch_has_no_port_outside(tmp_path: Path) -> None:
    report = linted(tmp_path, {})
    assert (errors(report), report.ports_without_rdma) == ([], 0)
    assert "without RDMA" not in summary_text(report)


def test_a_port_without_any_part_of_a_chain_is_outside_and_counted(tmp_path: Path) -> None:
    report = linted(tmp_path, BARE)
    assert (errors(report), report.ports_without_rdma) == ([], 1)
    assert "1 port without RDMA" in summary_text(report)


@pytest.mark.parametrize(
    "kept",
    [
        {"BUFFER_PG": {"Ethernet4|3": {"profile": "pg_lossless_400000_5m_profile"}}},
        {"PORT_QOS_MAP": {"Ethernet4": {"pfc_enable": "3"}}},
        {"PORT_QOS_MAP": {"Ethernet4": {"dscp_to_tc_map": "AZURE"}}},
    ],
    ids=["a lossless group", "PFC", "a map"],
)
def test_a_port_with_a_part_of_a_chain_is_inside(kept: dict[str, Any], tmp_path: Path) -> None:
    assert linted(tmp_path, merge(BARE, kept)).ports_without_rdma == 0


def test_a_port_that_is_down_is_not_counted(tmp_path: Path) -> None:
    down = {**BARE, "PORT": {"Ethernet4": {"admin_status": "down"}}}
    assert linted(tmp_path, down).ports_without_rdma == 0


@pytest.mark.parametrize(
    "names",
    [
        '"Ethernet4"',
        '["Ethernet8", "Ethernet4"]',
        '"leaf1:Ethernet4"',
        '"leaf?:Ethernet[4-5]"',
        '"Ethernet*"',
    ],
)
def test_rules_of_a_class_leave_out_ports_that_carry_no_rdma(names: str, tmp_path: Path) -> None:
    half = {"PORT_QOS_MAP": {"Ethernet4": {"pfc_enable": ""}}, "PFC_WD": {"Ethernet4": None}}
    says = f"[[ports]]\nnames = {names}\nrdma = false\n"
    assert errors(linted(tmp_path, half, says)) == []


@pytest.mark.parametrize(
    "says",
    [
        "",
        '[[ports]]\nnames = "Ethernet8"\nrdma = false\n',
        '[[ports]]\nnames = "leaf2:Ethernet4"\nrdma = false\n',
        '[[ports]]\npaths = "leaf2"\nrdma = false\n',
        '[[ports]]\nrdma = false\n[[ports]]\nnames = "Ethernet4"\nrdma = true\n',
    ],
    ids=["nothing", "another port", "another switch", "another folder", "taken back"],
)
def test_half_a_chain_is_an_error_where_nothing_says_otherwise(says: str, tmp_path: Path) -> None:
    half = {"PORT_QOS_MAP": {"Ethernet4": {"pfc_enable": ""}}}
    assert errors(linted(tmp_path, half, says)) in (["PFC001"], ["CLS001"])


def test_a_switch_that_carries_a_named_dscp_nowhere_is_an_error(tmp_path: Path) -> None:
    report = linted(tmp_path, NOWHERE)
    assert (errors(report), report.ports_without_rdma) == (["SWS018"], 0)


@pytest.mark.parametrize("says", ['paths = "leaf1"\n', 'names = "leaf1:*"\n', ""])
def test_a_switch_of_which_it_is_said_that_it_carries_none_is_not(says: str, tmp_path: Path) -> None:
    report = linted(tmp_path, NOWHERE, f"[[ports]]\n{says}rdma = false\n")
    assert (errors(report), report.ports_without_rdma) == ([], 3)
    assert "3 ports without RDMA" in summary_text(report)


def test_one_port_that_is_left_is_enough_for_the_error(tmp_path: Path) -> None:
    says = '[[ports]]\nnames = ["Ethernet0", "Ethernet4"]\nrdma = false\n'
    assert errors(linted(tmp_path, NOWHERE, says)) == ["SWS018"]


def test_a_switch_where_nothing_is_named_has_no_domain(tmp_path: Path) -> None:
    report = linted(tmp_path, NOWHERE, rdma_dscps=())
    assert (errors(report), report.ports_without_rdma) == ([], 0)


@pytest.mark.parametrize(
    ("says", "message"),
    [
        ("[[ports]]\n", "rdma is missing"),
        ("[[ports]]\nrdma = 'no'\n", "rdma: 'no' is neither true nor false"),
        ("[[ports]]\nrdma = false\nname = 'Ethernet0'\n", "no key 'name'; did you mean names?"),
        ("[ports]\nrdma = false\n", "expected tables, each under [[ports]]"),
    ],
)
def test_a_mistake_is_said_and_leaves_nothing_out(says: str, message: str, tmp_path: Path) -> None:
    report = linted(tmp_path, NOWHERE, says)
    assert message in report.errors[0].message
    assert errors(report) == ["SWS018"]


@pytest.mark.parametrize(("says", "found"), [("", 1), ('names = ["leaf1:Ethernet4", "spine1:Ethernet4"]', 0)])
def test_a_link_without_pauses_may_be_said_to_carry_no_rdma(tmp_path: Path, says: str, found: int) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "lossless.toml").write_text(f"[[ports]]\n{says}\nrdma = false\n" if says else "")
    for name, kind, peer in (("leaf1", "ToRRouter", "spine1"), ("spine1", "LeafRouter", "leaf1")):
        cables = {port: {"name": peer, "port": port} for port in ("Ethernet0", "Ethernet4")}
        own = {"DEVICE_METADATA": {"localhost": {"hostname": name, "type": kind}}, "DEVICE_NEIGHBOR": cables}
        (tmp_path / name).mkdir()
        (tmp_path / name / "config_db.json").write_text(json.dumps(merge(LEAF, {**BARE, **own})))
    report = lint([tmp_path], Options(configured=True))
    assert len([finding for finding in report.findings if finding.code == "PFC003"]) == found


def test_a_watchdog_on_a_port_is_half_a_chain(tmp_path: Path) -> None:
    watched = {**BARE, "PFC_WD": {}}
    report = linted(tmp_path, watched)
    assert (errors(report), report.ports_without_rdma) == (["SWS018"], 0)
    assert [finding.elements for finding in report.findings if finding.code == "SWS018"] == [
        ("leaf1:Ethernet4",)
    ]


def test_a_watchdog_on_a_port_says_nothing_where_no_dscp_is_named(tmp_path: Path) -> None:
    report = linted(tmp_path, {**BARE, "PFC_WD": {}}, rdma_dscps=())
    assert errors(report) == []


# --- what hosts show ---


def beside_host(folder: Path, patch: dict[str, Any], host: dict[str, str]) -> Report:
    """Return the report on a leaf and the files of the host at its port Ethernet4, which LLDP on the host names."""
    (folder / "node1").mkdir()
    joined = "lldp.eth4.chassis.name=leaf1\nlldp.eth4.port.ifname=Ethernet4\n"
    for name, text in {"lldp.txt": joined, **host}.items():
        (folder / "node1" / name).write_text(text)
    (folder / "leaf1").mkdir()
    (folder / "leaf1" / "config_db.json").write_text(json.dumps(merge(LEAF, patch)))
    return lint([folder], Options(rdma_dscps=(26,)))


BY_TAGS = {"mlnx_qos.eth4.txt": qos(pfc=(), trust="pcp")}
"""A host that pauses nothing, and of which no file shows RDMA."""


def test_a_port_to_a_host_without_rdma_is_counted(tmp_path: Path) -> None:
    report = beside_host(tmp_path, {}, BY_TAGS)
    assert (errors(report), report.ports_without_rdma) == ([], 1)


@pytest.mark.parametrize(
    "host",
    [
        {"mlnx_qos.eth4.txt": qos(pfc=(3,))},
        {"mlnx_qos.eth4.txt": qos(pfc=(3,), trust="pcp")},
        {**BY_TAGS, "nccl.env": "NCCL_IB_TC=104\n"},
        {},
    ],
    ids=["RDMA by DSCP", "PFC on", "a job", "LLDP alone"],
)
def test_a_port_to_a_host_that_may_have_rdma_is_inside(host: dict[str, str], tmp_path: Path) -> None:
    assert beside_host(tmp_path, {}, host).ports_without_rdma == 0


def test_half_a_chain_stays_a_fault_whatever_the_host_shows(tmp_path: Path) -> None:
    report = beside_host(tmp_path, {"PORT_QOS_MAP": {"Ethernet4": {"pfc_enable": ""}}}, BY_TAGS)
    assert report.ports_without_rdma == 0
    assert errors(report) != []


def test_a_port_without_any_part_is_counted_once(tmp_path: Path) -> None:
    assert beside_host(tmp_path, BARE, BY_TAGS).ports_without_rdma == 1


@pytest.mark.parametrize("role", ["Inb", "Rec"])
def test_a_port_inside_the_switch_is_outside_whatever_map_it_has(role: str, tmp_path: Path) -> None:
    inner = {"PORT": {"Ethernet4": {"role": role}}, "PORT_QOS_MAP": {"Ethernet4": {"pfc_enable": ""}}}
    rows = {**BARE, **inner, "BUFFER_PG": {"Ethernet4|3": None}, "PFC_WD": {"Ethernet4": None}}
    assert linted(tmp_path, rows).ports_without_rdma == 1
