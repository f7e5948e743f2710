"""A link that is slower than both of its ends can be.

Severity: warning

## What it does
Looks for active links of which `iblinkinfo` or `ibqueryerrors` says that they could be wider or faster: the tool
compares what both ports support with what they use. Each link is one finding, whichever end shows it. Links that are
down, and those that are as fast as the slower end, are not reported.

## Why it breaks a lossless fabric
The rest of the fabric sends at full speed, so the link fills its buffers and takes its credits back: every sender to
what is behind it waits, and so does what shares their buffers.

## Bad
```text capture
CA: n02 HCA-1:
  0xec0d9a03003d62be  4  1[  ] ==( 1X 25.78125 Gbps Active/ LinkUp)==>  2  17[  ] "switch-a" ( Could be 4X )   # <- here
```

## Good
```text capture
CA: n02 HCA-1:
  0xec0d9a03003d62be  4  1[  ] ==( 4X 25.78125 Gbps Active/ LinkUp)==>  2  17[  ] "switch-a" ( )
```

## Fix
Reseat or replace the cable, one that both speeds are specified for; then look for a port whose width or speed was set
by hand (`ibportstate`).

## Sources
- linux-rdma/rdma-core infiniband-diags/ibdiag_common.c get_max_msg @0c6807a: what both ports support, against what is
  active
- linux-rdma/rdma-core infiniband-diags/iblinkinfo.c @1d07d99: what the tool prints of each link
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.subnet_counters.ports import element, port_name

if TYPE_CHECKING:
    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.ground.basics.known import Maybe
    from lossless.model.fabric.state.device_state import PlacedReading


def check(device: RunningDevice) -> Results:
    """Yield a violation per link."""
    seen: set[frozenset[tuple[str, str]]] = set()
    for placed in device.state.named("slower_than_possible", "lid", "port"):
        peer = (str(_said(device, placed, "peer_lid")), str(_said(device, placed, "peer_port")))
        link = frozenset({(placed.part("lid") or "", placed.part("port") or ""), peer})
        if link not in seen and _said(device, placed, "state") == "Active":
            seen.add(link)
            yield _violation(device, placed)


def _violation(device: RunningDevice, placed: PlacedReading) -> Violation:
    speed, possible = str(_said(device, placed, "speed")), str(placed.reading.value)
    identity, peer = placed.reading.identity, _said(device, placed, "peer")
    return Violation(
        origin=placed.origin,
        message=f"the link of {port_name(identity)} to {peer} runs at {speed}: {possible[0].lower()}{possible[1:]}",
        help="reseat or replace the cable, and see that no end has its width or speed set by hand",
        elements=(element(device, identity),),
        data={"speed": speed, "possible": possible},
    )


def _said(device: RunningDevice, placed: PlacedReading, name: str) -> Maybe[int | float | str]:
    """Return what is said of the same port under another name."""
    return device.state.value(name, lid=placed.part("lid") or "", port=placed.part("port") or "")
