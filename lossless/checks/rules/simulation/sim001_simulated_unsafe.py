"""No lossless frame may be lost when traffic is run through the fabric.

Severity: error
Subject: runs

## What it does
With `lint --simulate`, runs the worst incast that the topology allows through a packet-level model of switches, wires
and NICs, with 12 random seeds where the result depends on the seed. An error where a lossless frame is dropped, where
the PFC watchdog triggers on congestion without a faulty NIC, or where links are in a PFC deadlock. No incast closes a
cyclic buffer dependency: where shortest paths could, one step of all-to-all is run as well.

One finding for each object that is to blame: the headroom, the pool, the queue's limit or the WRED profile that ran out
or dropped, the watchdog's timer, the first link of a cycle. Where another rule has an error there, this one is silent;
where one of BUF001, BUF002 or BUF007 only warns of the same headroom, this one replaces it, since the run shows the
loss. A queue that may hold half of its pool is not checked: some chips have their buffer in two halves, and pause
earlier there than the model of one buffer (BUF013).

## Why it breaks a lossless fabric
RoCE retransmits everything after a lost frame, so one drop costs a round trip of every byte in flight, and a job of
thousands of GPUs waits for it. Closed-form rules check one port at a time; how ports that share a pool affect each
other shows only when all of them are loaded.

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

```json config_db base=rendered-leaf simulate=yes
{
  "BUFFER_PROFILE": {"pg_lossless_400000_5m_profile": {
    "size": "39936",
    "xoff": "20480"   // <- here
  }}
}
```

```yaml intent base=leaf-spine simulate=yes
hardware: {leaf: nvidia-sn3700, nic: connectx-6-dx}
classes: {rdma: {ecn: off}}
congestion_control: pfc-only
topology:
  leaf_spine: null
  devices:
    {l1: {role: leaf}, l2: {role: leaf}, l3: {role: leaf}, l4: {role: leaf}, l5: {role: leaf},
     h1: {role: host}, h2: {role: host}, h3: {role: host}, h4: {role: host}, h5: {role: host}}
  links:
    - a: l1
      b: l2
      cable: 30m
      links: 1 x 10G   # <- here
    - {a: l2, b: l3, cable: 30m, links: 1 x 10G}
    - {a: l3, b: l4, cable: 30m, links: 1 x 10G}
    - {a: l4, b: l5, cable: 30m, links: 1 x 10G}
    - {a: l5, b: l1, cable: 30m, links: 1 x 10G}
    - {a: l1, b: h1, cable: 3m, links: 4 x 100G}
    - {a: l2, b: h2, cable: 3m, links: 4 x 100G}
    - {a: l3, b: h3, cable: 3m, links: 4 x 100G}
    - {a: l4, b: h4, cable: 3m, links: 4 x 100G}
    - {a: l5, b: h5, cable: 3m, links: 4 x 100G}
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
Change the setting that the help names: a threshold, or for a cycle the links. `lossless simulate` shows the whole run
(for a cycle with `--workload all-to-all`), `lossless sweep` finds a value.

## Sources
- packet-level model of this project, held against ns-3.39 (inet-tub/ns3-datacenter @6ddb4a4)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results
from lossless.checks.rules.simulation.run_violations import violations

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import SimulationRun


def check(run: SimulationRun) -> Results:
    """Yield a violation for each object that makes a run unsafe, if no other rule has it, or the reason for no run."""
    if run.facts.not_run is not None:
        yield MissingInput(run.facts.not_run)
    yield from violations(run, "unsafe", "error")
