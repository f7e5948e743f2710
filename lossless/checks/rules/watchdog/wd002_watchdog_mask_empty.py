"""The watchdog must watch every priority that has PFC.

Severity: error
Fix: unsafe
Subject: fabric

## What it does
Compares `pfcwd_sw_enable` with `pfc_enable` on each port with a `PFC_WD` row: the watchdog takes its priorities from
the first, never from the second. A mask that is missing, empty or leaves a priority out is an error. Priorities 2 and 6
may be left out: tunnel remapping adds them to `pfc_enable` alone. So may a priority whose traffic has no headroom;
there PFC itself is the mistake. A port without a `PFC_WD` row is WD001's, except on a switch that has none yet while
other ports have a mask. Before database version 3_0_5 the device fills the mask in itself; a file without a version is
checked as it is.

## Why it breaks a lossless fabric
With an empty mask the watchdog never starts: orchagent finds no lossless TC and keeps retrying, and
`pfcwd show config` still prints the port as if it were watched. A stuck NIC then pauses the port permanently, and the
pause propagates until the hosts of the fabric are stalled.

## Bad
```json config_db base=leaf
{
  "PORT_QOS_MAP": {"Ethernet4": {
    "pfcwd_sw_enable": ""   // <- here
  }}
}
```

```json config_db base=leaf
{
  "PORT_QOS_MAP": {"Ethernet8": {
    "pfc_enable": "3",   // <- here
    "pfcwd_sw_enable": null
  }}
}
```

## Good
```json config_db base=leaf
{
  "PORT_QOS_MAP": {"Ethernet4": {
    "pfc_enable": "3",
    "pfcwd_sw_enable": "3"
  }}
}
```

## Fix
Set `pfcwd_sw_enable` to the priorities of `pfc_enable`. The watchdog reads the mask when it starts, so run
`pfcwd stop` and `pfcwd start` on the port afterward.

## Sources
- sonic-swss orchagent/pfcwdorch.cpp @e6b0c5b (no lossless TC: the row is tried again)
- sonic-utilities scripts/db_migrator.py @691b1bb (version 3_0_4 to 3_0_5 fills the mask in)
- sonic-buildimage files/build_templates/qos_config.j2 @086b03b (tunnel remapping)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.fixes import port_rows
from lossless.checks.rules.locations import counted_lossy
from lossless.checks.rules.pfc.priorities import REMAPPED
from lossless.formats.sonic.read.tables import priority_list
from lossless.ground.basics.findings import grouped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.qos import PortQos
    from lossless.model.fabric.view import PortSet, View

_FILLED_IN_BEFORE = (3, 0, 5)


def check(view: View) -> Results:
    """Yield a violation per switch and kind of mask that leaves priorities with PFC unwatched.

    Old databases, whose masks the device fills in itself, are left out.
    """
    groups = grouped(
        (
            (id(ports.switch), ports.qos.pfc.priorities, _mask(ports.qos), ports.qos.watchdog_mask is None),
            ports,
        )
        for ports in _to_be_watched(view)
        if unwatched(ports.qos) and not _filled_in(ports.switch.qos.database_version)
    )
    yield from (_watchdog_mask_empty(sets) for sets in groups.values())


def _to_be_watched(view: View) -> Iterator[PortSet]:
    """Yield ports that have a watchdog, or will have one once the switch gets its rows."""
    started = {id(ports.switch) for ports in view.lossless_sets if ports.qos.watchdog}
    masked = {id(ports.switch) for ports in view.lossless_sets if _mask(ports.qos)}
    for ports in view.lossless_sets:
        switch = id(ports.switch)
        if ports.qos.watchdog or (switch in masked and switch not in started):
            yield ports


def _mask(qos: PortQos) -> tuple[int, ...]:
    return qos.watchdog_mask.priorities if qos.watchdog_mask else ()


def unwatched(qos: PortQos) -> tuple[int, ...]:
    """Return the priorities with PFC that the watchdog leaves out and should not."""
    mask = _mask(qos)
    left_out = (p for p in qos.pfc.priorities if p not in mask)
    return tuple(p for p in left_out if not mask or (p not in REMAPPED and not counted_lossy(qos, p)))


def _to_watch(qos: PortQos) -> tuple[int, ...]:
    """Return the corrected mask; for an empty one, without the priorities that tunnel remapping adds elsewhere."""
    mask, left_out = _mask(qos), unwatched(qos)
    # Remapped priorities never count as missing from a mask that is not empty.
    if set(left_out) > REMAPPED:
        return tuple(p for p in left_out if p not in REMAPPED)
    return tuple(sorted({*mask, *left_out}))


def _filled_in(version: str | None) -> bool:
    """Return whether the device fills the mask in when it starts: databases older than 3_0_5."""
    numbers = tuple(int(part) for part in (version or "").split("_") if part.isdecimal())
    return bool(numbers) and numbers < _FILLED_IN_BEFORE


def _watchdog_mask_empty(sets: list[PortSet]) -> Violation:
    qos, version = sets[0].qos, sets[0].switch.qos.database_version
    mask, left_out = qos.watchdog_mask, unwatched(qos)
    on = _list(qos.pfc.priorities)
    if mask is None:
        outcome = "pfcwd_sw_enable is missing: the watchdog never starts"
    elif not mask.priorities:
        outcome = "pfcwd_sw_enable is empty: the watchdog never starts"
    else:
        outcome = f"the watchdog watches {_list(mask.priorities)} and leaves out {_list(left_out)}"
    return Violation(
        origin=qos.pfc.origin if mask is None else mask.origin,
        message=f"PFC is on for {on}, and {outcome}",
        note="orchagent takes the priorities to watch from pfcwd_sw_enable alone"
        + ("" if version else "; a config reload would fill it in where the file really has no VERSIONS"),
        help=f'set "pfcwd_sw_enable": "{priority_list(_to_watch(qos))}" and restart the watchdog',
        data={"pfc": list(qos.pfc.priorities), "watched": list(_mask(qos)), "unwatched": list(left_out)},
        confidence=None if version else "medium",
        fix=port_rows(
            sets,
            qos.pfc.origin,
            "pfcwd_sw_enable",
            priority_list(_to_watch(qos)),
        ),
    ).on_ports(*sets)


def _list(priorities: tuple[int, ...]) -> str:
    noun = "priority" if len(priorities) == 1 else "priorities"
    return f"{noun} {', '.join(map(str, priorities))}"
