"""Findings beside the stage they concern: those of this packet, and no others."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from lossless.api import Options, load_fabrics
from lossless.checks.rules.documentation import rule_of
from lossless.checks.trace.running import trace
from lossless.ground.basics.errors import LosslessError
from lossless.model.fabric.view import View
from tests.checks.rules.snippets import Snippet, check, snippets
from tests.checks.trace.tracing import codes, device, hop, intent, traced

Patch = dict[str, Any]

WHERE = {
    "BUF001": "priority_group",
    "BUF002": "priority_group",
    "BUF003": "priority_group",
    "BUF004": "priority_group",
    "BUF007": "priority_group",
    "CLS001": "classification",
    "CLS002": "classification",
    "CLS006": "host",
    "CLS007": "classification",
    "CLS008": "host",
    "ECN001": "ecn",
    "ECN003": "ecn",
    "ECN004": "ecn",
    "ECN005": "ecn",
    "ECN010": "ecn",
    "HST001": "host",
    "PFC001": "pfc",
    "PFC003": "host",
    "PFC005": "pfc",
    "PFC009": "pfc",
    "WD001": "watchdog",
    "WD002": "watchdog",
    "WD003": "watchdog",
    "WD004": "watchdog",
    "WD005": "watchdog",
    "WD006": "watchdog",
    "WD008": "watchdog",
}
"""Where rules about the treatment of a packet speak: what each finds in its own bad example, some packet meets."""


def _met(code: str, snippet: Snippet) -> set[str]:
    """Return the stages at which any packet meets the findings of one rule."""
    options = Options(rdma_dscps=snippet.rdma_dscps)
    findings = [finding for finding in check(snippet).findings if finding.code == code]
    (fabric,) = load_fabrics([snippet.document()], options).fabrics
    names = [host.name for host in fabric.hosts][:9] or [port.name for port in fabric.switches[0].ports]
    found: set[str] = set()
    for source, target in list(permutations(names, 2))[::3]:
        for dscp in range(64):
            marks = trace(View(fabric), source, target, dscp, findings=findings).marks
            found.update(mark.stage for _, mark in marks)
        if found:
            break
    return found


@pytest.mark.parametrize("code", WHERE)
def test_what_a_rule_finds_is_met_by_some_packet(code: str) -> None:
    for snippet in snippets(rule_of(code).documentation, "Bad"):
        if not snippet.beside:
            assert _met(code, snippet) == {WHERE[code]}


def test_a_sound_switch_has_no_marks() -> None:
    assert hop({}).marks == ()


def test_an_entry_concerns_its_dscp_alone() -> None:
    document = device({"DSCP_TO_TC_MAP": {"AZURE": {"26": "1"}}})

    def breaks(dscp: int) -> list[str]:
        found = traced([document], "Ethernet0", "Ethernet8", dscp, rdma_dscps=(26, 27))
        return [finding.code for finding in found.breaks]

    assert "CLS001" in breaks(26)
    assert breaks(0) == []


def test_headroom_counts_where_the_packet_comes_in() -> None:
    patch = {"BUFFER_PROFILE": {"pg_lossless_800000_40m_profile": {"xoff": "1024", "size": "1024"}}}
    assert codes(hop(patch, source="Ethernet8", target="Ethernet0"), "priority_group") == ["BUF001"]
    assert hop(patch, source="Ethernet0", target="Ethernet8").marks == ()


def test_the_watchdog_counts_where_the_packet_goes_out() -> None:
    patch = {"PFC_WD": {"Ethernet8": None}}
    assert codes(hop(patch, source="Ethernet0", target="Ethernet8"), "watchdog") == ["WD001"]
    assert hop(patch, source="Ethernet8", target="Ethernet0").marks == ()
    assert hop(patch, source="Ethernet0", target="Ethernet4").marks == ()


def test_lossy_traffic_is_not_concerned_by_what_lossless_traffic_suffers() -> None:
    patch = {
        "PFC_WD": {"Ethernet8": None},
        "WRED_PROFILE": {"AZURE_LOSSLESS": {"green_drop_probability": "0"}},
    }
    assert {mark.finding.code for mark in hop(patch, 26).marks} >= {"WD001", "ECN003"}
    assert hop(patch, 0).marks == ()


def test_a_class_is_not_concerned_by_the_curve_of_another() -> None:
    second = {"dscp": 30, "priority": 4, "lossless": True, "bandwidth": "20%", "ecn": None}
    patch = {
        "classes": {
            "rdma": {"bandwidth": "30%"},
            "other": {**second, "ecn": {"min": "800 KiB", "max": "3200 KiB", "probability": "0%"}},
        }
    }
    document = intent(patch)
    assert [f.code for f in traced([document], "host1", "host5", 30).breaks] == ["ECN003"]
    assert traced([document], "host1", "host5", 26).breaks == ()


def test_the_watchdog_of_an_intent_concerns_every_lossless_class() -> None:
    second = {"dscp": 30, "priority": 4, "lossless": True, "bandwidth": "20%"}
    curve = {"min": "800 KiB", "max": "3200 KiB", "probability": "20%"}
    classes = {"rdma": {"bandwidth": "30%"}, "other": {**second, "ecn": curve}}
    document = intent({"classes": classes, "pfc": None})
    for dscp in (26, 30):
        assert [f.code for f in traced([document], "host1", "host5", dscp).breaks] == ["WD001"]
    assert traced([document], "host1", "host5", 0).breaks == ()


def test_what_a_host_puts_on_packets_breaks_the_chain_at_the_host() -> None:
    found = traced([intent({"hosts": {"nccl": {"ib_tc": 26}}})], "host1", "host5")
    assert [(where, mark.stage) for where, mark in found.marks] == [("host1", "host"), ("host5", "host")]
    assert found.sender is not None
    assert (found.sender.nccl_tc, found.sender.nccl_dscp, found.sender.sends_dscp) == (26, 6, 26)


def test_a_link_that_two_files_contradict_is_marked_at_both_ends() -> None:
    def leaf(name: str, far: str, **more: Patch) -> Patch:
        neighbors = {"Ethernet8": {"name": far, "port": "Ethernet8"}}
        return {"DEVICE_METADATA": {"localhost": {"hostname": name}}, "DEVICE_NEIGHBOR": neighbors, **more}

    off: Patch = {"Ethernet8": {"pfc_enable": "", "pfcwd_sw_enable": ""}}
    documents = [device(leaf("a", "b"), "a.json"), device(leaf("b", "a", PORT_QOS_MAP=off), "b.json")]
    found = traced(documents, "a:Ethernet0", "b:Ethernet0")
    assert [(name, mark.stage) for name, mark in found.marks if mark.finding.code == "PFC003"] == [
        ("a", "pfc"),
        ("b", "pfc"),
    ]
    beside = traced(documents, "a:Ethernet0", "a:Ethernet4")
    assert beside.breaks == ()
    assert beside.elsewhere >= 1


def test_ports_that_a_switch_does_not_have_are_marked_and_capacity_is_not() -> None:
    missing = intent({"hardware": {"leaf": "nvidia-sn4700", "spine": "nvidia-sn4700"}})
    found = traced([missing], "host1", "host5")
    assert {mark.finding.code for mark in found.hops[0].marks if mark.stage == "ports"} == {"TOP003"}
    narrow = intent({"topology": {"leaf_spine": {"uplinks": "1 x 400G"}}})
    assert "TOP001" not in {finding.code for finding in traced([narrow], "host1", "host5").breaks}


def test_errors_elsewhere_are_counted() -> None:
    patch = {"PFC_WD": {"Ethernet8": None}}
    found = traced([device(patch)], "Ethernet8", "Ethernet0")
    assert (found.breaks, found.elsewhere) == ((), 1)


def test_a_path_beside_this_one_says_what_breaks_it() -> None:
    def switch(name: str, role: str, **more: Patch) -> Patch:
        return {"DEVICE_METADATA": {"localhost": {"hostname": name, "type": role}}, **more}

    def to(**ports: str) -> Patch:
        return {port: dict(zip(("name", "port"), far.split(":"), strict=True)) for port, far in ports.items()}

    up = to(Ethernet4="s1:Ethernet4", Ethernet8="s2:Ethernet8")
    off = {"PFC_WD": {"Ethernet0": None}}
    documents = [
        device(switch("a", "ToRRouter", DEVICE_NEIGHBOR=up), "a.json"),
        device(switch("s1", "LeafRouter", DEVICE_NEIGHBOR=to(Ethernet0="b:Ethernet4")), "s1.json"),
        device(switch("s2", "LeafRouter", DEVICE_NEIGHBOR=to(Ethernet0="b:Ethernet0"), **off), "s2.json"),
        device(switch("b", "ToRRouter"), "b.json"),
    ]
    found = traced(documents, "a:Ethernet0", "b:Ethernet8")
    assert [hop.switch for hop in found.hops] == ["a", "s1", "b"]
    other = next(one for one in found.choice.differences if one.switch == "s2")
    assert "watchdog" in other.stages
    assert "WD001" in other.breaks
    assert "WD001" not in [finding.code for finding in found.breaks]


def test_a_trace_without_a_path_is_refused_whatever_the_rules_say() -> None:
    with pytest.raises(LosslessError, match="both name the same port"):
        hop({}, source="Ethernet0", target="Ethernet0")
