"""An RDMA DSCP must land on a lossless traffic class.

## What it does
Follows every DSCP of a lossless class through the DSCP map of each port that has PFC on, and checks that its
traffic class is lossless there: the declared one with an intent, one with PFC where only `--rdma-dscp` names
the DSCP. A DSCP that no map names goes to TC 0.

## Why it breaks a lossless fabric
RDMA then rides a best-effort queue without anything complaining. The first congestion drops packets, and the
NIC goes back and sends everything again. Stock SONiC maps DSCP 26 to lossy TC 1.

## Bad
```json config_db base=leaf rdma-dscp=26
{
  "DSCP_TO_TC_MAP": {"AZURE": {
    "26": "1"   // <- here
  }}
}
```

## Good
```json config_db base=leaf rdma-dscp=26
{
  "DSCP_TO_TC_MAP": {"AZURE": {
    "26": "3"
  }}
}
```

## Fix
Map the DSCP to the lossless traffic class: `"26": "3"`.

## Sources
- sonic-buildimage files/build_templates/qos_config.j2 @086b03b (stock map)
- NVIDIA/nccl issue 2383 (RDMA on DSCP 0 of a fabric that is lossless for another DSCP only)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.fabric.qos import UNREADABLE
from lossless.rules.base import Gap, Hit, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.fabric.model import TrafficClass
    from lossless.fabric.view import PortSet, View

RULE = Rule(
    code="CLS001",
    name="rdma-dscp-not-lossless",
    severity="error",
    summary="An RDMA DSCP must land on a lossless traffic class",
    sources=("sonic-buildimage files/build_templates/qos_config.j2 @086b03b", "NVIDIA/nccl issue 2383"),
)


def check(view: View) -> Iterator[Hit | Gap]:
    """Yield a hit per DSCP map entry that sends RDMA to a lossy traffic class."""
    paused = _paused(view)
    for ports in view.lossless_sets:
        # What is inferred from the maps themselves cannot contradict them.
        if ports.qos.trust_dot1p or ports.switch.classes.knowledge == "inferred":
            continue
        if ports.qos.dscp_to_tc is None:
            yield Gap("no DSCP map is bound to the port", ports.places)
            continue
        for cls in ports.switch.classes.lossless:
            yield from _entries(ports, cls, paused[id(ports.switch)])


def _paused(view: View) -> dict[int, set[int]]:
    """Return the priorities that PFC pauses on any port of each switch: one port short of them is PFC001's."""
    found: dict[int, set[int]] = {}
    for ports in view.lossless_sets:
        found.setdefault(id(ports.switch), set()).update(ports.qos.pfc.priorities)
    return found


def _entries(ports: PortSet, cls: TrafficClass, paused: set[int]) -> Iterator[Hit]:
    wanted = (cls.priority,) if cls.priority is not None else tuple(sorted(paused))
    for dscp in cls.dscps:
        found = ports.qos.traffic_class(dscp)
        if found not in wanted and found != UNREADABLE:
            yield _hit(ports, cls, dscp, wanted)


def _hit(ports: PortSet, cls: TrafficClass, dscp: int, wanted: tuple[int, ...]) -> Hit:
    dscp_map = ports.qos.dscp_to_tc
    assert dscp_map is not None
    mapped = dscp_map.targets[dscp]
    found = ports.qos.traffic_class(dscp)
    goes = f"maps to TC {found}" if mapped is not None else "is not mapped and goes to TC 0"
    lossless = " or ".join(f"TC {tc}" for tc in wanted)
    return Hit(
        origin=dscp_map.entry_origin(dscp),
        message=f"DSCP {dscp} of class {cls.name} {goes}, which is lossy",
        note=f"lossless is {lossless}, by the priorities that PFC pauses",
        help=f'map it to a lossless class: "{dscp}": "{wanted[0]}"',
        elements=ports.elements,
        places=ports.places,
        data={"dscp": dscp, "traffic_class": found, "lossless": list(wanted)},
    )
