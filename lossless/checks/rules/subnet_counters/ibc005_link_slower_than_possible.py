"""A link that is slower than both of its ends can be.

Severity: warning
Subject: running device

## What it does
Looks for active links that could be wider or faster by `iblinkinfo`, `ibqueryerrors` or `ibdiagnet`: the first two
compare the width and speed in use with those that both ports support, `ibdiagnet` with those that both have enabled.
Each link is one finding, whichever end or file shows it. Links that are down, those that are as fast as the slower end,
and those of two lanes that could only be wider are not reported: a splitter cable makes two links of two lanes.

## Why it breaks a lossless fabric
The rest of the fabric sends at full speed, so the link's buffers fill and its credits run out: every sender to
destinations behind it waits, and so does other traffic in the same buffers.

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
- linux-rdma/rdma-core infiniband-diags/ibdiag_common.c get_max_msg @0c6807a: the width and speed that both ports
  support, against those
  active
- linux-rdma/rdma-core infiniband-diags/iblinkinfo.c @1d07d99: the tool's output for each link
- NCAR/ops_tracking_toolkit opstt/ib_diagnostics.py @188d6e3: ibdiagnet's log of a link with an unexpected speed
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.subnet_counters.ports import element, port_name

if TYPE_CHECKING:
    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.ground.basics.records import Maybe
    from lossless.model.fabric.state import PlacedReading


_SLOW = "slower_than_possible"
_SPLIT = re.compile(r"Could be (?:4|8|12)X", re.IGNORECASE)


def check(device: RunningDevice) -> Results:
    """Yield a violation per active link that could be wider or faster, except two lanes that could only be wider.

    Where no capture has the state of links, one is yielded per link that a log names.
    """
    seen: set[frozenset[tuple[str, str]]] = set()
    for placed in device.state.named(_SLOW, "lid", "port"):
        peer = (str(_said(device, placed, "peer_lid")), str(_said(device, placed, "peer_port")))
        link = frozenset({(placed.part("lid") or "", placed.part("port") or ""), peer})
        if link not in seen and _said(device, placed, "state") == "Active" and not _is_split(device, placed):
            seen.add(link)
            yield _link_slower_than_possible(device, placed)
    # ibdiagnet's log has other names for ports than its tables, which have the same links.
    if next(device.state.named("state", "lid", "port"), None) is None:
        yield from (_logged(device, placed) for placed in device.state.named(_SLOW, "link"))


def _is_split(device: RunningDevice, placed: PlacedReading) -> bool:
    """Return whether a link has two lanes of a splitter cable, and could only be wider."""
    is_two = str(_said(device, placed, "width")).upper() == "2X"
    return is_two and _SPLIT.fullmatch(str(placed.reading.value)) is not None


def _logged(device: RunningDevice, placed: PlacedReading) -> Violation:
    """Return the violation for a link in a log of ibdiagnet."""
    link = placed.part("link") or ""
    one, _, other = link.partition("<-->")
    speed, should = device.state.value("speed", link=link), str(placed.reading.value)
    return Violation(
        origin=placed.origin,
        message=f"the link of {one} to {other} runs at {speed} Gb/s a lane: {should}",
        help="reseat or replace the cable, and see that no end has its speed set by hand",
        elements=(one,),
        data={"speed": speed if isinstance(speed, int | float | str) else None, "possible": should},
    )


def _link_slower_than_possible(device: RunningDevice, placed: PlacedReading) -> Violation:
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
    """Return the value of the reading with a given name at the same port."""
    return device.state.value(name, lid=placed.part("lid") or "", port=placed.part("port") or "")
