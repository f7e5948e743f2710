"""What a port with PFC lacks that the other ports of its switch have: maps, and a buffer for its lossless queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.checks.rules.judging import corpus_findings, drawn, only, patched

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.ground.documents.document import Document

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
    def test_a_map_that_most_ports_do_without_is_a_choice(self, ports: tuple[str, ...]) -> None:
        assert drawn("PFC016", unbound("tc_to_pg_map", *ports)) == []

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


class TestQueueBuffers:
    def test_one_row_may_serve_several_queues(self) -> None:
        rows = {"Ethernet4|3": None, "Ethernet4|3-4": {"profile": "egress_lossless_profile"}}
        assert drawn("BUF022", leaf(BUFFER_QUEUE=rows)) == []

    def test_ports_without_a_row_are_one_finding(self) -> None:
        rows = {f"{port}|3": None for port in PORTS[:2]}
        assert only("BUF022", leaf(BUFFER_QUEUE=rows)).places == 2

    def test_a_part_of_a_configuration_without_buffers_is_left_alone(self) -> None:
        assert drawn("BUF022", leaf(BUFFER_QUEUE=None)) == []

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
    # Ethernet4 of one test fixture of upstream's has lossless QUEUE rows, and no BUFFER_QUEUE rows as Ethernet0 has.
    assert [(f.code, f.elements, f.data) for f in found] == [
        ("BUF022", ("sonic-switch:Ethernet4",), {"queues": [3, 4]})
    ]
