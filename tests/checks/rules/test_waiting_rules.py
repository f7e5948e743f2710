"""Rules about cyclic buffer dependencies: what an intent says of routing, and where the finding points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lossless.api import lint_documents
from lossless.ground.documents import load_text
from tests.checks.rules.snippets import BASES, merge

if TYPE_CHECKING:
    from lossless.api import Report
    from lossless.ground.basics.findings import Finding

CODES = ("TOP004", "TOP005", "TOP006", "TOP007", "TOP008")


def checked(topology: dict[str, Any], **more: Any) -> Report:
    """Return the report on the base fabric with four leaves, its topology changed."""
    import json

    base = load_text((BASES / "leaf-spine.yaml").read_text(), "base.yaml").data
    own = {"leaf_spine": {"leaves": 4}} if "devices" not in topology else {"leaf_spine": None}
    merged = merge(base, {"topology": merge(own, topology), **more})
    return lint_documents([load_text(json.dumps(merged), "fabric.yaml")])


def drawn(topology: dict[str, Any], **more: Any) -> list[Finding]:
    """Return the findings of these rules."""
    report = checked(topology, **more)
    assert report.errors == ()
    return [finding for finding in report.findings if finding.code in CODES]


def only(topology: dict[str, Any], **more: Any) -> Finding:
    (found,) = drawn(topology, **more)
    return found


def routing(**keys: Any) -> dict[str, Any]:
    return {"routing": keys}


def test_a_clos_that_says_nothing_of_routing_has_no_finding_and_nothing_unchecked() -> None:
    assert drawn({}) == []
    assert not [rule for rule in checked({}).not_checked if rule.code in CODES]


@pytest.mark.parametrize("policy", ["up-down", "shortest-path"])
@pytest.mark.parametrize("links", [0, 1, 2, 3])
def test_bundles_of_two_links_bear_three_failures(policy: str, links: int) -> None:
    assert drawn(routing(policy=policy), failures={"links": links, "switches": links}) == []


def test_two_bounces_are_one_finding_that_shows_the_cycle() -> None:
    found = only(routing(bounce=["leaf1", "leaf3"]))
    assert (found.code, found.severity) == ("TOP005", "error")
    assert found.origin.path == ("topology", "routing", "bounce", 0)
    assert [related.origin.path for related in found.related] == [("topology", "routing", "bounce", 1)]
    assert found.data["links"] == [
        "leaf1:Ethernet32 spine1:Ethernet0",
        "spine1:Ethernet32 leaf3:Ethernet32",
        "leaf3:Ethernet32 spine1:Ethernet32",
        "spine1:Ethernet0 leaf1:Ethernet32",
    ]
    assert found.places == 4


def test_one_bounce_is_a_warning() -> None:
    found = only(routing(bounce=["leaf2"]))
    assert (found.code, found.severity) == ("TOP006", "warning")
    assert found.data == {"switch": "leaf2"}


def test_dual_tors_bounce_in_a_second_priority() -> None:
    assert drawn({"leaf_spine": {"dual_tor": True}}) == []
    found = only({"leaf_spine": {"dual_tor": True}, **routing(bounce=["leaf1", "leaf2"])})
    assert found.code == "TOP005"


def test_lossy_fabrics_and_lossy_uplinks_are_not_checked() -> None:
    both = routing(bounce=["leaf1", "leaf3"])
    assert drawn(both, pfc={"tiers": ["hosts"]}) == []
    assert drawn(routing(bounce=["leaf1"]), pfc={"tiers": ["hosts"]}) == []


def test_shortest_paths_are_blamed_where_failures_close_the_cycle() -> None:
    found = only(
        {"leaf_spine": {"uplinks": "1 x 800G"}, **routing(policy="shortest-path")}, failures={"links": 2}
    )
    assert (found.code, found.origin.path) == ("TOP005", ("topology", "routing", "policy"))
    assert found.data["failed"] == ["leaf1 - spine1", "leaf2 - spine2"]
    assert drawn({"leaf_spine": {"uplinks": "1 x 800G"}, **routing(policy="shortest-path")}) == []


def test_up_and_down_is_blamed_where_failures_leave_no_path() -> None:
    narrow = {"leaf_spine": {"uplinks": "1 x 800G"}}
    found = only({**narrow, **routing(policy="up-down")}, failures={"links": 2})
    assert (found.code, found.severity, found.origin.path) == ("TOP004", "warning", ("topology", "routing"))
    assert found.data == {"switches": ["leaf1", "leaf2"], "failed": ["leaf1 - spine1", "leaf2 - spine2"]}
    assert drawn({**narrow, **routing(policy="up-down")}) == []


def test_links_that_are_out_of_service_count() -> None:
    gone = [["leaf1", "spine1"], ["spine2", "leaf2"]]
    none_more = {"links": 0, "switches": 0, "out_of_service": gone}
    assert only(routing(policy="shortest-path"), failures=none_more).code == "TOP005"
    assert only(routing(policy="up-down"), failures=none_more).code == "TOP004"
    assert drawn(routing(policy="shortest-path"), failures={"out_of_service": ["spine1"]}) == []


def test_where_up_and_down_leads_nowhere_nothing_is_checked_until_the_intent_says() -> None:
    names = [f"leaf{n}" for n in range(1, 6)]
    devices = {name: {"role": "leaf"} for name in names} | {f"host{n}": {"role": "host"} for n in range(1, 6)}
    links = [
        {"a": name, "b": f"host{n}", "links": "1 x 400G", "cable": "3m"} for n, name in enumerate(names, 1)
    ]
    links += [
        {"a": name, "b": names[n % 5], "links": "1 x 400G", "cable": "3m"} for n, name in enumerate(names, 1)
    ]
    ring = {"devices": devices, "links": links}
    assert drawn(ring) == []
    assert [rule.code for rule in checked(ring).not_checked if rule.code in CODES] == ["TOP005"]
    none = {"links": 0, "switches": 0}
    found = only({**ring, **routing(policy="shortest-path")}, failures=none)
    assert (found.code, found.places) == ("TOP005", 5)
    assert only({**ring, **routing(policy="up-down")}, failures=none).code == "TOP004"


@pytest.mark.parametrize(
    ("timers", "code"),
    [
        ({"arp_timeout": "14400s", "mac_aging": "300s"}, "TOP007"),
        ({"arp_timeout": "300s", "mac_aging": "300s"}, "TOP008"),
        ({"arp_timeout": "300s", "mac_aging": "600s"}, "TOP008"),
        ({}, "TOP008"),
    ],
)
def test_bridging_is_one_finding_by_its_timers(timers: dict[str, str], code: str) -> None:
    assert only({"bridging": {"unknown_unicast": "flood", **timers}}).code == code
    assert drawn({"bridging": {"unknown_unicast": "drop", **timers}}) == []


def test_flooding_by_one_leaf_closes_nothing() -> None:
    one = {"leaves": 1}
    assert drawn({"leaf_spine": one, "bridging": {"arp_timeout": "14400s", "mac_aging": "300s"}}) == []


def test_a_dual_tor_that_remaps_what_bounces_is_well_and_one_that_does_not_is_told() -> None:
    text = (BASES / "azure-remapped.json").read_text()
    base = load_text(text, "leaf1.json").data
    row = {"tunnel_type": "IPINIP", "dst_ip": "10.1.0.32", "dscp_mode": "pipe", "ecn_mode": "copy_from_outer"}
    remapped = {str(tc): queue for tc, queue in enumerate("00123516")} | {
        "3": "2",
        "4": "6",
        "2": "1",
        "6": "1",
    }

    def kept(*patches: dict[str, Any]) -> list[Any]:
        import json

        merged = base
        for patch in patches:
            merged = merge(merged, patch)
        found = lint_documents([load_text(json.dumps(merged), "leaf1.json")]).findings
        return [f.data["priorities"] for f in found if f.code == "TOP006"]

    peer = {"PEER_SWITCH": {"leaf2": {"address_ipv4": "10.1.0.33"}}}
    without_maps = {**peer, "TUNNEL": {"MuxTunnel0": row}}
    with_maps = {
        **peer,
        "TUNNEL": {"MuxTunnel0": {**row, "encap_tc_to_queue_map": "AZURE_TUNNEL"}},
        "TC_TO_QUEUE_MAP": {"AZURE_TUNNEL": remapped},
    }
    straight = {"TC_TO_QUEUE_MAP": {"AZURE_TUNNEL": {"3": "3"}}}
    single = {"DEVICE_METADATA": {"localhost": {"subtype": None}}}
    assert kept(with_maps) == []
    assert kept(without_maps, single) == []
    assert kept(without_maps, {"PEER_SWITCH": None}) == []
    assert kept(without_maps) == [[2, 3, 4, 6]]
    assert kept(with_maps, straight) == [[3]]
