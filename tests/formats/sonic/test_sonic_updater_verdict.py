"""What the updater answers to a patch: facts of its code, stage by stage, without any record."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

from lossless.formats.sonic.capabilities.updater_sorting import (
    EmptiedRow,
    UpdaterDevice,
    chip_of,
    updater_table,
)
from lossless.formats.sonic.capabilities.updater_verdict import PatchVerdict, field_refusals, patch_verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

Data = dict[str, Any]
SPC4 = UpdaterDevice("ACS-SN5600", asic_type="mellanox", build_version="SONiC.20251110.1")
PORTS: Data = {
    "Ethernet0": {"lanes": "1,2", "speed": "100000", "admin_status": "up"},
    "Ethernet4": {"lanes": "3,4", "speed": "100000", "admin_status": "down"},
}
RUNNING: Data = {
    "PORT": PORTS,
    "SCHEDULER": {"old": {"type": "DWRR", "weight": "10"}, "new": {"type": "DWRR", "weight": "20"}},
    "QUEUE": {"Ethernet0|3": {"scheduler": "old"}, "Ethernet4|3": {"scheduler": "new"}},
    "BUFFER_POOL": {"pool": {"type": "ingress", "mode": "dynamic", "size": "1000"}},
    "BUFFER_PROFILE": {"p": {"pool": "pool", "size": "0", "dynamic_th": "0"}},
    "WRED_PROFILE": {
        "W": {"green_max_threshold": "2", "green_min_threshold": "1", "ecn": "ecn_all"},
    },
    "PFC_WD": {
        "GLOBAL": {"POLL_INTERVAL": "200"},
        "Ethernet0": {"action": "drop", "detection_time": "200", "restoration_time": "200"},
    },
    "CABLE_LENGTH": {"AZURE": {"Ethernet0": "5m"}},
}


def without(*tables: str) -> Data:
    return {table: rows for table, rows in deepcopy(RUNNING).items() if table not in tables}


def step(op: str, *path: str, value: Any = None) -> Data:
    return {"op": op, "path": "".join(f"/{name}" for name in path), "value": value}


def answer(*patch: Data, running: Data | None = None, device: UpdaterDevice = SPC4) -> PatchVerdict:
    return patch_verdict(RUNNING if running is None else running, patch, device)


def permitted(before: Data, after: Data, device: UpdaterDevice = SPC4) -> bool:
    return not list(field_refusals(before, after, device))


def test_the_running_configuration_is_accepted_as_it_is() -> None:
    assert answer() == PatchVerdict(None, (), RUNNING)


def test_each_stage_refuses_what_the_stages_before_it_let_pass() -> None:
    assert answer(step("remove", "QUEUE", "none")).stage == "patch"
    assert answer(step("remove", "PFC_WD", "GLOBAL")).stage == "field-operation"
    assert answer(step("remove", "CABLE_LENGTH", "AZURE")).stage == "empty-table"
    assert answer(step("add", "NO_SUCH_TABLE", value={"a": {}})).stage == "table-without-yang"
    assert answer(step("replace", "SCHEDULER", "old", "weight", value="0")).stage == "target-yang"
    assert answer(step("replace", "SCHEDULER", "old", "weight", value="11")).stage is None


def test_a_refusal_says_where_and_why() -> None:
    refused = answer(step("replace", "QUEUE", "Ethernet0|3", "scheduler", value="none")).refusals
    assert [(refusal.path, refusal.why) for refusal in refused] == [
        (("QUEUE", "Ethernet0|3", "scheduler"), "'none' is named, and SCHEDULER has no such row")
    ]


def test_the_first_watchdog_row_of_a_switch_is_refused_and_the_second_permitted() -> None:
    row = {"action": "drop", "detection_time": "400", "restoration_time": "400"}
    first = answer(step("add", "PFC_WD", value={"Ethernet0": row}), running=without("PFC_WD"))
    assert first.stage == "field-operation"
    assert answer(step("add", "PFC_WD", "Ethernet4", value=row)).stage is None


def test_a_row_with_the_values_of_one_that_goes_is_a_move_and_refused() -> None:
    row = RUNNING["PFC_WD"]["Ethernet0"]
    taken = answer(step("remove", "PFC_WD", "Ethernet0"), step("add", "PFC_WD", "Ethernet4", value=row))
    assert [refusal.op for refusal in taken.refusals] == ["move"]


def test_the_watchdog_may_go_as_a_table_but_not_its_global_row_or_its_interval() -> None:
    assert answer(step("remove", "PFC_WD")).stage is None
    assert answer(step("remove", "PFC_WD", "GLOBAL")).stage == "field-operation"
    assert answer(step("remove", "PFC_WD", "GLOBAL", "POLL_INTERVAL")).stage == "field-operation"
    assert answer(step("replace", "PFC_WD", "GLOBAL", "POLL_INTERVAL", value="100")).stage is None


def test_a_first_profile_is_refused_and_a_further_one_permitted_even_on_a_product_that_is_not_listed() -> (
    None
):
    unknown = UpdaterDevice("none", asic_type="broadcom", build_version="SONiC.20251110.1")
    row = {"pool": "pool", "size": "0", "dynamic_th": "3"}
    first = step("add", "BUFFER_PROFILE", value={"q": row})
    assert answer(first, running=without("BUFFER_PROFILE")).stage == "field-operation"
    assert answer(step("add", "BUFFER_PROFILE", "q", value=row), device=unknown).stage is None
    field = step("replace", "BUFFER_PROFILE", "p", "dynamic_th", value="1")
    assert (answer(field).stage, answer(field, device=unknown).stage) == (None, "field-operation")


def test_a_row_that_is_replaced_is_checked_field_by_field() -> None:
    row = RUNNING["BUFFER_PROFILE"]["p"]
    assert answer(step("replace", "BUFFER_PROFILE", "p", value={**row, "dynamic_th": "1"})).stage is None
    assert (
        answer(step("replace", "BUFFER_PROFILE", "p", value={**row, "size": "1"})).stage == "field-operation"
    )


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        ("SONiC.20220531.1", False),
        ("SONiC.20221100.1", True),
        ("SONiC.20221099.1", False),
        ("SONiC.master.1234-abcdef", True),
        ("SONiC.202411.123456", True),
        ("SONiC.20220531-dirty", True),
        ("SONiC.20251110.20180101", False),
        ("SONiC.20180101.20251110", True),
        (None, True),
    ],
)
def test_the_last_part_of_eight_digits_of_a_build_string_is_its_date(
    build: str | None, expected: bool
) -> None:
    device = UpdaterDevice("ACS-SN5600", asic_type="mellanox", build_version=build)
    changed = {"PFC_WD": {"Ethernet0": {"action": "forward"}}}
    assert permitted({"PFC_WD": {"Ethernet0": {"action": "drop"}}}, changed, device) is expected


@pytest.mark.parametrize(
    ("hwsku", "asic_type", "chip"),
    [
        ("ACS-MSN2700", "mellanox", "spc1"),
        ("acs-msn2700", "mellanox", "spc1"),
        ("ACS-MSN2700-x", "mellanox", None),
        ("ACS-MSN2700", "broadcom", None),
        ("Nokia-IXR7220-H5-64D-x", "broadcom", "th5"),
        ("x-arista-7050cx3-32s-c32", "broadcom", "td3"),
        ("Arista-7260CX3-C64", "mellanox", None),
        ("ACS-MSN2700", "vs", "spc1"),
        ("Arista-7260CX3-C64", "vs", "th2"),
        ("Arista-7260CX3-C64", None, "th2"),
        ("any", "cisco-8000", "cisco-8000"),
        ("any", "marvell-teralynx", "marvell-teralynx"),
        ("ACS-MSN2700", "nvidia-bluefield", None),
        ("", "vs", None),
    ],
)
def test_products_are_known_whole_or_by_a_part_of_their_name_as_their_type_asks(
    hwsku: str, asic_type: str | None, chip: str | None
) -> None:
    assert chip_of(hwsku, asic_type, updater_table()["chips"]["691b1bb"]) == chip


def test_a_chip_without_a_date_is_permitted_nothing_but_a_row_without_fields() -> None:
    jr2 = UpdaterDevice("Arista-7808R3A-FM", asic_type="broadcom")
    before: Data = {"PFC_WD": {"Ethernet0": {"action": "drop"}}}
    assert permitted(before, {"PFC_WD": {"Ethernet0": {"action": "drop"}, "Ethernet4": {}}}, jr2)
    assert not permitted(before, {"PFC_WD": {"Ethernet0": {"action": "forward"}}}, jr2)


@pytest.mark.parametrize(
    ("field", "value", "offered", "expected"),
    [
        ("speed", "1", None, True),
        ("speed", "100000", "40000,100000", True),
        ("speed", "50000", "40000,100000", False),
        ("speed", "100000", "N/A", False),
        ("fec", "rs", None, True),
        ("fec", "off", None, False),
        ("fec", " rs ", "rs, fc", True),
        ("fec", "none", "rs, fc", False),
        ("fec", "N/A", "N/A", False),
        ("mtu", "1", "N/A", True),
    ],
)
def test_speed_and_fec_are_held_to_what_the_device_advertises(
    field: str, value: str, offered: str | None, expected: bool
) -> None:
    advertised = {} if offered is None else {f"supported_{field}s": offered}
    device = SPC4._replace(advertised={"Ethernet0": advertised})
    before: Data = {"PORT": {"Ethernet0": {"x": "1"}}}
    assert permitted(before, {"PORT": {"Ethernet0": {"x": "1", field: value}}}, device) is expected
    assert permitted({"PORT": {"Ethernet0": {"x": "1", field: value}}}, before, device)


def test_of_a_port_that_comes_with_both_only_fec_is_looked_at() -> None:
    device = SPC4._replace(advertised={"Ethernet8": {"supported_speeds": "25000", "supported_fecs": "rs"}})

    def comes(row: Mapping[str, str]) -> bool:
        return permitted({"PORT": PORTS}, {"PORT": {**PORTS, "Ethernet8": row}}, device)

    assert comes({"fec": "rs", "speed": "100000"})
    assert not comes({"fec": "fc", "speed": "25000"})
    assert not comes({"speed": "100000"})


def test_rules_of_an_acl_do_not_change_with_the_type_of_its_table() -> None:
    before: Data = {"ACL_TABLE": {"A": {"type": "L3"}}, "ACL_RULE": {"A|r": {"PRIORITY": "1"}}}
    retyped: Data = {"ACL_TABLE": {"A": {"type": "MIRROR"}}, "ACL_RULE": {"A|r": {"PRIORITY": "1"}}}
    assert permitted(before, retyped)
    assert not permitted(before, {**retyped, "ACL_RULE": {"A|r": {"PRIORITY": "2"}}})


@pytest.mark.parametrize("table", ["BUFFER_PG", "BUFFER_QUEUE"])
def test_a_default_that_names_no_row_is_not_looked_at(table: str) -> None:
    assert answer(step("add", table, value={"Ethernet0|3": {}})).stage is None
    assert answer(step("add", table, value={"Ethernet0|3": {"profile": "0"}})).stage == "target-yang"


def test_a_field_of_the_device_that_no_model_has_is_refused() -> None:
    def device(field: str) -> PatchVerdict:
        return answer(step("add", "DEVICE_METADATA", value={"localhost": {field: "1"}}))

    assert (device("hwsku").stage, device("region").stage) == (None, None)
    assert [refusal.path[-1] for refusal in device("colour").refusals] == ["colour"]


def test_a_list_names_each_profile_once_and_nothing_between_two_commas() -> None:
    def listed(names: str) -> PatchVerdict:
        row = {"Ethernet4": {"profile_list": names}}
        return answer(step("add", "BUFFER_PORT_INGRESS_PROFILE_LIST", value=row))

    assert [listed(names).stage for names in ("p", "p,", "", " p ")] == [None] * 4
    assert [refusal.why for refusal in listed("p,p").refusals] == ["profile_list names 'p' twice"]


def test_a_lane_belongs_to_one_port_but_on_platforms_that_share_them() -> None:
    twice = step("replace", "PORT", "Ethernet4", "lanes", value="2,3")
    assert [refusal.path for refusal in answer(twice).refusals] == [
        ("PORT", "Ethernet0", "lanes"),
        ("PORT", "Ethernet4", "lanes"),
    ]
    shared = {"DEVICE_METADATA": {"localhost": {"platform": "x86_64-arista_7050cx3_32s"}}}
    assert answer(twice, running=RUNNING | shared).stage is None


def test_a_port_that_other_tables_name_does_not_go() -> None:
    members: Data = {"PORTCHANNEL_MEMBER": {"PortChannel1|Ethernet4": {}}}
    acl: Data = {"ACL_TABLE": {"A": {"ports": ["Ethernet4"]}}}
    patch = (step("remove", "PORT", "Ethernet4"), step("remove", "QUEUE", "Ethernet4|3"))
    assert answer(*patch).stage is None
    for tables in (members, acl):
        assert answer(*patch, running=RUNNING | tables).stage == "target-yang"


def test_ports_that_are_up_go_down_for_their_rows_and_where_the_target_has_them_down() -> None:
    weight = step("replace", "SCHEDULER", "old", "weight", value="11")
    assert answer(weight).ports_down == ()
    rebound = [step("remove", "QUEUE", f"{port}|3") for port in ("Ethernet0", "Ethernet4")]
    assert answer(step("add", "QUEUE", "Ethernet0|4", value={}), *rebound).ports_down == ("Ethernet0",)
    closed = step("replace", "PORT", "Ethernet0", "admin_status", value="down")
    assert answer(closed).ports_down == ("Ethernet0",)


def test_a_row_that_goes_with_its_last_rebinding_is_emptied_while_its_port_is_up() -> None:
    rebound = step("replace", "QUEUE", "Ethernet0|3", "scheduler", value="new")
    gone = step("remove", "SCHEDULER", "old")
    assert answer(rebound, gone).emptied == (EmptiedRow("SCHEDULER", "old", 2, True),)
    assert answer(rebound).emptied == ()
    assert answer(gone, running=dict(answer(rebound).target or {})).emptied == ()


def test_only_fields_that_the_models_let_go_are_taken() -> None:
    bound = {"BUFFER_PG": {"Ethernet0|3": {"profile": "p"}}}
    gone = (step("remove", "BUFFER_PG"), step("remove", "BUFFER_PROFILE", "p"))
    running = RUNNING | bound
    running["BUFFER_PROFILE"] = {**RUNNING["BUFFER_PROFILE"], "q": {"pool": "pool", "size": "0"}}
    assert answer(*gone, running=running).emptied == (EmptiedRow("BUFFER_PROFILE", "p", 1, True),)


def test_without_a_port_that_is_up_a_single_user_in_a_later_table_is_rebound_too_late() -> None:
    rebound = step("replace", "QUEUE", "Ethernet4|3", "scheduler", value="old")
    gone = step("remove", "SCHEDULER", "new")
    assert answer(rebound, gone).emptied == (EmptiedRow("SCHEDULER", "new", 2, False),)
    other_order = {table: RUNNING[table] for table in ("QUEUE", *(t for t in RUNNING if t != "QUEUE"))}
    assert answer(rebound, gone, running=other_order).emptied == ()
    whole = step("remove", "QUEUE", "Ethernet4|3")
    assert answer(whole, gone).emptied == ()


def test_neighboring_rows_of_ports_that_are_down_are_rebound_at_once_and_before() -> None:
    running = deepcopy(RUNNING)
    running["QUEUE"]["Ethernet4|4"] = {"scheduler": "new"}
    rebound = [step("replace", "QUEUE", f"Ethernet4|{number}", "scheduler", value="old") for number in (3, 4)]
    assert answer(*rebound, step("remove", "SCHEDULER", "new"), running=running).emptied == ()
