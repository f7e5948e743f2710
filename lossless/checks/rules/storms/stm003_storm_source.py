"""The source of a pause storm.

Severity: error
Subject: running fabric

## What it does
From each queue that is stormed, or of which the watchdog detected a storm between the captures, follows the pauses: to
the neighbor that sends them, by the links of an intent or by `DEVICE_NEIGHBOR`, or by LLDP without these or against
them, and on from the ports at which that one is paused: those that the watchdog found stormed, else all. Traffic from a
tier above is followed down only. The walk ends at a host, an error where its port is stormed and a warning where that
is only paused, or at a switch that sends pauses and receives none at its onward ports: a warning. There an egress port
at line rate means an incast, which is congestion and no fault of a device. A switch on the way without captures, with
those of another time, with counters since boot alone or of a part of its ports, ends the walk: it is not checked. A
storm from a host at the stormed port itself is reported by STM001 alone.

## Why it breaks a lossless fabric
Every switch between the source and the stormed port is paused, and so are hosts that never send to it. All of them show
pauses, and only the end of the chain is the cause: taking off the wrong host, or switch, changes nothing.

## Bad
```text capture beside=leaf-spine.yaml
admin@spine1:~$ show pfcwd stats
      QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP
-----------  -----------  -------------------------  ------------  ------------
Ethernet0:3      stormed                        1/0       0/90769    6782/89758   # <- here
admin@leaf1:~$ show pfcwd stats
      QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP
-----------  -----------  -------------------------  ------------  ------------
Ethernet8:3      stormed                        1/0       0/46416  11240/361565
admin@leaf1:~$ show pfc counters
    Port Rx    PFC0    PFC1    PFC2     PFC3    PFC4    PFC5    PFC6    PFC7
-----------  ------  ------  ------  -------  ------  ------  ------  ------
  Ethernet8       0       0       0  5312044       0       0       0       0
 Ethernet32       0       0       0        0       0       0       0       0
    Port Tx    PFC0    PFC1    PFC2     PFC3    PFC4    PFC5    PFC6    PFC7
-----------  ------  ------  ------  -------  ------  ------  ------  ------
  Ethernet8       0       0       0        0       0       0       0       0
 Ethernet32       0       0       0   161502       0       0       0       0
```

## Good
```text capture beside=leaf-spine.yaml
admin@leaf1:~$ show pfcwd stats
      QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP
-----------  -----------  -------------------------  ------------  ------------
Ethernet8:3  operational                        0/0           0/0           0/0
admin@leaf1:~$ show pfc counters
    Port Rx    PFC0    PFC1    PFC2     PFC3    PFC4    PFC5    PFC6    PFC7
-----------  ------  ------  ------  -------  ------  ------  ------  ------
  Ethernet8       0       0       0  5312044       0       0       0       0
 Ethernet32       0       0       0        0       0       0       0       0
```

## Fix
Restart the NIC of the host that is named, or take it off the fabric. Of an incast, spread the traffic, or let DCQCN
slow it down before PFC does.

## Sources
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, sections 4.3 (one NIC pauses a whole fabric) and 6.2
- sonic-swss orchagent/pfcwdsworch.cpp @e6b0c5b: the watchdog's queue has the number of the priority in its mask
- sonic-swss orchagent/port_rates.lua @0e7cda2, sonic-buildimage dockers/docker-orchagent/enable_counters.py @287699f:
  rates are averages that take 0.18 of each new second, so 12 s at line rate show 91 %, and a port counts as full from
  90 % on
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.counting import each
from lossless.checks.rules.host_counters.nics import nics
from lossless.checks.rules.storms.pause_walk import (
    STORMED,
    PausedPort,
    PauseSource,
    PauseWalk,
    is_storm,
    leading_back,
)
from lossless.ground.basics.findings import RelatedPlace, grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.checks.rules.running_subjects import RunningDevice, RunningFabric
    from lossless.ground.basics.findings import Origin, Severity

_LINE_RATE = 0.9
"""Part of its rate from which an egress port is full. SONiC shows an average that takes 0.18 of the rate of each poll
(sonic-buildimage dockers/docker-orchagent/enable_counters.py: 2/(N+1) for an interval of 10 polls): after 12 polls at
line rate it shows 0.91 of it, and never more than the rate itself. A lower value may be a younger incast."""
_GAP_BYTES = 20
"""Preamble and gap of a frame on the wire (IEEE 802.3), which rates of SONiC leave out."""


class _Storm(NamedTuple):
    """A stormed queue: its port, the origin of its watchdog status, and whether the storm goes on."""

    at: PausedPort
    origin: Origin
    goes_on: bool


class _Verdict(NamedTuple):
    """The verdict on a source of pauses: its severity, and its texts for message, note and help."""

    severity: Severity
    what: str
    note: str
    help: str


def throughout(fabric: RunningFabric) -> Results:
    """Yield a violation per priority and source of storms, at the stormed queue farthest from it.

    None for a host at the stormed port; a missing input where the walk stops, or pauses lead back and show no incast.
    """
    storms = [(queue, storm) for device in fabric.devices for queue, storm in _storms(device)]
    for priority, of_priority in grouped(storms).items():
        walk = PauseWalk(fabric, priority)
        steps = [(storm, step) for storm in of_priority for step in walk.sources(storm.at)]
        yield from {step for _, step in steps if isinstance(step, MissingInput)}
        reached = [(storm, step) for storm, step in steps if isinstance(step, PauseSource)]
        for same in grouped((step.name, (storm, step)) for storm, step in reached).values():
            if any(_is_far(step) for _, step in same):
                yield _said(walk, priority, same)


def _storms(device: RunningDevice) -> Iterator[tuple[str, _Storm]]:
    """Yield the queues that are stormed, or were between the captures."""
    for placed in each(device.state, "pfcwd_status", "port", "queue"):
        if is_storm(device, placed):
            at = PausedPort(device, placed.part("port") or "")
            goes_on = placed.reading.value == STORMED
            yield placed.part("queue") or "", _Storm(at, placed.origin, goes_on)


def _is_far(source: PauseSource) -> bool:
    """Return whether the walk from the storm to the source reaches another switch."""
    return source.switch is not None or len(source.path) > 1


def _said(
    walk: PauseWalk, priority: str, same: Sequence[tuple[_Storm, PauseSource]]
) -> Violation | MissingInput:
    """Return the violation, or the missing input, for one source and the storms whose pauses come from it."""
    storm, source = max(same, key=lambda pair: len(pair[1].path))
    others = [other for other, _ in same if other is not storm]
    if source.switch is None:
        return _storm_source(priority, storm, source, _of_host(walk, source, priority), others)
    # Rates are those of now, and do not describe a storm that is over.
    goes_on = any(one.goes_on for one, _ in same)
    full = _full_egress(walk, source) if goes_on else None
    if source.leads_back and not full:
        return leading_back(storm.at)
    return _storm_source(priority, storm, source, _of_switch(walk, source, full), others)


def _storm_source(
    priority: str, storm: _Storm, source: PauseSource, verdict: _Verdict, others: Sequence[_Storm]
) -> Violation:
    return Violation(
        origin=storm.origin,
        message=f"the pauses of priority {priority} that storm {storm.at.shown} come from {verdict.what}",
        note=f"{' < '.join([*(at.shown for at in source.path), source.name])}; {verdict.note}",
        help=verdict.help,
        elements=tuple(f"{at.device.name}:{at.port}:{priority}" for at in source.path),
        related=tuple(
            RelatedPlace(other.origin, f"{other.at.shown} is paused by it too") for other in others
        ),
        severity=verdict.severity,
        data={"source": source.name, "path": [at.shown for at in source.path]},
    )


def _of_host(walk: PauseWalk, source: PauseSource, priority: str) -> _Verdict:
    """Return the verdict on a host: an error only where the watchdog found the port that leads to it stormed."""
    last = source.path[-1]
    stormed = walk.is_stormed(last)
    doubt = "" if stormed else f", but not stormed: {last.device.name} may be congested itself"
    note = f"{last.shown} is paused{doubt}, and only the host is behind it{_sent_by(walk, source, priority)}"
    return _Verdict(
        "error" if stormed else "warning",
        f"{source.name} at {last.shown}",
        note,
        f"restart the NIC of {source.name}, or take it off",
    )


def _sent_by(walk: PauseWalk, source: PauseSource, priority: str) -> str:
    """Return the count of pauses that the NICs of a host sent, as words; empty where no capture has it."""
    host = walk.device(source.name)
    if host is None:
        return ""
    sent = [
        (placed.number or 0, nic.window)
        for nic in nics(host)
        for number, placed in nic.parts("pfc_tx", "priority").items()
        if str(number) == priority
    ]
    total = sum(count for count, _ in sent)
    if not sent:
        return ""
    counted = f"have sent {total:,}" if total else "count none, as a NIC does that has failed"
    return f"; its NICs {counted} {sent[0][1]}"


def _of_switch(walk: PauseWalk, source: PauseSource, full: Sequence[str] | None) -> _Verdict:
    """Return the verdict on a switch; ``full`` are ports that send at line rate, None where that is not known."""
    sends = f"{source.name}, which sends pauses and receives {_received(walk, source)}"
    if full is None:
        note = "the rates of its egress ports in the storm are not captured: it may be an incast"
        return _Verdict("warning", sends, note, f"capture show interfaces counters of {source.name}")
    if full:
        note = (
            f"{', '.join(full)} {'runs' if len(full) == 1 else 'run'} at line rate, and no device is at fault"
        )
        return _Verdict(
            "warning", f"an incast at {source.name}", note, "spread the traffic, or let DCQCN slow it down"
        )
    note = "none of its egress ports shows line rate: one is slow, or it is an incast of a few seconds"
    return _Verdict(
        "warning", sends, note, f"look for a port of {source.name} that is slow or does not drain"
    )


def _received(walk: PauseWalk, source: PauseSource) -> str:
    """Return the pauses that a switch receives at its onward ports, as words."""
    assert source.switch is not None
    paused = walk.paused_onward(source.switch, source.path[-1].device)
    ports = () if isinstance(paused, MissingInput) else paused
    return f"some at {listed([at.port for at in ports])}, which is no storm" if ports else "none"


def _full_egress(walk: PauseWalk, source: PauseSource) -> tuple[str, ...] | None:
    """Return the ports onward that send at line rate; None where the rate of some port is not known."""
    device = source.switch
    assert device is not None
    full = []
    for port in device.ports.values():
        if port.admin_up is not True or not walk.goes_on(device, port.name, source.path[-1].device):
            continue
        sent = device.state.value("out_rate", port=port.name)
        packets = device.state.value("out_packet_rate", port=port.name)
        if not isinstance(sent, int | float) or port.speed_bps is None:
            return None
        gaps = _GAP_BYTES * packets if isinstance(packets, int | float) else 0
        if (sent + gaps) * 8 >= _LINE_RATE * port.speed_bps:
            full.append(port.name)
    return tuple(full) if device.ports else None
