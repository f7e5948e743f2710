"""An intent must declare which class is lossless, or that none is.

Severity: error
Subject: intent

## What it does
Warns where no class has `lossless: true` and the intent does not state `pfc: off`; it is an error where DCQCN is on and
so has no priority to run on, which `render` refuses, and where `pfc: off` is stated and a class is lossless after all.

## Why it breaks a lossless fabric
A class is lossy by default: a forgotten `lossless: true` gives a fabric without PFC, headroom or watchdog, in which
every other rule has nothing to find. RDMA then drops at the first congestion.

## Bad
```yaml intent base=leaf-spine
classes:
  rdma:
    lossless: false   # <- here
```

```yaml intent base=leaf-spine
pfc: off   # <- here
```

## Good
```yaml intent base=leaf-spine
pfc: off
congestion_control: {dcqcn: {priorities: [3]}}
classes:
  rdma: {lossless: false}
```

## Fix
Write `lossless: true` in the class that carries RDMA, or `pfc: off` for a fabric that is lossy on purpose.

## Sources
- arithmetic: PFC is on for the lossless classes and for nothing else
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.ground.basics.findings import Origin, RelatedPlace

if TYPE_CHECKING:
    from lossless.model.fabric.model import Fabric
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield a violation where ``pfc: off`` and a lossless class contradict each other, or the intent states neither."""
    fabric = view.fabric
    lossless = fabric.classes.lossless
    if lossless and fabric.lossy_origin is not None:
        names = ", ".join(cls.name for cls in lossless)
        yield Violation(
            origin=fabric.lossy_origin.key(),
            message=f"pfc is off, yet class {names} is lossless",
            help="remove pfc: off, or lossless: true",
            related=tuple(RelatedPlace(cls.origin, f"class {cls.name} is lossless") for cls in lossless),
        )
    elif not lossless and fabric.lossy_origin is None:
        idle = any(host.dcqcn_without_priority for host, _ in view.host_kinds)
        yield Violation(
            origin=_undecided(fabric),
            message="no class is lossless: no PFC, no headroom, and RDMA is dropped under congestion",
            note="DCQCN then has no priority to run on, and render refuses that" if idle else "",
            help="write lossless: true in the class of RDMA; if the fabric is lossy on purpose, state pfc: off",
            severity=None if idle else "warning",
            conclusive=False,
        )


def _undecided(fabric: Fabric) -> Origin:
    """Return the origin of ``lossless`` of the class called rdma, if the intent has it; else that of the classes."""
    rdma = fabric.classes.named("rdma")
    if rdma is not None and rdma.origin.path != ("preset",):
        return rdma.origin.at("lossless")
    return Origin(fabric.sources[0], ("classes",), "key")
