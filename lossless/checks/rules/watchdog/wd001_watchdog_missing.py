"""Every port with PFC needs the PFC watchdog.

Severity: error
Subject: fabric, switch

## What it does
Looks for a watchdog on each port that has PFC on and is not down. With an intent, a missing watchdog is an error. A
deployed file proves less: `pfcwd start_default` writes the rows on the running switch, so a file without any row is one
warning; a fragment without PORT rows, which never holds them, is not reported. Where some PFC ports have a row and
others have none, those others are an error, and so is a file without any row that has `default_pfcwd_status` on
`disable`: that command then writes none. On a switch that runs another system, a port with PFC on and no priority to
pause yet is reported as information.

## Why it breaks a lossless fabric
A stuck NIC pauses its switch port permanently. The pause propagates hop by hop until hosts in the whole fabric are
stalled, and the job hangs rather than fails. On the switch only the watchdog ends it;
some NICs end it by themselves (WD015).

## Bad
```yaml intent base=leaf-spine
pfc:
  watchdog: off   # <- here
```

```json config_db base=leaf
{
  "PFC_WD": {
    "Ethernet4": null
  },
  "PORT_QOS_MAP": {"Ethernet4": {
    "pfc_enable": "3"   // <- here
  }}
}
```

```json config_db base=leaf
{
  "DEVICE_METADATA": {"localhost": {"default_pfcwd_status": "disable"}},
  "PFC_WD": null,
  "PORT_QOS_MAP": {"Ethernet0": {
    "pfc_enable": "3"   // <- here
  }}
}
```

## Good
```yaml intent base=leaf-spine
pfc:
  watchdog: {poll: 600ms, detection: 1200ms, restoration: 1200ms}
```

```json config_db base=leaf
{
  "PFC_WD": {
    "Ethernet4": {"action": "drop", "detection_time": "400", "restoration_time": "400"}
  }
}
```

## Fix
Declare `pfc.watchdog` in the intent; on a switch, `pfcwd start_default` writes a row for every port.
`default_pfcwd_status` alone starts nothing after `config reload`: without rows no watchdog runs.

## Sources
- Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, sections 4.3 and 6.2
- sonic-utilities pfcwd/main.py @691b1bb
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.ecn_marking import WATCHDOG_ELSEWHERE, watchdog_elsewhere
from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.locations import places
from lossless.ground.basics.findings import RelatedPlace, grouped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.checks.rules.subjects import SwitchConfiguration
    from lossless.model.fabric.model import Port
    from lossless.model.fabric.view import PortSet, View

_WHY = "a stuck NIC pauses the port permanently, and the pause propagates through the fabric"


def check(view: View) -> Results:
    """Yield a violation per set of ports with PFC and no watchdog; one per deployed switch where none has one."""
    for sets in grouped((id(ports.switch), ports) for ports in view.lossless_sets).values():
        missing = [ports for ports in sets if ports.qos.watchdog is None]
        if view.fabric.declared:
            yield from map(_undeclared, missing)
        elif len(missing) < len(sets):
            yield from map(_port_without_row, missing)
        elif watchdog_elsewhere(sets[0].switch):
            yield MissingInput(WATCHDOG_ELSEWHERE, places(missing))
        else:
            yield _device_without_rows(missing)


def on_switch(switch: SwitchConfiguration) -> Results:
    """Yield a violation for unwatched ports of another system with PFC on, where no port pauses a priority yet."""
    name, view = switch.read.switch.name, switch.view
    silent = [port for port, _ in switch.read.silent if _unwatched(view.port(name, port))]
    if silent and not view.lossless_sets:
        yield Violation(
            origin=switch.read.silent[0][1],
            message="PFC is on and no port has a watchdog",
            note=_WHY,
            help="turn the watchdog on for every port with PFC",
            severity="info",
            elements=tuple(f"{name}:{port}" for port in silent),
        )


def _unwatched(port: Port | None) -> bool:
    return port is not None and port.qos is not None and port.qos.watchdog is None


def _undeclared(ports: PortSet) -> Violation:
    return Violation(
        origin=ports.switch.qos.poll.origin,
        message="PFC is on and no watchdog is declared",
        note=_WHY,
        help="declare pfc.watchdog, for example {poll: 600ms, detection: 1200ms, restoration: 1200ms}",
    ).on_ports(ports)


def _port_without_row(ports: PortSet) -> Violation:
    return Violation(
        origin=ports.qos.pfc.origin,
        message="PFC is on and the port has no PFC_WD row, though other ports of the switch have one",
        note=_WHY,
        help=f"pfcwd start on {ports.ports[0].name}, or add its row to PFC_WD",
    ).on_ports(ports)


def _device_without_rows(sets: Sequence[PortSet]) -> Violation:
    disabled = sets[0].switch.qos.no_default_watchdog
    if disabled is not None:
        return Violation(
            origin=sets[0].qos.pfc.origin,
            message="PFC is on, no port has a PFC_WD row, and the switch starts no watchdog by default",
            note=_WHY,
            help="pfcwd start on all ports with PFC; save the configuration",
            related=(RelatedPlace(disabled, "pfcwd start_default writes no rows"),),
        ).on_ports(*sets)
    return Violation(
        origin=sets[0].qos.pfc.origin,
        message="PFC is on and no port has a PFC_WD row; after a config reload no watchdog runs",
        note="pfcwd start_default writes the rows on the running switch; this file does not have them",
        help="save the configuration after pfcwd start_default",
        severity="warning",
    ).on_ports(*sets)
