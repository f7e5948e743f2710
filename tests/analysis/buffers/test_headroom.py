"""The headroom equations: worked examples, shipped rows, and what no link may contradict."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

from lossless.analysis.buffers.headroom.formulas import (
    PAUSE_QUANTA,
    AsicInputs,
    HeadroomNeed,
    LinkInputs,
    barefoot_headroom,
    cable_floor_bytes,
    cable_plus_mtu_bytes,
    cable_round_trip_bytes,
    floor_headroom,
    mellanox_headroom,
    older_mellanox_headroom,
    pause_response_bytes,
    vendor_row_headroom,
)
from lossless.ground.basics.errors import QuantityError

if TYPE_CHECKING:
    from pathlib import Path

GIGABIT = 10**9
# sonic-buildimage platform/mellanox/asic_table.j2 and platform/barefoot/asic_table.j2 @086b03b
SPECTRUM1 = AsicInputs(96, 19 * 1024, 0.8 * 1024, 3.8 * 1024)
SPECTRUM3 = AsicInputs(144, 19 * 1024, 0.8 * 1024, 3.8 * 1024)
SPECTRUM4 = AsicInputs(192, 19 * 1024, 0.8 * 1024, 3.8 * 1024, tile=True)
SPECTRUM6 = AsicInputs(256, 42 * 1024, 0.8 * 1024, 3.8 * 1024, spectrum6=True)
TOFINO2 = AsicInputs(176, 68 * 1024, 0.8 * 1024, 9 * 1024, gearbox_delay_ns=365)
MELLANOX = (SPECTRUM1, SPECTRUM3, SPECTRUM4, SPECTRUM6)

RATES = st.sampled_from(sorted(PAUSE_QUANTA))
CABLES = st.integers(min_value=0, max_value=2000)
MTUS = st.integers(min_value=64, max_value=10_000)
PERCENT = st.integers(min_value=0, max_value=100)
LINKS = st.builds(LinkInputs, RATES, CABLES, st.sampled_from([1, 2, 4, 8]), MTUS, MTUS, PERCENT)
UNCOMPENSATED = st.one_of(
    st.tuples(LINKS, st.just(True)),
    st.tuples(LINKS.map(lambda link: link._replace(small_packet_percent=100))),
).map(lambda drawn: (drawn[0], len(drawn) == 2))


def spectrum4_row(rate_gbps: int, cable_m: int) -> HeadroomNeed:
    """Return the need with which the rows of ACS-SN5600 were made."""
    lanes = 8 if rate_gbps == 800 else 4
    link = LinkInputs(rate_gbps * GIGABIT, cable_m, lanes, 9216, 1024, 100)
    return mellanox_headroom(SPECTRUM4, link, shared_headroom=False)


def sizes(need: HeadroomNeed) -> tuple[int | None, int, int | None]:
    return need.xon_bytes, need.headroom_bytes, need.reserved_bytes


def pg_rows(reference: Path, hwsku: str) -> list[dict[str, Any]]:
    text = (reference / "facts" / "sonic-headroom.json").read_text(encoding="utf-8")
    files = json.loads(text)["pg_profile_lookup"]
    (rows,) = [entry["rows"] for entry in files if hwsku in entry["used_by"]]
    return list(rows)


# --- goldens ---


def test_400g_over_40_m_on_spectrum_4_is_the_shipped_row() -> None:
    assert sizes(spectrum4_row(400, 40)) == (19_456, 283_648, 303_104)


def test_800g_over_5_m_doubles_the_pipeline_and_adds_a_frame_for_8_lanes() -> None:
    # The shipped row says size 304,128: an overhead of 9100 where the equations take the port MTU of 9216.
    assert sizes(spectrum4_row(800, 5)) == (38_912, 257_024, 305_152)


def test_the_sum_can_be_read_term_by_term() -> None:
    terms = {term.name: (round(term.bytes, 1), term.formula) for term in spectrum4_row(400, 40).terms}
    x3 = "x 3 for cells"
    assert terms == {
        "own frame": (1024, "lossless MTU"),
        "peer frame": (27_648, f"port MTU = 9,216 B, {x3}"),
        "cable round trip": (60_606.1, f"2 x 40 m x 400G / 198,000 km/s = 20,202 B, {x3}"),
        "MAC and PHY": (2457.6, f"ASIC table = 819 B, {x3}"),
        "peer response": (173_760, f"905 quanta x 512 bit = 57,920 B, {x3}"),
        "tile": (18_000, f"120 ns at line rate (Spectrum-4 and -5) = 6,000 B, {x3}"),
        "rounding": (152.3, "up to whole KiB"),
    }


@pytest.mark.parametrize(
    ("asic", "rate_gbps", "cable_m", "lanes", "expected"),
    [
        (SPECTRUM3, 400, 300, 8, (38_912, 272_384, 320_512)),
        (SPECTRUM3, 100, 40, 4, (19_456, 51_200, 70_656)),
        (SPECTRUM4, 800, 300, 8, (38_912, 474_112, 522_240)),
        (SPECTRUM4, 200, 40, 4, (19_456, 65_536, 84_992)),
    ],
)
def test_half_small_packets_meet_the_results_upstream_published(
    asic: AsicInputs, rate_gbps: int, cable_m: int, lanes: int, expected: tuple[int, int, int]
) -> None:
    # sonic-swss pull request 3235; its 2 KiB of compensation came later, with pull request 4757.
    link = LinkInputs(rate_gbps * GIGABIT, cable_m, lanes, 9100, 1024, 50)
    need = mellanox_headroom(asic, link, shared_headroom=False)
    assert need.terms[-1].name == "small-packet compensation"
    assert sizes(need) == (expected[0], expected[1] + 2048, expected[2] + 2048)
    assert mellanox_headroom(asic, link, shared_headroom=True).headroom_bytes == expected[1]
    # Branches 202405 to 202511 have the one request, and not the other.
    assert sizes(mellanox_headroom(asic, link, shared_headroom=False, compensated=False)) == expected


def test_a_shared_headroom_pool_leaves_the_group_its_xon_only() -> None:
    link = LinkInputs(400 * GIGABIT, 40, 4, 9216, 1024, 100)
    need = mellanox_headroom(SPECTRUM4, link, shared_headroom=True)
    assert sizes(need) == (19_456, 283_648, 19_456)


def test_spectrum_6_adds_18_kib_and_no_tile() -> None:
    link = LinkInputs(400 * GIGABIT, 40, 4, 9216, 1024, 100)
    need = mellanox_headroom(SPECTRUM6, link, shared_headroom=False)
    plain = mellanox_headroom(SPECTRUM6._replace(spectrum6=False), link, shared_headroom=False)
    # 1024 + 4 x (9216 + 20,202.02 + 819.2 + 57,920) = 353,652.9, up to 354,304 whole KiB
    assert plain.headroom_bytes == 354_304
    assert need.headroom_bytes == 354_304 + 18_432


def test_a_gearbox_delays_twice() -> None:
    link = LinkInputs(100 * GIGABIT, 5, 4, 9216, 1024, 100)
    need = mellanox_headroom(SPECTRUM3._replace(gearbox_delay_ns=400), link, shared_headroom=True)
    (gearbox,) = [term for term in need.terms if term.name == "gearbox"]
    # 2 x 100,000 Mb/s x 400 ns / 8192 = 9765.625 B, in cells that hold a third
    assert gearbox.bytes == pytest.approx(9765.625 * 3)


def test_releases_before_202405_counted_small_packets_by_packets() -> None:
    link = LinkInputs(400 * GIGABIT, 300, 8, 9100, 1024, 50)
    need = older_mellanox_headroom(SPECTRUM3, link, shared_headroom=False)
    # 1024 + 1.625 x (9100 + 147,964.0 + 819.2 + 57,920) = 351,704.0, up to 344 KiB; XON 2 x 19 - 1 KiB;
    # the size holds both and a frame: 352,256 + 37,888 + 9100 = 399,244, up to 390 KiB
    assert sizes(need) == (37_888, 352_256, 399_360)
    assert sizes(older_mellanox_headroom(SPECTRUM3, link, shared_headroom=True)) == (37_888, 352_256, 37_888)
    few_lanes = older_mellanox_headroom(SPECTRUM3, link._replace(lanes=4), shared_headroom=False)
    assert sizes(few_lanes) == (19_456, 352_256, 371_712)
    assert {term.name for term in need.terms}.isdisjoint({"tile", "Spectrum-6", "small-packet compensation"})


def test_1600g_has_no_pause_quanta_and_says_so() -> None:
    link = LinkInputs(1600 * GIGABIT, 5, 8, 9216, 1024, 100)
    need = mellanox_headroom(SPECTRUM6, link, shared_headroom=True)
    (peer,) = [term for term in need.terms if term.name == "peer response"]
    why = "no pause quanta for 1.6T: peer response time of the ASIC table"
    assert peer.formula == f"{why} = 3,891 B, x 4 for cells"
    slower = mellanox_headroom(SPECTRUM6, link._replace(rate_bps=800 * GIGABIT), shared_headroom=True)
    assert need.headroom_bytes < slower.headroom_bytes


def test_barefoot_doubles_the_peer_at_400g_and_divides_the_cable_by_1024() -> None:
    need = barefoot_headroom(TOFINO2, LinkInputs(400 * GIGABIT, 40, 8, 9100, 1024, 100))
    # 1024 + 2.75 x (9100 + 19,728.54 + 2 x 17,822.27 + 819.2 + 115,840) = 499,137.3, up to 488 KiB
    assert sizes(need) == (69_632, 499_712, 69_632)
    peers = [term.formula for term in need.terms if term.name == "peer response"]
    assert peers == ["2 x (905 quanta x 512 bit) = 115,840 B, x 2.75 for cells"]


def test_barefoot_knows_no_pause_quanta_for_800g() -> None:
    need = barefoot_headroom(TOFINO2, LinkInputs(800 * GIGABIT, 40, 8, 9100, 1024, 100))
    (peer,) = [term for term in need.terms if term.name == "peer response"]
    assert peer.bytes == 9 * 1024 * 2.75


def test_barefoot_takes_the_share_of_small_packets_unchanged() -> None:
    need = barefoot_headroom(
        TOFINO2._replace(gearbox_delay_ns=0), LinkInputs(100 * GIGABIT, 0, 4, 9100, 1024, 50)
    )
    # 1024 + 1.875 x (9100 + 819.2 + 25,216) = 66,902.5, up to 66 KiB
    assert need.headroom_bytes == 67_584


def test_a_peer_stops_within_its_pause_quanta() -> None:
    quanta = {0.1: 1, 1: 2, 10: 67, 25: 80, 40: 118, 50: 147, 100: 394, 200: 453, 400: 905, 800: 905}
    responses = {gbps: pause_response_bytes(round(gbps * GIGABIT)) for gbps in (*quanta, 1600)}
    assert responses == {**{gbps: count * 512 // 8 for gbps, count in quanta.items()}, 1600: None}


def test_2000_m_at_100g_hold_252525_bytes_there_and_back() -> None:
    assert cable_round_trip_bytes(100 * GIGABIT, 2000) == pytest.approx(252_525.25, abs=0.01)
    assert cable_floor_bytes(100 * GIGABIT, 2000) == 252_526
    assert cable_plus_mtu_bytes(100 * GIGABIT, 2000, 9216) == 261_742


def test_the_floor_of_a_link_without_length_holds_the_pause_frame_and_the_frame_begun() -> None:
    # 64 B of PFC frame and 64 B begun are two frames of 64 B; one more is stored whole.
    assert floor_headroom(GIGABIT, 0, 64, 0, peer_response_bytes=0).headroom_bytes == 3 * 64
    assert floor_headroom(GIGABIT, 0, 64, 0, peer_response_bytes=1).headroom_bytes == 4 * 64


@pytest.mark.parametrize(
    ("rate_bps", "cable_m"), [(10**9, 0), (100 * 10**9, 2000), (400 * 10**9, 40), (800 * 10**9, 3)]
)
@pytest.mark.parametrize("reverse", [False, True])
def test_a_larger_mtu_never_needs_less(rate_bps: int, cable_m: int, *, reverse: bool) -> None:
    def need(mtu_bytes: int) -> int:
        ahead = mtu_bytes if reverse else 0
        response = PAUSE_QUANTA[rate_bps] * 64
        return floor_headroom(
            rate_bps, cable_m, mtu_bytes, ahead, peer_response_bytes=response
        ).headroom_bytes

    needs = list(map(need, range(64, 16_385)))
    assert needs == sorted(needs)


@given(st.floats(1, 1e7), st.integers(64, 16_384))
def test_the_floor_is_enough_for_frames_of_each_size_up_to_the_mtu_and_no_more_than_for_the_worst(
    response: float, mtu_bytes: int
) -> None:
    need = floor_headroom(GIGABIT, 0, mtu_bytes, 0, peer_response_bytes=response).headroom_bytes
    before = 64 + response
    of_sizes = [size * (2 + math.ceil(before / size)) for size in range(64, mtu_bytes + 1)]
    assert max(of_sizes) <= need
    # A size just below a whole part of the bytes is between two whole numbers of bytes.
    assert need <= max(of_sizes) + 3 + math.ceil(before / mtu_bytes)


@pytest.mark.parametrize("asic", [SPECTRUM1, SPECTRUM1._replace(cell_bytes=128)])
def test_cells_of_up_to_128_bytes_waste_most_where_packets_are_one_byte_longer_than_a_cell(
    asic: AsicInputs,
) -> None:
    need = barefoot_headroom(asic, LinkInputs(100 * GIGABIT, 40, 4, 9100, 1024, 100))
    (frame,) = [term for term in need.terms if term.name == "peer frame"]
    assert frame.bytes == pytest.approx(9100 * 2 * asic.cell_bytes / (asic.cell_bytes + 1))


@pytest.mark.parametrize(("mtu_bytes", "need_bytes"), [(4144, 94_680), (9216, 113_623)])
def test_the_floor_of_400g_over_40_m_is_95_to_114_kb(mtu_bytes: int, need_bytes: int) -> None:
    need = floor_headroom(400 * GIGABIT, 40, mtu_bytes, mtu_bytes, peer_response_bytes=57_920)
    assert need.headroom_bytes == need_bytes
    assert need.headroom_bytes < spectrum4_row(400, 40).headroom_bytes


def test_a_vendor_row_is_its_own_only_term() -> None:
    need = vendor_row_headroom(283_648, 19_456, 303_104, "400G 40m")
    assert (need.method, sizes(need)) == ("vendor row", (19_456, 283_648, 303_104))
    assert [(term.bytes, term.formula) for term in need.terms] == [(283_648, "400G 40m")]


# --- shipped rows ---


@pytest.mark.parametrize(
    "hwsku",
    ["mellanox/x86_64-nvidia_sn5600-r0/ACS-SN5600", "mellanox/x86_64-nvidia_sn5400-r0/ACS-SN5400"],
)
def test_24_shipped_rows_of_spectrum_4_follow_from_the_equations(reference: Path, hwsku: str) -> None:
    rows = pg_rows(reference, hwsku)
    assert len(rows) == 24
    off = {}
    for row in rows:
        need = spectrum4_row(row["speed_mbps"] // 1000, int(row["cable"].rstrip("m")))
        assert (need.xon_bytes, need.headroom_bytes) == (row["xon"], row["xoff"]), row
        if need.reserved_bytes != row["size"]:
            off[row["speed_mbps"], row["cable"]] = row["size"] - (need.reserved_bytes or 0)
    assert off == {(40_000, "5m"): -1024, (800_000, "5m"): -1024, (800_000, "300m"): -1024}


def test_24_shipped_rows_are_below_the_cable_alone_and_31_below_cable_and_frame(reference: Path) -> None:
    text = (reference / "facts" / "sonic-headroom.json").read_text(encoding="utf-8")
    below_cable = below_frame = 0
    for row in (row for entry in json.loads(text)["pg_profile_lookup"] for row in entry["rows"]):
        rate_bps, cable_m = row["speed_mbps"] * 10**6, float(row["cable"].rstrip("m"))
        below_cable += row["xoff"] < cable_floor_bytes(rate_bps, cable_m)
        below_frame += row["xoff"] < cable_plus_mtu_bytes(rate_bps, cable_m, 9216)
    assert (below_cable, below_frame) == (24, 31)


# --- laws ---


@given(LINKS, st.sampled_from(MELLANOX), st.booleans())
def test_the_terms_add_up_to_the_headroom(link: LinkInputs, asic: AsicInputs, shared: bool) -> None:
    for need in (
        mellanox_headroom(asic, link, shared_headroom=shared),
        older_mellanox_headroom(asic, link, shared_headroom=shared),
        barefoot_headroom(asic, link),
    ):
        assert sum(term.bytes for term in need.terms) == pytest.approx(need.headroom_bytes, abs=1e-4)
        assert need.headroom_bytes % 1024 == 0


def assert_never_less(link: LinkInputs, larger: LinkInputs, asic: AsicInputs, shared: bool) -> None:
    small = mellanox_headroom(asic, link, shared_headroom=shared)
    large = mellanox_headroom(asic, larger, shared_headroom=shared)
    assert small.headroom_bytes <= large.headroom_bytes
    assert (small.reserved_bytes or 0) <= (large.reserved_bytes or 0)


@given(UNCOMPENSATED, CABLES, st.sampled_from(MELLANOX))
def test_a_longer_cable_never_needs_less(
    drawn: tuple[LinkInputs, bool], more_m: int, asic: AsicInputs
) -> None:
    link, shared = drawn
    assert_never_less(link, link._replace(cable_m=link.cable_m + more_m), asic, shared)


@given(UNCOMPENSATED, RATES, st.sampled_from(MELLANOX))
def test_a_faster_listed_rate_never_needs_less(
    drawn: tuple[LinkInputs, bool], rate_bps: int, asic: AsicInputs
) -> None:
    link, shared = drawn
    slow, fast = sorted((link.rate_bps, rate_bps))
    assert_never_less(link._replace(rate_bps=slow), link._replace(rate_bps=fast), asic, shared)


@given(UNCOMPENSATED, st.integers(1, 512), st.integers(0, 512))
def test_a_larger_cell_never_needs_less(drawn: tuple[LinkInputs, bool], cell: int, more: int) -> None:
    link, shared = drawn
    small, large = (SPECTRUM4._replace(cell_bytes=size) for size in (cell, cell + more))
    assert (
        mellanox_headroom(small, link, shared_headroom=shared).headroom_bytes
        <= mellanox_headroom(large, link, shared_headroom=shared).headroom_bytes
    )
    assert barefoot_headroom(small, link).headroom_bytes <= barefoot_headroom(large, link).headroom_bytes


@given(LINKS, CABLES, RATES, st.sampled_from(MELLANOX))
def test_compensation_never_costs_more_than_1_kib(
    link: LinkInputs, more_m: int, rate_bps: int, asic: AsicInputs
) -> None:
    longer = link._replace(cable_m=link.cable_m + more_m, rate_bps=max(rate_bps, link.rate_bps))
    before = mellanox_headroom(asic, link, shared_headroom=False)
    after = mellanox_headroom(asic, longer, shared_headroom=False)
    assert after.headroom_bytes >= before.headroom_bytes - 1024


@given(LINKS, CABLES, RATES, st.integers(4096, 10_000), st.integers(0, 50), st.sampled_from(MELLANOX[:3]))
def test_stock_traffic_patterns_stay_clear_of_that_edge(
    link: LinkInputs, more_m: int, rate_bps: int, mtu: int, percent: int, asic: AsicInputs
) -> None:
    stock = link._replace(port_mtu_bytes=mtu, lossless_mtu_bytes=1024, small_packet_percent=percent)
    larger = stock._replace(cable_m=stock.cable_m + more_m, rate_bps=max(rate_bps, stock.rate_bps))
    assert_never_less(stock, larger, asic, shared=False)


def test_one_metre_more_may_end_the_compensation() -> None:
    link = LinkInputs(10 * GIGABIT, 210, 4, 1500, 1024, 98)
    short = mellanox_headroom(SPECTRUM1, link, shared_headroom=False)
    longer = mellanox_headroom(SPECTRUM1, link._replace(cable_m=211), shared_headroom=False)
    assert (short.headroom_bytes, longer.headroom_bytes) == (19_456, 18_432)


@given(LINKS, CABLES, RATES)
def test_barefoot_never_needs_less_up_to_400g(link: LinkInputs, more_m: int, rate_bps: int) -> None:
    slow, fast = sorted(min(rate, 400 * GIGABIT) for rate in (link.rate_bps, rate_bps))
    near = barefoot_headroom(TOFINO2, link._replace(rate_bps=slow))
    far = barefoot_headroom(TOFINO2, link._replace(rate_bps=fast, cable_m=link.cable_m + more_m))
    assert near.headroom_bytes <= far.headroom_bytes


@given(RATES, RATES, CABLES, CABLES, MTUS, MTUS)
def test_the_floor_covers_the_flight_and_never_falls(
    rate: int, other: int, cable_m: int, more_m: int, mtu: int, reverse: int
) -> None:
    slow, fast = sorted((rate, other))
    near = floor_headroom(slow, cable_m, mtu, reverse, peer_response_bytes=PAUSE_QUANTA[slow] * 64)
    far = floor_headroom(fast, cable_m + more_m, mtu, reverse, peer_response_bytes=PAUSE_QUANTA[fast] * 64)
    assert near.headroom_bytes <= far.headroom_bytes
    assert near.headroom_bytes > cable_plus_mtu_bytes(slow, cable_m, mtu)
    assert sum(term.bytes for term in near.terms) == pytest.approx(near.headroom_bytes, abs=1e-4)


# --- error pairs ---

SOUND = LinkInputs(400 * GIGABIT, 40, 4, 9216, 1024, 100)


@pytest.mark.parametrize(
    ("link", "cell_bytes", "message"),
    [
        (SOUND._replace(rate_bps=0), 192, "no link runs at 0 b/s over 40 m"),
        (SOUND._replace(cable_m=-1), 192, "no link runs at 400000000000 b/s over -1 m"),
        (SOUND._replace(small_packet_percent=101), 192, "101 is not a percentage of small packets"),
        (
            SOUND._replace(lossless_mtu_bytes=0),
            192,
            "an MTU of 0 bytes is below the smallest packet, 64 bytes",
        ),
        (SOUND, 0, "no buffer has cells of 0 bytes"),
    ],
)
def test_what_has_no_meaning_is_refused(link: LinkInputs, cell_bytes: int, message: str) -> None:
    asic = SPECTRUM4._replace(cell_bytes=cell_bytes)
    with pytest.raises(QuantityError) as mellanox:
        mellanox_headroom(asic, link, shared_headroom=False)
    with pytest.raises(QuantityError) as barefoot:
        barefoot_headroom(asic, link)
    assert (str(mellanox.value), str(barefoot.value)) == (message, message)


def test_a_floor_needs_a_frame() -> None:
    with pytest.raises(QuantityError, match=r"^no frame has 0 bytes$"):
        floor_headroom(400 * GIGABIT, 40, 0, 0, peer_response_bytes=57_920)
