"""Cycles of buffers between deployed switches: tiers by their types, links by DEVICE_NEIGHBOR, bounces by tunnels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lossless.api import lint_documents
from tests.checks.rules.checking import drawn, only, patched, unchecked
from tests.checks.rules.snippets import merge

if TYPE_CHECKING:
    from lossless.ground.documents.text import Document

TUNNEL = {"tunnel_type": "IPINIP", "dst_ip": "10.1.0.32", "dscp_mode": "uniform"}


def switch(name: str, kind: str | None, asn: int, *neighbors: str, **patch: Any) -> Document:
    """Return a configuration whose ports lead to neighbors, at the port that each has for this one."""
    rows = dict(zip(("Ethernet0", "Ethernet4", "Ethernet8"), neighbors, strict=False))
    named = {
        port: {"name": far, "port": at} for port, text in rows.items() for far, _, at in [text.partition(":")]
    }
    empty: dict[str, Any] = dict.fromkeys(("Ethernet0", "Ethernet4", "Ethernet8"))
    own = {
        "DEVICE_METADATA": {"localhost": {"hostname": name, "type": kind, "bgp_asn": str(asn)}},
        "DEVICE_NEIGHBOR": {**empty, **named},
    }
    return patched("wired-leaf.json", merge(own, patch), f"{name}.json")


def leaf(number: int, **patch: Any) -> Document:
    port = f"Ethernet{4 * (number - 1)}"
    return switch(
        f"leaf{number}",
        "ToRRouter",
        65100 + number,
        "server:eth0",
        f"spine1:{port}",
        f"spine2:{port}",
        **patch,
    )


def spine(number: int, kind: str | None = "LeafRouter", asn: int = 65000, **patch: Any) -> Document:
    port = f"Ethernet{4 * number}"
    return switch(f"spine{number}", kind, asn, f"leaf1:{port}", f"leaf2:{port}", **patch)


def fabric(**leaves: Any) -> list[Document]:
    return [leaf(1, **leaves), leaf(2, **leaves), spine(1), spine(2)]


def bouncing(peer: str) -> dict[str, Any]:
    return {
        "DEVICE_METADATA": {"localhost": {"subtype": "DualToR"}},
        "TUNNEL": {"MuxTunnel0": TUNNEL},
        "PEER_SWITCH": {peer: {"address_ipv4": "10.1.0.33"}},
    }


def said(*documents: Document) -> list[str]:
    return [rule.reason for code in ("TOP004", "TOP005") for rule in unchecked(code, *documents)]


def test_a_clos_of_two_tiers_has_no_cycle_and_nothing_is_left_open() -> None:
    assert drawn("TOP005", *fabric()) == []
    assert said(*fabric()) == []


def test_two_dual_tors_that_bounce_in_the_same_priority_close_one_cycle() -> None:
    documents = [leaf(1, **bouncing("leaf2")), leaf(2, **bouncing("leaf1")), spine(1), spine(2)]
    found = only("TOP005", *documents)
    links: Any = found.data["links"]
    assert len(links) == 4
    assert {found.origin.file, *(one.origin.file for one in found.related)} == {"leaf1.json", "leaf2.json"}
    assert found.origin.path == ("TUNNEL", "MuxTunnel0")
    # One cause is one finding: what each ToR has to say of itself is part of it.
    assert drawn("TOP006", *documents) == []


def test_one_dual_tor_that_bounces_closes_none() -> None:
    documents = [leaf(1, **bouncing("leaf2")), leaf(2), spine(1), spine(2)]
    assert drawn("TOP005", *documents) == []
    assert len(drawn("TOP006", *documents)) == 1


def test_dual_tors_that_send_back_in_a_second_priority_close_none() -> None:
    second = {
        "TUNNEL": {"MuxTunnel0": {"encap_tc_to_queue_map": "AZURE_TUNNEL"}},
        "TC_TO_QUEUE_MAP": {"AZURE_TUNNEL": {str(tc): {3: "2", 4: "6"}.get(tc, str(tc)) for tc in range(8)}},
    }
    tors = [leaf(1, **merge(bouncing("leaf2"), second)), leaf(2, **merge(bouncing("leaf1"), second))]
    assert drawn("TOP006", *tors) == []
    assert drawn("TOP005", *tors, spine(1), spine(2)) == []


def test_without_links_in_service_above_both_nothing_closes() -> None:
    down = {"PORT": {port: {"admin_status": "down"} for port in ("Ethernet4", "Ethernet8")}}
    documents = [leaf(1, **bouncing("leaf2")), leaf(2, **merge(bouncing("leaf1"), down)), spine(1), spine(2)]
    assert drawn("TOP005", *documents) == []


def test_links_that_never_pause_close_none() -> None:
    lossy = {"PORT_QOS_MAP": {port: {"pfc_enable": ""} for port in ("Ethernet4", "Ethernet8")}}
    documents = [
        leaf(1, **merge(bouncing("leaf2"), lossy)),
        leaf(2, **merge(bouncing("leaf1"), lossy)),
        spine(1, PORT_QOS_MAP={port: {"pfc_enable": ""} for port in ("Ethernet0", "Ethernet4")}),
        spine(2, PORT_QOS_MAP={port: {"pfc_enable": ""} for port in ("Ethernet0", "Ethernet4")}),
    ]
    assert drawn("TOP005", *documents) == []


def test_spines_need_no_files_where_neighbors_say_what_they_are() -> None:
    kinds = {
        "DEVICE_NEIGHBOR_METADATA": {
            name: {"type": "LeafRouter", "hwsku": "ACS-SN5600"} for name in ("spine1", "spine2")
        }
    }
    documents = [leaf(1, **merge(bouncing("leaf2"), kinds)), leaf(2, **merge(bouncing("leaf1"), kinds))]
    assert only("TOP005", *documents).places == 4


@pytest.mark.parametrize("kind", [None, "Spine"])
def test_a_type_that_tells_no_tier_is_said_once_with_what_to_state(kind: str | None) -> None:
    documents = [leaf(1), leaf(2), spine(1, kind), spine(2, kind)]
    assert drawn("TOP005", *documents) == []
    (reason,) = said(*documents)
    assert reason.startswith("missing tier of spine1, spine2: set DEVICE_METADATA|")


def test_without_neighbors_it_is_said_what_is_missing() -> None:
    nobody = {"DEVICE_NEIGHBOR": None}
    (reason,) = said(leaf(1, **nobody), leaf(2, **nobody))
    assert reason.startswith("missing neighbors: no DEVICE_NEIGHBOR ")


def test_a_file_alone_leaves_nothing_open() -> None:
    report = lint_documents([leaf(1, DEVICE_NEIGHBOR=None)])
    assert [rule for rule in report.not_checked if rule.code.startswith("TOP")] == []


def test_lossy_switches_have_no_cycle_to_look_for() -> None:
    quiet = {"PORT_QOS_MAP": {port: {"pfc_enable": ""} for port in ("Ethernet0", "Ethernet4", "Ethernet8")}}
    assert said(leaf(1, DEVICE_NEIGHBOR=None, **quiet), leaf(2, DEVICE_NEIGHBOR=None, **quiet)) == []


def test_leaves_without_a_path_are_left_open() -> None:
    down = {"PORT": {"Ethernet4": {"admin_status": "down"}}}
    other = {"PORT": {"Ethernet8": {"admin_status": "down"}}}
    (reason,) = said(leaf(1, **down), leaf(2, **other), leaf_between(), spine(1), spine(2))
    assert reason.startswith("the known links have no up-down path from leaf1 to leaf2, ")


def leaf_between() -> Document:
    """Return a third leaf, by which alone the spines are joined."""
    return switch("leaf3", "ToRRouter", 65103, "server:eth0", "spine1:Ethernet8", "spine2:Ethernet8")


def test_spines_of_unlike_asns_leave_open_whether_leaves_pass_routes_on() -> None:
    documents = [leaf(1), leaf(2), spine(1, asn=65001), spine(2, asn=65002)]
    (reason,) = said(*documents)
    assert reason.startswith("valleys at leaf1 and 1 more: ")
    assert drawn("TOP004", *documents) == []


def test_bgp_inside_one_asn_passes_nothing_on() -> None:
    assert said(leaf(1), leaf(2), spine(1, asn=65101), spine(2, asn=65101)) == []
    (reason,) = said(leaf(1), leaf(2), spine(1, asn=65101), spine(2, asn=65002))
    assert reason.startswith("valleys at leaf2: ")


def neighbors(**types: str) -> dict[str, Any]:
    return {"DEVICE_NEIGHBOR_METADATA": {name: {"type": kind} for name, kind in types.items()}}


def test_leaves_that_are_called_leaf_router_are_leaves_by_their_servers() -> None:
    tors = {"server": "Server", "spine1": "SpineRouter", "spine2": "SpineRouter"}
    bounces = [merge(bouncing(peer), neighbors(**tors)) for peer in ("leaf2", "leaf1")]
    types = {"DEVICE_METADATA": {"localhost": {"type": "LeafRouter"}}}
    leaves = [leaf(number, **merge(patch, types)) for number, patch in enumerate(bounces, start=1)]
    documents = [*leaves, spine(1, "SpineRouter"), spine(2, "SpineRouter")]
    assert only("TOP005", *documents).places == 4
    assert said(*documents) == []


def test_spines_without_a_type_are_spines_by_the_leaves_below_them() -> None:
    below = neighbors(leaf1="ToRRouter", leaf2="ToRRouter")
    leaves = [leaf(1, **bouncing("leaf2")), leaf(2, **bouncing("leaf1"))]
    documents = [*leaves, spine(1, None, **below), spine(2, None, **below)]
    assert only("TOP005", *documents).places == 4
    assert said(*documents) == []


def test_types_that_contradict_each_other_leave_it_open_and_are_named() -> None:
    below = neighbors(leaf1="ToRRouter", leaf2="ToRRouter")
    documents = [
        leaf(1, **bouncing("leaf2")),
        leaf(2, **bouncing("leaf1")),
        spine(1, "ToRRouter", **below),
        spine(2),
    ]
    assert drawn("TOP005", *documents) == []
    (reason,) = said(*documents)
    assert reason.startswith("the types of devices contradict each other on the tier of spine1: correct ")
    documents[-1] = spine(2, None)
    assert [reason.partition(":")[0] for reason in said(*documents)] == [
        "missing tier of spine2",
        "the types of devices contradict each other on the tier of spine1",
    ]


def test_of_many_switches_without_a_tier_five_are_named() -> None:
    leaves = [switch(f"leaf{n}", None, 65100 + n, f"leaf{n % 6 + 1}:Ethernet4", f"leaf{(n - 2) % 6 + 1}:Ethernet0")
              for n in range(1, 7)]  # fmt: skip
    (reason,) = said(*leaves)
    assert reason.startswith("missing tier of leaf1, leaf2, leaf3, leaf4, leaf5 and 1 more: set ")


def test_a_switch_without_a_tier_that_nothing_joins_is_of_no_consequence() -> None:
    assert said(*fabric(), switch("spare", None, 65999)) == []


def test_where_a_leaf_has_no_asn_nothing_is_said_of_what_it_passes_on() -> None:
    unnumbered = {"DEVICE_METADATA": {"localhost": {"bgp_asn": "None"}}}
    spines = [spine(1, asn=65001), spine(2, asn=65002)]
    assert said(leaf(1, **unnumbered), leaf(2, **unnumbered), *spines) == []
    (reason,) = said(leaf(1, **unnumbered), leaf(2), *spines)
    assert reason.startswith("valleys at leaf2: ")


def test_ports_that_lead_to_no_switch_need_no_pfc() -> None:
    leaves: dict[str, Any] = {"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": ""}}}
    spines: dict[str, Any] = {"PORT_QOS_MAP": {"Ethernet8": {"pfc_enable": ""}}}
    tors = [leaf(1, **merge(bouncing("leaf2"), leaves)), leaf(2, **merge(bouncing("leaf1"), leaves))]
    assert only("TOP005", *tors, spine(1, **spines), spine(2, **spines)).places == 4


@pytest.mark.parametrize("silent", ["leaves", "spines"])
def test_links_that_pause_in_one_direction_close_none(silent: str) -> None:
    up, down = ("Ethernet4", "Ethernet8"), ("Ethernet0", "Ethernet4")
    lossy: dict[str, dict[str, Any]] = {"leaves": {}, "spines": {}}
    ports = up if silent == "leaves" else down
    lossy[silent] = {"PORT_QOS_MAP": {port: {"pfc_enable": ""} for port in ports}}
    of_leaves, of_spines = lossy["leaves"], lossy["spines"]
    leaves = [leaf(1, **merge(bouncing("leaf2"), of_leaves)), leaf(2, **merge(bouncing("leaf1"), of_leaves))]
    assert drawn("TOP005", *leaves, spine(1, **of_spines), spine(2, **of_spines)) == []


@pytest.mark.parametrize("far", ["leaves", "spines"])
def test_a_link_is_out_of_service_where_either_end_is_down(far: str) -> None:
    leaves = [bouncing("leaf2"), bouncing("leaf1")]
    spines: list[dict[str, Any]] = [{}, {}]
    if far == "leaves":
        leaves[0]["PORT"] = {port: {"admin_status": "down"} for port in ("Ethernet4", "Ethernet8")}
    else:
        spines = [{"PORT": {"Ethernet0": {"admin_status": "down"}}}] * 2
    documents = [
        *(leaf(n, **one) for n, one in enumerate(leaves, 1)),
        *(spine(n, **one) for n, one in enumerate(spines, 1)),
    ]
    assert drawn("TOP005", *documents) == []


def test_ports_that_are_down_lead_to_no_spine_without_a_file() -> None:
    kinds = neighbors(spine1="LeafRouter", spine2="LeafRouter")
    alone = {"DEVICE_NEIGHBOR": {"Ethernet0": None}, "PORT": {"Ethernet4": {"admin_status": "down"}}}
    first = leaf(1, **merge(merge(bouncing("leaf2"), kinds), alone))
    second = leaf(2, **merge(bouncing("leaf1"), kinds))
    links: Any = only("TOP005", first, second).data["links"]
    assert not any("spine1" in link for link in links)
    down = {"PORT": {"Ethernet8": {"admin_status": "down"}}}
    assert (
        drawn("TOP005", leaf(1, **merge(merge(merge(bouncing("leaf2"), kinds), alone), down)), second) == []
    )


def test_a_cycle_is_told_port_by_port() -> None:
    found = only("TOP005", leaf(1, **bouncing("leaf2")), leaf(2, **bouncing("leaf1")), spine(1), spine(2))
    assert found.data["links"] == [
        "leaf1:Ethernet4 spine1:Ethernet0",
        "spine1:Ethernet4 leaf2:Ethernet4",
        "leaf2:Ethernet4 spine1:Ethernet4",
        "spine1:Ethernet0 leaf1:Ethernet4",
    ]


def test_switches_of_an_intent_are_left_to_it() -> None:
    rendered = [
        patched(f"rendered-{kind}.json", {"DEVICE_NEIGHBOR": None}, f"{kind}.json")
        for kind in ("leaf", "spine")
    ]
    assert len(said(*rendered)) == 1
    assert said(*rendered, patched("leaf-spine.yaml", {})) == []
