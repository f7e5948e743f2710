"""Every field that does not come back has the reason a person would give, and only such fields are listed."""

from __future__ import annotations

from typing import Any

import pytest

from lossless.formats.importing.differences import KINDS, Figures, figures, total
from lossless.formats.sonic.changes.meaning import Cell
from lossless.interfaces.api.import_ import ImportResult
from tests.formats.importing.imports import imported
from tests.formats.sonic.devices import Config, base

PORTS = ("Ethernet0", "Ethernet4", "Ethernet8")
LOSSLESS = "pg_lossless_400000_5m_profile"
ABSENT = object()

Change = tuple[str, str, str, Any]
"""A table, a key, a field, and its value; the row or field is taken out where that is ABSENT."""


def changed(*changes: Change) -> Config:
    """Return the base device, hosts at all ports, with some fields changed; a row without fields is taken out."""
    config: Config = {**base(), "DEVICE_NEIGHBOR": {"Ethernet8": {"name": "gpu1", "port": "eth0"}}}
    for table, key, field, value in changes:
        row = config.setdefault(table, {}).setdefault(key, {})
        if value is ABSENT and not field:
            del config[table][key]
        elif value is ABSENT:
            del row[field]
        else:
            row[field] = value
    return config


UNUSED = tuple(
    ("PORT", "Ethernet16", field, value)
    for field, value in {
        "lanes": "16,17,18,19,20,21,22,23",
        "index": "3",
        "alias": "etp3",
        "speed": "800000",
    }.items()
)
REMAPPED = (
    ("TC_TO_DSCP_MAP", "AZURE_TUNNEL", "3", "2"),
    ("PORT_QOS_MAP", "Ethernet8", "pfc_enable", "2,3"),
    ("PORT_QOS_MAP", "Ethernet8", "pfcwd_sw_enable", "3"),
)
"""Ethernet8 has a second lossless priority, for what comes through a tunnel."""
DYNAMIC = ("DEVICE_METADATA", "localhost", "buffer_model", "dynamic")

KIND_OF: dict[str, tuple[tuple[Change, ...], set[tuple[str, str, str]]]] = {
    "unused port": (
        (
            *UNUSED,
            ("CABLE_LENGTH", "AZURE", "Ethernet16", "40m"),
            ("BUFFER_PG", "Ethernet16|0", "profile", "mine"),
            ("BUFFER_PROFILE", "mine", "size", "0"),
        ),
        {
            ("CABLE_LENGTH", "Ethernet16", "length"),
            ("BUFFER_PG", "Ethernet16|0", "profile"),
            ("BUFFER_PROFILE", "mine", "size"),
        },
    ),
    "pool size": (
        (("BUFFER_POOL", "ingress_lossless_pool", "xoff", "1"),),
        {("BUFFER_POOL", "ingress_lossless_pool", "xoff")},
    ),
    "vendor profile": (
        (
            ("BUFFER_PROFILE", "egress_lossy_profile", "size", "1"),
            ("BUFFER_POOL", "egress_lossless_pool", "mode", "static"),
        ),
        {("BUFFER_PROFILE", "egress_lossy_profile", "size"), ("BUFFER_POOL", "egress_lossless_pool", "mode")},
    ),
    "no such port": (
        (("PORT", "Ethernet8", "speed", "12345"),),
        {
            *(
                (table, "Ethernet8", field)
                for table, field in [
                    ("CABLE_LENGTH", "length"),
                    ("BUFFER_PORT_INGRESS_PROFILE_LIST", "profile_list"),
                    ("BUFFER_PORT_EGRESS_PROFILE_LIST", "profile_list"),
                    ("PORT_QOS_MAP", "pfc_enable"),
                    ("PFC_WD", "action"),
                ]
            ),
            ("BUFFER_PG", "Ethernet8|0", "profile"),
            ("QUEUE", "Ethernet8|3", "scheduler"),
        },
    ),
    "headroom row": (
        (("BUFFER_PROFILE", LOSSLESS, "size", "1"),),
        {("BUFFER_PROFILE", LOSSLESS, "size")},
    ),
    "class without DSCP": (
        (("TC_TO_PRIORITY_GROUP_MAP", "AZURE", "5", "5"),),
        {("TC_TO_PRIORITY_GROUP_MAP", "AZURE", "5")},
    ),
    "no PFC": (
        tuple(("PORT_QOS_MAP", port, "pfc_enable", "") for port in PORTS),
        {("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "AZURE", "3")},
    ),
    "another queue": ((("TC_TO_QUEUE_MAP", "AZURE", "5", "1"),), {("TC_TO_QUEUE_MAP", "AZURE", "5")}),
    "queue without class": (
        (
            ("QUEUE", "Ethernet0|7", "scheduler", "scheduler.0"),
            ("BUFFER_QUEUE", "Ethernet0|7", "profile", "egress_lossy_profile"),
            ("BUFFER_PG", "Ethernet0|5", "profile", "ingress_lossy_profile"),
        ),
        {
            ("QUEUE", "Ethernet0|7", "scheduler"),
            ("BUFFER_QUEUE", "Ethernet0|7", "profile"),
            ("BUFFER_PG", "Ethernet0|5", "profile"),
        },
    ),
    "row of a class": (
        (
            ("QUEUE", "Ethernet0|3", "", ABSENT),
            ("BUFFER_QUEUE", "Ethernet0|3", "", ABSENT),
            ("BUFFER_PG", "Ethernet0|0", "", ABSENT),
        ),
        {
            ("QUEUE", "Ethernet0|3", "scheduler"),
            ("QUEUE", "Ethernet0|3", "wred_profile"),
            ("BUFFER_QUEUE", "Ethernet0|3", "profile"),
            ("BUFFER_PG", "Ethernet0|0", "profile"),
        },
    ),
    "unlike most": (
        (
            ("PORT_QOS_MAP", "Ethernet0", "pfc_enable", ""),
            ("BUFFER_QUEUE", "Ethernet0|0", "profile", "egress_lossless_profile"),
            ("BUFFER_PG", "Ethernet0|0", "profile", "ingress_lossless_profile"),
        ),
        {
            ("PORT_QOS_MAP", "Ethernet0", "pfc_enable"),
            ("BUFFER_QUEUE", "Ethernet0|0", "profile"),
            ("BUFFER_PG", "Ethernet0|0", "profile"),
        },
    ),
    "colours": (
        (
            ("WRED_PROFILE", "AZURE_LOSSLESS", "yellow_min_threshold", "9999999"),
            ("WRED_PROFILE", "AZURE_LOSSLESS", "wred_red_enable", "false"),
        ),
        {
            ("WRED_PROFILE", "AZURE_LOSSLESS", "yellow_min_threshold"),
            ("WRED_PROFILE", "AZURE_LOSSLESS", "wred_red_enable"),
        },
    ),
    "scheduler": (
        (
            ("SCHEDULER", "other", "type", "DWRR"),
            ("SCHEDULER", "other", "weight", "33"),
            ("QUEUE", "Ethernet0|3", "scheduler", "other"),
        ),
        {
            ("SCHEDULER", "other", "type"),
            ("SCHEDULER", "other", "weight"),
            ("QUEUE", "Ethernet0|3", "scheduler"),
        },
    ),
    "beyond TC 7": ((("DSCP_TO_TC_MAP", "AZURE", "11", "8"),), {("DSCP_TO_TC_MAP", "AZURE", "11")}),
    "chassis": (
        (("QUEUE", "lc1|asic0|Ethernet0|3", "scheduler", "scheduler.0"),),
        {("QUEUE", "lc1|asic0|Ethernet0|3", "scheduler")},
    ),
    "no place": (
        (("PORT_QOS_MAP", "Ethernet0", "tc_to_dot1p_map", "x"),),
        {("PORT_QOS_MAP", "Ethernet0", "tc_to_dot1p_map")},
    ),
    "global map": ((("PORT_QOS_MAP", "global", "", ABSENT),), {("PORT_QOS_MAP", "global", "dscp_to_tc_map")}),
    "watched priorities": (
        (("PORT_QOS_MAP", "Ethernet0", "pfcwd_sw_enable", ABSENT),),
        {("PORT_QOS_MAP", "Ethernet0", "pfcwd_sw_enable")},
    ),
    "watchdog": (
        (("PFC_WD", "GLOBAL", "BIG_RED_SWITCH", "enable"),),
        {("PFC_WD", "GLOBAL", "BIG_RED_SWITCH")},
    ),
    "trimming": (
        (
            ("SWITCH_TRIMMING", "GLOBAL", "size", "128"),
            ("BUFFER_PROFILE", "egress_lossy_profile", "packet_discard_action", "trim"),
        ),
        {
            ("SWITCH_TRIMMING", "GLOBAL", "size"),
            ("BUFFER_PROFILE", "egress_lossy_profile", "packet_discard_action"),
        },
    ),
    "profile list": (
        (
            ("BUFFER_PORT_INGRESS_PROFILE_LIST", "Ethernet0", "", ABSENT),
            ("BUFFER_PORT_EGRESS_PROFILE_LIST", "Ethernet4", "profile_list", "egress_lossy_profile"),
        ),
        {
            ("BUFFER_PORT_INGRESS_PROFILE_LIST", "Ethernet0", "profile_list"),
            ("BUFFER_PORT_EGRESS_PROFILE_LIST", "Ethernet4", "profile_list"),
        },
    ),
    "not bound": (
        (("SCHEDULER", "spare", "weight", "9"), ("BUFFER_PROFILE", "spare", "size", "9")),
        {("SCHEDULER", "spare", "weight"), ("BUFFER_PROFILE", "spare", "size")},
    ),
    "dynamic buffers": (
        (DYNAMIC, *(("BUFFER_PG", f"{port}|3", "profile", "NULL") for port in PORTS)),
        {
            ("DEFAULT_LOSSLESS_BUFFER_PARAMETER", "AZURE", "default_dynamic_th"),
            ("LOSSLESS_TRAFFIC_PATTERN", "AZURE", "mtu"),
        },
    ),
    "dual ToR": (
        REMAPPED,
        {("PORT_QOS_MAP", "Ethernet8", "pfc_enable"), ("BUFFER_PG", "Ethernet8|2", "profile")},
    ),
    "cable": ((("CABLE_LENGTH", "AZURE", "Ethernet0", "3m"),), {("CABLE_LENGTH", "Ethernet0", "length")}),
}


@pytest.mark.parametrize("kind", KIND_OF)
def test_a_field_that_does_not_come_back_has_its_reason(kind: str) -> None:
    changes, expected = KIND_OF[kind]
    found = imported(changed(*changes))
    of_kind = {(d.cell.table, d.cell.key, d.cell.field) for d in found.differences if d.kind == kind}
    assert expected <= of_kind
    assert {difference.device for difference in found.differences} == {"leaf1"}


def kind_of(found: ImportResult, *place: str) -> str | None:
    """Return why a field does not come back, None where it does."""
    kinds = (d.kind for d in found.differences if (d.cell.table, d.cell.key, d.cell.field) == place)
    return next(kinds, None)


@pytest.mark.parametrize(
    ("change", "kind", "without_tunnel"),
    [
        (("QUEUE", "Ethernet8|1", "scheduler", "scheduler.1"), "dual ToR", "scheduler"),
        (("QUEUE", "Ethernet0|2", "scheduler", "scheduler.1"), "dual ToR", "scheduler"),
        (("QUEUE", "Ethernet0|1", "scheduler", "scheduler.1"), "scheduler", "scheduler"),
        (("TC_TO_PRIORITY_GROUP_MAP", "AZURE", "5", "5"), "dual ToR", "class without DSCP"),
        (("DSCP_TO_TC_MAP", "SPARE", "11", "1"), "dual ToR", "not bound"),
        (("DSCP_TO_TC_MAP", "AZURE", "2", "8"), "beyond TC 7", "beyond TC 7"),
        (("TC_TO_QUEUE_MAP", "AZURE", "8", "2"), "beyond TC 7", "beyond TC 7"),
        (("SCHEDULER", "spare", "weight", "9"), "not bound", "not bound"),
        (("BUFFER_PROFILE", "egress_lossy_profile", "size", "1"), "vendor profile", "vendor profile"),
        (("BUFFER_PROFILE", "spare", "size", "1"), "not bound", "not bound"),
    ],
)
def test_what_tunnels_between_dual_tors_need_is_so_named(
    change: Change, kind: str, without_tunnel: str
) -> None:
    place = change[:3]
    assert kind_of(imported(changed(*REMAPPED, change)), *place) == kind
    assert kind_of(imported(changed(change)), *place) == without_tunnel


@pytest.mark.parametrize(("field", "kind"), [("5", "class without DSCP"), ("2", "dual ToR")])
def test_of_a_map_that_no_tunnelled_port_binds_only_second_priorities_are_of_tunnels(
    field: str, kind: str
) -> None:
    bound = ("PORT_QOS_MAP", "Ethernet8", "tc_to_pg_map", ABSENT)
    found = imported(changed(*REMAPPED, bound, ("TC_TO_PRIORITY_GROUP_MAP", "AZURE", field, field)))
    assert kind_of(found, "TC_TO_PRIORITY_GROUP_MAP", "AZURE", field) == kind


def test_a_lossless_group_with_a_profile_of_its_own_has_the_row_of_the_hwsku() -> None:
    mine = (("BUFFER_PG", "Ethernet0|3", "profile", "mine"), ("BUFFER_PROFILE", "mine", "size", "9"))
    found = imported(changed(*mine))
    assert kind_of(found, "BUFFER_PG", "Ethernet0|3", "profile") == "headroom row"
    assert kind_of(found, "BUFFER_PROFILE", "mine", "size") == "vendor profile"


def test_a_group_that_the_device_leaves_to_the_dynamic_model_is_so_named() -> None:
    found = imported(changed(("BUFFER_PG", "Ethernet0|3", "profile", "NULL")))
    assert kind_of(found, "BUFFER_PG", "Ethernet0|3", "profile") == "dynamic buffers"


def test_a_map_that_a_port_does_not_bind_is_declared_for_all() -> None:
    found = imported(changed(("PORT_QOS_MAP", "Ethernet0", "tc_to_pg_map", ABSENT)))
    assert kind_of(found, "PORT_QOS_MAP", "Ethernet0", "tc_to_pg_map") == "unlike most"


def test_a_map_or_a_curve_that_only_some_ports_have_is_unlike_most() -> None:
    dscps = [("DSCP_TO_TC_MAP", "B", str(dscp), "3" if dscp == 10 else "0") for dscp in range(64)]
    found = imported(changed(*dscps, ("PORT_QOS_MAP", "Ethernet0", "dscp_to_tc_map", "B")))
    assert kind_of(found, "DSCP_TO_TC_MAP", "B", "10") == "unlike most"
    curve = [
        ("WRED_PROFILE", "B", field, value)
        for field, value in base()["WRED_PROFILE"]["AZURE_LOSSLESS"].items()
    ]
    found = imported(
        changed(
            *curve,
            ("WRED_PROFILE", "B", "green_min_threshold", "9"),
            ("QUEUE", "Ethernet0|3", "wred_profile", "B"),
        )
    )
    assert kind_of(found, "WRED_PROFILE", "B", "red_min_threshold") == "unlike most"
    assert kind_of(found, "QUEUE", "Ethernet0|3", "wred_profile") == "unlike most"


def test_lossless_groups_that_the_device_makes_itself_count_as_there() -> None:
    found = imported(changed(("BUFFER_PG", "Ethernet0|3", "", ABSENT)))
    assert found.differences == ()


def test_lossy_queues_of_another_profile_than_the_template_s_are_listed() -> None:
    """Their threshold and reserved size differ: 7 and 9,216 B on the device, 3 and 0 in the template."""
    config = changed()
    del config["BUFFER_PROFILE"]["q_lossy_profile"]
    for row in config["BUFFER_QUEUE"].values():
        row["profile"] = row["profile"].replace("q_lossy_profile", "egress_lossy_profile")
    listed = {(d.kind, d.cell.table, d.cell.key) for d in imported(config).differences}
    assert ("vendor profile", "BUFFER_PROFILE", "q_lossy_profile") in listed
    assert ("vendor profile", "BUFFER_QUEUE", "Ethernet0|0") in listed


def test_every_reason_has_an_example() -> None:
    of_other_systems, between_devices = {"auto", "trust"}, {"one end"}
    assert KIND_OF.keys() == KINDS.keys() - of_other_systems - between_devices


ALONE = {
    kind: KIND_OF[kind]
    for kind in KIND_OF
    if kind not in ("no PFC", "no such port", "dynamic buffers", "pool size")
}


@pytest.mark.parametrize("kind", ALONE)
def test_what_was_changed_is_all_that_is_listed(kind: str) -> None:
    changes, expected = ALONE[kind]
    found = {
        (d.cell.table, d.cell.key, d.cell.field)
        for d in imported(changed(*changes)).differences
        if d.kind != "pool size"
    }
    assert found == expected


def test_fields_rows_and_tables_are_counted_by_what_comes_back_of_them() -> None:
    cells = [
        Cell("PORT_QOS_MAP", "Ethernet0", "pfc_enable", "3", "3"),
        Cell("PORT_QOS_MAP", "Ethernet0", "tc_to_pg_map", "AZURE", "AZURE"),
        Cell("PORT_QOS_MAP", "Ethernet4", "pfc_enable", "3", "3"),
        Cell("SCHEDULER", "a", "type", "DWRR", "DWRR"),
        Cell("SCHEDULER", "a", "weight", "3", "4"),
        Cell("SCHEDULER", "b", "type", "STRICT", None),
        Cell("SCHEDULER", "c", "type", None, "STRICT"),
        Cell("QUEUE", "Ethernet0|1", "scheduler", "a", "a"),
        Cell("QUEUE", "Ethernet0|1", "wred_profile", None, "w"),
    ]
    assert figures(cells) == Figures(
        tables=3, tables_same=1, rows=5, rows_same=2, fields=7, fields_same=5, added=2
    )
    assert total([figures(cells), figures(cells[:3])]) == Figures(4, 2, 7, 4, 10, 8, 2)
    assert total([]) == Figures(0, 0, 0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("deployed", "rendered", "state"),
    [("a", "a", "same"), ("a", "b", "changed"), ("a", None, "gone"), (None, "b", "new")],
)
def test_a_field_is_the_same_changed_gone_or_new(
    deployed: str | None, rendered: str | None, state: str
) -> None:
    assert Cell("PORT_QOS_MAP", "Ethernet0", "pfc_enable", deployed, rendered).state == state


@pytest.mark.parametrize(
    ("table", "key", "port", "number"),
    [
        ("QUEUE", "Ethernet0|3", "Ethernet0", 3),
        ("BUFFER_PG", "Ethernet0|0", "Ethernet0", 0),
        ("PORT_QOS_MAP", "Ethernet0", "Ethernet0", None),
        ("PFC_WD", "GLOBAL", "GLOBAL", None),
        ("SCHEDULER", "scheduler.0", None, None),
        ("BUFFER_POOL", "ingress_lossless_pool", None, None),
    ],
)
def test_a_row_is_for_a_port_and_a_number_of_it_or_for_none(
    table: str, key: str, port: str | None, number: int | None
) -> None:
    cell = Cell(table, key, "x", "1", "1")
    assert (cell.port, cell.number) == (port, number)
