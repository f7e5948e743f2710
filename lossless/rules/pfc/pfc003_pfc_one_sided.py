"""PFC must be on for the same priorities at both ends of a link.

## What it does
Compares the PFC mask of the hosts' NICs with that of the switch ports they hang on, and the masks of two
switches whose files name each other in DEVICE_NEIGHBOR. Priorities that tunnel remapping adds to one end do
not count. A port that PFC001 already finds without PFC is left to it.

## Why it breaks a lossless fabric
A pause stops the other end only if that end listens to the priority. Where it does not, it keeps sending
into full buffers: the frames are dropped, and the NIC that lost them goes back and sends everything again.

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

from typing import TYPE_CHECKING, NamedTuple

from lossless.findings import Related
from lossless.rules.base import Gap, Hit, Rule
from lossless.rules.pfc.masks import remapped, spell, uncovered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.fabric.hosts import HostQos
    from lossless.fabric.model import Link, Port, Switch
    from lossless.fabric.view import View
    from lossless.findings import Origin

RULE = Rule(
    code="PFC003",
    name="pfc-one-sided",
    severity="error",
    summary="PFC must be on for the same priorities at both ends of a link",
    sources=(
        "iancaragol/AzureLocal-Supportability Reference-TOR-QOS-Policy-Configuration.md @13714e6",
        "NVIDIA/nccl issues 306 and 378",
    ),
)
_WHY = "an end that does not listen to a pause keeps sending into full buffers"


class _End(NamedTuple):
    """One end of a link between switches."""

    switch: Switch
    port: Port

    @property
    def mask(self) -> frozenset[int]:
        return frozenset(self.port.qos.pfc.priorities if self.port.qos else ())

    @property
    def origin(self) -> Origin:
        return self.port.qos.pfc.origin if self.port.qos else self.port.origin


def check(view: View) -> Iterator[Hit | Gap]:
    """Yield a hit per pair of masks that differ across a link."""
    yield from _hosts(view)
    yield from _switches(view)


def _hosts(view: View) -> Iterator[Hit]:
    # An intent has one mask for all its ports, so no link need be followed.
    masks = {ports.qos.pfc.priorities for ports in view.port_sets}
    for host, names in view.host_kinds:
        for mask in sorted(masks - {host.pfc_priorities}):
            yield _host_hit(host, mask, names)


def _host_hit(host: HostQos, mask: tuple[int, ...], names: tuple[str, ...]) -> Hit:
    unheard = sorted(set(mask) - set(host.pfc_priorities))
    return Hit(
        origin=host.pfc_origin,
        message=(
            f"the NICs have PFC on for {spell(host.pfc_priorities)}, the switch ports they hang on "
            f"for {spell(mask)}"
        ),
        note=f"the NICs ignore pauses of {spell(unheard)}: {_WHY}"
        if unheard
        else "the switch ignores what the NICs pause beyond its own priorities, which it serves lossy",
        help=f"leave hosts.pfc out, or make it [{', '.join(map(str, mask))}]",
        elements=names,
        places=len(names),
        data={"nic": list(host.pfc_priorities), "switch": list(mask)},
        severity=None if unheard else "warning",
    )


def _switches(view: View) -> Iterator[Hit | Gap]:
    if view.fabric.declared:
        return
    pairs: dict[tuple[object, ...], tuple[_End, _End, list[str]]] = {}
    for link in view.fabric.links:
        ends = None if link.to_host else _ends(view, link)
        if isinstance(ends, Gap):
            yield ends
        elif ends is not None and ends[0].mask != ends[1].mask:
            near, far = ends
            key = (near.switch.name, id(near.port.qos), far.switch.name, id(far.port.qos), _mutual(near, far))
            name = f"{link.a}:{link.a_port} - {link.b}:{link.b_port}"
            pairs.setdefault(key, (near, far, []))[2].append(name)
    for near, far, names in pairs.values():
        yield from _pair(view, near, far, tuple(names))


def _ends(view: View, link: Link) -> tuple[_End, _End] | Gap | None:
    """Return both ends, None where one of them is down, a gap where too little is known."""
    near, far = view.port(link.a, link.a_port), view.port(link.b, link.b_port)
    if near is None or far is None:
        return Gap("DEVICE_NEIGHBOR names a port that the neighbor's file does not have")
    if near.admin_up in (False, None) or far.admin_up in (False, None):
        return None
    ends = (_End(view.switch_by_name[link.a], near), _End(view.switch_by_name[link.b], far))
    if any(end.port.qos is None and not end.switch.classes.lossless for end in ends):
        return Gap("the neighbor's file has no QoS rows")
    return ends


def _mutual(near: _End, far: _End) -> bool:
    """Whether the far end names the near one too; links are read from the near end's DEVICE_NEIGHBOR."""
    return far.port.neighbor == (near.switch.name, near.port.name)


def _pair(view: View, near: _End, far: _End, names: tuple[str, ...]) -> Iterator[Hit]:
    short, long = sorted((near, far), key=lambda end: len(end.mask))
    ignored = {p for end in (near, far) if end.port.qos for p in remapped(end.port.qos)}
    differing = (short.mask ^ long.mask) - ignored - _left_to_pfc001(view, short)
    if not differing:
        return
    mutual = _mutual(near, far)
    yield Hit(
        origin=short.origin,
        message=(
            f"PFC is on for {spell(long.mask)} at one end of the link, for {spell(short.mask)} at the other"
        ),
        note=f"they differ in {spell(differing)}: {_WHY}",
        help="give both ports the same pfc_enable",
        elements=names,
        places=len(names),
        data={"one_end": [*sorted(long.mask)], "other_end": [*sorted(short.mask)]},
        related=(Related(long.origin, f"the end with {spell(long.mask)}"),),
        severity=None if mutual else "warning",
        confidence=None if mutual else "medium",
    )


def _left_to_pfc001(view: View, end: _End) -> set[int]:
    device = [ports for ports in view.port_sets if end.switch.name in ports.switches]
    own = next((ports for ports in device if ports.qos is end.port.qos), None)
    return set(uncovered(device, own)) if own is not None else set()
