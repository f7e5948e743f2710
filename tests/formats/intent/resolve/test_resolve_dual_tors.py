"""Dual ToRs: second lossless priorities on links between leaves and spines, as SONiC's own templates have them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from lossless.formats.sonic.from_model import tables
from lossless.model.fabric.model import Switch
from tests.strategies import fabric_of

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.formats.sonic.from_model import TableRows

Data = dict[str, Any]
ECN = {"min": "2 MB", "max": "10 MB", "probability": "5%"}
CLASSES: Data = {
    "scavenger": {"dscp": 8, "priority": 0},
    "default": {"dscp": "rest", "priority": 1},
    "lossless-3": {"dscp": 3, "priority": 3, "lossless": True, "ecn": ECN},
    "lossless-4": {"dscp": 4, "priority": 4, "lossless": True, "ecn": ECN},
    "ef": {"dscp": "EF", "priority": 5},
    "control": {"dscp": 48, "priority": 7},
}
"""The classes of SONiC's map for dual ToRs, but for DSCP 33 in a ninth traffic class."""


def intent(profile: str, nic: str, rate: str, classes: Data = CLASSES) -> Data:
    return {
        "lossless": "v1",
        "fabric": "f",
        "transport": "rocev2",
        "classes": classes,
        "pfc": {"watchdog": {"poll": "200ms", "detection": "400ms", "restoration": "400ms"}},
        "congestion_control": "dcqcn",
        "hardware": {"leaf": profile, "spine": profile, "super-spine": profile, "nic": nic},
        "topology": {
            "three_tier": {
                "pods": 1,
                "leaves_per_pod": 2,
                "spines_per_pod": 2,
                "super_spines": 1,
                "hosts_per_leaf": 1,
                "host_links": f"1 x {rate}",
                "uplinks": f"1 x {rate}",
                "spine_uplinks": f"2 x {rate}",
                "cables": {"host": "5m", "uplink": "40m", "spine_uplink": "300m"},
                "dual_tor": True,
            }
        },
    }


def switches(data: Data) -> dict[str, Switch]:
    return {switch.name: switch for switch in fabric_of(data).switches}


@pytest.fixture(scope="module")
def arista() -> dict[str, Switch]:
    return switches(intent("arista-7260cx3", "connectx-6-dx", "100G"))


MAPS = ("TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE")


def test_a_dual_tor_has_the_maps_of_the_template(reference: Path, arista: dict[str, Switch]) -> None:
    theirs = json.loads((reference / "corpus" / "partial" / "qos-arista7260-dualtor.json").read_text())
    ours = tables(arista["leaf1"])
    for name in MAPS:
        assert ours[name] == {key: without(row, "8") for key, row in theirs[name].items()}
    assert ours["TC_TO_DSCP_MAP"] == {key: without(row, "8") for key, row in theirs["TC_TO_DSCP_MAP"].items()}
    assert {key: without(row, "33") for key, row in ours["DSCP_TO_TC_MAP"].items()} == {
        key: without(row, "33") for key, row in theirs["DSCP_TO_TC_MAP"].items()
    }


def without(row: dict[str, str], key: str) -> dict[str, str]:
    return {k: v for k, v in row.items() if k != key}


def kinds(rows: TableRows) -> set[tuple[tuple[str, str], ...]]:
    """Return the different rows of ports in PORT_QOS_MAP."""
    ports = {key: row for key, row in rows["PORT_QOS_MAP"].items() if key != "global"}
    return {tuple(sorted(row.items())) for row in ports.values()}


def test_ports_of_a_dual_tor_are_bound_as_in_the_template(reference: Path, arista: dict[str, Switch]) -> None:
    theirs = json.loads((reference / "corpus" / "partial" / "qos-arista7260-dualtor.json").read_text())
    assert kinds(tables(arista["leaf1"])) == kinds(theirs)


def test_a_spine_above_dual_tors_has_the_maps_of_the_template_and_sends_nothing_up_in_second_queues(
    reference: Path, arista: dict[str, Switch]
) -> None:
    path = reference / "corpus" / "full" / "rend-Arista-7260CX3-C64-arista-7260-t1.json"
    theirs, ours = json.loads(path.read_text()), tables(arista["spine1"])
    assert ours["DSCP_TO_TC_MAP"] == theirs["DSCP_TO_TC_MAP"]
    assert ours["TC_TO_PRIORITY_GROUP_MAP"] == theirs["TC_TO_PRIORITY_GROUP_MAP"]
    assert ours["PORT_QOS_MAP"]["global"] == theirs["PORT_QOS_MAP"]["global"]
    bound = {tuple(pair for pair in row if pair[0] != "tc_to_queue_map") for row in kinds(theirs)}
    assert {tuple(pair for pair in row if pair[0] != "tc_to_queue_map") for row in kinds(ours)} == bound
    assert {tc: queue for tc, queue in ours["TC_TO_QUEUE_MAP"]["AZURE_UPLINK"].items() if tc != queue} == {
        "2": "1",
        "6": "1",
    }
    assert "TC_TO_DSCP_MAP" not in ours


def test_super_spines_know_nothing_of_tunnels(arista: dict[str, Switch]) -> None:
    found = tables(arista["superspine1"])
    assert {row["pfc_enable"] for key, row in found["PORT_QOS_MAP"].items() if key != "global"} == {"3,4"}
    assert found["DSCP_TO_TC_MAP"].keys() == {"AZURE"}


def test_the_watchdog_leaves_second_priorities_alone(arista: dict[str, Switch]) -> None:
    for switch in arista.values():
        for port in switch.ports:
            assert port.qos is not None
            assert port.qos.watchdog_mask is not None
            assert port.qos.watchdog_mask.priorities == (3, 4)


def test_second_priorities_have_groups_with_headroom_and_queues_that_mark(arista: dict[str, Switch]) -> None:
    up = next(port.qos for port in arista["leaf1"].ports if port.leads_to == "switch")
    assert up is not None
    for first, second in ((3, 2), (4, 6)):
        group, queue = up.groups[second], up.queues[second]
        assert group is not None
        assert queue is not None
        assert group._replace(number=first) == up.groups[first]
        assert queue._replace(number=first) == up.queues[first]


def test_chips_that_count_pauses_by_group_have_a_map_for_second_priorities() -> None:
    found = tables(switches(intent("nvidia-sn5600", "connectx-7", "400G"))["leaf1"])
    assert found["PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"] == {
        "AZURE": {"3": "3", "4": "4"},
        "AZURE_DUALTOR": {"2": "2", "3": "3", "4": "4", "6": "6"},
    }
    maps = {row["pfc_enable"]: row["pfc_to_pg_map"] for row in found["PORT_QOS_MAP"].values() if len(row) > 1}
    assert maps == {"3,4": "AZURE", "2,3,4,6": "AZURE_DUALTOR"}


def test_headroom_is_counted_for_second_priorities_too() -> None:
    with_tunnels = switches(intent("nvidia-sn5600", "connectx-7", "400G"))["leaf1"]
    data = intent("nvidia-sn5600", "connectx-7", "400G")
    del data["topology"]["three_tier"]["dual_tor"]
    without_tunnels = switches(data)["leaf1"]
    sizes = [
        next(pool.size_bytes or 0 for pool in switch.qos.pools if pool.name == "ingress_lossless_pool")
        for switch in (with_tunnels, without_tunnels)
    ]
    assert sizes[0] < sizes[1]


def test_one_lossless_class_has_one_second_priority_and_leaves_the_other_to_others() -> None:
    classes = {
        "rdma": {"dscp": 26, "priority": 3, "lossless": True, "ecn": ECN},
        "cnp": {"dscp": 48, "priority": 6, "scheduling": "strict"},
        "default": {"dscp": "rest", "priority": 0},
    }
    leaf = switches(intent("nvidia-sn5600", "connectx-7", "400G", classes))["leaf1"]
    masks = {port.qos.pfc.priorities for port in leaf.ports if port.qos}
    assert masks == {(3,), (2, 3)}
    assert leaf.qos.tunnel is not None
    assert leaf.qos.tunnel.tc_to_dscp is not None
    assert leaf.qos.tunnel.tc_to_dscp.targets == (0, 0, 0, 2, 0, 0, 48, 0)
