"""A map that names most DSCPs must name them all.

Severity: warning
Fix: safe
Subject: device

## What it does
Looks at the DSCP map of each port with PFC on a deployed device. A map that names most DSCPs is expected to name all of
them; a map that names only a few is accepted. Where traffic class 0 has PFC, every missing DSCP counts. CLS001 reports
missing RDMA DSCPs, DSCPs that most other ports map to a lossless class, and maps without any lossless class.

## Why it breaks a lossless fabric
A DSCP without an entry goes to traffic class 0, and the switch serves it best effort without any message. Where class 0
is lossless it is worse: every sender of such a DSCP can pause the fabric.

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

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.classification.cls007_cnp_class_unsafe import DEFAULT_CNP_DSCP
from lossless.checks.rules.fixes import entries
from lossless.checks.rules.locations import places
from lossless.checks.rules.pfc.priorities import remapped
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.units import number_ranges
from lossless.model.fabric.qos import DSCPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.checks.rules.subjects import Device
    from lossless.model.fabric.qos import IndexMap
    from lossless.model.fabric.view import PortSet


def check(device: Device) -> Results:
    """Yield a violation per DSCP map of ports with PFC that lacks DSCPs, and names most or has ports that pause TC 0.

    Missing entries that CLS001 reports are left out.
    """
    trusting = (ports for ports in device.view.lossless_sets if not ports.qos.trust_dot1p)
    for sets in grouped((id(ports.qos.dscp_to_tc), ports) for ports in trusting).values():
        dscp_map = sets[0].qos.dscp_to_tc
        if dscp_map is not None and None in dscp_map.targets:
            yield from _holes(device, dscp_map, sets)


def _holes(device: Device, dscp_map: IndexMap, sets: Sequence[PortSet]) -> Iterator[Violation]:
    holes = [dscp for dscp in DSCPS if dscp_map.targets[dscp] is None and not _reported(device, dscp)]
    paused = any(0 in ports.qos.pfc.priorities for ports in sets)
    if holes and (paused or (_meant_whole(dscp_map) and _leads_to_all(dscp_map, sets))):
        yield _dscp_map_with_holes(dscp_map, sets, holes, paused=paused)


def _meant_whole(dscp_map: IndexMap) -> bool:
    """Return whether a map names most DSCPs, and so is meant to name all of them."""
    return 2 * dscp_map.targets.count(None) < len(DSCPS)


def _leads_to_all(dscp_map: IndexMap, sets: Sequence[PortSet]) -> bool:
    """Return whether every priority with PFC has a DSCP; CLS001 reports priorities without one.

    Where RDMA DSCPs are named, CLS001 checks those one by one, and True is returned.
    """
    if sets[0].switch.classes.knowledge != "inferred":
        return True
    paused = {p for ports in sets for p in {*ports.qos.pfc.priorities} - remapped(ports.qos)}
    return paused <= {*dscp_map.targets}


def _reported(device: Device, dscp: int) -> bool:
    """Return whether CLS001 reports a DSCP without an entry: an RDMA DSCP if these are named or declared.

    Otherwise it is one that is lossless on most ports, other than the default DSCP of CNPs.
    """
    classes = device.switch.classes
    if classes.knowledge != "inferred":
        return any(dscp in cls.dscps for cls in classes.lossless)
    sets = device.view.lossless_sets
    lossless = [ports for ports in sets if _names_lossless(ports, dscp)]
    return dscp != DEFAULT_CNP_DSCP and 2 * places(lossless) > places(sets)


def _names_lossless(ports: PortSet, dscp: int) -> bool:
    return ports.qos.dscp_to_tc is not None and ports.qos.dscp_to_tc.targets[dscp] in ports.qos.pfc.priorities


def _dscp_map_with_holes(
    dscp_map: IndexMap, sets: Sequence[PortSet], holes: Sequence[int], *, paused: bool
) -> Violation:
    verb = "has no entry and goes" if len(holes) == 1 else "have no entry and go"
    lossless = ", which PFC pauses" if paused else ""
    return Violation(
        origin=dscp_map.origin,
        message=f"DSCP {number_ranges(holes)} {verb} to TC 0{lossless}; "
        f"{len(DSCPS) - dscp_map.targets.count(None)} of {len(DSCPS)} DSCPs are named",
        note="whoever marks packets so shares the lossless class"
        if paused
        else "an entry was forgotten, it seems",
        help="map them to a lossy class"
        if paused
        else f'"{holes[0]}": "0" says that best effort is meant{", and so for each" if len(holes) > 1 else ""}',
        data={"dscps": list(holes)},
        confidence="high" if paused else "medium",
        fix=() if paused else entries(dscp_map, *((dscp, 0) for dscp in holes)),
    ).on_ports(*sets)
