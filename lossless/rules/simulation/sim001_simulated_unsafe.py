"""No lossless frame may be lost when traffic is run through the fabric.

## What it does
With `lint --simulate`, runs the worst incast that the topology allows through a packet-level model of switches, wires
and NICs, 12 seeds where anything is chance. An error where a lossless frame is dropped, where the PFC watchdog acts on
congestion that no NIC is at fault for, or where links wait for each other in a circle. It points at the threshold
that ran out; where another rule already reports that threshold, it is silent.

## Why it breaks a lossless fabric
RoCE repeats everything after a lost frame, so one drop costs a round trip of every byte in flight, and a job of
thousands of GPUs waits for it. Closed forms judge one port at a time; what ports that share a pool do to each other
shows only when all of them are loaded.

## Bad
```json config_db base=leaf simulate=yes
{
  "BUFFER_POOL": {"ingress_lossless_pool": {
    "xoff": "30000"   // <- here
  }},
  "BUFFER_PROFILE": {
    "pg_lossless_400000_5m_profile": {"size": "19456", "dynamic_th": "-5"},
    "pg_lossless_800000_40m_profile": {"size": "38912", "dynamic_th": "-5"}
  },
  "WRED_PROFILE": {"AZURE_LOSSLESS": {
    "green_max_threshold": "2000000", "yellow_max_threshold": "2000000", "red_max_threshold": "2000000"
  }}
}
```

## Good
```json config_db base=leaf simulate=yes
{
  "BUFFER_POOL": {"ingress_lossless_pool": {"xoff": "800000"}},
  "BUFFER_PROFILE": {
    "pg_lossless_400000_5m_profile": {"size": "19456", "dynamic_th": "-5"},
    "pg_lossless_800000_40m_profile": {"size": "38912", "dynamic_th": "-5"}
  },
  "WRED_PROFILE": {"AZURE_LOSSLESS": {
    "green_max_threshold": "2000000", "yellow_max_threshold": "2000000", "red_max_threshold": "2000000"
  }}
}
```

## Fix
Change the threshold that the help names; `lossless simulate` shows the whole run, `lossless sweep` finds a value.

## Sources
- packet-level model of this project, held against ns-3.39 (inet-tub/ns3-datacenter @6ddb4a4)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.rules.base import Gap, Hit, Rule
from lossless.rules.simulation.outcome import hits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.rules.runs import Run

RULE = Rule(
    code="SIM001",
    name="simulated-unsafe",
    severity="error",
    summary="No lossless frame may be lost when traffic is run through the fabric",
    sources=("packet-level model of this project, held against ns-3.39 (inet-tub/ns3-datacenter @6ddb4a4)",),
)


def check(runs: Sequence[Run]) -> Iterator[Hit | Gap]:
    """Yield a hit for each run that is unsafe, and a gap for what could not be run."""
    yield from hits(runs, "unsafe")
    yield from (Gap(run.not_run) for run in runs if run.not_run is not None)
