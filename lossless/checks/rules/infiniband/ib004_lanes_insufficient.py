"""Routing and levels of service must have as many lanes as they need.

Severity: error
Subject: subnet

## What it does
Compares the lanes that the routing engine and the declared levels need with those that are operational: by
`max_op_vls`, a code, and by the switches, where the number of their lanes is known. Engines that separate paths by
lanes also need `qos TRUE`, and lash, dfsssp and nue a `qos_sl2vl` that gives each SL the VL of its number. Reports
where `qos_max_vls` promises more lanes than there are, and where `qos_sl2vl` names lanes above the operational ones.

torus-2QoS needs two lanes to keep its cycles apart, four to do so while a switch is down, and eight for two levels of
service: below two opensm refuses it, the others are warnings. On a fat tree, where no path closes a cycle, lash, dfsssp
or nue without QoS is a warning too, and so is a deployed file without `qos`: the command line may turn it on.

## Why it breaks a lossless fabric
opensm folds a lane that is not operational onto a lower one (VL 4 becomes VL 0 with VL0-3) without a message. Two
levels then share a lane, and paths that an engine put on different lanes to keep them from closing a cycle are on one:
that is a credit loop. With `qos` off the tables that lash and dfsssp rely on are never written at all, and both log
that all is configured; torus-2QoS logs that it needs QoS, and minhop routes the torus, with credit loops.

## Bad
```conf opensm base=none
routing_engine torus-2QoS
qos TRUE
max_op_vls 1   # <- here
```

```conf opensm base=none
routing_engine dfsssp   # <- here
```

```conf opensm base=none
qos TRUE
max_op_vls 2
qos_max_vls 8   # <- here
```

```conf opensm base=none
qos TRUE
max_op_vls 2
qos_sl2vl 0,1,2,3,0,1,0,1,0,1,0,1,0,1,0,1   # <- here
```

## Good
```conf opensm base=none
routing_engine torus-2QoS
qos TRUE
max_op_vls 4
```

## Fix
Raise `max_op_vls` (4 is VL0 to VL7), and write `qos TRUE` where the engine needs lanes.

## Sources
- opensm 3.3.23 on a simulated fabric, run: with `max_op_vls 3` an SL2VL table of 0,1,2,3,4,5,6,7 is written to
  ports as 0,1,2,3,0,1,2,3; `qos_max_vls 2` changes no table; lash and dfsssp with `max_op_vls 1` say that their
  tables are configured
- opensm 3.3.23 on simulated tori of 2 x 5, 3 x 3, 4 x 4, 5 x 5 and 5 x 5 x 5, run: torus-2QoS with 2, 4 and 8 lanes
  comes up, and its tables have no loop; with one it logs ERR 4E48, with QoS off ERR 4E44, and minhop routes
- linux-rdma/opensm opensm/osm_torus.c @9b50961 (verify_setup: two data VLs, four for a failed switch, eight for two
  levels), opensm/osm_qos.c @0292ae2 (nothing is written where qos is off)
- torus-2QoS(8), of opensm 3.3.23: always with QoS; of the SL of a level only the high bit counts
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import (
    DROPPED,
    LAYERED_ENGINES,
    folding,
    is_on,
    number,
    operational_vls,
    partitions,
    qos_untold,
    shape,
    switches,
    vl_of,
    written,
)
from lossless.ground.basics.units import joined
from lossless.model.fabric.infiniband.derived_policy import SECOND_LEVEL, SL_IS_LANE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.basics.findings import Severity
    from lossless.model.fabric.infiniband.subnet import Subnet


LOWEST_VLS = 2
"""Virtual lanes below which opensm refuses torus-2QoS: osm_torus.c @9b50961, and run."""
SPARE_VLS = 4
"""Virtual lanes with which torus-2QoS routes around a failed switch without a credit loop: osm_torus.c @9b50961."""
LEVEL_VLS = 8
"""Virtual lanes with which torus-2QoS has two levels of service: osm_torus.c @9b50961."""
_OPENSMS_OWN = "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7"
"""The SL2VL table that opensm writes by itself: OSM_DEFAULT_QOS_SL2VL, include/opensm/osm_base.h."""
_OFF_NOTES = {
    "torus-2QoS": "opensm logs ERR 4E44, skips torus-2QoS and routes by the next engine, else by minhop",
    "lash": "lash says that all is configured, and all its paths are on VL 0",
    "dfsssp": "dfsssp says that all is configured, and all its paths are on VL 0",
}


def check(subnet: Subnet) -> Results:
    """Yield a violation where an engine or a level of service lacks virtual lanes, or a file states too many."""
    engine = subnet.routing.engine
    if not is_on(subnet, "qos"):
        if engine in LAYERED_ENGINES or _nue_with_lanes(subnet):
            yield _off(subnet, str(engine))
        return
    count = _lanes(subnet)
    if count is None:
        return
    yield from _of_engine(subnet, count)
    yield from _of_levels(subnet, count)
    yield from _promised(subnet, count)
    yield from _beyond(subnet, count)


def _lanes(subnet: Subnet) -> int | None:
    """Return the largest possible number of operational virtual lanes; None where ``max_op_vls`` is no known code."""
    count = operational_vls(subnet)
    switch_vls = [
        switch.profile.vls for switch in switches(subnet).values() if switch.profile.vls is not None
    ]
    return None if count is None else min([count, *switch_vls])


def _nue_with_lanes(subnet: Subnet) -> bool:
    return subnet.routing.engine == "nue" and number(subnet, "nue_max_num_vls") != 1


def _off(subnet: Subnet, engine: str) -> Violation:
    topology = shape(subnet)
    cycles = engine == "torus-2QoS" or topology is None or topology.kind != "fat-tree"
    return Violation(
        origin=written(subnet, "qos", "routing_engine"),
        message=f"{engine} separates paths by virtual lanes, but QoS is off: opensm writes no SL2VL tables",
        note=_off_note(subnet, engine) if cycles else "on a fat tree its paths have no credit loop even so",
        help="write qos TRUE",
        data={"engine": engine},
        severity=None if cycles and not qos_untold(subnet) else "warning",
    )


def _off_note(subnet: Subnet, engine: str) -> str:
    unless = "unless opensm is started with --qos" if qos_untold(subnet) else ""
    return ", ".join(filter(None, (_OFF_NOTES.get(engine), unless)))


def _of_engine(subnet: Subnet, count: int) -> Iterator[Violation]:
    engine, topology = subnet.routing.engine, shape(subnet)
    if engine == "torus-2QoS":
        yield from _of_torus(subnet, count)
    elif engine in LAYERED_ENGINES and count < 2 and topology is not None and topology.kind == "torus":
        note = "lanes beyond are folded onto those below, and the paths they kept apart are on one"
        yield _few(subnet, count, f"{engine} needs several lanes on a torus", note)
    elif engine in SL_IS_LANE and (topology is None or topology.kind != "fat-tree"):
        most = number(subnet, "nue_max_num_vls") if engine == "nue" else 0
        yield from _joined(subnet, min(count, most or count))


def _joined(subnet: Subnet, count: int) -> Iterator[Violation]:
    """Yield a violation where the SL2VL table maps service levels that the routing engine separates to one lane."""
    lanes = {vl_of(subnet, sl) for sl in range(count)}
    if len(lanes) < count:
        engine = subnet.routing.engine
        yield Violation(
            origin=written(subnet, "qos_sl2vl", "routing_engine"),
            message=f"{engine} separates paths by SL 0 to {count - 1}, but qos_sl2vl puts them on {len(lanes)} "
            f"of {count} lanes",
            note="paths that share a lane can form a credit loop",
            help=f"map each of SL 0 to {count - 1} to the VL of its number",
            data={"engine": engine, "lanes": len(lanes)},
            # The topology is not in the files: on a fat tree no path closes a cycle.
            severity="warning" if shape(subnet) is None else None,
        )


def _of_torus(subnet: Subnet, count: int) -> Iterator[Violation]:
    if count < LOWEST_VLS:
        note = "opensm logs ERR 4E48, skips torus-2QoS and routes by the next engine, else by minhop"
        yield _few(subnet, count, f"torus-2QoS needs {LOWEST_VLS} lanes", note)
    elif count < SPARE_VLS:
        note = (
            "2 lanes are enough while every switch is up; the turns around a failed one need separate lanes"
        )
        requirement = (
            f"torus-2QoS needs {SPARE_VLS} lanes to route around a failed switch without a credit loop"
        )
        yield _few(subnet, count, requirement, note, severity="warning")
    elif count < LEVEL_VLS and _two_levels(subnet):
        note = "levels of SL 8 and up are its second one, on VL 4 to 7, which are folded onto those below"
        requirement = f"torus-2QoS needs {LEVEL_VLS} lanes for two levels of service"
        yield _few(subnet, count, requirement, note, severity="warning")


def _two_levels(subnet: Subnet) -> bool:
    """Return whether a level of service or a partition uses the second of the two levels of torus-2QoS."""
    levels = [level.sl for level in subnet.qos.levels]
    levels += [partition.sl for partition in partitions(subnet) or () if partition.sl is not None]
    return any(sl >= SECOND_LEVEL for sl in levels)


def _few(subnet: Subnet, count: int, needs: str, note: str, severity: Severity | None = None) -> Violation:
    return Violation(
        origin=written(subnet, "max_op_vls", "routing_engine"),
        message=f"{needs}, and {_vls_are(count)} operational",
        note=note,
        help="write max_op_vls 4, which is VL0 to VL7",
        data={"engine": subnet.routing.engine, "lanes": count},
        severity=severity,
    )


def _of_levels(subnet: Subnet, count: int) -> Results:
    unknown = sorted({it.profile.product for it in switches(subnet).values() if it.profile.vls is None})
    beyond = [level.vl for level in subnet.qos.levels if LEVEL_VLS <= level.vl < count]
    if unknown and beyond:
        yield MissingInput(f"whether there is a VL {max(beyond)} on {joined(unknown, 4)}: no public figure")
    for level in subnet.qos.levels:
        if level.vl >= count:
            yield Violation(
                origin=level.origin,
                message=f"level {level.name} is to use VL {level.vl}, and {_vls_are(count)} operational: "
                f"it uses VL {level.vl % folding(count)} instead",
                help="raise max_op_vls, or use a lower lane",
                data={"level": level.name, "vl": level.vl, "lanes": count},
            )


def _promised(subnet: Subnet, count: int) -> Iterator[Violation]:
    setting = subnet.option("qos_max_vls")
    promised = subnet.qos.max_vls
    if setting is not None and not setting.derived and promised is not None and count < promised <= 15:
        yield Violation(
            origin=setting.origin,
            message=f"qos_max_vls {promised} has no effect: {_vls_are(count)} operational",
            note="max_op_vls, a code, says how many lanes ports use; qos_max_vls, a count, changes no table",
            help="set both to the same number of lanes",
            data={"promised": promised, "lanes": count},
            severity="warning",
        )


def _beyond(subnet: Subnet, count: int) -> Iterator[Violation]:
    """Yield a violation where an SL2VL table in a file names lanes that are not operational.

    opensm's default table does not count, and torus-2QoS reads no table.
    """
    setting, lanes = subnet.option("qos_sl2vl"), subnet.qos.sl2vl
    unread = subnet.routing.engine == "torus-2QoS"
    if setting is None or setting.derived or lanes is None or unread or setting.text == _OPENSMS_OWN:
        return
    beyond = [sl for sl, vl in enumerate(lanes) if count <= vl < DROPPED]
    if beyond:
        rides = f"SL {beyond[0]} uses VL {lanes[beyond[0]] % folding(count)}"
        yield Violation(
            origin=setting.origin,
            message=f"qos_sl2vl puts SL {joined(map(str, beyond), 4)} above the operational lanes: {rides}",
            note=f"{_vls_are(count)} operational, and opensm folds the others onto them",
            help="raise max_op_vls, or name lanes that are operational",
            data={"levels": [*beyond], "lanes": count},
            severity="warning",
        )


def _vls_are(count: int) -> str:
    return "VL0 alone is" if count == 1 else f"VL0 to VL{count - 1} are"
