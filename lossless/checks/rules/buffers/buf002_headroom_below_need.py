"""Headroom must cover the whole budget of the link, as the vendor of the switch computes it.

Severity: warning
Fix: unsafe
Subject: buffers

## What it does
Compares the headroom of each lossless priority group (`xoff`) with the best known need of its link: the row of this
HWSKU that covers the length, else the formula of its ASIC where that formula reproduces the HWSKU's rows. Less is a
warning. Where neither is known, the closed-form floor remains. Less than the floor is only information: the floor
allows the peer the full response time of IEEE 802.3, and about 40 % of the 3,607 rows that vendors ship allow less.
BUF001 alone reports headroom below the cable and one frame; it also defines which bytes count as headroom and which
row is reported.

## Why it breaks a lossless fabric
Beyond the cable, headroom must hold the frame that delays the pause, the bytes that the peer sends until it obeys, and
the cells that small packets waste (64 B take 192 B on Spectrum-4). A group with less headroom drops packets only under
the worst mix of traffic, when a buffer is the last suspect.

## Bad
```json config_db base=leaf
{
  "BUFFER_PROFILE": {"pg_lossless_400000_5m_profile": {
    "size": "219456",
    "xoff": "200000"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "BUFFER_PROFILE": {"pg_lossless_400000_5m_profile": {
    "size": "350880",
    "xoff": "331424"
  }}
}
```

## Fix
Set `xoff` to the vendor's row for this speed and length, or remove the profile and let the switch look it up.

## Sources
- sonic-buildimage device/*/*/*/pg_profile_lookup.ini @086b03b
- sonic-swss cfgmgr/buffer_headroom_mellanox.lua @e6b0c5b
- IEEE 802.3 clause 31B.3.7 (how long a peer may take to stop)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.buffers.headroom import ProfileHeadroom, profile_headrooms, row_help
from lossless.checks.rules.fixes import field
from lossless.ground.basics.units import format_bytes

if TYPE_CHECKING:
    from lossless.analysis.buffers.headroom.formulas import HeadroomNeed
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per port set and buffer profile with headroom for cable and frame, but not the whole need."""
    for headroom in profile_headrooms(view):
        if isinstance(headroom, MissingInput):
            yield headroom
            continue
        link, ports = headroom.link, headroom.ports
        if link.need is None:
            yield MissingInput(f"no headroom need is known at {ports.rate}", ports.places)
        elif link.frame_bytes <= headroom.given_bytes < link.need.headroom_bytes:
            yield _headroom_below_need(headroom, link.need)


def _headroom_below_need(headroom: ProfileHeadroom, need: HeadroomNeed) -> Violation:
    terms = ", ".join(f"{term.name} {term.bytes:,.0f}" for term in need.terms)
    violation = headroom.violation(
        f"the {format_bytes(need.headroom_bytes)} needed ({_method(need)})",
        note="" if need.method == "vendor row" else f"in bytes: {terms}",
        help_text=row_help(headroom.ports, headroom.profile, need) or f"set xoff to {need.headroom_bytes}",
        severity="info" if need.method == "floor" else "warning",
    )
    literal = not row_help(headroom.ports, headroom.profile, need)
    return violation._replace(fix=field(violation.origin, str(need.headroom_bytes)) if literal else ())


def _method(need: HeadroomNeed) -> str:
    return f"vendor row {need.terms[0].formula}" if need.method == "vendor row" else need.method
