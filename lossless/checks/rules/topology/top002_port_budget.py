"""A switch must have the ports that the fabric needs of it.

Severity: error
Subject: intent

## What it does
Counts, for each kind of switch, the front-panel ports that its links fill, split as far as they can be, and compares
them with the ports of the switch. Service ports of a single lane take the links of their own speed and are not counted.
A speed that no port takes counts as many ports as it would fill at the fastest speed (TOP003 reports that it does not
exist). Where the sum fits and links still find no port, that is reported too: a port named in the intent does not exist
at that speed, or the HWSKU's ports of that speed are used up.

## Why it breaks a lossless fabric
The fabric cannot be cabled. On site the uplinks are the first to be left out, and the undeclared oversubscription
becomes a permanent point of congestion that PFC propagates to every host below it.

## Bad
```yaml intent base=leaf-spine
topology:
  leaf_spine:
    uplinks: 32 x 800G   # <- here
```

## Good
```yaml intent base=leaf-spine
topology:
  leaf_spine:
    uplinks: 30 x 800G
```

## Fix
Fewer links or hosts per leaf, more leaves, or a switch or HWSKU with more ports.

## Sources
- sonic-buildimage device/VENDOR/PLATFORM/platform.json @086b03b (breakout modes, by way of the profile)
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation, merged
from lossless.ground.basics.findings import RelatedPlace, grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_rate
from lossless.model.hardware.model import cages_needed, cages_per_port, fabric_cages, may_take, ports_per_cage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.model import PortDemand, Switch
    from lossless.model.fabric.view import View
    from lossless.model.hardware.model import SwitchProfile


class SpeedDemand(NamedTuple):
    """The ports of one speed that links need of a switch, and the number of cages that they fill."""

    speed_bps: int
    ports: int
    cages: int
    origin: Origin


def check(view: View) -> Results:
    """Yield violations on kinds of switches that lack ports for their links."""
    for switch, names in view.identical:
        yield from unknown_speeds(switch, names)
    yield from merged(_violations(view))


def _violations(view: View) -> Iterator[Violation]:
    for switch, names in view.identical:
        if switch.profile is None or any(unknown_speeds(switch, names)):
            continue
        demands = _by_speed(switch.demand, switch.profile)
        missing = sum(d.cages for d in demands) - len(fabric_cages(switch.profile))
        if missing > 0:
            yield _excess(switch.profile, demands, missing, names)
        else:
            yield from _unplaced(switch, switch.profile, names)


def _by_speed(demand: Sequence[PortDemand], profile: SwitchProfile) -> list[SpeedDemand]:
    """Return the demands added up by speed: a split port serves hosts and switches in the same way."""
    demand_by_speed: dict[int, SpeedDemand] = {}
    for asked in demand:
        before = demand_by_speed.get(asked.speed_bps)
        ports = asked.ports + (before.ports if before else 0)
        cages = cages_needed(profile, ports, asked.speed_bps)
        origin = before.origin if before else asked.origin
        demand_by_speed[asked.speed_bps] = SpeedDemand(asked.speed_bps, ports, cages, origin)
    return list(demand_by_speed.values())


def _excess(
    profile: SwitchProfile, demands: Sequence[SpeedDemand], missing: int, names: tuple[str, ...]
) -> Violation:
    has = len(fabric_cages(profile))
    needs = has + missing
    asked = " + ".join(f"{d.ports} x {format_rate(d.speed_bps)}" for d in demands)
    first_beyond = _first_beyond(demands, has)
    return Violation(
        origin=first_beyond.origin,
        message=f"{asked} need {needs} ports of {profile.name}, which has {has}: {missing} more needed",
        note="; ".join(_cages_in_words(profile, demand) for demand in demands),
        help="fewer links or hosts per switch, more switches, or a switch with more ports",
        elements=names,
        data={"needed": needs, "available": has, "missing": missing},
        related=tuple(
            RelatedPlace(d.origin, f"{d.ports} x {format_rate(d.speed_bps)}")
            for d in demands
            if d.origin != first_beyond.origin
        ),
    )


def _first_beyond(demands: Sequence[SpeedDemand], has: int) -> SpeedDemand:
    """Return the first demand of ports, by speed, with which the switch runs out of cages."""
    totals = accumulate(demand.cages for demand in demands)
    return next(demand for demand, total in zip(demands, totals, strict=True) if total > has)


def _cages_in_words(profile: SwitchProfile, demand: SpeedDemand) -> str:
    rate = format_rate(demand.speed_bps)
    each = ports_per_cage(profile, demand.speed_bps)
    if each:
        return f"{demand.ports} x {rate} at {each} a port fill {demand.cages}"
    count = cages_per_port(profile, demand.speed_bps)
    fastest = format_rate(max(profile.speeds_bps))
    counted = f"count as {count} x {fastest} each and fill {demand.cages}"
    return f"{demand.ports} x {rate}, which no port takes, {counted}"


def _unplaced(switch: Switch, profile: SwitchProfile, names: tuple[str, ...]) -> Iterator[Violation]:
    # A speed that no port takes is TOP003's.
    groups = grouped(
        ((port.origin, port.speed_bps), port)
        for port in switch.ports
        if not port.placed and port.speed_bps and ports_per_cage(profile, port.speed_bps)
    )
    for (origin, speed_bps), ports in groups.items():
        violation = _unplaced_violation(switch, profile, names, origin, speed_bps, len(ports))
        # A port that was asked for by name is shown by that name.
        named = tuple(f"{name}:{port.name}" for name in names for port in ports)
        yield violation._replace(elements=named) if _is_listed(origin) else violation


def _is_listed(origin: Origin) -> bool:
    """Return whether a link of a list needs the ports; those of a shape have no names."""
    return origin.path[:2] == ("topology", "links")


def _unplaced_violation(
    switch: Switch, profile: SwitchProfile, names: tuple[str, ...], origin: Origin, speed_bps: int, count: int
) -> Violation:
    rate, hwsku = format_rate(speed_bps), switch.hwsku.name if switch.hwsku else "unknown"
    placed = sum(port.placed and port.speed_bps == speed_bps for port in switch.ports)
    listed = _is_listed(origin)
    named = (
        "a port that a link names must exist at that speed beside the others that are named; "
        if listed
        else ""
    )
    noun = "link finds" if count == 1 else "links find"
    return Violation(
        origin=origin,
        message=f"{count} {rate} {noun} no port on {profile.name} with HWSKU {hwsku}, though ports are left",
        note=f"{named}{placed} other {rate} {'link has' if placed == 1 else 'links have'} one; "
        "what is left cannot be combined into more",
        help=f"choose a HWSKU whose port table has more {rate} ports"
        + (f", or name ports that exist at {rate}" if listed else ""),
        elements=names,
        data={"unplaced": count, "placed": placed, "speed_bps": speed_bps, "hwsku": hwsku},
    )


def unknown_speeds(switch: Switch, names: Sequence[str]) -> Iterator[MissingInput]:
    """Yield a missing input per needed speed that a switch's profile does not list and the switch may yet have."""
    if switch.profile is None:
        return
    for speed_bps in dict.fromkeys(demand.speed_bps for demand in switch.demand):
        if may_take(switch.profile, speed_bps):
            speeds = ", ".join(map(format_rate, switch.profile.speeds_bps))
            rate = format_rate(speed_bps)
            yield MissingInput(
                f"whether a port of {switch.profile.name} takes {rate}: only {speeds} are known of it",
                len(names),
            )
