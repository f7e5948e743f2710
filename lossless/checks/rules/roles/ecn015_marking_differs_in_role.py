"""Switches of one role must have the same marking curve at one speed.

Severity: warning
Subject: devices

## What it does
Compares the ECN curve (minimum, maximum, probability) of lossless queues at each port speed over all switches of
a role. Where switches of one model agree and only other models of the role mark otherwise, that is information: their
buffers differ too. Switches that have several curves for one speed are left out.

## Why it breaks a lossless fabric
Flows over the switch that marks later are slowed down later: they take the bandwidth of the others and fill its
buffer until it pauses, so the bottleneck moves to wherever the curve is the highest.

## Bad
```json config_db base=wired-leaf beside=wired-leaf2,wired-leaf3
{
  "WRED_PROFILE": {
    "AZURE_LOSSLESS": {"green_min_threshold": "1200000"}   // <- here
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
Give all switches of the role the same curve for that speed.

## Sources
- Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015, section 5 (rates follow the marks)
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 6.2 (one device configured otherwise)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results
from lossless.checks.rules.roles.outliers import outlier_violation, outliers_by_model

if TYPE_CHECKING:
    from lossless.model.fabric.deployed_devices import DeployedDevices


def across(devices: DeployedDevices) -> Results:
    """Yield a violation per curve that is not the usual one of its role and speed."""
    for outlier in outliers_by_model(devices, "ecn"):
        yield outlier_violation(outlier)._replace(
            help="give the switches of a role the same curve at one speed"
        )
