"""Pool sizes, added up by hand for one switch of each kind of chip."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from lossless.analysis.buffers.pools import PortLoad, SharedHeadroom, chip_bytes, lent_headroom, plan_pools
from lossless.ground.basics.errors import ProfileError
from lossless.ground.basics.findings import Origin
from lossless.model.fabric.qos import Pool
from lossless.model.hardware.load import load_switch
from lossless.model.hardware.model import Asic, BufferDefaults, Hwsku

G = 10**9
KIB = 1024
NOWHERE = Origin("fabric.yaml")


def hardware(profile_name: str, hwsku_name: str, template: str = "t0") -> tuple[Asic, Hwsku, BufferDefaults]:
    profile = load_switch(profile_name)
    hwsku = profile.hwsku(hwsku_name)
    assert hwsku is not None
    defaults = hwsku.buffer_defaults(template)
    assert defaults is not None
    return profile.asic, hwsku, defaults


def load(
    hwsku: Hwsku, speed_bps: int, cable_m: int, lanes: int, groups: int = 1, egress: int = 0
) -> PortLoad:
    row = hwsku.row(speed_bps, cable_m)
    assert row is not None
    return PortLoad(row, lanes, groups, 1, egress)


def pool(pools: tuple[Pool, ...], name: str = "ingress_lossless_pool") -> Pool:
    return next(pool for pool in pools if pool.name == name)


def test_spectrum_without_shared_headroom() -> None:
    """Terms and constants: sonic-swss cfgmgr/buffer_pool_mellanox.lua @1469e8d, SN5600 and its row of 400G."""
    asic, hwsku, defaults = hardware("nvidia-sn5600", "ACS-SN5600")
    loads = (load(hwsku, 400 * G, 5, 4, groups=2, egress=9216), load(hwsku, 800 * G, 40, 8, egress=9216))
    pools = plan_pools(asic, defaults, loads, SharedHeadroom(1.0), NOWHERE)
    management = 256 * KIB
    latency = 19 * KIB
    four_lanes = 2 * loads[0].row.reserved_bytes + latency + latency + 10 * KIB + 9216
    eight_lanes = loads[1].row.reserved_bytes + 2 * (2 * latency - KIB) + 10 * KIB + 9216
    left = 158_229_504 - management - four_lanes - eight_lanes
    assert asic.pipeline_latency_bytes == latency
    assert pool(pools).size_bytes == pool(pools, "ingress_lossy_pool").size_bytes == left // 2
    assert pool(pools, "egress_lossless_pool").size_bytes == 158_229_504
    assert pool(pools).shared_headroom_bytes is None


def test_spectrum_with_shared_headroom() -> None:
    """What exceeds ``size`` is shared, but for 10 KiB that each lossless port keeps (same source)."""
    asic, hwsku, defaults = hardware("nvidia-sn4700", "Mellanox-SN4700-C128")
    row = hwsku.row(100 * G, 40)
    assert row is not None
    loads = (load(hwsku, 100 * G, 40, 2, groups=2),) * 3
    beyond = row.xon_bytes + row.headroom_bytes - row.reserved_bytes
    shared = 3 * (2 * beyond - 10 * KIB)
    for ratio in (1.0, 2.0, 3.0):
        pools = plan_pools(asic, defaults, loads, SharedHeadroom(ratio), NOWHERE)
        latency = int(asic.pipeline_latency_bytes or 0)
        port = 2 * row.reserved_bytes + 2 * latency + 10 * KIB + 10 * KIB
        assert pool(pools).shared_headroom_bytes == math.ceil(shared / ratio)
        assert pool(pools).size_bytes == 60_817_392 - 256 * KIB - 3 * port - math.ceil(shared / ratio)


def test_a_port_without_lossless_groups_keeps_no_private_headroom() -> None:
    asic, hwsku, defaults = hardware("nvidia-sn4700", "Mellanox-SN4700-C128")
    idle, busy = (load(hwsku, 100 * G, 40, 2, groups=groups) for groups in (0, 1))
    with_idle = plan_pools(asic, defaults, (busy, idle), SharedHeadroom(1.0), NOWHERE)
    without = plan_pools(asic, defaults, (busy,), SharedHeadroom(1.0), NOWHERE)
    assert pool(with_idle).shared_headroom_bytes == pool(without).shared_headroom_bytes


def test_tofino_reserves_each_group_its_headroom() -> None:
    asic, hwsku, defaults = hardware("accton-as9516", "newport")
    loads = (load(hwsku, 400 * G, 40, 8, groups=2),) * 4
    pools = plan_pools(asic, defaults, loads, SharedHeadroom(1.0), NOWHERE)
    assert pool(pools).size_bytes == 46_749_824 - 3_520_000 - 8 * 54_272
    assert pool(pools, "egress_lossy_pool").size_bytes == 2_463_824


def test_broadcom_with_headroom_counted_in_and_beside() -> None:
    """The two vendors' files: 7060X6 counts the shared headroom into the pool's size, 7260CX3 does not."""
    asic, hwsku, defaults = hardware("arista-7060x6-64pe", "Arista-7060X6-64PE-O128S2")
    loads = (load(hwsku, 400 * G, 40, 4, groups=2),) * 8
    counted_in = pool(plan_pools(asic, defaults, loads, SharedHeadroom(1.0), NOWHERE))
    assert counted_in.size_bytes == 166_115_492
    assert counted_in.shared_headroom_bytes == 16 * loads[0].row.headroom_bytes
    asic, hwsku, defaults = hardware("arista-7260cx3", "Arista-7260CX3-C64")
    loads = (load(hwsku, 100 * G, 40, 4, groups=2),) * 8
    beside = pool(plan_pools(asic, defaults, loads, SharedHeadroom(1.0), NOWHERE))
    assert beside.shared_headroom_bytes == 16 * loads[0].row.headroom_bytes
    assert beside.size_bytes == 33_329_088 + 7_827_456 - beside.shared_headroom_bytes


def test_headroom_that_takes_more_than_the_chip_leaves_pools_of_nothing() -> None:
    asic, hwsku, defaults = hardware("nvidia-sn5600", "ACS-SN5600")
    groups = (load(hwsku, 800 * G, 300, 8, groups=8),) * 512
    pools = plan_pools(asic, defaults, groups, SharedHeadroom(1.0), NOWHERE)
    assert pool(pools).size_bytes == pool(pools, "ingress_lossy_pool").size_bytes == 0
    asic, hwsku, defaults = hardware("accton-as9516", "newport")
    groups = (load(hwsku, 400 * G, 40, 8, groups=8),) * 512
    assert pool(plan_pools(asic, defaults, groups, SharedHeadroom(1.0), NOWHERE)).size_bytes == 0


def test_a_shared_headroom_pool_that_nobody_claims_has_640_kib_on_nvidia_chips() -> None:
    asic, hwsku, defaults = hardware("nvidia-sn4700", "Mellanox-SN4700-C128")
    idle = load(hwsku, 100 * G, 40, 2, groups=0)
    assert lent_headroom(asic, (idle,), 1.0) == 640 * KIB
    assert (
        pool(plan_pools(asic, defaults, (idle,), SharedHeadroom(1.0), NOWHERE)).shared_headroom_bytes
        == 640 * KIB
    )
    # A row that holds all of its own claims nothing of it either, and less than nothing neither.
    row = idle.row._replace(reserved_bytes=10**6)
    full = idle._replace(row=row, lossless_groups=1)
    claiming = load(hwsku, 100 * G, 40, 2, groups=2)
    both = 2 * (claiming.row.xon_bytes + claiming.row.headroom_bytes - claiming.row.reserved_bytes)
    assert lent_headroom(asic, (full,), 1.0) == 640 * KIB
    assert lent_headroom(asic, (full, claiming), 1.0) == both - 20 * KIB
    other, hwsku, _ = hardware("arista-7260cx3", "Arista-7260CX3-C64")
    assert lent_headroom(other, (load(hwsku, 100 * G, 40, 4, groups=0),), 1.0) == 0


def test_lossy_groups_hold_a_pipeline_each() -> None:
    asic, hwsku, defaults = hardware("nvidia-sn5600", "ACS-SN5600")
    none, two = (load(hwsku, 400 * G, 5, 4)._replace(lossy_groups=groups) for groups in (0, 2))
    sizes = [
        pool(plan_pools(asic, defaults, (port,), SharedHeadroom(1.0), NOWHERE)).size_bytes or 0
        for port in (none, two)
    ]
    assert sizes[0] - sizes[1] == 19 * KIB


def test_a_chip_sized_by_nvidias_rules_must_say_its_pipeline_latency() -> None:
    asic, hwsku, defaults = hardware("nvidia-sn5600", "ACS-SN5600")
    unknown = asic._replace(pipeline_latency_bytes=None)
    with pytest.raises(ProfileError, match=r"must give pipeline_latency_bytes with formula mellanox$"):
        plan_pools(unknown, defaults, (load(hwsku, 400 * G, 5, 4),), SharedHeadroom(1.0), NOWHERE)


def test_half_the_chip_is_the_most_that_holds_all_groups_at_once() -> None:
    asic, hwsku, defaults = hardware("arista-7060x6-64pe", "Arista-7060X6-64PE-256x200G")
    half = chip_bytes(defaults) // 2
    for claimed, shared in ((half - 1, half - 1), (half, half), (half + 1, half), (3 * half, half)):
        row = hwsku.headroom[0]._replace(headroom_bytes=claimed)
        pools = plan_pools(asic, defaults, (PortLoad(row, 4, 1, 0, 0),), SharedHeadroom(), NOWHERE)
        assert pool(pools).shared_headroom_bytes == shared


def test_a_longer_cable_never_makes_the_headroom_pool_smaller() -> None:
    for profile, name in (("arista-7060x6-64pe", "Arista-7060X6-64PE-256x200G"), ("dell-z9864f", None)):
        product = load_switch(profile)
        sku = next(h for h in product.hwskus if name in (None, h.name) and h.headroom and h.buffers)
        speed_bps = sku.ports[0].speed_bps
        rows = sorted((r for r in sku.headroom if r.speed_bps == speed_bps), key=lambda r: r.cable_m)
        lent = [
            pool(
                plan_pools(
                    product.asic,
                    sku.buffers[0],
                    (PortLoad(row, 2, 2, 1, 0),) * ports,
                    SharedHeadroom(),
                    NOWHERE,
                )
            ).shared_headroom_bytes
            for ports in (64, 256)
            for row in rows
        ]
        each = len(rows)
        for sizes in (lent[:each], lent[each:]):
            assert sizes == sorted(size or 0 for size in sizes)


CHOICES = st.sampled_from(
    [
        ("nvidia-sn5600", "ACS-SN5600"),
        ("nvidia-sn4700", "Mellanox-SN4700-C128"),
        ("nvidia-sn3700", "ACS-MSN3700"),
        ("arista-7060x6-64pe", "Arista-7060X6-64PE-O128S2"),
        ("arista-7260cx3", "Arista-7260CX3-C64"),
        ("dell-z9664f", "DellEMC-Z9664f-O64"),
        ("accton-as9516", "newport"),
    ]
)


@given(CHOICES, st.data(), st.integers(1, 400), st.integers(1, 3), st.floats(1, 8))
def test_more_load_never_leaves_more_and_pools_stay_within_the_chip(
    choice: tuple[str, str], data: st.DataObject, ports: int, groups: int, ratio: float
) -> None:
    asic, hwsku, defaults = hardware(*choice)
    row = data.draw(st.sampled_from(hwsku.headroom))
    one = PortLoad(row, 4, groups, 1, 0)
    fewer, more = (
        plan_pools(asic, defaults, (one,) * n, SharedHeadroom(ratio), NOWHERE) for n in (ports, ports + 1)
    )
    for before, after in zip(fewer, more, strict=True):
        assert before.size_bytes is not None
        assert after.size_bytes is not None
        assert 0 <= after.size_bytes <= before.size_bytes <= chip_bytes(defaults)
    shared = pool(more).shared_headroom_bytes
    assert shared is None or shared <= chip_bytes(defaults) or (pool(more).size_bytes or 0) < shared


@given(CHOICES, st.integers(1, 300), st.floats(1, 8), st.floats(1, 8))
def test_accepting_more_oversubscription_never_leaves_less(
    choice: tuple[str, str], ports: int, one: float, other: float
) -> None:
    asic, hwsku, defaults = hardware(*choice)
    loads = (PortLoad(hwsku.headroom[0], 4, 2, 1, 0),) * ports
    low, high = (
        plan_pools(asic, defaults, loads, SharedHeadroom(ratio), NOWHERE) for ratio in sorted((one, other))
    )
    assert (pool(low).size_bytes or 0) <= (pool(high).size_bytes or 0)
    assert (pool(low).shared_headroom_bytes or 0) >= (pool(high).shared_headroom_bytes or 0)


def test_a_pool_that_would_take_more_than_half_the_chip_takes_half() -> None:
    """256 ports of 200G on Tomahawk 5 claim 154 MB at once; nothing would be left to share."""
    asic, hwsku, defaults = hardware("arista-7060x6-64pe", "Arista-7060X6-64PE-256x200G")
    loads = (load(hwsku, 200 * G, 40, 2, groups=2),) * 256
    claimed = 2 * 256 * loads[0].row.headroom_bytes
    assert claimed > chip_bytes(defaults) // 2
    assert (
        pool(plan_pools(asic, defaults, loads, SharedHeadroom(), NOWHERE)).shared_headroom_bytes
        == chip_bytes(defaults) // 2
    )
    few = loads[:8]
    at_once = 2 * 8 * loads[0].row.headroom_bytes
    assert pool(plan_pools(asic, defaults, few, SharedHeadroom(), NOWHERE)).shared_headroom_bytes == at_once
