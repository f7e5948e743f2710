"""What an intent chooses for its buffers, what comes of it, and what is refused because no switch can have it."""

from __future__ import annotations

import pytest

from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.documents import load_text
from lossless.model.fabric.model import Switch, Tier
from lossless.model.fabric.qos import DynamicBuffers, Pool
from tests.formats.intent.intent_texts import SHAPE, said_of, spoilt

SN5600 = "nvidia-sn5600"
NEWPORT = SHAPE.replace("spine: nvidia-sn5600", "spine: accton-as9516").replace("2 x 800G", "2 x 400G")
HAVE_DYNAMIC = (
    "accton-as9516, nvidia-sn2410, nvidia-sn2700, nvidia-sn3700, nvidia-sn4600c, nvidia-sn4700, nvidia-sn5600, "
    "nvidia-sn5640"
)
GIVE_BACK = HAVE_DYNAMIC.removeprefix("accton-as9516, ")


def switches(buffers: str, text: str = SHAPE) -> tuple[Switch, ...]:
    document = load_text(f"{text}buffers: {buffers}\n", "fabric.yaml")
    return resolve(load_intent(document)).switches


def leaf(buffers: str, text: str = SHAPE) -> Switch:
    return switches(buffers, text)[0]


def said(buffers: str, text: str = SHAPE) -> list[str]:
    return said_of(f"{text}buffers: {buffers}\n")


def pools(switch: Switch) -> dict[str, Pool]:
    return {pool.name: pool for pool in switch.qos.pools}


class TestTheDynamicModel:
    def test_nothing_is_told_a_traditional_switch(self) -> None:
        switch = leaf("{model: traditional}")
        assert switch.qos.buffer_model == "traditional"
        assert switch.qos.dynamic is None
        assert switch == leaf("{}")

    def test_the_switch_is_told_what_it_computes_from(self) -> None:
        told = leaf("{model: dynamic}").qos.dynamic
        assert told is not None
        assert told[:4] == DynamicBuffers(0, None, 1024, 100, told.origin)[:4]

    def test_what_is_stated_is_told(self) -> None:
        buffers = "{model: dynamic, headroom_oversubscription: 2, lossless_mtu: 4200, small_packets: 50%}"
        told = leaf(buffers).qos.dynamic
        assert told is not None
        assert told[:4] == (0, 2, 4200, 50)

    def test_only_the_pool_that_spans_the_buffer_has_a_size(self) -> None:
        sizes = {name: pool.size_bytes for name, pool in pools(leaf("{model: dynamic}")).items()}
        computed = dict.fromkeys(["ingress_lossless_pool", "ingress_lossy_pool", "egress_lossy_pool"])
        assert sizes == {**computed, "egress_lossless_pool": 158_229_504}

    def test_cables_are_configured_as_long_as_they_are(self) -> None:
        assert {port.cable.configured_m for port in leaf("{model: dynamic}").ports} == {3, 30}
        assert {port.cable.configured_m for port in leaf("{}").ports} == {5, 40}

    def test_a_cable_beyond_every_row_is_no_trouble(self) -> None:
        far = spoilt(SHAPE, ("uplink: 30m", "uplink: 1700m"))
        assert {port.cable.configured_m for port in leaf("{model: dynamic}", far).ports} == {3, 1700}

    def test_lossless_groups_are_for_the_switch_to_compute(self) -> None:
        qos = leaf("{model: dynamic}").ports[0].qos
        assert qos is not None
        groups = {group.number: group for group in qos.groups if group is not None}
        assert {number for number, group in groups.items() if group.generated} == {3}
        assert groups[3].buffer is None
        assert groups[0].buffer is not None

    def test_it_may_be_that_of_one_role(self) -> None:
        models = {switch.tier: switch.qos.buffer_model for switch in switches("{model: {leaf: dynamic}}")}
        assert models == {Tier.LEAF: "dynamic", Tier.SPINE: "traditional"}

    def test_a_chip_without_a_formula_has_no_dynamic_model(self) -> None:
        arista = spoilt(SHAPE, ("spine: nvidia-sn5600", "spine: arista-7060x6-64pe-b"))
        refused = (
            "buffers.model: SONiC has no dynamic buffer model for arista-7060x6-64pe-b (Tomahawk 5); "
            f"switches here that have one: {HAVE_DYNAMIC}"
        )
        assert said("{model: dynamic}", arista) == [f"23:11: {refused}"]
        assert said("{model: {leaf: dynamic, spine: dynamic}}", arista) == [f"23:41: {refused}"]
        assert said("{model: {leaf: dynamic}}", arista) == []

    def test_a_ratio_must_be_one_that_the_switch_can_hold(self) -> None:
        key = "buffers.headroom_oversubscription"
        expected = f"{key}: the dynamic buffer model divides by a whole number of at most 65,535"
        assert said("{model: dynamic, headroom_oversubscription: 1.5}") == [f"23:54: {expected}; 1.5 is none"]
        assert said("{model: dynamic, headroom_oversubscription: 65536}") == [
            f"23:54: {expected}; 65536 is none"
        ]
        assert said("{model: dynamic, headroom_oversubscription: 65535}") == []

    def test_a_ratio_that_the_switch_ignores_is_refused(self) -> None:
        (message,) = said("{model: dynamic, headroom_oversubscription: 2}", NEWPORT)
        assert message == (
            "23:54: buffers.headroom_oversubscription: on accton-as9516 (Tofino 2) the dynamic buffer model takes "
            "its own size of the shared headroom pool, whatever ratio is configured; leave it out"
        )
        assert said("{model: {leaf: dynamic}, headroom_oversubscription: 2}", NEWPORT) == []


class TestTheFormOfPools:
    def test_left_out_it_is_the_hwskus_own(self) -> None:
        assert {name for name in pools(leaf("{}")) if name.startswith("ingress")} == {
            "ingress_lossless_pool",
            "ingress_lossy_pool",
        }
        assert leaf("{pools: split}") == leaf("{}")

    def test_a_single_pool_holds_lossy_traffic_too(self) -> None:
        switch = leaf("{pools: single}")
        assert {name for name in pools(switch) if name.startswith("ingress")} == {"ingress_lossless_pool"}
        qos = switch.ports[0].qos
        assert qos is not None
        lossy = qos.groups[0]
        assert lossy is not None
        assert lossy.buffer is not None
        assert lossy.buffer.pool is pools(switch)["ingress_lossless_pool"]
        assert [profile.name for profile in qos.profile_lists[0]] == ["ingress_lossless_profile"]

    def test_a_single_pool_has_the_room_of_both(self) -> None:
        both = [
            pool.size_bytes or 0 for name, pool in pools(leaf("{}")).items() if name.startswith("ingress")
        ]
        one = pools(leaf("{pools: single}"))["ingress_lossless_pool"]
        assert sum(both) - (one.size_bytes or 0) - (one.shared_headroom_bytes or 0) < 200_000

    def test_a_form_that_no_hwsku_ships_is_refused(self) -> None:
        text = SHAPE.replace(SN5600, "nvidia-sn3700").replace("400G", "200G").replace("800G", "200G")
        assert said("{pools: single}", text) == [
            "23:11: buffers.pools: no HWSKU of nvidia-sn3700 ships a single ingress pool for the headroom of "
            "ACS-MSN3700; HWSKUs with a single ingress pool: none"
        ]

    def test_pools_that_would_not_hold_the_headroom_of_a_hwsku_are_refused(self) -> None:
        """Rows of V64 reserve xon alone, and the split pools of the product lend nothing."""
        choice = "{profile: nvidia-sn4700, hwsku: Mellanox-SN4700-V64}"
        text = (
            SHAPE.replace(f"leaf: {SN5600}", f"leaf: {choice}")
            .replace("400G", "200G")
            .replace("800G", "200G")
        )
        (message,) = said("{pools: {leaf: split}}", text)
        assert message == (
            "23:25: buffers.pools: no HWSKU of nvidia-sn4700 ships ingress pools split into lossless and lossy for the "
            "headroom of Mellanox-SN4700-V64; HWSKUs with ingress pools split into lossless and lossy: ACS-MSN4700"
        )


class TestUnusedPorts:
    def test_they_are_left_alone_where_nothing_is_said(self) -> None:
        assert all(port.admin_up for port in leaf("{}").ports)
        assert leaf("{unused_ports: keep}") == leaf("{}")

    def test_they_give_their_buffer_back(self) -> None:
        switch = leaf("{unused_ports: reclaim}")
        unused = [port for port in switch.ports if not port.admin_up]
        assert {port.name for port in unused} == {spec.name for spec in switch.unused}
        assert len({id(port.qos) for port in unused}) == 1
        qos = unused[0].qos
        assert qos is not None
        assert not qos.pfc.priorities
        assert [group.buffer.name for group in qos.groups if group and group.buffer] == [
            "ingress_lossy_pg_zero_profile"
        ]
        assert [queue.buffer.name if queue and queue.buffer else None for queue in qos.queues] == [
            "egress_lossy_zero_profile",
            None,
            None,
            "egress_lossless_zero_profile",
            None,
            None,
            "egress_lossy_zero_profile",
            None,
        ]
        assert [[profile.name for profile in listed] for listed in qos.profile_lists] == [
            ["ingress_lossless_zero_profile", "ingress_lossy_zero_profile"],
            ["egress_lossless_zero_profile", "egress_lossy_zero_profile"],
        ]

    def test_pools_grow_by_what_ports_take_that_are_up_and_carry_nothing(self) -> None:
        """buffer_pool_mellanox.lua @e6b0c5b: a group for management and 10 KiB of mirror headroom for each port."""
        kept, reclaimed = leaf("{}"), leaf("{unused_ports: reclaim}")
        assert (kept.idle, reclaimed.idle) == (kept.unused, ())
        kept_pools, grown = pools(kept), pools(reclaimed)
        eight_lanes = sum(len(spec.lanes) == 8 for spec in kept.unused)
        taken = eight_lanes * (37 + 10) + (len(kept.unused) - eight_lanes) * (19 + 10)
        for name in ("ingress_lossless_pool", "ingress_lossy_pool", "egress_lossy_pool"):
            assert (grown[name].size_bytes or 0) - (kept_pools[name].size_bytes or 0) == taken * 1024 // 2
        assert grown["egress_lossless_pool"] == kept_pools["egress_lossless_pool"]
        zero = grown["ingress_zero_pool"]
        assert (zero.kind, zero.mode, zero.size_bytes) == ("ingress", "static", 0)

    def test_ports_that_an_intent_keeps_down_take_nothing(self) -> None:
        down = SHAPE.replace("leaf: nvidia-sn5600", "leaf: {profile: nvidia-sn5600, down: [Ethernet504]}")
        without, with_it = leaf("{}", down), leaf("{}")
        assert {spec.name for spec in set(with_it.idle) - set(without.idle)} == {"Ethernet504"}
        sizes = [pools(switch)["ingress_lossless_pool"].size_bytes or 0 for switch in (without, with_it)]
        assert sizes[0] - sizes[1] == (37 + 10) * 1024 // 2

    def test_with_a_single_pool_nothing_names_the_other(self) -> None:
        switch = leaf("{unused_ports: reclaim, pools: single}")
        qos = next(port.qos for port in switch.ports if not port.admin_up)
        assert qos is not None
        assert [profile.name for profile in qos.profile_lists[0]] == ["ingress_lossless_zero_profile"]

    def test_in_the_dynamic_model_the_switch_does_it_with_profiles_of_its_own(self) -> None:
        switch = leaf("{unused_ports: reclaim, model: dynamic}")
        names = {
            slot.buffer.name
            for port in switch.ports
            if not port.admin_up and port.qos
            for slot in (*port.qos.groups, *port.qos.queues)
            if slot is not None and slot.buffer is not None
        }
        assert names == {"ingress_lossy_profile", "q_lossy_profile", "egress_lossless_profile"}
        assert "ingress_zero_pool" not in pools(switch)

    def test_a_switch_without_such_profiles_is_refused(self) -> None:
        arista = spoilt(SHAPE, ("spine: nvidia-sn5600", "spine: arista-7060x6-64pe-b"))
        assert said("{unused_ports: reclaim}", arista) == [
            "23:11: buffers.unused_ports: SONiC has no profiles by which unused ports of arista-7060x6-64pe-b give "
            f"their buffer back; switches here for which it has: {GIVE_BACK}"
        ]
        assert said("{unused_ports: {leaf: reclaim}}", arista) == []


@pytest.mark.parametrize("profile", GIVE_BACK.split(", "))
def test_what_gives_back_never_reserves_nor_takes_a_share(profile: str) -> None:
    from lossless.model.hardware.load import load_switch

    zero = load_switch(profile).zero_buffers
    assert zero is not None
    assert "@66b5071" in zero.source
    assert {pool.size_bytes for pool in zero.pools} == {0}
    assert {(p.reserved_bytes, p.dynamic_th, p.static_th_bytes) for p in zero.profiles} == {
        (0, -8, None),
        (0, None, 0),
    }
