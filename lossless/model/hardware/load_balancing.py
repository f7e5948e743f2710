"""Load balancing over equal paths by a switch's system, and reordering that an adapter supports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from lossless.ground.basics.records import NamedTuple

LoadBalancing = Literal["ecmp", "flowlet", "adaptive", "spray", "dlb"]
"""How switches choose among equal paths.

By a hash of the flow, the less loaded one after a gap or for each packet, or at random for each packet. ``dlb``, the
dynamic load balancing of Broadcom, is the second or the third, depending on its configuration: Junos has no default for
that (Juniper, Dynamic Load Balancing).
"""
LOAD_BALANCING: tuple[LoadBalancing, ...] = get_args(LoadBalancing)


class OfferedChoices(NamedTuple):
    """The load balancing of a product's switches under one system.

    ``offers`` are the choices in its documentation, ``lacks`` those that it is known not to have; all others
    are unknown. ``speeds_bps`` has the choices that only links of some speeds support.
    """

    offers: tuple[LoadBalancing, ...]
    lacks: tuple[LoadBalancing, ...]
    speeds_bps: Mapping[LoadBalancing, tuple[int, ...]]
    source: str


NO_CHOICES: Mapping[str, OfferedChoices] = {}
"""The load balancing by system of a product for which no source states any."""


class PacketReorder(NamedTuple):
    """The acceptance of RDMA packets out of order by an adapter.

    ``setting`` is the setting that enables it, None where none is needed or known. ``frames`` is how many
    frames it accepts ahead of the next one in order, None where no public source states it.
    """

    able: bool
    setting: str | None
    frames: int | None
    source: str
