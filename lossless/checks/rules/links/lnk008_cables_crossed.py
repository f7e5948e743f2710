"""Cables must be in the ports that the intent says.

Severity: error

## What it does
Where an intent is compared with files of cables (`lossless topology INTENT --from FILE`), takes the ports that have a
cable and should have another. Cables that are in each other's place are told together: two that were swapped, or all
those of two devices that stand where the other should. A port that an intent does not name, as those of hosts in a
shape, is any port of its device; a port that files call by alias, or as it is printed on the front, is known by that.

## Why it breaks a lossless fabric
Every port is configured for what should be at its other end: addresses, cable length and so headroom, watchdog, PFC
towards hosts or towards switches. In another port a cable is up and looks well, and packets are lost when a pause comes
too late, or hosts of one rail talk through the spines.

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
- sonic-buildimage files/build_templates/qos_config.j2 @086b03b (ports get QoS by what is at their other end)
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lossless.checks.rules.base import Gap, Hit, Results
from lossless.checks.rules.links.cabling import devices_of, grouped, named, related
from lossless.model.fabric.cabling import CableEnd

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lossless.analysis.topology.cabling_comparison import Miscabling
    from lossless.checks.rules.subjects import FabricCabling
    from lossless.model.fabric.cabling import PlannedCable, ReportedCable


Devices = tuple[str, str]
_SHOWN = 8


def check(cabling: FabricCabling) -> Results:
    """Yield a hit per cause: cables that hang together, and devices that were taken for each other."""
    tangles = cabling.comparison.tangles
    votes = Counter(pair for tangle in tangles for pair in _exchanged(tangle))
    for together in grouped(tangles, lambda tangle: _cause(tangle, votes)):
        yield _hit(together, _taken_for(together[0], votes) if len(together) > 1 else None)
    renamed = cabling.comparison.renamed
    if renamed:
        first = renamed[0]
        yield Gap(
            f"which is which: files have {first.called} where the shape derives {first.derived}; names under "
            "topology.names would tell",
            len(renamed),
        )


def _cause(tangle: Miscabling, votes: Counter[Devices]) -> object:
    """Return what tangles of one cause have in common: two devices in each other's place, or one pair of devices."""
    joined = _joined(tangle)
    if len(joined) == 1:
        return joined.pop()
    if len(tangle.planned) == len(tangle.actual) == 1:
        return devices_of(tangle.planned[0]), devices_of(tangle.actual[0])
    return _taken_for(tangle, votes) or tangle


def _joined(tangle: Miscabling) -> set[Devices]:
    """Return which devices are joined, or should be."""
    return {*map(devices_of, tangle.planned), *map(devices_of, tangle.actual)}


def _exchanged(tangle: Miscabling) -> list[Devices]:
    """Return which two devices may have been taken for each other where two cables are in each other's place."""
    if not tangle.closed or len(tangle.planned) != 2:
        return []
    first, second = tangle.planned
    return [
        (min(one, other), max(one, other))
        for one, other in ((first.a.device, second.a.device), (first.b.device, second.b.device))
        if one != other
    ]


def _taken_for(tangle: Miscabling, votes: Counter[Devices]) -> Devices | None:
    """Return the two devices that most cables were plugged into for each other, None where nothing was."""
    return max(_exchanged(tangle), key=lambda pair: votes[pair], default=None)


def _hit(tangles: Sequence[Miscabling], changed: Devices | None) -> Hit:
    planned = [cable for one in tangles for cable in one.planned]
    found = [cable for one in tangles for cable in one.actual]
    wrong = [line for one in tangles for line in _wrong(one)]
    return Hit(
        origin=found[0].origin,
        message=_message(tangles, wrong, changed),
        note="\n".join(_shown(wrong)) if len(wrong) > 2 else "",
        help="put the cables where they are declared, or name the ports in the intent as they are",
        elements=named(found),
        places=max(len(planned), len(found)),
        data={"declared": list(named(planned)), "found": list(named(found))},
        related=related(planned[0].origin, "what is declared"),
    )


def _is_swap(tangles: Sequence[Miscabling]) -> bool:
    return len(tangles) == 1 and tangles[0].closed and len(tangles[0].planned) == 2


def _message(tangles: Sequence[Miscabling], wrong: Sequence[str], changed: Devices | None) -> str:
    cables = sum(len(one.planned) for one in tangles)
    joined = {devices for one in tangles for devices in _joined(one)}
    if cables == 1:
        return wrong[0]
    if _is_swap(tangles):
        return f"two cables are swapped: {'; '.join(wrong)}"
    if len(wrong) == 2:
        return "; ".join(wrong)
    if len(joined) == 1:
        return f"{cables:,} cables between {' and '.join(joined.pop())} are in other ports than declared"
    if changed is not None:
        return f"{' and '.join(changed)} are in each other's place: {cables:,} cables"
    if len(tangles) > 1:
        (wanted,), (there,) = ({*map(devices_of, one)} for one in (tangles[0].planned, tangles[0].actual))
        own = {*wanted} & {*there}
        near, far, other = (", ".join(sorted(names)) for names in (own, {*there} - own, {*wanted} - own))
        return f"{cables:,} cables of {near} go to {far}, not to {other}"
    if tangles[0].closed:
        return f"{cables:,} cables are each in the place of another"
    return f"{cables:,} cables are not where they are declared"


def _shown(wrong: Sequence[str]) -> list[str]:
    more = [f"and {len(wrong) - _SHOWN:,} more"] if len(wrong) > _SHOWN else []
    return [*wrong[:_SHOWN], *more]


def _wrong(tangle: Miscabling) -> list[str]:
    """Return what is at each declared end instead of what should be."""
    at = {end: cable for cable in tangle.actual for end in (cable.b, cable.a)}
    # A port that nobody named is any port of its device.
    at |= {CableEnd(end.device, None): cable for end, cable in at.items()}
    return [_instead(cable, at) for cable in tangle.planned]


def _instead(cable: PlannedCable, at: Mapping[CableEnd, ReportedCable]) -> str:
    for wanted, far in ((cable.a, cable.b), (cable.b, cable.a)):
        if wanted in at:
            found = at[wanted]
            near, there = (found.a, found.b) if _is_at(found.a, wanted) else (found.b, found.a)
            return f"{near.name} goes to {there.name}, not to {far.name}"
    return f"{cable.name} was not found"


def _is_at(end: CableEnd, wanted: CableEnd) -> bool:
    return end.device == wanted.device and wanted.port in (None, end.port)
