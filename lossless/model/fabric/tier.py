"""The tier of a switch, from an intent or derived for a deployed switch."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Literal, get_args

from lossless.ground.basics.records import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from lossless.ground.basics.records import Maybe, Unknown


Role = Literal["leaf", "spine", "super-spine", "switch", "host"]
"""The role of a device. A ``switch`` has no tier: it has hosts, and links to other such switches, as in a torus."""
ROLES: tuple[Role, ...] = get_args(Role)
SWITCH_ROLES = tuple(role for role in ROLES if role != "host")
LinkTier = Literal["hosts", "uplinks", "spine_uplinks", "links", "local_links", "global_links"]
"""The tier of links.

Links to hosts, links that go up from a leaf, links that go up from a spine; between switches without a tier those of a
torus, within a group and between groups.
"""
LINK_TIERS: tuple[LinkTier, ...] = get_args(LinkTier)


class Tier(IntEnum):
    """The tiers of a Clos fabric, the lowest first."""

    LEAF = 1
    SPINE = 2
    SUPER_SPINE = 3

    @property
    def word(self) -> str:
        """The tier in the spelling of intents, reports and JSON: ``super-spine``."""
        return _WORDS[self]


_WORDS = {Tier.LEAF: "leaf", Tier.SPINE: "spine", Tier.SUPER_SPINE: "super-spine"}
_TIER_OF_ROLE = {word: tier for tier, word in _WORDS.items()}


def tier_of_role(role: str) -> Tier | None:
    """Return the tier of a role in an intent; None for ``switch``, which has no tier, and ``host``."""
    return _TIER_OF_ROLE.get(role)


def role_word(device_type: str | None, tier: Maybe[Tier]) -> str:
    """Return the word for a switch in messages: its operator's own word, else its tier, else ``switch``."""
    known = known_tier(tier)
    return device_type or (known.word if known else "switch")


def link_tier(roles: Container[str]) -> LinkTier:
    """Return the tier of links between switches of these roles, or between one of them and a host: by the lower end.

    A switch without a tier has no uplinks.
    """
    if "host" in roles:
        return "hosts"
    if "switch" in roles:
        return "links"
    return "uplinks" if "leaf" in roles else "spine_uplinks"


def known_tier(tier: Maybe[Tier]) -> Tier | None:
    """Return a tier where it is known; None for a switch without a tier and for an unknown tier."""
    return tier if isinstance(tier, Tier) else None


def deployed_tier(by_type: Tier | None, has_hosts: bool, neighbors: Sequence[Tier]) -> Tier | Unknown:
    """Return the tier of a deployed switch: first by its neighbors, second by its type.

    ``by_type`` is the tier that its type stands for, None for a type without one; ``neighbors`` are the tiers of the
    switches it is linked to, one for each switch whose type has one.

    1. With hosts it is a leaf, also where its type stands for a spine: many operators call their leaves LeafRouter,
       as ``sonic-cfggen --preset`` ``t1`` and ``empty`` call any switch. But it is UNKNOWN where its type stands for a
       super-spine, or where it is linked to a leaf and its type does not make it a peer of that leaf.
    2. Above several leaves, and nothing else, it is a spine, also where its type stands for a super-spine: operators
       who call their leaves LeafRouter call their spines SpineRouter. Where its type stands for the tier of all its
       neighbors, it is UNKNOWN: a tier is not linked to itself alone. One neighbor is no evidence, it may be a peer
       (MCLAG, dual ToR).
    3. In all other cases its type decides; without one it is UNKNOWN.

    Source of the preset: sonic-buildimage src/sonic-config-engine/config_samples.py @086b03b.
    """
    if has_hosts:
        conflict = by_type is Tier.SUPER_SPINE or (by_type is not Tier.LEAF and Tier.LEAF in neighbors)
        return UNKNOWN if conflict else Tier.LEAF
    if len(neighbors) > 1 and len(set(neighbors)) == 1:
        if by_type is neighbors[0]:
            return UNKNOWN
        if neighbors[0] is Tier.LEAF:
            return Tier.SPINE
    return UNKNOWN if by_type is None else by_type
