"""What is known of spreading packets over equal paths: what a switch's system offers, what an adapter takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from lossless.ground.basics.records import NamedTuple

LoadBalancing = Literal["ecmp", "flowlet", "adaptive", "spray", "dlb"]
"""How switches choose among equal paths: by a hash of the flow, the less loaded one after a gap or for each packet, or
at random for each packet. ``dlb``, the dynamic load balancing of Broadcom, is the second or the third, as it is
configured: Junos has no default for that (Juniper, Dynamic Load Balancing)."""
LOAD_BALANCING: tuple[LoadBalancing, ...] = get_args(LoadBalancing)


class OfferedChoices(NamedTuple):
    """How the switches of a product choose among equal paths under one system.

    ``offers`` are the choices that its documentation has, ``lacks`` those that it is known not to have; what is in
    neither is unknown. ``speeds_bps`` has the choices that only links of some speeds have.
    """

    offers: tuple[LoadBalancing, ...]
    lacks: tuple[LoadBalancing, ...]
    speeds_bps: Mapping[LoadBalancing, tuple[int, ...]]
    source: str


NO_CHOICES: Mapping[str, OfferedChoices] = {}
"""Of a product of which nothing is known."""


class PacketReorder(NamedTuple):
    """Whether an adapter takes RDMA packets out of order.

    ``setting`` is what switches it on, None where nothing has to be or nothing is known of that. ``frames`` is how many
    it takes ahead of the one that is due, None where no public source says it.
    """

    able: bool
    setting: str | None
    frames: int | None
    source: str
