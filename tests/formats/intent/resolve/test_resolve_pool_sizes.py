"""Pools and shared headroom that an intent states: which of several statements counts, and what no switch can hold."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from lossless.analysis.buffers.dynamic_model import with_computed_buffers
from lossless.formats.sonic.from_model import tables
from lossless.model.fabric.model import Fabric
from lossless.model.fabric.qos import Pool
from tests.formats.intent.intent_texts import SHAPE, said_of
from tests.formats.intent.resolve.test_resolve_class_buffers import SWITCHES, resolved
from tests.strategies import written

MIB = 2**20
SHARING = SHAPE.replace("nvidia-sn5600", "{profile: nvidia-sn5600, hwsku: Mellanox-SN5600-V256}")
SHARING = SHARING.replace("2 x 400G", "2 x 200G").replace("800G", "200G")
BAREFOOT = SHAPE.replace("nvidia-sn5600", "accton-as9516").replace("800G", "400G")


def with_buffers(policy: str, text: str = SHAPE) -> str:
    return f"{text}buffers: {policy}\n"


def pools_of(fabric: Fabric, switch: str = "leaf1") -> dict[str, Pool]:
    (found,) = (s for s in fabric.switches if s.name == switch)
    return {pool.name: pool for pool in found.qos.pools}


RANK = st.fixed_dictionaries(
    {},
    optional={
        "pool_sizes": st.fixed_dictionaries(
            {},
            optional={
                "ingress_lossless_pool": st.sampled_from(["10 MiB", "20 MiB"]).map(
                    lambda size: {"size": size}
                )
            },
        )
    },
)
POLICIES = st.tuples(
    RANK,
    st.fixed_dictionaries(
        {},
        optional={
            "by_tier": st.dictionaries(st.sampled_from(["leaf", "spine"]), RANK, min_size=1),
            "by_device": st.dictionaries(st.sampled_from(sorted(SWITCHES)), RANK, min_size=1),
        },
    ),
).map(lambda parts: {**parts[0], **parts[1]})


def expected(policy: dict[str, Any], switch: str) -> int | None:
    """Return what is stated nearest: of the switch, of its tier, of all."""
    ranks = (
        policy.get("by_device", {}).get(switch, {}),
        policy.get("by_tier", {}).get(SWITCHES[switch], {}),
        policy,
    )
    sizes = (rank.get("pool_sizes", {}).get("ingress_lossless_pool", {}).get("size") for rank in ranks)
    return next((int(size.split()[0]) * MIB for size in sizes if size), None)


@given(POLICIES, st.sampled_from(["traditional", "dynamic"]))
def test_a_device_counts_before_its_tier_and_its_tier_before_the_fabric(
    policy: dict[str, Any], model: str
) -> None:
    fabric = resolved(with_buffers(written({"model": model, **policy}).replace("\n", "")))
    left_out = resolved(with_buffers(f"{{model: {model}}}"))
    for switch in SWITCHES:
        size = expected(policy, switch)
        usual = pools_of(left_out, switch)["ingress_lossless_pool"].size_bytes
        assert pools_of(fabric, switch)["ingress_lossless_pool"].size_bytes == (
            usual if size is None else size
        )


def test_ratio_and_size_of_the_shared_headroom_are_one_key_of_which_the_nearest_counts() -> None:
    policy = (
        "{headroom_oversubscription: 2, by_tier: {spine: {pool_sizes: {ingress_lossless_pool: {xoff: 3 MiB}}}}, "
        "by_device: {spine2: {headroom_oversubscription: 4}}}"
    )
    fabric = resolved(with_buffers(policy, SHARING))
    whole = resolved(with_buffers("{headroom_oversubscription: 1}", SHARING))
    lent = {
        switch.name: pools_of(fabric, switch.name)["ingress_lossless_pool"].shared_headroom_bytes
        for switch in fabric.switches
    }
    leaf, spine = (
        pools_of(whole, name)["ingress_lossless_pool"].shared_headroom_bytes or 0
        for name in ("leaf1", "spine1")
    )
    assert lent == {
        "leaf1": -(-leaf // 2),
        "leaf2": -(-leaf // 2),
        "spine1": 3 * MIB,
        "spine2": -(-spine // 4),
    }


def test_what_is_stated_of_the_shared_headroom_is_not_left_to_share() -> None:
    few, many = (
        pools_of(
            resolved(with_buffers(f"{{pool_sizes: {{ingress_lossless_pool: {{xoff: {xoff}}}}}}}", SHARING))
        )
        for xoff in ("2 MiB", "6 MiB")
    )
    pools = len([pool for pool in few.values() if pool.kind == "ingress"])
    sizes = [found["ingress_lossless_pool"].size_bytes or 0 for found in (few, many)]
    assert sizes[0] - sizes[1] == pytest.approx(4 * MIB / pools, abs=1)


class TestTheDynamicModel:
    def test_a_part_of_what_is_left_is_rendered_and_computed(self) -> None:
        """buffer_pool_mellanox.lua: available_buffer * percentage / 100; left out, half of it beside another pool."""
        policy = "{model: dynamic, pool_sizes: {ingress_lossless_pool: {percentage: 20%}}}"
        fabric, usual = resolved(with_buffers(policy)), resolved(with_buffers("{model: dynamic}"))
        row = tables(fabric.switches[0])["BUFFER_POOL"]["ingress_lossless_pool"]
        assert row == {"type": "ingress", "mode": "dynamic", "percentage": "20"}
        sizes = [
            pools_of(with_computed_buffers(found))["ingress_lossless_pool"].size_bytes or 0
            for found in (fabric, usual)
        ]
        assert sizes[0] / sizes[1] == pytest.approx(0.2 / 0.5, abs=1e-6)

    def test_a_size_is_kept_and_the_shared_headroom_computed_beside_it(self) -> None:
        policy = "{model: dynamic, headroom_oversubscription: 2, pool_sizes: {ingress_lossless_pool: {size: 40 MiB}}}"
        fabric, usual = (
            with_computed_buffers(resolved(with_buffers(text)))
            for text in (policy, "{model: dynamic, headroom_oversubscription: 2}")
        )
        found, other = (pools_of(each)["ingress_lossless_pool"] for each in (fabric, usual))
        assert found.size_bytes == 40 * MIB
        assert found.shared_headroom_bytes == other.shared_headroom_bytes
        assert found.shared_headroom_bytes

    def test_a_size_of_the_shared_headroom_makes_groups_reserve_xon_alone(self) -> None:
        policy = "{model: dynamic, pool_sizes: {ingress_lossless_pool: {xoff: 4 MiB}}}"
        fabric = with_computed_buffers(resolved(with_buffers(policy)))
        assert pools_of(fabric)["ingress_lossless_pool"].shared_headroom_bytes == 4 * MIB
        (group,) = {port.qos.groups[3] for port in fabric.switches[2].ports if port.qos}
        assert group is not None
        assert group.buffer is not None
        assert group.buffer.reserved_bytes == group.buffer.xon_bytes


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            with_buffers("{pool_sizes: {ingress_lossless_pool: {percentage: 20%}}}"),
            "buffers.pool_sizes.ingress_lossless_pool.percentage: counts in the dynamic buffer model alone, and role "
            "leaf (ACS-SN5600) has the traditional one; state size",
        ),
        (
            with_buffers("{pool_sizes: {ingress_lossless_pool: {xoff: 2 MiB}}}"),
            "buffers.pool_sizes.ingress_lossless_pool.xoff: the headroom rows of role leaf (ACS-SN5600) hold all of "
            "it, so that no pool lends any; leave it out",
        ),
        (
            with_buffers("{by_tier: {spine: {pool_sizes: {ingress_lossy_pool: {size: 2 MiB}}}}}", SHARING),
            "buffers.by_tier.spine.pool_sizes.ingress_lossy_pool.size: role spine (Mellanox-SN5600-V256) has no "
            "ingress_lossy_pool; its pools are ingress_lossless_pool, egress_lossless_pool, egress_lossy_pool",
        ),
        (
            with_buffers(
                "{headroom_oversubscription: 2, pool_sizes: {ingress_lossless_pool: {xoff: 2 MiB}}}"
            ),
            "buffers.pool_sizes.ingress_lossless_pool.xoff: gives the shared headroom its size, and so does "
            "headroom_oversubscription; leave out one of them",
        ),
        (
            with_buffers(
                "{model: dynamic, pool_sizes: {ingress_lossless_pool: {size: 2 MiB, percentage: 20%}}}"
            ),
            "buffers.pool_sizes.ingress_lossless_pool.percentage: a pool has one size; leave out size or percentage",
        ),
        (
            with_buffers(
                "{model: dynamic, pool_sizes: {ingress_lossless_pool: {percentage: 20%}}}", BAREFOOT
            ),
            "buffers.pool_sizes.ingress_lossless_pool.percentage: on accton-as9516 the dynamic buffer model takes "
            "no percentage; leave it out",
        ),
        (
            with_buffers("{model: dynamic, by_tier: {leaf: {headroom_oversubscription: 1.5}}}"),
            "buffers.by_tier.leaf.headroom_oversubscription: the dynamic buffer model divides by a whole number of at "
            "most 65,535; 1.5 is none",
        ),
        (
            with_buffers("{by_tier: {leaf: {pool_sizes: {egress_lossy_pool: {size: 900 MiB}}}}}"),
            "buffers.by_tier.leaf.pool_sizes.egress_lossy_pool.size: 943,718,400 B is more than there is: role leaf "
            "(ACS-SN5600) has 158,229,504 B of buffer in all",
        ),
        (
            with_buffers("{model: dynamic, pool_sizes: {ingress_lossless_pool: {percentage: 0%}}}"),
            "buffers.pool_sizes.ingress_lossless_pool.percentage: leaves lossless groups nothing to share; a pool has "
            "room for packets",
        ),
        (
            with_buffers("{by_device: {leaf9: {headroom_oversubscription: 2}}}"),
            "buffers.by_device: no switch is called leaf9; did you mean leaf2? (others: leaf1, spine1, spine2)",
        ),
    ],
)
def test_what_no_switch_can_hold_is_refused(text: str, said: str) -> None:
    messages = {message.split(": ", 1)[1] for message in said_of(text)}
    assert messages == {said}


def test_on_barefoot_chips_the_vendor_s_sizes_are_rendered_in_the_dynamic_model_too() -> None:
    """buffer_pool_barefoot.lua @e6b0c5b joins the configured size to its result, which fails where there is none."""
    rows = tables(resolved(with_buffers("{model: dynamic}", BAREFOOT)).switches[0])["BUFFER_POOL"]
    assert rows["ingress_lossless_pool"]["size"] == "43067728"
    assert all("size" in row for row in rows.values())
