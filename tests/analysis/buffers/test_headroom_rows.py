"""Which of the rows that vendors ship follow from the equations, with which inputs, and how far off the others are."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from inline_snapshot import snapshot

from lossless.analysis.buffers.headroom.formulas import (
    AsicInputs,
    HeadroomNeed,
    LinkInputs,
    barefoot_headroom,
    mellanox_headroom,
)
from lossless.analysis.buffers.headroom.port import ROW_PATTERNS, TrafficPattern, row_pattern
from lossless.analysis.buffers.pools import PortLoad, SharedHeadroom, plan_pools
from lossless.ground.basics.findings import Origin
from lossless.model.hardware.load import load_switch
from lossless.model.hardware.model import HeadroomRow, Hwsku

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Row = dict[str, Any]

JUMBO_ALL_SMALL, JUMBO_HALF_SMALL = ROW_PATTERNS
SHORT_FRAMES = TrafficPattern(1024, 4096, 50)
"""What the rows of long cables stand on in four HWSKUs of Spectrum-4: no frame above 1024 bytes on the port."""
TILED = {"MELLANOX-SPECTRUM-4", "MELLANOX-SPECTRUM-5"}


def facts(reference: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((reference / "facts" / "sonic-headroom.json").read_text("utf-8"))
    return data


def chip(data: dict[str, Any], platform: str) -> tuple[str, AsicInputs] | None:
    """Return the chip of a platform as SONiC's tables have it, None where they have no such platform."""
    for vendor in data["asic_tables"].values():
        name = vendor["platform_to_asic"].get(platform)
        if name in vendor["asic"]:
            sizes = vendor["asic"][name]
            gearbox = vendor["peripheral"]["platform_to_gearbox"].get(platform)
            return name, AsicInputs(
                cell_bytes=sizes["cell_size"],
                pipeline_latency_bytes=sizes["pipeline_latency"] * 1024,
                mac_phy_delay_bytes=sizes["mac_phy_delay"] * 1024,
                peer_response_bytes=sizes["peer_response_time"] * 1024,
                gearbox_delay_ns=vendor["peripheral"]["gearbox_delay_ns"].get(gearbox, 0),
                tile=name in TILED,
                spectrum6=name == "MELLANOX-SPECTRUM-6",
            )
    return None


def rows_of(data: dict[str, Any], hwsku: str) -> list[Row]:
    """Return the rows of a HWSKU, named with its platform."""
    (rows,) = (entry["rows"] for entry in data["pg_profile_lookup"] if f"{hwsku}" in entry["used_by"])
    return list(rows)


def cable_m(row: Row) -> int:
    return int(row["cable"].removesuffix("m"))


def computed(asic: AsicInputs, row: Row, pattern: TrafficPattern, *, shared: bool) -> HeadroomNeed:
    """Return what the equations give for a row; on 800G, 8 lanes."""
    lanes = 8 if row["speed_mbps"] == 800_000 else 4
    link = LinkInputs(row["speed_mbps"] * 10**6, cable_m(row), lanes, *pattern)
    return mellanox_headroom(asic, link, shared_headroom=shared)


def sizes(row: Row) -> tuple[int, int, int]:
    return row["xoff"], row["xon"], row["size"]


SN5640 = "mellanox/x86_64-nvidia_sn5640-r0/Mellanox-SN5640-"


@pytest.mark.parametrize(
    ("hwsku", "rows"),
    [(f"{SN5640}C448O16", 36), (f"{SN5640}C512S2", 36), (f"{SN5640}C512X2", 42), (f"{SN5640}O128X2", 42)],
)
def test_every_row_of_spectrum_5_follows_with_half_the_packets_small(
    reference: Path, hwsku: str, rows: int
) -> None:
    data = facts(reference)
    found = chip(data, hwsku.split("/")[1])
    assert found is not None
    shipped = rows_of(data, hwsku)
    assert len(shipped) == rows
    for row in shipped:
        need = computed(found[1], row, JUMBO_HALF_SMALL, shared=True)
        assert (need.headroom_bytes, need.xon_bytes, need.reserved_bytes) == sizes(row), row


def test_the_pattern_of_a_hwsku_is_found_from_its_rows(reference: Path) -> None:
    data = facts(reference)
    asic = load_switch("nvidia-sn5600").asic
    half, all_small = (
        Hwsku(hwsku, headroom=tuple(map(headroom_row, rows_of(data, hwsku))), buffers=shared)
        for hwsku, shared in (
            (f"{SN5640}C512X2", load_switch("nvidia-sn5600").hwsku("Mellanox-SN5600-V256").buffers),  # type: ignore[union-attr]
            ("mellanox/x86_64-nvidia_sn5400-r0/ACS-SN5400", ()),
        )
    )
    assert half.uses_shared_headroom
    assert row_pattern(asic, half) == JUMBO_HALF_SMALL
    assert row_pattern(asic, all_small) == JUMBO_ALL_SMALL
    changed = half.headroom[0]._replace(headroom_bytes=half.headroom[0].headroom_bytes + 1024)
    other = Hwsku("other", headroom=(changed, *half.headroom[1:]), buffers=half.buffers)
    assert row_pattern(asic, other) is None


def headroom_row(row: Row) -> HeadroomRow:
    return HeadroomRow(
        row["speed_mbps"] * 10**6, cable_m(row), row["size"], row["xon"], row["xoff"], row["threshold"], None
    )


@pytest.mark.parametrize(
    ("hwsku", "jumbo_m", "short_m"),
    [
        ("mellanox/x86_64-nvidia_sn5600-r0/Mellanox-SN5600-C224O8", {5, 40}, {250, 1000}),
        ("mellanox/x86_64-nvidia_sn5600-r0/Mellanox-SN5600-C256S1", {5, 40, 250, 300}, {1000}),
        ("mellanox/x86_64-nvidia_sn5610n-r0/Mellanox-SN5610N-C224O8", {5, 40}, {250, 1000}),
        ("mellanox/x86_64-nvidia_sn5610n-r0/Mellanox-SN5610N-C256S2", {5, 40}, {250, 1000}),
    ],
)
def test_rows_of_long_cables_may_count_on_short_frames(
    reference: Path, hwsku: str, jumbo_m: set[int], short_m: set[int]
) -> None:
    data = facts(reference)
    found = chip(data, hwsku.split("/")[1])
    assert found is not None
    by_pattern: dict[TrafficPattern, set[int]] = {JUMBO_HALF_SMALL: set(), SHORT_FRAMES: set()}
    for row in rows_of(data, hwsku):
        pattern = JUMBO_HALF_SMALL if cable_m(row) in jumbo_m else SHORT_FRAMES
        need = computed(found[1], row, pattern, shared=True)
        assert (need.headroom_bytes, need.xon_bytes) == (row["xoff"], row["xon"]), row
        by_pattern[pattern].add(cable_m(row))
    assert by_pattern == {JUMBO_HALF_SMALL: jumbo_m, SHORT_FRAMES: short_m}


PATTERNS = (
    JUMBO_ALL_SMALL,
    JUMBO_HALF_SMALL,
    TrafficPattern(9216, 1024, 50),
    TrafficPattern(9100, 1024, 100),
)


class Fit(NamedTuple):
    """How near one pattern comes to the rows of a file: rows it gives, of all, and how far they are off in bytes."""

    chip: str
    pattern: tuple[int, ...]
    exact: int
    rows: int
    least: int
    most: int


def fits(data: dict[str, Any]) -> Iterator[tuple[str, Fit]]:
    """Yield the nearest pattern for every file whose chip SONiC has equations for."""
    for entry in data["pg_profile_lookup"]:
        found = chip(data, entry["file"].split("/")[2])
        if found is not None:
            tried = [(pattern, list(_off(*found, entry["rows"], pattern))) for pattern in PATTERNS]
            pattern, off = min(tried, key=lambda one: sum(map(abs, one[1])))
            name = found[0].removeprefix("MELLANOX-")
            fit = Fit(name, tuple(pattern), off.count(0), len(off), min(off), max(off))
            yield "/".join(entry["file"].split("/")[2:-1]), fit


def _off(name: str, asic: AsicInputs, rows: list[Row], pattern: TrafficPattern) -> Iterator[int]:
    for row in rows:
        if name.startswith("BAREFOOT"):
            need = barefoot_headroom(asic, LinkInputs(row["speed_mbps"] * 10**6, cable_m(row), 8, *pattern))
        else:
            need = computed(asic, row, pattern, shared=True)
        yield row["xoff"] - need.headroom_bytes


def test_what_follows_from_a_known_pattern_and_how_far_off_the_rest_is(reference: Path) -> None:
    found = {where: " ".join(map(str, fit)) for where, fit in fits(facts(reference))}
    assert found == snapshot(
        {
            "x86_64-accton_as9516_32d-r0/newport": "BAREFOOT-TOFINO-2 (9216, 1024, 50) 0 18 -415744 12288",
            "x86_64-mlnx_msn2700-r0/ACS-MSN2700": "SPECTRUM (9216, 4096, 50) 0 15 -11264 24576",
            "x86_64-mlnx_msn2700-r0/Mellanox-SN2700-D40C8S8": "SPECTRUM (9216, 4096, 50) 1 15 -18432 7168",
            "x86_64-mlnx_msn2700-r0/Mellanox-SN2700-D48C8": "SPECTRUM (9216, 4096, 50) 1 20 -101376 7168",
            "x86_64-mlnx_msn3700-r0/ACS-MSN3700": "SPECTRUM-2 (9216, 1024, 50) 0 18 -15360 60416",
            "x86_64-mlnx_msn3800-r0/ACS-MSN3800": "SPECTRUM-2 (9216, 1024, 50) 0 15 -2048 35840",
            "x86_64-mlnx_msn3800-r0/Mellanox-SN3800-D112C8": "SPECTRUM-2 (9216, 4096, 50) 0 20 -95232 13312",
            "x86_64-mlnx_msn4600c-r0/Mellanox-SN4600C-D112C8": "SPECTRUM-3 (9216, 4096, 50) 0 20 -75776 38912",
            "x86_64-mlnx_msn4600c-r0/Mellanox-SN4600C-D24C52": "SPECTRUM-3 (9216, 4096, 50) 5 25 -2048 21504",
            "x86_64-mlnx_msn4700-r0/ACS-MSN4700": "SPECTRUM-3 (9216, 1024, 50) 0 21 -50176 101376",
            "x86_64-mlnx_msn4700-r0/Mellanox-SN4700-C128": "SPECTRUM-3 (9216, 4096, 50) 0 32 -272384 123904",
            "x86_64-mlnx_msn4700-r0/Mellanox-SN4700-O8C48": "SPECTRUM-3 (9216, 4096, 50) 0 35 -593920 -3072",
            "x86_64-nvidia_sn2201-r0/ACS-SN2201": "SPECTRUM (9100, 1024, 100) 1 21 -43008 8192",
            "x86_64-nvidia_sn4280-r0/Mellanox-SN4280-C48": "SPECTRUM-3 (9216, 4096, 50) 0 42 -593920 -2048",
            "x86_64-nvidia_sn4280-r0/Mellanox-SN4280-O28": "SPECTRUM-3 (9216, 4096, 50) 0 35 -593920 -3072",
            "x86_64-nvidia_sn4280-r0/Mellanox-SN4280-O8C40": "SPECTRUM-3 (9216, 4096, 50) 0 42 -593920 -2048",
            "x86_64-nvidia_sn4280-r0/Mellanox-SN4280-O8V40": "SPECTRUM-3 (9216, 4096, 50) 0 42 -593920 -2048",
            "x86_64-nvidia_sn4280_simx-r0/ACS-SN4280": "SPECTRUM-3 (9216, 1024, 50) 0 21 -50176 101376",
            "x86_64-nvidia_sn5600-r0/ACS-SN5600": "SPECTRUM-4 (9216, 1024, 100) 24 24 0 0",
            "x86_64-nvidia_sn5600-r0/Mellanox-SN5600-C224O8": "SPECTRUM-4 (9216, 4096, 50) 16 32 -9216 0",
            "x86_64-nvidia_sn5600-r0/Mellanox-SN5600-C256S1": "SPECTRUM-4 (9216, 4096, 50) 32 40 -9216 0",
            "x86_64-nvidia_sn5600-r0/Mellanox-SN5600-V256": "SPECTRUM-4 (9216, 1024, 50) 0 24 14336 295936",
            "x86_64-nvidia_sn5600_simx-r0/ACS-SN5600": "SPECTRUM-4 (9216, 1024, 100) 24 24 0 0",
            "x86_64-nvidia_sn5610n-r0/Mellanox-SN5610N-C224O8": "SPECTRUM-4 (9216, 4096, 50) 16 32 -9216 0",
            "x86_64-nvidia_sn5610n-r0/Mellanox-SN5610N-C256S2": "SPECTRUM-4 (9216, 4096, 50) 16 32 -9216 0",
            "x86_64-nvidia_sn5640-r0/Mellanox-SN5640-C448O16": "SPECTRUM-5 (9216, 4096, 50) 36 36 0 0",
            "x86_64-nvidia_sn5640-r0/Mellanox-SN5640-C512S2": "SPECTRUM-5 (9216, 4096, 50) 36 36 0 0",
            "x86_64-nvidia_sn5640-r0/Mellanox-SN5640-C512X2": "SPECTRUM-5 (9216, 4096, 50) 42 42 0 0",
            "x86_64-nvidia_sn6600_ld-r0/ACS-SN6600_LD": "SPECTRUM-6 (9216, 4096, 50) 0 14 -18432 45056",
            "x86_64-nvidia_sn6600_ld-r0/Mellanox-SN6600_LD-P128C2": "SPECTRUM-6 (9216, 4096, 50) 0 14 -18432 45056",
            "x86_64-nvidia_sn6600_ld-r0/Mellanox-SN6600_LD-P64O128C2": "SPECTRUM-6 (9216, 4096, 50) 0 14 -18432 45056",
            "x86_64-nvidia_sn6600_simx-r0/ACS-SN6600": "SPECTRUM-6 (9216, 4096, 50) 0 14 -18432 45056",
            "x86_64-nvidia_sn6810_ld-r0/ACS-SN6810_LD": "SPECTRUM-6 (9216, 4096, 50) 0 14 -18432 45056",
            "x86_64-nvidia_sn6810_ld_simx-r0/ACS-SN6810_LD": "SPECTRUM-6 (9216, 4096, 50) 0 14 -18432 45056",
        }
    )


@pytest.mark.parametrize(
    "hwsku",
    [
        "x86_64-nvidia_sn6600_ld-r0/ACS-SN6600_LD",
        "x86_64-nvidia_sn6600_ld-r0/Mellanox-SN6600_LD-P128C2",
        "x86_64-nvidia_sn6600_ld-r0/Mellanox-SN6600_LD-P64O128C2",
        "x86_64-nvidia_sn6600_simx-r0/ACS-SN6600",
        "x86_64-nvidia_sn6810_ld-r0/ACS-SN6810_LD",
        "x86_64-nvidia_sn6810_ld_simx-r0/ACS-SN6810_LD",
    ],
)
def test_rows_of_spectrum_6_lack_the_18_kib_and_count_the_pause_quanta_of_800g_twice(
    reference: Path, hwsku: str
) -> None:
    data = facts(reference)
    found = chip(data, hwsku.split("/")[0])
    assert found is not None
    asic = found[1]._replace(spectrum6=False)
    shipped = rows_of(data, f"mellanox/{hwsku}")
    assert len(shipped) == 14
    for row in shipped:
        link = LinkInputs(row["speed_mbps"] * 10**6, cable_m(row), 4, *JUMBO_HALF_SMALL)
        terms = {t.name: t.bytes for t in mellanox_headroom(asic, link, shared_headroom=True).terms}
        again = terms["peer response"] if row["speed_mbps"] == 800_000 else 0
        need = math.ceil((sum(terms.values()) - terms["rounding"] + again) / 1024) * 1024
        assert (need, 42 * 1024, need + 42 * 1024) == sizes(row), row


def test_rows_of_the_first_tofino_have_no_chip_in_sonics_tables(reference: Path) -> None:
    data = facts(reference)
    montara = [
        entry["file"].split("/")[2] for entry in data["pg_profile_lookup"] if "montara" in entry["file"]
    ]
    assert len(montara) == 2
    assert [chip(data, platform) for platform in montara] == [None, None]


@pytest.mark.parametrize("ratio", [1, 2, 4])
def test_a_shared_pool_holds_two_groups_less_what_the_port_has_of_its_own(ratio: int) -> None:
    # The worked example of upstream's test_buffer_dynamic.py: (2 x xoff - private headroom) / ratio.
    sn5600 = load_switch("nvidia-sn5600")
    hwsku = sn5600.hwsku("Mellanox-SN5600-V256")
    assert hwsku is not None
    defaults = hwsku.buffer_defaults("t0")
    row = hwsku.row(200 * 10**9, 40)
    assert defaults is not None
    assert row is not None
    assert row.reserved_bytes == row.xon_bytes
    load = PortLoad(row, lanes=4, lossless_groups=2, lossy_groups=1, other_reserved_bytes=0)
    pools = plan_pools(sn5600.asic, defaults, (load,), SharedHeadroom(float(ratio)), Origin("x"))
    (pool,) = (pool for pool in pools if pool.shared_headroom_bytes is not None)
    assert pool.shared_headroom_bytes == (2 * row.headroom_bytes - 10 * 1024) // ratio
