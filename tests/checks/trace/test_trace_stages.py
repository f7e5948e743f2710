"""The stages of one switch: facts of its rows, and what is said where there is no row."""

from __future__ import annotations

from typing import Any

import pytest

from lossless.checks.trace.running import trace
from lossless.formats.inputs.switches import configuration_in, fabric_of_switches, read_switch
from lossless.model.fabric.view import View
from tests.checks.trace.tracing import device, hop, traced

Patch = dict[str, Any]


def test_a_lossless_packet_through_a_sound_switch() -> None:
    stages = hop({}).stages
    assert stages.classification.lookup[:3] == ("AZURE", "entry", 3)
    assert stages.priority_group.lookup.target == 3
    assert (stages.priority_group.profile, stages.priority_group.lossless) == (
        "pg_lossless_400000_5m_profile",
        True,
    )
    assert stages.priority_group.headroom_bytes == stages.priority_group.need_bytes
    assert stages.priority_group.need_method == "vendor row"
    assert stages.pfc.ingress == ("Ethernet0", 3, True, (3,))
    assert stages.pfc.egress == ("Ethernet8", 3, True, (3,))
    assert (stages.watchdog.state, stages.watchdog.watched) == ("running", True)
    assert (stages.queue.lookup.target, stages.queue.kind) == (3, "DWRR")
    assert stages.ecn.marks
    assert stages.egress_buffer.profile == "egress_lossless_profile"
    assert stages.egress_dscp == (26, None, "unchanged")


def test_a_dscp_without_an_entry_goes_to_tc_0() -> None:
    lookup = hop({"DSCP_TO_TC_MAP": {"AZURE": {"26": None}}}).stages.classification.lookup
    assert (lookup.stated, lookup.target) == ("no entry", 0)


def test_an_entry_of_a_fragment_that_cannot_be_read_leads_nowhere_that_is_known() -> None:
    stages = hop({"DSCP_TO_TC_MAP": {"AZURE": {"26": "x"}}, "PORT": None}).stages
    assert stages.classification.lookup[1:3] == ("unreadable", None)
    assert stages.priority_group.lookup.target is None
    assert stages.queue.lookup.target is None
    assert stages.pfc.ingress.on is None


def test_a_port_without_maps_classifies_nothing() -> None:
    ports = {name: {"dscp_to_tc_map": None, "tc_to_pg_map": None} for name in ("Ethernet0",)}
    stages = hop({"PORT_QOS_MAP": {**ports, "global": None}}).stages
    assert stages.classification.lookup[:3] == (None, "no map", 0)
    assert stages.priority_group.lookup[:3] == (None, "no map", 0)


def test_the_map_of_the_whole_switch_serves_ports_without_one() -> None:
    patch = {"PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": None}}}
    assert hop(patch).stages.classification.lookup[:3] == ("AZURE", "entry", 3)


def test_a_port_that_trusts_8021p_does_not_say_where_a_dscp_goes() -> None:
    maps = {
        "DOT1P_TO_TC_MAP": {"AZURE": {"3": "3"}},
        "PORT_QOS_MAP": {"Ethernet0": {"dot1p_to_tc_map": "AZURE"}},
    }
    stages = hop(maps).stages
    assert stages.classification.lookup[:3] == (None, "802.1p", None)
    assert stages.ecn.wred is None


def test_pfc_is_that_of_the_group_on_the_way_in_and_of_the_queue_on_the_way_out() -> None:
    patch = {"TC_TO_QUEUE_MAP": {"AZURE": {"3": "5"}}, "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {"3": "0"}}}
    stages = hop(patch).stages
    assert (stages.pfc.ingress.priority, stages.pfc.ingress.on) == (0, False)
    assert (stages.pfc.egress.priority, stages.pfc.egress.on) == (5, False)
    assert stages.priority_group.lossless is False


def test_a_queue_without_rows_has_nothing() -> None:
    stages = hop({"QUEUE": {"Ethernet8|3": None}, "BUFFER_QUEUE": {"Ethernet8|3": None}}).stages
    assert (stages.queue.scheduler, stages.ecn.wred, stages.egress_buffer.profile) == (None, None, None)


def test_without_pfc_there_is_nothing_to_watch() -> None:
    patch = {"PORT_QOS_MAP": {"Ethernet8": {"pfc_enable": None}}}
    assert hop(patch).stages.watchdog.state is None


def rewriting(targets: dict[str, str] | None) -> Patch:
    patch: Patch = {"PORT_QOS_MAP": {"Ethernet8": {"tc_to_dscp_map": "OUT"}}}
    return patch if targets is None else {**patch, "TC_TO_DSCP_MAP": {"OUT": targets}}


def test_the_egress_port_can_write_dscp_again() -> None:
    assert hop(rewriting({"3": "10"})).stages.egress_dscp == (10, "OUT", "rewritten")
    assert hop(rewriting({"2": "10"})).stages.egress_dscp == (26, "OUT", "no entry")
    assert hop(rewriting({"3": "64"})).stages.egress_dscp == (26, "OUT", "refused")
    assert hop(rewriting(None)).stages.egress_dscp == (26, "OUT", "no such map")
    assert hop(rewriting({"3": "10"}), target="Ethernet4").stages.egress_dscp == (26, None, "unchanged")


def test_the_next_hop_sees_the_dscp_that_was_written() -> None:
    def leaf(name: str, far: str) -> Patch:
        neighbors = {"Ethernet8": {"name": far, "port": "Ethernet8"}}
        return {"DEVICE_METADATA": {"localhost": {"hostname": name}}, "DEVICE_NEIGHBOR": neighbors}

    documents = [
        device({**leaf("a", "b"), **rewriting({"3": "10"})}, "a.json"),
        device(leaf("b", "a"), "b.json"),
    ]
    found = traced(documents, "a:Ethernet0", "b:Ethernet0")
    assert [hop.stages.classification.dscp for hop in found.hops] == [26, 10]
    assert found.hops[1].stages.classification.lookup.target == 0


def test_of_priorities_that_share_a_queue_the_one_of_its_number_stands_for_it() -> None:
    patch = {"MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": {"2": "3"}}}
    assert hop(patch).stages.pfc.egress.priority == 3
    crossed = {"MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": {"3": "4", "4": "3"}}}
    assert hop(crossed).stages.pfc.egress == ("Ethernet8", 4, False, (3,))


_QUEUE_5 = """\
hostname leaf1
qos map traffic-class 3 to tx-queue 5
interface Ethernet1-2
   no switchport
   priority-flow-control on
   priority-flow-control priority 3 no-drop
"""
_SWITCH_PRIORITY_2 = """\
nv set system hostname leaf1
nv set qos roce
nv set qos pfc default-global switch-priority 2
nv set qos egress-queue-mapping default-global switch-priority 2 traffic-class 3
nv set qos egress-queue-mapping default-global switch-priority 3 traffic-class 0
nv set qos mapping default-global dscp 26 switch-priority 2
nv set interface swp1-2 type swp
"""


@pytest.mark.parametrize(
    ("text", "ports", "queue", "priority"),
    [(_QUEUE_5, ("Ethernet1", "Ethernet2"), 5, 3), (_SWITCH_PRIORITY_2, ("swp1", "swp2"), 3, 2)],
    ids=["eos", "nvue"],
)
def test_the_priority_that_stops_a_queue_need_not_have_its_number(
    text: str, ports: tuple[str, str], queue: int, priority: int
) -> None:
    document = configuration_in(text, "leaf1.cfg")
    assert document is not None
    view = View(fabric_of_switches((read_switch(document).read.switch,), ("leaf1.cfg",)))
    (only,) = trace(view, *ports, 26, via=None, findings=(), rewrites={}).hops
    assert only.stages.queue.lookup.target == queue
    assert (only.stages.pfc.egress.priority, only.stages.pfc.egress.on) == (priority, True)
