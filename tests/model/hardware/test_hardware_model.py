"""Laws of the hardware model: rows, splits, defaults."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, strategies as st

from lossless.ground.basics.errors import ProfileError
from lossless.model.hardware.devices import asic_parts
from lossless.model.hardware.load import load_nic, load_switch, nic_names, switch_names
from lossless.model.hardware.model import Cage, HeadroomRow, Hwsku, SwitchProfile, routes_adaptively

G = 10**9
PROFILES = [load_switch(name) for name in switch_names()]
HWSKUS = [hwsku for profile in PROFILES for hwsku in profile.hwskus]
WITH_ROWS = [hwsku for hwsku in HWSKUS if hwsku.headroom]


def cage_of(profile: SwitchProfile, name: str) -> Cage:
    cage = profile.cage(name)
    assert cage is not None
    return cage


def sn5600() -> SwitchProfile:
    return load_switch("nvidia-sn5600")


@given(st.sampled_from(WITH_ROWS), st.data(), st.integers(0, 3000))
def test_a_real_length_takes_the_next_longer_row_never_a_shorter_one(
    hwsku: Hwsku, data: st.DataObject, cable_m: int
) -> None:
    speed = data.draw(st.sampled_from(hwsku.speeds()))
    lengths = {row.cable_m for row in hwsku.headroom if row.speed_bps == speed}
    row = hwsku.row_covering(speed, cable_m)
    if row is None:
        assert max(lengths) < cable_m
    else:
        assert row.speed_bps == speed
        assert row.cable_m >= cable_m
        assert not any(cable_m <= length < row.cable_m for length in lengths)


@given(st.sampled_from(WITH_ROWS), st.data())
def test_a_length_that_has_a_row_is_covered_by_it(hwsku: Hwsku, data: st.DataObject) -> None:
    row = data.draw(st.sampled_from(hwsku.headroom))
    assert hwsku.row(row.speed_bps, row.cable_m) == hwsku.row_covering(row.speed_bps, row.cable_m)


def test_rows_belong_to_the_hwsku_not_to_the_product() -> None:
    rows = {name: sn5600().hwsku(name) for name in ("ACS-SN5600", "Mellanox-SN5600-C224O8")}
    lengths = {name: sorted({r.cable_m for r in hwsku.headroom}) for name, hwsku in rows.items() if hwsku}
    assert lengths == {"ACS-SN5600": [5, 40, 300], "Mellanox-SN5600-C224O8": [5, 40, 250, 1000]}


def test_a_row_reads_as_the_vendor_wrote_it() -> None:
    hwsku = sn5600().hwsku("ACS-SN5600")
    assert hwsku is not None
    row = HeadroomRow(400 * G, 40, 303104, 19456, 283648, 0, None)
    assert hwsku.row(400 * G, 40) == row
    assert hwsku.row_covering(400 * G, 6) == row
    assert hwsku.row(400 * G, 6) is None
    assert hwsku.row_covering(400 * G, 301) is None
    assert hwsku.row(25 * 10**8, 5) is None


def test_shared_headroom_is_a_fact_of_the_hwsku() -> None:
    shared = {hwsku.name: hwsku.uses_shared_headroom for hwsku in sn5600().hwskus}
    assert shared["Mellanox-SN5600-V256"] is True
    assert shared["ACS-SN5600"] is False


def test_a_split_cage_names_its_ports_by_lane_and_letter() -> None:
    profile = sn5600()
    cage = cage_of(profile, "Ethernet8")
    mode = cage.mode_for(2, 400 * G)
    assert mode is not None
    first, second = profile.breakout(cage, mode)
    assert first == ("Ethernet8", (8, 9, 10, 11), "etp2a", 2, 400 * G)
    assert second == ("Ethernet12", (12, 13, 14, 15), "etp2b", 2, 400 * G)


@pytest.mark.parametrize(
    ("name", "cage_name", "count", "speed_g", "names", "aliases"),
    [
        ("nvidia-sn5600", "Ethernet8", 1, 800, ["Ethernet8"], ["etp2"]),
        ("nvidia-sn4700", "Ethernet8", 4, 25, ["Ethernet8", "Ethernet9"], ["etp2a", "etp2b"]),
        ("nvidia-sn4700", "Ethernet8", 4, 100, ["Ethernet8", "Ethernet10"], ["etp2a", "etp2b"]),
        ("dell-z9664f", "Ethernet4", 2, 200, ["Ethernet4", "Ethernet6"], ["etp2a", "etp2b"]),
        ("dell-z9664f", "Ethernet4", 1, 400, ["Ethernet4"], ["fourhundredGigE1/2"]),
        ("arista-7260cx3", "Ethernet8", 2, 50, ["Ethernet8", "Ethernet10"], ["Ethernet3/1", "Ethernet3/3"]),
        ("arista-7260cx3", "Ethernet8", 4, 25, ["Ethernet8", "Ethernet9"], ["Ethernet3/1", "Ethernet3/2"]),
        ("arista-7060x6-64pe-b", "Ethernet0", 8, 100, ["Ethernet0", "Ethernet1"], ["etp1a", "etp1b"]),
        ("accton-as9516", "Ethernet8", 2, 200, ["Ethernet8", "Ethernet12"], ["Ethernet8", "Ethernet12"]),
    ],
)
def test_every_product_has_its_own_way_to_name_split_ports(
    name: str, cage_name: str, count: int, speed_g: int, names: list[str], aliases: list[str]
) -> None:
    profile = load_switch(name)
    cage = cage_of(profile, cage_name)
    mode = cage.mode_for(count, speed_g * G)
    assert mode is not None
    ports = profile.breakout(cage, mode, speed_g * G)
    assert len(ports) == count
    assert [port.name for port in ports[:2]] == names
    assert [port.alias for port in ports[:2]] == aliases


def test_every_split_shares_lanes_and_names_without_overlap() -> None:
    for profile in PROFILES:
        for cage in profile.cages:
            for mode in cage.modes:
                ports = profile.breakout(cage, mode)
                assert [lane for port in ports for lane in port.lanes] == list(cage.lanes[: mode.lanes])
                assert len({port.name for port in ports}) == len({port.alias for port in ports}) == mode.count


def test_no_lane_of_a_chip_belongs_to_two_ports_of_a_hwsku() -> None:
    for profile in PROFILES:
        for hwsku in profile.hwskus:
            parts = [part.hwsku.ports for part in asic_parts(profile, hwsku)] or [hwsku.ports]
            assert sum(map(len, parts)) == len(hwsku.ports), "each port is of one chip"
            for ports in parts:
                lanes = [lane for port in ports for lane in port.lanes]
                assert len(lanes) == len(set(lanes)), hwsku.name


def test_a_mode_the_cage_lacks_is_refused_with_those_it_has() -> None:
    profile, other = sn5600(), load_switch("accton-as9516")
    cage, mode = cage_of(profile, "Ethernet512"), cage_of(other, "Ethernet0").modes[0]
    with pytest.raises(ProfileError) as error:
        profile.breakout(cage, mode)
    assert str(error.value) == (
        "nvidia-sn5600: Ethernet512 cannot be split as 1x400G[200G]; it can be 1x25G[10G]"
    )


def test_a_speed_the_mode_lacks_is_refused_with_those_it_has() -> None:
    profile = sn5600()
    cage = cage_of(profile, "Ethernet512")
    with pytest.raises(ProfileError) as error:
        profile.breakout(cage, cage.modes[0], 40 * G)
    assert str(error.value) == (
        "nvidia-sn5600: Ethernet512 as 1x25G[10G] cannot run at 40G; it can at 25G, 10G"
    )


def test_speeds_of_a_product_include_its_service_ports() -> None:
    assert load_switch("dell-z9664f").speeds_bps == tuple(g * G for g in (10, 25, 40, 100, 200, 400))


def test_profiles_survive_the_transfer_to_another_process() -> None:
    for profile in PROFILES:
        copy = pickle.loads(pickle.dumps(profile))
        assert copy is not profile
        assert copy == profile


def test_profiles_that_differ_in_one_table_are_not_equal() -> None:
    profile = sn5600()
    first, second = profile.hwskus[0], profile.hwskus[1]
    assert first != second
    assert (
        Hwsku(first.name, first.ports, first.headroom[1:], first.buffers, first.source, first.platforms)
        != first
    )
    assert (
        Hwsku(first.name, first.ports, first.headroom, first.buffers, first.source, first.platforms) == first
    )


PORTS_ALONE = {"micas-m2-w6950-128oc"}
"""What SONiC's device folder says nothing of but ports: no rows and no pools."""


def test_the_default_hwsku_has_rows_and_pools() -> None:
    sonic = [profile for profile in PROFILES if profile.default_format == "sonic"]
    without = {profile.name for profile in sonic if not any(h.headroom or h.buffers for h in profile.hwskus)}
    assert without == PORTS_ALONE
    for profile in (profile for profile in sonic if profile.name not in PORTS_ALONE):
        default = profile.hwsku(profile.default_hwsku)
        assert default is not None
        assert default.ports
        assert default.headroom
        assert {port.speed_bps for port in default.ports if len(port.lanes) > 1} <= set(default.speeds())
        assert (default.buffer_defaults("t0") is None) == profile.asic.voq


def test_cnp_priority_is_the_vendors() -> None:
    priorities = {name: (load_nic(name).cnp_dscp, load_nic(name).cnp_priority) for name in nic_names()}
    assert priorities == {
        "amd-pollara-400": (None, None),
        "bluefield-3": (48, 6),
        "broadcom-thor-2": (48, 7),
        "connectx-6-dx": (48, 6),
        "connectx-7": (48, 6),
        "connectx-8": (48, 6),
    }


def test_dcqcn_defaults_lie_in_their_own_range() -> None:
    for name in nic_names():
        nic = load_nic(name)
        for parameter in nic.dcqcn.values():
            assert parameter.minimum is None or parameter.minimum <= parameter.default
            assert parameter.maximum is None or parameter.default <= parameter.maximum
        if nic.driver == "mlx5":
            assert nic.dcqcn["RPG_AI_RATE"].default <= nic.dcqcn["RPG_HAI_RATE"].default
            assert nic.dcqcn["CNP_DSCP"].default == nic.cnp_dscp
            assert nic.dcqcn["CNP_802P_PRIO"].default == nic.cnp_priority


def test_an_algorithm_is_named_where_a_source_names_it_and_unknown_elsewhere() -> None:
    shipped = {name: load_nic(name).shipped_control for name in nic_names()}
    assert {name: known and (known.algorithm, known.defaults_of) for name, known in shipped.items()} == {
        "amd-pollara-400": (None, None),
        "bluefield-3": ("ZTR-RTTCC", None),
        "broadcom-thor-2": ("DCQCN", None),
        "connectx-6-dx": ("DCQCN", None),
        "connectx-7": ("ZTR-RTTCC", "BlueField-3"),
        "connectx-8": (None, "BlueField-3"),
    }


def test_borrowed_defaults_are_those_of_the_product_that_is_named() -> None:
    by_product = {nic.product: nic for nic in map(load_nic, nic_names())}
    for nic in by_product.values():
        if nic.shipped_control and nic.shipped_control.defaults_of:
            assert nic.dcqcn == by_product[nic.shipped_control.defaults_of].dcqcn


def test_mlx5_pauses_for_eight_seconds_unless_told_otherwise() -> None:
    stall = load_nic("connectx-7").stall_prevention
    assert stall is not None
    assert (stall.default_ms, stall.auto_ms) == (8000, 100)
    assert load_nic("broadcom-thor-2").stall_prevention is None


def test_cumulus_linux_routes_adaptively_on_spectrum_4_alone_and_not_at_800g() -> None:
    known = {profile.name: profile.load_balancing.get("nvue") for profile in PROFILES}
    adaptive = {name for name, choices in known.items() if choices and "adaptive" in choices.offers}
    lacking = {name for name, choices in known.items() if choices and "adaptive" in choices.lacks}
    assert adaptive == {"nvidia-sn5600"}
    assert lacking == {"nvidia-sn2700", "nvidia-sn3700", "nvidia-sn4600c", "nvidia-sn4700"}
    spectrum_4 = known["nvidia-sn5600"]
    assert spectrum_4 is not None
    assert spectrum_4.speeds_bps == {"adaptive": (200 * 10**9, 400 * 10**9)}


def test_what_no_source_says_of_load_balancing_is_unknown() -> None:
    assert {name for profile in PROFILES for name in profile.load_balancing} == {"nvue"}
    assert {name: nic.reorder for name in nic_names() if (nic := load_nic(name)).driver != "mlx5"} == {
        "amd-pollara-400": None,
        "broadcom-thor-2": None,
    }


def test_mlx5_takes_packets_out_of_order_by_a_setting_and_nobody_says_how_many() -> None:
    for name in nic_names():
        if (nic := load_nic(name)).driver == "mlx5":
            assert nic.reorder is not None
            assert (nic.reorder.able, nic.reorder.frames) == (True, None)
            assert "adaptive_routing_forced_en=1" in (nic.reorder.setting or "")


def test_every_fact_names_its_source() -> None:
    for profile in PROFILES:
        assert {"queues", "max_mtu", "split_alias"} <= set(profile.sources)
        assert all("@" in text for text in (profile.asic.source, *profile.sources.values()))
        assert (profile.asic.buffer_bytes is None) == (profile.asic.buffer_source == "")
        assert (profile.asic.buffer_parts is None) == (profile.asic.buffer_parts_source == "")
        of_sonic = profile.default_format == "sonic"
        assert all(("@086b03b" if of_sonic else "@") in hwsku.source for hwsku in profile.hwskus)
        assert all(names.source for names in profile.formats.values())
        assert all("@" in choices.source for choices in profile.load_balancing.values())
    for name in nic_names():
        nic = load_nic(name)
        stated = {"rates", "pci_id"} | ({"ports"} if nic.ports else set())
        stated |= {"cnp"} if nic.cnp_dscp is not None else set()
        assert stated <= set(nic.sources)
        assert nic.reorder is None or "@" in nic.reorder.source
        assert {parameter.source for parameter in nic.dcqcn.values()} <= set(nic.sources)


@pytest.mark.parametrize(
    ("name", "speed_gbps", "expected"),
    [
        ("nvidia-sn4700", 400, False),
        ("nvidia-sn5600", 400, True),
        ("nvidia-sn5600", 800, False),
        ("nvidia-sn5600", 100, False),
        ("nvidia-sn5640", 400, True),
        ("arista-7060x6-64pe-b", 400, False),
    ],
)
def test_spectrum_4_routes_adaptively_at_200g_and_400g_and_later_chips_do(
    name: str, speed_gbps: int, expected: bool
) -> None:
    assert routes_adaptively(load_switch(name).asic, speed_gbps * G) is expected
