"""Headroom rules: physics before vendors, vendors before formulas, and every healthy shape left alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from lossless.ground.documents import load_text
from tests.checks.rules.checking import drawn, only, patched, unchecked
from tests.checks.rules.fabrics import listed

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.ground.documents.text import Document

CODES = ("BUF001", "BUF002", "BUF003", "BUF004", "BUF007")
CABLES = ("topology", "leaf_spine", "cables", "uplink")
NO_GROUP = {"Ethernet4|3": None}


def leaf(**tables: Any) -> Document:
    return patched("leaf.json", tables)


def headroom(xoff: int) -> Document:
    """Return the leaf with other headroom at 400G over 5 m, where the cable holds 2,526 B."""
    profile = {"xoff": str(xoff), "size": str(xoff + 19_456)}
    return leaf(BUFFER_PROFILE={"pg_lossless_400000_5m_profile": profile})


def cable(length: str | None, **tables: Any) -> Document:
    return leaf(CABLE_LENGTH={"AZURE": {"Ethernet4": length}}, **tables)


def spine_leaf(**shape: Any) -> Document:
    return patched("leaf-spine.yaml", {"topology": {"leaf_spine": shape}})


def sn4700(uplink: str) -> Document:
    """Return a fabric of Mellanox-SN4700-O32, whose rows for 1500 m and 2000 m lie below the cable."""
    switch = {"profile": "nvidia-sn4700", "hwsku": "Mellanox-SN4700-O32"}
    shape = {"uplinks": "4 x 400G", "cables": {"uplink": uplink}}
    return patched(
        "leaf-spine.yaml",
        {"hardware": {"leaf": switch, "spine": switch}, "topology": {"leaf_spine": shape}},
    )


def codes(document: Document) -> set[str]:
    return {finding.code for code in CODES for finding in drawn(code, document)}


# --- BUF001 and BUF002: one figure, one finding ---


@pytest.mark.parametrize(
    ("xoff", "expected"),
    [
        (2_525, ("BUF001", "error")),
        (2_526, ("BUF001", "warning")),
        (11_625, ("BUF001", "warning")),
        (11_626, ("BUF002", "warning")),
        (231_423, ("BUF002", "warning")),
        (231_424, None),
    ],
)
def test_headroom_crosses_cable_then_frame_then_row(xoff: int, expected: tuple[str, str] | None) -> None:
    found = [f for code in ("BUF001", "BUF002") for f in drawn(code, headroom(xoff))]
    assert [(f.code, f.severity) for f in found] == ([expected] if expected else [])


def test_a_profile_too_small_for_its_cable_is_one_finding_for_all_its_ports() -> None:
    found = only("BUF001", headroom(2_000))
    assert found.origin.path == ("BUFFER_PROFILE", "pg_lossless_400000_5m_profile", "xoff")
    assert found.places == 2
    assert found.elements == ("leaf1:Ethernet0", "leaf1:Ethernet4")
    assert found.data == {
        "headroom_bytes": 2_000,
        "speed_bps": 400_000_000_000,
        "cable_m": 5,
        "mtu_bytes": 9100,
        "cable_bytes": 2_526,
        "cable_plus_mtu_bytes": 11_626,
        "need_bytes": 231_424,
        "need_method": "vendor row",
    }


def test_two_priorities_with_one_profile_count_a_port_once() -> None:
    small = {"pg_lossless_100000_5m_profile": {"xoff": "500"}}
    assert only("BUF001", patched("azure.json", {"BUFFER_PROFILE": small})).places == 2


def test_the_need_of_a_hwsku_is_named_after_its_row() -> None:
    found = only("BUF002", headroom(200_000))
    assert found.data == {
        "headroom_bytes": 200000,
        "speed_bps": 400000000000,
        "cable_m": 5,
        "mtu_bytes": 9100,
        "cable_bytes": 2526,
        "cable_plus_mtu_bytes": 11626,
        "need_bytes": 231424,
        "need_method": "vendor row",
    }


def test_beyond_the_longest_row_the_formula_speaks_where_it_reproduces_the_rows() -> None:
    group = {"Ethernet4|3": {"profile": "far"}}
    profile = {"pool": "ingress_lossless_pool", "size": "1019456", "xon": "19456", "xoff": "1000000"}
    far = {"far": {**profile, "dynamic_th": "0"}}
    found = only("BUF002", cable("1000m", BUFFER_PG=group, BUFFER_PROFILE=far))
    assert found.data["need_method"] == "mellanox formula"
    assert found.data["need_method"] == "mellanox formula"
    assert (found.data["cable_bytes"], found.data["need_bytes"]) == (505_051, 1_738_752)


def test_an_unknown_hwsku_leaves_the_floor_which_is_only_worth_knowing() -> None:
    unknown = {"localhost": {"hwsku": "Own-Build-64", "platform": "x86_64-own"}}
    document = leaf(
        DEVICE_METADATA=unknown,
        BUFFER_PROFILE={"pg_lossless_400000_5m_profile": {"xoff": "50000", "size": "69456"}},
    )
    found = only("BUF002", document)
    assert found.severity == "info"
    assert found.data == {
        "headroom_bytes": 50000,
        "speed_bps": 400000000000,
        "cable_m": 5,
        "mtu_bytes": 9100,
        "cable_bytes": 2526,
        "cable_plus_mtu_bytes": 11626,
        "need_bytes": 95713,
        "need_method": "floor",
    }


def test_a_shipped_row_below_the_cable_is_an_error_at_the_cable_of_the_intent() -> None:
    found = only("BUF001", sn4700("1500m"))
    assert found.origin.path == CABLES
    assert found.places == 32
    assert found.data == {
        "headroom_bytes": 427008,
        "speed_bps": 400000000000,
        "cable_m": 1500,
        "mtu_bytes": 9100,
        "cable_bytes": 757576,
        "cable_plus_mtu_bytes": 766676,
        "need_bytes": 427008,
        "need_method": "vendor row",
    }
    assert codes(sn4700("1500m")) == {"BUF001"}
    assert codes(sn4700("300m")) == set()


# --- BUF003: a row for speed and length ---


def test_a_length_without_a_row_leaves_the_port_without_a_lossless_group() -> None:
    found = only("BUF003", cable("7m", BUFFER_PG=NO_GROUP))
    assert (found.severity, found.places) == ("error", 1)
    assert found.data == {
        "speed_bps": 400000000000,
        "cable_m": 7,
        "hwsku": "ACS-SN5600",
        "row_cables_m": [5, 40, 300],
    }
    assert found.origin.path == ("CABLE_LENGTH", "AZURE", "Ethernet4")


OWN = {"own": {"pool": "ingress_lossless_pool", "size": "400000", "xon": "19456", "xoff": "380544"}}
OWN_GROUP = {"Ethernet4|3": {"profile": "own"}}


def test_a_length_without_a_row_is_harmless_while_the_group_is_written_by_hand() -> None:
    found = only("BUF003", cable("7m", BUFFER_PROFILE=OWN, BUFFER_PG=OWN_GROUP))
    assert found.severity == "info"
    assert found.data == {
        "speed_bps": 400000000000,
        "cable_m": 7,
        "hwsku": "ACS-SN5600",
        "row_cables_m": [5, 40, 300],
    }


def test_a_length_without_a_row_beside_what_another_length_left_over_is_a_warning() -> None:
    found = only("BUF003", cable("7m"))
    assert found.severity == "warning"
    assert found.data["row_cables_m"] == [5, 40, 300]


def test_a_profile_of_the_right_name_stands_in_for_the_row() -> None:
    own = {"pool": "ingress_lossless_pool", "size": "303104", "xon": "19456", "xoff": "283648"}
    named = {"pg_lossless_400000_7m_profile": {**own, "dynamic_th": "0"}}
    assert codes(cable("7m", BUFFER_PG=NO_GROUP, BUFFER_PROFILE=named)) == set()


def test_an_unknown_hwsku_is_not_checked() -> None:
    unknown = {"localhost": {"hwsku": "Own-Build-64", "platform": "x86_64-own"}}
    document = cable("7m", BUFFER_PG=NO_GROUP, DEVICE_METADATA=unknown)
    assert drawn("BUF003", document) == []
    assert [rule.times for rule in unchecked("BUF003", document)] == [1]
    assert unchecked("BUF001", document)[0].reason == "the headroom rows of HWSKU Own-Build-64 are unknown"


def test_a_port_that_is_down_needs_no_row() -> None:
    down = {"Ethernet4": {"admin_status": None}}
    assert drawn("BUF003", cable("7m", BUFFER_PG=NO_GROUP, PORT=down)) == []


def test_a_cable_longer_than_any_row_is_one_finding_for_both_tiers() -> None:
    found = only("BUF003", spine_leaf(cables={"uplink": "500m"}))
    assert found.origin.path == CABLES
    assert found.places == 16
    assert found.data == {
        "speed_bps": 800000000000,
        "cable_m": 500,
        "hwsku": "ACS-SN5600",
        "row_cables_m": [5, 40, 300],
    }
    # C224O8 and C256S1 have rows of 1,000 m, and no buffers for lossless groups.
    assert codes(spine_leaf(cables={"uplink": "500m"})) == {"BUF003"}


def test_of_links_listed_one_by_one_those_of_one_speed_and_length_are_one_finding() -> None:
    hosts = [f"leaf{n} gpu{n} 2 x 400G 300m" for n in (1, 2, 3)]
    links = [*hosts, *(f"leaf{n} spine1 2 x 400G 30m" for n in (1, 2, 3))]
    listed_links = listed(links, hardware={"switch": "arista-7060x6-64pe"})
    found = only("BUF003", load_text(json.dumps(listed_links), "fabric.yaml"))
    assert found.places == 6
    assert {element.partition(":")[0] for element in found.elements} == {"leaf1", "leaf2", "leaf3"}


def test_the_next_longer_row_covers_a_real_length() -> None:
    assert codes(spine_leaf(cables={"uplink": "300m"})) == set()
    assert codes(spine_leaf(cables={"uplink": "41m"})) == set()


# --- BUF004: a length at all ---


@pytest.mark.parametrize("length", ["0m", None])
def test_no_length_is_not_a_missing_row(length: str | None) -> None:
    assert codes(cable(length, BUFFER_PG=NO_GROUP)) == {"BUF004"}


def test_0m_on_a_wired_port_is_an_error() -> None:
    wired = {"Ethernet4": {"name": "spine1", "port": "Ethernet0"}}
    found = only("BUF004", cable("0m", BUFFER_PG=NO_GROUP, DEVICE_NEIGHBOR=wired))
    assert found.severity == "error"
    assert found.data == {"priorities": [3], "speed_bps": 400000000000}
    assert found.origin.path == ("CABLE_LENGTH", "AZURE", "Ethernet4")


def test_0m_is_a_warning_where_the_file_does_not_say_which_ports_are_wired() -> None:
    assert only("BUF004", cable("0m", BUFFER_PG=NO_GROUP)).severity == "warning"


def test_a_missing_length_points_at_the_table() -> None:
    found = only("BUF004", cable(None, BUFFER_PG=NO_GROUP))
    assert (found.origin.path, found.origin.mark) == (("CABLE_LENGTH",), "key")
    assert found.data == {"priorities": [3], "speed_bps": 400000000000}


@pytest.mark.parametrize(
    "tables",
    [
        {"DEVICE_NEIGHBOR": {"Ethernet0": {"name": "spine1", "port": "Ethernet0"}}},
        {"PORT": {"Ethernet4": {"admin_status": "down"}}},
        {"PORT": {"Ethernet4": {"admin_status": None}}},
        {"DEVICE_METADATA": {"localhost": {"buffer_model": "dynamic"}}},
        {"PORT_QOS_MAP": {"Ethernet4": {"pfc_enable": ""}}},
    ],
    ids=["no neighbor", "down", "status missing", "dynamic model", "no PFC"],
)
def test_0m_is_normal_on(tables: dict[str, Any]) -> None:
    assert drawn("BUF004", cable("0m", BUFFER_PG=NO_GROUP, **tables)) == []


def test_0m_beside_a_group_written_by_hand_is_only_worth_knowing() -> None:
    found = only("BUF004", cable("0m", BUFFER_PROFILE=OWN, BUFFER_PG=OWN_GROUP))
    assert found.severity == "info"
    assert found.data == {"priorities": [3], "speed_bps": 400000000000}


@pytest.mark.parametrize("length", ["0m", None])
def test_no_length_beside_what_a_length_left_over_is_a_warning(length: str | None) -> None:
    found = only("BUF004", cable(length))
    assert found.severity == "warning"
    assert found.data == {"priorities": [3], "speed_bps": 400_000_000_000}


def test_a_file_without_lengths_whose_groups_are_written_is_not_checked() -> None:
    document = leaf(CABLE_LENGTH=None)
    assert drawn("BUF004", document) == []
    assert [(rule.reason, rule.times) for rule in unchecked("BUF004", document)] == [
        ("the file has no cable lengths", 3)
    ]


@pytest.mark.parametrize("model", ["traditional", "dynamic"])
def test_a_whole_file_without_lengths_gets_no_lossless_group(model: str) -> None:
    metadata = {"localhost": {"buffer_model": model}}
    ports = [f"Ethernet{number}|3" for number in (0, 4, 8)]
    groups = dict.fromkeys(ports, {"profile": "NULL"} if model == "dynamic" else None)
    whole = {"CABLE_LENGTH": None, "BUFFER_PG": groups, "DEVICE_METADATA": metadata}
    found = only("BUF004", leaf(**whole))
    assert found.data == {"priorities": [3], "speed_bps": 400_000_000_000}
    assert (found.origin.path, found.places) == (("CABLE_LENGTH",), 3)
    for part in ({"PORT": None}, {"BUFFER_POOL": None}):
        assert drawn("BUF004", leaf(**whole, **part)) == []


# --- BUF007: all headroom at once ---


def azure_pool(xoff: int) -> Document:
    """Return the azure leaf, whose six groups can claim 4 x 54,080 + 2 x 101,088 = 418,496 B."""
    return patched("azure.json", {"BUFFER_POOL": {"ingress_lossless_pool": {"xoff": str(xoff)}}})


def test_oversubscribed_headroom_is_worth_knowing_on_a_deployed_switch() -> None:
    found = only("BUF007", azure_pool(300_000))
    assert found.severity == "info"
    assert found.origin.path == ("BUFFER_POOL", "ingress_lossless_pool", "xoff")
    assert found.data == {
        "headroom_sum_bytes": 418496,
        "claimed_bytes": 418496,
        "shared_headroom_bytes": 300000,
        "chip_bytes": 42349632,
        "groups": 6,
        "ratio": 1.395,
    }
    assert found.data["ratio"] == 1.395


def test_headroom_that_just_fits_is_silent() -> None:
    assert drawn("BUF007", azure_pool(418_496)) == []


@pytest.mark.parametrize(("short_bytes", "codes_found"), [(0, []), (30_720, []), (31_200, ["BUF007"])])
def test_unknown_hardware_may_hold_the_private_headroom_of_each_port_beside_the_pool(
    short_bytes: int, codes_found: list[str]
) -> None:
    """Each of the three ports of an NVIDIA chip holds 10,240 B by itself: a rendered qos.json names no hardware."""
    pools = {"ingress_lossless_pool": {"xoff": str(418_496 - short_bytes)}}
    metadata = {"localhost": {"hwsku": "Own-Build-64", "platform": "x86_64-own"}}
    document = patched("azure.json", {"BUFFER_POOL": pools, "DEVICE_METADATA": metadata})
    assert [finding.code for finding in drawn("BUF007", document)] == codes_found


def test_a_declared_ratio_is_what_the_pool_is_built_for() -> None:
    switch = {"profile": "arista-7260cx3", "hwsku": "Arista-7260CX3-C64"}
    patch = {
        "hardware": {"leaf": switch, "spine": switch},
        "topology": {"leaf_spine": {"host_links": "2 x 100G", "uplinks": "4 x 100G"}},
        "buffers": {"headroom_oversubscription": 2},
    }
    assert drawn("BUF007", patched("leaf-spine.yaml", patch)) == []


@pytest.mark.parametrize(("uplink", "longest"), [("300m", "uplink"), ("5m", "host")])
def test_headroom_of_an_intent_is_reported_at_the_cable_that_needs_most(uplink: str, longest: str) -> None:
    shape = {
        "hosts_per_leaf": 64,
        "host_links": "1 x 400G",
        "uplinks": "32 x 800G",
        "cables": {"host": "300m", "uplink": uplink},
    }
    second = {"second": {"dscp": 31, "priority": 4, "lossless": True}}
    switch = {"profile": "dell-z9864f", "hwsku": "Dell-Z9864f-O64"}
    hardware = {"leaf": switch, "spine": switch}
    document = patched(
        "leaf-spine.yaml", {"hardware": hardware, "classes": second, "topology": {"leaf_spine": shape}}
    )
    leaves = next(f for f in drawn("BUF007", document) if "leaf1" in f.elements[0])
    assert leaves.origin.path == ("topology", "leaf_spine", "cables", longest)


def test_headroom_that_takes_the_whole_chip_is_an_error_and_no_other_buffer_finding() -> None:
    extra = {f"r{p}": {"dscp": 30 + p, "priority": p, "lossless": True} for p in (1, 2, 4, 5)}
    cables = {"host": "300m", "uplink": "300m"}
    shape = {"hosts_per_leaf": 64, "host_links": "1 x 400G", "uplinks": "32 x 400G", "cables": cables}
    document = patched("leaf-spine.yaml", {"classes": extra, "topology": {"leaf_spine": shape}})
    leaves = next(f for f in drawn("BUF007", document) if f.data["groups"] == 640)
    assert leaves.places == 2 * (64 + 64)
    assert leaves.severity == "error"
    assert leaves.data == {
        "headroom_sum_bytes": 433848320,
        "claimed_bytes": 0,
        "shared_headroom_bytes": None,
        "chip_bytes": 158229504,
        "groups": 640,
        "ratio": None,
    }
    assert codes(document) == {"BUF007"}
    # An empty pool is one cause: where XOFF sits in it is not a second one.
    assert drawn("ECN004", document) == drawn("ECN005", document) == []


# --- shapes that live in the field ---


def test_the_dynamic_model_is_not_checked() -> None:
    dynamic = {"localhost": {"buffer_model": "dynamic"}}
    groups = {f"Ethernet{n}|3": {"profile": "NULL"} for n in (0, 4, 8)}
    document = leaf(DEVICE_METADATA=dynamic, BUFFER_PG=groups)
    assert codes(document) == set()
    assert [(rule.reason, rule.times) for rule in unchecked("BUF001", document)] == [
        ("in the dynamic buffer model the switch computes headroom itself", 3)
    ]


def test_zero_profiles_of_unused_ports_are_left_alone() -> None:
    zero = {"ingress_lossy_pg_zero_profile": {"pool": "ingress_lossy_pool", "size": "0", "dynamic_th": "-8"}}
    document = leaf(
        BUFFER_PROFILE=zero,
        BUFFER_PG={"Ethernet4|3": None, "Ethernet4|0": {"profile": "ingress_lossy_pg_zero_profile"}},
        PORT={"Ethernet4": {"admin_status": "down"}},
    )
    assert codes(document) == set()


def test_groups_that_the_switch_writes_itself_are_checked_by_their_row() -> None:
    generated = leaf(
        BUFFER_PG={f"Ethernet{n}|3": None for n in (0, 4, 8)},
        BUFFER_PROFILE={"pg_lossless_400000_5m_profile": None, "pg_lossless_800000_40m_profile": None},
    )
    assert codes(generated) == set()
    assert unchecked("BUF001", generated) == unchecked("BUF002", generated) == []


EXPECTED_IN_CORPUS = {
    # Four uplinks with a neighbor and PFC on, all at 0m: on the device they get no lossless group.
    ("rend-Arista-7050-QX-32S-arista-7050-t0.json", "BUF004", "error", 4),
    # A mock of sonic-utilities: Ethernet4 has PFC on and no BUFFER_PG row, and the file no CABLE_LENGTH.
    ("utils-mock_tables_config_db.json", "BUF004", "error", 1),
    # The HWSKU of the one file (its rows count on a shared headroom pool) with the pools of another, which have none.
    ("rend-ACS-MSN2700-mellanox-2700-t0.json", "BUF001", "error", 4),
    # 1 MiB and 2 MiB against a pool of 3.3 MB, and against one of 12.8 MB of which groups reserve 3.6 MB: upstream's
    # tests see PFC at 4,898 cells of 208 B there, before even Kmin.
    ("rend-ACS-MSN2410-mellanox-2410-t1.json", "ECN004", "warning", 32),
    ("rend-ACS-MSN2410-mellanox-2410-t1.json", "ECN005", "warning", 32),
    ("mgmt-vlab-t2-sup_qos_new_dbfmt_config_db.json", "ECN004", "warning", 32),
    # Kmax 2 MiB and 10 MB, where a port that fills one of four parts pauses at 1.36 and 4.16 MB: sonic-mgmt's tests see
    # PFC at 19,994 cells of 208 B on Tomahawk 2.
    ("rend-Arista-7060CX-32S-D48C8-arista-7060-t0.json", "ECN005", "info", 28),
    ("rend-Force10-S6100-dell-6100-t0.json", "ECN005", "info", 44),
    ("rend-Arista-7260CX3-C64-arista-7260-t1.json", "ECN005", "info", 28),
    ("rend-Arista-7260CX3-C64-arista-7260-t1-remap-disabled.json", "ECN005", "info", 28),
    ("rend-Arista-7260CX3-D92C16-arista-7260-t0.json", "ECN005", "info", 22),
    ("rend-Arista-7260CX3-D108C8-arista-7260-dualtor.json", "ECN005", "info", 64),
    # 80 x 160,000 B against 2,058,240 B, and 88 groups against 4,194,112 B.
    ("rend-Arista-7050CX3-32S-D48C8-arista-7050cx3-dualtor.json", "BUF007", "info", 32),
    ("rend-Force10-S6100-dell-6100-t0.json", "BUF007", "info", 44),
    # 56 x 2 x 54,080 + 8 x 4 x 59,696 B, against 7,827,456 B.
    ("rend-Arista-7260CX3-D108C8-arista-7260-dualtor.json", "BUF007", "info", 64),
}


@pytest.mark.parametrize("folder", ["full", "partial"])
def test_the_corpus_draws_only_what_is_true(reference: Path, folder: str) -> None:
    from lossless.checks.lint.run import run
    from lossless.checks.rules import registry
    from lossless.formats.inputs.collect import split
    from lossless.formats.inputs.devices import DeviceReader
    from lossless.ground.documents import load
    from lossless.model.fabric.view import View

    rules = [registry.load(code) for code in (*CODES, "ECN004", "ECN005")]
    found = set()
    for path in sorted((reference / "corpus" / folder).glob("*.json")):
        for document in split([load(str(path))]):
            fabric = DeviceReader(()).read(document).fabric
            assert fabric is not None
            findings = run(View(fabric), rules, "config_db").findings
            found |= {(path.name, f.code, str(f.severity), f.places) for f in findings}
    assert found == (EXPECTED_IN_CORPUS if folder == "full" else set())
