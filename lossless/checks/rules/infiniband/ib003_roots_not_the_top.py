"""The file of roots must name the top of the tree.

Severity: warning
Subject: subnet

## What it does
Compares the switches that are named as roots with the top tier of a declared fat tree. For a deployed opensm.conf
beside other files of its manager, checks that the files of roots and of compute nodes that it names exist.

## Why it breaks a lossless fabric
ftree ranks switches by their distance from the roots. With a leaf among them it cannot, and opensm falls back to
minhop; updn takes the leaf as a root and sends traffic between spines down through it. Spines that are missing
carry nothing. Where the file itself is missing, or has another name, ftree gives up (ERR AB2A, AB23) and opensm falls
back to minhop; updn looks for roots by itself, and finds none in many trees.

## Bad
```yaml intent base=infiniband
subnet_manager:
  routing:
    roots: [leaf1, spine1]   # <- here
```

```yaml intent base=infiniband
subnet_manager:
  routing:
    engine: updn
    roots: [spine1]   # <- here
```

```conf opensm base=none beside=partitions.conf
qos TRUE
routing_engine ftree
root_guid_file /etc/opensm/roots.conf   # <- here
```

## Good
```yaml intent base=infiniband
subnet_manager:
  routing: {roots: top}
```

## Fix
Name every switch of the top tier, and no other: `roots: top`. Put the file at the path in opensm.conf.

## Sources
- opensm 3.3.23 on a simulated fabric, run: with a leaf as root `ftree: cannot build lid matrices`, then `minhop
  tables configured on all switches`; updn routes by it
- opensm(8), of opensm 3.3.23 (-a)
- linux-rdma/opensm opensm/osm_ucast_ftree.c, opensm/osm_ucast_updn.c @fa74b98 (ERR AB2A, AB23 and AA02)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import NO_TOPOLOGY, shape
from lossless.ground.basics.records import Unknown
from lossless.ground.basics.units import joined

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Subnet


_READ_BY = {"ftree": ("root_guid_file", "cn_guid_file"), "updn": ("root_guid_file",)}
"""The options of opensm.conf for files of GUIDs, by the routing engine that reads them."""
_WITHOUT = ("without it ftree gives up, and opensm takes minhop", "without it updn looks for roots by itself")


def check(subnet: Subnet) -> Results:
    """Yield a violation for roots outside of a fat tree's top, else for missing ones, and per absent file of GUIDs."""
    yield from _absent(subnet)
    if subnet.routing.roots is None or subnet.routing.engine not in ("ftree", "updn"):
        return
    if isinstance(subnet.shape, Unknown):
        yield NO_TOPOLOGY
        return
    topology = shape(subnet)
    if topology is None or topology.kind != "fat-tree":
        return
    # Where the shape is known, an intent names them.
    roots = list(map(str, subnet.routing.roots))
    wrong = [root for root in roots if root not in topology.roots]
    missing = [name for name in topology.roots if name not in roots]
    if wrong:
        yield _wrong(subnet, wrong)
    elif missing:
        yield _missing(subnet, missing)


def _absent(subnet: Subnet) -> Results:
    """Yield a violation per file of GUIDs that the engine needs and that is missing beside a deployed opensm.conf.

    It is a missing input where no other file was read.
    """
    read = {"root_guid_file": subnet.routing.roots, "cn_guid_file": subnet.routing.compute}
    for key in _READ_BY.get(subnet.routing.engine or "", ()) if subnet.provenance == "deployed" else ():
        setting = subnet.option(key)
        if setting is None or setting.text in ("", "(null)") or read[key] is not None:
            continue
        # With opensm.conf alone the file may exist: only a folder of files shows that one is missing.
        if len(subnet.files) == 1:
            yield MissingInput(f"{key} {setting.text} is not among the files")
        else:
            yield Violation(
                origin=setting.origin,
                message=f"{key} names {setting.text}, which is not among the files beside opensm.conf",
                note=_WITHOUT[subnet.routing.engine == "updn"],
                help="put the file there, or correct its name",
                data={"key": key, "file": setting.text},
                confidence="medium",
            )


def _wrong(subnet: Subnet, wrong: list[str]) -> Violation:
    fails = subnet.routing.engine == "ftree"
    return Violation(
        origin=subnet.routing.roots_origin or subnet.routing.origin,
        message=f"{joined(wrong, 4)} {'is a root' if len(wrong) == 1 else 'are roots'}, and not of the top tier"
        + (": ftree cannot rank the switches, and opensm takes minhop" if fails else ""),
        help="name the top tier alone",
        elements=tuple(wrong),
        severity="error" if fails else "warning",
    )


def _missing(subnet: Subnet, missing: list[str]) -> Violation:
    return Violation(
        origin=subnet.routing.roots_origin or subnet.routing.origin,
        message=f"{joined(missing, 4)} of the top tier {'is' if len(missing) == 1 else 'are'} no root: paths over "
        f"{'it' if len(missing) == 1 else 'them'} are valleys, and are not used",
        help="name every switch of the top tier",
        elements=tuple(missing),
    )
