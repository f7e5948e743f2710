"""A probability between the thresholds needs room between them.

Severity: info
Subject: fabric, switch

## What it does
Looks at WRED profiles on lossless queues whose Kmin equals Kmax although their probability is below 100 %. Equal
thresholds with 100 %, a published setting that describes the step, are not reported, and neither is a profile that
means "off" with thresholds beyond any buffer. On a switch that runs another system a step of 100 % is also reported:
there the probability is always written, and not the default of a missing one.

## Why it breaks a lossless fabric
With Kmin equal to Kmax the curve has no slope: below, no packet is marked, above, every packet is. The
probability of the profile never applies. All senders slow down at once instead, the queue runs empty, and the link
idles until their rates have recovered.

## Bad
```json config_db base=leaf
{
  "WRED_PROFILE": {"AZURE_LOSSLESS": {
    "green_min_threshold": "3276800"   // <- here
  }}
}
```

```yaml intent base=leaf-spine
classes:
  rdma:
    ecn:
      min: 3200 KiB   # <- here
```

```text switch base=switch-nxos
policy-map type queuing QUEUES
  class type queuing c-out-8q-q3
    random-detect minimum-threshold 1 mbytes maximum-threshold 1 mbytes drop-probability 100 weight 0 ecn   # <- here
```

## Good
```json config_db base=leaf
{
  "WRED_PROFILE": {"AZURE_LOSSLESS": {
    "green_min_threshold": "3276800",
    "green_drop_probability": "100"
  }}
}
```

## Fix
Lower Kmin, or set 100 % where a step is meant.

## Sources
- sonic-swss orchagent/qosorch.cpp @03a2683 (a missing probability becomes 100)
- iancaragol/AzureLocal-Supportability Reference-TOR-QOS-Policy-Configuration.md @13714e6 (300 kB, 300 kB, 100 %)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.ecn.thresholds import ONE_PACKET_BYTES, threshold_origin
from lossless.checks.rules.ecn.wred_profiles import LosslessQueue, WredUse, in_reach, marking_uses
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.units import format_bytes
from lossless.model.fabric.qos import PRIORITIES, UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import SwitchConfiguration
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per WRED curve of lossless queues with Kmin equal to Kmax and a stated Pmax below 100 %."""
    for use in marking_uses(view):
        if _is_step(use) and use.wred.green.probability_percent not in (None, 100):
            yield _marking_step_with_ramp(view, use)


def on_switch(switch: SwitchConfiguration) -> Results:
    """Yield a violation per curve of another system with equal thresholds and a probability of 100 %."""
    for use in (*marking_uses(switch.view), *_meant(switch)):
        green = use.wred.green
        if _is_step(use) and green.probability_percent == 100:
            yield Violation(
                origin=use.wred.origin,
                message=f"Kmin and Kmax are both {format_bytes(green.max_bytes or 0)}: "
                "marking jumps from none to all",
                note="all senders slow down at once, and the link idles until they have come back",
                help="lower Kmin, with a probability of less than 100 %; leave it where a step is meant",
                data={"bytes": green.max_bytes, "probability_percent": green.probability_percent},
            ).on_ports(*use.sets)


def _meant(switch: SwitchConfiguration) -> Iterator[WredUse]:
    """Yield marking profiles of queues meant to be lossless: DCBX decides about PFC, or the pause has no effect yet."""
    intended = {cls.queue for cls in switch.read.intended}
    queues = [
        LosslessQueue(ports, group, number, queue)
        for ports in switch.view.port_sets
        if not ports.qos.pfc.priorities
        for group in PRIORITIES
        if (number := ports.qos.queue_of(group)) != UNREADABLE
        and (ports.qos.groups[group] is not None or number in intended)
        and (queue := ports.qos.queues[number]) is not None
    ]
    for wred, same in grouped((queue.wred, queue) for queue in queues).items():
        if wred is not None and wred.marks:
            yield WredUse(wred, tuple(same))


def _is_step(use: WredUse) -> bool:
    """Return whether Kmin equals Kmax, at a threshold of more than one packet that a queue can reach."""
    green = use.wred.green
    step = green.min_bytes == green.max_bytes and (green.max_bytes or 0) > ONE_PACKET_BYTES
    return step and in_reach(use, green)


def _marking_step_with_ramp(view: View, use: WredUse) -> Violation:
    green = use.wred.green
    return Violation(
        origin=threshold_origin(view, use.wred, "min"),
        message=f"Kmin and Kmax are both {format_bytes(green.max_bytes or 0)}: "
        f"marking jumps from none to all, never {green.probability_percent} %",
        note="there is nothing between the thresholds for a probability to rise in",
        help="lower Kmin, or set the probability to 100 % where a step is meant",
        data={"bytes": green.max_bytes, "probability_percent": green.probability_percent},
    ).on_ports(*use.sets)
