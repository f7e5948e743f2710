"""How packets find their way, and what is bridged."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from lossless.intent.base import Duration, Model, listed, refused, shown

MOST_FAILURES = 3
"""Most failures at once that are looked at: beyond, cases are too many, and repairs too quick."""


def _survive(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_FAILURES:
        raise refused(f"expected how many failures at once, 0 to {MOST_FAILURES}; found {shown(value)}")
    return value


def _out_of_service(value: object) -> object:
    """Return a switch, or the two ends of links, as the models hold them."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list) and len(value) == 2 and all(isinstance(end, str) for end in value):
        return tuple(value)
    raise refused(f"expected a switch, or the two ends of links as [leaf1, spine1]; found {shown(value)}")


_ENDS = {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}
OutOfService = Annotated[
    tuple[str, ...],
    BeforeValidator(_out_of_service),
    WithJsonSchema({"anyOf": [{"type": "string"}, _ENDS]}),
]
Survive = Annotated[
    int,
    BeforeValidator(_survive),
    WithJsonSchema({"type": "integer", "minimum": 0, "maximum": MOST_FAILURES}),
]


class RoutingChoice(Model):
    """Which way packets go, and what may fail without their going another.

    Switches in ``bounce`` send up again what came to them from above: they reroute locally when the way down is
    blocked. Dual ToRs need not be named; they do so in a second priority.
    """

    policy: Literal["up-down", "shortest-path"] = "up-down"
    bounce: Annotated[tuple[str, ...], BeforeValidator(listed)] = ()
    failed: Annotated[tuple[OutOfService, ...], BeforeValidator(listed)] = ()
    survive: Survive = 1


class BridgingChoice(Model):
    """Leaves bridge RDMA traffic: hosts and uplinks are in one VLAN."""

    unknown_unicast: Literal["flood", "drop"] = "flood"
    arp_timeout: Duration | None = Field(default=None)
    mac_aging: Duration | None = Field(default=None)
