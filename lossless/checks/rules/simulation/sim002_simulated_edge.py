"""Runs of traffic should leave more than a frame of headroom.

Severity: warning
Subject: runs

## What it does
With `lint --simulate`, warns where a run of the worst incast that the topology allows loses nothing but comes close:
less than one frame of some headroom or of the shared headroom pool was left, a pause lasted half of the watchdog's
detection time, or frames are lost only if peers take as long to obey PFC as IEEE 802.3 allows. A finding that depends
on a headroom of the vendor's own, or a larger one, is information: rows that vendors ship assume quicker peers, and no
public source states by how much (BUF002). Where another rule reports the same object as gravely, this one is silent.

## Why it breaks a lossless fabric
A frame is stored whole or dropped. Below one frame of margin the outcome depends on how frames happen to fall, and the
next cable, NIC or firmware decides it.

## Bad
```json config_db base=leaf simulate=yes
{
  "BUFFER_POOL": {"ingress_lossless_pool": {
    "xoff": "125000"   // <- here
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
{}
```

## Fix
Give the threshold that the help names a frame more; `lossless simulate` shows the margins.

## Sources
- packet-level model of this project, held against ns-3.39 (inet-tub/ns3-datacenter @6ddb4a4)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results
from lossless.checks.rules.simulation.run_violations import violations

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import SimulationRun


def check(run: SimulationRun) -> Results:
    """Yield a violation for each object that leaves a run without loss too small a margin."""
    yield from violations(run, "on the edge", "warning")
