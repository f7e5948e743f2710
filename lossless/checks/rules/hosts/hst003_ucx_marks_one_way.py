"""The traffic class of UCX alone is not enough: that of the hosts must be lossless as well.

Severity: warning
Subject: intent, hosts

## What it does
Looks at hosts whose jobs use UCX (`hosts.ucx`) while `hosts.traffic_class` puts RDMA on no lossless DSCP. The setting
of UCX itself, or its own default, then marks alone. That default is 106 (DSCP 26); from UCX 1.21 on it is the traffic
class of the port where the driver has one set, and 106 without one. HST001 reports hosts without any lossless source.

## Why it breaks a lossless fabric
UCX marks the queue pairs that it opens with its own setting, and the peers answer with theirs: with the variable on one
side only, or read by one transport only, half of the traffic left on DSCP 0. The driver's traffic class marks every
queue pair that the kernel makes, on both sides, and from UCX 1.21 on those that UCX makes past the kernel.

## Bad
```yaml intent base=leaf-spine
hosts:
  traffic_class: unset
  ucx:
    traffic_class: 106   # <- here
```

## Good
```yaml intent base=leaf-spine
hosts:
  ucx: {traffic_class: 106}
```

## Fix
Leave `hosts.traffic_class` at `derived`.

## Sources
- openucx/ucx issue 10325 (UCX_IB_TRAFFIC_CLASS=106 one way, DSCP 0 the other)
- openucx/ucx src/uct/ib/base/ib_device.h @9466d10 (UCT_IB_DEFAULT_ROCEV2_DSCP is 106)
- openucx/ucx src/uct/ib/base/ib_device.c @e7b7c86 (uct_ib_device_query_roce_tclass, in 1.21.0 and not in 1.20.1: the
  port's traffic class of sysfs, else 106), pull requests 11105 and 11108
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, unread
from lossless.checks.rules.classification.host_markings import lossless_dscps, markings
from lossless.ground.basics.records import UNKNOWN
from lossless.ground.basics.units import number_ranges

if TYPE_CHECKING:
    from lossless.model.fabric.hosts import Library
    from lossless.model.fabric.view import View

UCX_DEFAULT_TOS = 106


def check(view: View) -> Results:
    """Yield a violation per kind of host with UCX whose traffic class is lossy while another source is lossless."""
    lossless = lossless_dscps(view.fabric.classes)
    for host, names in view.host_kinds:
        ucx = next((library for library in host.jobs.libraries if library.name == "UCX"), None)
        if ucx is None or not lossless:
            continue
        if host.traffic_class is UNKNOWN:
            yield unread("the traffic class of its RDMA devices", names)
            continue
        if (host.traffic_class or 0) >> 2 in lossless:
            continue
        if not {marking.dscp for marking in markings(host)}.isdisjoint(lossless):
            yield _ucx_marks_one_way(ucx, host.traffic_class, lossless, names)


def _ucx_marks_one_way(
    ucx: Library, traffic_class: int | None, lossless: tuple[int, ...], hosts: tuple[str, ...]
) -> Violation:
    # Without one of its own, the jobs of an intent get the hosts' as the variable.
    stated = traffic_class if ucx.tos is None else ucx.tos
    tos = UCX_DEFAULT_TOS if stated is None else stated
    setting = f"UCX's own default of {tos}" if stated is None else f"{ucx.variable} {tos}"
    lossy = "" if tos >> 2 in lossless else "lossy "
    note = f"no traffic_class of the hosts is lossless DSCP {number_ranges(lossless)}"
    if stated is None:
        note += "; from 1.21 on UCX takes one that is set on the port before its default"
    return Violation(
        origin=ucx.origin,
        message=f"UCX has only {setting} ({lossy}DSCP {tos >> 2}); peers that answer may send DSCP 0",
        note=note,
        help="leave hosts.traffic_class at derived: it marks what the kernel opens, on both sides",
        elements=hosts,
        data={"tos": tos, "lossless_dscps": list(lossless)},
    )
