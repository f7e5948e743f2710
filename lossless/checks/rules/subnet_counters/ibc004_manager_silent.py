"""Another subnet manager that does not answer.

Severity: warning
Subject: running device

## What it does
Looks in a log of opensm for requests of SMInfo that timed out (`ERR 3113`, `SubnGet(SMInfo)`): three or more, and on
average at least one an hour. opensm sends SMInfo requests to ports that report a subnet manager, and, while it is
standby itself, of the master. Timeouts of other attributes are not reported: nodes that restart cause them.

opensm polls a master every 10 s, and takes it for dead after five polls without an answer. A log of a master has no
such rhythm: it sends requests when it sweeps. So both numbers are ours: one lost answer is no sign, nor are two in one
sweep, whose retries fail together; and answers that are lost days apart are not of one manager that is silent.

## Why it breaks a lossless fabric
A manager that does not answer will not take over when the master fails, and nothing reports it until then: links that
go down are not routed around, and hosts that restart get no LID. The log's own hint, a wrong M_Key, is a guess.

## Bad
```text capture
Mar 11 19:32:26 718223 [EC4] 0x01 -> send_err: ERR 3113: MAD completed in error (IB_TIMEOUT): SubnGet(SMInfo)  # <- here
Mar 11 19:34:56 733972 [EC4] 0x01 -> send_err: ERR 3113: MAD completed in error (IB_TIMEOUT): SubnGet(SMInfo)
Mar 11 19:34:56 734003 [EC4] 0x01 -> send_err: ERR 3113: MAD completed in error (IB_TIMEOUT): SubnGet(SMInfo)
```

## Good
```text capture
Mar 11 19:32:26 718223 [EC4] 0x01 -> send_err: ERR 3113: MAD completed in error (IB_TIMEOUT): SubnGet(SMInfo)
Mar 12 07:14:02 733972 [EC4] 0x01 -> send_err: ERR 3113: MAD completed in error (IB_TIMEOUT): SubnGet(SMInfo)
Mar 13 19:01:40 734003 [EC4] 0x01 -> send_err: ERR 3113: MAD completed in error (IB_TIMEOUT): SubnGet(NodeInfo)
```

## Fix
Query the manager itself with `sminfo`, at the ports that the log's paths lead to; restart opensm there, and verify that
all managers have one M_Key.

## Sources
- linux-rdma/opensm opensm/osm_port_info_rcv.c @038edff: SMInfo is asked of every other end port that has the
  capability IsSM, unless `ignore_other_sm` is set
- linux-rdma/opensm include/opensm/osm_base.h @0270fb0: OSM_SM_DEFAULT_POLLING_TIMEOUT_MILLISECS is 10,000,
  OSM_SM_DEFAULT_POLLING_RETRY_NUMBER 4; opensm/osm_sm_state_mgr.c @fa74b98: a standby takes over when the number is
  exceeded at a poll, 50 to 60 s after the master is gone
- linux-rdma/opensm opensm/osm_sm_mad_ctrl.c @007a62e (ERR 3113), opensm/osm_sm_state_mgr.c @0189dea (a standby asks
  the master)
- a log of opensm in public notes (names shortened): three managers, of which two did not answer
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation

if TYPE_CHECKING:
    from lossless.checks.rules.running_subjects import RunningDevice

_ATTRIBUTE = "3113 SMInfo"
_FEWEST = 3
_APART = timedelta(hours=1)
_LEAP_YEAR = 2000
"""The year is not logged; February 29 may be."""


def check(device: RunningDevice) -> Results:
    """Yield a violation for an opensm log with three or more SMInfo timeouts, on average at least one an hour."""
    for placed in device.state.named("errors_of_attribute", "attribute"):
        times = placed.number or 0
        if placed.part("attribute") != _ATTRIBUTE or times < _FEWEST:
            continue
        first, last = (
            str(device.state.value(name, attribute=_ATTRIBUTE)) for name in ("first_logged", "last_logged")
        )
        if _span(first, last) <= (times - 1) * _APART:
            yield Violation(
                origin=placed.origin,
                message=f"another subnet manager did not answer {times} requests ({first[:15]} to {last[:15]})",
                note=f"paths of packets that were lost: {'; '.join(_paths(device)) or 'not logged'}",
                help="ask it with sminfo, restart opensm there, and see that all managers have one M_Key",
                elements=(device.name,),
                data={"timeouts": times, "paths": [*_paths(device)]},
            )


def _paths(device: RunningDevice) -> tuple[str, ...]:
    return tuple(
        (placed.part("path") or "").rstrip(",") for placed in device.state.named("messages_of_path", "path")
    )


def _span(first: str, last: str) -> timedelta:
    start, end = (datetime.strptime(f"{_LEAP_YEAR} {time}", "%Y %b %d %H:%M:%S.%f") for time in (first, last))
    return end - start if end >= start else end.replace(year=_LEAP_YEAR + 1) - start
