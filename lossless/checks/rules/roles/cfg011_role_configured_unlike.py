"""Switches of one role must run the same policies.

Severity: warning
Subject: devices

## What it does
Compares, over all switches of a role, the buffer model, the watchdog's timers and action, whether packets are trimmed
and with which DSCP, and whether paths are chosen by load (the tables of SWS016); on switches of one model also whether
a pool, or the headroom that it shares, is half of the usual size or less, or twice of it or more. A switch without
`BUFFER_QUEUE` rows is compared with those of its role and those that it has links with. As information it compares the
schedulers of queues and the version of the configuration database. A setting in which the ports of a switch
differ among themselves is not compared for that switch.

## Why it breaks a lossless fabric
A switch that watches longer than its neighbors of the same role, or not at all, keeps pausing long after they have
restored their queues, and a single different switch is easily overlooked. In a well-known incident a new switch model
brought other defaults than the rest of its tier. Where one spine of a tier routes statically, the others move load onto
the very links that it keeps full.

## Bad
```json config_db base=wired-leaf beside=wired-leaf2,wired-leaf3
{
  "PFC_WD": {
    "Ethernet0": {"detection_time": "1000", "restoration_time": "1000"},   // <- here
    "Ethernet4": {"detection_time": "1000", "restoration_time": "1000"},
    "Ethernet8": {"detection_time": "1000", "restoration_time": "1000"}
  }
}
```

## Good
```json config_db base=wired-leaf beside=wired-leaf2,wired-leaf3
{
  "PORT": {"Ethernet0": {"description": "server1"}}
}
```

## Fix
Bring the switch in line with its role, or give it a role of its own if it is meant to differ.

## Sources
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 6.2 (a new model with another default)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.roles.outliers import outlier_violation, outliers, outliers_by_model
from lossless.ground.basics.findings import RelatedPlace, grouped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.deployed_devices import DeployedDevices

_TIMES = 2
"""Pools so many times larger or smaller than usual are reported: our own choice, above any effect of cable lengths."""
_PEERS = 10
"""The most peers with such rows that are named beside a switch without them: a role may have a thousand."""
_HELP = "bring the switch in line with its role, or give it a role of its own"


def across(devices: DeployedDevices) -> Results:
    """Yield a violation per policy, scheduler or release that is not usual, and per switch without queue rows.

    A pool is reported if it is at least twice, or at most half, as large as is usual for its model.
    """
    for outlier in outliers(devices, "policy"):
        yield outlier_violation(outlier)._replace(help=_HELP)
    for outlier in outliers_by_model(devices, "pool"):
        sizes = outlier.these[0].setting.value, outlier.usual[0].setting.value
        if outlier.same_model and max(sizes) >= _TIMES * min(sizes):
            yield outlier_violation(outlier)._replace(help="give both switches the pool of their model")
    yield from _without_queue_buffers(devices)
    # What a class is worth may be meant to differ.
    for outlier in outliers(devices, "scheduler"):
        yield outlier_violation(outlier)._replace(help=_HELP, severity="info")
    # An upgrade goes from switch to switch, so two releases at a time are normal.
    for outlier in outliers(devices, "release"):
        yield outlier_violation(outlier)._replace(help=_HELP, severity="info")


def _without_queue_buffers(devices: DeployedDevices) -> Iterator[Violation]:
    """Yield a violation per switch whose lossless queues have no buffer profile, where a peer gives them one."""
    stated = {
        summary.name: setting
        for summary in devices.by_name.values()
        for setting in summary.settings
        if setting.kind == "queues" and not summary.intended
    }
    sound = sorted(name for name, setting in stated.items() if setting.value)
    in_role = {member.name: role for role, (_, members) in enumerate(devices.roles) for member in members}
    of_role = grouped((in_role.get(name), name) for name in sound)
    linked = grouped(
        (one.switch, other.switch)
        for pair in devices.compared
        for one, other in ((pair.near, pair.far), (pair.far, pair.near))
    )
    for name, setting in stated.items():
        role = in_role.get(name)
        near = set() if role is None else {*of_role.get(role, ())[:_PEERS]}
        near |= {peer for peer in linked.get(name, ()) if peer in stated and stated[peer].value}
        peers = sorted(near)[:_PEERS]
        if peers and not setting.value:
            yield Violation(
                origin=setting.origin,
                message=f"no BUFFER_QUEUE row gives lossless queues a buffer profile here, {peers[0]} has such rows",
                note="such a queue has whatever the chip gives one that nobody configured",
                help="add BUFFER_QUEUE|PORT|QUEUE with an egress profile of lossless queues",
                elements=(name,),
                data={"peers": [*peers]},
                related=(RelatedPlace(stated[peers[0]].origin, f"the rows of {peers[0]}"),),
            )
