"""The rows of a lossless class must have their declared effect when orchagent programs them.

Severity: error
Subject: device

## What it does
Applies the rows of a deployed switch as its daemons do: in the order of keys, each only where the rows that it refers
to exist, with generated groups where cable and speed have a row. Then it follows every DSCP of a lossless class on each
port that pauses a priority, has a lossless group or a watchdog: its traffic class must be counted in a group with
headroom, PFC must pause for that group, and received pauses must stop the queue it leaves by. The finding is the row
that makes the DSCP lossy: one that waits, is dropped, throws, or maps it elsewhere. Where `--rdma-dscp` names a DSCP
and no port takes part, the finding is the switch itself, unless `[[ports]]` in lossless.toml declares that its ports
carry no RDMA. The rows that a vendor's SAI refuses are not known. A port that classifies by 802.1p is left out, and so
is one whose groups depend on the headroom rows of an unknown HWSKU.

## Why it breaks a lossless fabric
The files look complete, and the switch drops. One row that orchagent cannot apply takes others with it: a map takes the
whole rows of its ports, a throwing row all rows behind it, and a buffer row that is never applied the whole switch: no
port gets any QoS, and none comes up.

## Bad
```json config_db base=leaf rdma-dscp=26
{
  "TC_TO_QUEUE_MAP": {"AZURE": {
    "3": "9"   // <- here
  }}
}
```

```json config_db base=leaf
{
  "BUFFER_PG": {
    "Ethernet0|7": {}   // <- here
  }
}
```

## Good
```json config_db base=leaf rdma-dscp=26
{
  "TC_TO_QUEUE_MAP": {"AZURE": {
    "3": "3"
  }}
}
```

## Fix
Correct or remove the row that is named. Where it waits, add the row that it waits for.

## Sources
- sonic-swss orchagent/orch.cpp, qosorch.cpp, bufferorch.cpp, portsorch.cpp, cfgmgr/buffermgr.cpp @e6b0c5b
- sonic-utilities pfcwd/main.py @a7c6cb4 (a watchdog is started on ports with PFC alone)
- opencomputeproject/SAI inc/saiqosmap.h @c67f115 (what a map has no entry for gets 0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation, merged
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.effective.chain import Break
    from lossless.formats.sonic.effective.objects import Fate
    from lossless.ground.basics.findings import Json, Origin
    from lossless.model.fabric.model import Switch
    from lossless.model.fabric.qos import PortQos

Lossy = tuple["Break", tuple[str, int]]
"""A cause, and a port and a DSCP that it makes lossy."""


def check(device: Device) -> Results:
    """Yield a violation per cause that makes DSCPs of a lossless class lossy, else one where no port carries it.

    Causes that other rules report are left out.
    """
    wanted = list(_wanted(device)) if device.tables.makes_ports else []
    if not wanted:
        yield from _nowhere(device)
        return
    undecided = {name for name, _ in wanted} & device.programmed.undecided
    if undecided:
        yield MissingInput("the headroom rows of its HWSKU are not known", len(undecided))
    yield from _by_tags(device, {name for name, _ in wanted})
    by_cause = grouped(_lossy(device, wanted))
    yield from merged(_class_not_programmed(device, cause, lossy) for cause, lossy in by_cause.items())


def _nowhere(device: Device) -> Iterator[Violation]:
    """Yield a violation where no port of a switch takes part in a named class.

    Fragments, switches for management, and those without a port that is up and may carry RDMA, are left out.
    """
    switch, outside = device.switch, device.without_rdma
    up = [port for port in switch.ports if port.admin_up is True and port.name not in outside]
    dscps = sorted({dscp for cls in switch.classes.lossless for dscp in cls.dscps})
    if (
        switch.classes.knowledge != "named"
        or switch.is_fragment
        or "Mgmt" in (switch.device_type or "")
        or not up
    ):
        return
    yield Violation(
        origin=device.tables.origin("PORT"),
        message=f"DSCP {listed([*map(str, dscps)])} is lossy on every port: none pauses it or has a lossless group",
        help="configure the class, or say in lossless.toml which ports carry no RDMA ([[ports]] rdma = false)",
        elements=tuple(f"{switch.name}:{port.name}" for port in up),
        data={"cause": "nowhere", "dscps": [*dscps]},
    )


def _wanted(device: Device) -> Iterator[tuple[str, int]]:
    """Yield each port that takes part in a lossless class, with each DSCP that it must keep lossless."""
    for ports in device.view.port_sets:
        for dscp in _dscps(device.switch, ports.qos):
            yield from ((port.name, dscp) for port in ports.ports)
    if device.switch.classes.knowledge == "named":
        # SONiC starts a watchdog on ports with PFC alone: all else that such a port had is gone.
        bare = (
            port for port in device.switch.ports if port.qos is None and port.name not in device.without_rdma
        )
        watched = [port.name for port in bare if port.name in device.tables.table("PFC_WD")]
        named = sorted({dscp for cls in device.switch.classes.lossless for dscp in cls.dscps})
        yield from ((name, dscp) for name in watched for dscp in named)


def _dscps(switch: Switch, qos: PortQos) -> list[int]:
    """Return the DSCPs that a port must keep lossless: named ones if it takes part, or those of paused priorities."""
    if switch.classes.knowledge != "inferred":
        lossless = any(group is not None and group.lossless for group in qos.groups)
        inside = bool(qos.pfc.priorities) or lossless or qos.watchdog is not None
        return sorted({dscp for cls in switch.classes.lossless for dscp in cls.dscps}) if inside else []
    return sorted(
        dscp
        for cls in switch.classes.lossless
        for dscp in cls.dscps
        if cls.priority in qos.pfc.priorities
        and (qos.dscp_to_tc is None or qos.traffic_class(dscp) == cls.priority)
    )


def _by_tags(device: Device, wanted: set[str]) -> Iterator[MissingInput]:
    """Yield a missing input for ports that bind an 802.1p map: their lossless traffic is unknown."""
    state = device.programmed
    maps = [
        port.maps for name, port in state.ports.items() if name in wanted and "dot1p_to_tc_map" in port.maps
    ]
    both = sum("dscp_to_tc_map" in bound or state.global_map is not None for bound in maps)
    if both:
        yield MissingInput(
            "an 802.1p map and a DSCP map hold for the port, and which counts is not known", both
        )
    if len(maps) > both:
        reason = "the ports go by 802.1p, and no file shows what tags carry"
        yield MissingInput(reason, len(maps) - both)


def _lossy(device: Device, wanted: list[tuple[str, int]]) -> Iterator[Lossy]:
    from lossless.formats.sonic.effective.chain import break_of

    made = device.programmed.ports
    for name, dscp in wanted:
        # Without admin_status a port is down, even with other rows (BUF021).
        if name in made and not made[name].settings.admin_up:
            continue
        cause = break_of(device.programmed, name, dscp)
        # CFG002 reports that no row has a name in brackets.
        in_brackets = cause is not None and cause.fate is not None and cause.fate.value[:1] == "["
        if cause is not None and not in_brackets and not _is_known_to_lack_headroom(device, cause):
            yield cause, (name, dscp)


def _is_known_to_lack_headroom(device: Device, cause: Break) -> bool:
    """Return whether another rule reports a cause: PFC005 another profile in a row, BUF003 and BUF004 missing rows."""
    table, key = cause.row
    if cause.kind != "group" or cause.fate is not None:
        return False
    name, _, number = (key if table == "BUFFER_PG" else cause.where).partition("|")
    port = device.view.port(device.switch.name, name)
    # They speak of ports that pause something.
    if port is not None and port.qos is not None and not port.qos.pfc.priorities:
        return False
    group = port.qos.groups[int(number)] if port and port.qos else None
    if table != "BUFFER_PG":
        return group is not None and group.buffer is not None and not group.buffer.lossless
    return port is None or group is None or not group.lossless or not port.cable.configured_m


def _class_not_programmed(device: Device, cause: Break, lossy: list[tuple[str, int]]) -> Violation:
    dscps: list[Json] = [*sorted({dscp for _, dscp in lossy})]
    ports = list(dict.fromkeys(name for name, _ in lossy))
    table, key = cause.row
    return Violation(
        origin=_origin(device, cause),
        message=f"{_problem(cause)}: DSCP {listed([str(dscp) for dscp in dscps])} {_outcome(cause)}",
        help=_HELP[cause.kind],
        note=_note(cause.fate),
        elements=tuple(f"{device.switch.name}:{name}" for name in ports),
        data={"cause": cause.kind, "table": table, "key": key, "field": cause.field, "dscps": dscps},
    )


def _origin(device: Device, cause: Break) -> Origin:
    """Return the origin of a cause; of a missing row that of its table, of a missing group that of the port's cable."""
    table, key = cause.row
    row = device.tables.written(table).get(key)
    if row is None and table == "BUFFER_PG":
        # No file has the group: buffermgrd would make it, by speed and cable.
        port = device.view.port(device.switch.name, key.partition("|")[0])
        return port.cable.origin if port else device.tables.origin("CABLE_LENGTH")
    if row is None:
        return device.tables.origin(table)
    return device.tables.origin(table, row, *((cause.field,) if cause.field in row.fields else ()))


def _problem(cause: Break) -> str:
    """Return why the row that breaks a class is not applied or does not serve it, in words."""
    (table, key), fate = cause.row, cause.fate
    name = table if table in _PER_PORT else f"{table} {key}"
    if fate is None:
        return _APPLIED[cause.kind].format(name=name, field=cause.field)
    if fate.kind == "waits":
        return f"{name} waits for {' '.join(fate.on) if fate.on else 'a port'}, which does not exist"
    if cause.field == EMPTY:
        why = "which is empty"
    elif fate.value:
        why = f"for its {cause.field} {fate.value!r}"
    else:
        why = f"which has no {cause.field}" if cause.field else "for its key"
    verb = "throws over" if fate.kind == "throws" else "drops"
    behind = ", and applies no row of the table behind it" if fate.kind == "throws" else ""
    return f"orchagent {verb} {'the row of ' if table in _PER_PORT else ''}{name}, {why}{behind}"


EMPTY = "NULL"
"""The field that an empty row has in redis."""
_PER_PORT = ("PORT", "PORT_QOS_MAP", "BUFFER_PG", "BUFFER_QUEUE")


def _outcome(cause: Break) -> str:
    if cause.kind == "ready":
        return f"is lossy, for {cause.where} is never ready and no port gets any QoS"
    if cause.kind == "port":
        return "is lost there, for the port is never made"
    return "is lossy" if cause.kind != "ended" else "is lossy: nothing is programmed"


def _note(fate: Fate | None) -> str:
    """Return the note on the effect of a row that orchagent throws on, by release; empty for any other fate."""
    from lossless.checks.rules.sonic.lossless_rows import THROWS

    return THROWS if fate is not None and fate.kind == "throws" else ""


_APPLIED = {
    "entry": "{name} does not send {field} where the class is lossless",
    "joined": "{name} names several ports, and buffermgrd makes them no lossless groups",
    "group": "{name} has no headroom",
    "pause": "{name} does not pause the priority group of the class",
    "unmapped": "{name} binds no DSCP map, and nor does the switch: all packets get TC 0",
    "ended": "orchagent crashes on the empty list of {name}",
    "ready": "{name} is never applied",
    "maps": "{name} is not applied",
    "port": "{name} is not applied",
}
_HELP = {
    "entry": "map it to the number of the lossless class",
    "joined": "write a row for each port",
    "group": "give the group a lossless profile, or the port a cable length that has a headroom row",
    "pause": "pause the priority of the class on the port",
    "unmapped": "bind a map of DSCPs",
    "ended": "name the profiles, or remove the row",
    "ready": "correct the row, or remove it",
    "maps": "correct the row that is named",
    "port": "correct the row of the port",
}
