"""Pool sizes, added up by hand for one switch of each kind of chip."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from lossless.analysis.buffers.pools import PortLoad, chip_bytes, plan_pools
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
    pools = plan_pools(asic, defaults, loads, 1.0, NOWHERE)
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
        pools = plan_pools(asic, defaults, loads, ratio, NOWHERE)
        latency = int(asic.pipeline_latency_bytes or 0)
        port = 2 * row.reserved_bytes + 2 * latency + 10 * KIB + 10 * KIB
        assert pool(pools).shared_headroom_bytes == math.ceil(shared / ratio)
        assert pool(pools).size_bytes == 60_817_392 - 256 * KIB - 3 * port - math.ceil(shared / ratio)


def test_a_port_without_lossless_groups_keeps_no_private_headroom() -> None:
    asic, hwsku, defaults = hardware("nvidia-sn4700", "Mellanox-SN4700-C128")
    idle, busy = (load(hwsku, 100 * G, 40, 2, groups=groups) for groups in (0, 1))
    with_idle = plan_pools(asic, defaults, (busy, idle), 1.0, NOWHERE)
    without = plan_pools(asic, defaults, (busy,), 1.0, NOWHERE)
    assert pool(with_idle).shared_headroom_bytes == pool(without).shared_headroom_bytes


def test_tofino_reserves_each_group_its_headroom() -> None:
    asic, hwsku, defaults = hardware("accton-as9516", "newport")
    loads = (load(hwsku, 400 * G, 40, 8, groups=2),) * 4
    pools = plan_pools(asic, defaults, loads, 1.0, NOWHERE)
    assert pool(pools).size_bytes == 46_749_824 - 3_520_000 - 8 * 54_272
    assert pool(pools, "egress_lossy_pool").size_bytes == 2_463_824


def test_broadcom_with_headroom_counted_in_and_beside() -> None:
    """The two vendors' files: 7060X6 counts the shared headroom into the pool's size, 7260CX3 does not."""
    asic, hwsku, defaults = hardware("arista-7060x6-64pe", "Arista-7060X6-64PE-O128S2")
    loads = (load(hwsku, 400 * G, 40, 4, groups=2),) * 8
    counted_in = pool(plan_pools(asic, defaults, loads, 1.0, NOWHERE))
    assert counted_in.size_bytes == 166_115_492
    assert counted_in.shared_headroom_bytes == 16 * loads[0].row.headroom_bytes
    asic, hwsku, defaults = hardware("arista-7260cx3", "Arista-7260CX3-C64")
    loads = (load(hwsku, 100 * G, 40, 4, groups=2),) * 8
    beside = pool(plan_pools(asic, defaults, loads, 1.0, NOWHERE))
    assert beside.shared_headroom_bytes == 16 * loads[0].row.headroom_bytes
    assert beside.size_bytes == 33_329_088 + 7_827_456 - beside.shared_headroom_bytes


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
    fewer, more = (plan_pools(asic, defaults, (one,) * n, ratio, NOWHERE) for n in (ports, ports + 1))
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
    low, high = (plan_pools(asic, defaults, loads, ratio, NOWHERE) for ratio in sorted((one, other)))
    assert (pool(low).size_bytes or 0) <= (pool(high).size_bytes or 0)
    assert (pool(low).shared_headroom_bytes or 0) >= (pool(high).shared_headroom_bytes or 0)


def test_a_pool_that_would_take_half_the_chip_stays_as_the_vendor_ships_it() -> None:
    """256 ports of 200G on Tomahawk 5 claim 154 MB at once; nothing would be left to share."""
    asic, hwsku, defaults = hardware("arista-7060x6-64pe", "Arista-7060X6-64PE-256x200G")
    shipped = defaults.pool("ingress_lossless_pool")
    assert shipped is not None
    loads = (load(hwsku, 200 * G, 40, 2, groups=2),) * 256
    claimed = 2 * 256 * loads[0].row.headroom_bytes
    assert claimed > chip_bytes(defaults) // 2
    assert (
        pool(plan_pools(asic, defaults, loads, None, NOWHERE)).shared_headroom_bytes
        == shipped.shared_headroom_bytes
    )
    few = loads[:8]
    at_once = 2 * 8 * loads[0].row.headroom_bytes
    assert pool(plan_pools(asic, defaults, few, None, NOWHERE)).shared_headroom_bytes == at_once
