"""A deployed fabric as packets find their way in it: who is joined to whom, and how high each stands.

``DEVICE_NEIGHBOR`` says who is at the other end of each port, the type in ``DEVICE_METADATA`` or
``DEVICE_NEIGHBOR_METADATA`` how high a switch stands. How packets are routed no configuration of a switch says: they go
up and then down, as in an intent that says nothing, and dual ToRs send back to their peers what they cannot deliver.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lossless.analysis.routing.channels import TIERS, UNKNOWN_TIER, Wires
from lossless.analysis.routing.dependencies import RoutingQuestion
from lossless.formats.sonic.roles import ROLES
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.analysis.routing.channels import Pair
    from lossless.model.fabric.across import Across, LinkEnd, Summary

UNJOINED = (
    "nothing says who is joined to whom: no DEVICE_NEIGHBOR of these switches names another of them by the name and a "
    "port that it has; write it, or judge an intent with them"
)


def roleless(names: Sequence[str]) -> str:
    """Return why nothing is judged where it is not known how high switches stand."""
    more = f" and {len(names) - _MANY} more" if len(names) > _MANY else ""
    return (
        f"nothing says how high {', '.join(names[:_MANY])}{more} stand{'s' if len(names) == 1 else ''} in the fabric: "
        f"state DEVICE_METADATA|localhost|type, one of {', '.join(ROLES)}; or judge an intent with them"
    )


def unlike_above(found: Deployed) -> list[str]:
    """Return the switches that BGP does not keep from sending up again: those above them have ASNs of their own.

    Those above with one ASN refuse each other's routes by it, whoever passes them on (RFC 4271, section 9.1.2).
    """
    names = found.wires.names
    return [
        name
        for number, name in enumerate(names)
        if _may_leak(name, map(names.__getitem__, found.wires.above(number)), found)
    ]


def _may_leak(name: str, above: Iterable[str], found: Deployed) -> bool:
    own = found.devices.get(name)
    asns = {one.asn for other in above if (one := found.devices.get(other)) is not None}
    known = asns - {None}
    return own is not None and own.asn is not None and own.asn not in known and len(known) > 1


def nowhere(near: str, far: str) -> str:
    """Return why nothing is judged where packets have another way than up and then down."""
    return (
        f"no way leads up and then down from {near} to {far} by the links that are known, and nothing says which other "
        "way packets take: give the files of all switches, or an intent with topology.routing"
    )


class Deployed(NamedTuple):
    """The switches of several files and what joins them. ``roleless`` are those with links and no known tier.

    ``devices`` are those that a file was given for, by name; ``joined``: at least two of them have to do with each
    other.
    """

    devices: dict[str, Summary]
    wires: Wires
    question: RoutingQuestion
    roleless: tuple[str, ...]
    joined: bool


_MANY = 5


class _Link(NamedTuple):
    """One link in service, its ends by device and port, and whether what comes in at either is ever paused."""

    near: tuple[str, str]
    far: tuple[str, str]
    near_pauses: bool
    far_pauses: bool


def deployed(devices: Across) -> Deployed | None:
    """Return what files of several switches with lossless classes amount to; None where there are none such.

    Switches of an intent that is judged with them are left to it.
    """
    own = {
        name: one
        for name, one in devices.by_name.items()
        if not one.intended and not any(end.host for end in one.ends)
    }
    pausing = [name for name, one in own.items() if any(end.pfc for end in one.ends)]
    if len(pausing) < 2:
        return None
    roles = _roles(own)
    links = list(_links(devices, own, roles))
    wires = _wires(own, roles, links)
    in_use = {end[0] for link in links for end in (link.near, link.far)}
    roleless = [name for name in wires.names if name in in_use and roles.get(name) not in TIERS]
    bounces = frozenset(name for name, one in own.items() if one.bounce and not one.moved)
    moved = frozenset(name for name, one in own.items() if one.bounce and one.moved)
    return Deployed(own, wires, RoutingQuestion("up-down", bounces, moved), tuple(roleless), bool(links))


def _roles(own: dict[str, Summary]) -> dict[str, str]:
    """Return the role of every device that is a switch: by its own word, else by that of its neighbors."""
    said = {name: ROLES.get(kind, "") for one in own.values() for name, kind in one.beyond}
    beyond = {name: role for name, role in said.items() if role and name not in own}
    return beyond | {name: ROLES.get((one.role or "").partition(" ")[0], "") for name, one in own.items()}


def _links(devices: Across, own: dict[str, Summary], roles: dict[str, str]) -> Iterator[_Link]:
    """Yield links in service between switches; of one without a file its neighbor tells."""
    for pair in devices.pairs:
        near, far = pair.near, pair.far
        if near.switch in own and far.switch in own and near.in_service and far.in_service:
            ends = (near.switch, near.port), (far.switch, far.port)
            yield _Link(*ends, bool(near.pfc), bool(far.pfc))
    for one in own.values():
        for end in one.ends:
            if end.in_service and end.neighbor and end.neighbor[0] in roles.keys() - own.keys():
                yield _Link((one.name, end.port), end.neighbor, bool(end.pfc), bool(end.pfc))


def _wires(own: dict[str, Summary], roles: dict[str, str], links: list[_Link]) -> Wires:
    number = {name: place for place, name in enumerate(sorted(roles))}
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
    tiers = [TIERS.get(roles[name], UNKNOWN_TIER) for name in number]
    attached = [_has_hosts(own.get(name), roles[name], roles) for name in number]
    asked = partial(_of_pairs, ports)
    return Wires(
        tuple(number), tiers, attached, joined, [0] * len(number), asked, frozenset(all_pairs - pausing)
    )


def _of_pairs(ports: dict[Pair, Pair], pairs: Iterable[Pair]) -> dict[Pair, Pair]:
    return {pair: ports[pair] for pair in pairs}


def _has_hosts(one: Summary | None, role: str, roles: dict[str, str]) -> bool:
    """Return whether hosts may hang on a switch: on a leaf always, elsewhere where a neighbor is no switch."""
    if one is None or role == "leaf":
        return role == "leaf"
    kinds = dict(one.beyond)
    return any(_is_host(end, roles, kinds) for end in one.ends)


def _is_host(end: LinkEnd, roles: dict[str, str], kinds: dict[str, str]) -> bool:
    name = end.neighbor[0] if end.neighbor else ""
    return bool(name) and end.in_service and name not in roles and kinds.get(name, "").lower() == "server"
