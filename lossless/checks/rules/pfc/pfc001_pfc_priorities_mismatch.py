"""PFC must be on for the priorities of the lossless classes, all of them and no other.

Severity: error
Fix: unsafe
Subject: fabric

## What it does
Compares `pfc_enable` of each port with the priorities that lossless traffic uses. Where `--rdma-dscp` or an intent
names the DSCPs, a priority that none of them maps to is one too many, and a port with PFC is one short where it lacks a
priority of theirs that other ports of the switch pause. Where classes are inferred, a port in service is one short only
if its own DSCP map, priority group or queue is lossless for the missing priority. Priorities 2 and 6 that tunnel
remapping adds (outside the watchdog's mask) are expected. Where the neighbor's file proves that it pauses the missing
priority, PFC003 reports it instead, for certain. A named DSCP that maps to a priority which no port pauses is CLS001's.

## Why it breaks a lossless fabric
A lossless priority without PFC drops packets at the first congestion. A priority too many takes headroom on
every port and is one more domain of pause propagation.

## Bad
```json config_db base=leaf
{
  "PORT_QOS_MAP": {"Ethernet4": {
    "pfc_enable": ""   // <- here
  }}
}
```

```json config_db base=azure rdma-dscp=3
{
  "PORT_QOS_MAP": {"Ethernet0": {
    "pfc_enable": "3,4"   // <- here
  }}
}
```

## Good
```json config_db base=leaf rdma-dscp=26
{
  "PORT_QOS_MAP": {"Ethernet4": {"pfc_enable": "3"}}
}
```

```json config_db base=azure
{
  "PORT_QOS_MAP": {"Ethernet8": {"pfc_enable": "3,4"}}
}
```

## Fix
Set `pfc_enable` to the priorities of the lossless classes, the same on every port they use.

## Sources
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016 (headroom limits the number of lossless
  classes)
- sonic-buildimage files/build_templates/qos_config.j2 @086b03b (one mask for all ports, two more with
  remapping)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation, merged
from lossless.checks.rules.fixes import port_rows
from lossless.checks.rules.locations import beside, counted_lossy
from lossless.checks.rules.pfc.priorities import (
    by_switch,
    in_service,
    paused_class,
    paused_classes,
    pausing,
    remapped,
    uncovered,
)
from lossless.formats.sonic.read.tables import priority_list
from lossless.ground.basics.units import spell

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from lossless.ground.basics.findings import Edit, Origin
    from lossless.model.fabric.view import PortSet, View


def check(view: View) -> Results:
    """Yield a violation per PFC mask with a priority that no lossless class uses, or without one that its port needs.

    Inferred classes are compared only for missing priorities, which other ports of the switch must pause.
    """
    for switch, device in by_switch(view.port_sets):
        if switch.classes.knowledge != "inferred":
            yield from _unmapped(device)
            yield from merged(violation for ports in device for violation in _too_many(ports))
        masks, watched = pausing(device), any(ports.qos.watchdog_mask for ports in device)
        yield from merged(
            violation for ports in device for violation in _too_few(masks, ports, watched=watched)
        )


def _unmapped(device: Sequence[PortSet]) -> Iterator[MissingInput]:
    for ports in device:
        if ports.qos.pfc.priorities and ports.qos.dscp_to_tc is None and not ports.qos.trust_dot1p:
            yield MissingInput("no DSCP map is bound to the port", ports.places)


def _too_many(ports: PortSet) -> Iterator[Violation]:
    qos, classes = ports.qos, ports.switch.classes
    if qos.trust_dot1p or qos.dscp_to_tc is None:
        return
    wanted = {cls.priority for cls in classes.lossless if cls.priority is not None}
    wanted |= {qos.traffic_class(dscp) for cls in classes.lossless for dscp in cls.dscps}
    unwanted = {p for p in qos.pfc.priorities if paused_class(qos, p) not in wanted}
    extra = sorted(unwanted - remapped(qos))
    # A DSCP that maps to an unpaused priority is CLS001's; until it is fixed, the superfluous priority is unknown.
    if extra and wanted.issubset(paused_classes(qos)):
        yield Violation(
            origin=qos.pfc.origin,
            message=f"PFC is on for {spell(extra)}, which no lossless class uses: those use {spell(wanted)}",
            note="each lossless priority takes headroom of its own and is one more domain of pause propagation",
            help=f"take {', '.join(map(str, extra))} out of pfc_enable",
            fix=_masks(ports, {*qos.pfc.priorities}.difference(extra)),
            data={"pfc": list(qos.pfc.priorities), "lossless": [*sorted(wanted)], "extra": [*extra]},
            severity=None if classes.knowledge == "declared" else "warning",
        ).on_ports(ports)


def _masks(ports: PortSet, priorities: Collection[int], *, watched: bool = False) -> tuple[Edit, ...]:
    """Return edits of the PFC mask of ports; also of their watchdog's mask where others of the switch have one."""
    fields = ("pfc_enable", "pfcwd_sw_enable") if watched else ("pfc_enable",)
    mask = priority_list(sorted(priorities))
    return tuple(edit for name in fields for edit in port_rows([ports], ports.qos.pfc.origin, name, mask))


def _words(edits: Iterable[Edit]) -> str:
    """Return the help for edits of masks: the fields that they set, as config_db.json has them."""
    fields = dict.fromkeys(f'"{edit.origin.path[-1]}": "{edit.value}"' for edit in edits)
    return f"set {' and '.join(fields)}"


def _claim(ports: PortSet) -> str:
    inferred = ports.switch.classes.knowledge == "inferred"
    return "lossless buffers" if inferred or not ports.qos.pfc.priorities else "RDMA traffic"


def _too_few(elsewhere: Mapping[int, Origin], ports: PortSet, *, watched: bool) -> Iterator[Violation]:
    missing = uncovered(elsewhere, ports)
    serving = in_service(ports) if missing else None
    if serving is None:
        return
    qos = serving.qos
    wanted = sorted({*qos.pfc.priorities, *missing})
    them = "it" if len(missing) == 1 else "them"
    lossy = any(counted_lossy(qos, priority) for priority in missing)
    masks = _masks(serving, wanted, watched=watched)
    yield Violation(
        origin=qos.pfc.origin,
        message=f"PFC is off for {spell(missing)}: this port has {_claim(serving)} for {them}, "
        f"and other ports of the switch pause {them}",
        note="traffic of a lossless class leaves and enters here without any pause to protect it",
        help=f"pause {them} here too, with lossless buffers for {them}" if lossy else _words(masks),
        fix=() if lossy else masks,
        data={"pfc": list(qos.pfc.priorities), "missing": list(missing)},
        related=beside(qos.pfc.origin, (elsewhere[missing[0]], f"a port that pauses {spell(missing[:1])}")),
        severity=None if ports.switch.classes.knowledge != "inferred" else "warning",
    ).on_ports(serving)
