"""Fabrics with one mistake each: who says so, and where. One cause is one finding."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checks.rules.fabrics import Intent, clos, fabric, listed, of_fabrics, said
from tests.checks.rules.test_healthy_fabrics import BORDERS, GROUPS, PLANES, PODS, two_tiers

ROUTING, BRIDGING = "topology.routing", "topology.bridging"
NARROW = clos(4, 2, "1 x 800G", "2 x 400G", 1)
TORUS = {"sides": [4, 4], "links": "2 x 400G", "hosts_per_switch": 4, "host_links": "1 x 400G",
         "cables": {"host": "3m", "link": "10m"}}  # fmt: skip
DRAGONFLY = {"groups": 5, "switches": 4, "hosts_per_switch": 8, "host_links": "1 x 400G", "local_links": "2 x 400G",
             "global_links": "4 x 400G", "cables": {"host": "3m", "local": "10m", "global": "100m"}}  # fmt: skip
TWO_PODS = [f"leaf{a} spine{b} 4 x 800G 30m" for a in (1, 2) for b in (1, 2)]
TWO_PODS += [f"leaf{a} spine{b} 4 x 800G 30m" for a in (3, 4) for b in (3, 4)]
TWO_PODS += [f"spine{b} super{c} 8 x 800G 100m" for b in (1, 2, 3, 4) for c in (1, 2)]
TWO_PODS += [f"leaf{n} gpu{n} 8 x 400G 3m" for n in (1, 2, 3, 4)]
RAILED = [f"leaf{r} gpu{h} 1 x 400G 3m" for h in range(1, 5) for r in range(1, 5)]
RAILED += [f"leaf{r} spine{s} 2 x 800G 30m" for r in range(1, 5) for s in (1, 2)]

TWO = {"links": 2, "switches": 2}


def up_down(**keys: Any) -> dict[str, Any]:
    return {"routing": {"policy": "up-down", **keys}}


def shortest(**keys: Any) -> dict[str, Any]:
    return {"routing": {"policy": "shortest-path", **keys}}


def ring(kind: str, switches: int, **more: Any) -> Intent:
    links = [f"{kind}{n} {kind}{1 + n % switches} 4 x 400G 3m" for n in range(1, switches + 1)]
    return listed(links + [f"{kind}{n} gpu{n} 4 x 400G 3m" for n in range(1, switches + 1)], **more)


def swapped(links: list[str], **new: str) -> list[str]:
    """Return links with some moved: their ``A_B`` to the switch that is given."""
    moved = {tuple(ends.split("_")): to for ends, to in new.items()}
    split = ((link, tuple(link.split(" ")[:2])) for link in links)
    return [
        link.replace(f" {ends[1]} ", f" {moved[ends]} ", 1) if ends in moved else link for link, ends in split
    ]


def broken(*said_of: str, intent: Intent) -> tuple[Intent, tuple[str, ...]]:
    return intent, said_of


BROKEN = {
    "two leaves that bounce": broken(
        f"TOP005 {ROUTING}.bounce.0", intent=fabric({**two_tiers(), **up_down(bounce=["leaf1", "leaf2"])})),
    "three leaves that bounce": broken(
        f"TOP005 {ROUTING}.bounce.0", intent=fabric({**two_tiers(), **up_down(bounce=["leaf1", "leaf2", "leaf4"])})),
    "one leaf that bounces": broken(
        f"TOP006 {ROUTING}.bounce.0", intent=fabric({**two_tiers(), **up_down(bounce=["leaf3"])})),
    "two spines of a pod that bounce": broken(
        f"TOP005 {ROUTING}.bounce.0",
        intent=fabric({"three_tier": {**PODS, "planes": 1, "spine_uplinks": "2 x 800G"},
                       **up_down(bounce=["spine1", "spine2"])})),
    "two spines of one plane that bounce": broken(
        f"TOP005 {ROUTING}.bounce.0", intent=fabric({"three_tier": PODS, **up_down(bounce=["spine1", "spine5"])})),
    "two rails of one plane that bounce": broken(
        f"TOP005 {ROUTING}.bounce.0", intent=fabric({"rail_optimised": PLANES, **up_down(bounce=["leaf1", "leaf3"])})),
    "leaves of two planes that bounce, which meet nowhere": broken(
        f"TOP006 {ROUTING}.bounce.0", f"TOP006 {ROUTING}.bounce.1",
        intent=fabric({"rail_optimised": PLANES, **up_down(bounce=["leaf1", "leaf2"])})),
    "leaves that bounce in one priority beside pairs that have two": broken(
        f"TOP005 {ROUTING}.bounce.0",
        intent=fabric({**two_tiers(dual_tor=True), **up_down(bounce=["leaf1", "leaf3"])})),
    "borders that bounce what they have from storage outside": broken(
        f"TOP005 {ROUTING}.bounce.0",
        intent=listed(clos(4, 2) + BORDERS, ("wan1", "wan2", "nas1", "nas2"),
                      topology=up_down(bounce=["border1", "border2"]))),
    "a leaf at a spine of another pod": broken(
        f"TOP004 {ROUTING}.policy", intent=listed(swapped(TWO_PODS, leaf1_spine2="spine3"), topology=shortest())),
    "two leaves at spines of each other's pods": broken(
        f"TOP005 {ROUTING}.policy",
        intent=listed(swapped(TWO_PODS, leaf1_spine2="spine4", leaf3_spine4="spine2"), topology=shortest())),
    "leaves in a ring below a spine": broken(
        f"TOP005 {ROUTING}.policy",
        intent=listed([*clos(4, 1, "8 x 800G"), *(f"leaf{n} leaf{1 + n % 4} 2 x 800G 3m" for n in range(1, 5))],
                      topology=shortest())),
    "a ring of four leaves": broken(f"TOP005 {ROUTING}.policy", intent=ring("leaf", 4, topology=shortest())),
    "a ring of five": broken(f"TOP005 {ROUTING}.policy", intent=ring("leaf", 5, topology=shortest())),
    "a ring of switches in no tier": broken(f"TOP005 {ROUTING}.policy", intent=ring("sw", 5, topology=shortest())),
    "the same with PFC stated for its links": broken(
        f"TOP005 {ROUTING}.policy", intent=ring("sw", 5, topology=shortest(), pfc={"tiers": ["hosts", "links"]})),
    "a ring that is said to go up and down": broken(
        f"TOP004 {ROUTING}", intent=ring("leaf", 5, topology=up_down())),
    "a torus on one lane": broken(
        f"TOP005 {ROUTING}.policy", intent=fabric({"torus": TORUS, **shortest()}, pfc={"tiers": ["hosts", "links"]})),
    "a dragonfly on one lane": broken(
        f"TOP005 {ROUTING}.policy",
        intent=fabric({"dragonfly": DRAGONFLY, **shortest()},
                      pfc={"tiers": ["hosts", "local_links", "global_links"]})),
    "links that are out of service": broken(
        f"TOP005 {ROUTING}.policy",
        intent=fabric({**two_tiers(spines=2, uplinks="8 x 800G"),
                       **shortest()}, failures={"out_of_service": [["leaf1", "spine1"], ["leaf2", "spine2"]]})),
    "the same where packets go up and down": broken(
        f"TOP004 {ROUTING}",
        intent=fabric({**two_tiers(spines=2, uplinks="8 x 800G"),
                       **up_down()}, failures={"out_of_service": [["leaf1", "spine1"], ["leaf2", "spine2"]]})),
    "two failures that close a cycle": broken(
        f"TOP005 {ROUTING}.policy", intent=listed(NARROW, topology=shortest(), failures=TWO)),
    "two failures that leave no way": broken(
        f"TOP004 {ROUTING}", intent=listed(NARROW, topology=up_down(), failures=TWO)),
    "addresses known for longer than ports": broken(
        f"TOP007 {BRIDGING}.mac_aging",
        intent=fabric({**two_tiers(), "bridging": {"arp_timeout": "14400s", "mac_aging": "300s"}})),
    "leaves that flood": broken(
        f"TOP008 {BRIDGING}",
        intent=fabric({**two_tiers(), "bridging": {"arp_timeout": "300s", "mac_aging": "600s"}})),
    "uplinks too few": broken(
        "TOP001 topology.leaf_spine.uplinks", intent=fabric(two_tiers(hosts_per_leaf=32))),
    "a ratio stated and not kept": broken(
        "TOP001 topology.leaf_spine.uplinks", intent=fabric(two_tiers(hosts_per_leaf=32, oversubscription=1.5))),
    "one leaf with half an uplink bundle": broken(
        "TOP001 topology.links.4.links",
        intent=listed([link.replace("4 x 800G", "1 x 800G") if link.startswith("leaf3 spine1") else link
                       for link in clos(4, 2)])),
    "uplinks too few on every leaf of a list": broken(
        "TOP001 topology.links.0.links", intent=listed(clos(4, 2, "2 x 800G"))),
    "a spine too few after a failure": broken(
        "TOP009 failures.oversubscription",
        intent=fabric(two_tiers(), failures={"switches": 1, "oversubscription": 1})),
    "pauses and no marks where uplinks are too few": broken(
        "PFC009 topology.leaf_spine.uplinks",
        intent=fabric(two_tiers(hosts_per_leaf=32, oversubscription=2), preset="pfc-only")),
    "leaves with too few ports": broken(
        "TOP002 topology.leaf_spine.uplinks", intent=fabric(two_tiers(spines=8, uplinks="8 x 800G"))),
    "spines with too few ports": broken("TOP002 topology.leaf_spine.uplinks", intent=fabric(two_tiers(leaves=20))),
    "a speed that no port has": broken(
        "TOP003 topology.leaf_spine.uplinks", intent=fabric(two_tiers(uplinks="2 x 1.6T"))),
    "a speed that no adapter has, on every line of a list": broken(
        "TOP003 topology.links.8.links", intent=listed(clos(4, 2, hosts="2 x 800G"))),
    "storage among the jobs": broken(
        "CLS011 networks.storage.class",
        intent=fabric(two_tiers(), networks={"storage": {"on": "fabric", "class": "rdma"}})),
    "a tenant who can mark DSCP 26": broken(
        "ISO003 networks.customers.purpose",
        intent=fabric(two_tiers(), networks={"customers": {"on": "fabric", "class": "default", "purpose": "tenant"}})),
    "management among the jobs": broken(
        "ISO001 networks.management.class",
        intent=fabric(two_tiers(), networks={"management": {"on": "fabric", "class": "rdma"}})),
    "management without a class": broken(
        "ISO002 networks.management", intent=fabric(two_tiers(), networks={"management": {"on": "fabric"}})),
    "a prefix in two places": broken(
        "ISO002 networks.storage.prefixes",
        intent=fabric(two_tiers(), networks={
            "storage": {"on": "fabric", "class": "default", "prefixes": ["10.0.0.0/16"]},
            "management": {"prefixes": ["10.0.0.0/16"]}})),
    "more GPUs in a domain than NVLink 4 joins": broken(
        "TOP014 cluster.nvlink.domain",
        intent=fabric(two_tiers(), cluster={"gpus_per_host": 8, "nvlink": {"generation": 4, "domain": 512}})),
    "a domain larger than all hosts": broken(
        "TOP014 cluster.nvlink.domain",
        intent=fabric(two_tiers(leaves=1, hosts_per_leaf=4),
                      cluster={"gpus_per_host": 4, "nvlink": {"generation": 5, "domain": 72}})),
    "twice the GPUs that there are": broken(
        "TOP014 cluster.gpus", intent=fabric(two_tiers(), cluster={"gpus_per_host": 8, "gpus": 1024})),
    "NICs without a link": broken(
        "TOP014 cluster.nics_per_host", intent=fabric(two_tiers(), cluster={"gpus_per_host": 8, "nics_per_host": 8})),
    "rails on one leaf": broken(
        "TOP014 cluster.rails", intent=fabric(two_tiers(), cluster={"gpus_per_host": 8, "rails": 2})),
    "a cable in the leaf of another rail": broken(
        "TOP014 cluster.rails",
        intent=listed(swapped([f"gpu{link.split()[1][3:]} {link.split()[0]} {link.split(' ', 2)[2]}"
                               if "gpu" in link else link for link in RAILED], gpu2_leaf2="leaf1"),
                      cluster={"gpus_per_host": 4, "rails": 4})),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_of_a_broken_fabric_one_finding_says_what_and_where(name: str) -> None:
    intent, expected = BROKEN[name]
    found = of_fabrics(said(intent))
    assert [f"{one.code} {'.'.join(map(str, one.origin.path))}" for one in found] == list(expected), [
        one.message for one in found
    ]


@pytest.mark.parametrize(
    ("intent", "why"),
    [
        (ring("leaf", 3, topology=shortest()), "from each of three to each other is one hop"),
        (ring("sw", 5, topology=shortest(), pfc={"tiers": ["hosts"]}), "its links do not pause"),
        (fabric({"dragonfly": DRAGONFLY, **shortest()}, pfc={"tiers": ["hosts", "local_links"]}),
         "what comes from another group is not paused"),
        (fabric({"dragonfly_plus": GROUPS, **shortest()}), "packets between groups go down once"),
        (listed([*clos(4, 2), "leaf1 leaf2 2 x 800G 3m"], topology=shortest()), "one link between leaves is no cycle"),
        (listed([*NARROW, "spine1 spine2 2 x 800G 3m"], topology=shortest(), failures=TWO),
         "spines that are peers help"),
        (listed(clos(4, 2), topology=up_down(bounce=["leaf1", "leaf3"]), pfc={"tiers": ["hosts"]}),
         "what bounces is not paused"),
    ],
)  # fmt: skip
def test_what_looks_like_a_cycle_and_is_none(intent: Intent, why: str) -> None:
    assert of_fabrics(said(intent)) == [], why


class TestOutside:
    """How devices that are configured elsewhere forward is not known."""

    OUTSIDE = ("wan1", "wan2", "nas1", "nas2")

    def unchecked(self, intent: Intent) -> list[str]:
        return [
            f"{rule.code}: {rule.reason}" for rule in said(intent).not_checked if rule.code.startswith("TOP")
        ]

    def test_a_cycle_by_way_of_routers_is_a_remark(self) -> None:
        apart = [link for link in BORDERS if link != "border1 border2 2 x 800G 1m"]
        one = listed(clos(4, 2) + apart, self.OUTSIDE)
        assert of_fabrics(said(one)) == []
        assert self.unchecked(one) == [
            "TOP005: wan1 is configured elsewhere: routes there are unknown and could close a cyclic buffer dependency"
        ]

    def test_where_their_links_do_not_pause_there_is_nothing_to_remark(self) -> None:
        apart = [link for link in BORDERS if link != "border1 border2 2 x 800G 1m"]
        assert (
            self.unchecked(listed(clos(4, 2) + apart, self.OUTSIDE, pfc={"tiers": ["hosts", "uplinks"]}))
            == []
        )

    def test_leaves_that_bounce_below_spines_of_somebody_else_are_told_apart(self) -> None:
        one = listed(clos(4, 2), ("spine1", "spine2"), topology=up_down(bounce=["leaf1", "leaf3"]))
        found = of_fabrics(said(one))
        assert [finding.code for finding in found] == ["TOP006", "TOP006"]
        assert len(self.unchecked(one)) == 1

    def test_flooding_below_spines_of_somebody_else_is_a_remark(self) -> None:
        one = listed(clos(4, 2), ("spine1", "spine2"),
                     topology={"bridging": {"arp_timeout": "14400s", "mac_aging": "300s"}})  # fmt: skip
        assert of_fabrics(said(one)) == []
        assert [rule.partition(":")[0] for rule in self.unchecked(one)] == ["TOP007"]

    def test_they_hide_no_cycle_that_closes_without_them(self) -> None:
        one = listed(clos(4, 2) + BORDERS, self.OUTSIDE, topology=up_down(bounce=["leaf1", "leaf3"]))
        assert [finding.code for finding in of_fabrics(said(one))] == ["TOP005"]

    def test_they_send_nothing_to_each_other_by_way_of_the_fabric(self) -> None:
        planes = ["spine1 super1 8 x 800G 100m", "spine2 super2 8 x 800G 100m"]
        one = listed(clos(4, 2, "2 x 800G", "2 x 400G") + planes, ("super1", "super2"), topology=shortest())
        assert of_fabrics(said(one)) == []

    def test_pods_that_only_a_router_joins_have_lost_nothing(self) -> None:
        two = [link for link in TWO_PODS if "super" not in link]
        routed = [*two, "spine1 wan1 1 x 400G 100m", "spine3 wan1 1 x 400G 100m"]
        assert of_fabrics(said(listed(routed, ("wan1",), topology=up_down()))) == []

    def test_super_spines_of_somebody_else_may_be_a_way(self) -> None:
        """Without them the pods are joined by a leaf alone, and no way goes up and then down."""
        two = [link for link in TWO_PODS if "super" not in link] + ["leaf1 spine3 4 x 800G 30m"]
        alone = of_fabrics(said(listed(two, topology=up_down())))
        assert [finding.code for finding in alone] == ["TOP004"]
        over = two + [f"spine{n} super{n} 8 x 800G 100m" for n in (1, 2, 3, 4)]
        outside = tuple(f"super{n}" for n in (1, 2, 3, 4))
        codes = [finding.code for finding in of_fabrics(said(listed(over, outside, topology=up_down())))]
        assert "TOP004" not in codes
