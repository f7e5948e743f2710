"""ECN thresholds must lie below the limit of the queue itself.

Severity: warning
Subject: fabric

## What it does
Compares Kmax and Kmin of each lossless queue with the largest size that its own buffer profile allows while all other
queues are empty: the reserved bytes plus the static threshold, or plus alpha B / (1 + alpha) with B the egress pool. A
queue without a buffer row, and zero-size profiles of ports that are out of use, are not checked. ECN004 and ECN005
report thresholds that a queue could reach, but only after PFC pauses. BUF013 reports a queue limit below the ingress
limit, where ingress is known. In an intent a Kmin that the queue cannot reach is an error.

## Why it breaks a lossless fabric
A queue that cannot grow to Kmax is never fully marked; one that cannot grow to Kmin is never marked at all, and packets
beyond its egress limit are dropped, not paused.

## Bad
```json config_db base=leaf
{
  "DEVICE_METADATA": {"localhost": {"hwsku": "Own-Build-64", "platform": "x86_64-own"}},
  "BUFFER_PG": {"Ethernet0|3": null, "Ethernet4|3": null, "Ethernet8|3": null},
  "BUFFER_PROFILE": {"pg_lossless_400000_5m_profile": null, "pg_lossless_800000_40m_profile": null,
    "egress_lossless_profile": {"dynamic_th": "-6"}},
  "WRED_PROFILE": {"AZURE_LOSSLESS": {
    "green_max_threshold": "3276800"   // <- here
  }}
}
```

```json config_db base=leaf
{
  "DEVICE_METADATA": {"localhost": {"hwsku": "Own-Build-64", "platform": "x86_64-own"}},
  "BUFFER_PG": {"Ethernet0|3": null, "Ethernet4|3": null, "Ethernet8|3": null},
  "BUFFER_PROFILE": {"pg_lossless_400000_5m_profile": null, "pg_lossless_800000_40m_profile": null,
    "egress_lossless_profile": {"dynamic_th": "-7"}},
  "WRED_PROFILE": {"AZURE_LOSSLESS": {
    "green_min_threshold": "1500000"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "DEVICE_METADATA": {"localhost": {"hwsku": "Own-Build-64", "platform": "x86_64-own"}},
  "BUFFER_PG": {"Ethernet0|3": null, "Ethernet4|3": null, "Ethernet8|3": null},
  "BUFFER_PROFILE": {"pg_lossless_400000_5m_profile": null, "pg_lossless_800000_40m_profile": null,
    "egress_lossless_profile": {"dynamic_th": "-5"}}
}
```

## Fix
Lower the thresholds, or let the queue hold more: stock profiles give lossless queues the whole egress pool.

## Sources
- Choudhury and Hahne, Dynamic queue length thresholds, 1998 (the most one queue can hold)
- sonic-buildimage src/sonic-yang-models/yang-models/sonic-buffer-profile.yang @086b03b (static_th, dynamic_th)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.ecn_marking import queue_limit_bytes
from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.ecn.thresholds import threshold_origin
from lossless.checks.rules.ecn.wred_profiles import WredUse, lossless_queues, pfc_only, refused
from lossless.checks.rules.locations import beside, places, row_of
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.units import format_bytes

if TYPE_CHECKING:
    from lossless.model.fabric.qos import BufferProfile, Wred
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per marking curve and buffer profile of lossless queues that marks too late for their limit.

    Kmax is above the limit, or Kmin not below it. None where the intent states ``pfc-only``.
    """
    rows = ((queue.queue, queue) for queue in lossless_queues(view) if queue.queue is not None)
    uses = grouped(((id(row.wred), id(row.buffer)), queue) for row, queue in rows)
    for queues in uses.values():
        row = queues[0].queue
        if row is not None and row.wred is not None and row.buffer is not None and _counts(view, row.wred):
            yield from _against_limit(view, WredUse(row.wred, tuple(queues)), row.buffer)


def _counts(view: View, wred: Wred) -> bool:
    return wred.marks and not refused(wred) and not pfc_only(view)


def _against_limit(view: View, use: WredUse, buffer: BufferProfile) -> Results:
    limit = queue_limit_bytes(buffer)
    kmin, kmax = use.wred.green.min_bytes, use.wred.green.max_bytes
    if limit is None or kmax is None:
        return
    if isinstance(limit, MissingInput):
        yield MissingInput(limit.reason, places(use.sets))
    elif kmin is not None and kmin >= limit:
        yield _never(view, use, buffer, int(limit))
    elif kmax > limit:
        yield _threshold_beyond_queue_limit(
            view, use, buffer, int(limit), "max", f"{format_bytes(kmax)}: full marking is never reached"
        )


def _never(view: View, use: WredUse, buffer: BufferProfile, limit: int) -> Violation:
    kmin = use.wred.green.min_bytes or 0
    violation = _threshold_beyond_queue_limit(
        view, use, buffer, limit, "min", f"{format_bytes(kmin)}: nothing is ever marked"
    )
    return violation._replace(severity="error" if view.fabric.declared else None)


def _threshold_beyond_queue_limit(
    view: View, use: WredUse, buffer: BufferProfile, limit: int, end: str, what: str
) -> Violation:
    return Violation(
        origin=threshold_origin(view, use.wred, end),
        message=f"the queue holds at most {format_bytes(limit)} by {buffer.name}, K{end} is {what}",
        note=_how(buffer),
        help=f"lower K{end} below {format_bytes(limit)}, or raise the limit of {buffer.name}",
        data={
            "limit_bytes": limit,
            "min_bytes": use.wred.green.min_bytes,
            "max_bytes": use.wred.green.max_bytes,
        },
        related=beside(use.wred.origin, (row_of(buffer), "what limits the queue")),
        # The limit of the queue does not depend on other ports; PFC that pauses first does not change it.
    ).on_ports(*use.sets)


def _how(buffer: BufferProfile) -> str:
    pool = format_bytes(buffer.pool.size_bytes or 0) if buffer.pool else "unknown"
    if buffer.dynamic_th is None:
        return f"static_th {format_bytes(buffer.static_th_bytes or 0)}, {format_bytes(buffer.reserved_bytes)} reserved"
    return (
        f"alpha B / (1 + alpha) with alpha = 2^{buffer.dynamic_th} in a pool of {pool}, "
        f"{format_bytes(buffer.reserved_bytes)} reserved"
    )
