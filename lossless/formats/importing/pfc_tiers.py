"""Tiers of links: those whose ports have PFC, and those whose ports do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.importing.majority import most
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.tier import Tier, link_tier

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lossless.formats.importing.model import ImportDevice, ImportLink
    from lossless.model.fabric.cabling import CableEnd
    from lossless.model.fabric.model import Port

TIERS = ("hosts", "uplinks", "spine_uplinks")


class PfcTiers(NamedTuple):
    """The tiers with PFC, None where all or none have it; and the ports of the other tiers."""

    pausing: tuple[str, ...] | None
    silent: frozenset[CableEnd]


def find_tiers(
    devices: Sequence[ImportDevice], tier_of: Mapping[str, Tier], links: Sequence[ImportLink]
) -> PfcTiers:
    """Return the tiers in which most ports have PFC; ``tier_of`` has the tier of every switch."""
    ports = _ports_by_tier(devices, tier_of, links)
    pausing = tuple(tier for tier in TIERS if tier in ports and _pause(ports[tier]))
    if not pausing or len(pausing) == len(ports):
        return PfcTiers(None, frozenset())
    silent = frozenset(end for tier, ends in ports.items() if tier not in pausing for end in ends)
    return PfcTiers(pausing, silent)


def _pause(ports: dict[CableEnd, Port]) -> bool:
    winner, _ = most(bool(port.qos and port.qos.pfc.priorities) for port in ports.values())
    return winner is True


def _ports_by_tier(
    devices: Sequence[ImportDevice], tier_of: Mapping[str, Tier], links: Sequence[ImportLink]
) -> dict[str, dict[CableEnd, Port]]:
    by_name = {device.name: device for device in devices}
    by_tier: dict[str, dict[CableEnd, Port]] = {}
    for link in links:
        ends = (tier_of.get(link.a.device), tier_of.get(link.b.device))
        # What is no switch is declared as a host.
        tier = link_tier({end.word if end else "host" for end in ends})
        for end in (link.a, link.b):
            if end.device in by_name and end.port in (used := by_name[end.device].used):
                by_tier.setdefault(tier, {})[end] = used[end.port]
    return by_tier
