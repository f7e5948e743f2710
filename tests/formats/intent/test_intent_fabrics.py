"""Pods, tiers, LAGs and dual ToRs: each mistake in an intent, and exactly what is said of it."""

from __future__ import annotations

import pytest

from tests.formats.intent.intent_texts import NAMED, SHAPE, TOPOLOGY, said_of, spoilt

Changes = list[tuple[str, str]]
PODS = """\
topology:
  three_tier:
    pods: 2
    leaves_per_pod: 2
    spines_per_pod: 2
    super_spines: 2
    hosts_per_leaf: 4
    host_links: 2 x 400G
    uplinks: 2 x 800G
    spine_uplinks: 2 x 800G
    cables: {host: 3m, uplink: 30m, spine_uplink: 200m}
"""
TOP = ("spine: nvidia-sn5600, nic", "spine: nvidia-sn5600, super-spine: nvidia-sn5600, nic")
THREE = spoilt(SHAPE, (TOPOLOGY, PODS), TOP)
BOTH = TOPOLOGY + PODS.removeprefix("topology:\n")
LINK = "    - {a: leaf1, b: leaf2, links: 1 x 800G, cable: 30m}\n"


def pfc(stated: str) -> tuple[str, str]:
    return ("  watchdog:", f"  {stated}\n  watchdog:")


SHAPES: dict[str, tuple[Changes, list[str]]] = {
    "no-product": (
        [(TOP[1], TOP[0])],
        ["12:1: hardware: super-spine is missing; superspine1 is a super-spine"],
    ),
    "product-with-an-underscore": (
        [("super-spine:", "super_spine:")],
        ["12:55: unknown key 'super_spine'; did you mean super-spine?"],
    ),
    "planes-that-do-not-divide": (
        [("super_spines: 2", "super_spines: 3\n    planes: 2")],
        ["19:13: topology.three_tier.planes: 2 planes do not divide 3 super_spines"],
    ),
    "planes-that-split-spines": (
        [("super_spines: 2", "super_spines: 6\n    planes: 3")],
        ["19:13: topology.three_tier.planes: 3 planes do not divide 2 spines_per_pod"],
    ),
    "no-cable-between-pods": (
        [(", spine_uplink: 200m", "")],
        ["23:5: topology.three_tier.cables: spine_uplink is missing"],
    ),
    "both-shapes": (
        [(PODS, BOTH)],
        ["14:3: topology: give either leaf_spine or three_tier, not both"],
    ),
    "shape-and-devices": (
        [(PODS, PODS + "  devices: {}\n")],
        ["14:3: topology: give either three_tier, or devices and links, not both"],
    ),
    "too-many-links": (
        [("pods: 2", "pods: 90000")],
        ["15:5: topology.three_tier: 2,880,000 links; the most that is laid out is 2,000,000"],
    ),
}


@pytest.mark.parametrize("case", SHAPES)
def test_shapes_that_cannot_be(case: str) -> None:
    changes, said = SHAPES[case]
    assert said_of(spoilt(THREE, *changes)) == said


TIERS: dict[str, tuple[Changes, list[str]]] = {
    "no-such-tier": (
        [pfc("tiers: [hosts, core]")],
        [
            "9:18: pfc.tiers.1: 'core' is not one of hosts, uplinks, spine_uplinks, links, local_links or global_links"
        ],
    ),
    "no-list": ([pfc("tiers: hosts")], ["9:10: pfc.tiers: expected a list, found 'hosts'"]),
    "none": (
        [pfc("tiers: []")],
        ["9:10: pfc.tiers: an empty list; name the tiers with PFC, or state pfc: off where none has it"],
    ),
    "twice": ([pfc("tiers: [hosts, hosts]")], ["9:18: pfc.tiers.1: hosts occurs twice in the list"]),
    "without-links": (
        [pfc("tiers: [hosts, spine_uplinks]")],
        ["9:18: pfc.tiers.1: no link of this fabric is one of spine_uplinks; there are hosts, uplinks"],
    ),
    "asymmetric": (
        [pfc("asymmetric: sometimes")],
        ["9:15: pfc.asymmetric: expected true or false, found 'sometimes'"],
    ),
}


@pytest.mark.parametrize("case", TIERS)
def test_tiers_that_cannot_be(case: str) -> None:
    changes, said = TIERS[case]
    assert said_of(spoilt(SHAPE, *changes)) == said


LAGS: dict[str, tuple[Changes, list[str]]] = {
    "of-several-speeds": (
        [(LINK, LINK.replace("}", ", lag: a}") + LINK.replace("800G", "400G").replace("}", ", lag: a}"))],
        ["21:35: topology.links.1.links: 400G in LAG a, whose other links have 800G; members have one speed"],
    ),
    "whichever-end-comes-first": (
        [
            (
                LINK,
                LINK.replace("}", ", lag: a}")
                + "    - {a: leaf2, b: leaf1, links: 1 x 400G, cable: 30m, lag: a}\n",
            )
        ],
        ["21:35: topology.links.1.links: 400G in LAG a, whose other links have 800G; members have one speed"],
    ),
    "to-a-host": (
        [("b: host1, links: 1 x 400G", "b: host1, lag: on, links: 1 x 400G")],
        [
            "21:33: topology.links.1.lag: a LAG of hosts is bonded on the host; only links between switches can be one"
        ],
    ),
    "no-name": (
        [(LINK, LINK.replace("}", ", lag: 7}"))],
        ["20:62: topology.links.0.lag: expected true or the name of a LAG, found 7"],
    ),
    "unsafe-name": (
        [(LINK, LINK.replace("}", ", lag: a b}"))],
        [
            "20:62: topology.links.0.lag: 'a b' is not the name of a LAG; expected at most 63 letters, digits, "
            "'.', '_' and '-', beginning with a letter or digit"
        ],
    ),
    "port-twice": (
        [(LINK, LINK.replace("a: leaf1", "a: 'leaf1:Ethernet0'") * 2)],
        ["21:11: topology.links.1.a: leaf1:Ethernet0 already has a link"],
    ),
}


@pytest.mark.parametrize("case", LAGS)
def test_lags_that_cannot_be(case: str) -> None:
    changes, said = LAGS[case]
    assert said_of(spoilt(NAMED, *changes)) == said


def test_lags_of_one_name_between_other_switches_are_others() -> None:
    third = ("leaf2: {role: leaf}", "leaf2: {role: leaf}\n    leaf3: {role: leaf}")
    other = "    - {a: leaf1, b: leaf3, links: 1 x 400G, cable: 30m, lag: a}\n"
    assert said_of(spoilt(NAMED, third, (LINK, LINK.replace("}", ", lag: a}") + other))) == []


DUAL = spoilt(SHAPE, ("leaves: 2", "dual_tor: true\n    leaves: 2"))
DUAL_TORS: dict[str, tuple[Changes, list[str]]] = {
    "second-priority-taken": (
        [("priority: 6", "priority: 2")],
        ["6:29: classes.cnp.priority: 2 is the second priority of class rdma between dual ToRs"],
    ),
    "no-second-priority": (
        [("priority: 3", "priority: 5")],
        ["5:30: classes.rdma.priority: 5 has no second priority for tunnels between dual ToRs; 3 and 4 have"],
    ),
    "dscp-of-tunnels": (
        [("dscp: 48", "dscp: [48, 2]")],
        ["6:20: classes.cnp.dscp: DSCP 2 marks tunnels of class rdma between dual ToRs"],
    ),
    "uplinks-without-pfc": (
        [pfc("tiers: [hosts]")],
        [
            "9:10: pfc.tiers: topology.leaf_spine.dual_tor sends lossless classes back through uplinks, "
            "which have no PFC; add uplinks"
        ],
    ),
}


@pytest.mark.parametrize("case", DUAL_TORS)
def test_dual_tors_that_cannot_be(case: str) -> None:
    changes, said = DUAL_TORS[case]
    assert said_of(DUAL) == []
    assert said_of(spoilt(DUAL, *changes)) == said


@pytest.mark.parametrize("role", ["spine", "super-spine", "host"])
def test_only_a_leaf_is_a_dual_tor(role: str) -> None:
    changed = spoilt(NAMED, ("leaf2: {role: leaf}", f"leaf2: {{role: {role}, dual_tor: on}}"))
    column = 29 + len(role)
    assert said_of(changed) == [
        f"16:{column + 2}: topology.devices.leaf2.dual_tor: a {role} is no ToR; dual_tor is for leaves, "
        "which hosts are attached to"
    ]
