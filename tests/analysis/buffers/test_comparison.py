"""What is configured beside what the methods say: known, absent, unknown, and by how much."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lossless.analysis.buffers.headroom.cases import SourcedTraffic
from lossless.analysis.buffers.headroom.comparison import (
    ConfiguredHeadroom,
    HeadroomComparison,
    NoHeadroom,
    of_ports,
)
from lossless.analysis.buffers.headroom.data import headroom_data
from lossless.analysis.buffers.headroom.inputs import HeadroomInputs
from lossless.analysis.buffers.headroom.methods import SourcedValue
from lossless.analysis.buffers.headroom.port import MissingInput
from lossless.formats.sonic.read.tables import Tables
from lossless.formats.sonic.to_model.devices import read_fabric
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.known import UNKNOWN
from lossless.model.fabric.model import Cable
from lossless.model.fabric.view import PortSet, View
from lossless.model.hardware.load import load_switch
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
    # The row of 5 m serves 3 m; 2 m less of the formula are 3 KiB; the floor counts frames of 9100.
    assert margins(found) == {"row": 0, "formula": 3_072, "floor": 140_424}
    assert (found.cable_m, found.configured_cable_m, found.least_bytes) == (3, 5, 10_616)


def test_a_cable_longer_than_configured_shows_in_every_margin() -> None:
    found = only(over(leaf(), 40, 5))
    assert margins(found) == {"row": 231_424 - 283_648, "formula": 231_424 - 283_648, "floor": 122_224}


def test_in_the_dynamic_model_the_switch_computes_from_the_configured_length() -> None:
    found = only(over(dynamic(), 40, 5))
    assert isinstance(found.configured, ConfiguredHeadroom)
    assert (found.configured.by, found.configured.name) == ("switch", "")
    formula = found.answers[1]
    assert formula.need is not None
    assert found.case is not None
    assert found.case.small_packet_percent == SourcedValue(50, "LOSSLESS_TRAFFIC_PATTERN")
    # What is asked is asked for the real length, 35 m of cable more.
    assert margins(found)["formula"] == found.configured.given_bytes - formula.need.headroom_bytes < 0
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
    data: Any = headroom_data(found)
    return list(data["kinds"])


def test_kinds_that_are_alike_on_several_devices_are_one() -> None:
    ports = leaf()
    other = ports._replace(switch=ports.switch._replace(name="leaf2"), switches=("leaf2",))
    (kind,) = kinds(only(ports), only(other))
    assert (kind["switch"], kind["switches"], kind["ports"]) == ("leaf1", 2, 2 * ports.places)
    assert {name.split(":")[0] for name in kind["elements"]} == {"leaf1", "leaf2"}
    assert len(kinds(only(ports), only(over(other, None, 40)))) == 2


def test_the_terms_of_the_data_add_up() -> None:
    (kind,) = kinds(only(leaf()))
    for method in kind["methods"].values():
        total = sum(term["bytes"] for term in method["terms"])
        assert total == pytest.approx(method["headroom_bytes"], abs=0.01)
