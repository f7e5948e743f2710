"""Both ends of a link must have ports of its speed.

Severity: error
Subject: intent

## What it does
Checks that some port of each switch takes every speed of its links, split or whole, and that the hosts' network adapter
has the rate of the links to them. For some switches only some modes of the ports are known: a speed below their fastest
that is not among these is counted as not checked.

## Why it breaks a lossless fabric
The link cannot be built as planned. At a speed that both ends have, it carries half of the bandwidth or less that the
oversubscription was computed with, and the missing bandwidth becomes congestion.

## Bad
```yaml intent base=leaf-spine
hardware: {leaf: nvidia-sn5600, spine: nvidia-sn4700}
topology:
  leaf_spine:
    uplinks: 2 x 800G   # <- here
```

```yaml intent base=leaf-spine
hardware: {nic: connectx-6-dx}
topology:
  leaf_spine:
    host_links: 2 x 400G   # <- here
```

## Good
```yaml intent base=leaf-spine
hardware: {leaf: nvidia-sn5600, spine: nvidia-sn4700}
topology:
  leaf_spine:
    uplinks: 4 x 400G
```

## Fix
Use links of a speed that both ends have, or hardware that has the speed.

## Sources
- sonic-buildimage device/VENDOR/PLATFORM/platform.json @086b03b (breakout modes, by way of the profile)
- the network adapter's product page, by way of its profile
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, merged
from lossless.checks.rules.topology.top002_port_budget import unknown_speeds
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.units import format_rate
from lossless.model.hardware.model import may_take, ports_per_cage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.model import PortDemand
    from lossless.model.fabric.view import View
    from lossless.model.hardware.devices import NicProfile
    from lossless.model.hardware.model import SwitchProfile


def check(view: View) -> Results:
    """Yield a violation per speed that a kind of switch, or the network adapter of the hosts, does not have."""
    for switch, names in view.identical:
        yield from unknown_speeds(switch, names)
    # Where links are listed, each of many lines may ask for the same speed.
    yield from merged(_violations(view))


def _violations(view: View) -> Iterator[Violation]:
    for switch, names in view.identical:
        for demand in switch.demand:
            profile = switch.profile
            if profile is None or may_take(profile, demand.speed_bps):
                continue
            if not ports_per_cage(profile, demand.speed_bps):
                yield _switch_violation(profile, demand, names)
    for host, names in view.host_kinds:
        yield from _adapter(view, host, names)


def _switch_violation(profile: SwitchProfile, demand: PortDemand, names: tuple[str, ...]) -> Violation:
    rate, fastest_bps = format_rate(demand.speed_bps), max(profile.speeds_bps)
    modes = dict.fromkeys(mode.text for cage in profile.cages for mode in cage.modes)
    return Violation(
        origin=demand.origin,
        message=f"no port of {profile.name} takes {rate}; {_speeds_in_words(profile.speeds_bps, demand.speed_bps)}",
        note=f"its ports can be {', '.join(modes)}",
        help=f"use links of a speed it has, or a switch with {rate} ports",
        elements=names,
        data={
            "speed_bps": demand.speed_bps,
            "fastest_bps": fastest_bps,
            "profile": profile.name,
        },
    )


def _adapter(view: View, host: HostQos, names: tuple[str, ...]) -> Iterator[Violation]:
    if host.nic is None or not isinstance(host.rate_bps, int) or host.rate_bps in host.nic.rates_bps:
        return
    for origin, hosts in _by_line(view, host.rate_bps, names).items():
        yield _adapter_violation(host.nic, host.rate_bps, origin, tuple(hosts))


def _by_line(view: View, rate_bps: int, names: Sequence[str]) -> dict[Origin, list[str]]:
    """Return the hosts by the origin of their links with this rate."""
    links = ((name, link) for name in names for link in view.links_of.get(name, ()))
    ports = ((name, view.port(link.a, link.a_port)) for name, link in links if link.speed_bps == rate_bps)
    return grouped(dict.fromkeys((port.origin, name) for name, port in ports if port))


def _adapter_violation(nic: NicProfile, rate_bps: int, origin: Origin, hosts: tuple[str, ...]) -> Violation:
    return Violation(
        origin=origin,
        message=f"{nic.name} has no port of {format_rate(rate_bps)}; {_speeds_in_words(nic.rates_bps, rate_bps)}",
        note=f"its rates are {', '.join(map(format_rate, sorted(nic.rates_bps)))}",
        help=f"use host links of a rate it has, or an adapter with {format_rate(rate_bps)}",
        elements=hosts,
        data={"rate_bps": rate_bps, "fastest_bps": max(nic.rates_bps), "nic": nic.name},
    )


def _speeds_in_words(speeds_bps: Sequence[int], asked_bps: int) -> str:
    fastest_bps = max(speeds_bps)
    if asked_bps > fastest_bps:
        return f"its fastest is {format_rate(fastest_bps)}"
    return f"it has {', '.join(map(format_rate, sorted(speeds_bps)))}"
