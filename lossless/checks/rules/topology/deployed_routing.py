"""The routing of a deployed fabric: which switches are linked, and the tier of each.

``DEVICE_NEIGHBOR`` names the device at the other end of each port. The tier of a switch follows from its neighbors and
its type, that of a switch without a file from its type in ``DEVICE_NEIGHBOR_METADATA``. No configuration of a switch
declares how packets are routed: up-down routing is assumed, as in an intent without routing, and dual ToRs return
packets that they cannot deliver to their peers.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lossless.analysis.routing.dependencies import RoutingQuestion
from lossless.analysis.routing.symmetry import UNKNOWN_TIER, Wires
from lossless.formats.sonic.to_model.device_types import TIER_OF_TYPE
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import listed
from lossless.model.fabric.model import Tier, known_tier

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Set

    from lossless.analysis.routing.symmetry import Pair
    from lossless.model.fabric.deployed_devices import DeployedDevices, DeviceSummary

_NAMED = 5
UNJOINED = (
    "missing neighbors: no DEVICE_NEIGHBOR row of these switches names the hostname and a port of another of them; "
    "add the rows, or an intent"
)


def unknown_tiers(routing: DeployedRouting) -> Iterator[str]:
    """Yield the reasons for unknown tiers of linked switches: types without a tier, types in contradiction."""
    types = {name: routing.devices[name].device_type or "" for name in routing.tierless}
    contradicting = [
        name for name, device_type in types.items() if device_type.partition(" ")[0] in TIER_OF_TYPE
    ]
    silent = [name for name in types if name not in contradicting]
    if silent:
        yield (
            f"missing tier of {listed(silent, _NAMED)}: set DEVICE_METADATA|localhost|type to one of "
            f"{', '.join(TIER_OF_TYPE)}, or add an intent"
        )
    if contradicting:
        yield (
            f"the types of devices contradict each other on the tier of {listed(contradicting, _NAMED)}: correct "
            "DEVICE_METADATA|localhost|type or DEVICE_NEIGHBOR_METADATA, or add an intent"
        )


def unlike_above(routing: DeployedRouting) -> list[str]:
    """Return the switches at which BGP does not prevent a valley: those above them have different ASNs.

    Switches above that share an ASN refuse each other's routes by it (RFC 4271, section 9.1.2).
    """
    names = routing.wires.names
    return [
        name
        for number, name in enumerate(names)
        if _may_leak(name, map(names.__getitem__, routing.wires.above(number)), routing)
    ]


def _may_leak(name: str, above: Iterable[str], routing: DeployedRouting) -> bool:
    own = routing.devices.get(name)
    asns = {device.asn for other in above if (device := routing.devices.get(other)) is not None}
    known_asns = asns - {None}
    return own is not None and own.asn is not None and own.asn not in known_asns and len(known_asns) > 1


def no_up_down_path(near: str, far: str) -> str:
    """Return the reason for not checking a fabric where packets have another path than up and then down."""
    return (
        f"the known links have no up-down path from {near} to {far}, and their route is unknown: "
        "add the files of all switches, or an intent with topology.routing"
    )


class DeployedRouting(NamedTuple):
    """The switches of several files and the links between them. ``tierless`` are those with links and no known tier.

    ``devices`` are those with a file, by name; ``joined``: one of them has a link to another switch.
    """

    devices: dict[str, DeviceSummary]
    wires: Wires
    question: RoutingQuestion
    tierless: tuple[str, ...]
    joined: bool


class _Link(NamedTuple):
    """One link in service, its ends by device and port, and whether traffic that enters at either is ever paused."""

    near: tuple[str, str]
    far: tuple[str, str]
    near_pauses: bool
    far_pauses: bool


def deployed_routing(devices: DeployedDevices) -> DeployedRouting | None:
    """Return the routing of several switches, None where fewer than two of them have ports with PFC.

    Switches of an intent that is checked with them are left to it.
    """
    own = {
        name: summary
        for name, summary in devices.by_name.items()
        if not summary.intended and not any(end.host for end in summary.ends)
    }
    pausing = [name for name, summary in own.items() if any(end.pfc for end in summary.ends)]
    if len(pausing) < 2:
        return None
    tiers = _tiers(own)
    links = list(_links(devices, own, tiers.keys() - own.keys()))
    wires = _wires(tiers, links)
    in_use = {end[0] for link in links for end in (link.near, link.far)}
    tierless = [name for name in wires.names if name in in_use and tiers[name] is None]
    bouncing = {name: summary.moved for name, summary in own.items() if summary.bounce}
    bounces = frozenset(name for name, moved in bouncing.items() if not moved)
    return DeployedRouting(
        own,
        wires,
        RoutingQuestion("up-down", bounces, frozenset(bouncing) - bounces),
        tuple(tierless),
        bool(links),
    )


def _tiers(own: dict[str, DeviceSummary]) -> dict[str, Tier | None]:
    """Return the tier of every switch, None where it is unknown; neighbors give the type of one without a file."""
    types = {name: device_type for summary in own.values() for name, device_type in summary.beyond}
    beyond = {name: TIER_OF_TYPE[kind] for name, kind in types.items() if kind in TIER_OF_TYPE}
    return {**beyond, **{name: known_tier(summary.tier) for name, summary in own.items()}}


def _links(devices: DeployedDevices, own: dict[str, DeviceSummary], outside: Set[str]) -> Iterator[_Link]:
    """Yield links in service between switches; links of a switch without a file are those that neighbors name."""
    for pair in devices.pairs:
        near, far = pair.near, pair.far
        if near.switch in own and far.switch in own and near.in_service and far.in_service:
            ends = (near.switch, near.port), (far.switch, far.port)
            yield _Link(*ends, bool(near.pfc), bool(far.pfc))
    for summary in own.values():
        for end in summary.ends:
            if end.in_service and end.neighbor and end.neighbor[0] in outside:
                yield _Link((summary.name, end.port), end.neighbor, bool(end.pfc), bool(end.pfc))


def _wires(tiers: dict[str, Tier | None], links: list[_Link]) -> Wires:
    number = {name: place for place, name in enumerate(sorted(tiers))}
    joined = [dict[int, int]() for _ in number]
    ports: dict[Pair, Pair] = {}
    pausing, all_pairs = set[tuple[int, int]](), set[tuple[int, int]]()
    for link in links:
        near, far = number[link.near[0]], number[link.far[0]]
        joined[near][far] = joined[far][near] = joined[near].get(far, 0) + 1
        names = ":".join(link.near), ":".join(link.far)
        ports.setdefault((link.near[0], link.far[0]), names)
        ports.setdefault((link.far[0], link.near[0]), names[::-1])
        all_pairs |= {(near, far), (far, near)}
        pausing |= {(near, far)} if link.far_pauses else set()
        pausing |= {(far, near)} if link.near_pauses else set()
    heights = [int(tiers[name] or UNKNOWN_TIER) for name in number]
    attached = [tiers[name] is Tier.LEAF for name in number]
    asked = partial(_of_pairs, ports)
    return Wires(
        tuple(number), heights, attached, joined, bytes(len(number)), asked, frozenset(all_pairs - pausing)
    )


def _of_pairs(ports: dict[Pair, Pair], pairs: Iterable[Pair]) -> dict[Pair, Pair]:
    return {pair: ports[pair] for pair in pairs}
