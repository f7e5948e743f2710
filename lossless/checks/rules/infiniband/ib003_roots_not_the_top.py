"""The file of roots must name the top of the tree.

Severity: warning

## What it does
Compares the switches that are named as roots with the top tier of a declared fat tree.

## Why it breaks a lossless fabric
ftree ranks switches by their distance from the roots. With a leaf among them it cannot, and opensm falls back to
minhop; updn takes the leaf for a summit and sends traffic between spines down through it. Spines that are missing
carry nothing.

## Bad
```yaml intent base=infiniband
subnet_manager:
  routing:
    roots: [leaf1, spine1]   # <- here
```

```yaml intent base=infiniband
subnet_manager:
  routing:
    engine: updn
    roots: [spine1]   # <- here
```

## Good
```yaml intent base=infiniband
subnet_manager:
  routing: {roots: top}
```

## Fix
Name every switch of the top tier, and no other: `roots: top`.

## Sources
- opensm 3.3.23 on a simulated fabric, run: with a leaf as root `ftree: cannot build lid matrices`, then `minhop
  tables configured on all switches`; updn routes by it
- opensm(8), of opensm 3.3.23 (-a)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import NO_TOPOLOGY, shape, switches
from lossless.ground.basics.known import Unknown
from lossless.ground.basics.wording import joined

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation for roots that are no top, and for tops that are no root."""
    if subnet.routing.roots is None or subnet.routing.engine not in ("ftree", "updn"):
        return
    if isinstance(subnet.shape, Unknown):
        yield NO_TOPOLOGY
        return
    topology = shape(subnet)
    if topology is None or topology.kind != "fat-tree":
        return
    roots = [_name(subnet, root) for root in subnet.routing.roots]
    wrong = [root for root in roots if root not in topology.roots]
    missing = [name for name in topology.roots if name not in roots]
    if wrong:
        yield _wrong(subnet, wrong)
    elif missing:
        yield _missing(subnet, missing)


def _name(subnet: Subnet, root: str | int) -> str:
    """Return the switch of a root, its GUID as text where no switch is known to have it."""
    named = (name for name, switch in switches(subnet).items() if switch.guid == root)
    return root if isinstance(root, str) else next(named, f"{root:#x}")


def _wrong(subnet: Subnet, wrong: list[str]) -> Violation:
    fails = subnet.routing.engine == "ftree"
    return Violation(
        origin=subnet.routing.roots_origin or subnet.routing.origin,
        message=f"{joined(wrong, 4)} {'is a root' if len(wrong) == 1 else 'are roots'}, and not of the top tier"
        + (": ftree cannot rank the switches, and opensm takes minhop" if fails else ""),
        help="name the top tier alone",
        elements=tuple(wrong),
        severity="error" if fails else "warning",
    )


def _missing(subnet: Subnet, missing: list[str]) -> Violation:
    return Violation(
        origin=subnet.routing.roots_origin or subnet.routing.origin,
        message=f"{joined(missing, 4)} of the top tier {'is' if len(missing) == 1 else 'are'} no root: paths over "
        f"{'it' if len(missing) == 1 else 'them'} go down and up again, and are not used",
        help="name every switch of the top tier",
        elements=tuple(missing),
    )
