"""A patch for SONiC's updater: what it makes of a configuration, and what the updater answers to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.inputs import LEAF
from tests.output.report.contract import parsed

DATA: dict[str, Any] = json.loads(LEAF)
LOSSY = {"op": "replace", "path": "/DSCP_TO_TC_MAP/AZURE/26", "value": "1"}


@pytest.fixture
def site(wide: Cli) -> Cli:
    """A folder with the configuration of one switch."""
    Path("config_db.json").write_text(LEAF)
    return wide


def patch(*operations: dict[str, Any]) -> None:
    Path("patch.json").write_text(json.dumps(operations, indent=1))


def answered(cli: Cli, *arguments: str) -> dict[str, Any]:
    """Return the report on a patch of the configuration."""
    ran = cli("lint", "--patch", "patch.json", *(arguments or ("config_db.json",)), "--format", "json")
    return parsed(ran.out)


def test_the_configuration_after_the_patch_is_checked(site: Cli) -> None:
    assert site("lint", "--rdma-dscp", "26", "config_db.json").code == 0
    patch(LOSSY)
    ran = site("lint", "--rdma-dscp", "26", "--patch", "patch.json", "config_db.json")
    assert ran.code == 1
    assert "DSCP 26 of class rdma maps to TC 1, which is lossy" in ran.out
    assert "= also: patch.json:2:2: this operation of the patch changes it" in ran.out
    assert "lossless traffic: DSCP 26 is lossless on priority 3, and becomes lossy" in ran.out
    assert Path("config_db.json").read_text() == LEAF


def test_ports_whose_rows_change_go_down_after_what_all_ports_share(site: Cli) -> None:
    patch(
        {"op": "replace", "path": "/PORT_QOS_MAP/Ethernet8/pfc_enable", "value": "3,4"},
        {"op": "replace", "path": "/PORT_QOS_MAP/Ethernet4/pfc_enable", "value": "3,4"},
        {"op": "add", "path": "/DSCP_TO_TC_MAP/AZURE/48", "value": "5"},
    )
    (device,) = answered(site)["patch"]
    assert device["accepted"]
    assert device["release"] == "202411"
    assert device["order"] == [
        {"phase": "ports up", "port": None, "rows": ["DSCP_TO_TC_MAP|AZURE"]},
        {"phase": "port down", "port": "Ethernet4", "rows": ["PORT_QOS_MAP|Ethernet4"]},
        {"phase": "port down", "port": "Ethernet8", "rows": ["PORT_QOS_MAP|Ethernet8"]},
    ]
    out = site("lint", "--patch", "patch.json", "config_db.json").out
    assert "  goes down on the way: Ethernet4, Ethernet8, one after another" in out


def test_a_map_that_is_rebound_and_removed_at_once_is_emptied_in_use(site: Cli) -> None:
    ports = DATA["PORT_QOS_MAP"]
    patch(
        {"op": "add", "path": "/DSCP_TO_TC_MAP/ROCE", "value": DATA["DSCP_TO_TC_MAP"]["AZURE"]},
        *(
            {"op": "replace", "path": f"/PORT_QOS_MAP/{port}/dscp_to_tc_map", "value": "ROCE"}
            for port in ports
        ),
        {"op": "remove", "path": "/DSCP_TO_TC_MAP/AZURE"},
    )
    (device,) = answered(site)["patch"]
    (emptied,) = device["emptied"]
    assert (emptied["row"], emptied["in_use"]) == ("DSCP_TO_TC_MAP|AZURE", True)
    assert device["order"][-1] == {"phase": "last", "port": None, "rows": ["DSCP_TO_TC_MAP|AZURE"]}
    assert "rebind first, remove it by a second patch" in site("lint", "--patch", "patch.json", ".").out


@pytest.mark.parametrize(
    ("operation", "stage", "refused"),
    [
        (
            {"op": "replace", "path": "/BUFFER_PROFILE/egress_lossy_profile/size", "value": "1024"},
            "field-operation",
            "BUFFER_PROFILE|egress_lossy_profile|size",
        ),
        ({"op": "add", "path": "/NO_SUCH_TABLE", "value": {"a": {}}}, "table-without-yang", "NO_SUCH_TABLE"),
        (
            {"op": "replace", "path": "/PORT_QOS_MAP/Ethernet4/dscp_to_tc_map", "value": "GONE"},
            "target-yang",
            "PORT_QOS_MAP|Ethernet4|dscp_to_tc_map",
        ),
    ],
)
def test_what_the_updater_refuses_is_named_with_the_line_of_the_patch(
    operation: dict[str, Any], stage: str, refused: str, site: Cli
) -> None:
    patch({"op": "replace", "path": "/PORT/Ethernet4/mtu", "value": "9100"}, operation)
    (device,) = answered(site)["patch"]
    assert (device["stage"], device["order"]) == (stage, [])
    assert [each["object"] for each in device["refused"]] == [refused]
    assert {(each["file"], each["line"]) for each in device["refused"]} == {("patch.json", 7)}
    ran = site("lint", "--patch", "patch.json", "config_db.json", "--select", "WD001")
    assert ran.code == 1
    assert site("lint", "--patch", "patch.json", "config_db.json", "--exit-zero").code == 0
    assert f"patch.json:7: {refused}: " in site("lint", "-q", "--patch", "patch.json", "config_db.json").out


def test_without_a_release_the_updaters_own_rules_are_not_checked(site: Cli) -> None:
    Path("config_db.json").write_text(json.dumps({**DATA, "VERSIONS": {}}))
    patch({"op": "replace", "path": "/BUFFER_PROFILE/egress_lossy_profile/size", "value": "1024"})
    report = answered(site)
    assert report["patch"][0]["accepted"]
    assert report["patch"][0]["release"] is None
    assert "not checked: its own rules" in site("lint", "--patch", "patch.json", "config_db.json").out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[\n{"op": "replace", "path": "/PORT/Ethernet400/mtu", "value": "9100"}]', "2:1: does not apply to"),
        ('[\n{"op": "remove", "path": "/PFC_WD/Ethernet400"}]', "there is no Ethernet400"),
        ('[\n{"op": "test", "path": "/PORT/Ethernet4/mtu", "value": "1"}]', "2:1: does not apply to"),
        ('[\n{"op": "replce", "path": "/PORT"}]', "2:8: op is 'replce'; did you mean replace?"),
        ('[\n{"op": "add", "path": "/PORT/Ethernet4/mtu"}]', "2:1: add has no value"),
        ('[\n{"op": "remove", "path": "PORT"}]', "2:26: 'PORT' is no JSON pointer"),
        ('[\n{"op": {"": ""}, "path": "/PORT"}]', "2:8: op is {'': ''}; expected one of"),
        ('[\n{"op": "remove", "path": []}]', "2:26: [] is no JSON pointer"),
        ('[\n{"op": "remove", "path": ""}]', "2:26: a patch changes tables, rows and fields"),
        ('[\n{"op": "remove", "path": "/asic0/PORT"}]', "2:26: no configuration of asic0 is given"),
        ("[\n3]", "2:1: not an operation"),
        ('{"PORT": {}}', "1:1: not a patch"),
        ("[", "the file ends too early"),
    ],
)
def test_what_is_no_patch_of_this_configuration_is_located(text: str, message: str, site: Cli) -> None:
    Path("patch.json").write_text(text)
    ran = site("lint", "--patch", "patch.json", "config_db.json")
    assert ran.code == 2
    assert "patch.json:" in ran.err
    assert message in ran.err


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("/PORT", "x", "a table is an object of rows"),
        ("/PORT", 5, "a table is an object of rows"),
        ("/DEVICE_METADATA", [{}], "a table is an object of rows"),
        ("/PORT/Ethernet4", "x", "a row is an object of fields"),
        ("/PORT/Ethernet4", None, "a row is an object of fields"),
        ("/PORT/Ethernet4", [{}], "a row is an object of fields"),
    ],
)
def test_a_table_or_row_that_is_none_is_refused(path: str, value: object, said: str, site: Cli) -> None:
    patch({"op": "add", "path": path, "value": value})
    (answer,) = answered(site)["patch"]
    assert not answer["accepted"]
    assert said in json.dumps(answer)


def asic(number: int) -> dict[str, Any]:
    row = DATA["DEVICE_METADATA"]["localhost"] | {"asic_name": f"asic{number}", "sub_role": "FrontEnd"}
    return DATA | {"DEVICE_METADATA": {"localhost": row}}


HOST = {"DEVICE_METADATA": DATA["DEVICE_METADATA"], "VERSIONS": DATA["VERSIONS"]}


@pytest.mark.parametrize("split", [False, True])
def test_each_asic_is_patched_by_itself(split: bool, site: Cli) -> None:
    if split:
        Path("config_db.json").write_text(json.dumps(HOST))
        for number in (0, 1):
            Path(f"config_db{number}.json").write_text(json.dumps(asic(number)))
        files = ["config_db.json", "config_db0.json", "config_db1.json"]
    else:
        whole = {"localhost": HOST, "asic0": asic(0), "asic1": asic(1)}
        Path("config_db.json").write_text(json.dumps(whole))
        files = ["config_db.json"]
    patch(
        LOSSY | {"path": "/asic1/DSCP_TO_TC_MAP/AZURE/26"},
        {"op": "replace", "path": "/localhost/DEVICE_METADATA/localhost/bgp_asn", "value": "65102"},
        {"op": "remove", "path": "/asic1/PFC_WD/Ethernet4"},
    )
    report = answered(site, *files)
    assert [(each["device"], each["operations"]) for each in report["patch"]] == [
        ("leaf1:asic1", 2),
        ("leaf1", 1),
    ]
    watchdogs = [each for each in report["findings"] if each["code"] == "WD001"]
    assert [each["elements"] for each in watchdogs] == [["leaf1:asic1:Ethernet4"]]
    patch(LOSSY)
    ran = site("lint", "--patch", "patch.json", *files)
    assert ran.code == 2
    assert "the switch has several ASICs: begin the path with /localhost or with /asic0" in ran.err


def test_a_switch_of_one_asic_may_be_called_localhost(site: Cli) -> None:
    patch(LOSSY | {"path": "/localhost/DSCP_TO_TC_MAP/AZURE/26"})
    assert answered(site)["patch"][0]["accepted"]


def test_a_patch_is_for_one_switch(site: Cli) -> None:
    Path("other.json").write_text(LEAF.replace('"leaf1"', '"leaf2"'))
    patch(LOSSY)
    ran = site("lint", "--patch", "patch.json", "config_db.json", "other.json")
    assert ran.code == 2
    assert "a patch is for one switch, and config_db.json and other.json are given" in ran.err


@pytest.mark.parametrize("other", [("--fix",), ("--since", "HEAD"), ("--watch",), ("--per-file",)])
def test_options_that_go_on_otherwise_are_refused(other: tuple[str, ...], site: Cli) -> None:
    patch(LOSSY)
    assert "--patch goes neither with" in site("lint", "--patch", "patch.json", "config_db.json", *other).err


def test_the_configuration_must_be_named(site: Cli) -> None:
    patch(LOSSY)
    assert "--patch needs the configuration that it is for" in site("lint", "--patch", "patch.json").err
