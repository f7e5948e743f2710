"""What a port with PFC lacks that the other ports of its switch have: maps, and a buffer for its lossless queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.checks.rules.checking import corpus_findings, drawn, only, patched, unchecked

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.ground.documents.text import Document

PORTS = ("Ethernet0", "Ethernet4", "Ethernet8")


def leaf(**tables: Any) -> Document:
    return patched("leaf.json", tables)


def unbound(field: str, *ports: str) -> Document:
    return leaf(PORT_QOS_MAP={port: {field: None} for port in ports})


class TestMaps:
    @pytest.mark.parametrize("field", ["tc_to_pg_map", "tc_to_queue_map", "pfc_to_queue_map"])
    def test_one_port_that_lacks_a_map_is_named(self, field: str) -> None:
        found = only("PFC016", unbound(field, "Ethernet4"))
        assert (found.elements, found.severity) == (("leaf1:Ethernet4",), "warning")

    @pytest.mark.parametrize("ports", [PORTS, PORTS[:2]])
    @pytest.mark.parametrize("field", ["tc_to_pg_map", "pfc_to_queue_map"])
    def test_what_a_chip_does_where_most_ports_lack_a_map_is_not_checked(
        self, field: str, ports: tuple[str, ...]
    ) -> None:
        assert drawn("PFC016", unbound(field, *ports)) == []
        assert [rule.times for rule in unchecked("PFC016", unbound(field, *ports))] == [len(ports)]

    @pytest.mark.parametrize("ports", [PORTS, PORTS[:2]])
    def test_without_a_map_of_queues_all_packets_may_share_one(self, ports: tuple[str, ...]) -> None:
        found = only("PFC016", unbound("tc_to_queue_map", *ports))
        assert (found.severity, found.places) == ("warning", len(ports))

    def test_a_fragment_without_ports_may_bind_its_maps_elsewhere(self) -> None:
        rows = leaf(PORT=None, PORT_QOS_MAP={port: {"tc_to_queue_map": None} for port in PORTS})
        assert drawn("PFC016", rows) == []

    def test_a_missing_dscp_map_is_said_by_another_rule(self) -> None:
        without = leaf(PORT_QOS_MAP={"global": None, "Ethernet4": {"dscp_to_tc_map": None}})
        assert drawn("PFC016", without) == []
        assert len(drawn("CLS004", without)) == 1

    def test_a_map_that_is_not_there_is_said_by_another_rule(self) -> None:
        document = leaf(PORT_QOS_MAP={"Ethernet4": {"tc_to_pg_map": "NOPE"}})
        assert drawn("PFC016", document) == []
        assert len(drawn("CFG002", document)) == 1

    @pytest.mark.parametrize("status", ["down", None])
    def test_a_port_out_of_service_needs_none(self, status: str | None) -> None:
        document = leaf(
            PORT_QOS_MAP={"Ethernet4": {"tc_to_pg_map": None}}, PORT={"Ethernet4": {"admin_status": status}}
        )
        assert drawn("PFC016", document) == []


EGRESS_LOSSY = {"profile_list": "egress_lossy_profile"}


class TestProfileLists:
    def test_a_pool_that_a_list_leaves_out_gives_the_port_nothing_on_nvidia(self) -> None:
        found = only("BUF023", leaf(BUFFER_PORT_EGRESS_PROFILE_LIST=dict.fromkeys(PORTS, EGRESS_LOSSY)))
        assert (found.severity, found.places, found.data["pools"]) == ("error", 3, ["egress_lossless_pool"])
        assert found.origin.path == ("BUFFER_PORT_EGRESS_PROFILE_LIST", "Ethernet0", "profile_list")
        ingress = {"Ethernet4": {"profile_list": "ingress_lossy_profile"}}
        assert only("BUF023", leaf(BUFFER_PORT_INGRESS_PROFILE_LIST=ingress)).data["side"] == "ingress"

    def test_what_another_chip_does_is_not_known(self) -> None:
        other = {"localhost": {"hwsku": "Accton-AS9516-32D", "platform": "x86_64-accton_as9516_32d-r0"}}
        lists = {"Ethernet0": EGRESS_LOSSY}
        document = leaf(DEVICE_METADATA=other, BUFFER_PORT_EGRESS_PROFILE_LIST=lists)
        assert only("BUF023", document).severity == "warning"

    @pytest.mark.parametrize(
        "row", [None, {"profile_list": ""}, {"profile_list": "egress_lossy_profile,NOPE"}]
    )
    def test_a_list_that_is_missing_or_never_set_is_left_alone(self, row: dict[str, str] | None) -> None:
        assert drawn("BUF023", leaf(BUFFER_PORT_EGRESS_PROFILE_LIST={"Ethernet0": row})) == []

    @pytest.mark.parametrize("side", ["ingress", "egress"])
    def test_a_zero_profile_gives_the_port_nothing(self, side: str) -> None:
        zero = {"zero": {"pool": f"{side}_lossless_pool", "size": "0", "dynamic_th": "-8"}}
        lists = {"Ethernet0": {"profile_list": f"zero,{side}_lossy_profile"}}
        document = leaf(BUFFER_PROFILE=zero, **{f"BUFFER_PORT_{side.upper()}_PROFILE_LIST": lists})
        assert only("BUF023", document).data == {"side": side, "pools": [f"{side}_lossless_pool"]}

    def test_a_queue_that_holds_nothing_itself_is_said_by_another_rule(self) -> None:
        document = leaf(BUFFER_PROFILE={"egress_lossless_profile": {"dynamic_th": "-8", "size": "0"}})
        assert drawn("BUF023", document) == []
        assert len(drawn("PFC005", document)) == 1

    def test_any_profile_of_the_pool_will_do(self) -> None:
        own = {"egress_own_profile": {"pool": "egress_lossless_pool", "size": "0", "dynamic_th": "7"}}
        lists = {"Ethernet0": {"profile_list": "egress_own_profile,egress_lossy_profile"}}
        assert drawn("BUF023", leaf(BUFFER_PROFILE=own, BUFFER_PORT_EGRESS_PROFILE_LIST=lists)) == []


OWN = {"size": "250880", "xon": "19456", "xoff": "231424", "dynamic_th": "0", "pool": "ingress_lossless_pool"}


def named(profile: str, key: str = "Ethernet0|3", **fields: str) -> dict[str, Any]:
    rows = {"Ethernet0|3": None, key: {"profile": profile}}
    return {"BUFFER_PG": rows, "BUFFER_PROFILE": {profile: {**OWN, **fields}}}


class TestGroupsThatTheSwitchWrites:
    @pytest.mark.parametrize(
        ("fields", "severity"),
        [({}, "info"), ({"xoff": "300000"}, "warning"), ({"dynamic_th": "-2"}, "warning")],
    )
    def test_a_profile_of_another_name_lasts_to_the_next_start(
        self, fields: dict[str, str], severity: str
    ) -> None:
        for profile, graver in (("pg_lossless_100000_5m_profile", "info"), ("ours", severity)):
            found = only("BUF024", leaf(**named(profile, **fields)))
            assert found.severity == graver
            assert found.data["headroom_bytes"] == int(fields.get("xoff", 231424))
            assert found.origin.path == ("BUFFER_PG", "Ethernet0|3", "profile")

    @pytest.mark.parametrize("headroom", [{"xoff": "0"}, {"xoff": "0", "size": "0", "dynamic_th": "-8"}])
    def test_a_profile_with_headroom_0_is_replaced_too(self, headroom: dict[str, str]) -> None:
        document = leaf(**named("ours", **headroom))
        assert [len(drawn(code, document)) for code in ("BUF024", "BUF001", "BUF010")] == [1, 0, 0]

    def test_a_row_of_other_numbers_stays_beside_the_one_that_the_switch_writes(self) -> None:
        found = only("BUF024", leaf(**named("ours", "Ethernet0|3-4")))
        assert (found.origin.path[1], found.data["own"]) == ("Ethernet0|3-4", "pg_lossless_400000_5m_profile")

    def test_the_headroom_row_of_the_hwsku_counts_where_no_profile_is_written(self) -> None:
        tables = named("ours")
        tables["BUFFER_PG"]["Ethernet4|3"] = None
        tables["BUFFER_PROFILE"]["pg_lossless_400000_5m_profile"] = None
        assert only("BUF024", leaf(**tables)).data["own_headroom_bytes"] == 231424

    @pytest.mark.parametrize(
        "tables",
        [
            pytest.param({"CABLE_LENGTH": {"AZURE": {"Ethernet0": "7m"}}}, id="no headroom row"),
            pytest.param({"PORT": {"Ethernet0": {"admin_status": "down"}}}, id="down"),
            pytest.param({"DEVICE_METADATA": {"localhost": {"buffer_model": "dynamic"}}}, id="dynamic"),
        ],
    )
    def test_where_the_switch_writes_nothing_the_row_counts(self, tables: dict[str, Any]) -> None:
        assert drawn("BUF024", leaf(**named("ours"), **tables)) == []

    def test_headroom_that_is_too_small_is_said_by_another_rule(self) -> None:
        document = leaf(**named("pg_lossless_100000_5m_profile", xoff="2000", size="21456"))
        assert drawn("BUF024", document) == []
        assert len(drawn("BUF001", document)) == 1


class TestQueueBuffers:
    def test_one_row_may_serve_several_queues(self) -> None:
        rows = {"Ethernet4|3": None, "Ethernet4|3-4": {"profile": "egress_lossless_profile"}}
        assert drawn("BUF022", leaf(BUFFER_QUEUE=rows)) == []

    def test_ports_without_a_row_are_one_finding(self) -> None:
        rows = {f"{port}|3": None for port in PORTS[:2]}
        assert only("BUF022", leaf(BUFFER_QUEUE=rows)).places == 2

    def test_a_queue_without_a_row_on_all_ports_is_told_by_the_other_queues(self) -> None:
        found = only("BUF022", leaf(BUFFER_QUEUE={f"{port}|3": None for port in PORTS}))
        assert (found.places, found.severity) == (len(PORTS), "warning")

    def test_a_switch_with_egress_profiles_and_no_row_at_all(self) -> None:
        assert only("BUF022", leaf(BUFFER_QUEUE=None)).places == len(PORTS)

    def test_a_part_of_a_configuration_without_egress_buffers_is_left_alone(self) -> None:
        assert drawn("BUF022", leaf(BUFFER_QUEUE=None, BUFFER_POOL=None)) == []

    def test_a_queue_that_no_pause_stops_is_said_by_another_rule(self) -> None:
        document = leaf(TC_TO_QUEUE_MAP={"AZURE": {"3": "5"}})
        assert [len(drawn(code, document)) for code in ("PFC005", "BUF022")] == [1, 0]

    def test_a_profile_that_is_not_there_is_said_by_another_rule(self) -> None:
        document = leaf(BUFFER_QUEUE={"Ethernet4|3": {"profile": "nope"}})
        assert drawn("BUF022", document) == []
        assert len(drawn("CFG002", document)) == 1

    def test_a_port_that_is_down_needs_no_buffer(self) -> None:
        document = leaf(BUFFER_QUEUE={"Ethernet4|3": None}, PORT={"Ethernet4": {"admin_status": "down"}})
        assert drawn("BUF022", document) == []


@pytest.mark.parametrize("rdma_dscps", [(), (3, 4)], ids=str)
def test_configurations_of_the_field_draw_only_what_is_true(
    reference: Path, rdma_dscps: tuple[int, ...]
) -> None:
    found = corpus_findings(reference, ("PFC016", "BUF022"), rdma_dscps)
    # Ethernet4 of one test fixture of upstream's has lossless QUEUE rows, and neither maps nor BUFFER_QUEUE rows.
    assert [(f.code, f.elements, f.data) for f in found] == [
        ("BUF022", ("sonic-switch:Ethernet4",), {"queues": [3, 4]}),
        ("PFC016", ("sonic-switch:Ethernet4",), {"field": "tc_to_queue_map"}),
    ]
