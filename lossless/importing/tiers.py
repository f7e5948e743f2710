"""Tiers of links: those whose ports pause, and those whose ports do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.importing.votes import most
from lossless.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.fabric.model import Port
    from lossless.importing.model import Cabled, Device, End

TIERS = ("hosts", "uplinks", "spine_uplinks")


class Tiers(NamedTuple):
    """Which tiers pause, None where all do or none does; and the ports of those that do not."""

    pausing: tuple[str, ...] | None
    silent: frozenset[End]


def find_tiers(devices: Sequence[Device], links: Sequence[Cabled]) -> Tiers:
    """Return the tiers on most of whose ports PFC is on."""
    ports = _ports_by_tier(devices, links)
    pausing = tuple(tier for tier in TIERS if tier in ports and _pause(ports[tier]))
    if not pausing or len(pausing) == len(ports):
        return Tiers(None, frozenset())
    silent = frozenset(end for tier, ends in ports.items() if tier not in pausing for end in ends)
    return Tiers(pausing, silent)


def _pause(ports: dict[End, Port]) -> bool:
    winner, _ = most(bool(port.qos and port.qos.pfc.priorities) for port in ports.values())
    return winner is True


def _ports_by_tier(devices: Sequence[Device], links: Sequence[Cabled]) -> dict[str, dict[End, Port]]:
    by_name = {device.name: device for device in devices}
    found: dict[str, dict[End, Port]] = {}
    for link in links:
        tier = _tier(
            {device.role for end in (link.a, link.b) if (device := by_name.get(end.device))}, link, by_name
        )
        for end in (link.a, link.b):
            if end.device in by_name and end.port in (used := by_name[end.device].used):
                found.setdefault(tier, {})[end] = used[end.port]
    return found


def _tier(roles: set[str], link: Cabled, devices: dict[str, Device]) -> str:
    """Return the tier of a link by its lower end; what is not among the devices is declared as a host."""
    if not {link.a.device, link.b.device} <= devices.keys():
        return "hosts"
    return "uplinks" if "leaf" in roles else "spine_uplinks"
