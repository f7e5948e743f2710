"""PFC should not carry load that ECN should handle.

Severity: warning
Subject: runs

## What it does
With `lint --simulate`, runs a permutation of a fabric whose NICs slow down by DCQCN: each NIC port sends to one other
and receives from one other (of more than 512 those of whole leaves). Measures the use of PFC: the share of NIC ports
that were paused at all (limit 10 %), the longest pause (limit: the longest that one PFC frame can request, 65,535
quanta, 83.9 us at 400G), and the part of the time that one NIC port was paused (limit 30 %). Frame loss is not checked
here: that is SIM001's, from an incast, which pauses most NICs of any fabric and is no measure of this. Where no
congestion control slows senders down, PFC has to carry the load, and nothing is reported.

## Why it breaks a lossless fabric
Nothing is lost, and yet the fabric is not healthy: a pause stops all flows of a port, those to idle receivers too, and
propagates upstream. ECN slows only the flows that are too fast. Where traffic without a permanent overload is paused,
marks come too late, too seldom, or not to the senders.

## Bad
```yaml intent base=leaf-spine simulate=yes
hardware: {leaf: nvidia-sn3700, spine: nvidia-sn3700, nic: connectx-6-dx}
classes:
  rdma:   # <- here
    bandwidth: 50%
topology:
  leaf_spine: {hosts_per_leaf: 28, host_links: 1 x 100G, uplinks: 1 x 50G, oversubscription: 28}
```

## Good
```yaml intent base=leaf-spine simulate=yes
hardware: {leaf: nvidia-sn3700, spine: nvidia-sn3700, nic: connectx-6-dx}
topology:
  leaf_spine: {hosts_per_leaf: 16, host_links: 1 x 100G, uplinks: 1 x 100G, oversubscription: 8}
```

## Fix
Lower Kmin or Kmax of the WRED profile, raise `dynamic_th` of the PG profile, or add uplinks; `lossless sweep` finds
values, `lossless simulate --workload permutation` shows the run.

## Sources
- IEEE 802.3-2018, 31B.2 (`pause_time`: 16 bits, in units of 512 bit times)
- Cisco MDS NX-OS 9.4(2a), port-monitor policy fabricmon_edge_policy, read in the running configuration of a switch
  (`counter txwait poll-interval 1 delta rising-threshold 30`: Fibre Channel, whose credits hold a port back as PFC
  does; of PFC no source with a limit was found)
- convention of this project: 10 % of NIC ports, since no source with a limit was found
- Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015 (ECN is to act before PFC)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.verdict import PfcLoad
from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.simulation.root_causes import the_class

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import SimulationRun


def check(run: SimulationRun) -> Results:
    """Yield a violation where PFC is above its limits in traffic without a permanent overload."""
    load = run.facts.pfc_load
    if isinstance(load, MissingInput):
        yield load
    elif load is not None and load.above:
        yield _pfc_carries_load(run, load)


def _pfc_carries_load(run: SimulationRun, load: PfcLoad) -> Violation:
    return Violation(
        origin=the_class(run.facts).origin,
        message=f"PFC carries load that ECN should handle: {', '.join(load.above)}",
        note=f"{load.scenario}, {load.seeds} seeds; frame loss is checked by SIM001",
        help="lower Kmin or Kmax of the class, raise dynamic_th of its PG profiles, or add uplinks",
        data={
            "nics_paused": load.nics_paused,
            "longest_pause_us": load.longest_pause_us,
            "time_in_pause": load.time_in_pause,
            "seeds": load.seeds,
        },
    )
