"""A switch of another system must keep the DSCPs of a lossless class lossless on every port that carries the class.

Severity: error
Subject: switch

## What it does
Follows each DSCP of a lossless class through the commands of a switch, with the defaults of its system where a command
is missing: the port must trust DSCP, PFC must pause the traffic class of the DSCP there, and frames with an RDMA MTU of
4096 must fit the port. With an intent the checked ports are those with PFC in it, including ports without any command,
and a class that only an undeclared priority pauses is reported too. With `--rdma-dscp` they are those with a command
about PFC or a lossless class, and where no port has one, the switch itself. Other ports carry no RDMA. Where the class
depends on data outside of the text, it is *not checked*: maps in another file, DCBX, and without an intent 802.1p tags;
with one, a port that trusts these is reported. Without either, an MTU that is too small at a port with PFC is a
warning.

## Why it breaks a lossless fabric
The class is lossless only where a port has all of these commands. Where one is missing at one port, RDMA is dropped
there under congestion, and no other port shows it.

## Bad
```text switch base=switch-leaf rdma-dscp=26
interface Ethernet1
   service-profile ROCE
   no priority-flow-control   # <- here
```

```text switch base=switch-leaf
interface Ethernet1
   service-profile ROCE
   mtu 1500   # <- here
```

```text switch base=switch-nxos rdma-dscp=26
interface Ethernet1/2
  no switchport
  priority-flow-control mode off   # <- here
  service-policy type qos input MARKS
```

## Good
```text switch base=switch-leaf
interface Ethernet2
   no switchport
   mtu 9100
   service-profile ROCE
```

## Fix
Give the port all commands that the other ports of the class have, or none of them where it carries no RDMA.

## Sources
- Arista, AI Network Fabric Deployment Guide (qos maps, trust and no-drop priorities make a class together)
- NVIDIA, Cumulus Linux 5.14, "RDMA over Converged Ethernet - RoCE" (what `qos roce` implies)
- Cisco, Nexus 9000 NX-OS QoS Configuration Guide 10.5(x), "Configuring Priority Flow Control"
- InfiniBand Architecture, supplement to volume 1 release 1.2.1, annex A17 (the headers of RoCEv2)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.checks.rules.base import MissingInput, Results, Violation, merged
from lossless.checks.rules.locations import beside, entry_or_map
from lossless.checks.rules.pfc.priorities import paused_class, paused_classes
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import listed, spell
from lossless.model.fabric.hosts import RDMA_HEADERS_BYTES, RDMA_MTUS
from lossless.model.fabric.qos import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.checks.rules.subjects import SwitchConfiguration
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.model import Port
    from lossless.model.fabric.qos import IndexMap, PortQos

LARGEST_PACKET_BYTES = RDMA_MTUS[0] + RDMA_HEADERS_BYTES
"""The largest IP packet of RoCEv2 in bytes, with an RDMA MTU of 4096."""


class _Break(NamedTuple):
    """The cause by which a port does not keep a DSCP lossless.

    ``origin`` is the place of the cause, ``what`` its text in the message, ``entry`` the place of the DSCP's entry in
    the DSCP map, None for a default and for causes that do not name it.
    """

    kind: Literal["trust", "pause", "priority", "entry"]
    origin: Origin
    what: str
    entry: Origin | None = None


def on_switch(switch: SwitchConfiguration) -> Results:
    """Yield a violation per cause by which DSCPs of lossless classes are lossy on ports, and per too small MTU."""
    classes = switch.read.switch.classes if switch.intended is None else switch.intended.classes
    if not switch.is_named:
        yield from merged(small for port in _pausing(switch) for small in _small(switch, port, "warning"))
        return
    dscps = sorted({dscp for cls in classes.lossless for dscp in cls.dscps})
    ports = _in_use(switch) if switch.intended is None else _intended(switch)
    if ports is None:
        yield MissingInput("no port of the intent has its name in the configuration")
        return
    if not ports and switch.intended is None and switch.read.rest is not None:
        yield from _nowhere(switch, dscps)
    results = [result for port in ports for dscp in dscps for result in _at(switch, port, dscp)]
    yield from (result for result in results if isinstance(result, MissingInput))
    yield from merged(result for result in results if isinstance(result, Violation))


def _up(switch: SwitchConfiguration) -> list[Port]:
    return [port for port in switch.view.fabric.switches[0].ports if port.qos and port.admin_up is not False]


def _pausing(switch: SwitchConfiguration) -> list[Port]:
    return [port for port in _up(switch) if port.qos and port.qos.pfc.priorities]


def _in_use(switch: SwitchConfiguration) -> list[Port]:
    """Return the ports that are not shut down and have a command about PFC or a lossless class."""
    inside = switch.read.inside
    return [port for port in _up(switch) if port.name in inside]


def _intended(switch: SwitchConfiguration) -> list[Port] | None:
    """Return the ports that have PFC in the intent and are not shut down in the text.

    A port without lines of its own has the text's defaults for other ports; None where the text has neither such
    defaults nor any of these ports.
    """
    assert switch.intended is not None
    have = {port.name: port for port in switch.read.switch.ports}
    used = [
        port.name
        for port in switch.intended.ports
        if port.admin_up is not False and port.placed and port.qos and port.qos.pfc.priorities
    ]
    if used and have.keys().isdisjoint(used) and switch.read.rest is None:
        return None
    found = [have[name] if name in have else _like_rest(switch, name) for name in used]
    return [port for port in found if port is not None and port.qos and port.admin_up is not False]


def _like_rest(switch: SwitchConfiguration, name: str) -> Port | None:
    rest = switch.read.rest
    return None if rest is None else rest._replace(name=name)


def _nowhere(switch: SwitchConfiguration, dscps: Sequence[int]) -> Iterator[Violation]:
    """Yield the violation of a switch where no port is in use for RDMA; nothing where all ports are shut down."""
    ports = _up(switch)
    if not ports:
        return
    maps = [port.qos.dscp_to_tc for port in ports if port.qos and port.qos.dscp_to_tc]
    entries = [_written(index_map, dscp) for index_map in maps for dscp in dscps]
    yield Violation(
        origin=switch.read.switch.origin,
        message=f"DSCP {listed([*map(str, dscps)])} is lossy on every port: none has PFC on for any priority",
        help="configure the class, or leave the switch out where it carries no RDMA",
        elements=_elements(switch, ports),
        data={"cause": "nowhere", "dscps": [*dscps]},
        related=beside(switch.read.switch.origin, *((entry, "the entry of the DSCP") for entry in entries)),
    )


def _at(switch: SwitchConfiguration, port: Port, dscp: int) -> Results:
    """Yield the violation of a DSCP lossy at a port; else its missing input, if any, and that of a too small MTU."""
    assert port.qos is not None
    found = _break_of(switch, port, port.qos, dscp)
    if isinstance(found, MissingInput):
        yield found
    if isinstance(found, _Break):
        yield Violation(
            origin=found.origin,
            message=f"{found.what}: DSCP {dscp} is lossy here",
            help=_HELP[found.kind],
            note="what congests there is dropped, for no pause protects it",
            elements=_elements(switch, [port]),
            data={"cause": found.kind, "dscp": dscp},
            related=beside(found.origin, (found.entry, "the entry of the DSCP")),
            conclusive=found.kind != "entry",
        )
    else:
        yield from _small(switch, port, "error")


def _break_of(
    switch: SwitchConfiguration, port: Port, qos: PortQos, dscp: int
) -> _Break | MissingInput | None:
    if any(port.name in undefined.ports for undefined in switch.read.undefined):
        return None  # CFG002 reports the undefined name.
    if port.name in switch.read.unstated:
        return MissingInput("what the port makes of marks stands in another part of the configuration")
    nothing = None
    silent = {name for name, _ in switch.read.silent}
    if not qos.pfc.priorities and port.name not in (switch.read.undecided.keys() | silent):
        # The DSCP is lossy in every class there; PFC018 reports ports where PFC is on.
        nothing = _Break("pause", qos.pfc.origin, "PFC is on for no priority")
    if qos.dscp_to_tc is None:
        if qos.trust_dot1p and port.name not in switch.read.untagged and switch.intended is None:
            return nothing or MissingInput(
                "the port goes by 802.1p, and the text does not say which tags arrive"
            )
        return _Break("trust", qos.origin, "the port does not read DSCP")
    traffic_class = qos.traffic_class(dscp)
    if traffic_class == UNREADABLE:
        return nothing or MissingInput(f"the traffic class of DSCP {dscp} is not known")
    paused = paused_classes(qos)
    if traffic_class in paused:
        pausing = [p for p in qos.pfc.priorities if paused_class(qos, p) == traffic_class]
        return _by_another_priority(switch, qos, traffic_class, pausing)
    elsewhere = {number for other in _up(switch) if other.qos for number in _lossless(other.qos)}
    if traffic_class in elsewhere and port.name in switch.read.undecided:
        pausing = [*qos.pfc_to_pg.sources(traffic_class)] if qos.pfc_to_pg is not None else []
        undecided = MissingInput(switch.read.undecided[port.name])
        return _by_another_priority(switch, qos, traffic_class, pausing) or undecided
    entry, declared = _written(qos.dscp_to_tc, dscp), _declared(switch)
    if paused and traffic_class not in elsewhere | declared:
        origin = entry_or_map(qos.dscp_to_tc, dscp)
        what = f"DSCP {dscp} goes to traffic class {traffic_class}, which is not paused"
        return _Break("entry", origin, what)
    what = f"PFC does not pause traffic class {traffic_class}"
    return _Break("pause", qos.pfc.origin, what if paused else f"{what}, nor any other", entry)


def _by_another_priority(
    switch: SwitchConfiguration, qos: PortQos, traffic_class: int, pausing: Sequence[int]
) -> _Break | None:
    """Return the break of a class that is paused only by priorities of no lossless class of the intent, else None."""
    wanted = _declared(switch)
    if not wanted or not pausing or not wanted.isdisjoint(pausing):
        return None
    have, want = spell(pausing), spell(sorted(wanted))
    what = f"traffic class {traffic_class} is paused by {have}, which the intent has by {want}"
    return _Break("priority", qos.pfc.origin, what)


def _lossless(qos: PortQos) -> set[int]:
    return {group.number for group in qos.groups if group is not None and group.lossless}


def _declared(switch: SwitchConfiguration) -> set[int]:
    classes = switch.intended.classes.lossless if switch.intended is not None else ()
    return {cls.priority for cls in classes if cls.priority is not None}


def _written(index_map: IndexMap, dscp: int) -> Origin | None:
    """Return the origin of the entry of a DSCP; None where the entry is a default."""
    origin = index_map.entry_origin(dscp)
    return origin if origin.path else None


def _small(
    switch: SwitchConfiguration, port: Port, severity: Literal["error", "warning"]
) -> Iterator[Violation]:
    mtu = port.mtu_bytes
    if isinstance(mtu, int) and mtu < LARGEST_PACKET_BYTES:
        yield Violation(
            origin=switch.read.mtus.get(port.name, port.origin),
            message=f"the MTU is {mtu:,} B, and packets of RDMA have up to {LARGEST_PACKET_BYTES:,} B: "
            "they are dropped here",
            note="with the RDMA MTU of 4096 that hosts choose where theirs allows it",
            help="set the MTU of the port to 9216",
            elements=_elements(switch, [port]),
            data={"cause": "mtu", "mtu": mtu},
            severity=severity,
        )


def _elements(switch: SwitchConfiguration, ports: Sequence[Port]) -> tuple[str, ...]:
    return tuple(f"{switch.read.switch.name}:{port.name}" for port in ports)


_HELP = {
    "trust": "trust DSCP at the port",
    "pause": "turn PFC on at the port, with the class of the DSCP no-drop",
    "priority": "pause the class by the priority that the intent declares",
    "entry": "map it to the lossless class",
}
