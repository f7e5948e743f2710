"""Classifies far ends for which no file was given: switches that are configured elsewhere, or hosts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.sonic.to_model.device_types import TIER_OF_TYPE, neighbor_type
from lossless.model.fabric.tier import Tier

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lossless.formats.importing.model import ImportDevice, ImportWiring
    from lossless.model.fabric.cabling import CableEnd

_SWITCH_PORT = re.compile(r"Ethernet[0-9]+(?:/[0-9]+)*")
"""The pattern of port names of switches, in SONiC and other systems; names of host ports differ."""
_ACROSS = {Tier.LEAF: Tier.SPINE, Tier.SPINE: Tier.LEAF, Tier.SUPER_SPINE: Tier.SPINE}
"""The assumed tier of a switch that only its port distinguishes from a host, by the tier of its neighbor.

Leaves are assumed below spines, and spines above leaves.
"""


def switches_outside(devices: Sequence[ImportDevice], wiring: ImportWiring) -> dict[str, Tier]:
    """Return the tier of each far end that is a switch.

    It is a switch by its type, else by a switch's port name, or because it is unnamed and its link faster than NICs.
    """
    tier_of: dict[str, Tier] = {}
    by_name = {device.name: device for device in devices}
    for link in wiring.links:
        if link.b.device not in wiring.outside or link.b.device in tier_of:
            continue
        device = by_name[link.a.device]
        kind = neighbor_type(device.tables, link.b.device)
        if kind in TIER_OF_TYPE:
            tier_of[link.b.device] = TIER_OF_TYPE[kind]
        elif not kind and _is_switch(link.b, wiring):
            tier_of[link.b.device] = _ACROSS[device.tier]
    return tier_of


def _is_switch(end: CableEnd, wiring: ImportWiring) -> bool:
    return end.device in wiring.too_fast or _SWITCH_PORT.fullmatch(end.port or "") is not None


def tiers_of(devices: Iterable[ImportDevice], outside: Mapping[str, Tier]) -> dict[str, Tier]:
    """Return the tier of every switch, including those outside."""
    return {**outside, **{device.name: device.tier for device in devices}}
