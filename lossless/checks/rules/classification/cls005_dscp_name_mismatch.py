"""The name and the number of a DSCP must stand for the same DSCP.

Severity: error
Subject: intent

## What it does
Compares the number of each DSCP that a class writes beside a name (`dscp: {AF31: 26}`) with the DSCP of that name. The
number counts: it is rendered into files.

## Why it breaks a lossless fabric
Hosts are often set by name and switches by number, or the other way round. CS3 is 24, AF31 is 26: with the wrong name,
RDMA arrives in a class that is not lossless.

## Bad
```yaml intent base=leaf-spine
classes:
  rdma:
    dscp:
      CS3: 26   # <- here
```

## Good
```yaml intent base=leaf-spine
classes:
  rdma:
    dscp: {AF31: 26}
```

## Fix
Write the name of the number, or the number of the name, depending on the setting of the hosts.

## Sources
- RFC 2474, section 4.2.2.2 (CS0 to CS7); RFC 2597, section 6 (AF11 to AF43); RFC 3246 (EF)
- Juniper/jvd rdma-rocev2-lossless.conf @005ab34 (a comment calls 26 CS3)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation

if TYPE_CHECKING:
    from lossless.model.fabric.model import NamedDscp
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation per name whose DSCP differs from the number beside it."""
    for cls in view.fabric.classes.classes:
        for named in cls.named_dscps:
            if named.means != named.dscp:
                yield _dscp_name_mismatch(named)


def _dscp_name_mismatch(named: NamedDscp) -> Violation:
    right = f" ({named.right_name})" if named.right_name else ""
    return Violation(
        origin=named.origin,
        message=f"{named.name} is DSCP {named.means}, not {named.dscp}{right}",
        note=f"switches and hosts are rendered with {named.dscp}",
        help=f"write {named.name}: {named.means}"
        + (f", or {named.right_name}: {named.dscp}" if right else ""),
        data={"name": named.name, "means": named.means, "dscp": named.dscp},
    )
