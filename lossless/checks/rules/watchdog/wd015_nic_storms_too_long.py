"""A NIC with a stuck receiver should stop pausing its switch before the watchdog triggers.

Severity: warning
Subject: intent, hosts, attached hosts

## What it does
Compares the time after which a NIC gives up pausing, `hosts.pfc_prevention` or the output of `ethtool --get-tunable` on
a host that was read, with the detection time of the switches' watchdogs, and warns where the NIC never gives up.
`auto`, the default, is 100 ms with mlx5; a NIC's factory setting is 8 s. A NIC without the feature in its profile is
not checked.

## Why it breaks a lossless fabric
A stuck receiver pauses permanently. Where the NIC ends that itself, one host drops its own packets. Where it does not,
the pause propagates through the fabric until the watchdog triggers, and then the switch drops the whole queue to that
host, for healthy queue pairs as well.

## Bad
```yaml intent base=leaf-spine
hosts:
  pfc_prevention: off   # <- here
```

```yaml intent base=leaf-spine
hosts:
  pfc_prevention: 8s   # <- here
```

## Good
```yaml intent base=leaf-spine
hosts: {pfc_prevention: 1200ms}
```

## Fix
Leave `pfc_prevention` out, or make it no longer than the watchdog's detection.

## Sources
- Linux commit 2afa609f (mlx5: pfc-prevention-tout, 80 to 8000 ms, 8000 by default, auto is 100)
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, 4.3 (a watchdog in the NIC and one in the switch)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation, unread
from lossless.checks.rules.watchdog.watchdog_rows import watched
from lossless.ground.basics.findings import Origin, RelatedPlace
from lossless.ground.basics.records import UNKNOWN
from lossless.model.fabric.deployed_devices import attached_hosts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.checks.rules.watchdog.watchdog_rows import WatchdogRows
    from lossless.model.fabric.deployed_devices import DeployedDevices
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per kind of host whose NIC pauses for longer than the detection of watchdogs, or forever."""
    acting = [rows for rows in watched(view) if rows.accepted and rows.watchdog.action != "alert"]
    for host, names in view.host_kinds:
        if not host.pfc_priorities:
            continue
        if host.stall_ms is UNKNOWN or host.pfc_priorities is UNKNOWN:
            yield unread("when its NICs end a pause storm of their own", names)
        elif host.stall_ms is None:
            yield MissingInput(
                f"no profile says when {host.nic_name} ends a pause storm of its own", len(names)
            )
        elif host.stall_ms == 0:
            yield _nic_storms_too_long(
                host, 0, names, "the NICs never stop pausing for a receiver that is stuck"
            )
        else:
            yield from _outlasting(host, host.stall_ms, acting, names)


def attached(devices: DeployedDevices) -> Results:
    """Yield a violation per host whose NIC pauses for longer than the watchdog of its switch port takes to trigger."""
    for link in attached_hosts(devices):
        stall_ms = link.host.stall_ms
        acting_ms = link.switch.detection_ms if link.switch.dead_ms is not None else None
        if isinstance(stall_ms, int) and acting_ms is not None and stall_ms > acting_ms:
            where = Origin(link.switch.file, ("PFC_WD", link.switch.port))
            yield _nic_storms_too_long(
                link.host,
                stall_ms,
                (link.name,),
                f"a stuck NIC pauses for {stall_ms:,} ms, but the watchdog triggers after {acting_ms:,} ms",
                RelatedPlace(where, "the watchdog of the port it is attached to"),
            )


def _outlasting(
    host: HostQos, stall_ms: int, acting: Sequence[WatchdogRows], names: tuple[str, ...]
) -> Iterator[Violation]:
    first = min(acting, key=lambda rows: rows.watchdog.triggers_after_ms, default=None)
    detection_ms = first.watchdog.detection_ms if first else None
    if first is None or detection_ms is None or stall_ms <= detection_ms:
        return
    message = f"a stuck NIC pauses for {stall_ms:,} ms, but the watchdog triggers after {detection_ms:,} ms"
    yield _nic_storms_too_long(
        host, stall_ms, names, message, RelatedPlace(first.at("detection_time"), "the watchdog's detection")
    )


def _nic_storms_too_long(
    host: HostQos, stall_ms: int, names: tuple[str, ...], message: str, *related: RelatedPlace
) -> Violation:
    return Violation(
        origin=host.at("pfc_prevention"),
        message=message,
        note="until then the pause propagates upstream and stalls hosts that do not send to this NIC",
        help="leave hosts.pfc_prevention out (100 ms), or make it no longer than detection"
        if host.provenance == "intent"
        else "ethtool --set-tunable IF pfc-prevention-tout 100",
        elements=names,
        data={"stall_ms": stall_ms},
        related=related,
    )
