"""The tiers of switches: their order and words, and which one a deployed switch stands in."""

from __future__ import annotations

import pickle
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from lossless.ground.basics.records import UNKNOWN, Maybe
from lossless.model.fabric.model import Tier, deployed_tier, known_tier, tier_of_role

LEAF, SPINE, TOP = Tier
TIERS = st.sampled_from(Tier)


def test_tiers_are_ordered_from_the_hosts_up() -> None:
    assert all(lower < upper for lower, upper in pairwise((Tier.LEAF, Tier.SPINE, Tier.SUPER_SPINE)))
    assert min(Tier) > 0  # so that 0 is below all of them, and is no tier


@pytest.mark.parametrize("role", ["leaf", "spine", "super-spine"])
def test_a_tier_has_the_word_of_its_role_in_an_intent(role: str) -> None:
    tier = tier_of_role(role)
    assert tier is not None
    assert tier.word == role


@pytest.mark.parametrize("role", ["switch", "host", "", "LeafRouter"])
def test_other_roles_have_no_tier(role: str) -> None:
    assert tier_of_role(role) is None


@pytest.mark.parametrize(("tier", "known"), [(LEAF, LEAF), (None, None), (UNKNOWN, None)])
def test_a_tier_is_absent_or_unknown_or_known(tier: Maybe[Tier], known: Tier | None) -> None:
    assert known_tier(tier) is known


def test_a_tier_is_itself_in_another_process() -> None:
    assert [pickle.loads(pickle.dumps(tier)) for tier in (LEAF, UNKNOWN)] == [LEAF, UNKNOWN]


class TestWithHosts:
    @pytest.mark.parametrize("by_type", [LEAF, SPINE, None])
    def test_a_switch_is_a_leaf_whatever_its_type_says_of_a_tier_next_to_it(
        self, by_type: Tier | None
    ) -> None:
        assert deployed_tier(by_type, has_hosts=True, neighbors=[]) is LEAF
        assert deployed_tier(by_type, has_hosts=True, neighbors=[SPINE, SPINE]) is LEAF
        assert deployed_tier(by_type, has_hosts=True, neighbors=[TOP]) is LEAF

    def test_a_leaf_may_have_its_peer_for_a_neighbor(self) -> None:
        assert deployed_tier(LEAF, has_hosts=True, neighbors=[LEAF]) is LEAF
        assert deployed_tier(LEAF, has_hosts=True, neighbors=[LEAF, SPINE, SPINE]) is LEAF

    @pytest.mark.parametrize("by_type", [SPINE, None])
    def test_with_leaves_below_as_well_nobody_can_tell(self, by_type: Tier | None) -> None:
        assert deployed_tier(by_type, has_hosts=True, neighbors=[LEAF]) is UNKNOWN
        assert deployed_tier(by_type, has_hosts=True, neighbors=[LEAF, LEAF, TOP]) is UNKNOWN

    def test_a_super_spine_has_no_hosts(self) -> None:
        assert deployed_tier(TOP, has_hosts=True, neighbors=[SPINE]) is UNKNOWN


class TestWithoutHosts:
    @pytest.mark.parametrize("by_type", [SPINE, TOP, None])
    def test_what_is_above_leaves_alone_is_a_spine(self, by_type: Tier | None) -> None:
        assert deployed_tier(by_type, has_hosts=False, neighbors=[LEAF, LEAF]) is SPINE

    @pytest.mark.parametrize("tier", Tier)
    def test_no_switch_has_its_own_tier_alone_for_neighbors(self, tier: Tier) -> None:
        assert deployed_tier(tier, has_hosts=False, neighbors=[tier, tier]) is UNKNOWN

    @pytest.mark.parametrize("tier", Tier)
    def test_one_neighbor_may_be_a_peer(self, tier: Tier) -> None:
        assert deployed_tier(tier, has_hosts=False, neighbors=[tier]) is tier
        assert deployed_tier(None, has_hosts=False, neighbors=[tier]) is UNKNOWN

    def test_nothing_known_is_unknown(self) -> None:
        assert deployed_tier(None, has_hosts=False, neighbors=[]) is UNKNOWN

    @pytest.mark.parametrize("neighbors", [[SPINE, SPINE], [TOP, TOP], [LEAF, SPINE], [LEAF, TOP]])
    def test_without_a_type_only_leaves_alone_tell_a_tier(self, neighbors: list[Tier]) -> None:
        assert deployed_tier(None, has_hosts=False, neighbors=neighbors) is UNKNOWN

    @pytest.mark.parametrize(
        ("by_type", "neighbors"),
        [
            (LEAF, [SPINE, SPINE]),
            (LEAF, [TOP, TOP]),
            (LEAF, [LEAF, SPINE]),
            (SPINE, [LEAF, LEAF, TOP]),
            (SPINE, [TOP, TOP]),
            (SPINE, [LEAF, LEAF, SPINE, TOP]),
            (TOP, [SPINE, SPINE]),
            (TOP, [LEAF, SPINE]),
        ],
    )
    def test_elsewhere_the_type_decides(self, by_type: Tier, neighbors: list[Tier]) -> None:
        assert deployed_tier(by_type, has_hosts=False, neighbors=neighbors) is by_type


@given(st.none() | TIERS, st.booleans(), st.lists(TIERS, max_size=5))
def test_the_order_of_neighbors_does_not_matter(
    by_type: Tier | None, has_hosts: bool, neighbors: list[Tier]
) -> None:
    there, back = (deployed_tier(by_type, has_hosts, order) for order in (neighbors, neighbors[::-1]))
    assert there is back


@given(st.integers(0, 8), st.integers(0, 8), st.integers(0, 8), st.booleans())
def test_in_a_clos_whose_types_are_those_of_sonic_the_types_are_right(
    leaves: int, spines: int, tops: int, hosts_are_listed: bool
) -> None:
    """With as many switches of each tier and as many neighbors listed as may be, and one peer among the leaves."""
    for peers in ([], [LEAF]):
        uplinks = [SPINE] * spines
        if hosts_are_listed or spines:
            assert deployed_tier(LEAF, hosts_are_listed, peers + uplinks) is LEAF
    assert deployed_tier(SPINE, False, [LEAF] * leaves + [TOP] * tops) is SPINE
    assert deployed_tier(TOP, False, [SPINE] * spines) is TOP
