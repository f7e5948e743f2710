"""More buffer rules: what vendors ship is left alone, and every limit is met from both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lossless.analysis.buffers.headroom.port import lossless_profile
from lossless.api import lint
from lossless.checks.rules.buffers.headroom import headroom_origin
from lossless.formats.inputs.devices import DeviceReader
from lossless.model.fabric.qos import BufferProfile
from lossless.model.fabric.view import View
from tests.checks.rules.checking import corpus_findings, drawn, only, patched, unchecked

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.ground.basics.findings import Finding
    from lossless.ground.documents.text import Document

CODES = (
    "BUF005",
    "BUF008",
    "BUF010",
    "BUF011",
    "BUF012",
    "BUF013",
    "BUF014",
    "BUF015",
    "BUF017",
    "BUF019",
    "BUF021",
)
SHORT = "pg_lossless_400000_5m_profile"
LONG = "pg_lossless_800000_40m_profile"
UNKNOWN = {"localhost": {"hwsku": "Own-Build-64", "platform": "x86_64-own"}}
DYNAMIC = {"localhost": {"buffer_model": "dynamic"}}
"""The leaf has 2 ports of 400G and one of 800G; its chip has 158,229,504 B, its pools 78,000,000 B each."""


def leaf(**tables: Any) -> Document:
    return patched("leaf.json", tables)


def profile(name: str, **fields: str | None) -> Document:
    return leaf(BUFFER_PROFILE={name: fields})


def codes(document: Document) -> set[str]:
    return {finding.code for code in CODES for finding in drawn(code, document)}


def probe(reference: Path, name: str) -> list[Finding]:
    return list(lint([reference / "corpus" / "probes" / f"{name}.json"]).findings)


# --- what decides a headroom ---


@pytest.mark.parametrize(
    ("tables", "path"),
    [
        ({}, ("BUFFER_PG", "Ethernet0|3", "profile")),
        ({"CABLE_LENGTH": {"AZURE": {"Ethernet0": None}}}, ("BUFFER_PROFILE", LONG, "xoff")),
        ({"PORT": {"Ethernet0": {"speed": None}}}, ("BUFFER_PROFILE", LONG, "xoff")),
    ],
)
def test_a_row_is_left_over_only_where_speed_and_length_are_known(
    tables: dict[str, Any], path: tuple[str, ...]
) -> None:
    document = leaf(BUFFER_PG={"Ethernet0|3": {"profile": LONG}}, **tables)
    fabric = DeviceReader(()).read(document).fabric
    assert fabric is not None
    sets = View(fabric).lossless_sets
    ports = next(ports for ports in sets if ports.ports[0].name == "Ethernet0")
    profile = lossless_profile(ports, 3)
    assert isinstance(profile, BufferProfile)
    assert headroom_origin(ports, profile).path == path


# --- BUF005: the length of an intent against the one of the device ---


LEAF_32 = {
    "PORT": {"Ethernet32": {"lanes": "32,33,34,35,36,37,38,39", "speed": "800000", "admin_status": "up"}},
    "PORT_QOS_MAP": {"Ethernet32": {"pfc_enable": "3"}},
}


def wired(length: str | None, cables: dict[str, str] | None = None, **tables: Any) -> list[Finding]:
    """Return what BUF005 says of a leaf whose 800G port has a cable of 30 m in the intent."""
    deployed = leaf(**{**LEAF_32, "CABLE_LENGTH": {"AZURE": {"Ethernet32": length}}, **tables})
    shape = {"cables": {"host": "3m", "uplink": "30m", **(cables or {})}}
    intent = patched("leaf-spine.yaml", {"topology": {"leaf_spine": shape}})
    return drawn("BUF005", deployed, intent)


@pytest.mark.parametrize(
    ("length", "uplink", "severity"),
    [
        ("40m", "30m", None),
        ("30m", "30m", None),
        # The row of 5 m, 257,024 B, is below the 362,496 B of the row that covers 30 m, and above the cable.
        ("5m", "30m", "warning"),
        # 300 m hold 303,031 B at 800G.
        ("5m", "300m", "error"),
        ("40m", "300m", "warning"),
        ("0m", "30m", None),
        (None, "30m", None),
    ],
)
def test_a_length_below_the_real_one_weighs_by_what_it_costs(
    length: str | None, uplink: str, severity: str | None
) -> None:
    assert [found.severity for found in wired(length, {"uplink": uplink})] == ([severity] if severity else [])


def test_an_understated_length_names_both_lengths_and_the_row_that_covers_the_cable() -> None:
    (found,) = wired("5m")
    assert found.data == {"configured_m": 5, "real_m": 30, "headroom_bytes": 257024, "need_bytes": 362496}
    assert found.origin.path == ("CABLE_LENGTH", "AZURE", "Ethernet32")
    assert found.elements == ("leaf1:Ethernet32",)
    assert [one.origin.path[-1] for one in found.related] == ["uplink"]


def test_headroom_that_holds_the_real_cable_is_only_worth_knowing() -> None:
    own = {"own": {"pool": "ingress_lossless_pool", "size": "500000", "xon": "38912", "xoff": "362496"}}
    groups = {"Ethernet32|3": {"profile": "own"}}
    (found,) = wired("5m", BUFFER_PROFILE=own, BUFFER_PG=groups)
    assert found.severity == "info"
    assert found.data == {"configured_m": 5, "real_m": 30, "headroom_bytes": 362496, "need_bytes": 362496}


def test_the_profile_of_another_length_does_not_hide_what_the_switch_will_make() -> None:
    groups = {"Ethernet32|3": {"profile": "pg_lossless_800000_40m_profile"}}
    (found,) = wired("5m", BUFFER_PG=groups)
    assert found.data["headroom_bytes"] == 257_024


def test_ports_of_another_name_speed_or_switch_are_not_compared() -> None:
    slower = {"Ethernet32": {**LEAF_32["PORT"]["Ethernet32"], "speed": "400000"}}
    assert wired("5m", PORT=slower) == []
    assert wired("5m", DEVICE_METADATA={"localhost": {"hostname": "leaf9"}}) == []
    assert drawn("BUF005", leaf(CABLE_LENGTH={"AZURE": {"Ethernet8": "5m"}})) == []


def test_another_hwsku_than_the_intents_is_not_checked() -> None:
    other = {"localhost": {"hwsku": "Mellanox-SN5600-C224O8"}}
    assert wired("5m", DEVICE_METADATA=other) == []
    documents = leaf(DEVICE_METADATA=other), patched("leaf-spine.yaml", {})
    assert [rule.times for rule in unchecked("BUF005", *documents)] == [1]


# --- BUF008: what is reserved ---


LOSSY_QUEUES = 18
"""Queues of the leaf with egress_lossy_profile: six on each of three ports."""
GROUPS_BYTES = 2 * 250_880 + 410_624


def test_reserved_and_pools_fill_the_chip_to_the_byte() -> None:
    room = 158_229_504 - 2 * 78_000_000 - GROUPS_BYTES
    each = room // LOSSY_QUEUES
    assert drawn("BUF008", profile("egress_lossy_profile", size=str(each))) == []
    found = only("BUF008", profile("egress_lossy_profile", size=str(each + 1)))
    over = LOSSY_QUEUES * (each + 1) - room
    assert found.severity == "warning"
    bytes_: Any = found.data
    assert bytes_["reserved_bytes"] + bytes_["pools_bytes"] - bytes_["chip_bytes"] == over
    assert found.origin.path == ("BUFFER_POOL", "ingress_lossy_pool", "size")


def test_reserving_the_whole_chip_is_an_error_at_the_profile_that_takes_most() -> None:
    found = only("BUF008", profile("egress_lossy_profile", size="8800000"))
    assert found.severity == "error"
    assert found.origin.path == ("BUFFER_PROFILE", "egress_lossy_profile", "size")
    assert found.data["chip_bytes"] == 158_229_504
    assert found.data["reserved_bytes"] == LOSSY_QUEUES * 8_800_000 + GROUPS_BYTES


def test_ports_that_are_down_reserve_nothing() -> None:
    down = {name: {"admin_status": "down"} for name in ("Ethernet0", "Ethernet4", "Ethernet8")}
    big = {"egress_lossy_profile": {"size": "8800000"}}
    assert drawn("BUF008", leaf(BUFFER_PROFILE=big, PORT=down)) == []


def test_pools_of_other_vendors_may_count_one_buffer_twice() -> None:
    pools = {"ingress_lossless_pool": {"size": "42349632"}, "egress_lossy_pool": {"size": "42349632"}}
    assert drawn("BUF008", patched("azure.json", {"BUFFER_POOL": pools})) == []


def test_headroom_that_fills_the_chip_is_only_said_once() -> None:
    huge = {SHORT: {"xoff": "90000000", "size": "90019456"}}
    document = leaf(BUFFER_PROFILE=huge)
    assert drawn("BUF007", document)[0].severity == "error"
    assert drawn("BUF008", document) == []


# --- BUF010: alpha on like ports ---


def tried(port: str, **fields: str) -> dict[str, Any]:
    """Return the tables by which one 400G group of three gets a profile of its own."""
    qos = {"pfc_enable": "3", "dscp_to_tc_map": "AZURE", "tc_to_pg_map": "AZURE"}
    row = {"pool": "ingress_lossless_pool", "size": "250880", "xon": "19456", "xoff": "231424"}
    return {
        "PORT": {"Ethernet12": {"lanes": "16,17,18,19", "speed": "400000", "admin_status": "up"}},
        "CABLE_LENGTH": {"AZURE": {"Ethernet12": "5m"}},
        "PORT_QOS_MAP": {"Ethernet12": qos},
        "BUFFER_PROFILE": {"tried": {**row, **fields}},
        "BUFFER_PG": {"Ethernet12|3": {"profile": SHORT}, f"{port}|3": {"profile": "tried"}},
    }


def test_one_alpha_of_three_is_the_odd_one() -> None:
    found = only("BUF010", leaf(**tried("Ethernet4", dynamic_th="-6")))
    assert found.data == {"priority": 3, "profile": "tried", "usual": "pg_lossless_400000_5m_profile"}
    assert found.origin.path == ("BUFFER_PG", "Ethernet4|3", "profile")
    assert (found.elements, found.severity) == (("leaf1:Ethernet4",), "warning")


def test_the_same_alpha_under_another_name_is_no_difference() -> None:
    assert drawn("BUF010", leaf(**tried("Ethernet4", dynamic_th="0"))) == []


@pytest.mark.parametrize(
    "tables",
    [
        {"CABLE_LENGTH": {"AZURE": {"Ethernet4": "40m", "Ethernet12": "5m"}}},
        {"PORT_QOS_MAP": {"Ethernet4": {"pfc_enable": "3,4"}}},
        {"PORT": {"Ethernet4": {"admin_status": "down"}}},
        {"DEVICE_NEIGHBOR": {"Ethernet4": {"name": "spine1", "port": "Ethernet0"}}},
    ],
    ids=["length", "priorities", "down", "neighbor"],
)
def test_what_tells_ports_apart_explains_an_alpha(tables: dict[str, Any]) -> None:
    assert drawn("BUF010", leaf(**{**tried("Ethernet4", dynamic_th="-6"), **tables})) == []


def test_kinds_of_neighbors_explain_an_alpha() -> None:
    names = {"Ethernet0": "host1", "Ethernet4": "spine1", "Ethernet12": "host2"}
    neighbors = {port: {"name": name, "port": "eth0"} for port, name in names.items()}
    kinds = {name: {"type": "LeafRouter" if name == "spine1" else "Server"} for name in names.values()}
    tables = {**tried("Ethernet4", dynamic_th="-6"), "DEVICE_NEIGHBOR": neighbors}
    assert drawn("BUF010", leaf(**tables, DEVICE_NEIGHBOR_METADATA=kinds)) == []
    identical = {name: {"type": "Server"} for name in names.values()}
    assert len(drawn("BUF010", leaf(**tables, DEVICE_NEIGHBOR_METADATA=identical))) == 1


def test_half_of_the_ports_are_no_majority() -> None:
    groups = {"Ethernet4|3": {"profile": "tried"}}
    row = {"pool": "ingress_lossless_pool", "size": "250880", "xon": "19456", "xoff": "231424"}
    assert (
        drawn("BUF010", leaf(BUFFER_PG=groups, BUFFER_PROFILE={"tried": {**row, "dynamic_th": "-6"}})) == []
    )


# --- BUF011: hysteresis ---


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"xon": "0"}, True),
        ({"xon": None}, True),
        ({"xon": "0", "xon_offset": "0"}, True),
        ({"xon": "0", "xon_offset": "2496"}, False),
        # alpha 1 of 78,000,000 B: a group that is alone pauses at 39,000,000 B.
        ({"xon": "38999999"}, False),
        ({"xon": "39000000"}, True),
    ],
    ids=str,
)
def test_a_pause_ends_below_where_it_begins(fields: dict[str, str | None], expected: bool) -> None:
    assert bool(drawn("BUF011", profile(SHORT, **fields))) is expected


def test_a_profile_without_xon_points_at_its_row_and_names_the_vendors() -> None:
    found = only("BUF011", profile(SHORT, xon=None))
    assert (found.origin.path, found.origin.mark) == (("BUFFER_PROFILE", SHORT), "key")
    assert (found.places, found.severity) == (2, "warning")


def test_profiles_of_no_port_with_pfc_are_left_alone() -> None:
    unused = {"spare": {"pool": "ingress_lossless_pool", "size": "0", "xoff": "1000", "dynamic_th": "0"}}
    assert drawn("BUF011", leaf(BUFFER_PROFILE=unused)) == []


def test_xon_against_a_pool_without_a_size_is_not_checked() -> None:
    document = leaf(BUFFER_POOL={"ingress_lossless_pool": {"size": None}})
    assert drawn("BUF011", document) == []
    assert [rule.reason for rule in unchecked("BUF011", document)] == [
        "the size of ingress_lossless_pool is unknown"
    ]


# --- BUF012: headroom on paper ---


@pytest.mark.parametrize(("size", "expected"), [(250_880, 0), (249_856, 0), (249_855, 1), (231_424, 1)])
def test_size_holds_xon_and_xoff_but_for_a_kibibyte(size: int, expected: int) -> None:
    assert len(drawn("BUF012", profile(SHORT, size=str(size)))) == expected


def test_headroom_that_its_link_lacks_is_said_by_the_rule_that_knows_the_link() -> None:
    document = profile(SHORT, size="200000")
    assert [found.origin.path[-1] for found in drawn("BUF002", document)] == ["size"]
    assert drawn("BUF012", document) == []


def test_a_shared_headroom_pool_lends_the_rest() -> None:
    shared = {"ingress_lossless_pool": {"xoff": "1000000"}}
    rows = {SHORT: {"size": "19456"}}
    assert drawn("BUF012", leaf(BUFFER_POOL=shared, BUFFER_PROFILE=rows)) == []


def test_other_chips_keep_no_such_relation() -> None:
    pool = {"ingress_lossless_pool": {"xoff": None}}
    assert drawn("BUF012", patched("azure.json", {"BUFFER_POOL": pool})) == []


def test_the_dynamic_model_lends_it_from_a_pool_that_nobody_sized() -> None:
    parameter = {"AZURE": {"default_dynamic_th": "0"}}
    tables: dict[str, Any] = {"DEVICE_METADATA": DYNAMIC, "BUFFER_PROFILE": {SHORT: {"size": "240000"}}}
    found = only("BUF012", leaf(**tables, DEFAULT_LOSSLESS_BUFFER_PARAMETER=parameter))
    assert found.data == {
        "size_bytes": 240000,
        "xon_bytes": 19456,
        "xoff_bytes": 231424,
        "short_bytes": 10880,
    }
    ratio = {"AZURE": {"default_dynamic_th": "0", "over_subscribe_ratio": "2"}}
    assert drawn("BUF012", leaf(**tables, DEFAULT_LOSSLESS_BUFFER_PARAMETER=ratio)) == []


# --- BUF013: egress against ingress ---


HELD_BYTES = 39_000_000 + 362_496
"""One group with alpha 1 of 78,000,000 B and the headroom of 800G over 40 m."""


@pytest.mark.parametrize(
    ("static_th", "severity"),
    [
        (HELD_BYTES - 1, "error"),
        # Two groups hold 2 x (26,000,000 + 362,496) B, and half of the pool is 79,114,752 B.
        (HELD_BYTES, "warning"),
        (2 * 26_362_496 - 1, "warning"),
        (2 * 26_362_496, None),
    ],
)
def test_a_queue_holds_what_one_group_and_two_hold_for_it(static_th: int, severity: str | None) -> None:
    static = {"egress_lossless_profile": {"dynamic_th": None, "static_th": str(static_th)}}
    pool = {"egress_lossless_pool": {"mode": "static"}}
    found = drawn("BUF013", leaf(BUFFER_PROFILE=static, BUFFER_POOL=pool))
    assert [one.severity for one in found] == ([severity] if severity else [])


def test_half_of_the_pool_is_what_a_chip_in_two_halves_can_give() -> None:
    static = {"egress_lossless_profile": {"dynamic_th": None, "static_th": "40000000"}}
    pool = {"egress_lossless_pool": {"mode": "static", "size": "80000000"}}
    assert drawn("BUF013", leaf(BUFFER_PROFILE=static, BUFFER_POOL=pool)) == []
    static = {"egress_lossless_profile": {"dynamic_th": None, "static_th": "39999999"}}
    assert len(drawn("BUF013", leaf(BUFFER_PROFILE=static, BUFFER_POOL=pool))) == 1


@pytest.mark.parametrize(("exponent", "expected"), [(7, 0), (0, 0), (-1, 0), (-2, 1), (-3, 1), (-8, 0)])
def test_dynamic_egress_limits_are_computed_not_condemned(exponent: int, expected: int) -> None:
    document = profile("egress_lossless_profile", dynamic_th=str(exponent))
    assert len(drawn("BUF013", document)) == expected


@pytest.mark.parametrize(("size_bytes", "short"), [(HELD_BYTES, False), (HELD_BYTES - 1, True)])
def test_a_queue_without_a_bound_holds_no_more_than_its_pool(size_bytes: int, short: bool) -> None:
    document = leaf(BUFFER_POOL={"egress_lossless_pool": {"size": str(size_bytes)}})
    found = drawn("BUF013", document)
    assert [one.origin.path for one in found] == (
        [("BUFFER_POOL", "egress_lossless_pool", "size")] if short else []
    )
    assert [one.data["limit_bytes"] for one in found] == ([size_bytes] if short else [])


def test_a_queue_that_drops_before_any_pause_is_an_error_on_all_its_ports() -> None:
    found = only("BUF013", profile("egress_lossless_profile", dynamic_th="-3"))
    assert found.data == {
        "limit_bytes": 17581056,
        "held_bytes": 39362496,
        "senders": 1,
        "priority": 3,
        "ingress_profile": "pg_lossless_800000_40m_profile",
    }
    assert (found.severity, found.places) == ("error", 3)
    assert found.origin.path == ("BUFFER_PROFILE", "egress_lossless_profile", "dynamic_th")


def test_queues_of_lossy_profiles_and_of_chassis_are_not_bounded_by_this_rule() -> None:
    low = {"egress_lossless_profile": {"dynamic_th": "-3"}, "egress_lossy_profile": {"dynamic_th": "-3"}}
    voq = {"localhost": {"switch_type": "voq"}}
    assert drawn("BUF013", leaf(BUFFER_PROFILE=low, DEVICE_METADATA=voq)) == []
    queues = {f"Ethernet{n}|3": {"profile": "egress_lossy_profile"} for n in (0, 4, 8)}
    assert drawn("BUF013", leaf(BUFFER_PROFILE=low, BUFFER_QUEUE=queues)) == []


def test_unknown_ingress_is_not_checked_where_egress_is_bounded() -> None:
    rows = {
        SHORT: None,
        "pg_lossless_800000_40m_profile": None,
        "egress_lossless_profile": {"dynamic_th": "-3"},
    }
    groups = {f"Ethernet{n}|3": None for n in (0, 4, 8)}
    document = leaf(DEVICE_METADATA=UNKNOWN, BUFFER_PROFILE=rows, BUFFER_PG=groups)
    assert drawn("BUF013", document) == []
    assert [rule.times for rule in unchecked("BUF013", document)] == [3]


# --- BUF014: lossy pools ---


@pytest.mark.parametrize(("size", "expected"), [(78_000_000, 0), (78_000_001, 1)])
def test_lossy_egress_is_no_larger_than_lossy_ingress(size: int, expected: int) -> None:
    document = leaf(BUFFER_POOL={"egress_lossy_pool": {"size": str(size)}})
    assert len(drawn("BUF014", document)) == expected


@pytest.mark.parametrize(("size", "expected"), [(33_329_088 + 7_827_456, 0), (33_329_088 + 7_827_457, 1)])
def test_a_pool_that_lossy_and_lossless_share_counts_with_its_headroom(size: int, expected: int) -> None:
    document = patched("azure.json", {"BUFFER_POOL": {"egress_lossy_pool": {"size": str(size)}}})
    assert len(drawn("BUF014", document)) == expected


def test_lossless_egress_may_span_the_whole_chip() -> None:
    assert drawn("BUF014", leaf(BUFFER_POOL={"egress_lossless_pool": {"size": "999999999"}})) == []


def test_pools_that_the_switch_sizes_itself_are_left_alone() -> None:
    pools = {"ingress_lossy_pool": {"size": None}, "egress_lossy_pool": {"size": "158229504"}}
    assert drawn("BUF014", leaf(DEVICE_METADATA=DYNAMIC, BUFFER_POOL=pools)) == []


# --- BUF015: headroom that nobody pauses for ---


def test_headroom_on_a_group_that_no_dscp_fills_is_only_worth_knowing() -> None:
    found = only("BUF015", leaf(BUFFER_PG={"Ethernet0|5": {"profile": SHORT}}))
    assert found.severity == "info"
    assert found.data == {"group": 5, "profile": "pg_lossless_400000_5m_profile", "traffic_classes": []}


def test_lossy_traffic_in_a_lossless_profile_is_a_warning_for_all_its_ports_at_once() -> None:
    groups = {f"Ethernet{n}|0": {"profile": SHORT} for n in (0, 4)}
    found = only("BUF015", leaf(BUFFER_PG=groups))
    assert (found.severity, found.places) == ("warning", 2)
    assert found.origin.path == ("BUFFER_PG", "Ethernet0|0", "profile")


LOSSY = "ingress_lossy_profile"
NOWHERE = {"PORT_QOS_MAP": {port: {"pfc_enable": ""} for port in ("Ethernet0", "Ethernet4", "Ethernet8")}}
WHERE_NOBODY_PAUSES: dict[str, tuple[dict[str, Any], tuple[str, ...], str, tuple[str, ...]]] = {
    "a spare group": (
        {"BUFFER_PG": {"Ethernet0|5": {"profile": SHORT}}},
        ("Ethernet0|5",),
        f"give PG 5 the lossy profile {LOSSY}",
        ("no DSCP uses it", "on for priority 5 on no port"),
    ),
    "the same of two ports": (
        {"BUFFER_PG": {"Ethernet0|5": {"profile": SHORT}, "Ethernet4|5": {"profile": SHORT}}},
        ("Ethernet0|5", "Ethernet4|5"),
        f"give PG 5 the lossy profile {LOSSY}",
        ("no DSCP uses it",),
    ),
    "a port without a lossy group": (
        {"BUFFER_PG": {"Ethernet0|0": None, "Ethernet0|5": {"profile": SHORT}}},
        (),
        "give PG 5 a lossy profile",
        ("no DSCP uses it",),
    ),
    "a row of several ports": (
        {"BUFFER_PG": {"Ethernet0,Ethernet4|5": {"profile": SHORT}}},
        (),
        f"give PG 5 the lossy profile {LOSSY}",
        ("no DSCP uses it",),
    ),
    "a group that traffic fills": (
        {"BUFFER_PG": {"Ethernet0|0": {"profile": SHORT}}},
        (),
        "pause priority 0, with its maps and watchdog, or give PG 0 a lossy profile",
        ("TC 0 and 6 fill it", "on for priority 0 on no port"),
    ),
    "a group that one class fills, and a lossy one besides": (
        {
            "BUFFER_PG": {"Ethernet0|6": {"profile": SHORT}},
            "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {"6": "6"}},
        },
        (),
        "pause priority 6, with its maps and watchdog, or give PG 6 a lossy profile",
        ("TC 6 fills it",),
    ),
    "PFC off everywhere": (
        NOWHERE,
        (),
        "pause priority 3, with its maps and watchdog, or give PG 3 a lossy profile",
        ("TC 3 fills it", "off on every port"),
    ),
    "PFC off everywhere, and no DSCP": (
        {**NOWHERE, "DSCP_TO_TC_MAP": {"AZURE": {"26": "0"}}},
        (),
        "pause priority 3, with its maps and watchdog, or give PG 3 a lossy profile",
        ("no DSCP uses it", "off on every port"),
    ),
}


@pytest.mark.parametrize("name", WHERE_NOBODY_PAUSES)
def test_a_group_that_nobody_pauses_for_gets_a_lossy_profile_or_a_pause(name: str) -> None:
    tables, edited, help_, words = WHERE_NOBODY_PAUSES[name]
    found = only("BUF015", leaf(**tables))
    assert found.help == help_
    assert [part for part in words if part not in found.message] == []
    assert [(edit.origin.path, edit.value) for edit in found.fix] == [
        (("BUFFER_PG", key, "profile"), LOSSY) for key in edited
    ]


def test_a_port_without_a_row_of_its_own_is_left_to_others() -> None:
    spare = {"Ethernet0|5": {"profile": SHORT}}
    assert drawn("BUF015", leaf(PORT_QOS_MAP={"Ethernet0": None}, BUFFER_PG=spare)) == []
    assert (
        only("BUF015", leaf(PORT_QOS_MAP={"Ethernet0": {"pfc_enable": ""}}, BUFFER_PG=spare)).data["group"]
        == 5
    )


def test_pfc_off_on_the_whole_switch_is_one_finding_at_the_mask() -> None:
    off = {f"Ethernet{n}": {"pfc_enable": ""} for n in (0, 4, 8)}
    found = only("BUF015", leaf(PORT_QOS_MAP=off))
    assert found.origin.path == ("PORT_QOS_MAP", "Ethernet0", "pfc_enable")
    assert (found.data["group"], found.places) == (3, 3)


def test_maps_that_no_row_binds_are_not_the_end_of_a_lossless_class() -> None:
    found = drawn("BUF015", leaf(PORT_QOS_MAP=None))
    assert {(one.severity, one.origin.path) for one in found} == {("warning", ("PORT_QOS_MAP",))}
    assert drawn("BUF015", leaf(PORT_QOS_MAP=None, DSCP_TO_TC_MAP=None)) == []


def test_pfc_off_on_one_port_is_the_masks_rule() -> None:
    document = leaf(PORT_QOS_MAP={"Ethernet4": {"pfc_enable": ""}})
    assert len(drawn("PFC001", document)) == 1
    assert drawn("BUF015", document) == []


def test_a_map_of_priorities_to_groups_says_which_group_pauses() -> None:
    tables = {
        "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {"AZURE": {"3": "4"}},
        "BUFFER_PG": {f"Ethernet{n}|4": {"profile": SHORT} for n in (0, 4, 8)},
    }
    assert drawn("BUF015", leaf(**tables)) == []


@pytest.mark.parametrize(
    "tables",
    [
        {"PORT": {"Ethernet4": {"admin_status": "down"}}},
        {"PORT": {"Ethernet4": {"admin_status": None}}},
        {"DEVICE_NEIGHBOR": {"Ethernet0": {"name": "spine1", "port": "Ethernet0"}}},
        {"PORT_QOS_MAP": {"Ethernet4": None}},
    ],
    ids=["down", "status missing", "no neighbor", "no row"],
)
def test_ports_out_of_service_may_have_any_profile(tables: dict[str, Any]) -> None:
    assert drawn("BUF015", leaf(BUFFER_PG={"Ethernet4|0": {"profile": SHORT}}, **tables)) == []


# --- BUF017: the pattern of the dynamic model ---


def pattern(**fields: str) -> Document:
    return leaf(
        DEVICE_METADATA=DYNAMIC,
        DEFAULT_LOSSLESS_BUFFER_PARAMETER={"AZURE": {"default_dynamic_th": "0"}},
        LOSSLESS_TRAFFIC_PATTERN={"AZURE": fields},
        BUFFER_PG={f"Ethernet{n}|3": {"profile": "NULL"} for n in (0, 8)},
    )


def test_few_small_packets_are_worth_knowing_with_what_they_save() -> None:
    found = only("BUF017", pattern(mtu="1024", small_packet_percentage="50"))
    assert found.severity == "info"
    # The row that NVIDIA ships for 800G over 40 m counts on nothing but small packets.
    assert found.data["all_small_bytes"] == 362_496
    assert found.data["headroom_bytes"] == 150_528
    assert found.elements == ("leaf1:Ethernet0", "leaf1:Ethernet8")


@pytest.mark.parametrize(
    "fields",
    [
        {"mtu": "1024", "small_packet_percentage": "100"},
        {"mtu": "1024"},
        {"mtu": "0", "small_packet_percentage": "50"},
        {"mtu": "1024", "small_packet_percentage": "-1"},
        {"mtu": "x", "small_packet_percentage": "y"},
    ],
    ids=str,
)
def test_a_pattern_that_saves_nothing_or_means_nothing_is_left_alone(fields: dict[str, str]) -> None:
    assert drawn("BUF017", pattern(**fields)) == []


def test_the_traditional_model_does_not_read_the_pattern() -> None:
    rows = {"AZURE": {"mtu": "1024", "small_packet_percentage": "50"}}
    assert drawn("BUF017", leaf(LOSSLESS_TRAFFIC_PATTERN=rows)) == []


# --- BUF019: headroom of ports that are down ---


def down(*ports: str, **tables: Any) -> Document:
    return patched("azure.json", {"PORT": {port: {"admin_status": "down"} for port in ports}, **tables})


def test_headroom_on_ports_that_are_down_is_one_finding_a_device() -> None:
    found = only("BUF019", down("Ethernet4", "Ethernet8"))
    assert found.severity == "info"
    # Two groups on each, 1,248 B of their own beside the shared headroom pool.
    assert found.data == {"reserved_bytes": 4992, "groups": 4}
    assert (found.places, found.elements) == (2, ("leaf1:Ethernet4", "leaf1:Ethernet8"))


def test_without_a_shared_pool_headroom_is_reserved_too() -> None:
    alone = {"ingress_lossless_pool": {"xoff": None}}
    assert only("BUF019", down("Ethernet4", BUFFER_POOL=alone)).data["reserved_bytes"] == 2 * 54_080


def test_what_reserves_nothing_is_left_alone() -> None:
    zero = {
        "pg_zero_profile": {"pool": "ingress_lossless_pool", "size": "0", "xoff": "0", "dynamic_th": "-8"}
    }
    groups = {f"Ethernet4|{n}": {"profile": "pg_zero_profile"} for n in (3, 4)}
    assert drawn("BUF019", down("Ethernet4", BUFFER_PROFILE=zero, BUFFER_PG=groups)) == []
    assert drawn("BUF019", down("Ethernet4", BUFFER_PG={"Ethernet4|3": None, "Ethernet4|4": None})) == []
    assert drawn("BUF019", down("Ethernet4", DEVICE_METADATA=DYNAMIC)) == []


def test_nvidia_takes_its_own_rows_back_and_no_others() -> None:
    off = {"Ethernet4": {"admin_status": "down"}}
    assert drawn("BUF019", leaf(PORT=off)) == []
    moved = leaf(PORT=off, CABLE_LENGTH={"AZURE": {"Ethernet4": "40m"}})
    assert only("BUF019", moved).data["reserved_bytes"] == 250_880


# --- BUF021: admin_status ---


def test_a_port_among_others_that_are_up_lacks_its_status() -> None:
    found = only("BUF021", leaf(PORT={"Ethernet4": {"admin_status": None}}))
    assert (found.origin.path, found.origin.mark) == (("PORT", "Ethernet4"), "key")
    assert (found.severity, found.elements) == ("warning", ("leaf1:Ethernet4",))


def test_several_ports_of_a_split_cage_are_one_finding() -> None:
    missing = {f"Ethernet{n}": {"admin_status": None} for n in (0, 4)}
    neighbors = {f"Ethernet{n}": {"name": "host1", "port": "eth0"} for n in (0, 4)}
    assert only("BUF021", leaf(PORT=missing, DEVICE_NEIGHBOR=neighbors)).places == 2


def test_files_that_leave_the_status_out_are_left_alone() -> None:
    missing = {f"Ethernet{n}": {"admin_status": None} for n in (0, 4)}
    assert drawn("BUF021", leaf(PORT=missing)) == []
    neighbors = {"Ethernet8": {"name": "spine1", "port": "Ethernet0"}}
    one = {"Ethernet4": {"admin_status": None}}
    assert drawn("BUF021", leaf(PORT=one, DEVICE_NEIGHBOR=neighbors)) == []
    assert drawn("BUF021", leaf(PORT={"Ethernet4": {"admin_status": "down"}})) == []
    assert drawn("BUF021", leaf(PORT=one, DEVICE_METADATA=DYNAMIC)) == []
    assert drawn("BUF021", leaf(PORT=one, PORT_QOS_MAP={"Ethernet4": {"pfc_enable": ""}})) == []


# --- Real configurations ---


@pytest.mark.parametrize(
    ("name", "code", "severity"),
    [
        ("profile_xoff_no_xon", "BUF011", "warning"),
        ("profile_xon_gt_xoff", "BUF011", "warning"),
        ("profile_bigger_than_pool", "BUF008", "error"),
        ("pool_xoff_gt_size", "BUF007", "error"),
        ("cable_0m", "BUF004", "warning"),
        ("cable_missing_port", "BUF004", "warning"),
        ("cable_7m", "BUF003", "warning"),
        ("admin_status_missing", "BUF021", "warning"),
        ("pfc_enable_on_lossy_pg", "BUF024", "warning"),
        ("lossless_queue_lossy_profile", "PFC005", "error"),
        ("tc_to_pg_collapsed", "PFC005", "error"),
    ],
)
def test_probes_have_one_finding_of_weight(reference: Path, name: str, code: str, severity: str) -> None:
    weighty = [found for found in probe(reference, name) if found.severity != "info"]
    base = {found.message for found in probe(reference, "base")}
    assert [(found.code, found.severity) for found in weighty if found.message not in base] == [
        (code, severity)
    ]


def test_the_valid_base_of_the_probes_draws_none_of_these(reference: Path) -> None:
    assert {found.code for found in probe(reference, "base")}.isdisjoint(CODES)


def test_the_corpus_draws_only_what_is_true(reference: Path) -> None:
    """One port of a unit test's input has PFC, a server as its neighbor, and no admin_status.

    Three switches compute their headroom for packets of which half are small, SONiC's own pattern.
    """
    found = corpus_findings(reference, CODES, ())
    weighty = [(one.code, one.origin.path) for one in found if one.severity != "info"]
    assert weighty == [("BUF021", ("PORT", "Ethernet0"))]
    assert [one.code for one in found if one.severity == "info"] == ["BUF017"] * 3


def test_a_healthy_leaf_draws_none_of_these() -> None:
    assert codes(leaf()) == set()
    assert codes(patched("azure.json", {})) == set()
