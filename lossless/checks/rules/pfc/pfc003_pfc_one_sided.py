"""PFC must be on for the same priorities at both ends of a link.

Severity: error
Subject: intent, devices, hosts

## What it does
Compares the PFC mask of the hosts' NICs with that of the switch ports they are attached to, declared or read, and the
masks of two switches whose files name each other in DEVICE_NEIGHBOR. Priorities that tunnel remapping adds to one end
do not count, and a switch without any QoS of the class is not compared, unless it has a watchdog on the link. Where
both files name the link, this finding replaces PFC001's on the same port.

A link that pauses nothing at either end is a warning where both switches have links of its speed to switches of the
same type that do: equal paths take RDMA over it too. A switch without PFC on all its uplinks keeps RDMA below them.

A host that was read is compared with the port that LLDP or DEVICE_NEIGHBOR joins it with, on a switch of any system.
It is an error where a file of the host shows RDMA of the priority: the ToS byte of a job or of RDMA-CM, or DCQCN.
Where none shows any RDMA and the switch alone pauses, it is information.

## Why it breaks a lossless fabric
A pause stops the other end only if that end has PFC on for the priority. Where it does not, it keeps sending into full
buffers: the frames are dropped, and the NIC that lost them goes back and sends everything again.

## Bad
```yaml intent base=leaf-spine
hosts:
  pfc: [4]   # <- here
```

## Good
```yaml intent base=leaf-spine
hosts:
  pfc: [3]
```

## Fix
Leave `hosts.pfc` out, so that the NICs follow the classes; between switches, give both ports the same
`pfc_enable`.

## Sources
- iancaragol/AzureLocal-Supportability
  TSG/Networking/Top-Of-Rack-Switch/Reference-TOR-QOS-Policy-Configuration.md @13714e6 (the same priority on
  switch and host)
- NVIDIA/nccl issues 306 and 378 (PFC on the NIC, none on the switch)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation, unread
from lossless.checks.rules.classification.host_markings import rdma_of, shows_rdma
from lossless.ground.basics.findings import RelatedPlace, grouped
from lossless.ground.basics.records import UNKNOWN
from lossless.ground.basics.units import spell

if TYPE_CHECKING:
    from lossless.model.fabric.deployed_devices import CabledPair, DeployedDevices, LinkEnd
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.view import View

_WHY = "an end that does not listen to a pause keeps sending into full buffers"


def check(view: View) -> Results:
    """Yield a violation per kind of host and PFC mask of switch ports to hosts that differs from that of its NICs."""
    # An intent has one mask for all ports that hosts are attached to, so no link need be followed.
    masks = {
        ports.qos.pfc.priorities
        for ports in view.port_sets
        if any(port.leads_to == "host" for port in ports.ports)
    }
    for host, names in view.host_kinds:
        if host.pfc_priorities is UNKNOWN:
            yield unread("its PFC priorities", names)
            continue
        for mask in sorted(masks - {host.pfc_priorities}):
            yield _host_violation(host, host.pfc_priorities, mask, names)


def _host_violation(
    host: HostQos, paused: tuple[int, ...], mask: tuple[int, ...], names: tuple[str, ...]
) -> Violation:
    unheard = sorted(set(mask) - set(paused))
    return Violation(
        origin=host.pfc_origin,
        message=(
            f"the NICs have PFC on for {spell(paused)}, the switch ports they are attached to for {spell(mask)}"
        ),
        note=f"the NICs ignore pauses of {spell(unheard)}: {_WHY}"
        if unheard
        else "the switch ignores what the NICs pause beyond its own priorities, which it serves lossy",
        help=f"leave hosts.pfc out, or make it [{', '.join(map(str, mask))}]"
        if host.provenance == "intent"
        else f"switch PFC on for {spell(mask)} on the NICs, or change the switch",
        elements=names,
        data={"nic": list(paused), "switch": list(mask)},
        severity=None if unheard else "warning",
    )


def across(devices: DeployedDevices) -> Results:
    """Yield a violation per pair of PFC masks that differ across links, and per two switches with a link without PFC.

    The latter only where both switches have equal links with PFC.
    """
    for _ in devices.missing_ends:
        yield MissingInput("DEVICE_NEIGHBOR names a port that the neighbor's file does not have")
    differing: list[CabledPair] = []
    for pair in devices.compared:
        if pair.near.pfc == pair.far.pfc:
            continue
        if any(end.pfc is None and not end.lossless and not end.watched for end in (pair.near, pair.far)):
            yield MissingInput("the neighbor's file has no QoS rows")
        elif _differing(pair):
            differing.append(pair)
    yield from map(_link_violation, grouped((_masks(pair), pair) for pair in differing).values())
    yield from _bare_links(devices)


def _bare_links(devices: DeployedDevices) -> Results:
    """Yield a violation per two switches with a link without PFC, where both have equal links with PFC."""
    types = {name: summary.device_type for name, summary in devices.by_name.items()}
    between = [
        pair
        for pair in devices.compared
        if pair.mutual
        and _host_end(pair) is None
        and None not in (own := (types[pair.near.switch], types[pair.far.switch]))
        and own[0] != own[1]
    ]
    paused = {
        (end.switch, types[other.switch], end.speed_bps): end
        for pair in between
        for end, other in ((pair.near, pair.far), (pair.far, pair.near))
        if pair.near.pfc and pair.near.pfc == pair.far.pfc
    }
    bare: dict[tuple[str, str], list[CabledPair]] = {}
    for pair in between:
        near, far = pair.near, pair.far
        equal = (
            (near.switch, types[far.switch], near.speed_bps),
            (far.switch, types[near.switch], far.speed_bps),
        )
        stated = near.without_rdma or far.without_rdma
        if not (near.pfc or far.pfc or stated) and all(key in paused for key in equal):
            bare.setdefault((near.switch, far.switch), []).append(pair)
    for (switch, peer), pairs in bare.items():
        near = pairs[0].near
        like = paused[switch, types[peer], near.speed_bps]
        yield Violation(
            origin=near.pfc_origin,
            message=f"the link pauses nothing at either end, and others of {switch} and {peer} pause "
            f"{spell(like.pfc or ())}",
            note="equal paths take RDMA over it too, and what congests there is dropped",
            help="give its ports the QoS of the other links, or say in lossless.toml that they carry no RDMA",
            elements=tuple(pair.name for pair in pairs),
            data={"one_end": [], "other_end": []},
            related=(RelatedPlace(like.pfc_origin, f"a link with {spell(like.pfc or ())}"),),
            severity="warning",
        )


def _host_end(pair: CabledPair) -> LinkEnd | None:
    """Return the end that is a host's interface, None where both are ports of switches."""
    return next((end for end in (pair.near, pair.far) if end.host is not None), None)


def _of_host(violation: Violation, pair: CabledPair, short: LinkEnd, missing: set[int]) -> Violation:
    """Return the violation of a link to a host with help for the host, and the severity that its files support.

    A violation of a link between switches is returned unchanged.
    """
    end = _host_end(pair)
    if end is None or end.host is None:
        return violation
    switch = pair.far if end is pair.near else pair.near
    shown = rdma_of(end.host, missing, switch.paused)
    help_text = (
        f"switch PFC on for {spell(sorted(missing))} on the NIC, or off on the port of the switch"
        if short is end
        else f"pause {spell(sorted(missing))} on the port of the switch, or switch PFC off on the NIC"
    )
    violation = violation._replace(help=help_text)
    if shown is not None:
        place = RelatedPlace(shown.origin, f"RDMA of this class: {shown.what}")
        return violation._replace(severity=None, confidence=None, related=(*violation.related, place))
    if short is end and not shows_rdma(end.host):
        return violation._replace(
            severity="info", note="no file of the host shows RDMA; if it has none, nothing pauses here"
        )
    return violation


def _masks(pair: CabledPair) -> tuple[object, ...]:
    """Return the key of links with one cause: switches, PFC masks and their origins at both ends, and ``mutual``."""
    ends = (pair.near, pair.far)
    return (
        *((end.switch, end.pfc, end.pfc_origin if end.pfc is not None else None) for end in ends),
        pair.mutual,
    )


def _differing(pair: CabledPair) -> set[int]:
    """Return the priorities that one end alone pauses, without those that tunnel remapping explains.

    Where only one file names the link, priorities that a port lacks by its own device's file are left to PFC001.
    """
    near, far = pair.near, pair.far
    explained = {*near.remapped, *far.remapped}
    if not pair.mutual:
        explained |= {*near.uncovered, *far.uncovered}
    return (set(near.pfc or ()) ^ set(far.pfc or ())) - explained


def _link_violation(pairs: list[CabledPair]) -> Violation:
    mutual = pairs[0].mutual
    short, long = sorted((pairs[0].near, pairs[0].far), key=lambda end: len(end.pfc or ()))
    here, there = short.pfc or (), long.pfc or ()
    missing = _differing(pairs[0])
    violation = Violation(
        origin=short.pfc_origin,
        message=f"PFC is on for {spell(there)} at one end of the link, for {spell(here)} at the other",
        note=f"they differ in {spell(sorted(missing))}: {_WHY}",
        help="give both ports the same pfc_enable",
        elements=tuple(pair.name for pair in pairs),
        data={"one_end": [*there], "other_end": [*here]},
        related=(RelatedPlace(long.pfc_origin, f"the end with {spell(there)}"),),
        # The port's own device says that it lacks these priorities; the other end makes it certain.
        conclusive=mutual and set(short.uncovered) <= set(there),
    ).certain_if(mutual)
    return _of_host(violation, pairs[0], short, missing)
