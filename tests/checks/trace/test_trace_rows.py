"""Which rows of a deployed switch a packet meets: DSCP 26 from Ethernet0 to Ethernet8 of the sound switch."""

from __future__ import annotations

from functools import cache

import pytest

from lossless.api import load_fabrics
from lossless.checks.trace.running import trace
from lossless.ground.basics.findings import Finding, Origin, Path
from lossless.model.fabric.view import View
from tests.checks.trace.tracing import device

ROWS = [
    # maps: the bound one, and of it the entry that is looked up
    ("DSCP_TO_TC_MAP|AZURE", "classification"),
    ("DSCP_TO_TC_MAP|AZURE|26", "classification"),
    ("DSCP_TO_TC_MAP|AZURE|026", "classification"),
    ("DSCP_TO_TC_MAP|AZURE|27", None),
    ("DSCP_TO_TC_MAP|TUNNEL|26", None),
    ("TC_TO_PRIORITY_GROUP_MAP|AZURE|3", "priority_group"),
    ("TC_TO_PRIORITY_GROUP_MAP|AZURE|0", None),
    ("TC_TO_QUEUE_MAP|AZURE|3", "queue"),
    ("TC_TO_QUEUE_MAP|AZURE|4", None),
    ("MAP_PFC_PRIORITY_TO_QUEUE|AZURE|3", "pfc"),
    # what a port binds, by the stage its fields belong to
    ("PORT_QOS_MAP|Ethernet0|dscp_to_tc_map", "classification"),
    ("PORT_QOS_MAP|Ethernet8|pfc_enable", "pfc"),
    ("PORT_QOS_MAP|Ethernet8|pfcwd_sw_enable", "watchdog"),
    ("PORT_QOS_MAP|Ethernet0,Ethernet4|tc_to_pg_map", "priority_group"),
    ("PORT_QOS_MAP|Ethernet4|pfc_enable", None),
    ("PORT_QOS_MAP|global|dscp_to_tc_map", "classification"),
    ("PORT|Ethernet8|mtu", "ports"),
    ("PORT|Ethernet4|mtu", None),
    ("CABLE_LENGTH|AZURE|Ethernet0", "priority_group"),
    ("CABLE_LENGTH|AZURE|Ethernet4", None),
    ("PFC_WD|Ethernet8|action", "watchdog"),
    ("PFC_WD|GLOBAL|POLL_INTERVAL", "watchdog"),
    ("PFC_WD|Ethernet4|action", None),
    # numbered rows: the group on the way in, the queue on the way out, alone or in a range
    ("BUFFER_PG|Ethernet0#3-4|profile", "priority_group"),
    ("BUFFER_PG|Ethernet0#0|profile", None),
    ("BUFFER_PG|Ethernet8#3|profile", None),
    ("QUEUE|Ethernet8#3|scheduler", "queue"),
    ("QUEUE|leaf1#Asic0#Ethernet8#3|scheduler", "queue"),
    ("QUEUE|Ethernet8#0-2|scheduler", None),
    ("QUEUE|Ethernet0#3|scheduler", None),
    ("BUFFER_QUEUE|Ethernet8#3|profile", "egress_buffer"),
    # objects by name
    ("SCHEDULER|scheduler.1|weight", "queue"),
    ("SCHEDULER|scheduler.0|weight", None),
    ("WRED_PROFILE|AZURE_LOSSLESS|ecn", "ecn"),
    ("WRED_PROFILE|OTHER|ecn", None),
    ("BUFFER_PROFILE|pg_lossless_400000_5m_profile|xoff", "priority_group"),
    ("BUFFER_PROFILE|pg_lossless_800000_40m_profile|xoff", None),
    ("BUFFER_PROFILE|egress_lossless_profile|size", "egress_buffer"),
    ("BUFFER_POOL|ingress_lossless_pool|size", "priority_group"),
    ("BUFFER_POOL|egress_lossless_pool|size", "egress_buffer"),
    ("BUFFER_POOL|egress_lossy_pool|size", None),
    # tables that no packet meets
    ("NTP_SERVER|10.0.0.1", None),
]
"""Objects as reports print them, but with # for the bar inside a key."""


@cache
def view() -> View:
    return View(load_fabrics([device({})]).fabrics[0])


def stage(path: Path, *elements: str, file: str = "leaf1.json", dscp: int = 26) -> str | None:
    finding = Finding(
        code="CFG999",
        name="made-up",
        severity="error",
        confidence="high",
        message="made up",
        origin=Origin(file, path),
        elements=elements,
        object_form="config_db",
    )
    marks = trace(view(), "Ethernet0", "Ethernet8", dscp, findings=[finding]).marks
    return marks[0][1].stage if marks else None


@pytest.mark.parametrize(("written", "expected"), ROWS)
def test_rows_that_are_met(written: str, expected: str | None) -> None:
    path = tuple(part.replace("#", "|") for part in written.split("|"))
    assert stage(path) == expected


def test_ports_that_are_named_count_more_than_the_row_that_covers_them() -> None:
    row = ("PORT_QOS_MAP", "Ethernet4", "pfc_enable")
    assert stage(row, "leaf1:Ethernet4", "leaf1:Ethernet8") == "pfc"
    assert stage(row, "leaf1:Ethernet4") is None
    assert stage(("PORT_QOS_MAP", "Ethernet8", "pfc_enable"), "leaf1:Ethernet4") is None
    assert stage(("CABLE_LENGTH", "AZURE", "Ethernet0"), "leaf1:Ethernet8") is None
    assert stage(("PFC_WD", "Ethernet8"), "leaf1:Ethernet0") is None


def test_other_files_and_switches_are_not_met() -> None:
    row = ("DSCP_TO_TC_MAP", "AZURE", "26")
    assert stage(row, file="leaf2.json") is None
    assert stage(row, "leaf1") == "classification"
    assert stage(row, "leaf2") is None
    assert stage(row, "leaf2:Ethernet0") is None
    assert stage(("PORT", "Ethernet8"), "leaf1:Ethernet8 - leaf2:Ethernet0", file="leaf2.json") == "ports"


def test_a_row_of_its_own_concerns_lossy_traffic_too() -> None:
    assert stage(("BUFFER_PG", "Ethernet0|0", "profile"), dscp=0) == "priority_group"
    assert stage(("QUEUE", "Ethernet8|0", "scheduler"), dscp=0) == "queue"
    assert stage(("CABLE_LENGTH", "AZURE", "Ethernet0"), dscp=0) is None
    assert stage(("PFC_WD", "Ethernet8", "action"), dscp=0) is None


def test_a_scheduler_of_the_whole_port_serves_every_queue() -> None:
    assert stage(("SCHEDULER", "scheduler.port", "pir"), "leaf1:Ethernet8") == "queue"
    assert stage(("SCHEDULER", "scheduler.port", "pir"), "leaf1:Ethernet0") is None
    assert stage(("SCHEDULER", "scheduler.0", "pir"), "leaf1:Ethernet8") is None
