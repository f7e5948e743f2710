"""The NIC must not give RDMA less of its own wire than everything else.

Severity: warning
Confidence: medium
Subject: hosts

## What it does
Reads how the NIC shares its wire (`mlnx_qos`, `dcb ets`): a TC that carries a lossless priority and shares by
percentage must have at least half of an equal share, together with the other lossless ones. Strict TCs, and those that
the NIC schedules in its own way (`vendor`, the default of mlx5), have no percentage and are not checked.

## Why it breaks a lossless fabric
The percentage counts as soon as other traffic has packets to send, such as a checkpoint or a storage client: RDMA then
gets the remaining share of this NIC, and a collective runs at the pace of its slowest member. The queues of the
switches stay short all the while, so they do not point to the host.

## Bad
```text facts file=mlnx_qos.eth2.txt beside=leaf-spine.yaml
DCBX mode: OS controlled
Priority trust state: dscp
PFC configuration:
        priority    0   1   2   3   4   5   6   7
        enabled     0   0   0   1   0   0   0   0
tc: 0 ratelimit: unlimited, tsa: ets, bw: 90%   # <- here
         priority:  0
         priority:  1
         priority:  2
         priority:  4
         priority:  5
         priority:  6
         priority:  7
tc: 1 ratelimit: unlimited, tsa: ets, bw: 10%
         priority:  3
```

## Good
```text facts file=mlnx_qos.eth2.txt beside=leaf-spine.yaml
DCBX mode: OS controlled
Priority trust state: dscp
PFC configuration:
        priority    0   1   2   3   4   5   6   7
        enabled     0   0   0   1   0   0   0   0
tc: 0 ratelimit: unlimited, tsa: ets, bw: 50%
         priority:  0
         priority:  1
         priority:  2
         priority:  4
         priority:  5
         priority:  6
         priority:  7
tc: 1 ratelimit: unlimited, tsa: ets, bw: 50%
         priority:  3
```

## Fix
Give the TC of RDMA the share that the switches give its class.

## Sources
- iproute2 man/man8/dcb-ets.8 (tc-bw is the share of an ETS traffic class)
- CumulusNetworks/docs cumulus-linux-514 RDMA-over-Converged-Ethernet-RoCE.md @1ffba62 (50 % for RDMA)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.scheduling.scheduler_use import below_half_share
from lossless.ground.basics.records import UNKNOWN
from lossless.ground.basics.units import spell

if TYPE_CHECKING:
    from lossless.model.fabric.hosts import Ets, HostQos
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per kind of host whose NIC gives lossless priorities less than half of an equal share."""
    lossless = frozenset(cls.priority for cls in view.fabric.classes.lossless)
    for host, names in view.host_kinds:
        if host.ets is UNKNOWN:
            yield MissingInput("no file of the host says how its NIC shares the wire", len(names))
        elif host.ets is not None:
            shared, wanted = _shared(host.ets), _wanted(host.ets, lossless)
            if wanted and len(shared) > len(wanted) and below_half_share(shared, wanted):
                yield _rdma_share_of_nic(host, shared, wanted, names)


def _shared(ets: Ets) -> dict[int, int]:
    """Return the percentage of each TC that shares by percentage and carries a priority."""
    return {tc: ets.bandwidth_percent[tc] for tc in set(ets.priority_to_tc) if ets.tsa[tc] == "ets"}


def _wanted(ets: Ets, lossless: frozenset[int | None]) -> frozenset[int]:
    """Return the TCs with a percentage that carry a lossless priority."""
    carried = {tc for priority, tc in enumerate(ets.priority_to_tc) if priority in lossless}
    return frozenset(tc for tc in carried if ets.tsa[tc] == "ets")


def _rdma_share_of_nic(
    host: HostQos, shared: dict[int, int], wanted: frozenset[int], hosts: tuple[str, ...]
) -> Violation:
    percent, total = sum(shared[tc] for tc in wanted), sum(shared.values())
    tcs = ", ".join(map(str, sorted(wanted)))
    ets = host.ets
    carried = [p for p, tc in enumerate(ets.priority_to_tc) if tc in wanted] if isinstance(ets, tuple) else []
    return Violation(
        origin=host.at("ets"),
        message=f"the NIC gives {spell(carried)} {percent} % of its wire (TC {tcs}), the rest {total - percent} %",
        note="as soon as something else has packets to send, a collective runs at the pace of this host",
        help="give the TC of RDMA the share that its class has on the switches",
        elements=hosts,
        data={"percent": percent, "of_percent": total, "tcs": [*sorted(wanted)]},
    )
