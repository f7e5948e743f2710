"""Every link that an intent declares must be cabled.

Severity: error
Subject: cabling

## What it does
Where an intent is compared with files of cables (`lossless topology INTENT --from FILE`), looks for declared links that
the files cover but do not contain. Sheets and exports cover a link where they name both its devices. LLDP covers it
where one of its devices gave its own LLDP table, and the other appears in some table. Links that no file covers are not
checked.

## Why it breaks a lossless fabric
The traffic of the link takes parallel links. They are then oversubscribed, their queues fill, and pauses propagate to
all hosts below.

## Bad
```yaml intent base=leaf-spine beside=cables-one-short.csv
topology:
  leaf_spine:
    uplinks: 2 x 800G   # <- here
```

## Good
```yaml intent base=leaf-spine beside=cables.csv
topology:
  leaf_spine:
    uplinks: 2 x 800G
```

## Fix
Plug the cable, or find out why its port is down; or declare the cabling as it is.

## Sources
- lldpd/lldpd src/client/display.c @012ec0d (LLDP tells of neighbors that are heard, and so of links that are up)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.links.cabling import devices_of, named, some
from lossless.ground.basics.findings import grouped, natural_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.checks.rules.subjects import FabricCabling
    from lossless.model.fabric.cabling import PlannedCable


def check(cabling: FabricCabling) -> Results:
    """Yield a violation per device of whose several cables none was found, else per two devices with missing cables."""
    missing, bare = list(cabling.comparison.missing), _bare(cabling)
    for device in sorted(bare, key=natural_key):
        own = [cable for cable in missing if device in devices_of(cable)]
        if len(own) > 1:
            yield _link_not_cabled(cabling, own, f"none of the {len(own):,} cables of {device} was found")
            missing = [cable for cable in missing if device not in devices_of(cable)]
    for cables in grouped((devices_of(cable), cable) for cable in missing).values():
        first, second = devices_of(cables[0])
        many = f"{len(cables):,} cables between {first} and {second} were not found"
        yield _link_not_cabled(
            cabling, cables, many if len(cables) > 1 else f"{cables[0].name} was not found"
        )
    yield from _out_of_reach(cabling)


def _bare(cabling: FabricCabling) -> set[str]:
    """Return the devices that miss declared cables and have no cable in the files."""
    cabled = {name for cable in cabling.comparison.told.cables for name in devices_of(cable)}
    return {name for cable in cabling.comparison.missing for name in devices_of(cable)} - cabled


def _link_not_cabled(cabling: FabricCabling, cables: Sequence[PlannedCable], message: str) -> Violation:
    only_heard = all(map(cabling.comparison.told.only_heard, cables))
    return Violation(
        origin=cables[0].origin,
        message=message,
        note="LLDP hears only what is up: the port may be down" if only_heard else "",
        help="plug the cable, or declare what is there",
        elements=named(cables),
        data={"links": list(named(cables))},
        confidence="medium" if only_heard else None,
    )


def _out_of_reach(cabling: FabricCabling) -> Iterator[MissingInput]:
    reported, unseen = cabling.comparison.told, cabling.comparison.unseen
    covered = reported.listed | reported.heard | reported.listening
    strangers = sorted({name for cable in unseen for name in devices_of(cable)} - covered, key=natural_key)
    without = [cable for cable in unseen if not covered.issuperset(devices_of(cable))]
    if without:
        yield MissingInput(f"links of {some(strangers)}: no file lists {_them(strangers)}", len(without))
    if len(without) < len(unseen):
        rest = [cable for cable in unseen if covered.issuperset(devices_of(cable))]
        yield MissingInput(f"links as {rest[0].name}: missing LLDP of these devices themselves", len(rest))


def _them(names: Sequence[str]) -> str:
    return "them" if len(names) > 1 else "it"
