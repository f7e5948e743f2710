"""Cables must be in the ports that the intent declares.

Severity: error
Subject: cabling

## What it does
Where an intent is compared with files of cables (`lossless topology INTENT --from FILE`), reports the ports whose cable
is not the declared one. Cables that are in each other's place are one finding: two that were swapped, or all those of
two devices in exchanged positions. A port that an intent does not name, such as those of hosts in a shape, is any port
of its device; a port that files call by its alias or its front panel name is recognized by that.

## Why it breaks a lossless fabric
Every port is configured for the device that is declared at its other end: addresses, cable length and so headroom,
watchdog, PFC towards hosts or towards switches. In another port the cable's link is up without an error, and packets
are lost when a pause comes too late, or hosts of one rail send through the spines.

## Bad
```csv cabling beside=leaf-spine.yaml
leaf1,Ethernet32,spine1,Ethernet8   # <- here
leaf1,Ethernet40,spine1,Ethernet0
```

## Good
```csv cabling beside=leaf-spine.yaml
LEAF1.dc1.example.net,etp5,spine1,swp1
leaf1,Ethernet40,SPINE1,Eth1/2
```

## Fix
Put the cables where they are declared; or, where they are to stay, name the ports in the intent.

## Sources
- sonic-buildimage files/build_templates/qos_config.j2 @086b03b (the neighbor decides the QoS of a port)
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.links.cabling import devices_of, named, related
from lossless.ground.basics.findings import grouped
from lossless.model.fabric.cabling import CableEnd

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lossless.analysis.topology.cabling_comparison import Miscabling
    from lossless.checks.rules.subjects import FabricCabling
    from lossless.model.fabric.cabling import PlannedCable, ReportedCable


Devices = tuple[str, str]
_SHOWN = 8


def check(cabling: FabricCabling) -> Results:
    """Yield a violation per cause: cables in each other's place, and devices that were mistaken for each other."""
    miscablings = cabling.comparison.tangles
    votes = Counter(pair for miscabling in miscablings for pair in _exchanged(miscabling))
    for together in grouped((_cause(miscabling, votes), miscabling) for miscabling in miscablings).values():
        yield _cables_crossed(together, _taken_for(together[0], votes))
    renamed = cabling.comparison.renamed
    if renamed:
        first = renamed[0]
        yield MissingInput(
            f"which is which: files have {first.called} where the shape derives {first.derived}; names under "
            "topology.names would tell",
            len(renamed),
        )


def _cause(miscabling: Miscabling, votes: Counter[Devices]) -> object:
    """Return the key of wrong links with one cause: the devices they join or that were exchanged, else the links."""
    joined = _joined(miscabling)
    if len(joined) == 1:
        return joined.pop()
    if len(miscabling.planned) == len(miscabling.actual) == 1:
        return devices_of(miscabling.planned[0]), devices_of(miscabling.actual[0])
    return _taken_for(miscabling, votes) or miscabling


def _joined(miscabling: Miscabling) -> set[Devices]:
    """Return the pairs of devices that the cables in wrong ports join, or should join."""
    return {*map(devices_of, miscabling.planned), *map(devices_of, miscabling.actual)}


def _exchanged(miscabling: Miscabling) -> list[Devices]:
    """Return the pairs of devices that may have been exchanged where two cables are in each other's place."""
    if not miscabling.closed or len(miscabling.planned) != 2:
        return []
    first, second = miscabling.planned
    return [
        (min(devices), max(devices))
        for devices in ((first.a.device, second.a.device), (first.b.device, second.b.device))
        if devices[0] != devices[1]
    ]


def _taken_for(miscabling: Miscabling, votes: Counter[Devices]) -> Devices | None:
    """Return the pair of devices that may have been exchanged here and has most votes, None where no pair may."""
    return max(_exchanged(miscabling), key=lambda pair: votes[pair], default=None)


def _cables_crossed(miscablings: Sequence[Miscabling], changed: Devices | None) -> Violation:
    planned = [cable for miscabling in miscablings for cable in miscabling.planned]
    actual = [cable for miscabling in miscablings for cable in miscabling.actual]
    wrong = [line for miscabling in miscablings for line in _wrong(miscabling)]
    return Violation(
        origin=actual[0].origin,
        message=_message(miscablings, wrong, changed),
        note_lines=tuple(_shown(wrong)) if len(wrong) > 2 else (),
        help="put the cables where they are declared, or name the ports in the intent as they are",
        elements=named(actual),
        places=max(len(planned), len(actual)),
        data={"declared": list(named(planned)), "found": list(named(actual))},
        related=related(planned[0].origin, "what is declared"),
    )


def _message(miscablings: Sequence[Miscabling], wrong: Sequence[str], changed: Devices | None) -> str:
    cables = sum(len(miscabling.planned) for miscabling in miscablings)
    joined = {devices for miscabling in miscablings for devices in _joined(miscabling)}
    if cables == 1:
        return wrong[0]
    if len(miscablings) == 1 and miscablings[0].closed and len(miscablings[0].planned) == 2:
        return f"two cables are swapped: {'; '.join(wrong)}"
    if len(wrong) == 2:
        return "; ".join(wrong)
    if len(joined) == 1:
        return f"{cables:,} cables between {' and '.join(joined.pop())} are in other ports than declared"
    if changed is not None:
        return f"{' and '.join(changed)} are in each other's place: {cables:,} cables"
    first = miscablings[0]
    if len(miscablings) > 1:
        (wanted,), (there,) = ({*map(devices_of, cables_of)} for cables_of in (first.planned, first.actual))
        own = {*wanted} & {*there}
        near, far, other = (", ".join(sorted(names)) for names in (own, {*there} - own, {*wanted} - own))
        return f"{cables:,} cables of {near} go to {far}, not to {other}"
    if first.closed:
        return f"{cables:,} cables are each in the place of another"
    return f"{cables:,} cables are not where they are declared"


def _shown(wrong: Sequence[str]) -> list[str]:
    more = [f"and {len(wrong) - _SHOWN:,} more"] if len(wrong) > _SHOWN else []
    return [*wrong[:_SHOWN], *more]


def _wrong(miscabling: Miscabling) -> list[str]:
    """Return a text for each declared cable: the port that is there instead, or that the cable was not found."""
    at = {end: cable for cable in miscabling.actual for end in (cable.b, cable.a)}
    # A port without a name in the intent is any port of its device.
    at |= {CableEnd(end.device, None): cable for end, cable in at.items()}
    return [_instead(cable, at) for cable in miscabling.planned]


def _instead(cable: PlannedCable, at: Mapping[CableEnd, ReportedCable]) -> str:
    for wanted, far in ((cable.a, cable.b), (cable.b, cable.a)):
        if wanted in at:
            cable_there = at[wanted]
            near, there = cable_there.a, cable_there.b
            if not _is_at(near, wanted):
                near, there = there, near
            return f"{near.name} goes to {there.name}, not to {far.name}"
    return f"{cable.name} was not found"


def _is_at(end: CableEnd, wanted: CableEnd) -> bool:
    return end.device == wanted.device and wanted.port in (None, end.port)
