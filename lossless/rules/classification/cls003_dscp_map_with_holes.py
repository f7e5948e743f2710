"""A map that names most DSCPs must name them all.

## What it does
Looks at the DSCP map of each port with PFC on a deployed device. A map that names most DSCPs and leaves out a few
is taken for one that was meant to be whole; one that names a handful on purpose is well. Where traffic class 0 has
PFC, every hole counts. Holes that CLS001 reports are left to it: those of named RDMA DSCPs, those of DSCPs that
most other ports map to a lossless class, and those of a map that leads to no lossless class at all.

## Why it breaks a lossless fabric
A DSCP without an entry goes to traffic class 0: whatever was meant for it, the switch serves it best effort, and
nothing says so. Where class 0 is lossless it is worse: everybody who marks such a DSCP can pause the fabric.

## Bad
```json config_db base=azure
{
  "DSCP_TO_TC_MAP": {
    "AZURE": {"26": null}   // <- here
  }
}
```

## Good
```json config_db base=azure
{
  "DSCP_TO_TC_MAP": {
    "AZURE": {"26": "0"}
  }
}
```

## Fix
Write an entry for every DSCP from 0 to 63; `"26": "0"` says that best effort is meant.

## Sources
- sonic-buildimage src/sonic-yang-models/yang-models/sonic-dscp-tc-map.yang @086b03b (asks for no entry)
- sonic-buildimage files/build_templates/qos_config.j2 @086b03b (the stock map names all 64)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.fabric.qos import DSCPS
from lossless.rules.base import Gap, Hit, Rule
from lossless.rules.classification.marking import spell_dscps
from lossless.rules.pfc.masks import remapped
from lossless.rules.places import elements, places

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.fabric.qos import IndexMap
    from lossless.fabric.view import PortSet
    from lossless.rules.device import Device

RULE = Rule(
    code="CLS003",
    name="dscp-map-with-holes",
    severity="warning",
    summary="A map that names most DSCPs must name them all",
    sources=(
        "sonic-buildimage src/sonic-yang-models/yang-models/sonic-dscp-tc-map.yang @086b03b",
        "sonic-buildimage files/build_templates/qos_config.j2 @086b03b",
    ),
    subject="tables",
)


def check(device: Device) -> Iterator[Hit | Gap]:
    """Yield a hit per DSCP map of ports with PFC that leaves DSCPs out."""
    by_map: dict[int, list[PortSet]] = {}
    for ports in device.view.lossless_sets:
        found = ports.qos.dscp_to_tc
        if found is not None and None in found.targets and not ports.qos.trust_dot1p:
            by_map.setdefault(id(found), []).append(ports)
    for sets in by_map.values():
        dscp_map = sets[0].qos.dscp_to_tc
        if dscp_map is not None:
            yield from _judged(device, dscp_map, sets)


def _judged(device: Device, dscp_map: IndexMap, sets: Sequence[PortSet]) -> Iterator[Hit]:
    holes = [dscp for dscp in dscp_map.sources_of_none() if not _reported(device, dscp)]
    paused = any(0 in ports.qos.pfc.priorities for ports in sets)
    if holes and (paused or (_meant_whole(dscp_map) and _leads_to_all(dscp_map, sets))):
        yield _hit(dscp_map, sets, holes, paused=paused)
