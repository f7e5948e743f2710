"""Our profiles say what SONiC's files say, port by port, row by row, pool by pool."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from lossless.model.hardware.devices import asic_parts
from lossless.model.hardware.load import load_switch, switch_names
from lossless.model.hardware.model import (
    BufferDefaults,
    HeadroomRow,
    Hwsku,
    PoolDefaults,
    PortSpec,
    ProfileDefaults,
    SwitchProfile,
    backs_headroom,
)

Json = dict[str, Any]
PROFILES = [load_switch(name) for name in switch_names()]
BY_PLATFORM = {profile.platform: profile for profile in PROFILES}


@pytest.fixture(scope="module")
def ports(reference: Path) -> Json:
    return json.loads((reference / "facts/sonic-ports.json").read_text())  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def headroom(reference: Path) -> Json:
    return json.loads((reference / "facts/sonic-headroom.json").read_text())  # type: ignore[no-any-return]


def speed_of(profile: SwitchProfile, row: list[str | None]) -> int:
    if row[4] is not None:
        return int(row[4]) * 10**6
    cage = profile.cage(str(row[0]))
    assert cage is not None, f"only whole cages may lack a speed: {row}"
    return max(speed for mode in cage.modes if mode.count == 1 for speed in mode.speeds_bps)


def test_every_port_table_is_rebuilt_exactly_from_its_layout(ports: Json) -> None:
    compared = 0
    for table in ports["port_tables"]:
        profile = BY_PLATFORM.get(table["platform"])
        if profile is None:
            continue
        hwsku = profile.hwsku(table["hwsku"])
        assert hwsku is not None
        assert hwsku.ports == tuple(
            PortSpec(
                name,
                tuple(map(int, lanes.split(","))),
                alias,
                int(index),
                speed_of(profile, [name, "", "", "", mbps]),
            )
            for name, lanes, alias, index, mbps in table["ports"]
        ), table["hwsku"]
        compared += 1
    assert compared == 40, "every port table but that of the SN5400, which has no profile"


def test_the_ports_of_a_z9864f_are_those_of_its_port_config_ini_and_platform_json() -> None:
    """sonic-buildimage device/dell/x86_64-dell_z9864f-r0 @086b03b: lanes do not follow the order of cages."""
    profile = BY_PLATFORM["x86_64-dell_z9864f-r0"]
    first_lane = {cage.name: (cage.lanes[0], len(cage.lanes), cage.index) for cage in profile.cages}
    assert len(first_lane) == 66
    some = ("Ethernet0", "Ethernet112", "Ethernet256", "Ethernet264", "Ethernet504", "Ethernet513")
    assert [first_lane[name] for name in some] == [
        (1, 8, 1),
        (233, 8, 15),
        (25, 8, 33),
        (9, 8, 34),
        (481, 8, 64),
        (516, 1, 66),
    ]
    assert sorted(lane for cage in profile.cages[:64] for lane in cage.lanes) == [*range(1, 513)]
    hwsku = hwsku_of(profile, "Dell-Z9864f-O64")
    assert [port.speed_bps // 10**9 for port in hwsku.ports] == [800] * 64 + [25] * 2
    rows = {(row.speed_bps, row.cable_m) for row in hwsku.headroom}
    speeds = {bps for cage in profile.cages for mode in cage.modes for bps in mode.speeds_bps}
    assert rows >= {(bps, cable_m) for bps in speeds for cable_m in (5, 40, 300)}, (
        "each speed can be lossless"
    )


def test_the_ports_of_an_m2_w6950_are_those_of_its_port_config_ini() -> None:
    """sonic-buildimage device/micas/x86_64-micas_m2-w6950-128oc-r0 @086b03b: lanes do not follow the order of cages."""
    profile = BY_PLATFORM["x86_64-micas_m2-w6950-128oc-r0"]
    first_lane = {cage.name: (cage.lanes[0], len(cage.lanes), cage.index) for cage in profile.cages}
    assert len(first_lane) == 130
    some = ("Ethernet0", "Ethernet64", "Ethernet1016", "Ethernet1024", "Ethernet1025")
    assert [first_lane[name] for name in some] == [
        (265, 8, 1),
        (505, 8, 9),
        (769, 8, 128),
        (1026, 4, 129),
        (0, 1, 130),
    ]
    assert sorted(lane for cage in profile.cages[:128] for lane in cage.lanes) == [*range(1, 1025)]
    hwsku = hwsku_of(profile, "M2-W6950-Q256")
    assert [port.speed_bps // 10**9 for port in hwsku.ports] == [400] * 256 + [100, 1]


def test_each_chip_of_an_ixr7250e_card_has_18_of_its_cages_and_the_same_lanes() -> None:
    """sonic-buildimage device/nokia/x86_64-nokia_ixr7250e_36x400g-r0 @086b03b, port_config.ini of asic 0 and 1."""
    profile = BY_PLATFORM["x86_64-nokia_ixr7250e_36x400g-r0"]
    first, second = (part.profile for part in asic_parts(profile, hwsku_of(profile, profile.default_hwsku)))
    lanes = [cage.lanes for cage in first.cages]
    assert lanes == [cage.lanes for cage in second.cages]
    assert (first.cages[0].name, lanes[0][0], first.cages[-1].name, lanes[-1][0]) == (
        "Ethernet0",
        72,
        "Ethernet136",
        0,
    )
    assert (second.cages[0].name, second.cages[-1].name) == ("Ethernet144", "Ethernet280")
    assert sorted(lane for own in lanes for lane in own) == [*range(144)]
    slow = hwsku_of(profile, "Nokia-IXR7250E-36x100G").ports
    assert {len(port.lanes) for port in slow} == {4}
    assert [port.lanes[0] for port in slow[:18]] == [own[0] for own in lanes]


def test_headroom_rows_of_a_jericho_2c_plus_are_what_cards_took(reference: Path) -> None:
    """Cards drop after as many packets of 64 bytes as the row has 112 bytes, a size that no source names.

    sonic-mgmt tests/qos/files/qos_params.j2c+.yaml @b4ba9de; its row of 400G over 300 m has 27 packets, of 2,816.
    """
    chips = json.loads((reference / "reference/qos-params/qos-params.json").read_text())["asics"]
    profile = BY_PLATFORM["x86_64-nokia_ixr7250e_36x400g-r0"]
    headroom_bytes = {
        f"{row.speed_bps // 10**6}_{row.cable_m}m": row.headroom_bytes
        for row in hwsku_of(profile, profile.default_hwsku).headroom
    }
    off = {
        (topology, name): counts["pkts_num_trig_ingr_drp"]
        - counts["pkts_num_trig_pfc"]
        - headroom_bytes[name] // 112
        for topology in ("topo-any", "topo-t2_one_hwsku_min", "topo-t2_one_hwsku_max")
        for name, tests in chips["j2c"]["j2c+"][topology]["rows"].items()
        if (counts := tests.get("xoff_1"))
    }
    assert off.pop(("topo-any", "400000_300m")) == 27 - 2_816
    assert len(off) == 9
    assert {*off.values()} == {-2, 0, 1}


def test_a_cage_of_an_sn5640_is_two_ports_of_400g_and_none_of_800g() -> None:
    """sonic-buildimage device/mellanox/x86_64-nvidia_sn5640-r0 @086b03b; no HWSKU lends headroom: all are lossy."""
    profile = BY_PLATFORM["x86_64-nvidia_sn5640-r0"]
    assert max(profile.speeds_bps) == 400 * 10**9
    ports = hwsku_of(profile, "Mellanox-SN5640-O128X2").ports
    assert [port.speed_bps // 10**9 for port in ports] == [400] * 128 + [25] * 2
    lossless = [h.name for h in profile.hwskus for d in h.buffers if backs_headroom(h, d)]
    assert lossless == []


def test_breakout_modes_are_those_of_platform_json(ports: Json) -> None:
    compared = 0
    for platform, profile in BY_PLATFORM.items():
        compared += platform in ports["breakout_modes"]
        for group in ports["breakout_modes"].get(platform, ()):
            first = profile.cage(group["first"])
            assert first is not None
            pure = {mode for mode in group["breakout_modes"] if "+" not in mode}
            assert {mode.text for mode in first.modes} == pure
            assert len(first.lanes) == group["lanes"]
            identical = [cage for cage in profile.cages if cage.modes == first.modes and cage.lanes]
            assert len(identical) == group["ports"]
            assert identical[-1].name == group["last"]
    assert compared == 8, "every platform whose modes are known but the SN5400, which has no profile"


def users(entry: Json) -> list[tuple[SwitchProfile, str, str]]:
    """The (profile, HWSKU, template) triples of an entry that are ours; folders in a HWSKU are ASICs or variants."""
    found = []
    for user in entry["used_by"]:
        _, platform, rest = user.split("/", 2)
        hwsku, _, template = rest.partition(":")
        folder, _, part = hwsku.partition("/")
        if part.isdecimal():
            assert platform not in BY_PLATFORM or BY_PLATFORM[platform].asics, "a folder a chip"
            hwsku = folder
        if platform in BY_PLATFORM and "/" not in hwsku:
            found.append(
                (BY_PLATFORM[platform], hwsku, re.sub(r"buffers_defaults_(\w+)\.j2", r"\1", template))
            )
    return found


def hwsku_of(profile: SwitchProfile, name: str) -> Hwsku:
    hwsku = profile.hwsku(name)
    assert hwsku is not None, f"{profile.name} lacks {name}"
    return hwsku


def test_headroom_rows_are_those_of_the_vendor(headroom: Json) -> None:
    seen = set()
    for entry in headroom["pg_profile_lookup"]:
        rows = tuple(
            HeadroomRow(
                row["speed_mbps"] * 10**6,
                int(row["cable"].removesuffix("m")),
                row["size"],
                row["xon"],
                row["xoff"],
                row["threshold"],
                row["xon_offset"],
            )
            for row in entry["rows"]
        )
        for profile, name, _ in users(entry):
            assert hwsku_of(profile, name).headroom == rows, name
            seen.add((profile.name, name))
    ours = {(p.name, h.name) for p in PROFILES for h in p.hwskus if h.headroom}
    assert ours <= seen, "no row of ours without one of the vendor's"


def expected_defaults(template: str, entry: Json) -> BufferDefaults:
    cable = entry["default_cable"]
    return BufferDefaults(
        template,
        tuple(
            PoolDefaults(name, pool["type"], pool["mode"], int(pool["size"]), number(pool, "xoff"))
            for name, pool in entry["pools"].items()
        ),
        tuple(
            ProfileDefaults(
                name,
                profile["pool"].strip("[]").removeprefix("BUFFER_POOL|"),
                int(profile["size"]),
                number(profile, "dynamic_th"),
                number(profile, "static_th"),
            )
            for name, profile in entry["profiles"].items()
        ),
        None if cable is None else int(cable.removesuffix("m")),
    )


def number(fields: dict[str, str], key: str) -> int | None:
    return int(fields[key]) if key in fields else None


def test_pools_and_buffer_profiles_are_those_of_the_vendor(headroom: Json) -> None:
    expected: dict[tuple[str, str], dict[str, BufferDefaults]] = {}
    for entry in headroom["pools"]:
        for profile, name, template in users(entry):
            if entry["pools"]:
                expected.setdefault((profile.name, name), {})[template] = expected_defaults(template, entry)
    for profile in PROFILES:
        for hwsku in profile.hwskus:
            found = {defaults.template: defaults for defaults in hwsku.buffers}
            shipped = expected.get((profile.name, hwsku.name), {})
            # The one pool of a chip with virtual output queues is of type both, and is left out.
            assert found == ({} if profile.asic.voq else shipped), hwsku.name


def test_further_platforms_of_a_hwsku_have_the_same_rows(headroom: Json) -> None:
    """A simulated switch may share the HWSKU of a real one only where SONiC gives both the same rows."""
    rows_of = {user: entry["rows"] for entry in headroom["pg_profile_lookup"] for user in entry["used_by"]}
    shared = 0
    for profile in PROFILES:
        for hwsku in profile.hwskus:
            folders = [
                u for u in rows_of if u.split("/", 1)[1] in {f"{p}/{hwsku.name}" for p in hwsku.platforms}
            ]
            assert all(rows_of[folder] == rows_of[folders[0]] for folder in folders)
            shared += len(folders) > 1
    assert shared == 5


def test_chip_figures_are_those_of_sonics_asic_table(headroom: Json) -> None:
    compared = 0
    for vendor in ("mellanox", "barefoot"):
        tables = headroom["asic_tables"][vendor]
        for platform, key in tables["platform_to_asic"].items():
            if platform in BY_PLATFORM:
                asic, row = BY_PLATFORM[platform].asic, tables["asic"][key]
                assert (asic.formula, asic.pfc_to_pg_map, asic.cell_bytes) == (vendor, True, row["cell_size"])
                assert asic.pipeline_latency_bytes == row["pipeline_latency"] * 1024
                assert asic.mac_phy_delay_bytes == pytest.approx(row["mac_phy_delay"] * 1024)
                assert asic.peer_response_bytes == pytest.approx(row["peer_response_time"] * 1024)
                gearbox = tables["peripheral"]["platform_to_gearbox"].get(platform)
                # Barefoot's template writes PERIPHERAL TABLE, a key that buffermgrd does not read.
                read = {} if vendor == "barefoot" else tables["peripheral"]["gearbox_delay_ns"]
                assert asic.gearbox_delay_ns == read.get(gearbox, 0)
                assert asic.tile == (key in {"MELLANOX-SPECTRUM-4", "MELLANOX-SPECTRUM-5"})
                compared += 1
    assert compared == 8


def test_chips_without_a_formula_leave_its_terms_unknown() -> None:
    for profile in PROFILES:
        if profile.asic.formula is None:
            terms = profile.asic[3:7]
            assert terms == (None,) * 4, profile.name
            assert not profile.asic.tile
            assert not profile.asic.pfc_to_pg_map


def test_what_a_broadcom_group_reserves_is_whole_cells() -> None:
    """Headroom is not always: 833,536 B of Arista-7060X6-64PE-B-P32O64 are 3,281.6 cells."""
    compared = 0
    for profile in PROFILES:
        cell = profile.asic.cell_bytes
        if profile.asic.formula is None and cell is not None:
            for row in (row for hwsku in profile.hwskus for row in hwsku.headroom):
                assert row.xon_offset_bytes is not None
                assert row.reserved_bytes % cell == row.xon_offset_bytes % cell == 0, profile.name
                compared += 1
    assert compared == 578


def test_every_part_of_a_divided_buffer_holds_as_many_cells_of_headroom() -> None:
    divided = [profile for profile in PROFILES if (profile.asic.buffer_parts or 1) > 1]
    assert {profile.asic.name: profile.asic.buffer_parts for profile in divided} == {
        "Tomahawk": 4,
        "Tomahawk 2": 4,
        "Tomahawk 3": 2,
        "Tomahawk 4": 2,
        "Tomahawk 5": 2,
    }
    for profile in divided:
        unit = (profile.asic.cell_bytes or 0) * (profile.asic.buffer_parts or 0)
        pools = [pool for h in profile.hwskus for b in h.buffers for pool in b.pools]
        assert all(pool.shared_headroom_bytes % unit == 0 for pool in pools if pool.shared_headroom_bytes)


def test_a_known_buffer_holds_every_pool() -> None:
    for profile in PROFILES:
        if profile.asic.buffer_bytes is not None:
            sizes = [pool.size_bytes for h in profile.hwskus for b in h.buffers for pool in b.pools]
            assert max(sizes) <= profile.asic.buffer_bytes, profile.name
            if profile.asic.formula == "mellanox":
                assert max(sizes) == profile.asic.buffer_bytes, profile.name


def test_the_number_of_parts_is_known_of_every_chip_but_four() -> None:
    unknown = {profile.asic.name for profile in PROFILES if profile.asic.buffer_parts is None}
    assert unknown == {"Tofino 2", "Cloud Scale GX2B", "Qumran 3D", "Jericho 2C+"}


def test_a_size_that_its_source_contradicts_is_unknown() -> None:
    """Of Tomahawk 6, fboss states 500,000 cells, of which more are available: 629,986."""
    assert {p.asic.name: p.asic.buffer_bytes for p in PROFILES if p.asic.name.startswith("Tomahawk")} == {
        "Tomahawk": 16 * 2**20,
        "Tomahawk 2": None,
        "Tomahawk 3": 64 * 2**20,
        "Tomahawk 4": 2 * 234_606 * 254,
        "Tomahawk 5": 2 * 341_080 * 254,
        "Tomahawk 6": None,
    }
