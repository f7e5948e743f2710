"""The table from service levels to lanes must name 16 lanes.

Severity: error
Subject: subnet

## What it does
Counts the entries of `qos_sl2vl`, and of its four variants for kinds of port, and looks for entries that are no
lane. With declared levels, it warns where storage shares the lane of the jobs.

## Why it breaks a lossless fabric
Service levels without an entry ride on VL 0, and an entry above 15 is cut down to four bits: traffic that was to
have a lane of its own waits behind another. An entry of 15 drops the packet.

## Bad
```conf opensm base=none
qos TRUE
qos_sl2vl 0,1,2,3   # <- here
```

```conf opensm base=none
qos TRUE
qos_swe_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,16   # <- here
```

## Good
```conf opensm base=none
qos TRUE
qos_sl2vl 0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3
```

## Fix
Name a lane for each of the 16 service levels.

## Sources
- opensm 3.3.23 on a simulated fabric, run: `qos_sl2vl 1,2,3` is written to ports as 1,2,3,0,0,...
- linux-rdma/opensm opensm/osm_qos.c @0292ae2 (parse_sl2vl_entry)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import (
    DROPPED,
    QOS_UNTOLD,
    SL_COUNT,
    is_on,
    qos_untold,
    storage_partitions,
    vl_of,
)
from lossless.ground.basics.units import joined
from lossless.model.fabric.infiniband.subnet import c_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.infiniband.subnet import ManagerSetting, Subnet


KEYS = ("qos_sl2vl", "qos_ca_sl2vl", "qos_sw0_sl2vl", "qos_swe_sl2vl", "qos_rtr_sl2vl")


def check(subnet: Subnet) -> Results:
    """Yield a violation per SL2VL table that is not one of 16 lanes, and where storage shares the lane of the jobs.

    Only with QoS on.
    """
    if not is_on(subnet, "qos"):
        if qos_untold(subnet) and any(map(subnet.option, KEYS)):
            yield QOS_UNTOLD
        return
    for setting in filter(None, map(subnet.option, KEYS)):
        if setting.text != "(null)":
            yield from _table(setting)
    yield from _storage(subnet)


def _table(setting: ManagerSetting) -> Iterator[Violation]:
    entries = setting.text.split(",")
    wrong = [entry for entry in entries if not _is_lane(entry)]
    if wrong:
        are = "is" if len(wrong) == 1 else "are"
        yield _sl2vl_incomplete(
            setting, f"{joined(map(repr, wrong), 4)} in {setting.key} {are} no lane of 0 to 15"
        )
    elif len(entries) < SL_COUNT:
        first = f"SL {len(entries)} and those above ride" if len(entries) < SL_COUNT - 1 else "SL 15 rides"
        yield _sl2vl_incomplete(
            setting, f"{setting.key} has {len(entries)} entries of {SL_COUNT}: {first} on VL 0"
        )
    elif len(entries) > SL_COUNT:
        yield _sl2vl_incomplete(
            setting,
            f"{setting.key} has {len(entries)} entries: those behind the first {SL_COUNT} are dropped",
        )


def _sl2vl_incomplete(setting: ManagerSetting, message: str) -> Violation:
    return Violation(
        origin=setting.origin,
        message=message,
        help=f"name a lane for each of the {SL_COUNT} service levels, SL 0 first",
        data={"key": setting.key, "entries": len(setting.text.split(","))},
    )


def _is_lane(entry: str) -> bool:
    number = c_number(entry.strip())
    return number is not None and 0 <= number <= DROPPED


def _storage(subnet: Subnet) -> Iterator[Violation]:
    """Yield a violation per partition of storage whose lane is that of the level that jobs use."""
    level = next((lvl for lvl in subnet.qos.levels if subnet.job and lvl.name == subnet.job.level), None)
    if level is None:
        return
    for partition in storage_partitions(subnet):
        if partition.sl is not None and vl_of(subnet, partition.sl) == vl_of(subnet, level.sl):
            yield Violation(
                origin=partition.origin,
                message=f"storage in {partition.name} shares VL {level.vl} with the jobs of level {level.name}",
                note="on one lane, what storage holds up holds up the jobs too",
                help="give storage a level with a lane of its own",
                data={"sl": partition.sl, "vl": level.vl},
                severity="warning",
            )
