"""Bounced packets must not return in the priority they arrived in.

Severity: warning
Confidence: medium
Subject: intent, device
Needs: TUNNEL

## What it does
In an intent, looks for switches that `bounce`: they return packets from an uplink to an uplink in the same priority (a
valley). Two of them close a cyclic buffer dependency, which TOP005 shows; one alone is reported here. On a deployed
device it looks for dual ToRs (`DEVICE_METADATA` with subtype DualToR) with PFC and a tunnel to their `PEER_SWITCH`
whose maps leave a lossless class in its queue, or that has no maps.

## Why it breaks a lossless fabric
Between a spine and two leaves that bounce, down links depend on up links and up links on down links. Both ToRs of a
pair bounce, so a pair is enough. When servers below both of them pause at once, spine and ToRs are in a PFC deadlock.
In a second priority, returned packets do not depend on packets that go down.

## Bad
```yaml intent base=leaf-spine
topology:
  routing:
    bounce:
      - leaf1   # <- here
```

## Good
```yaml intent base=leaf-spine
topology:
  leaf_spine:
    dual_tor: on
```

## Fix
Return bounced packets in a second priority: SONiC uses 2 for 3 and 6 for 4 (`tunnel_qos_remap`).

## Sources
- sonic-net/SONiC doc/qos/tunnel_dscp_remapping.md @12d907f (the deadlock of two ToRs, and the remapping)
- sonic-buildimage issue 10608 (the same)
- sonic-swss orchagent/muxorch.cpp @02958e2 (a tunnel to the peer gets the TC to queue map of
  its row, and is made for a `PEER_SWITCH`)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.topology.buffer_cycles import lossless_priorities, routing_of
from lossless.ground.basics.units import joined
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device


def check(subject: View | Device) -> Results:
    """Yield a violation per switch of an intent that bounces packets, unless there is a cycle, or for a dual ToR.

    Both return packets in the priority they arrived in.
    """
    if isinstance(subject, View):
        yield from _declared(subject)
    else:
        yield from _deployed(subject)


def _declared(view: View) -> Iterator[Violation]:
    fabric_routing, routing = routing_of(view), view.fabric.routing
    if fabric_routing is None or routing is None or fabric_routing.outcome.cycle:
        return
    beyond = fabric_routing.beyond if routing.bounce else ""
    for bounce in routing.bounce:
        if not fabric_routing.pauses_above(bounce.names[0]):
            continue
        yield Violation(
            origin=bounce.origin,
            message=f"{bounce.names[0]} bounces packets back up in the same {lossless_priorities(view)}",
            note=beyond or "no cyclic buffer dependency yet: a second switch that bounces closes it",
            help="return bounced packets in a separate priority, as dual ToRs do, or drop them",
            elements=bounce.names,
            places=1,
            data={"switch": bounce.names[0]},
            confidence="high",
        )


def _deployed(device: Device) -> Iterator[Violation]:
    # Lint of an intent needs none of the nine modules that this one imports.
    from lossless.checks.rules.device_summary import kept_priorities, tunnel_to_peer

    tunnel = tunnel_to_peer(device)
    unchanged = kept_priorities(device) if tunnel is not None else []
    if tunnel is not None and unchanged:
        yield Violation(
            origin=tunnel,
            message=f"the tunnel of this dual ToR returns packets in the same priority {joined(map(str, unchanged))}",
            note="its peer does the same: both ToRs and a spine form a cyclic buffer dependency (PFC deadlock)",
            help="enable tunnel_qos_remap: priority 3 returns in 2, and 4 in 6",
            elements=(device.switch.name,),
            data={"priorities": list(unchanged)},
        )
