"""Levels of service need QoS to be on.

Severity: error
Fix: unsafe
Subject: subnet

## What it does
Looks for partitions with a service level other than 0, for declared levels, and for tables of VLs and a policy file
that are stated while `qos` is not `TRUE`. The defaults that opensm writes into a file by itself are no statement: of a
file only the name counts, since distributions differ in the folder. A deployed file without `qos` is a warning: the
command line may turn it on.

## Why it breaks a lossless fabric
Without QoS opensm writes no SL2VL and no arbitration table and gives every partition SL 0: storage, management and the
collective that holds up a thousand GPUs share one lane and wait for one another, in a fabric whose files declare
separate ones.

## Bad
```conf opensm base=none
qos FALSE   # <- here
qos_sl2vl 0,1,2,3,0,0,0,0,0,0,0,0,0,0,0,0
```

```conf opensm base=none
qos_policy_file /etc/opensm/our-qos-policy.conf   # <- here
```

## Good
```conf opensm base=none
qos TRUE
max_op_vls 3
qos_sl2vl 0,1,2,3,0,0,0,0,0,0,0,0,0,0,0,0
```

## Fix
Write `qos TRUE`, or take out the settings that need it.

## Sources
- linux-rdma/opensm opensm/osm_qos.c @0292ae2 (osm_qos_setup returns where qos is off)
- linux-rdma/opensm opensm/main.c @fa74b98 (`--qos` sets the option of the file to true)
- linux-rdma/opensm opensm/osm_prtn_config.c @048c66e (partition_create: SL 0 where qos is off)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import is_on, partitions, qos_untold, set_to
from lossless.ground.basics.findings import natural_key
from lossless.ground.basics.units import joined
from lossless.model.fabric.infiniband.subnet import option, taken

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.infiniband.subnet import ManagerSetting, Subnet


_PREFIX = "qos_"


def check(subnet: Subnet) -> Results:
    """Yield a violation where QoS is off, or not known to be on, and settings are stated that need it."""
    if is_on(subnet, "qos"):
        return
    lost = _lost(subnet)
    if not lost:
        return
    setting, names = subnet.option("qos"), list(dict.fromkeys(name for name, _ in lost))
    untold = qos_untold(subnet)
    yield Violation(
        origin=setting.origin if setting else lost[0][1],
        message=f"QoS is off: {joined(names, 4)} {'has' if len(names) == 1 else 'have'} no effect",
        note="every packet is on SL 0 and VL 0" + (", unless opensm is started with --qos" if untold else ""),
        help="write qos TRUE",
        elements=tuple(names),
        places=1,
        data={"lost": list(names)},
        fix=set_to(setting, "TRUE") if setting else (),
        severity="warning" if untold else None,
    )


def _lost(subnet: Subnet) -> list[tuple[str, Origin]]:
    """Return the names of the stated settings that have an effect with QoS alone, and their origins.

    Levels and options are in the order of their names, not of the file.
    """
    declared = sorted(subnet.qos.levels, key=lambda level: natural_key(level.name))
    levels = [(f"the level {level.name}", level.origin) for level in declared]
    sls = [
        (f"the SL of {partition.name or 'a partition'}", partition.origin)
        for partition in partitions(subnet) or ()
        if partition.sl
    ]
    options = sorted(filter(_is_stated, subnet.options), key=lambda setting: setting.key)
    return levels + sls + [(setting.key, setting.origin) for setting in options]


def _is_stated(setting: ManagerSetting) -> bool:
    entry = option(setting.key) if setting.key.startswith(_PREFIX) and not setting.derived else None
    if entry is None or entry.default is None:
        return entry is not None
    if entry.kind == "file":
        return setting.text.rpartition("/")[2] != entry.default.rpartition("/")[2]
    return taken(entry, setting.text).value != taken(entry, entry.default).value
