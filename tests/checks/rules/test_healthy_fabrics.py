"""Fabrics that are well, as operators build them: no rule about the fabric as a whole has a word to say."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checks.rules.fabrics import Intent, clos, fabric, listed, of_fabrics, said

UP_DOWN, SHORTEST = {"policy": "up-down"}, {"policy": "shortest-path"}
SWITCHES = ("leaf1", "leaf2", "leaf3", "leaf4", "spine1", "spine2")
RAILS = {"units": 2, "rails": 8, "spines": 4, "hosts_per_unit": 32, "host_links": "8 x 400G", "uplinks": "4 x 800G",
         "cables": {"host": "5m", "uplink": "30m"}}  # fmt: skip
PLANES = {**RAILS, "planes": 2, "spines": 8, "host_links": "16 x 200G", "uplinks": "2 x 800G"}
PODS = {"pods": 2, "leaves_per_pod": 4, "spines_per_pod": 4, "super_spines": 8, "planes": 4, "hosts_per_leaf": 16,
        "host_links": "2 x 400G", "uplinks": "4 x 800G", "spine_uplinks": "8 x 800G",
        "cables": {"host": "3m", "uplink": "30m", "spine_uplink": "300m"}}  # fmt: skip
GROUPS = {"groups": 4, "leaves": 4, "spines": 4, "hosts_per_leaf": 8, "host_links": "2 x 400G",
          "uplinks": "2 x 800G", "global_links": "4 x 800G",
          "cables": {"host": "3m", "uplink": "30m", "global": "100m"}}  # fmt: skip
MLAG = [f"leaf{leaf + 2 * (n // 8)} gpu{n + 1} 1 x 400G 3m" for leaf in (1, 2) for n in range(16)]
MLAG += [f"leaf{a} spine{b} 4 x 800G 30m" for a in range(1, 5) for b in (1, 2)]
MLAG += ["leaf1 leaf2 2 x 800G 1m", "leaf3 leaf4 2 x 800G 1m"]
BORDERS = [f"border{a} spine{b} 4 x 800G 30m" for a in (1, 2) for b in (1, 2)]
BORDERS += [f"border{a} wan{b} 4 x 400G 100m" for a in (1, 2) for b in (1, 2)]
BORDERS += [f"border{a} nas{b} 2 x 400G 3m" for a in (1, 2) for b in (1, 2)]
BORDERS += ["border1 border2 2 x 800G 1m"]
UNEVEN = [f"leaf{a} spine{b} 4 x 800G 30m" for a in (1, 2, 3) for b in (1, 2)]
UNEVEN += ["leaf1 spine3 1 x 800G 30m", "leaf2 spine3 2 x 800G 30m"]
MIXED = ["leaf1 spine1 2 x 800G 30m", "leaf1 spine2 2 x 800G 30m", "leaf2 spine1 4 x 400G 30m"]
MIXED += [
    "leaf2 spine2 4 x 400G 30m",
    "leaf1 gpu1 2 x 400G 3m",
    "leaf1 gpu2 4 x 200G 3m",
    "leaf2 gpu3 2 x 100G 5m",
]
WAN_PODS = [f"leaf{n} spine{1 + n // 3} 4 x 800G 30m" for n in (1, 2, 3, 4)]
WAN_PODS += [f"leaf{n} gpu{n} 4 x 400G 3m" for n in (1, 2, 3, 4)]
WAN_PODS += ["spine1 wan1 1 x 400G 2000m", "spine2 wan1 1 x 400G 2000m"]
WHOLE_PODS = [f"leaf{a} spine{b} 4 x 800G 30m" for a in (1, 2) for b in (1, 2)]
WHOLE_PODS += [f"spine{b} super{c} 4 x 800G 100m" for b in (1, 2) for c in (1, 2)]
WHOLE_PODS += [f"leaf{n} gpu{n} 8 x 400G 3m" for n in (1, 2)]


def two_tiers(**keys: Any) -> dict[str, Any]:
    """Return a leaf-spine of 64 hosts."""
    own = {"leaves": 4, "spines": 4, "hosts_per_leaf": 16, "host_links": "2 x 400G", "uplinks": "4 x 800G"}
    return {"leaf_spine": {**own, "cables": {"host": "3m", "uplink": "30m"}, **keys}}


HEALTHY: dict[str, Intent] = {
    "a leaf-spine by NVIDIA's preset": fabric(two_tiers()),
    "one by Azure's": fabric(two_tiers(), preset="azure"),
    "one without congestion control": fabric(two_tiers(), preset="pfc-only"),
    "one of 400G switches": fabric(two_tiers(host_links="1 x 200G", uplinks="4 x 400G"),
                                   hardware={"switch": "nvidia-sn4700"}),
    "one of Arista's": fabric(two_tiers(), hardware={"switch": "arista-7060x6-64pe-b"}),
    "one of Dell's with Thor 2": fabric(two_tiers(host_links="1 x 400G", uplinks="4 x 400G"),
                                        hardware={"switch": "dell-z9664f", "nic": "broadcom-thor-2"}),
    "one of 100G hosts": fabric(two_tiers(host_links="1 x 100G", uplinks="2 x 200G"),
                                hardware={"switch": "nvidia-sn3700", "nic": "connectx-6-dx"}),
    "rails with an NVLink domain in each host": fabric(
        {"rail_optimised": RAILS},
        cluster={"gpus_per_host": 8, "gpus": 512, "nics_per_host": 8, "rails": 8, "bandwidth_per_gpu": "400G",
                 "nvlink": {"generation": 4, "domain": 8}}),
    "rails under racks of 72": fabric(
        {"rail_optimised": {**RAILS, "units": 1, "rails": 4, "hosts_per_unit": 36, "host_links": "4 x 400G",
                            "uplinks": "5 x 800G"}},
        cluster={"gpus_per_host": 4, "gpus": 144, "rails": 4, "nvlink": {"generation": 5, "domain": 72}}),
    "rails by plane, by shortest paths": fabric(
        {"rail_optimised": PLANES, "routing": SHORTEST},
        cluster={"gpus_per_host": 8, "gpus": 512, "nics_per_host": 8, "rails": 8, "bandwidth_per_gpu": "400G",
                 "nvlink": {"generation": 4, "domain": 8}}),
    "three tiers in planes": fabric({"three_tier": PODS}),
    "rails of three tiers": fabric(
        {"three_tier": {**PODS, "rails": 2, "hosts_per_leaf": 32}, "routing": UP_DOWN},
        cluster={"gpus_per_host": 2, "gpus": 256, "rails": 2}),
    "three tiers with pairs of ToRs": fabric({"three_tier": {**PODS, "dual_tor": True}}),
    "a dragonfly+": fabric({"dragonfly_plus": GROUPS}),
    "hosts on two leaves that are peers": listed(MLAG),
    "borders towards routers, with storage": listed(clos(4, 2) + BORDERS, ("wan1", "wan2", "nas1", "nas2"),
                                                    cluster={"gpus_per_host": 8, "gpus": 128}),
    "super-spines of somebody else": listed(
        clos(4, 2) + [f"spine{a} super{b} 8 x 800G 300m" for a in (1, 2) for b in (1, 2)], ("super1", "super2")),
    "spines of somebody else": listed(clos(4, 2), ("spine1", "spine2")),
    "a router between two sites": listed(WAN_PODS, ("wan1",)),
    "a switch for management, outside": listed(clos(4, 2) + [f"{a} oob1 1 x 25G 5m" for a in SWITCHES], ("oob1",)),
    "a switch for management under a spine of a pod": listed([*WHOLE_PODS, "spine1 oob1 1 x 25G 5m"], ("oob1",)),
    "a storage fabric beside that of the GPUs": listed(
        [*clos(4, 2), "leaf11 spine11 4 x 800G 30m", "leaf12 spine11 4 x 800G 30m", "leaf11 nas1 4 x 400G 3m",
         "leaf12 nas2 4 x 400G 3m"]),
    "one switch": listed([f"leaf1 gpu{n} 2 x 400G 3m" for n in range(1, 9)]),
    "two leaves back to back": listed(
        [*(f"leaf{1 + n % 2} gpu{n} 2 x 400G 3m" for n in range(1, 9)), "leaf1 leaf2 8 x 400G 3m"]),
    "speeds and breakouts mixed": listed(MIXED),
    "a third spine half drained": listed(UNEVEN + [f"leaf{n} gpu{n} 8 x 400G 3m" for n in (1, 2, 3)]),
    "PFC at the edge alone": fabric(two_tiers(), pfc={"tiers": ["hosts"]}),
    "pairs of ToRs with a second priority": fabric(two_tiers(dual_tor=True)),
    "a leaf that is not cabled up yet": listed([*clos(4, 2), "leaf5 gpu17 4 x 400G 3m"]),
    "a spine that is cabled to one leaf so far": listed([*clos(4, 2), "leaf1 spine3 4 x 800G 30m"]),
    "spines that are peers": listed([*clos(4, 2), "spine1 spine2 2 x 800G 3m"]),
    "leaves that bridge and drop what they do not know": fabric(
        {**two_tiers(), "bridging": {"unknown_unicast": "drop"}}),
}  # fmt: skip


@pytest.mark.parametrize("name", HEALTHY)
def test_of_a_healthy_fabric_nothing_is_said(name: str) -> None:
    assert of_fabrics(said(HEALTHY[name])) == []


@pytest.mark.parametrize("routing", [UP_DOWN, SHORTEST], ids=["up-down", "shortest-path"])
@pytest.mark.parametrize("name", HEALTHY)
def test_nor_where_its_routing_is_stated_and_one_thing_may_fail(name: str, routing: dict[str, str]) -> None:
    one = HEALTHY[name]
    stated = {**one, "topology": {**one["topology"], "routing": routing}, "failures": {"links": 1}}
    assert of_fabrics(said(stated)) == []


@pytest.mark.parametrize(
    "shape",
    [
        {"torus": {"sides": [4, 4, 4], "links": "2 x 400G", "hosts_per_switch": 4, "host_links": "1 x 400G",
                   "cables": {"host": "3m", "link": "10m"}}},
        {"dragonfly": {"groups": 5, "switches": 4, "hosts_per_switch": 8, "host_links": "1 x 400G",
                       "local_links": "2 x 400G", "global_links": "4 x 400G",
                       "cables": {"host": "3m", "local": "10m", "global": "100m"}}},
    ],
    ids=["torus", "dragonfly"],
)  # fmt: skip
def test_where_lanes_decide_and_none_are_stated_nothing_is_checked(shape: dict[str, Any]) -> None:
    report = said(fabric(shape))
    assert of_fabrics(report) == []
    assert [rule.code for rule in report.not_checked if rule.code.startswith("TOP")] == ["TOP005"]


def test_storage_is_alone_where_the_jobs_are_said_to_be_elsewhere() -> None:
    storage = {"storage": {"on": "fabric", "class": "rdma"}}
    (shared,) = of_fabrics(said(fabric(two_tiers(), networks=storage)))
    assert shared.code == "CLS011"
    jobs = {"jobs": {"on": "separate", "purpose": "compute"}}
    assert of_fabrics(said(fabric(two_tiers(), networks=storage | jobs))) == []


def test_what_is_out_of_service_beside_a_switch_of_no_tier_is_checked_as_without_it() -> None:
    links = [*clos(2, 2), "leaf1 oob1 1 x 100G 3m"]
    failures = {"out_of_service": ["spine1"], "oversubscription": 2}
    assert [f.code for f in said(listed(links, failures=failures)).findings if f.code == "TOP009"] == []
    failures = {"out_of_service": ["spine1"], "oversubscription": 1}
    (found,) = [
        f
        for f in said(listed(clos(2, 2, "1 x 800G") + links[-1:], failures=failures)).findings
        if f.code == "TOP009"
    ]
    assert (found.data["left_bps"], found.data["down_bps"]) == (800 * 10**9, 6400 * 10**9)
