"""How packets find their way, and what is bridged."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from lossless.formats.intent.base import Duration, Model, listed, small_number

MOST_EXTRA_HOPS = 8
"""A detour through any third switch of a Clos of three tiers is four hops, and of a dragonfly three."""


class RoutingChoice(Model):
    """How packets are routed; ``failures`` declares the failures to tolerate.

    Switches in ``bounce`` send packets from a higher tier back up: they reroute locally when the path down is blocked.
    Dual ToRs need not be named; they bounce in a second priority.
    """

    policy: Literal["up-down", "shortest-path"] = "up-down"
    extra_hops: Annotated[
        int,
        small_number(0, MOST_EXTRA_HOPS, "a number of extra hops"),
        WithJsonSchema({"type": "integer", "minimum": 0, "maximum": MOST_EXTRA_HOPS}),
    ] = 0
    load_balancing: Literal["ecmp", "flowlet", "adaptive", "spray"] = "ecmp"
    bounce: Annotated[tuple[str, ...], BeforeValidator(listed)] = ()


class BridgingChoice(Model):
    """Leaves bridge RDMA traffic: hosts and uplinks are in one VLAN."""

    unknown_unicast: Literal["flood", "drop"] = "flood"
    arp_timeout: Duration | None = Field(default=None)
    mac_aging: Duration | None = Field(default=None)
