"""What is configured beside what the methods say: known, absent, unknown, and by how much."""

from __future__ import annotations

import json
from copy import copy
from typing import Any

import pytest

from lossless.analysis.buffers.headroom.comparison import (
    ConfiguredHeadroom,
    HeadroomComparison,
    HeadroomInputs,
    Headrooms,
    NoHeadroom,
    SourcedTraffic,
    of_link,
    of_ports,
    port_case,
)
from lossless.analysis.buffers.headroom.methods import HeadroomCase, SourcedValue
from lossless.formats.sonic.read.tables import Tables
from lossless.formats.sonic.to_model.devices import read_fabric
from lossless.ground.basics.findings import MissingInput, Origin
from lossless.ground.basics.records import UNKNOWN
from lossless.model.fabric.model import Cable
from lossless.model.fabric.view import PortSet, View
from lossless.model.hardware.load import load_switch
from lossless.output.report.plain import plain
from tests.analysis.buffers.made import profile, with_group
from tests.checks.rules.snippets import BASES

SN5600 = load_switch("nvidia-sn5600")
ASSUMED = SourcedTraffic(
    SourcedValue(9100, "default"), SourcedValue(1024, "default"), SourcedValue(100, "default")
)
NOTHING = HeadroomInputs()
PATTERN = {"AZURE": {"mtu": "1024", "small_packet_percentage": "50"}}


def leaf(**tables: Any) -> PortSet:
    """Return the 400G ports of the leaf base; tables given take the place of its own, None removes one."""
    data = json.loads((BASES / "leaf.json").read_text())
    data = {name: rows for name, rows in (data | tables).items() if rows is not None}
    hwsku = SN5600.hwsku("ACS-SN5600")
    assert hwsku is not None
    fabric = read_fabric([Tables("leaf.json", data)], lambda *_: (SN5600, hwsku))
    return next(found for found in View(fabric).lossless_sets if found.speed_bps == 400_000_000_000)


def dynamic(**tables: Any) -> PortSet:
    """Return the same in the dynamic buffer model: the switch sizes groups and pools."""
    data = json.loads((BASES / "leaf.json").read_text())
    data["DEVICE_METADATA"]["localhost"]["buffer_model"] = "dynamic"
    groups = {key: {"profile": "NULL"} if "|3" in key else row for key, row in data["BUFFER_PG"].items()}
    given = {
        "DEVICE_METADATA": data["DEVICE_METADATA"],
        "BUFFER_PG": groups,
        "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "0"}},
        "LOSSLESS_TRAFFIC_PATTERN": PATTERN,
    }
    return leaf(**given | tables)


def only(ports: PortSet, stated: HeadroomInputs = NOTHING) -> HeadroomComparison:
    (found,) = of_ports(ports, stated, ASSUMED)
    return found


def margins(found: HeadroomComparison) -> dict[str, int | None]:
    return {answer.key: found.margin_bytes(answer) for answer in found.answers}


def over(ports: PortSet, real_m: int | None, configured_m: int | None) -> PortSet:
    return ports._replace(cable=Cable(UNKNOWN if real_m is None else real_m, configured_m, Origin("x")))


def test_a_written_profile_is_held_against_all_three_methods() -> None:
    found = only(over(leaf(), 3, 5))
    assert found.configured == ConfiguredHeadroom(
        "pg_lossless_400000_5m_profile", "file", 231_424, 231_424, 19_456, 250_880
    )
    # The row of 5 m serves 3 m; 2 m less of the formula are 3 KiB; the floor is that of the worst size of frame.
    assert margins(found) == {"row": 0, "formula": 3_072, "floor": 135_973}
    assert (found.cable_m, found.configured_cable_m, found.least_bytes) == (3, 5, 10_616)


def test_a_cable_longer_than_configured_shows_in_every_margin() -> None:
    found = only(over(leaf(), 40, 5))
    assert margins(found) == {"row": 231_424 - 283_648, "formula": 231_424 - 283_648, "floor": 116_887}


def test_in_the_dynamic_model_the_switch_computes_from_the_configured_length() -> None:
    found = only(over(dynamic(), 40, 5))
    assert isinstance(found.configured, ConfiguredHeadroom)
    assert (found.configured.by, found.configured.name) == ("switch", None)
    formula = found.answers[1]
    assert formula.need is not None
    assert found.case is not None
    assert found.case.small_packet_percent == SourcedValue(50, "LOSSLESS_TRAFFIC_PATTERN")
    # What is asked is asked for the real length, 35 m of cable more.
    assert margins(found)["formula"] == found.configured.headroom_bytes - formula.need.headroom_bytes < 0
    assert margins(only(over(dynamic(), 5, 5)))["formula"] == 0


def test_what_is_stated_changes_what_is_asked_and_never_what_is_configured() -> None:
    told, stated = only(dynamic()), only(dynamic(), HeadroomInputs(small_packet_percent=100))
    assert told.configured == stated.configured
    assert told.answers[1].need != stated.answers[1].need


def test_a_pattern_that_is_not_in_the_file_leaves_it_unknown() -> None:
    found = only(dynamic(LOSSLESS_TRAFFIC_PATTERN=None))
    assert found.configured == MissingInput(
        "in the dynamic buffer model the switch computes headroom itself, from a LOSSLESS_TRAFFIC_PATTERN that is "
        "not in the file"
    )
    assert set(margins(found).values()) == {None}


def test_a_release_before_202405_computes_as_it_did() -> None:
    version = {"DATABASE": {"VERSION": "version_202311_01"}}
    old, new = only(dynamic(VERSIONS=version)), only(dynamic())
    assert old.answers[1].need != new.answers[1].need
    assert "@18913fa, which releases before 202405 have" in old.answers[1].source
    assert margins(old)["formula"] == margins(new)["formula"] == 0


@pytest.mark.parametrize("missing", ["mtu", "small_packet_percentage"])
def test_half_a_pattern_is_none(missing: str) -> None:
    row = {name: value for name, value in PATTERN["AZURE"].items() if name != missing}
    found = only(dynamic(LOSSLESS_TRAFFIC_PATTERN={"AZURE": row}))
    assert isinstance(found.configured, MissingInput)
    assert found.configured.reason.endswith("from a LOSSLESS_TRAFFIC_PATTERN that is not in the file")


def test_a_pattern_of_packets_that_nobody_can_send_is_named() -> None:
    found = only(dynamic(LOSSLESS_TRAFFIC_PATTERN={"AZURE": {**PATTERN["AZURE"], "mtu": "10"}}))
    why = "an MTU of 10 bytes is below the smallest packet, 64 bytes"
    assert isinstance(found.configured, MissingInput)
    assert found.configured.reason.endswith(f"from what has no meaning: {why}")
    row, formula, floor = found.answers
    assert (formula.need, formula.unknown) == (None, why)
    assert row.need is not None
    assert floor.need is not None


def test_a_chip_without_a_formula_leaves_what_the_switch_computes_unknown() -> None:
    ports = dynamic()
    other = ports._replace(switch=ports.switch._replace(profile=load_switch("arista-7260cx3")))
    reason = "in the dynamic buffer model the switch computes headroom itself"
    assert only(other).configured == MissingInput(reason)


def test_a_lossy_group_has_no_headroom_and_says_which_profile_it_has() -> None:
    lossy = profile(name="ingress_lossy", headroom_bytes=None)
    found = only(with_group(leaf(), lossy))
    assert found.configured == NoHeadroom("ingress_lossy has no xoff: the group is lossy")


def test_what_nothing_backs_is_stated_and_not_given() -> None:
    hollow = profile(name="hollow", headroom_bytes=9000, reserved_bytes=5000, xon_bytes=1000)
    found = only(with_group(leaf(), hollow))
    assert found.configured == ConfiguredHeadroom("hollow", "file", 4000, 9000, 1000, 5000)


def test_priorities_of_one_profile_are_one_comparison_and_of_two_are_two() -> None:
    near, far = profile(headroom_bytes=1000), profile(headroom_bytes=2000)
    ports = leaf()
    both = ports._replace(qos=ports.qos._replace(pfc=ports.qos.pfc._replace(priorities=(3, 4))))
    one = list(of_ports(with_group(with_group(both, near), near, priority=4), NOTHING, ASSUMED))
    two = list(of_ports(with_group(with_group(both, near), far, priority=4), NOTHING, ASSUMED))
    assert [found.priorities for found in one] == [(3, 4)]
    assert [found.priorities for found in two] == [(3,), (4,)]


def test_a_link_that_is_in_no_file_is_on_no_port() -> None:
    hwsku = SN5600.hwsku("ACS-SN5600")
    assert hwsku is not None
    found = of_link(SN5600, hwsku, 400_000_000_000, 40, NOTHING, ASSUMED)
    assert (found.switch, found.switches, found.ports, found.elements) == ("", (), 0, ())
    assert margins(found) == {"row": None, "formula": None, "floor": None}
    (kind,) = kinds(found)
    assert (kind["switch"], kind["switches"], kind["ports"]) == (None, 0, 0)
    assert kind["configured"] is kind["configured_absent"] is kind["configured_unknown"] is None


# --- what the formula takes for given ---


def asked(ports: PortSet, stated: HeadroomInputs = NOTHING) -> HeadroomCase:
    case = port_case(ports, stated, ASSUMED)
    assert isinstance(case, HeadroomCase)
    return case


def with_ports(ports: PortSet, **fields: Any) -> PortSet:
    return ports._replace(ports=tuple(port._replace(**fields) for port in ports.ports))


def test_the_pattern_of_the_rows_holds_until_the_port_sends_larger_frames() -> None:
    rows = SourcedValue(9216, "as in the rows of ACS-SN5600")
    assert asked(with_ports(leaf(), mtu_bytes=9100)).port_mtu_bytes == rows
    assert asked(with_ports(leaf(), mtu_bytes=9216)).port_mtu_bytes == rows
    assert asked(with_ports(leaf(), mtu_bytes=9217)).port_mtu_bytes == SourcedValue(9217, "the port")
    stranger = leaf()
    unknown = stranger._replace(switch=stranger.switch._replace(hwsku=None))
    assert asked(with_ports(unknown, mtu_bytes=1500)).port_mtu_bytes == SourcedValue(1500, "the port")


def test_what_the_dynamic_model_is_told_counts_for_what_it_is_told() -> None:
    ports = dynamic(LOSSLESS_TRAFFIC_PATTERN={"AZURE": {"mtu": "2048"}})
    case = asked(ports)
    assert case.port_mtu_bytes == SourcedValue(9100, "the port")
    assert case.lossless_mtu_bytes == SourcedValue(2048, "LOSSLESS_TRAFFIC_PATTERN")
    assert case.small_packet_percent == SourcedValue(100, "as in the rows of ACS-SN5600")
    other = asked(dynamic(LOSSLESS_TRAFFIC_PATTERN={"AZURE": {"small_packet_percentage": "7"}}))
    assert other.lossless_mtu_bytes == SourcedValue(1024, "as in the rows of ACS-SN5600")
    assert other.small_packet_percent == SourcedValue(7, "LOSSLESS_TRAFFIC_PATTERN")


def test_lanes_are_those_of_the_widest_port_and_none_where_no_file_says() -> None:
    first, second = leaf().ports
    assert asked(leaf()).lanes == SourcedValue(4, "the port")
    uneven = leaf()._replace(ports=(first._replace(lanes=None), second._replace(lanes=8)))
    assert asked(uneven).lanes.value == 8
    assert asked(with_ports(leaf(), lanes=None)).lanes.value is None


def test_a_gearbox_is_that_of_the_platform() -> None:
    assert asked(leaf()).gearbox_ns == SourcedValue(0, "none that SONiC counts")
    ports, tofino = leaf(), load_switch("accton-as9516")
    own = ports._replace(switch=ports.switch._replace(profile=tofino))
    assert asked(own).gearbox_ns == SourcedValue(0, "none that SONiC counts")
    counted = copy(tofino)
    counted.asic = tofino.asic._replace(gearbox_delay_ns=365)
    with_gearbox = ports._replace(switch=ports.switch._replace(profile=counted))
    assert asked(with_gearbox).gearbox_ns == SourcedValue(365, "the platform")
    assert asked(with_gearbox, HeadroomInputs(gearbox_ns=0)).gearbox_ns == SourcedValue(0, "stated")


@pytest.mark.parametrize("configured_m", [0, 5])
def test_no_group_is_absent_and_not_unknown(configured_m: int) -> None:
    ports = over(leaf(), None, configured_m)
    groups = tuple(None for _ in ports.qos.groups)
    found = only(ports._replace(qos=ports.qos._replace(groups=groups)))
    assert isinstance(found.configured, NoHeadroom)
    assert ("0 m" in found.configured.reason) == (configured_m == 0)


def test_pfc_that_is_off_leaves_what_would_be_needed() -> None:
    ports = leaf()
    found = only(ports._replace(qos=ports.qos._replace(pfc=ports.qos.pfc._replace(priorities=()))))
    assert found.configured == NoHeadroom("PFC is off: there is no lossless group")
    assert all(answer.need for answer in found.answers)


@pytest.mark.parametrize(
    ("ports", "reason"),
    [
        (over(leaf(), None, None), "the length of the cable is unknown"),
        (leaf()._replace(speed_bps=None), "the speed of the port is unknown"),
        (leaf()._replace(ports=()), "the MTU of the port is unknown"),
    ],
)
def test_what_is_unknown_of_a_port_silences_all_methods(ports: PortSet, reason: str) -> None:
    found = only(ports)
    assert {answer.unknown for answer in found.answers} == {reason}
    assert (found.case, found.least_bytes) == (None, None)


def test_a_stranger_has_a_floor_and_nothing_else() -> None:
    ports = leaf()
    stranger = ports._replace(switch=ports.switch._replace(profile=None, hwsku=None, hwsku_name="Foo"))
    row, formula, floor = only(stranger).answers
    assert row.unknown == "the headroom rows of HWSKU Foo are unknown"
    assert formula.unknown == "the chip of the switch is unknown"
    assert floor.need is not None


def kinds(*found: HeadroomComparison) -> list[dict[str, Any]]:
    return list(plain(Headrooms(found).kinds()))


def test_kinds_that_are_identical_on_several_devices_are_one() -> None:
    ports = leaf()
    other = ports._replace(switch=ports.switch._replace(name="leaf2"), switches=("leaf2",))
    (kind,) = kinds(only(ports), only(other))
    assert (kind["switch"], kind["switches"], kind["ports"]) == ("leaf1", 2, 2 * ports.places)
    assert {name.split(":")[0] for name in kind["elements"]} == {"leaf1", "leaf2"}
    assert len(kinds(only(ports), only(over(other, None, 40)))) == 2


def test_data_names_at_most_five_ports_of_a_kind() -> None:
    ports = leaf()
    first = ports.ports[0]
    six = ports._replace(ports=tuple(first._replace(name=f"Ethernet{n}") for n in range(6)))
    (kind,) = kinds(only(six))
    assert (kind["ports"], kind["elements"]) == (6, [f"leaf1:Ethernet{n}" for n in range(5)])
    other = six._replace(switch=six.switch._replace(name="leaf2"), switches=("leaf2",))
    (kind,) = kinds(only(ports), only(other))
    assert kind["ports"] == 8
    assert kind["elements"] == [f"leaf1:Ethernet{n}" for n in (0, 4)] + [
        f"leaf2:Ethernet{n}" for n in range(3)
    ]


def test_data_says_what_is_configured_absent_or_unknown() -> None:
    (kind,) = kinds(only(leaf()))
    assert kind["configured"] == {
        "name": "pg_lossless_400000_5m_profile",
        "by": "file",
        "headroom_bytes": 231_424,
        "xoff_bytes": 231_424,
        "xon_bytes": 19_456,
        "reserved_bytes": 250_880,
    }
    assert kind["configured_absent"] is kind["configured_unknown"] is None
    row = kind["methods"]["row"]
    assert (row["headroom_bytes"], row["xon_bytes"], row["reserved_bytes"]) == (231_424, 19_456, 250_880)
    assert (row["margin_bytes"], row["unknown"], row["notes"]) == (0, None, [])
    assert (kind["profile"], kind["asic"], kind["hwsku"]) == ("nvidia-sn5600", "Spectrum-4", "ACS-SN5600")
    (computed,) = kinds(only(over(dynamic(), 5, 5)))
    assert (computed["configured"]["name"], computed["configured"]["by"]) == (None, "switch")
    ports = leaf()
    off = ports._replace(qos=ports.qos._replace(pfc=ports.qos.pfc._replace(priorities=())))
    (absent,) = kinds(only(off))
    assert absent["configured_absent"] == "PFC is off: there is no lossless group"
    assert absent["configured"] is absent["configured_unknown"] is None
    unknown = ports._replace(switch=ports.switch._replace(profile=None, hwsku=None, hwsku_name="Foo"))
    (stranger,) = kinds(only(unknown))
    assert (stranger["profile"], stranger["asic"], stranger["hwsku"]) == (None, None, None)
    assert stranger["methods"]["row"]["unknown"] == "the headroom rows of HWSKU Foo are unknown"
    assert stranger["methods"]["row"]["source"] is None
    assert stranger["methods"]["row"]["terms"] == stranger["inputs"] == []


def test_data_names_what_the_formula_takes_for_given() -> None:
    (kind,) = kinds(only(leaf()))
    assert [(given["name"], given["value"]) for given in kind["inputs"]] == [
        ("cell size", 192),
        ("pipeline latency", 19_456),
        ("MAC and PHY delay", pytest.approx(819.2)),
        ("port MTU", 9216),
        ("lossless MTU", 1024),
        ("small packets", 100),
        ("gearbox", 0),
        ("lanes", 4),
        ("shared headroom", 0),
    ]
    ports = leaf()
    tofino = ports._replace(switch=ports.switch._replace(profile=load_switch("accton-as9516"), hwsku=None))
    (kind,) = kinds(only(tofino))
    assert [given["name"] for given in kind["inputs"]][-1] == "gearbox"


def test_the_terms_of_the_data_add_up() -> None:
    (kind,) = kinds(only(leaf()))
    for method in kind["methods"].values():
        total = sum(term["bytes"] for term in method["terms"])
        assert total == pytest.approx(method["headroom_bytes"], abs=0.01)
        assert all(term["bytes"] == round(term["bytes"], 3) for term in method["terms"])
