"""A port with PFC needs a cable length other than 0m.

Severity: error
Subject: fabric

## What it does
Looks for ports in service with PFC on whose cable length is missing, `0m`, or no whole number of meters. Without a
lossless group of their own this is an error. It is a warning where no DSCP is named and the file names no neighbors, so
that the wired ports are unknown. A group that is configured by hand does not change without a length: in the
traditional buffer model it is a warning where it still names the profile of some length, else only information. Ports
that are down or have no neighbor are left alone. Files without any cable length that are parts of a configuration (no
PORT rows, or no buffer pools), or whose groups are all set by hand, are not checked.

## Why it breaks a lossless fabric
SONiC derives the lossless groups of a port from speed and length, in the dynamic buffer model also the headroom of
groups that have a row, and skips a port without a length. PFC is then on without headroom, and packets of the lossless
class drop. Whether the port sends a pause before it drops depends on the chip: on `broadcom-dnx`, pauses for groups
with a lossy profile were reported.

## Bad
```json config_db base=leaf
{
  "CABLE_LENGTH": {"AZURE": {
    "Ethernet4": "0m"   // <- here
  }},
  "BUFFER_PG": {"Ethernet4|3": null}
}
```

## Good
```json config_db base=leaf
{
  "CABLE_LENGTH": {"AZURE": {
    "Ethernet4": "5m"
  }},
  "BUFFER_PG": {"Ethernet4|3": null}
}
```

## Fix
Set the length in `CABLE_LENGTH|AZURE` to the next row of the HWSKU that is not shorter than the cable.

## Sources
- sonic-swss cfgmgr/buffermgr.cpp and buffermgrdyn.cpp (refreshPgsForPort) @e6b0c5b
- sonic-net/sonic-swss pull request 3548 (no profile for 0m); sonic-net/SONiC issue 480 (drops with PFC on, headroom 0)
- sonic-net/sonic-mgmt issue 13503 (`broadcom-dnx`: the lossy maximum is above the XOFF threshold, and PFC frames come)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.model.hardware.buffers import is_pg_profile_name

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Severity
    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.view import PortSet, View


def check(view: View) -> Results:
    """Yield a violation per set of ports of a device in service with PFC and no readable cable length above 0 m.

    In the dynamic model only ports with a computed group count.
    """
    if view.fabric.declared:
        return
    for ports in view.lossless_sets:
        switch = ports.switch
        if ports.cable.configured_m or (switch.qos.buffer_model == "dynamic" and not _without_group(ports)):
            continue
        if switch.lacks_lengths or not (
            _without_group(ports) or any(port.cable.configured_m is not None for port in switch.ports)
        ):
            yield MissingInput("the file has no cable lengths", ports.places)
            continue
        wired = tuple(port for port in ports.ports if _in_service(switch, port))
        if wired:
            yield _cable_length_missing(ports._replace(ports=wired, cable=wired[0].cable))


def _in_service(switch: Switch, port: Port) -> bool:
    """Return whether a port is up and, in a file that names neighbors, has a neighbor."""
    return port.admin_up is True and (port.neighbor is not None or not switch.names_neighbors)


def _cable_length_missing(ports: PortSet) -> Violation:
    missing = _without_group(ports)
    is_sure = ports.switch.names_neighbors or ports.switch.classes.knowledge != "inferred"
    severity: Severity = "error" if is_sure else "warning"
    left_over, dynamic = _left_over(ports), ports.switch.qos.buffer_model == "dynamic"
    with_groups: Severity = "warning" if left_over else "info"
    outcome = "so it gets no lossless group" if missing else "its lossless group is set by hand"
    if left_over and not missing:
        outcome = f"its lossless group keeps {left_over}"
    return Violation(
        origin=ports.cable.origin,
        message=f"PFC is on and the port has {_length(ports)}, {outcome}",
        note=f"buffermgrd {'computes headroom from' if dynamic else 'looks headroom up by'} speed and length, "
        "and skips a port without a length"
        if missing
        else "the group stays as it is written; buffermgrd skips a port without a length",
        help=f"set CABLE_LENGTH of {ports.ports[0].name} to "
        + ("the length of its cable" if dynamic else "the next longer row of the HWSKU"),
        data={"priorities": list(missing or ports.qos.pfc.priorities), "speed_bps": ports.speed_bps},
        severity=severity if missing else with_groups,
    ).on_ports(ports)


def _without_group(ports: PortSet) -> list[int]:
    """Return the PFC priorities without a group, in the dynamic model those whose group is computed from the length."""
    groups = ((priority, ports.qos.groups[priority]) for priority in ports.qos.pfc.priorities)
    if ports.switch.qos.buffer_model == "dynamic":
        # PFC005 reports groups without a row.
        return [priority for priority, group in groups if group is not None and group.generated]
    return [priority for priority, group in groups if group is None]


def _left_over(ports: PortSet) -> str:
    """Return the name of the generated profile of some length that a lossless group names; empty without one."""
    groups = (ports.qos.groups[priority] for priority in ports.qos.pfc.priorities)
    names = (group.buffer.name for group in groups if group is not None and group.buffer is not None)
    return next(filter(is_pg_profile_name, names), "")


def _length(ports: PortSet) -> str:
    if ports.cable.configured_m == 0:
        return "a cable length of 0m"
    return (
        "no cable length"
        if ports.cable.origin.mark == "key"
        else "a cable length that is no whole number of meters"
    )
