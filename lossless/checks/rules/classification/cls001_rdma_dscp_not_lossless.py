"""An RDMA DSCP must be mapped to a lossless traffic class.

Severity: error
Fix: unsafe
Subject: fabric

## What it does
Follows every DSCP of a lossless class through the DSCP map of each port that has PFC on, and checks that its traffic
class is lossless there: the declared one with an intent, one with PFC where only `--rdma-dscp` names the DSCP. A DSCP
without a map entry goes to TC 0. Traffic classes 2 and 6 that tunnel remapping makes lossless are for bounced packets,
and the help does not propose them for other DSCPs. A switch that maps a DSCP of `--rdma-dscp`, and has PFC on no port,
is an error too.

Where the RDMA DSCPs are unknown, the ports of the switch are compared with each other: a DSCP that most of its ports
with PFC map to one lossless traffic class, and some to a lossy one, is a warning on the latter. CLS007 checks DSCP 48.
Ports with PFC on the same priority as most ports, but with no DSCP of it in common with them, are an error: no packet
that crosses the switch between them is lossless. A priority with PFC to which no DSCP of the switch is mapped is a
warning: its buffers are reserved, and the packets that should use them go elsewhere. The same holds for a lossless
class of an intent with `dscp: off`; it is an error where no other lossless class has a DSCP.

## Why it breaks a lossless fabric
RDMA then uses a best-effort queue without any error message. The first congestion drops packets, and the NIC goes back
and sends everything again. Stock SONiC maps DSCP 26 to lossy TC 1.

## Bad
```json config_db base=leaf rdma-dscp=26
{
  "DSCP_TO_TC_MAP": {"AZURE": {
    "26": "1"   // <- here
  }}
}
```

```json config_db base=leaf
{
  "DSCP_TO_TC_MAP": {
    "AZURE": {"26": "0"}   // <- here
  }
}
```

```json config_db base=leaf rdma-dscp=26
{
  "DSCP_TO_TC_MAP": {"AZURE": {
    "26": "3"   // <- here
  }},
  "PORT_QOS_MAP": {
    "Ethernet0": {"pfc_enable": null},
    "Ethernet4": {"pfc_enable": null},
    "Ethernet8": {"pfc_enable": null}
  }
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

from collections import Counter
from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.classification.cls007_cnp_class_unsafe import DEFAULT_CNP_DSCP
from lossless.checks.rules.fixes import entries, port_rows
from lossless.checks.rules.locations import beside, entry_or_map, places
from lossless.checks.rules.pfc.priorities import by_switch, paused_classes, remapped
from lossless.formats.sonic.read.tables import priority_list
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import Record
from lossless.ground.basics.units import number_ranges
from lossless.model.fabric.qos import DSCPS, UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.model.fabric.model import Switch, TrafficClass
    from lossless.model.fabric.view import PortSet, View


def check(view: View) -> Results:
    """Yield the violations of DSCPs, ports, classes and priorities that make RDMA traffic lossy."""
    if view.fabric.declared:
        yield from _without_dscp(view.fabric.classes.lossless)
    for switch, device in by_switch(view.lossless_sets):
        bounced = {priority for ports in device for priority in remapped(ports.qos)}
        # Classes that are inferred from the maps cannot contradict them.
        if switch.classes.knowledge == "inferred":
            yield from _against_most(device, bounced)
            yield from _unreached(device)
            continue
        # PFC001 reports a port without a priority that other ports of its switch pause.
        paused = {traffic_class for ports in device for traffic_class in paused_classes(ports.qos)}
        for ports in device:
            yield from _against_classes(ports, paused, bounced)
    for switch, device in by_switch(view.port_sets):
        if switch.classes.knowledge == "named" and not any(ports.qos.pfc.priorities for ports in device):
            yield from _on_a_switch_that_pauses_nothing(switch, device)


def _without_dscp(lossless: Sequence[TrafficClass]) -> Iterator[Violation]:
    """Yield a violation per lossless class of an intent to which no DSCP leads, nor the rest of the DSCPs."""
    bare = [cls for cls in lossless if not cls.dscps and not cls.rest]
    for cls in bare:
        yield Violation(
            origin=cls.origin.at("dscp"),
            message=f"class {cls.name} is lossless, and no DSCP leads to it",
            note="every port is rendered to read the DSCP: RoCEv2 has another class, and no pause protects it",
            help=f"name the DSCP that hosts send, as dscp: 26, or lossless: false for class {cls.name}",
            data={"class": cls.name},
            severity=None if len(bare) == len(lossless) else "warning",
        )


def _on_a_switch_that_pauses_nothing(switch: Switch, device: Sequence[PortSet]) -> Iterator[Violation]:
    """Yield a violation per map entry of a named DSCP, on a switch with PFC on no port; default maps are left out."""
    named = {dscp for cls in switch.classes.lossless for dscp in cls.dscps}
    entries = (
        ((dscp_map.entry_origin(dscp), dscp, target), ports)
        for ports in device
        if (dscp_map := ports.qos.dscp_to_tc) is not None
        for dscp in sorted(named)
        if (target := dscp_map.targets[dscp]) not in (None, UNREADABLE) and dscp_map.entry_origin(dscp).path
    )
    for (origin, dscp, target), sets in grouped(entries).items():
        yield Violation(
            origin=origin,
            message=f"DSCP {dscp} must be lossless, and goes to TC {target}, which no port of the switch pauses",
            note="PFC pauses no priority on any of its ports: what congests here is dropped",
            help=f"pause priority {target} on every port that RDMA crosses, with headroom for it",
            data={"dscp": dscp, "traffic_class": target, "lossless": []},
            related=beside(origin, *((ports.qos.pfc.origin, "no priority is paused") for ports in sets)),
        ).on_ports(*sets)


def _against_classes(ports: PortSet, paused: set[int], bounced: set[int]) -> Results:
    """Yield a violation per DSCP of a lossless class that a port maps to none of the traffic classes accepted for it.

    Accepted is the declared priority, without one every traffic class that the switch pauses. Unreadable entries, and
    ports that trust 802.1p, are left out.
    """
    if ports.qos.trust_dot1p:
        return
    if ports.qos.dscp_to_tc is None:
        yield MissingInput("no DSCP map is bound to the port", ports.places)
        return
    for cls in ports.switch.classes.lossless:
        yield from _entries(ports, cls, paused, bounced)


def _against_most(device: Sequence[PortSet], bounced: set[int]) -> Results:
    """Yield a violation per DSCP that is lossy on a port and, on most ports, lossless by a priority the port pauses.

    A violation is also yielded for ports of :func:`_apart`, which are not compared further. DSCP 48, unreadable entries
    and ports that trust 802.1p are left out.
    """
    trusting = [ports for ports in device if not ports.qos.trust_dot1p]
    usual = _usual(trusting, bounced)
    apart = _apart(trusting, bounced)
    yield from map(_apart_violation, apart)
    separate = {id(each.ports) for each in apart}
    for ports in trusting:
        if id(ports) in separate:
            continue
        if ports.qos.dscp_to_tc is None and usual:
            yield MissingInput("no DSCP map is bound to the port", ports.places)
            continue
        for dscp, wanted in usual.items():
            lossless = ports.qos.pfc.priorities
            if wanted in lossless and ports.qos.traffic_class(dscp) not in (*lossless, UNREADABLE):
                yield _against_most_violation(ports, dscp, wanted)


class _Apart(Record):
    """Ports with PFC on a priority of which they and ``most`` ports of their switch have no DSCP in common."""

    ports: PortSet
    priority: int
    dscps: tuple[int, ...]
    most: PortSet
    most_dscps: tuple[int, ...]


def _apart(trusting: Sequence[PortSet], bounced: set[int]) -> list[_Apart]:
    """Return the ports that share no DSCP of a priority with the set of DSCPs that most ports have there.

    Ports with PFC on a priority without any DSCP count only where none of their priorities with PFC has one: a surplus
    priority in a mask loses no traffic.
    """
    apart: dict[int, _Apart] = {}
    for priority in sorted({p for ports in trusting for p in ports.qos.pfc.priorities} - bounced):
        leading = [(ports, _leading(ports, priority)) for ports in trusting if _leads(ports, priority)]
        votes = Counter[frozenset[int]]()
        for ports, dscps in leading:
            votes[dscps] += ports.places if dscps else 0
        usual = max(votes, key=votes.__getitem__, default=frozenset())
        most = next((ports for ports, dscps in leading if dscps == usual), None)
        if not usual or most is None:
            continue
        for ports, dscps in leading:
            unused = not any(_leading(ports, p) for p in ports.qos.pfc.priorities)
            if dscps.isdisjoint(usual) and (dscps or unused):
                apart.setdefault(
                    id(ports), _Apart(ports, priority, tuple(sorted(dscps)), most, tuple(sorted(usual)))
                )
    return [*apart.values()]


def _leads(ports: PortSet, priority: int) -> bool:
    """Return whether ports pause a priority, and every entry of their DSCP map can be read."""
    dscp_map = ports.qos.dscp_to_tc
    return (
        priority in ports.qos.pfc.priorities and dscp_map is not None and UNREADABLE not in dscp_map.targets
    )


def _leading(ports: PortSet, priority: int) -> frozenset[int]:
    """Return the DSCPs whose traffic class has the number of a priority."""
    return frozenset(dscp for dscp in DSCPS if ports.qos.traffic_class(dscp) == priority)


def _apart_violation(apart: _Apart) -> Violation:
    ports, most, priority = apart.ports, apart.most, apart.priority
    here, there = ports.qos.dscp_to_tc, most.qos.dscp_to_tc
    assert here is not None
    assert there is not None
    own = f"DSCP {number_ranges(apart.dscps)}" if apart.dscps else "no DSCP"
    usual = number_ranges(apart.most_dscps)
    return Violation(
        origin=here.origin,
        message=f"on priority {priority} {here.name} keeps {own} lossless, most ports of the switch DSCP {usual}",
        note="no packet that crosses the switch between these ports is lossless",
        help="bind the same map to all ports that RDMA crosses",
        data={"traffic_class": priority, "dscps": [*apart.dscps], "lossless": [*apart.most_dscps]},
        related=beside(here.origin, (there.origin, f"the map of {most.ports[0].name}")),
    ).on_ports(ports)


def _unreached(device: Sequence[PortSet]) -> Iterator[Violation]:
    """Yield a violation per port set and priority with PFC and headroom to which no DSCP of the switch is mapped.

    Nothing is yielded where a port has no DSCP map, an unreadable entry in it, or trusts 802.1p.
    """
    led_to = {target for ports in device for target in _targets(ports)}
    for ports in device if UNREADABLE not in led_to else ():
        for priority in {*ports.qos.pfc.priorities} - led_to - remapped(ports.qos):
            if _has_headroom(ports, priority):
                yield _unreached_violation(ports, priority)


def _targets(ports: PortSet) -> set[int]:
    """Return the traffic classes in a port's map; only ``UNREADABLE`` where it has no map or trusts 802.1p."""
    dscp_map = ports.qos.dscp_to_tc
    if dscp_map is None or ports.qos.trust_dot1p:
        return {UNREADABLE}
    return {0 if target is None else target for target in dscp_map.targets}


def _has_headroom(ports: PortSet, priority: int) -> bool:
    """Return whether the group of a priority has headroom; PFC005 reports groups without it.

    A group that buffermgrd makes counts only where no row has headroom. Otherwise the mask is wrong, and BUF015 reports
    it.
    """
    backed = [g for g in ports.qos.groups if g is not None and g.buffer is not None and g.buffer.lossless]
    written = [group for group in backed if not group.generated]
    return any(group.number == priority for group in written or backed)


def _unreached_violation(ports: PortSet, priority: int) -> Violation:
    dscp_map = ports.qos.dscp_to_tc
    assert dscp_map is not None
    kept = [other for other in ports.qos.pfc.priorities if other != priority]
    return Violation(
        origin=dscp_map.origin,
        message=f"no DSCP leads to TC {priority}, which PFC pauses: no packet that enters here uses it",
        note="what is meant to be lossless has another traffic class, and no pause protects it",
        help=f"map the DSCP of that traffic to it, or take {priority} out of pfc_enable",
        fix=port_rows([ports], ports.qos.pfc.origin, "pfc_enable", priority_list(kept)),
        data={"traffic_class": priority},
        severity="warning",
    ).on_ports(ports)


def _usual(device: Sequence[PortSet], bounced: set[int]) -> dict[int, int]:
    """Map the DSCPs that more than half of the ports give one lossless traffic class to that class, without DSCP 48."""
    usual: dict[int, int] = {}
    half = places(device) / 2
    for dscp in sorted({*DSCPS} - {DEFAULT_CNP_DSCP}):
        votes: dict[int, int] = {}
        for ports in device:
            tc = ports.qos.traffic_class(dscp) if ports.qos.dscp_to_tc else UNREADABLE
            if tc in ports.qos.pfc.priorities and tc not in bounced:
                votes[tc] = votes.get(tc, 0) + ports.places
        most = max(votes, key=votes.__getitem__, default=None)
        if most is not None and votes[most] > half:
            usual[dscp] = most
    return usual


def _against_most_violation(ports: PortSet, dscp: int, wanted: int) -> Violation:
    dscp_map, tc = ports.qos.dscp_to_tc, ports.qos.traffic_class(dscp)
    assert dscp_map is not None
    return Violation(
        origin=entry_or_map(dscp_map, dscp),
        message=f"DSCP {dscp} goes to lossy TC {tc} here; most ports of the switch map it to lossless TC {wanted}",
        note="packets of one flow are then lossless on some links and lossy on others",
        help=f'map it as the other ports do: "{dscp}": "{wanted}"',
        fix=entries(dscp_map, (dscp, wanted)),
        data={"dscp": dscp, "traffic_class": tc, "lossless": [wanted]},
        severity="warning",
        confidence="medium",
    ).on_ports(ports)


def _entries(ports: PortSet, cls: TrafficClass, paused: set[int], bounced: set[int]) -> Iterator[Violation]:
    accepted = {cls.priority} if cls.priority is not None else paused
    wanted = tuple(sorted(accepted - bounced)) or tuple(sorted(accepted))
    for dscp in cls.dscps:
        if ports.qos.traffic_class(dscp) not in (*accepted, UNREADABLE):
            yield _rdma_dscp_not_lossless(ports, cls, dscp, wanted)


def _rdma_dscp_not_lossless(
    ports: PortSet, cls: TrafficClass, dscp: int, wanted: tuple[int, ...]
) -> Violation:
    dscp_map = ports.qos.dscp_to_tc
    assert dscp_map is not None
    mapped, tc = dscp_map.targets[dscp], ports.qos.traffic_class(dscp)
    goes = f"maps to TC {tc}" if mapped is not None else "is not mapped and goes to TC 0"
    state = "lossless, for another class" if tc in ports.qos.pfc.priorities else "lossy"
    written = " or ".join(f'"{dscp}": "{other}"' for other in wanted)
    lossless = " or ".join(f"TC {other}" for other in wanted)
    note = f"lossless is {lossless}, by the priorities that PFC pauses"
    if cls.priority is not None:
        note = f"class {cls.name} is declared with TC {cls.priority}"
    return Violation(
        origin=dscp_map.entry_origin(dscp),
        message=f"DSCP {dscp} of class {cls.name} {goes}, which is {state}",
        note=note,
        help=f"map it to {'a lossless class' if cls.priority is None else f'class {cls.name}'}: {written}",
        data={"dscp": dscp, "traffic_class": tc, "lossless": list(wanted)},
        related=beside(dscp_map.origin, (ports.qos.pfc.origin, "the priorities that PFC pauses")),
        fix=entries(dscp_map, (dscp, wanted[0])) if len(wanted) == 1 else (),
    ).on_ports(ports)
