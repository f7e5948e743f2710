"""Trimmed packets must not enter a lossless class.

Severity: warning
Confidence: medium
Subject: devices, device
Needs: SWITCH_TRIMMING

## What it does
Takes the DSCP with which trimmed packets leave a deployed device: `dscp_value`, or with `from-tc` the DSCPs of the maps
on ports to other switches. The device's own ingress maps must not give it a traffic class with PFC, and neither may
those of a neighbor whose file is checked with it; ports that are known to lead to hosts are ignored. That `queue_index`
is the queue of a lossless priority is information, for SONiC tests that it works.

## Why it breaks a lossless fabric
Packets are trimmed where a lossy queue overflows, at the rate of the overflow. At the next hop they fill groups that
pause: congestion of lossy traffic then stops RDMA, and takes headroom that was sized without it. In a lossless queue of
the switch itself, the notice of a loss waits for as long as that priority is paused.

## Bad
```json config_db base=trimming-leaf
{
  "SWITCH_TRIMMING": {"GLOBAL": {
    "dscp_value": "26"   // <- here
  }}
}
```

```json config_db base=trimming-leaf
{
  "SWITCH_TRIMMING": {"GLOBAL": {
    "queue_index": "3"   // <- here
  }}
}
```

## Good
```json config_db base=trimming-leaf
{
  "SWITCH_TRIMMING": {"GLOBAL": {"dscp_value": "48", "queue_index": "6"}}
}
```

## Fix
Give trimmed packets a DSCP and a queue of a lossy class that is served early.

## Sources
- sonic-net/SONiC doc/packet_trimming/packet-trimming-design.md @98de38f (2.1: DSCP and queue of trimmed packets)
- sonic-net/sonic-mgmt docs/testplan/Packet_Trimming_Testplan.md @b4ba9de (test case 6: sent from a lossless queue)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, merged
from lossless.checks.rules.ecn.wred_profiles import lossless_numbers
from lossless.checks.rules.locations import beside, distinct, entry_or_map
from lossless.checks.rules.pfc.priorities import paused_classes
from lossless.checks.rules.trimming.trimmed_dscps import trimmed_dscps
from lossless.checks.rules.trimming.trimmed_packets import TABLE, settings_row, static_queue, trimming_queues
from lossless.ground.basics.findings import RelatedPlace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.checks.rules.trimming.trimmed_dscps import TrimmedDscp
    from lossless.checks.rules.trimming.trimmed_packets import TrimmingQueue
    from lossless.formats.sonic.read.tables import ConfigRow
    from lossless.model.fabric.deployed_devices import DeployedDevices, LinkEnd


def check(device: Device) -> Results:
    """Yield a violation per DSCP of trimmed packets that is lossless, else one for their queue."""
    row, queues = settings_row(device), trimming_queues(device)
    if row is None or not queues:
        return
    by_dscp = list(merged(_by_dscp(device, trimmed_dscps(device, row, queues))))
    yield from by_dscp or _by_queue(device, row, queues)


def across(devices: DeployedDevices) -> Results:
    """Yield a violation per DSCP of trimmed packets that is lossless at a neighbor's ingress and not at its sender."""
    ends = (ends for pair in devices.compared for ends in ((pair.near, pair.far), (pair.far, pair.near)))
    yield from merged(violation for near, far in ends for violation in _at_neighbor(near, far))


def _at_neighbor(near: LinkEnd, far: LinkEnd) -> Iterator[Violation]:
    here, there = dict(near.paused), dict(far.paused)
    for dscp, origin in near.trimmed:
        if dscp in there and dscp not in here:
            yield Violation(
                origin=origin,
                message=f"trimmed packets leave {near.switch} with DSCP {dscp}, and {far.switch} pauses priority "
                f"{there[dscp]} for them",
                note="there they fill the groups of RDMA, and pause it",
                help="give trimmed packets a DSCP of a lossy class",
                elements=(f"{near.name} - {far.name}",),
                data={"dscp": dscp, "priority": there[dscp]},
                related=(RelatedPlace(far.dscp_origin(dscp), f"here {far.switch} takes it in"),),
                confidence="high",
            )


def _by_dscp(device: Device, leaving: tuple[TrimmedDscp, ...]) -> Iterator[Violation]:
    for ports in device.view.lossless_sets:
        dscp_map = ports.qos.dscp_to_tc
        for trimmed in leaving if dscp_map and not ports.qos.trust_dot1p else ():
            tc = ports.qos.traffic_class(trimmed.dscp)
            if dscp_map and tc in paused_classes(ports.qos):
                yield Violation(
                    origin=trimmed.origin,
                    message=f"trimmed packets leave with DSCP {trimmed.dscp}, which this switch itself takes in as "
                    f"lossless TC {tc}",
                    note="at a next hop with the same maps they fill the groups of RDMA, and pause it",
                    help="give trimmed packets a DSCP of a lossy class",
                    data={"dscp": trimmed.dscp, "traffic_class": tc},
                    related=beside(
                        trimmed.origin, (entry_or_map(dscp_map, trimmed.dscp), "here it is lossless")
                    ),
                ).on_ports(ports)


def _by_queue(device: Device, row: ConfigRow, queues: tuple[TrimmingQueue, ...]) -> Iterator[Violation]:
    number, lossless = static_queue(row), lossless_numbers(device.view)
    sets = distinct(q.ports for q in queues if number in lossless.get(id(q.ports.ports), ()))
    if sets:
        yield Violation(
            origin=device.tables.origin(TABLE, row, "queue_index"),
            message=f"trimmed packets are sent by lossless queue {number}, and wait while its priority is paused",
            help="send them by a queue of a lossy priority",
            data={"queue": number},
            severity="info",
        ).on_ports(*sets)
