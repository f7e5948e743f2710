"""Every service level in use must reach a lane that is served.

Severity: error
Subject: subnet

## What it does
Follows the service levels that partitions and declared levels use through the SL2VL table to their lane, and looks
whether the lane has a weight in one of the arbitration tables. torus-2QoS writes the SL2VL tables itself: VL 0 to 3
between switches and VL 0 at hosts, and with SL 8 and up VL 4 to 7 and VL 1; each of them needs a weight. With
`qos_high_limit 255` the low table has its turn only when no packet of a lane of the high table waits: a level in the
low table alone is reported beside one in the high table.

## Why it breaks a lossless fabric
A level whose entry is 15 has no lane: each of its packets is discarded. An entry of weight 0 is skipped, so that a
lane without weight is turned off: its queues stay full, and the traffic behind them stops.

## Bad
```conf opensm base=none beside=partitions.conf
qos TRUE
qos_sl2vl 0,1,2,15,0,1,2,3,0,1,2,3,0,1,2,3   # <- here
```

```conf opensm base=none beside=partitions.conf
qos TRUE
max_op_vls 3
qos_vlarb_high 0:64
qos_vlarb_low 0:4,1:4,2:4   # <- here
```

```yaml intent base=infiniband
qos:
  high_limit: 255   # <- here
```

## Good
```conf opensm base=none beside=partitions.conf
qos TRUE
max_op_vls 3
qos_vlarb_high 3:64
qos_vlarb_low 0:4,1:4,2:4,3:4
```

## Fix
Give each level a lane of 0 to 14, and each lane in use a weight above 0 in one of the tables.

## Sources
- opensm(8), of opensm 3.3.23, QOS CONFIGURATION (15 in an SL2VL table drops the packet)
- linux-rdma/opensm opensm/osm_torus.c @fa74b98 (sl2vl_entry), torus-2QoS(8)
- InfiniBand specification 1.2.1, 7.6.9 (a weight of 0 is an entry that is skipped; a limit of 255 is none)
- linux-rdma/opensm doc/QoS_management_in_OpenSM.txt @fa74b98 (a lane whose only weight is 0 is turned off)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import (
    ARBITRATION_TABLES,
    DROPPED,
    QOS_UNTOLD,
    folding,
    is_on,
    operational_vls,
    partitions,
    qos_untold,
    vl_of,
    written,
)
from lossless.checks.rules.locations import beside
from lossless.ground.basics.units import joined
from lossless.model.fabric.infiniband.derived_policy import TORUS_ENGINE, TORUS_PORTS, torus_lanes
from lossless.model.fabric.infiniband.subnet import levels_in_use, weights_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.infiniband.subnet import Subnet


_NO_LIMIT = 255


def check(subnet: Subnet) -> Results:
    """Yield a violation per service level in use without a lane or weight, and for levels that others can starve.

    Only with QoS on. Of torus-2QoS it is one per kind of port with lanes without weight.
    """
    if not is_on(subnet, "qos"):
        if qos_untold(subnet) and levels_in_use(subnet):
            yield QOS_UNTOLD
        return
    if subnet.routing.engine == TORUS_ENGINE:
        yield from _torus(subnet)
        return
    if any(subnet.option(f"qos_{kind}_{table}") for kind in ("ca", "swe") for table in ARBITRATION_TABLES):
        yield MissingInput("arbitration tables of their own for some ports")
        return
    served = _served(subnet)
    for sl, users in levels_in_use(subnet).items():
        vl = vl_of(subnet, sl)
        if vl is None:
            yield _dropped(subnet, sl, users)
        elif served is not None and vl not in served:
            yield _starved(subnet, sl, vl, users)
    yield from _held_back(subnet)


def _held_back(subnet: Subnet) -> Iterator[Violation]:
    """Yield a violation where levels of the low table wait for those of a high table that nothing limits."""
    count, levels = operational_vls(subnet), levels_in_use(subnet)
    # opensm gives a partition without a level SL 0.
    unstated = [
        (f"partition {part.name}", part.origin) for part in partitions(subnet) or () if part.sl is None
    ]
    if unstated:
        levels[0] = [*levels.get(0, ()), *unstated]
    if subnet.qos.high_limit != _NO_LIMIT or subnet.qos.high is None or count is None:
        return
    served = {entry.vl % folding(count) for entry in subnet.qos.high if entry.weight}
    lane_of = {sl: vl for sl in levels if (vl := vl_of(subnet, sl)) is not None}
    first = [sl for sl, vl in lane_of.items() if vl in served]
    last = [sl for sl, vl in lane_of.items() if vl not in served]
    if not first or not last:
        return
    waiting, ahead = ([user for sl in sls for user in levels[sl]] for sls in (last, first))
    here = written(subnet, "qos_high_limit")
    yield Violation(
        origin=here,
        message=f"{_names(waiting)} can be starved by {_names(ahead)}: the high table has no limit",
        note="the low table has its turn only when no packet of a lane of the high table waits",
        help="state a limit of 0 to 254, or give the lanes a weight in the high table too",
        data={"starved": [*last], "first": [*first]},
        related=beside(here, *((origin, name) for name, origin in waiting)),
        severity="warning",
    )


def _torus(subnet: Subnet) -> Iterator[Violation]:
    count, levels = operational_vls(subnet), set(levels_in_use(subnet)) or {0}
    if count is None:
        return
    for kind in TORUS_PORTS:
        used = frozenset().union(*(torus_lanes(kind, count, sl) for sl in levels))
        if lacking := sorted(used - _weighted(subnet, kind)):
            yield _without_weight(subnet, kind, lacking)


def _weighted(subnet: Subnet, kind: str) -> set[int]:
    """Return the lanes with a weight at ports of a kind: by its own tables, else those for all, else opensm's."""
    served = set()
    for table, default in (("high", "0:4"), ("low", ",".join(f"{vl}:4" for vl in range(1, DROPPED)))):
        options = (subnet.option(f"qos_{kind}_vlarb_{table}"), subnet.option(f"qos_vlarb_{table}"))
        text = next((option.text for option in options if option and option.text != "(null)"), default)
        served |= {entry.vl for entry in weights_of(text) or () if entry.weight}
    return served


def _without_weight(subnet: Subnet, kind: str, lacking: list[int]) -> Violation:
    keys = [f"qos_{kind}_vlarb_low", f"qos_{kind}_vlarb_high", "qos_vlarb_low", "qos_vlarb_high"]
    where, vls = "between switches" if kind == "swe" else "at hosts", f"VL {joined(map(str, lacking))}"
    return Violation(
        origin=written(subnet, *keys, "routing_engine"),
        message=f"torus-2QoS uses {vls} {where}, without weight in either table",
        note="it writes the SL2VL tables itself: the paths on these lanes are served last or never",
        help=f"state qos_{kind}_vlarb_high or qos_{kind}_vlarb_low with a weight above 0 for {vls}",
        data={"ports": kind, "lanes": [*lacking]},
    )


def _served(subnet: Subnet) -> set[int] | None:
    """Return the lanes that have a weight, folded as opensm does it; None if opensm serves all, or VLs are unknown."""
    high, low, count = subnet.qos.high, subnet.qos.low, operational_vls(subnet)
    if low is None or count is None:
        return None
    # opensm's own table of high priority serves VL 0 alone.
    entries = [*low, *(high if high is not None else ())]
    return {entry.vl % folding(count) for entry in entries if entry.weight} | ({0} if high is None else set())


def _dropped(subnet: Subnet, sl: int, users: list[tuple[str, Origin]]) -> Violation:
    here = written(subnet, "qos_sl2vl")
    return Violation(
        origin=here,
        message=f"SL {sl} has no lane: every packet of {_names(users)} is discarded",
        help="name a lane of 0 to 14",
        data={"sl": sl},
        related=beside(here, *((origin, name) for name, origin in users)),
    )


def _starved(subnet: Subnet, sl: int, vl: int, users: list[tuple[str, Origin]]) -> Violation:
    here = written(subnet, "qos_vlarb_low", "qos_vlarb_high")
    return Violation(
        origin=here,
        message=f"VL {vl} has no weight in either table: SL {sl} of {_names(users)} is served last or never",
        help=f"give VL {vl} a weight above 0",
        data={"sl": sl, "vl": vl},
        related=beside(here, *((origin, name) for name, origin in users)),
        severity="warning",
    )


def _names(users: list[tuple[str, Origin]]) -> str:
    return " and ".join(dict.fromkeys(name for name, _ in users))
