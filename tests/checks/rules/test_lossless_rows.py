"""A row that is not applied is an error where a lossless class needs it, and a warning elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checks.rules.linted import device, drawn, only

LOSSLESS, SPARE = "Ethernet0|3", "Ethernet0|1"


@pytest.mark.parametrize(("row", "severity"), [(LOSSLESS, "error"), (SPARE, "warning")])
@pytest.mark.parametrize("field", ["scheduler", "wred_profile"])
def test_a_name_that_a_queue_misses(row: str, severity: str, field: str) -> None:
    assert only(device({"QUEUE": {row: {field: "NOPE"}}}), "CFG002").severity == severity


@pytest.mark.parametrize(("row", "severity"), [(LOSSLESS, "error"), (SPARE, "warning")])
def test_objects_that_are_refused_count_by_the_queues_that_name_them(row: str, severity: str) -> None:
    patch: dict[str, Any] = {
        "SCHEDULER": {"other": {"type": "dwrr", "weight": "1"}},
        "WRED_PROFILE": {"OTHER": {"wred_green_enable": "yes"}},
        "QUEUE": {row: {"scheduler": "other", "wred_profile": "OTHER"}},
    }
    report = device(patch)
    assert only(report, "SWS004").severity == severity
    assert only(report, "SWS003").severity == severity


def test_an_object_that_nobody_names_is_an_error_where_reading_it_throws() -> None:
    refused = device({"WRED_PROFILE": {"OTHER": {"foo": "1"}}, "BUFFER_POOL": {"other": {"type": "x"}}})
    assert only(refused, "SWS003").severity == only(refused, "SWS011").severity == "warning"
    thrown = device({"WRED_PROFILE": {"OTHER": {"ecn": "on"}}, "BUFFER_POOL": {"other": {"size": "x"}}})
    assert only(thrown, "SWS003").severity == only(thrown, "SWS011").severity == "error"


@pytest.mark.parametrize("field", ["green", "yellow"])
def test_a_negative_maximum_wraps_around_and_is_above_any_minimum(field: str) -> None:
    patch = {f"{field}_min_threshold": "819200", f"{field}_max_threshold": "-1"}
    assert only(device({"WRED_PROFILE": {"AZURE_LOSSLESS": patch}}), "SWS003").severity == "warning"


def test_a_row_of_a_port_counts_where_the_port_is() -> None:
    row = {"PORT_QOS_MAP": {"Ethernet4": {"tc_to_queue_map": "NOPE"}}}
    assert only(device(row), "CFG002").severity == "error"
    row = {"PORT_QOS_MAP": {"Ethernet996": {"tc_to_queue_map": "NOPE"}}}
    assert only(device(row), "CFG008").severity == "warning"
    assert drawn(device(row), "CFG002") == []


def test_the_map_of_the_switch_counts_where_a_port_goes_by_it() -> None:
    row: dict[str, Any] = {"global": {"dscp_to_tc_map": "NOPE"}}
    assert only(device({"PORT_QOS_MAP": row}), "CFG002").severity == "warning"
    row["Ethernet4"] = {"dscp_to_tc_map": None}
    assert only(device({"PORT_QOS_MAP": row}), "CFG002").severity == "error"


def test_a_lossy_group_counts_where_its_port_is_never_ready_without_it() -> None:
    group = {"BUFFER_PG": {"Ethernet0|1-2": {"profile": "NOPE"}}}
    assert only(device(group), "CFG002").severity == "error"
    queue = {"BUFFER_QUEUE": {"Ethernet0|1-2": {"profile": "egress_lossy_profile"}}}
    assert only(device({**group, **queue}), "CFG002").severity == "warning"


@pytest.mark.parametrize("profile", ["NOPE", "pg_lossless_400000_5m_profile,"])
def test_a_group_that_buffermgrd_writes_again_loses_nothing(profile: str) -> None:
    assert only(device({"BUFFER_PG": {LOSSLESS: {"profile": profile}}}), "CFG002").severity == "warning"


def test_a_lossless_group_counts_where_nobody_writes_it_again() -> None:
    patch: dict[str, Any] = {
        "BUFFER_PG": {LOSSLESS: {"profile": "NOPE"}},
        "CABLE_LENGTH": {"AZURE": {"Ethernet0": None}},
    }
    assert only(device(patch), "CFG002").severity == "error"


@pytest.mark.parametrize(
    ("names", "severity"),
    [
        ("NOPE,ingress_lossy_profile", "warning"),
        ("ingress_lossless_profile,,ingress_lossy_profile", "error"),
        ("", "error"),
    ],
)
def test_a_list_fails_for_all_ports_where_a_name_in_it_is_empty(names: str, severity: str) -> None:
    row = {"BUFFER_PORT_INGRESS_PROFILE_LIST": {"Ethernet0": {"profile_list": names}}}
    assert only(device(row), "CFG002").severity == severity


@pytest.mark.parametrize("text", ["3-3", "3.0", "3;3"])
def test_a_list_of_priorities_that_buffermgrd_does_not_read(text: str) -> None:
    mask: dict[str, Any] = {"PORT_QOS_MAP": {"Ethernet4": {"pfc_enable": text}}}
    assert only(device(mask), "SWS009").severity == "warning"
    mask["BUFFER_PG"] = {"Ethernet4|3": None}
    assert only(device(mask), "SWS009").severity == "error"


def test_a_priority_that_a_list_means_and_does_not_switch_on_counts_where_a_dscp_leads_to_it() -> None:
    mask: dict[str, Any] = {"PORT_QOS_MAP": {"Ethernet4": {"pfc_enable": "3-4"}}}
    assert only(device(mask), "SWS009").severity == "warning"
    mask["DSCP_TO_TC_MAP"] = {"AZURE": {"40": "4"}}
    assert only(device(mask), "SWS009").severity == "error"


def test_a_list_in_a_row_that_waits_is_not_read() -> None:
    row = {"Ethernet4": {"dscp_to_tc_map": "NOPE", "pfcwd_sw_enable": "x"}}
    assert only(device({"PORT_QOS_MAP": row}), "SWS009").severity == "warning"


def test_a_watchdog_of_no_port_is_said_once() -> None:
    codes = {f.code for f in device({"PFC_WD": {"zzz": {"POLL_INTERVAL": "200"}}}).findings}
    assert "CFG008" in codes
    assert "SWS005" not in codes


def test_a_watchdog_of_a_portchannel_counts_where_a_port_has_none() -> None:
    timers = {"detection_time": "800", "restoration_time": "800"}
    rows: dict[str, Any] = {"PFC_WD": {"PortChannel1": timers}}
    assert only(device(rows), "SWS005").severity == "warning"
    rows["PFC_WD"]["Ethernet4"] = None
    assert only(device(rows), "SWS005").severity == "error"


def test_a_part_of_a_configuration_does_not_say_who_needs_a_row() -> None:
    report = device({"PORT": None, "QUEUE": {SPARE: {"scheduler": "NOPE"}}})
    assert only(report, "CFG002").severity == "error"
