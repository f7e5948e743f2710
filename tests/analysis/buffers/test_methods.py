"""Three methods beside each other: each answers alone, or says why it cannot."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from lossless.analysis.buffers.headroom.comparison import HeadroomInputs, SourcedTraffic, link_case
from lossless.analysis.buffers.headroom.formulas import PAUSE_QUANTA, floor_headroom
from lossless.analysis.buffers.headroom.methods import (
    HeadroomCase,
    MethodResult,
    SourcedValue,
    answers,
    response_bytes,
)
from lossless.model.hardware.load import load_switch
from lossless.model.hardware.model import Asic, SwitchProfile

GIGABIT = 10**9
ASSUMED = SourcedTraffic(
    SourcedValue(9100, "default"), SourcedValue(1024, "default"), SourcedValue(100, "default")
)
NOTHING = HeadroomInputs()


def case(
    profile: str | SwitchProfile,
    rate_gbps: int,
    cable_m: int,
    hwsku: str | None = None,
    stated: HeadroomInputs = NOTHING,
) -> HeadroomCase:
    switch = load_switch(profile) if isinstance(profile, str) else profile
    found = switch.hwsku(hwsku or switch.default_hwsku)
    assert found is not None
    return link_case(switch, found, rate_gbps * GIGABIT, cable_m, stated, ASSUMED)


def answer(key: str, of: HeadroomCase) -> MethodResult:
    (found,) = (one for one in answers(of) if one.key == key)
    return found


def with_asic(**changed: object) -> SwitchProfile:
    """Return an SN5600 whose chip is known less well."""
    old = load_switch("nvidia-sn5600")
    asic: Asic = old.asic._replace(**changed)  # type: ignore[arg-type]
    slots = {name.removeprefix("_"): getattr(old, name.removeprefix("_")) for name in old.__slots__}
    return SwitchProfile(**{**slots, "asic": asic})


# --- the vendor's row ---


@pytest.mark.parametrize(
    ("cable_m", "headroom", "note"),
    [
        (5, 231_424, ()),
        (3, 231_424, ("no row of 3 m at 400G: 5m is the next longer of 5m, 40m, 300m",)),
        (41, 677_888, ("no row of 41 m at 400G: 300m is the next longer of 5m, 40m, 300m",)),
    ],
)
def test_a_length_without_a_row_takes_the_next_longer_and_says_so(
    cable_m: int, headroom: int, note: tuple[str, ...]
) -> None:
    row = answer("row", case("nvidia-sn5600", 400, cable_m))
    assert row.need is not None
    assert (row.need.headroom_bytes, row.notes, row.unknown) == (headroom, note, "")
    assert row.source.endswith("ACS-SN5600/pg_profile_lookup.ini @086b03b")


@pytest.mark.parametrize(
    ("profile", "hwsku", "rate_gbps", "cable_m", "why"),
    [
        (
            "nvidia-sn5600",
            "ACS-SN5600",
            400,
            301,
            "no row of HWSKU ACS-SN5600 at 400G reaches 301 m; it has rows of 5m, 40m, 300m",
        ),
        (
            "nvidia-sn3700",
            "ACS-MSN3700",
            1,
            5,
            "HWSKU ACS-MSN3700 has no row at 1G; it has rows at 10G, 25G, 40G, 50G, 100G, 200G",
        ),
        ("arista-7260cx3", "Arista-7260CX3-64", 100, 5, "HWSKU Arista-7260CX3-64 ships no rows"),
    ],
)
def test_without_a_row_it_says_which_there_are(
    profile: str, hwsku: str, rate_gbps: int, cable_m: int, why: str
) -> None:
    row = answer("row", case(profile, rate_gbps, cable_m, hwsku))
    assert (row.need, row.unknown) == (None, why)


# --- the formula ---


def test_chips_without_a_formula_are_named() -> None:
    formula = answer("formula", case("arista-7060x6-64pe", 400, 40))
    assert formula.need is None
    assert formula.unknown == "SONiC has no headroom formula for Tomahawk 5: headroom comes from rows alone"


@pytest.mark.parametrize(
    ("missing", "why"),
    [
        ({"cell_bytes": None}, "the cell size of Spectrum-4 is unknown"),
        (
            {"cell_bytes": None, "mac_phy_delay_bytes": None},
            "the cell size, MAC and PHY delay of Spectrum-4 are unknown",
        ),
    ],
)
def test_what_the_formula_lacks_is_named(missing: dict[str, object], why: str) -> None:
    found = case(with_asic(**missing), 400, 40)
    assert answer("formula", found).unknown == why
    floor = answer("floor", found)
    assert floor.need is not None
    assert ("is unknown" in floor.notes[0]) == ("cell_bytes" in missing)


def test_rows_that_are_the_formulas_say_what_it_is_asked() -> None:
    found = case("nvidia-sn5600", 400, 40)
    assert found.port_mtu_bytes == SourcedValue(9216, "as in the rows of ACS-SN5600")
    row, formula, _ = answers(found)
    assert row.need is not None
    assert formula.need is not None
    assert row.need.headroom_bytes == formula.need.headroom_bytes == 283_648
    assert formula.notes == ()


def test_rows_that_are_not_the_formulas_are_said_to_be_others() -> None:
    found = case("nvidia-sn4700", 400, 40)
    assert found.port_mtu_bytes == ASSUMED.port_mtu
    assert answer("formula", found).notes == ("the rows of ACS-MSN4700 do not follow from this formula",)


def test_what_is_stated_goes_first() -> None:
    stated = HeadroomInputs(
        lossless_mtu_bytes=4096,
        small_packet_percent=50,
        gearbox_ns=400,
        port_mtu_bytes=9100,
        lanes=8,
        shared_headroom=True,
    )
    found = case("nvidia-sn5600", 400, 40, stated=stated)
    plain = case("nvidia-sn5600", 400, 40, stated=stated._replace(gearbox_ns=None))
    with_gearbox, without = answer("formula", found).need, answer("formula", plain).need
    assert with_gearbox is not None
    assert without is not None
    # 8 lanes double the pipeline's share, and with a shared pool it is all that is reserved.
    assert (with_gearbox.xon_bytes, with_gearbox.reserved_bytes) == (38_912, 38_912)
    # 2 x 400,000 Mb/s x 400 ns / 8192 = 39,062.5 B, in cells that hold 1 / 1.0615
    assert with_gearbox.headroom_bytes - without.headroom_bytes == 40_960
    assert answer("floor", found).need == answer("floor", plain).need


@pytest.mark.parametrize(
    ("profile", "hwsku", "rate_gbps", "lanes", "source"),
    [
        ("nvidia-sn5600", None, 800, 8, "ports of ACS-SN5600"),
        ("nvidia-sn5600", None, 400, 4, "ports split as 2x400G[200G,100G,50G,40G,25G,10G]"),
        ("nvidia-sn5600", "Mellanox-SN5600-O128", 400, 4, "ports of Mellanox-SN5600-O128"),
        ("nvidia-sn4700", None, 400, 8, "ports of ACS-MSN4700"),
        # No mode was made for 100G: of those that can run at it, the one with the fewest lanes.
        ("nvidia-sn5600", None, 100, 2, "ports split as 4x200G[100G,50G,25G,10G]"),
    ],
)
def test_lanes_are_those_of_the_hwsku_or_of_the_split_made_for_the_speed(
    profile: str, hwsku: str | None, rate_gbps: int, lanes: int, source: str
) -> None:
    assert case(profile, rate_gbps, 5, hwsku).lanes == SourcedValue(lanes, source)


def test_a_speed_without_pause_quanta_makes_a_formula_that_is_far_too_small() -> None:
    fast = case("nvidia-sn5600", 1600, 5)
    formula, floor = answer("formula", fast), answer("floor", fast)
    assert fast.lanes.value is None
    assert formula.notes == (
        "SONiC's formula has no pause quanta for 1.6T and takes a peer response of 3,891 B: far too small",
        "lanes unknown: xon and size are those of fewer than 8, the headroom is the same",
    )
    assert floor.unknown == "IEEE 802.3 gives no pause quanta for 1.6T; state how long the peer takes"
    stated = case("nvidia-sn5600", 1600, 5, stated=HeadroomInputs(peer_response_ns=580))
    known = answer("formula", stated)
    assert known.notes[0].startswith("lanes unknown")
    assert known.need is not None
    assert formula.need is not None
    assert known.need.headroom_bytes > formula.need.headroom_bytes
    assert answer("floor", stated).need is not None


@pytest.mark.parametrize(("profile", "rate_gbps"), [("nvidia-sn5600", 800), ("accton-as9516", 400)])
def test_a_speed_with_pause_quanta_needs_no_note(profile: str, rate_gbps: int) -> None:
    assert not any("pause quanta" in note for note in answer("formula", case(profile, rate_gbps, 40)).notes)


def test_barefoot_has_none_for_800g_and_no_use_for_lanes() -> None:
    formula = answer("formula", case("accton-as9516", 800, 40))
    assert formula.notes[0] == (
        "SONiC's formula has no pause quanta for 800G and takes a peer response of 9,216 B: far too small"
    )
    stated = HeadroomInputs(lanes=8, shared_headroom=False)
    assert answer("formula", case("accton-as9516", 800, 40, stated=stated)).need == formula.need


# --- the floor ---


def test_how_long_a_peer_takes_counts_in_the_floor_where_the_formula_has_its_own() -> None:
    quick = case("nvidia-sn5600", 400, 40, stated=HeadroomInputs(peer_response_ns=500))
    usual = case("nvidia-sn5600", 400, 40)
    assert answer("formula", quick).need == answer("formula", usual).need
    assert answer("formula", quick).notes == (
        "SONiC's formula takes its own pause quanta at 400G, whatever the peer needs",
    )
    expected = floor_headroom(400 * GIGABIT, 40, 9216, 9216, peer_response_bytes=25_000, mac_phy_bytes=819.2)
    assert answer("floor", quick).need == expected


@pytest.mark.parametrize(("profile", "known"), [("nvidia-sn5600", True), ("dell-z9864f", False)])
def test_the_floor_counts_the_delay_of_mac_and_phy_where_it_is_known(profile: str, known: bool) -> None:
    found = answer("floor", case(profile, 400, 40))
    assert found.need is not None
    assert [round(term.bytes, 1) for term in found.need.terms if term.name == "MAC and PHY"] == [
        819.2
    ] * known
    assert any("MAC and PHY is unknown" in note for note in found.notes) is not known
    assert known == (
        found.need.headroom_bytes
        > floor_headroom(400 * GIGABIT, 40, 9216, 9216, peer_response_bytes=57_920).headroom_bytes
    )


def test_905_quanta_at_400g_are_1158_ns() -> None:
    assert response_bytes(400 * GIGABIT, 1_158) == pytest.approx(905 * 64, rel=1e-3)


@given(
    st.sampled_from(["nvidia-sn5600", "nvidia-sn4700", "accton-as9516", "dell-z9332f", "arista-7260cx3"]),
    st.sampled_from(sorted(PAUSE_QUANTA)),
    st.integers(min_value=1, max_value=3000),
    st.integers(min_value=0, max_value=500),
)
def test_every_method_answers_or_says_why_and_none_asks_less_of_a_longer_cable(
    profile: str, rate_bps: int, cable_m: int, more_m: int
) -> None:
    near, far = (answers(case(profile, rate_bps // GIGABIT or 1, m)) for m in (cable_m, cable_m + more_m))
    for short, long in zip(near, far, strict=True):
        assert (short.need is None) == bool(short.unknown)
        assert short.source or short.need is None
        # Vendors' rows obey no such law.
        if short.need and long.need and short.key != "row":
            assert long.need.headroom_bytes >= short.need.headroom_bytes
