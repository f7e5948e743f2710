"""DCQCN must run on the priority of every lossless class.

## What it does
Compares `congestion_control.dcqcn.priorities`, where it is stated, with the priorities of the lossless classes.
Left out, DCQCN runs on those with PFC and nothing can differ. A priority beyond them does no harm.

## Why it breaks a lossless fabric
The mask says for each priority whether the NIC answers ECN marks with CNPs and slows down for them. On a
priority that it leaves out, the switches mark and nobody reacts: PFC alone ends congestion, as if the fabric had
no DCQCN at all.

## Bad
```yaml intent base=leaf-spine
congestion_control:
  dcqcn:
    priorities: [5]   # <- here
```

## Good
```yaml intent base=leaf-spine
congestion_control:
  dcqcn: {priorities: [0, 1, 2, 3, 4, 5, 6, 7]}
```

## Fix
Leave `priorities` out, or name the priority of every lossless class.

## Sources
- NVIDIA DOCA 3.4.0 documentation, DCQCN CC parameters (ROCE_CC_PRIO_MASK enables DCQCN on a priority)
- Mellanox/nic-configuration-operator pkg/configuration/configvalidation.go @8bfbeb3 (sets the mask to 255)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.rules.base import Gap, Hit, Rule
from lossless.rules.nics.parameters import running
from lossless.rules.pfc.masks import spell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.fabric.view import View

RULE = Rule(
    code="NIC001",
    name="dcqcn-not-on-lossless-priority",
    severity="error",
    summary="DCQCN must run on the priority of every lossless class",
    sources=(
        "NVIDIA DOCA 3.4.0 documentation, DCQCN CC parameters",
        "Mellanox/nic-configuration-operator pkg/configuration/configvalidation.go @8bfbeb3",
    ),
    subject="intent",
)


def check(view: View) -> Iterator[Hit | Gap]:
    """Yield a hit per kind of host whose DCQCN leaves a lossless priority out."""
    lossless = sorted(cls.priority for cls in view.fabric.classes.lossless if cls.priority is not None)
    for dcqcn in running(view):
        priorities = dcqcn.host.dcqcn.priorities
        missing = [] if priorities is None else [p for p in lossless if p not in priorities]
        if priorities is not None and missing:
            yield Hit(
                origin=dcqcn.host.dcqcn.origin.at("priorities"),
                message=f"DCQCN runs on {spell(priorities)}, not on {spell(missing)}, which is lossless",
                note="ECN marks of that priority are neither answered with CNPs nor heeded: PFC alone is left",
                help=f"leave priorities out, or make it [{', '.join(map(str, lossless))}]",
                elements=dcqcn.hosts,
                places=len(dcqcn.hosts),
                data={"priorities": list(priorities), "missing": list(missing)},
            )
