"""Only the RDMA DSCPs may map to a lossless traffic class.

Severity: warning
Subject: fabric

## What it does
Looks at every DSCP that is mapped to the traffic class of a lossless class and that no lossless class names: with an
intent because the lossless class takes the `rest`, on a device because `--rdma-dscp` does not name it. Where several
lossless classes share the fabric, the DSCPs of all of them are accepted. CLS007 checks the DSCP of CNPs, PFC001 a whole
priority without RDMA. Where the lossless classes are inferred from the device itself, its maps cannot contradict them.

## Why it breaks a lossless fabric
Every sender of that DSCP joins the pause domain. A TCP bulk transfer that fills the lossless queue pauses every RDMA
sender behind it, and it takes headroom that was sized for traffic that slows down on congestion signals.

## Bad
```json config_db base=leaf rdma-dscp=26
{
  "DSCP_TO_TC_MAP": {"AZURE": {
    "24": "3",   // <- here
    "25": "3"
  }}
}
```

```yaml intent base=leaf-spine
classes:
  rdma:
    dscp: rest   # <- here
  default: {dscp: 10}
hosts: {traffic_class: 106}
```

## Good
```json config_db base=leaf rdma-dscp=26
{
  "DSCP_TO_TC_MAP": {"AZURE": {"24": "0", "25": "0"}}
}
```

```json config_db base=azure rdma-dscp=3,4
{}
```

```yaml intent base=leaf-spine
classes:
  rdma: {dscp: [24, 26]}
```

## Fix
Map the other DSCPs to a lossy traffic class, or name them as RDMA if they are.

## Sources
- CumulusNetworks/docs cumulus-linux-514 RDMA-over-Converged-Ethernet-RoCE.md @1ffba62 (maps the whole block
  24-31)
- sonic-buildimage files/build_templates/qos_config.j2 @086b03b (stock map: one DSCP per lossless class)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.classification.cls007_cnp_class_unsafe import DEFAULT_CNP_DSCP
from lossless.checks.rules.locations import beside, entry_or_map
from lossless.checks.rules.pfc.priorities import paused_classes
from lossless.ground.basics.units import number_ranges
from lossless.model.fabric.qos import DSCPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.qos import IndexMap
    from lossless.model.fabric.view import PortSet, View


def check(view: View) -> Results:
    """Yield a violation per set of ports whose DSCP map gives DSCPs other than RDMA's and CNPs' a class of RDMA.

    Ports that trust 802.1p, and switches whose classes are inferred, are left out.
    """
    congestion = view.fabric.congestion
    cnp_dscp = congestion.cnp_dscp if congestion else DEFAULT_CNP_DSCP
    for ports in view.lossless_sets:
        if ports.qos.trust_dot1p or ports.switch.classes.knowledge == "inferred":
            continue
        if ports.qos.dscp_to_tc is None:
            yield MissingInput("no DSCP map is bound to the port", ports.places)
            continue
        yield from _beside_rdma(ports, ports.qos.dscp_to_tc, cnp_dscp)


def _beside_rdma(ports: PortSet, dscp_map: IndexMap, cnp_dscp: int | None) -> Iterator[Violation]:
    named = {dscp for cls in ports.switch.classes.lossless for dscp in cls.dscps}
    homes = {ports.qos.traffic_class(dscp) for dscp in named}
    homes |= {cls.priority for cls in ports.switch.classes.lossless if cls.priority is not None}
    homes &= paused_classes(ports.qos)
    others = [d for d in DSCPS if ports.qos.traffic_class(d) in homes and d not in named and d != cnp_dscp]
    if not others:
        return
    shared = sorted({ports.qos.traffic_class(dscp) for dscp in others})
    rdma = f"only DSCP {number_ranges(named)} is named as RDMA" if named else "no DSCP is named as RDMA"
    yield Violation(
        origin=entry_or_map(dscp_map, others[0]),
        message=f"DSCP {number_ranges(others)} shares lossless TC {number_ranges(shared)}; {rdma}",
        note="whoever sends these DSCPs pauses RDMA, and is paused with it",
        help="map them to a lossy class, or name them as RDMA",
        data={"dscps": list(others), "traffic_classes": list(shared), "rdma_dscps": [*sorted(named)]},
        related=beside(dscp_map.origin, (ports.qos.pfc.origin, "the priorities that PFC pauses")),
    ).on_ports(ports)
