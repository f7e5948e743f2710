"""Routing of packets, and bridging by leaves."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from lossless.formats.intent.base import Duration, Model, listed, not_one_of, refused, shown, whole_number
from lossless.formats.intent.ranks import TIER_PATTERN, exceptions_schema
from lossless.ground.basics.nearest import suggestion
from lossless.model.fabric.routing import RoutingPolicy
from lossless.model.fabric.tier import SWITCH_ROLES
from lossless.model.hardware.load_balancing import LOAD_BALANCING, LoadBalancing

MOST_EXTRA_HOPS = 8
"""The most extra hops: a detour through any third switch of a three-tier Clos is four hops, of a dragonfly three."""


def _load_balancing(value: Any) -> Any:
    """Return the load balancing of all switches, or that of each tier."""
    if not isinstance(value, dict):
        return _choice(value)
    if not value:
        raise refused("an empty mapping; write how all switches choose, or each tier")
    for role, choice in value.items():
        if role not in SWITCH_ROLES:
            hint = suggestion(str(role), [*SWITCH_ROLES], most=None)
            raise refused(f"{shown(role)} is no role of a switch{hint}", role, at_key=True)
        _choice(choice, role)
    return value


def _choice(value: Any, *within: str) -> Any:
    if value not in LOAD_BALANCING:
        raise refused(not_one_of(value, LOAD_BALANCING), *within)
    return value


LoadBalancingField = Annotated[
    LoadBalancing | dict[str, LoadBalancing],
    BeforeValidator(_load_balancing),
    WithJsonSchema(
        {"anyOf": [{"enum": [*LOAD_BALANCING]}, exceptions_schema(TIER_PATTERN, {"enum": [*LOAD_BALANCING]})]}
    ),
]


class RoutingChoice(Model):
    """How packets are routed; ``failures`` declares the failures to tolerate.

    Switches in ``bounce`` send packets from a higher tier back up: they reroute locally when the path down is blocked.
    Dual ToRs need not be named; they bounce in a second priority.
    """

    policy: RoutingPolicy = "up-down"
    """`up-down`: paths without a valley; `shortest-path`: any shortest path, also around failures."""
    extra_hops: Annotated[int, *whole_number(0, MOST_EXTRA_HOPS, "a number of extra hops")] = 0
    """How many hops more than the shortest path that the policy allows a packet may take: non-minimal routing, as over
    alternative paths of adaptive routing or through a third group of a dragonfly. No packet turns straight back. 0:
    shortest paths alone, also where routing among them is adaptive. It is checked by TOP004 and TOP005, and neither
    simulated nor rendered.
    Example: `2`
    """
    load_balancing: LoadBalancingField = "ecmp"
    """How switches choose among equal paths, all of them or those of each tier: `ecmp`, by a hash of the flow;
    `flowlet`, the less loaded after a gap; `adaptive`, the less loaded one for each packet; `spray`, at random for each
    packet; `dlb`, dynamic load balancing whose mode, that of `flowlet` or of `adaptive`, the intent does not declare.
    Tiers that are left out have `ecmp`. It is checked and simulated; for Cumulus Linux `adaptive` is also rendered.
    Example: `adaptive`
    Example: `{leaf: adaptive, spine: ecmp}`
    """
    bounce: Annotated[tuple[str, ...], BeforeValidator(listed)] = ()
    """Switches that bounce: with the path down blocked, they send packets from a higher tier back up. Left out: none.
    Example: `[leaf3]`
    """


class BridgingChoice(Model):
    """Leaves bridge RDMA traffic: hosts and uplinks are in one VLAN."""

    unknown_unicast: Literal["flood", "drop"] = "flood"
    """What a leaf does with packets whose MAC address it has forgotten: `flood` or `drop`."""
    arp_timeout: Duration | None = Field(default=None)
    """How long a leaf keeps the MAC address of an IP address, with its unit. Left out: not declared.
    Example: `300s`
    """
    mac_aging: Duration | None = Field(default=None)
    """How long a leaf keeps the port of a silent MAC address, with its unit. Left out: not declared.
    Example: `600s`
    """
