"""The object model of NX-OS says what the text of the same switch says; what is no value of it is named."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from lossless.api import Options, lint
from lossless.formats.inputs.collect import Candidate, read
from lossless.formats.inputs.switches import is_structured, read_switch
from lossless.formats.switches.nxos.read.dme import config_of_data, looks_structured, read_running_config
from lossless.ground.documents import load_text
from tests.paths import RULE_BASES

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.formats.switches.nxos.read.grammar import NxosConfig
    from lossless.ground.documents.text import Document

ROOT = "Cisco-NX-OS-device:System"


def named(key: str, *items: dict[str, Any]) -> dict[str, Any]:
    return {"name-items": {key: list(items)}}


def class_map(name: str, dscp: int) -> dict[str, Any]:
    return {"name": name, "matchType": "match-any", "dscp-items": {"Dscp-list": [{"val": dscp}]}}


def policy(name: str, *classes: dict[str, Any]) -> dict[str, Any]:
    return named("PMapInst-list", {"name": name, "cmap-items": {"MatchCMap-list": list(classes)}})


def bound(direction: str, name: str) -> dict[str, Any]:
    return {direction: {"sys-items": {"pmap-items": {"name": name}}}}


CURVE = {
    "minThreshold": 150,
    "minThresholdUnit": "kbytes",
    "maxThreshold": "3000",
    "maxThresholdUnit": "kbytes",
    "dropAvail": 7,
    "weight": 0,
    "ecn": True,
}
LEAF: dict[str, Any] = {
    "name": "leaf1",
    "ipqos-items": {
        "dflt-items": {
            "c-items": named("CMapInst-list", class_map("RDMA", 26), class_map("CNP", 48)),
            "p-items": policy(
                "MARKS",
                {"name": "RDMA", "setGrp-items": {"id": 3}},
                {"name": "CNP", "setGrp-items": {"id": 7}},
            ),
            "policy-items": {
                "in-items": {"intf-items": {"If-list": [{"name": "eth1/1", "pmap-items": {"name": "MARKS"}}]}}
            },
        },
        "nw-items": {
            "p-items": policy(
                "CLASSES",
                {"name": "c-8q-nq3", "mtu-items": {"value": 9216}, "pause-items": {"pfcCos3": True}},
                {"name": "c-8q-nq-default", "mtu-items": {"value": 9216}},
            ),
            "policy-items": bound("in-items", "CLASSES"),
        },
        "queuing-items": {
            "p-items": policy(
                "QUEUES",
                {"name": "c-out-8q-q3", "setRemBW-items": {"val": 60}, "RandDet-items": CURVE},
                {"name": "c-out-8q-q-default", "setRemBW-items": {"val": 39}},
                {"name": "c-out-8q-q7", "prio-items": {"level": 1}},
            ),
            "policy-items": bound("out-items", "QUEUES"),
        },
    },
    "intf-items": {
        "phys-items": {
            "PhysIf-list": [
                {
                    "id": "eth1/1",
                    "mtu": 9216,
                    "layer": "Layer3",
                    "adminSt": "up",
                    "priorflowctrl-items": {"mode": "on"},
                    "priorflowctrlwd-items": {"watchDogInterval": "on"},
                }
            ]
        }
    },
}


def document(system: dict[str, Any]) -> Document:
    loaded = load_text(json.dumps({ROOT: system}), "leaf1.json")
    assert is_structured(loaded)
    return loaded


def said(config: NxosConfig) -> dict[object, object]:
    policies: dict[object, object] = {
        name: [(cls, {key: s.value for key, s in settings.items()}) for cls, settings in each.below.items()]
        for name, each in config.policies.items()
    }
    blocks = {**config.class_maps, **{("port", name): own for name, own in config.ports.items()}}
    return {
        **policies,
        **{("block", *name): {key: s.value for key, s in own.items()} for name, own in blocks.items()},
        "switch": {key: s.value for key, s in config.switch.items() if key[0] != "watchdog"},
    }


def test_it_says_what_the_text_of_the_same_switch_says() -> None:
    text = (RULE_BASES / "switch-nxos.txt").read_text()
    of_text = read_running_config(text, "leaf1")[1]
    of_text.switch.pop(("log-only",))
    assert said(config_of_data(document(LEAF))) == said(of_text)


def test_a_class_map_matches_all_where_it_does_not_say() -> None:
    have = config_of_data(document(json.loads(json.dumps(LEAF).replace('"matchType": "match-any", ', ""))))
    assert not have.class_maps["qos", "RDMA"]["any",].value


def test_a_finding_points_at_the_value(tmp_path: Path) -> None:
    file = tmp_path / "leaf1.json"
    changed = json.loads(json.dumps(LEAF).replace('"val": 39', '"val": 70'))
    file.write_text(json.dumps({ROOT: changed}, indent=1))
    report = lint([file], Options())
    assert report.errors == ()
    assert "adds up to 130 %" in next(f.message for f in report.findings if f.code == "CFG014")
    assert {finding.code for finding in report.findings} == {"CFG014"}
    assert all(finding.origin.path[0] == ROOT for finding in report.findings)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (('"mode": "on"', '"mode": 1'), "'mode: 1' is not read"),
        (('"watchDogInterval": "on"', '"watchDogInterval": 1'), "'watchDogInterval: 1' is not read"),
        (('"id": 3}', '"id": 9}'), "'set qos-group 9' has a value out of range"),
        (('"val": 26', '"val": "x y"'), "'match dscp x y' has a value out of range"),
    ],
)
def test_what_is_no_value_is_named(change: tuple[str, str], line: str) -> None:
    have = read_switch(document(json.loads(json.dumps(LEAF).replace(*change)))).read
    assert line in " ".join((*have.unread, *(refused.what for refused in have.refused)))


@pytest.mark.parametrize(
    "data",
    [
        {"PORT": {"Ethernet0": {}}, "ipqos-items": {}},
        {"interfaces": {"Ethernet1": {}}},
        {"qos": {"roce": {}}, "interface": {"swp1": {}}},
        {"intf-items": {}},
    ],
)
def test_other_data_are_not_taken(data: dict[str, Any]) -> None:
    loaded = load_text(json.dumps(data), "leaf1.json")
    assert "PORT" in data or not is_structured(loaded) or loaded.dialect == "nvue"


def test_a_config_db_stays_one(tmp_path: Path) -> None:
    file = tmp_path / "config_db.json"
    file.write_text(json.dumps({"PORT": {"Ethernet0": {"lanes": "1"}}, "ipqos-items": {}}))
    assert [each.dialect for each in read(Candidate(str(file), expected=True)).documents] == [""]
    assert looks_structured({"ipqos-items": {}})


def test_many_files_are_checked_in_processes_and_none_is_lost(tmp_path: Path) -> None:
    """Among so many that other processes read them, the object model is still checked by the rules of switches."""
    for number in range(40):
        (tmp_path / f"config_db{number}.json").write_text(json.dumps({"PORT": {}}))
    changed = json.loads(json.dumps(LEAF).replace('"val": 39', '"val": 70'))
    (tmp_path / "leaf1.json").write_text(json.dumps({ROOT: changed}))
    assert "CFG014" in {finding.code for finding in lint([tmp_path], Options()).findings}


def test_of_the_numbers_of_a_mode_0_is_auto() -> None:
    """Cisco, NX-API REST SDK User Guide 9.3(x): the mode auto is 0 in XML. The peer decides then."""
    have = read_switch(document(json.loads(json.dumps(LEAF).replace('"mode": "on"', '"mode": 0')))).read
    assert (have.unread, [*have.undecided]) == ((), ["Ethernet1/1"])
