"""Thresholds in cells, against packet counts that upstream's tests see on switches, worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from lossless.analysis.buffers.simulation_facts import GroupCells, cells, filling_cells, group_cells
from lossless.model.hardware.load import load_switch
from lossless.model.hardware.tables import parse_headroom

GIGABIT = 10**9


def test_a_group_of_tomahawk_pauses_at_its_6_cells_and_half_of_a_quarter_of_the_pool() -> None:
    """Recorded: 6,542 packets (sonic-mgmt tests/qos/files/qos_params.th.yaml @b4ba9de)."""
    pool_cells = 10_875_072 // 208
    assert filling_cells(pool_cells // 4, 6, 0) == 6542


def test_a_group_of_trident_2_pauses_at_a_ninth_of_what_32_ports_leave_of_the_pool() -> None:
    """Recorded: 4,898 packets, with a margin of 2 (qos_params.td2.yaml @b4ba9de); alpha is 1/8."""
    left = 12_766_208 // 208 - 32 * 2 * 271
    assert filling_cells(left, 6, -3) == 4899


def test_a_threshold_in_bytes_bounds_a_group_and_so_does_its_pool() -> None:
    assert filling_cells(1000, 6, None, 500) == 506
    assert filling_cells(1000, 6, None, 5000) == 1006
    assert filling_cells(1000, 6, None) is None


def test_without_a_shared_headroom_pool_size_holds_the_headroom_too() -> None:
    (row,) = parse_headroom("40G 300m 56368 18432 55120 -3 2496")
    assert group_cells(row, 208, shared_headroom=False) == GroupCells(reserved=6, headroom=265)
    assert group_cells(row, 208, shared_headroom=True) == GroupCells(reserved=271, headroom=265)


@pytest.mark.parametrize(
    ("product", "hwsku", "speed_gbps", "cable_m", "recorded"),
    [
        ("arista-7060cx", "Arista-7060CX-32S-D48C8", 100, 300, 1293),
        ("dell-s6100", "Force10-S6100", 40, 300, 521),
        ("dell-s6000", "Force10-S6000", 40, 5, 266),
        ("arista-7060x6-64pe-b", "Arista-7060X6-64PE-B-P64", 800, 5, 2854),
        ("arista-7060x6-64pe-b", "Arista-7060X6-64PE-B-O128", 400, 500, 4475),
        ("arista-7060x6-64pe-b", "Arista-7060X6-64PE-B-P32V128", 200, 300, 1782),
    ],
)
def test_the_packet_after_the_headroom_is_dropped(
    product: str, hwsku: str, speed_gbps: int, cable_m: int, recorded: int
) -> None:
    """Recorded: pkts_num_trig_ingr_drp less pkts_num_trig_pfc, qos_params.{th,td2,th5}.yaml @b4ba9de."""
    profile = load_switch(product)
    found = profile.hwsku(hwsku)
    assert found is not None
    row, cell_bytes = found.row(speed_gbps * GIGABIT, cable_m), profile.asic.cell_bytes
    assert row is not None
    assert cell_bytes is not None
    assert group_cells(row, cell_bytes, shared_headroom=True).to_drop == recorded


@given(st.integers(0, 10**8), st.integers(1, 512))
def test_cells_hold_the_bytes_and_one_fewer_do_not(size_bytes: int, cell_bytes: int) -> None:
    count = cells(size_bytes, cell_bytes)
    assert (count - 1) * cell_bytes < size_bytes <= count * cell_bytes


@given(st.integers(1, 10**6), st.integers(0, 10**4), st.integers(-8, 7))
def test_what_is_reserved_comes_on_top_of_the_share(shared: int, reserved: int, dynamic_th: int) -> None:
    alone = filling_cells(shared, 0, dynamic_th)
    assert alone is not None
    assert filling_cells(shared, reserved, dynamic_th) == reserved + alone
    assert 0 < alone <= shared
