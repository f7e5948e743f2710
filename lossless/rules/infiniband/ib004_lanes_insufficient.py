"""Routing and levels of service must find as many lanes as they need.

## What it does
Compares the lanes that the routing engine and the declared levels need with those that are operational: by
`max_op_vls`, a code, and by the switches, where the number of their lanes is known. Engines that part paths by
lanes also need `qos TRUE`. Says where `qos_max_vls` promises more lanes than there are.

## Why it breaks a lossless fabric
opensm folds a lane that is not operational onto a lower one (VL 4 becomes VL 0 with VL0-3) and says nothing. Two
levels then share a lane, and paths that an engine put on different lanes to keep them from closing a circle are on
one: they can wait for one another for ever. With `qos` off the tables that lash, dfsssp and torus-2QoS rely on are
never written at all.

## Bad
```conf opensm base=none
routing_engine torus-2QoS
qos TRUE
max_op_vls 3   # <- here
```

```conf opensm base=none
routing_engine dfsssp   # <- here
```

```conf opensm base=none
qos TRUE
max_op_vls 2
qos_max_vls 8   # <- here
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
- torus-2QoS(8), of opensm 3.3.23: eight data VLs; always with QoS
- linux-rdma/opensm opensm/osm_qos.c @0292ae2 (nothing is written where qos is off)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.rules.base import Gap, Hit, Rule
from lossless.rules.infiniband.reading import (
    LAYERED_ENGINES,
    folding,
    is_on,
    number,
    operational_vls,
    shape,
    switches,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.infiniband.model import Subnet

RULE = Rule(
    code="IB004",
    name="lanes-insufficient",
    severity="error",
    summary="Routing and levels of service must find as many lanes as they need",
    sources=(
        "opensm 3.3.23 on a simulated fabric, run",
        "torus-2QoS(8), of opensm 3.3.23",
        "linux-rdma/opensm opensm/osm_qos.c @0292ae2",
    ),
    subject="subnet",
)

TORUS_VLS = 8


def check(subnet: Subnet) -> Iterator[Hit | Gap]:
    """Yield a hit where an engine or a level lacks lanes."""
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


def _lanes(subnet: Subnet) -> int | None:
    """Return how many lanes there are at most, None where the code means nothing."""
    count = operational_vls(subnet)
    known = [switch.profile.vls for switch in switches(subnet).values() if switch.profile.vls is not None]
    return None if count is None else min([count, *known])


def _nue_with_lanes(subnet: Subnet) -> bool:
    return subnet.routing.engine == "nue" and number(subnet, "nue_max_num_vls") != 1


def _off(subnet: Subnet, engine: str) -> Hit:
    return Hit(
        origin=written(subnet, "qos") if subnet.option("qos") else subnet.routing.origin,
        message=f"{engine} parts its paths by lanes, and QoS is off: no table of lanes is written",
        note="torus-2QoS does not finish then; lash and dfsssp say that all is configured"
        if engine != "nue"
        else "",
        help="write qos TRUE",
        data={"engine": engine},
    )


def _of_engine(subnet: Subnet, count: int) -> Iterator[Hit]:
    engine, known = subnet.routing.engine, shape(subnet)
    if engine == "torus-2QoS" and count < TORUS_VLS:
        yield _few(subnet, engine, count, f"needs {TORUS_VLS}")
    elif engine in LAYERED_ENGINES and count < 2 and known is not None and known.kind == "torus":
        yield _few(subnet, engine, count, "needs several on a torus")


def _few(subnet: Subnet, engine: str, count: int, needs: str) -> Hit:
    return Hit(
        origin=written(subnet, "max_op_vls", "routing_engine"),
        message=f"{engine} {needs} lanes, and {_spoken(count)} operational",
        note="lanes beyond are folded onto those below, and the paths they kept apart are on one",
        help="write max_op_vls 4, which is VL0 to VL7",
        data={"engine": engine, "lanes": count},
    )


def _of_levels(subnet: Subnet, count: int) -> Iterator[Hit]:
    for level in subnet.qos.levels:
        if level.vl >= count:
            yield Hit(
                origin=level.origin,
                message=f"level {level.name} is to use VL {level.vl}, and {_spoken(count)} operational: it rides on VL "
                f"{level.vl % folding(count)}",
                help="raise max_op_vls, or use a lower lane",
                data={"level": level.name, "vl": level.vl, "lanes": count},
            )


def _promised(subnet: Subnet, count: int) -> Iterator[Hit]:
    setting = subnet.option("qos_max_vls")
    promised = subnet.qos.max_vls
    if setting is not None and not setting.derived and promised is not None and count < promised <= 15:
        yield Hit(
            origin=setting.origin,
            message=f"qos_max_vls {promised} is no more than a word: {_spoken(count)} operational",
            note="max_op_vls, a code, says how many lanes ports use; qos_max_vls, a count, changes no table",
            help="let both say the same",
            data={"promised": promised, "lanes": count},
            severity="warning",
        )


def _spoken(count: int) -> str:
    return "VL0 alone is" if count == 1 else f"VL0 to VL{count - 1} are"
