"""What queues reserve leaves so much less to share: switches of an intent against SONiC's own script.

The sizes are what cfgmgr/buffer_pool_mellanox.lua of sonic-swss @e6b0c5b returns for the rendered rows and the headroom
of each port (Lua 5.1; the cells, pipeline latency and lanes of each product). Ports that are down have profiles of size
0 there. In the traditional model, where SONiC computes no pool, the script was given the rows without their sizes.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

import pytest

from lossless.analysis.buffers.dynamic_model import room_left, with_computed_buffers
from tests.formats.intent.intent_texts import SHAPE, spoilt
from tests.formats.intent.resolve.test_resolve_class_buffers import resolved

if TYPE_CHECKING:
    from lossless.model.fabric.model import Fabric

HEADS = {
    "rdma": "  rdma: {dscp: 26, priority: 3, lossless: true, bandwidth: 50%, ",
    "cnp": "  cnp: {dscp: 48, priority: 6, ",
    "default": "  default: {dscp: rest, priority: 0, ",
}
C128 = "{profile: nvidia-sn4700, hwsku: Mellanox-SN4700-C128}"
ONE = {"rdma": "{size: 64 KiB}"}
ALL = {**ONE, "cnp": "{size: 9216 B}", "default": "{size: 20 kB}"}
MIXED = {
    "rdma": "{size: 4097 B, by_speed: {800G: {size: 100001 B}}}",
    "default": "{dynamic_th: 1, by_tier: {leaf: {size: 1 MiB}}}",
}
LOSSY = {"default": "{size: 20001 B}"}
SHARED = {**ONE, "default": "{size: 9217 B}"}
RATIO, RECLAIM = "headroom_oversubscription: 2", "unused_ports: reclaim"
Pools = tuple[tuple[int, int | None], tuple[int, int | None]]
"""Size and shared headroom of the lossless pool of leaf1 and of spine2."""


def fabric_with(queues: dict[str, str], policy: str, product: str = "nvidia-sn5600") -> Fabric:
    """Return a fabric of one product; others than the usual one have links of 100G."""
    changes = ((HEADS[name], f"{HEADS[name]}queue: {queue}, ") for name, queue in queues.items())
    text = spoilt(SHAPE, *changes).replace("nvidia-sn5600", product)
    text = text if product == "nvidia-sn5600" else text.replace("800G", "100G").replace("400G", "100G")
    return resolved(f"{text}buffers: {{{policy}}}\n")


def lossless_pools(fabric: Fabric) -> Pools:
    leaf, spine = (
        next(pool for pool in switch.qos.pools if pool.name == "ingress_lossless_pool")
        for switch in (fabric.switches[0], fabric.switches[-1])
    )
    return (leaf.size_bytes or 0, leaf.shared_headroom_bytes), (
        spine.size_bytes or 0,
        spine.shared_headroom_bytes,
    )


@pytest.mark.parametrize(
    ("queues", "policy", "product", "pools"),
    [
        ({}, "", "nvidia-sn5600", ((75_450_368, None), (76_574_720, None))),
        (ONE, "", "nvidia-sn5600", ((75_057_152, None), (76_443_648, None))),
        (ALL, "", "nvidia-sn5600", ((74_881_856, None), (76_385_216, None))),
        (MIXED, "", "nvidia-sn5600", ((68_942_522, None), (76_374_718, None))),
        (ONE, RATIO, "nvidia-sn5600", ((75_831_296, 1_511_424), (76_783_616, 643_072))),
        (ONE, "pools: single", "nvidia-sn5600", ((150_114_304, None), (152_887_296, None))),
        (LOSSY, RECLAIM, "nvidia-sn5600", ((76_692_794, None), (77_993_406, None))),
        (ONE, "", "nvidia-sn2700", ((5_234_160, None), (5_979_632, None))),
        (SHARED, RATIO, C128, ((54_546_404, 610_304), (56_004_588, 217_088))),
    ],
)
def test_the_dynamic_model_computes_what_the_script_does(
    queues: dict[str, str], policy: str, product: str, pools: Pools
) -> None:
    fabric = fabric_with(queues, ", ".join(filter(None, ["model: dynamic", policy])), product)
    assert lossless_pools(with_computed_buffers(fabric)) == pools


@pytest.mark.parametrize(
    ("queues", "policy", "product", "pools"),
    [
        ({}, "", "nvidia-sn5600", ((75_372_544, None), (76_513_280, None))),
        (ONE, "", "nvidia-sn5600", ((74_979_328, None), (76_382_208, None))),
        (ALL, "", "nvidia-sn5600", ((74_804_032, None), (76_323_776, None))),
        (MIXED, "", "nvidia-sn5600", ((68_864_698, None), (76_313_278, None))),
        (ONE, "pools: single", "nvidia-sn5600", ((149_180_416, 655_360), (152_068_096, 655_360))),
        (LOSSY, RECLAIM, "nvidia-sn5600", ((76_614_970, None), (77_931_966, None))),
        (ONE, "", "nvidia-sn2700", ((5_484_016, None), (6_061_552, None))),
        (SHARED, "", C128, ((54_538_212, 618_496), (55_996_396, 225_280))),
        (SHARED, RATIO, C128, ((54_847_460, 309_248), (56_109_036, 112_640))),
    ],
)
def test_planned_pools_are_those_of_the_script(
    queues: dict[str, str], policy: str, product: str, pools: Pools
) -> None:
    assert lossless_pools(fabric_with(queues, policy, product)) == pools


def test_what_is_left_of_a_chip_of_unknown_pipeline_latency_is_unknown() -> None:
    switch = fabric_with(ONE, "model: dynamic").switches[0]
    assert switch.profile is not None
    assert room_left(switch) is not None
    profile = copy(switch.profile)
    profile.asic = profile.asic._replace(pipeline_latency_bytes=None)
    assert room_left(switch._replace(profile=profile)) is None


@pytest.mark.parametrize("model", ["traditional", "dynamic"])
def test_each_queue_of_a_port_that_is_up_takes_what_it_reserves(model: str) -> None:
    """A leaf has 8 ports to hosts and 4 uplinks, a spine 4 ports; 52 more that are up have no queues."""
    plain, sized = (fabric_with(queues, f"model: {model}") for queues in ({}, ONE))
    taken = [
        (room_left(before) or 0) - (room_left(after) or 0)
        for before, after in zip(plain.switches, sized.switches, strict=True)
    ]
    assert taken == [12 * 65_536, 12 * 65_536, 4 * 65_536, 4 * 65_536]
