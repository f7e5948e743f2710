"""Lossless traffic must have the same priority at both ends of a link.

Severity: error
Subject: devices

## What it does
Follows each DSCP over each link between two devices with files: the priority with which it leaves one, and the
priority for which the other sends a pause when it fills up. Both are numbers on the wire, computed from the maps of
either device. Where both masks already differ, PFC003 reports it.

A DSCP that one end keeps and the other does not is reported too. Two ends of a link that pause the same priority must
have a lossless DSCP of it in common. Where they have, it is an error that a switch loses a DSCP on some links which it
keeps on most others, or which another switch keeps between the same neighbors. Where no such switch does, one between
two that keep one more DSCP may have forgotten it, which is a warning. Priorities that tunnel remapping adds are left
out, and so are hosts, whose maps name more DSCPs than they send.

## Why it breaks a lossless fabric
A pause names a priority and no DSCP. Where leaf and spine put one DSCP into two lossless classes, both are paused
and both have headroom, and yet the pause stops the wrong queue: the right one keeps sending into full buffers, and
lossless packets are dropped.

## Bad
```json config_db base=wired-leaf34 beside=wired-spine34
{
  "DSCP_TO_TC_MAP": {"AZURE": {
    "5": "4",
    "4": "3"   // <- here
  }}
}
```

```json config_db base=wired-leaf34 beside=wired-spine34
{
  "DSCP_TO_TC_MAP": {"AZURE": {
    "4": "0"   // <- here
  }}
}
```

## Good
```json config_db base=wired-leaf34 beside=wired-spine34
{
  "DSCP_TO_TC_MAP": {"AZURE": {"4": "4"}}
}
```

## Fix
Give the DSCP the same traffic class in `DSCP_TO_TC_MAP` on both switches.

## Sources
- IEEE 802.1Qbb: a PFC frame carries priorities, and nothing of the packets they stand for
- sonic-swss orchagent/qosorch.cpp @e6b0c5b (which map stands behind which number)
- NVIDIA/nccl issue 2383 (queue pairs of one job on two priorities)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.ground.basics.findings import RelatedPlace, grouped
from lossless.ground.basics.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.deployed_devices import CabledPair, DeployedDevices, LinkEnd, Priorities


def across(devices: DeployedDevices) -> Results:
    """Yield a violation per set of DSCPs with different priorities at two devices, and per DSCP that a switch loses.

    A switch loses a DSCP that it makes lossy on a priority that both ends of a link pause. That is reported where other
    links prove it, or where several neighbors send the DSCP.
    """
    changes = grouped(
        ((pair.near.switch, pair.far.switch, tuple(astray.items()), pair.mutual), pair)
        for pair in devices.compared
        if (astray := _astray(pair))
    )
    yield from map(_priority_changes_on_the_wire, changes.values())
    lost = grouped(
        ((end.switch, dscp, priority), (end, other)) for end, other, dscp, priority in _lost(devices)
    )
    kept = _kept(devices, {(dscp, priority) for _, dscp, priority in lost})
    for (switch, dscp, priority), ends in lost.items():
        senders = {other.switch for _, other in ends}
        carrying = kept[dscp, priority]
        certain = (
            any(_in_common(end, other, priority) == [] for end, other in ends)
            or len(carrying.get(switch, ())) > len(ends)
            or any(len(senders.intersection(neighbors)) > 1 for neighbors in carrying.values())
        )
        if certain or len(senders) > 1:
            yield _lost_violation(dscp, priority, ends).certain_if(certain)


def _kept(
    devices: DeployedDevices, lost: set[tuple[int, int]]
) -> dict[tuple[int, int], dict[str, list[str]]]:
    """Return, by DSCP and priority, the switches that keep the DSCP lossless, each with the neighbors that send it."""
    kept: dict[tuple[int, int], dict[str, list[str]]] = {what: {} for what in lost}
    for pair in devices.compared if lost else ():
        for end, other in ((pair.near, pair.far), (pair.far, pair.near)):
            for what in lost.intersection(end.paused, other.sent) if other.host is None else ():
                kept[what].setdefault(end.switch, []).append(other.switch)
    return kept


def _lost(devices: DeployedDevices) -> Iterator[tuple[LinkEnd, LinkEnd, int, int]]:
    """Yield an end of a link, the other end, and each DSCP with its priority that is lossless only at the other end.

    Both ends pause the priority. Links to hosts are left out: the maps of hosts name whole ranges of DSCPs, and hosts
    send few of them. So are priorities that a DSCP changes to or from on the link, which is a finding of its own.
    """
    for pair in devices.compared:
        if pair.near.host is not None or pair.far.host is not None:
            continue
        both = {*(pair.near.pfc or ())} & {*(pair.far.pfc or ())}
        paused = both.difference(pair.near.remapped, pair.far.remapped, *_astray(pair).values())
        for end, other in ((pair.near, pair.far), (pair.far, pair.near)):
            if end.undecided:
                continue
            kept = dict(end.paused)
            for dscp, priority in other.sent:
                if priority in paused and dscp not in kept:
                    yield end, other, dscp, priority


def _in_common(end: LinkEnd, other: LinkEnd, priority: int) -> list[int]:
    """Return the DSCPs that one end of a link sends with a priority and the other end keeps with it."""
    return [dscp for dscp, own in end.paused if own == priority and (dscp, own) in other.sent]


def _lost_violation(dscp: int, priority: int, ends: list[tuple[LinkEnd, LinkEnd]]) -> Violation:
    end, other = ends[0]
    switches = list(dict.fromkeys(sender.switch for _, sender in ends))
    return Violation(
        origin=end.dscp_origin(dscp),
        message=f"DSCP {dscp} is lossless on {listed(switches)} with priority {priority}, and lossy on {end.switch}",
        note=f"both ends of the links pause priority {priority}, which DSCP {dscp} does not have on {end.switch}",
        help=f"map DSCP {dscp} to the same traffic class on all of them",
        elements=tuple(receiver.name for receiver, _ in ends),
        data={"dscps": [dscp], "near": [], "far": [priority]},
        related=(RelatedPlace(other.dscp_origin(dscp), f"{other.switch} keeps it"),),
    )


def _astray(pair: CabledPair) -> dict[int, tuple[int, int]]:
    """Return, by DSCP, its priorities at both ends of a link where they differ, except by tunnel remapping."""
    near, far = pair.near, pair.far
    there = {dscp: (a, b) for dscp, a, b in _clashing(near.sent, far.paused)}
    back = {dscp: (a, b) for dscp, b, a in _clashing(far.sent, near.paused)}
    explained = {*near.remapped, *far.remapped}
    return {dscp: ends for dscp, ends in sorted({**back, **there}.items()) if explained.isdisjoint(ends)}


def _clashing(sent: Priorities, paused: Priorities) -> Iterator[tuple[int, int, int]]:
    """Yield each DSCP that one end sends with another priority than the other end pauses, with both priorities."""
    wanted = dict(paused)
    return (
        (dscp, priority, wanted[dscp]) for dscp, priority in sent if wanted.get(dscp, priority) != priority
    )


def _priority_changes_on_the_wire(pairs: list[CabledPair]) -> Violation:
    near, far, mutual = pairs[0].near, pairs[0].far, pairs[0].mutual
    astray = _astray(pairs[0])
    dscp, (here, there) = next(iter(astray.items()))
    more = f" and {len(astray) - 1} more" if len(astray) > 1 else ""
    crosses = any(dscp == clashing for clashing, *_ in _clashing(near.sent, far.paused))
    (sender, sent), (receiver, paused) = (
        ((near, here), (far, there)) if crosses else ((far, there), (near, here))
    )
    return Violation(
        origin=near.dscp_origin(dscp),
        message=f"DSCP {dscp}{more} has priority {here} on {near.switch} and {there} on {far.switch}",
        note=f"{receiver.switch} pauses priority {paused}, and {sender.switch} sends the packets with {sent}, unpaused",
        help=f"map DSCP {dscp} to the same traffic class on both switches",
        elements=tuple(pair.name for pair in pairs),
        data={
            "dscps": [*astray],
            "near": [a for a, _ in astray.values()],
            "far": [b for _, b in astray.values()],
        },
        related=(RelatedPlace(far.dscp_origin(dscp), f"{far.switch} says {there}"),),
    ).certain_if(mutual)
