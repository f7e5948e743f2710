"""NICs of several kinds under one DCQCN need testing: generations and vendors implement it differently.

Severity: warning
Confidence: medium
Subject: intent, hosts

## What it does
Names the kinds of NIC of a fabric that uses DCQCN, where there is more than one. It warns where their DCQCN parameters
differ, or where some of a kind are unknown; equal parameters are reported as information.

## Why it breaks a lossless fabric
DCQCN is one loop with half of it in each NIC: the receiver paces CNPs, the sender slows down for them. One
generation paces at the receiver and another at the sender; together they flood a sender with CNPs or starve it,
and flows between old and new NICs crawl while those between equals do not.

## Bad
```yaml intent base=leaf-spine
congestion_control: dcqcn
hardware: {nic: connectx-7}
topology:
  leaf_spine: ~
  devices:
    leaf1: {role: leaf}
    spine1: {role: spine}
    gpu1: {role: host}
    gpu2: {role: host}
    storage1:
      role: host
      nic: broadcom-thor-2   # <- here
  links:
    - {a: leaf1, b: gpu1, links: 1 x 400G, cable: 3m}
    - {a: leaf1, b: gpu2, links: 1 x 400G, cable: 3m}
    - {a: leaf1, b: storage1, links: 1 x 400G, cable: 3m}
    - {a: leaf1, b: spine1, links: 2 x 800G, cable: 30m}
```

## Good
```yaml intent base=leaf-spine
hardware: {nic: connectx-8}
```

## Fix
Keep kinds of NIC in fabrics or classes of their own, or tune and test DCQCN between them.

## Sources
- Bai et al., Empowering Azure Storage with RDMA, NSDI 2023, 7.2 (three generations of NICs that differ)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.nics.dcqcn_parameters import running
from lossless.ground.basics.findings import RelatedPlace, grouped
from lossless.ground.basics.units import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.checks.rules.nics.dcqcn_parameters import HostDcqcn
    from lossless.model.fabric.view import View


def check(view: View) -> Results:
    """Yield one violation where the hosts that run DCQCN have more than one kind of NIC."""
    kinds = grouped((dcqcn.host.nic_name, dcqcn) for dcqcn in running(view) if dcqcn.host.nic_name)
    if len(kinds) > 1:
        # The kind of the fewest hosts is the odd one.
        yield _nic_kinds_mixed(sorted(kinds.values(), key=lambda kind: (_hosts(kind), kind[0].host.nic_name)))


def _hosts(kind: Sequence[HostDcqcn]) -> int:
    return sum(len(dcqcn.hosts) for dcqcn in kind)


def _nic_kinds_mixed(kinds: Sequence[Sequence[HostDcqcn]]) -> Violation:
    fewest, *others = kinds
    names = tuple(name for dcqcn in fewest for name in dcqcn.hosts)
    counts = ", ".join(f"{kind[0].host.nic_name} in {_hosts(kind)}" for kind in reversed(kinds))
    note = _difference(kinds)
    return Violation(
        origin=fewest[0].host.nic_origin,
        message=f"{len(kinds)} kinds of NIC run DCQCN with each other: {counts} hosts",
        note=note or "their DCQCN parameters are equal; how each generation paces CNPs is its own",
        help="keep them apart, or test flows between them under incast",
        elements=names,
        data={kind[0].host.nic_name: _hosts(kind) for kind in kinds},
        related=tuple(RelatedPlace(kind[0].host.nic_origin, kind[0].host.nic_name) for kind in others),
        severity=None if note else "info",
    )


def _difference(kinds: Sequence[Sequence[HostDcqcn]]) -> str:
    """Return how the DCQCN parameters of kinds of NIC differ, or that some are unknown; empty if all are equal."""
    pairs = {pair for kind in kinds for dcqcn in kind for pair in dcqcn.values.items()}
    names = {name for name, _ in pairs}
    if len(pairs) > len(names):
        return "their DCQCN parameters differ"
    incomplete = [
        kind for kind in kinds if not names or any(len(dcqcn.values) < len(names) for dcqcn in kind)
    ]
    unknown = joined(sorted(kind[0].host.nic_name for kind in incomplete), 4)
    return f"DCQCN parameters of {unknown} are unknown" if unknown else ""
