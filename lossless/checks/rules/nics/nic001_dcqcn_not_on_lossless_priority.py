"""DCQCN must run on the priority of every lossless class, and on at least one.

Severity: error
Subject: intent, hosts, attached hosts

## What it does
Compares the priorities that DCQCN runs on with those of the lossless classes: `congestion_control.dcqcn.priorities` of
an intent, and of a host that was read both halves (`ecn/roce_rp/enable`, `ecn/roce_np/enable`) and the firmware's mask
ROCE_CC_PRIO_MASK. An intent without `priorities` runs DCQCN on those with PFC, so none can be missing, unless no class
has PFC: DCQCN is then on and runs on no priority, which `render` refuses. With `transport: uec` that is usually a
mistake: DCQCN slows down queue pairs of RoCE, and Ultra Ethernet has a congestion control of its own. A priority beyond
those of the lossless classes does no harm. Where the intent is `pfc-only`, or no switch marks, hosts are not checked.

## Why it breaks a lossless fabric
The mask declares for each priority whether the NIC answers ECN marks with CNPs and slows down for them. On a priority
outside the mask, the switches mark and no sender reacts: PFC alone ends congestion, as if the fabric had no DCQCN at
all.

## Bad
```yaml intent base=leaf-spine
congestion_control:
  dcqcn:
    priorities: [5]   # <- here
```

```yaml intent base=leaf-spine
transport: uec
classes:
  rdma: {lossless: false}
pfc: off
congestion_control: dcqcn   # <- here
hardware: {nic: amd-pollara-400}
```

```text facts file=sysfs.txt beside=leaf-spine.yaml
/sys/class/net/eth2/ecn/roce_rp/enable/0 = 0   # <- here
/sys/class/net/eth2/ecn/roce_rp/enable/1 = 0
/sys/class/net/eth2/ecn/roce_rp/enable/2 = 0
/sys/class/net/eth2/ecn/roce_rp/enable/3 = 0
/sys/class/net/eth2/ecn/roce_rp/enable/4 = 0
/sys/class/net/eth2/ecn/roce_rp/enable/5 = 0
/sys/class/net/eth2/ecn/roce_rp/enable/6 = 0
/sys/class/net/eth2/ecn/roce_rp/enable/7 = 0
```

## Good
```yaml intent base=leaf-spine
congestion_control:
  dcqcn: {priorities: [0, 1, 2, 3, 4, 5, 6, 7]}
```

```yaml intent base=leaf-spine
transport: uec
classes:
  rdma: {lossless: false}
pfc: off
congestion_control: nscc
hardware: {nic: amd-pollara-400}
```

```text facts file=sysfs.txt beside=leaf-spine.yaml
/sys/class/net/eth2/ecn/roce_rp/enable/0 = 0
/sys/class/net/eth2/ecn/roce_rp/enable/1 = 0
/sys/class/net/eth2/ecn/roce_rp/enable/2 = 0
/sys/class/net/eth2/ecn/roce_rp/enable/3 = 1
/sys/class/net/eth2/ecn/roce_rp/enable/4 = 0
/sys/class/net/eth2/ecn/roce_rp/enable/5 = 0
/sys/class/net/eth2/ecn/roce_rp/enable/6 = 0
/sys/class/net/eth2/ecn/roce_rp/enable/7 = 0
```

## Fix
Leave `priorities` out, or name the priority of every lossless class. Without PFC, name the priorities of RDMA.
With `transport: uec` state `nscc`, `rccc` or `both`; priorities of DCQCN are those of RoCE beside it.

## Sources
- NVIDIA DOCA 3.4.0 documentation, DCQCN CC parameters (ROCE_CC_PRIO_MASK enables DCQCN on a priority)
- Mellanox/nic-configuration-operator pkg/configuration/configvalidation.go @8bfbeb3 (sets the mask to 255)
- Secondary copies of UEC 1.0.3, section 3.6.13, and ultraethernet/uet-htsim @40ccb05 (NSCC and RCCC of its transport)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, unread
from lossless.checks.rules.ecn.wred_profiles import lossless_queues
from lossless.checks.rules.locations import beside
from lossless.ground.basics.records import UNKNOWN, Maybe, NamedTuple, Unknown
from lossless.ground.basics.units import spell
from lossless.model.fabric.cluster import priorities_of_bits
from lossless.model.fabric.deployed_devices import attached_hosts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.deployed_devices import DeployedDevices
    from lossless.model.fabric.hosts import Dcqcn, HostQos
    from lossless.model.fabric.view import View


_HALVES = (
    ("priorities", "reaction", "reacted to"),
    ("notifying", "notification", "answered with CNPs"),
)
"""The two halves of DCQCN: the attribute with its priorities, the vendors' name, the fate of marks without it."""

_NO_PRIORITY = "without priorities of its own it runs on those with PFC, and no sender reacts to ECN marks"
_NAME_PRIORITIES = "set congestion_control.dcqcn.priorities to those of RDMA, or congestion_control: pfc-only"
_NOT_ITS_CONTROL = (
    "DCQCN slows down queue pairs of RoCE; senders of Ultra Ethernet have a window (NSCC) or credit (RCCC)"
)
_STATE_ITS_CONTROL = (
    "set congestion_control: nscc, rccc or both; only if RoCE runs beside it, congestion_control.dcqcn.priorities to "
    "those of RoCE"
)


class _Half(NamedTuple):
    """The reaction or notification point of DCQCN on a host: its priorities, and the lossless ones it leaves out."""

    name: str
    point: str
    without: str
    priorities: tuple[int, ...]
    missing: tuple[int, ...]


def check(view: View) -> Results:
    """Yield a violation per kind of host whose DCQCN leaves a lossless priority out, or runs on no priority.

    Declared hosts with DCQCN off are left out, and so are lossless priorities of fabrics that do not mark.
    """
    lossless = tuple(sorted(cls.priority for cls in view.fabric.classes.lossless if cls.priority is not None))
    yield from _on_none(view)
    for host, names in view.host_kinds if lossless and _marking(view) else ():
        dcqcn = host.dcqcn
        if dcqcn.enabled is False and host.provenance == "intent":
            continue
        halves = tuple(_halves(dcqcn, lossless))
        if halves:
            yield _dcqcn_not_on_lossless_priority(host, halves, lossless, names)
        elif UNKNOWN in (dcqcn.enabled, dcqcn.priorities):
            yield unread("the priorities DCQCN runs on", names)


def _on_none(view: View) -> Results:
    """Yield a violation per kind of host with DCQCN on no priority, under ``pfc: off`` without a lossless class."""
    # Where nobody has decided that no class is lossless, that is the cause: PFC012 reports it.
    for host, names in view.host_kinds if view.fabric.lossy_origin is not None else ():
        if host.dcqcn_without_priority and not view.fabric.classes.lossless:
            roce = not view.fabric.ultra_ethernet
            yield Violation(
                origin=host.dcqcn.origin,
                message="DCQCN is on and runs on no priority: no class is lossless",
                note=_NO_PRIORITY if roce else _NOT_ITS_CONTROL,
                help=_NAME_PRIORITIES if roce else _STATE_ITS_CONTROL,
                elements=names,
                data={"priorities": []},
            )


def attached(devices: DeployedDevices) -> Results:
    """Yield a violation per host whose DCQCN leaves out a priority that the switch port it is attached to marks."""
    for link in attached_hosts(devices):
        halves = tuple(_halves(link.host.dcqcn, link.switch.marking))
        if halves:
            yield _dcqcn_not_on_lossless_priority(link.host, halves, link.switch.marking, (link.name,))


def _marking(view: View) -> bool:
    """Return whether hosts are to run DCQCN: by the intent, or because queues of a device mark for it."""
    congestion = view.fabric.congestion
    if congestion is not None:
        return congestion.kind == "dcqcn"
    return any(queue.wred is not None and queue.wred.marks for queue in lossless_queues(view))


def _halves(dcqcn: Dcqcn, lossless: tuple[int, ...]) -> Iterator[_Half]:
    for name, point, without in _HALVES:
        running: Maybe[tuple[int, ...]] = getattr(dcqcn, name)
        if running is not None and not isinstance(running, Unknown):
            enabled = tuple(p for p in running if _in_firmware(dcqcn, p))
            missing = tuple(p for p in lossless if p not in enabled)
            if missing:
                yield _Half(name, point, without, enabled, missing)


def _in_firmware(dcqcn: Dcqcn, priority: int) -> bool:
    return not isinstance(dcqcn.priority_mask, int) or priority in priorities_of_bits(dcqcn.priority_mask)


def _dcqcn_not_on_lossless_priority(
    host: HostQos, halves: tuple[_Half, ...], lossless: tuple[int, ...], names: tuple[str, ...]
) -> Violation:
    first, dcqcn, declared = halves[0], host.dcqcn, host.provenance == "intent"
    whole = declared or len(halves) > 1
    what = "DCQCN" if whole else f"the {first.point} point of DCQCN"
    origin = _origin(dcqcn, first)
    others = ((_origin(dcqcn, half), f"the {half.point} point") for half in halves[1:])
    wanted = ", ".join(map(str, lossless))
    return Violation(
        origin=origin,
        message=f"{what} runs on {spell(first.priorities)}, not on {spell(first.missing)}, which is lossless",
        note="ECN marks of that priority cause neither CNPs nor a rate reduction: PFC is the only control"
        if whole
        else f"ECN marks of that priority are not {first.without}",
        help=f"leave priorities out, or make it [{wanted}]"
        if declared
        else f"switch it on for {spell(lossless)}",
        elements=names,
        data={"priorities": [*first.priorities], "missing": [*first.missing]},
        related=beside(origin, *others),
    )


def _origin(dcqcn: Dcqcn, half: _Half) -> Origin:
    """Return the origin of the priorities of a half of DCQCN; of the firmware's mask where that clears one of them."""
    enabled: tuple[int, ...] = getattr(dcqcn, half.name)
    masked = set(half.missing) & set(enabled)
    return dcqcn.at("priority_mask" if masked else half.name)
