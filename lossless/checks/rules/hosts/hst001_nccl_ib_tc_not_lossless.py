"""RDMA must leave the hosts on a lossless DSCP, by NCCL_IB_TC or by the traffic class of UCX or of the driver.

Severity: error
Subject: intent, hosts

## What it does
Reads the sources of the ToS byte of RDMA packets: the hosts' `traffic_class`, `nccl.ib_tc` (NCCL_IB_TC), and the
traffic class of UCX. One source with a lossless DSCP is enough; with several lossless classes, a DSCP of any of them.
Where none is set, RDMA leaves on DSCP 0. CLS006 reports a value that looks like a DSCP instead of a ToS byte.

The files of a host that was read may have only one of `traffic_class` and NCCL_IB_TC, while the other is unknown: a
lossy value is then a warning. Without a switch or an intent, a host is checked against its own map: the DSCPs of the
priorities with PFC on its NICs.

## Why it breaks a lossless fabric
NCCL's default leaves the byte at 0. The whole fabric may be lossless for DSCP 26 while every gradient is sent best
effort: the first congestion drops packets, and the NICs go back and send everything again.

## Bad
```yaml intent base=leaf-spine
hosts:
  traffic_class: unset   # <- here
```

```yaml intent base=leaf-spine
hosts:
  traffic_class: unset
  nccl:
    ib_tc: 40   # <- here
```

## Good
```yaml intent base=leaf-spine
hosts:
  traffic_class: unset
  nccl: {ib_tc: 106}
```

```yaml intent base=leaf-spine
hosts: {traffic_class: 104}
```

## Fix
Leave `traffic_class` at `derived`, or set `nccl.ib_tc` to the DSCP shifted by two: 106 for DSCP 26 with
ECT(0).

## Sources
- NVIDIA/nccl src/transport/net_ib/connect.cc @5067397 (NCCL_IB_TC defaults to 0)
- NVIDIA/nccl issue 2383 (RDMA on DSCP 0 of a fabric that is lossless for another DSCP only)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, unread
from lossless.checks.rules.classification.host_markings import (
    ECT0,
    is_unit_slip,
    lossless_dscps,
    markings,
    marks_all_known,
    tos_settings,
)
from lossless.ground.basics.findings import RelatedPlace
from lossless.ground.basics.records import UNKNOWN
from lossless.ground.basics.units import joined, number_ranges

if TYPE_CHECKING:
    from lossless.checks.rules.classification.host_markings import Marking
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per kind of host whose ToS bytes are all lossy, unless one is a DSCP written as ToS byte."""
    lossless = lossless_dscps(view.fabric.classes)
    if not lossless:
        return
    for host, names in view.host_kinds:
        sources = markings(host)
        carried = {marking.dscp for marking in sources} or {0}
        slip = any(is_unit_slip(marking.tos, lossless) for marking in sources)
        if slip or not carried.isdisjoint(lossless):
            continue
        if marks_all_known(host):
            yield _nccl_ib_tc_not_lossless(host, sources, lossless, names)
        elif sources:
            unknown = (
                "the driver's traffic_class" if host.traffic_class is UNKNOWN else "NCCL_IB_TC of its jobs"
            )
            yield _nccl_ib_tc_not_lossless(host, sources, lossless, names)._replace(
                severity="warning",
                note=f"no file says {unknown}; where nothing else sets it, RDMA is served best effort",
            )
        else:
            yield unread("every source of the ToS byte", names)


def _nccl_ib_tc_not_lossless(
    host: HostQos, sources: tuple[Marking, ...], lossless: tuple[int, ...], hosts: tuple[str, ...]
) -> Violation:
    carried = " and ".join(f"DSCP {m.dscp} ({m.name} {m.tos})" for m in sources)
    carried = carried or f"DSCP 0 ({joined(tos_settings(host))} are unset)"
    tos = lossless[0] << 2 | ECT0
    return Violation(
        origin=sources[0].origin if sources else host.traffic_class_origin,
        message=f"RDMA leaves the hosts on lossy {carried}; lossless is DSCP {number_ranges(lossless)}",
        note="the switches serve it best effort: no PFC protects it and no ECN marks it for DCQCN",
        help=f"leave hosts.traffic_class at derived, or set hosts.nccl.ib_tc: {tos} (DSCP {lossless[0]})"
        if host.provenance == "intent"
        else f"set the driver's traffic_class, or NCCL_IB_TC={tos} (DSCP {lossless[0]})",
        elements=hosts,
        data={"dscps": [m.dscp for m in sources] or [0], "lossless_dscps": list(lossless)},
        related=tuple(RelatedPlace(m.origin, f"{m.name} {m.tos} is lossy too") for m in sources[1:]),
    )
