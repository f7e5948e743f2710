"""What only several files show: both ends of a link, and the switches of a role against each other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from lossless.api import Options, lint, lint_documents
from tests.checks.rules.checking import drawn, only, patched, unchecked

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.ground.documents.document import Document

LINKS = ("LNK001", "LNK002", "LNK003", "LNK004", "LNK005")


def leaf(patch: dict[str, Any] | None = None) -> Document:
    return patched("wired-leaf.json", patch or {}, "leaf1.json")


def spine(patch: dict[str, Any] | None = None) -> Document:
    return patched("wired-spine.json", patch or {}, "spine1.json")


def uplink(**fields: str | None) -> dict[str, Any]:
    return {"PORT": {"Ethernet8": fields}}


DIFFERING = [
    ("LNK001", uplink(speed="400000")),
    ("LNK002", uplink(mtu="9000")),
    ("LNK003", {"CABLE_LENGTH": {"AZURE": {"Ethernet8": "5m"}}}),
    ("LNK004", uplink(fec="fc")),
]


class TestLinks:
    @pytest.mark.parametrize(("code", "patch"), DIFFERING)
    def test_a_difference_is_one_finding_whichever_end_has_it(self, code: str, patch: dict[str, Any]) -> None:
        for documents in ((leaf(patch), spine()), (leaf(), spine(patch))):
            found = [f for one in LINKS for f in drawn(one, *documents)]
            assert [(f.code, f.places) for f in found] == [(code, 1)]

    @pytest.mark.parametrize(("code", "patch"), DIFFERING)
    @pytest.mark.parametrize("status", ["down", None])
    def test_a_port_that_is_down_has_no_link(
        self, code: str, patch: dict[str, Any], status: str | None
    ) -> None:
        port = {**patch.get("PORT", {}).get("Ethernet8", {}), "admin_status": status}
        assert drawn(code, leaf({**patch, "PORT": {"Ethernet8": port}}), spine()) == []

    @pytest.mark.parametrize("code", ["LNK001", "LNK004"])
    def test_a_port_that_negotiates_is_not_set(self, code: str) -> None:
        assert drawn(code, leaf(uplink(speed="400000", fec="none", autoneg="on")), spine()) == []

    @pytest.mark.parametrize("code", ["LNK001", "LNK004"])
    def test_a_link_that_one_file_names_is_likely(self, code: str) -> None:
        silent = {"DEVICE_NEIGHBOR": {"Ethernet8": None}}
        documents = (leaf(uplink(speed="400000", fec="none")), spine(silent))
        assert only(code, *documents).severity == "warning"

    @pytest.mark.parametrize("fec", ["auto", None])
    def test_fec_that_is_not_stated_is_left_to_the_hardware(self, fec: str | None) -> None:
        assert drawn("LNK004", leaf(uplink(fec=fec)), spine()) == []

    def test_an_mtu_that_is_not_written_is_the_default(self) -> None:
        assert drawn("LNK002", leaf(uplink(mtu=None)), spine()) == []
        assert only("LNK002", leaf(uplink(mtu=None)), spine(uplink(mtu="9000"))).data["mtu_bytes"] == [
            9000,
            9100,
        ]

    @pytest.mark.parametrize(("mtu", "severity"), [("4155", "error"), ("4156", "warning")])
    def test_a_packet_of_rdma_that_does_not_fit_is_lost(self, mtu: str, severity: str) -> None:
        for documents in ((leaf(uplink(mtu=mtu)), spine()), (leaf(), spine(uplink(mtu=mtu)))):
            assert only("LNK002", *documents).severity == severity
        off = {"PORT_QOS_MAP": {"Ethernet8": {"pfc_enable": ""}}}
        assert only("LNK002", leaf(uplink(mtu=mtu) | off), spine(off)).severity == "warning"

    def test_a_link_that_is_too_small_at_both_ends_among_larger_ones(self) -> None:
        small = uplink(mtu="1500")
        found = only("LNK002", leaf(small), spine(small))
        assert (found.severity, found.elements) == ("error", ("leaf1:Ethernet8 - spine1:Ethernet8",))
        everywhere = {"PORT": {f"Ethernet{number}": {"mtu": "1500"} for number in (0, 4, 8)}}
        assert drawn("LNK002", leaf(everywhere), spine(everywhere)) == []

    def test_a_cable_of_0m_is_no_length(self) -> None:
        assert drawn("LNK003", leaf({"CABLE_LENGTH": {"AZURE": {"Ethernet8": "0m"}}}), spine()) == []

    def test_lossy_links_need_no_cable_length(self) -> None:
        lossy = {"PORT_QOS_MAP": {"Ethernet8": {"pfc_enable": "", "pfcwd_sw_enable": ""}}}
        short = {"CABLE_LENGTH": {"AZURE": {"Ethernet8": "5m"}}}
        assert drawn("LNK003", leaf(short | lossy), spine(lossy)) == []

    def test_neighbors_may_be_named_by_alias(self) -> None:
        by_alias = {"DEVICE_NEIGHBOR": {"Ethernet8": {"port": "etp2"}}}
        documents = (leaf(by_alias | uplink(speed="400000")), spine(by_alias))
        assert only("LNK001", *documents).elements == ("leaf1:Ethernet8 - spine1:Ethernet8",)
        assert unchecked("PFC003", *documents) == []
        assert drawn("LNK005", *documents) == []

    @pytest.mark.parametrize(
        ("own", "lag", "severity"),
        [
            ("9100", {"mtu": "1500"}, "error"),
            ("1500", {"mtu": "9100"}, None),
            ("1500", {}, None),
            ("9100", {"mtu": "9216"}, "warning"),
        ],
    )
    def test_a_member_of_a_lag_has_the_mtu_of_the_lag(
        self, own: str, lag: dict[str, str], severity: str | None
    ) -> None:
        patch = {
            **uplink(mtu=own),
            "PORTCHANNEL": {"PortChannel1": {"admin_status": "up", **lag}},
            "PORTCHANNEL_MEMBER": {"PortChannel1|Ethernet8": {}},
        }
        found = drawn("LNK002", leaf(patch), spine())
        assert [one.severity for one in found] == ([severity] if severity else [])
        if severity == "error":
            assert found[0].origin.path == ("PORTCHANNEL", "PortChannel1", "mtu")

    @pytest.mark.parametrize(("addresses", "hits"), [({"Vlan10": {}, "Vlan10|10.0.0.1/24": {}}, 1), ({}, 0)])
    def test_what_is_routed_into_a_vlan_has_its_mtu(self, addresses: dict[str, Any], hits: int) -> None:
        patch = {
            "VLAN": {"Vlan10": {"vlanid": "10", "mtu": "1500"}, "Vlan20": {"vlanid": "20"}},
            "VLAN_MEMBER": {f"{vlan}|Ethernet8": {"tagging_mode": "tagged"} for vlan in ("Vlan10", "Vlan20")},
            "VLAN_INTERFACE": addresses,
        }
        found = drawn("LNK002", leaf(patch), spine())
        assert [one.origin.path for one in found] == [("VLAN", "Vlan10", "mtu")] * hits

    def test_a_lag_that_does_not_exist_sets_no_mtu(self) -> None:
        member: dict[str, Any] = {"PORTCHANNEL_MEMBER": {"PortChannel1|Ethernet8": {}}}
        assert drawn("LNK002", leaf(member), spine()) == []

    @pytest.mark.parametrize(
        ("own", "named"),
        [
            ("spine1", "spine1.dc.example"),
            ("spine1.dc.example", "spine1"),
            ("spine1.dc.example", "spine1.dc"),
            ("spine1", "SPINE1"),
        ],
    )
    def test_a_name_with_and_without_its_domain_is_one_device(self, own: str, named: str) -> None:
        neighbor = {"DEVICE_NEIGHBOR": {"Ethernet8": {"name": named}}}
        documents = (leaf(neighbor), spine({"DEVICE_METADATA": {"localhost": {"hostname": own}}}))
        assert [drawn(code, *documents) for code in (*LINKS, "PFC003")] == [[]] * (len(LINKS) + 1)
        faster = (leaf(neighbor | uplink(speed="400000")), documents[1])
        assert only("LNK001", *faster).elements == (f"leaf1:Ethernet8 - {own}:Ethernet8",)

    def test_a_name_that_may_be_either_of_two_devices_is_neither(self) -> None:
        twins = [
            patched(
                "wired-spine.json", {"DEVICE_METADATA": {"localhost": {"hostname": name}}}, f"{name}.json"
            )
            for name in ("spine1.east.example", "spine1.west.example")
        ]
        documents = (leaf(uplink(speed="400000")), *twins)
        assert drawn("LNK001", *documents) == []

    def test_a_contradicted_link_is_said_once_and_compared_no_further(self) -> None:
        wrong = {"DEVICE_NEIGHBOR": {"Ethernet4": {"name": "spine1", "port": "Ethernet8"}}}
        found = [f.code for one in (*LINKS, "PFC003") for f in drawn(one, leaf(wrong), spine())]
        assert found == ["LNK005"]

    def test_a_port_by_a_name_nobody_knows_may_be_the_right_one(self) -> None:
        assert drawn("LNK005", leaf(), spine({"DEVICE_NEIGHBOR": {"Ethernet8": {"port": "swp8"}}})) == []

    def test_two_files_of_one_hostname_are_nobody(self) -> None:
        twin = patched("wired-leaf.json", {}, "b.json")
        odd = leaf(uplink(speed="400000"))
        assert [f for one in LINKS for f in drawn(one, odd, twin, spine())] == []

    @pytest.mark.parametrize(
        "file", ["old.json", "leaf1.bak.json", "backup/leaf1.json", "leaf1_20240131.json"]
    )
    def test_the_current_file_counts_beside_an_older_copy(self, file: str) -> None:
        copy = patched("wired-leaf.json", {}, file)
        assert drawn("CFG016", leaf(), copy, spine()) == []
        assert len(drawn("LNK001", leaf(uplink(speed="400000")), copy, spine())) == 1

    @pytest.mark.parametrize("file", ["b.json", "gold.json", "leaf2/config_db.json", "config_db.json"])
    def test_two_files_of_one_hostname_ask_whether_they_are_one_switch(self, file: str) -> None:
        twin = patched("wired-leaf.json", {}, file)
        assert only("CFG016", leaf(), twin, spine()).origin.file == file

    def test_folders_of_several_sites_are_not_checked_against_each_other(self) -> None:
        sites = [patched("wired-leaf.json", {}, f"site{n}/leaf1/config_db.json") for n in (1, 2)]
        assert drawn("CFG016", *sites) == []
        assert [each.reason for each in unchecked("CFG016", *sites)] == [
            "several files have one hostname: their switches are not compared with neighbors and role"
        ]


def member(number: int, patch: dict[str, Any] | None = None) -> Document:
    name = "wired-leaf.json" if number == 1 else f"wired-leaf{number}.json"
    return patched(name, patch or {}, f"leaf{number}.json")


NO_QUEUES = {
    "BUFFER_QUEUE": None,
    "BUFFER_PORT_EGRESS_PROFILE_LIST": None,
    "BUFFER_POOL": {"egress_lossless_pool": None, "egress_lossy_pool": None},
    "BUFFER_PROFILE": {
        "egress_lossless_profile": None,
        "egress_lossy_profile": None,
        "q_lossy_profile": None,
    },
}
"""A switch without anything of its egress buffers: by its file alone they may be in another one."""


class TestQueueBuffers:
    def test_a_switch_without_them_beside_one_of_its_role(self) -> None:
        found = [f for f in drawn("CFG011", member(1, NO_QUEUES), member(2)) if "peers" in f.data]
        assert [(f.elements, f.severity) for f in found] == [(("leaf1",), "warning")]

    def test_a_switch_without_them_beside_one_that_it_is_linked_with(self) -> None:
        found = drawn("CFG011", leaf(), spine(NO_QUEUES))
        assert [f.data for f in found] == [{"peers": ["leaf1"]}]

    def test_where_no_switch_has_them_they_may_be_elsewhere(self) -> None:
        assert drawn("CFG011", leaf(NO_QUEUES), spine(NO_QUEUES)) == []

    def test_a_switch_that_shows_by_itself_that_they_are_missing(self) -> None:
        documents = (leaf(), spine({"BUFFER_QUEUE": None}))
        assert [len(drawn(code, *documents)) for code in ("CFG011", "BUF022")] == [0, 1]


class TestRoles:
    def test_the_odd_one_out_is_named_whatever_its_name(self) -> None:
        other = {"DSCP_TO_TC_MAP": {"AZURE": {"30": "6"}}}
        for odd in (1, 2, 3):
            documents = [member(number, other if number == odd else None) for number in (1, 2, 3)]
            found = only("CLS014", *documents)
            assert (found.origin.file, found.elements) == (f"leaf{odd}.json", (f"leaf{odd}",))
            assert found.data == {"differing": ["30"]}

    def test_two_that_differ_are_one_finding(self) -> None:
        assert only("CLS014", member(1), member(2, {"DSCP_TO_TC_MAP": {"AZURE": {"30": "6"}}})).places == 1

    def test_other_roles_may_do_otherwise(self) -> None:
        role = {"DEVICE_METADATA": {"localhost": {"type": "LeafRouter"}}}
        patch = {
            **role,
            "DSCP_TO_TC_MAP": {"AZURE": {"30": "6"}},
            "WRED_PROFILE": {"AZURE_LOSSLESS": {"green_min_threshold": "1200000"}},
        }
        assert [
            f for code in ("CLS014", "ECN015", "CFG011") for f in drawn(code, member(1, patch), member(2))
        ] == []

    def test_a_map_of_another_name_is_another_map(self) -> None:
        assert drawn("CLS014", member(1, {"DSCP_TO_TC_MAP": {"OTHER": {"0": "1"}}}), member(2)) == []

    def test_marking_that_is_off_differs_from_marking(self) -> None:
        off = {"WRED_PROFILE": {"AZURE_LOSSLESS": {"ecn": "ecn_none"}}}
        assert only("ECN015", member(1, off), member(2), member(3)).data["here"] == "no marking"

    @pytest.mark.parametrize(("size", "hits"), [("17301008", 1), ("300000000", 1), ("60000000", 0)])
    def test_a_lossless_pool_a_quarter_of_its_peers(self, size: str, hits: int) -> None:
        odd = {"BUFFER_POOL": {"ingress_lossless_pool": {"size": size}}}
        assert len(drawn("CFG011", member(1, odd), member(2), member(3))) == hits

    @pytest.mark.parametrize("name", ["egress_lossless_pool", "ingress_lossless_pool"])
    def test_each_pool_is_compared(self, name: str) -> None:
        size = json.loads(json.dumps(member(2).data))["BUFFER_POOL"][name]["size"]
        odd = {"BUFFER_POOL": {name: {"size": str(int(size) // 4)}}}
        assert only("CFG011", member(1, odd), member(2), member(3)).severity == "warning"

    def test_pools_of_other_models_are_not_compared(self) -> None:
        odd = {
            "BUFFER_POOL": {"ingress_lossless_pool": {"size": "17301008"}},
            "DEVICE_METADATA": {"localhost": {"hwsku": "ACS-MSN2700"}},
        }
        assert drawn("CFG011", member(1, odd), member(2), member(3)) == []

    def test_a_scheduler_of_another_weight_is_information(self) -> None:
        odd = {"SCHEDULER": {"scheduler.1": {"weight": "1"}}}
        assert only("CFG011", member(1, odd), member(2), member(3)).severity == "info"

    def test_upgrades_go_from_switch_to_switch(self) -> None:
        newer = {"VERSIONS": {"DATABASE": {"VERSION": "version_202505_01"}}}
        assert only("CFG011", member(1, newer), member(2), member(3)).severity == "info"


class TestTrust:
    TAGS: ClassVar[dict[str, Any]] = {
        "DOT1P_TO_TC_MAP": {"AZURE": {str(priority): str(priority) for priority in range(8)}},
        "PORT_QOS_MAP": {
            f"Ethernet{n}": {"dscp_to_tc_map": None, "dot1p_to_tc_map": "AZURE"} for n in (0, 4, 8)
        },
    }

    def test_which_of_an_802_1p_map_and_the_switch_s_dscp_map_counts_is_not_known(self) -> None:
        rows = {**self.TAGS["PORT_QOS_MAP"], "global": {"dscp_to_tc_map": "AZURE"}}
        by_tags = leaf({**self.TAGS, "PORT_QOS_MAP": rows})
        assert drawn("PFC004", by_tags, spine()) == []
        assert [each.reason for each in unchecked("SWS018", by_tags, spine())] == [
            "an 802.1p map and a DSCP map hold for the port, and which counts is not known"
        ]

    def test_without_any_dscp_map_the_class_is_lost(self) -> None:
        rows = {**self.TAGS["PORT_QOS_MAP"], "global": None}
        assert only("PFC004", leaf({**self.TAGS, "PORT_QOS_MAP": rows}), spine()).severity == "error"

    def test_a_dscp_map_on_both_ends_is_no_fault(self) -> None:
        assert drawn("PFC004", leaf(), spine()) == []


OTHER = {"WRED_PROFILE": {"AZURE_LOSSLESS": {"green_min_threshold": "1200000"}}}


def named(name: str, spine: str | None, patch: dict[str, Any] | None = None) -> Document:
    """Return a leaf of a name, with one neighbor or none."""
    rows: dict[str, Any] = {"DEVICE_METADATA": {"localhost": {"hostname": name}}}
    neighbors = None if spine is None else {"Ethernet8": {"name": spine, "port": "Ethernet0"}}
    base = {**rows, "DEVICE_NEIGHBOR": None, **(patch or {})}
    document = patched("wired-leaf.json", base, f"{name}.json")
    if neighbors is not None:
        document.data["DEVICE_NEIGHBOR"] = neighbors
    return document


class TestFabrics:
    """A fabric is what links join: those of one role are compared within it."""

    def test_two_disjoint_fabrics_may_do_otherwise(self) -> None:
        one = [named(f"a{number}", "spine-a") for number in range(3)]
        other = [named(f"b{number}", "spine-b", OTHER) for number in range(2)]
        assert drawn("ECN015", *one, *other) == []
        assert only("ECN015", *one, named("a9", "spine-a", OTHER), *other).elements == ("a9",)

    def test_without_links_all_are_one_fabric(self) -> None:
        leaves = [named(f"a{number}", None) for number in range(3)]
        assert only("ECN015", *leaves, named("b1", None, OTHER)).elements == ("b1",)

    def test_a_leaf_whose_links_lead_to_nobody_else_is_of_the_only_fabric(self) -> None:
        leaves = [named(f"a{number}", "spine-a") for number in range(3)]
        assert only("ECN015", *leaves, named("b1", "host7", OTHER)).elements == ("b1",)
        assert only("ECN015", *leaves, named("b1", None, OTHER)).elements == ("b1",)

    def test_a_configuration_says_what_no_link_does(self, tmp_path: Path) -> None:
        for folder, patch in (("east", None), ("west", OTHER)):
            (tmp_path / folder).mkdir()
            for number in range(2 if patch else 3):
                document = named(f"{folder}{number}", None, patch)
                (tmp_path / folder / f"{number}.json").write_text(json.dumps(document.data))
        configured = Options(configured=True)

        def found() -> list[str]:
            report = lint([tmp_path], configured)
            assert report.errors == ()
            return [each.code for each in report.findings if each.code == "ECN015"]

        assert found() == ["ECN015"]
        (tmp_path / "lossless.toml").write_text(
            '[[fabric]]\npaths = "east"\n\n[[fabric]]\npaths = ["west/*"]\n'
        )
        assert found() == []
        (tmp_path / "lossless.toml").write_text('[[fabric]]\npaths = ["east", "west"]\n')
        assert found() == ["ECN015"]


def test_unrelated_devices_in_one_folder_have_no_error_across(reference: Path) -> None:
    """Upstream's samples share hostnames and roles by accident; nothing that is compared may be an error."""
    found = lint([reference / "corpus" / "full"]).findings
    across = {*LINKS, "CLS014", "ECN015", "CFG011", "PFC003"}
    assert {f.code for f in found if f.code in across and f.severity == "error"} == set()


class TestOneCause:
    """A DSCP that one switch of two makes lossy is one error, named or not."""

    @staticmethod
    def _errors(rdma_dscps: tuple[int, ...], *documents: Document) -> list[tuple[str, str]]:
        found = lint_documents(documents, Options(rdma_dscps=rdma_dscps)).findings
        return [(one.code, one.origin.file) for one in found if one.severity == "error"]

    def test_the_lossy_entry_is_one_error(self) -> None:
        lossy = spine({"DSCP_TO_TC_MAP": {"AZURE": {"26": "0"}}})
        assert self._errors((), leaf(), lossy) == [("PFC004", "spine1.json")]
        assert self._errors((26,), leaf(), lossy) == [("CLS001", "spine1.json")]

    def test_another_dscp_of_the_same_map_is_another_error(self) -> None:
        lossy = spine({"DSCP_TO_TC_MAP": {"AZURE": {"26": "0", "27": "3"}}})
        errors = self._errors((26,), leaf(), lossy)
        assert sorted(errors) == [("CLS001", "spine1.json"), ("PFC004", "leaf1.json")]
