"""What operators do to running switches: remapped tunnels, moved cables, half-changed links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lossless.api import Options, lint_documents
from tests.checks.rules.checking import drawn, only, patched, unchecked

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Finding
    from lossless.ground.documents.text import Document

PORTS = ("Ethernet0", "Ethernet4", "Ethernet8")


def leaf(**tables: Any) -> Document:
    return patched("leaf.json", tables)


def remap(*ports: str, watched: str | None = "3") -> dict[str, Any]:
    """Return masks as tunnel remapping writes them."""
    return {port: {"pfc_enable": "2,3,6", "pfcwd_sw_enable": watched} for port in ports}


def two_switches(leaf_pfc: str, spine_names: str | None) -> list[Finding]:
    """Return PFC findings of a leaf with another mask on its uplink alone, and of its spine."""

    def switch(name: str, peer: str | None, pfc: str) -> Document:
        neighbor = {"Ethernet8": {"name": peer, "port": "Ethernet8"}} if peer else {}
        tables = {
            "DEVICE_METADATA": {"localhost": {"hostname": name}},
            "DEVICE_NEIGHBOR": {**neighbor, **{port: {"name": "host", "port": "eth0"} for port in PORTS[:2]}},
            "PORT_QOS_MAP": {"Ethernet8": {"pfc_enable": pfc, "pfcwd_sw_enable": "3"}},
        }
        return patched("leaf.json", tables, f"{name}.json")

    documents = [switch("leaf1", "spine1", leaf_pfc), switch("spine1", spine_names, "3")]
    found = lint_documents(documents, Options()).findings
    assert found == lint_documents(documents[::-1], Options()).findings
    return [finding for finding in found if finding.code.startswith("PFC")]


def test_a_stray_dscp_is_not_sent_to_a_class_of_bounced_packets() -> None:
    document = leaf(PORT_QOS_MAP=remap("Ethernet8"), DSCP_TO_TC_MAP={"AZURE": {"26": "1"}})
    found = only("CLS001", document, rdma_dscps=(26,))
    assert found.data["lossless"] == [3]


@pytest.mark.parametrize(("watched", "advice"), [(None, "3"), ("", "3"), ("2", "2,3")])
def test_the_watchdog_is_not_asked_to_watch_what_remapping_adds(watched: str | None, advice: str) -> None:
    found = only("WD002", leaf(PORT_QOS_MAP=remap("Ethernet8", watched=watched)))
    assert [edit.value for edit in found.fix] == [advice]


def test_a_missing_queue_entry_is_one_cause() -> None:
    """TC 3 then leaves through queue 0, which is lossy and does not mark: both follow from the map."""
    report = lint_documents([leaf(TC_TO_QUEUE_MAP={"AZURE": {"3": None}})], Options())
    (found,) = report.findings
    assert (found.code, found.severity) == ("PFC005", "error")
    assert found.origin.path == ("TC_TO_QUEUE_MAP", "AZURE")
    assert found.data == {"priority": 3, "priorities": [3]}


@pytest.mark.parametrize("length", ["None", "10.5m", "far"])
def test_a_length_that_means_nothing(length: str) -> None:
    document = leaf(CABLE_LENGTH={"AZURE": {"Ethernet4": length}}, BUFFER_PG={"Ethernet4|3": None})
    assert only("BUF004", document).data == {"priorities": [3], "speed_bps": 400_000_000_000}


def test_a_group_left_behind_by_a_longer_cable_is_to_blame_and_not_the_profile_others_use() -> None:
    found = only("BUF002", leaf(CABLE_LENGTH={"AZURE": {"Ethernet4": "300m"}}))
    assert found.origin.path == ("BUFFER_PG", "Ethernet4|3", "profile")
    assert found.elements == ("leaf1:Ethernet4",)


def test_a_group_left_behind_where_no_row_covers_the_cable_needs_a_profile_of_its_own() -> None:
    found = only("BUF001", leaf(CABLE_LENGTH={"AZURE": {"Ethernet4": "5000m"}}))
    assert found.severity == "error"
    assert found.origin.path == ("BUFFER_PG", "Ethernet4|3", "profile")
    assert (found.data["cable_m"], found.data["need_bytes"]) == (5000, 7_798_784)


def test_a_shared_headroom_pool_as_large_as_the_chip_is_itself_to_blame() -> None:
    found = only("BUF007", leaf(BUFFER_POOL={"ingress_lossless_pool": {"xoff": "200000000"}}))
    assert found.severity == "error"
    assert found.origin.path == ("BUFFER_POOL", "ingress_lossless_pool", "xoff")
    assert found.data == {
        "headroom_sum_bytes": 825344,
        "claimed_bytes": 0,
        "shared_headroom_bytes": 200000000,
        "chip_bytes": 158229504,
        "groups": 3,
        "ratio": 0.0,
    }


def test_one_port_without_pfc_is_certain_once_the_other_end_shows_that_it_pauses() -> None:
    (found,) = two_switches("", "leaf1")
    link = ("leaf1:Ethernet8 - spine1:Ethernet8",)
    assert (found.code, found.severity, found.elements) == ("PFC003", "error", link)


@pytest.mark.parametrize("spine_names", [None, "leaf2"])
def test_one_port_without_pfc_is_likely_where_only_one_end_names_the_other(spine_names: str | None) -> None:
    (found,) = two_switches("", spine_names)
    assert (found.code, found.severity) == ("PFC001", "warning")


def test_ends_of_a_link_that_agree_draw_nothing() -> None:
    assert two_switches("3", "leaf1") == []


def test_a_fragment_counts_its_ports() -> None:
    fragment = leaf(PORT=None, PFC_WD=None)
    assert [rule.times for rule in unchecked("WD001", fragment)] == [3]
    assert drawn("WD001", fragment) == []


PORTS = ("Ethernet0", "Ethernet4", "Ethernet8")


def other_map(**entries: str) -> dict[str, Any]:
    """Return a second DSCP map, bound to one port."""
    targets = {**{str(dscp): "0" for dscp in range(64)}, "26": "3", "48": "6", **entries}
    return {
        "DSCP_TO_TC_MAP": {"OTHER": targets},
        "PORT_QOS_MAP": {"Ethernet4": {"dscp_to_tc_map": "OTHER"}},
    }


def test_one_port_that_maps_what_the_others_pause_to_a_lossy_class() -> None:
    found = only("CLS001", leaf(**other_map(**{"26": "1"})))
    assert (found.severity, found.confidence) == ("error", "high")
    assert found.data == {"traffic_class": 3, "dscps": [], "lossless": [26]}
    assert found.origin.path == ("DSCP_TO_TC_MAP", "OTHER")
    assert found.elements == ("leaf1:Ethernet4",)


@pytest.mark.parametrize("own", [{"26": "1"}, {"26": "1", "27": "3"}])
def test_two_ports_that_pause_one_priority_and_share_no_dscp_of_it(own: dict[str, str]) -> None:
    two = leaf(**{**other_map(**own), "PORT": {"Ethernet8": {"admin_status": "down"}}})
    assert only("CLS001", two).severity == "error"


def test_ports_that_share_one_dscp_of_several_are_one_domain() -> None:
    own = leaf(**other_map(**{"27": "3"}))
    assert drawn("CLS001", own) == []


def test_a_port_that_pauses_one_priority_more_than_it_uses_is_no_part_of_the_others() -> None:
    four = {
        "DSCP_TO_TC_MAP": {"AZURE": {"4": "4"}},
        "PORT_QOS_MAP": {p: {"pfc_enable": "3,4"} for p in PORTS},
    }
    own = other_map()
    own["DSCP_TO_TC_MAP"] |= four["DSCP_TO_TC_MAP"]
    own["PORT_QOS_MAP"] = {
        **four["PORT_QOS_MAP"],
        "Ethernet4": {"dscp_to_tc_map": "OTHER", "pfc_enable": "3,4"},
    }
    assert only("CLS001", leaf(**own)).severity == "warning"


@pytest.mark.parametrize(
    ("written", "lossy"), [("2-3", False), ("0-7", False), ("3-4", True), ("3-7", True), ("03", False)]
)
@pytest.mark.parametrize("own", [True, False])
def test_of_rows_that_overlap_the_last_key_counts_that_of_buffermgrd_among_them(
    written: str, lossy: bool, own: bool
) -> None:
    """The row of group 3 stands in the file, or buffermgrd writes it."""
    rows: dict[str, Any] = {f"Ethernet0|{written}": {"profile": "ingress_lossy_profile"}}
    rows |= {} if own else {"Ethernet0|3": None}
    found = lint_documents([leaf(BUFFER_PG=rows)], Options(rdma_dscps=(26,))).findings
    assert {each.code for each in found if each.severity == "error"} == ({"PFC005"} if lossy else set())


@pytest.mark.parametrize("key", ["26", " 26", "26.0", "26 (RDMA)", "282"])
@pytest.mark.parametrize("target", ["3", " 3", "3.0", "3 # lossless", "259", "-253"])
def test_entries_lead_where_orchagent_reads_them_to(key: str, target: str) -> None:
    """std::stoi stops behind the digits, and eight bits of the number count."""
    entries = {"26": None, key: target}
    found = lint_documents([leaf(DSCP_TO_TC_MAP={"AZURE": entries})], Options(rdma_dscps=(26,))).findings
    assert [each.code for each in found if each.severity == "error"] == []


@pytest.mark.parametrize(("key", "target"), [("0x1a", "3"), ("26", "0x3"), ("26", "3E"), ("27", "3")])
def test_entries_that_are_read_otherwise_are_lossy_where_that_is(key: str, target: str) -> None:
    lossy = target == "0x3" or key != "26"
    found = drawn("CLS001", leaf(DSCP_TO_TC_MAP={"AZURE": {"26": None, key: target}}), rdma_dscps=(26,))
    assert [each.severity for each in found] == ["error"] * lossy


@pytest.mark.parametrize(
    "rows", [{}, {"BUFFER_PG": None}, {"BUFFER_PG": {f"{port}|3": None for port in PORTS}}]
)
def test_a_priority_that_no_dscp_leads_to_is_reported_whoever_writes_its_groups(rows: dict[str, Any]) -> None:
    """buffermgrd makes the lossless groups that no row gives."""
    found = only("CLS001", leaf(DSCP_TO_TC_MAP={"AZURE": {"26": "0"}}, **rows))
    assert (found.severity, found.data, found.places) == ("warning", {"traffic_class": 3}, 3)
    assert drawn("CLS001", leaf(**rows)) == []


def test_a_mask_beside_the_group_with_headroom_is_not_said_of_the_map_too() -> None:
    beside = leaf(PORT_QOS_MAP={port: {"pfc_enable": "4", "pfcwd_sw_enable": "4"} for port in PORTS})
    assert drawn("BUF015", beside)
    assert drawn("CLS001", beside) == []


def test_a_port_without_the_map_of_the_others_is_counted() -> None:
    dangling = leaf(PORT_QOS_MAP={"Ethernet4": {"dscp_to_tc_map": "NOWHERE"}})
    assert drawn("CLS001", dangling) == []
    assert [rule.times for rule in unchecked("CLS001", dangling)] == [1]


def test_maps_that_differ_for_cnps_or_for_bounced_packets_are_no_contradiction() -> None:
    cnps = {"AZURE": {"48": "3"}}
    other = other_map()
    assert drawn("CLS001", leaf(**{**other, "DSCP_TO_TC_MAP": {**other["DSCP_TO_TC_MAP"], **cnps}})) == []
    masks = remap("Ethernet0", "Ethernet8")
    masks["Ethernet4"] = {"pfc_enable": "3", "dscp_to_tc_map": "OTHER"}
    maps = {**other["DSCP_TO_TC_MAP"], "AZURE": {"2": "2", "6": "6"}}
    assert drawn("CLS001", leaf(DSCP_TO_TC_MAP=maps, PORT_QOS_MAP=masks)) == []


@pytest.mark.parametrize("xoff", ["393216B", " 393216", "393216.0", "+393216"])
def test_headroom_is_the_number_that_a_text_begins_with(xoff: str) -> None:
    rows = {"pg_lossless_400000_5m_profile": {"xoff": xoff}}
    found = lint_documents([leaf(BUFFER_PROFILE=rows)], Options(rdma_dscps=(26,))).findings
    assert [each.code for each in found if each.severity == "error"] == []
    rows = {"pg_lossless_400000_5m_profile": {"xoff": "0x60000"}}
    assert [each.severity for each in drawn("BUF001", leaf(BUFFER_PROFILE=rows))] == ["error"]


def test_a_group_that_nobody_makes_is_lossy_whatever_tags_say() -> None:
    """Priority 3 pauses for group 4, in which its traffic is counted, and which has no row."""
    four = {
        "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {"3": "4"}},
        "DOT1P_TO_TC_MAP": {"TAGS": {"3": "3", "0": "0"}},
    }
    pauses = {"PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {"FOUR": {"3": "4"}}}
    bound = {"dscp_to_tc_map": None, "dot1p_to_tc_map": "TAGS", "pfc_to_pg_map": "FOUR"}
    ports = {"PORT_QOS_MAP": dict.fromkeys(PORTS, bound)}
    assert only("PFC005", leaf(**four, **pauses, **ports)).severity == "error"
    made = {"BUFFER_PG": {f"{port}|4": {"profile": "pg_lossless_400000_5m_profile"} for port in PORTS}}
    assert drawn("PFC005", leaf(**four, **pauses, **ports, **made)) == []


def test_headroom_that_the_size_of_the_profile_does_not_hold_is_none() -> None:
    """NVIDIA, no shared headroom pool: 20,000 B less an XON of 19,456 B."""
    small = {"pg_lossless_400000_5m_profile": {"size": "20000"}}
    found = only("BUF001", leaf(BUFFER_PROFILE=small))
    assert (found.severity, found.data["headroom_bytes"]) == ("error", 544)
    assert found.origin.path == ("BUFFER_PROFILE", "pg_lossless_400000_5m_profile", "size")
    shared = {"ingress_lossless_pool": {"xoff": "10000000"}}
    assert drawn("BUF001", leaf(BUFFER_PROFILE=small, BUFFER_POOL=shared)) == []
