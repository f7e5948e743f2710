"""The watchdog should trigger at the tier next to the hosts before the tier above it.

Severity: info
Subject: intent, devices

## What it does
Compares the detection times of two linked switches of different tiers (in an intent their roles; of deployed switches
by their neighbors, else by the `type` in `DEVICE_METADATA`): the longest on the lower one's ports to hosts, and that of
the upper one on the link between them. In an intent, a switch without hosts counts with the longest of the leaves below
it. It informs where the upper one is the shorter. Equal times are SONiC's default.

## Why it breaks a lossless fabric
A NIC that is stuck pauses its leaf, and within milliseconds the leaf pauses its spines. Where the watchdog of
the spine triggers first, it drops the whole lossless class towards that leaf, for all hosts below it, while the leaf
would have dropped at one port. SONiC's defaults can cause this: they grow with the ports of a switch, and a leaf may
have more of them than its spines.

## Bad
```yaml intent base=leaf-spine
pfc:
  watchdog:
    by_tier:
      spine:
        poll: 200ms
        detection: 600ms   # <- here
```

```json config_db base=wired-spine beside=wired-leaf
{
  "PFC_WD": {
    "Ethernet0": {"detection_time": "400"},
    "Ethernet4": {"detection_time": "400"},
    "Ethernet8": {
      "detection_time": "400"   // <- here
    }
  }
}
```

## Good
```yaml intent base=leaf-spine
pfc:
  watchdog:
    by_tier:
      spine: {detection: 2400ms, restoration: 2400ms}
```

```json config_db base=wired-spine beside=wired-leaf
{
  "PFC_WD": {
    "Ethernet0": {"detection_time": "1200", "restoration_time": "1200"},
    "Ethernet4": {"detection_time": "1200", "restoration_time": "1200"},
    "Ethernet8": {"detection_time": "1200", "restoration_time": "1200"}
  }
}
```

## Fix
Give the upper tier the detection time of the lower one, or a longer one: in an intent by `pfc.watchdog.by_tier`.

## Sources
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 4.3 (how a storm spreads from tier to tier)
- sonic-utilities pfcwd/main.py @691b1bb (times by the number of ports)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.locations import below, beside
from lossless.ground.basics.findings import RelatedPlace, grouped
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.model import known_tier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.deployed_devices import CabledPair, DeployedDevices, LinkEnd
    from lossless.model.fabric.model import Port, Tier
    from lossless.model.fabric.qos import Watchdog
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per pair of times by which the watchdog of an upper switch triggers before that below it."""
    if len({ports.qos.watchdog.detection_ms for ports in view.lossless_sets if ports.qos.watchdog}) > 1:
        inverted = grouped(
            ((upper.watchdog.settings, lower.watchdog.settings), (lower, upper))
            for lower, upper in _watched_pairs(view)
            if upper.watchdog.triggers_after_ms < lower.watchdog.triggers_after_ms
        )
        yield from map(_declared, inverted.values())


class _Watched(NamedTuple):
    """A port of a switch with its watchdog, or the port below it that leads to hosts and triggers last."""

    switch: str
    port: str
    watchdog: Watchdog


def _watched_pairs(view: View) -> Iterator[tuple[_Watched, _Watched]]:
    """Yield the last port to hosts to trigger at or below a switch, with each port of the tier above that leads to it.

    A switch without hosts, as a spine, stands for the leaves below it.
    """
    last = dict(_last_at_hosts(view))
    for lower, upper, port in _links_up(view):
        if (below_it := last.get(lower)) is None:
            continue
        watchdog = _watchdog(view.port(upper, port))
        if watchdog is not None:
            yield below_it, _Watched(upper, port, watchdog)
        above = last.setdefault(upper, below_it)
        if above.watchdog.triggers_after_ms < below_it.watchdog.triggers_after_ms and above.switch != upper:
            last[upper] = below_it


def _last_at_hosts(view: View) -> Iterator[tuple[str, _Watched]]:
    """Yield each switch with hosts, and its port to one of them with the longest detection time."""
    for switch, names in view.identical:
        watched = [
            (port.name, watchdog)
            for port in switch.ports
            if port.leads_to == "host" and (watchdog := _watchdog(port)) is not None
        ]
        if watched:
            port, watchdog = max(watched, key=lambda pair: pair[1].triggers_after_ms)
            yield from ((name, _Watched(name, port, watchdog)) for name in names)


def _links_up(view: View) -> Iterator[tuple[str, str, str]]:
    """Yield the lower and the upper switch and the upper port of each link between two tiers, lowest tiers first."""
    tiers = {switch.name: known_tier(switch.tier) for switch in view.fabric.switches}
    up = []
    for link in view.fabric.links:
        near, far = tiers.get(link.a), tiers.get(link.b)
        if near is not None and far is not None and near != far:
            ends = (link.a, link.b, link.b_port) if near < far else (link.b, link.a, link.a_port)
            up.append((min(near, far), ends))
    yield from (ends for _, ends in sorted(up, key=lambda pair: pair[0]))


def _watchdog(port: Port | None) -> Watchdog | None:
    """Return the watchdog of a port with PFC that is not down; None without a detection time."""
    if port is None or port.qos is None or not port.qos.pfc.priorities or port.admin_up is False:
        return None
    watchdog = port.qos.watchdog
    return watchdog if watchdog is not None and watchdog.detection_ms else None


def _declared(pairs: list[tuple[_Watched, _Watched]]) -> Violation:
    lower, upper = pairs[0]
    upper_ms, lower_ms = upper.watchdog.triggers_after_ms, lower.watchdog.triggers_after_ms
    ports = tuple(dict.fromkeys(f"{above.switch}:{above.port}" for _, above in pairs))
    return Violation(
        origin=below(upper.watchdog.origin, "detection"),
        message=f"the watchdog of {upper.switch} triggers after {upper_ms} ms, "
        f"that of {lower.switch} below it after {lower_ms} ms",
        note=f"{upper.switch} then drops the lossless traffic of every host below it, "
        f"where {lower.switch} would drop at one port",
        help=f"set detection to {lower_ms} ms or more there, as by pfc.watchdog.by_tier",
        elements=ports[:5],
        places=len(ports),
        data={"upper_ms": upper_ms, "lower_ms": lower_ms},
        related=beside(
            below(upper.watchdog.origin, "detection"),
            (below(lower.watchdog.origin, "detection"), f"the watchdog of {lower.switch}"),
        ),
    )


def across(devices: DeployedDevices) -> Results:
    """Yield a violation per switch, its detection time and a longer one of linked lower switches."""
    longest = _longest(devices)
    ordered = (ends for pair in devices.pairs if (ends := _ordered(devices, pair)) is not None)
    inverted = grouped(
        ((upper.switch, detection_ms, longest[lower.switch]), (lower, upper))
        for lower, upper in ordered
        if (detection_ms := upper.detection_ms)
        and lower.switch in longest
        and detection_ms < longest[lower.switch]
    )
    for (_, detection_ms, longest_ms), links in inverted.items():
        yield _watchdog_tiers_inverted(links, detection_ms, longest_ms)


def _longest(devices: DeployedDevices) -> dict[str, int]:
    """Return the longest detection time by switch, on ports in service with PFC that lead to none of these switches."""
    longest: dict[str, int] = {}
    for switch in devices.by_name.values():
        for end in switch.ends:
            to_switch = end.neighbor is not None and end.neighbor[0] in devices.by_name
            if end.detection_ms and end.pfc and end.in_service and not to_switch:
                longest[end.switch] = max(longest.get(end.switch, 0), end.detection_ms)
    return longest


def _ordered(devices: DeployedDevices, pair: CabledPair) -> tuple[LinkEnd, LinkEnd] | None:
    """Return the lower and the upper end of a link in service whose upper end has PFC, None for other links."""
    lower, upper = sorted((pair.near, pair.far), key=lambda end: _tier(devices, end) or 0)
    low, high = _tier(devices, lower), _tier(devices, upper)
    if low is None or high is None or low == high or not upper.pfc:
        return None
    return (lower, upper) if lower.in_service and upper.in_service else None


def _tier(devices: DeployedDevices, end: LinkEnd) -> Tier | None:
    return known_tier(devices.by_name[end.switch].tier)


def _watchdog_tiers_inverted(
    links: list[tuple[LinkEnd, LinkEnd]], detection_ms: int, longest_ms: int
) -> Violation:
    lower, upper = links[0]
    return Violation(
        origin=_origin(upper),
        message=f"the watchdog of {upper.switch} triggers after {detection_ms} ms, "
        f"that of {lower.switch} below it after {longest_ms} ms",
        note=f"{upper.switch} then drops the lossless traffic of every host below {lower.switch}, "
        f"where {lower.switch} would drop at one port",
        help=f"set detection on {upper.switch} to {longest_ms} ms or more",
        elements=tuple(f"{low.name} - {high.name}" for low, high in links),
        data={"upper_ms": detection_ms, "lower_ms": longest_ms},
        related=(RelatedPlace(_origin(lower), f"the watchdog of {lower.switch}"),),
    )


def _origin(end: LinkEnd) -> Origin:
    return end.origin._replace(path=("PFC_WD", end.port, "detection_time"))
