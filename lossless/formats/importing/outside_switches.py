"""What is at the far ends for which no file was given: switches that are configured elsewhere, or hosts."""

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
"""What SONiC and others call ports of switches; a host's port is called otherwise."""
_ACROSS = {Tier.LEAF: Tier.SPINE, Tier.SPINE: Tier.LEAF, Tier.SUPER_SPINE: Tier.SPINE}
"""What a switch is taken for that only its port tells from a host: leaves are under spines, and spines over leaves."""


def switches_outside(devices: Sequence[ImportDevice], wiring: ImportWiring) -> dict[str, Tier]:
    """Return the tier of each far end that is a switch.

    It is one by its type, else because its port is called as a switch's, or because it is unnamed and faster than NICs.
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
    """Return the tier of every switch, those outside among them."""
    return {**outside, **{device.name: device.tier for device in devices}}
