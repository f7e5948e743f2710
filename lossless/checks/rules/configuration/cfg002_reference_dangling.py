"""Every name that a row refers to must exist, and be written without brackets.

Severity: error
Fix: unsafe
Subject: device, switch

## What it does
Follows the names in `PORT_QOS_MAP`, `QUEUE`, `BUFFER_PG`, `BUFFER_QUEUE`, `BUFFER_PROFILE` and the profile lists of a
deployed device. A name without a row is an error where a lossless class needs the row: its port's maps and PFC, its
queue, a group that ends without headroom, or a port that is never ready. Elsewhere, as on a lossy queue or in an unused
profile, it is a warning. The same holds for the old form `[BUFFER_PROFILE|name]`; where all names of a file are in that
form and it has no database version it is a warning, and before version 3_0_3 only information. Names of headroom
profiles that buffermgrd will make for a port of the device count as existing. In part of a configuration, without the
table of the name, nothing is checked. On a switch that runs another system it looks at the profiles and policies that
interfaces name, and at the classes that policies name: a warning, and an error where a lossless class is named and the
port is left without it.

## Why it breaks a lossless fabric
orchagent does not refuse such a row. It waits for the name, and logs that at a level that is usually off. A
`PORT_QOS_MAP` row waits with all its fields: maps and PFC. A queue keeps its default scheduler and marks no packets, a
group has no headroom, and a port whose buffers wait at boot is not brought up, unless the other buffer table has an
applied row of the same key. On an empty profile list orchagent crashes.

## Bad
```json config_db base=leaf
{
  "QUEUE": {"Ethernet4|5": {
    "scheduler": "scheduler.5"   // <- here
  }}
}
```

```json config_db base=leaf
{
  "BUFFER_PG": {"Ethernet4|0": {
    "profile": "[BUFFER_PROFILE|ingress_lossy_profile]"   // <- here
  }}
}
```

```text switch base=switch-leaf
interface Ethernet2
   no switchport
   service-profile ROCE-400G   # <- here
```

## Good
```json config_db base=leaf
{
  "QUEUE": {"Ethernet4|5": {
    "scheduler": "scheduler.0"
  }}
}
```

## Fix
Write the missing row, or the name of an existing one, without brackets.

## Sources
- sonic-swss orchagent/orch.cpp @015527d (parseReference, resolveFieldRefValue), orchagent/qosorch.cpp @bcd579d
- sonic-swss orchagent/portsorch.cpp @00190d7 (a port waits for its buffers)
- sonic-utilities scripts/db_migrator.py (version_3_0_2 to 3_0_3 removes the brackets)
- sonic-net/sonic-utilities issue 4107
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.locations import element
from lossless.formats.sonic.effective.objects import tokens
from lossless.formats.sonic.effective.programmed import has_old_references, is_of_old_form
from lossless.formats.sonic.read.tables import plain_name
from lossless.ground.basics.findings import Edit, grouped
from lossless.ground.basics.records import NamedTuple
from lossless.model.hardware.buffers import PG_PROFILE_PREFIX, pg_profile_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from lossless.checks.rules.subjects import Device, SwitchConfiguration
    from lossless.formats.sonic.read.tables import ConfigRow
    from lossless.ground.basics.findings import Severity


class Reference(NamedTuple):
    """A field that names rows of another table; ``lost`` is the effect of a missing name, for messages."""

    table: str
    field: str
    target: str
    lost: str


_PORT = "the whole row waits, PFC included"
_REFERENCES = (
    Reference("PORT_QOS_MAP", "dscp_to_tc_map", "DSCP_TO_TC_MAP", _PORT),
    Reference("PORT_QOS_MAP", "dot1p_to_tc_map", "DOT1P_TO_TC_MAP", _PORT),
    Reference("PORT_QOS_MAP", "tc_to_queue_map", "TC_TO_QUEUE_MAP", _PORT),
    Reference("PORT_QOS_MAP", "tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", _PORT),
    Reference("PORT_QOS_MAP", "pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE", _PORT),
    Reference("PORT_QOS_MAP", "pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", _PORT),
    Reference("PORT_QOS_MAP", "tc_to_dscp_map", "TC_TO_DSCP_MAP", _PORT),
    Reference("PORT_QOS_MAP", "scheduler", "SCHEDULER", _PORT),
    Reference("QUEUE", "scheduler", "SCHEDULER", "the queue gets neither its scheduler nor its WRED profile"),
    Reference("QUEUE", "wred_profile", "WRED_PROFILE", "the queue gets neither its scheduler nor marking"),
    Reference("BUFFER_PROFILE", "pool", "BUFFER_POOL", "the profile is never made, nor what names it"),
    Reference("BUFFER_PG", "profile", "BUFFER_PROFILE", "the group has no buffer"),
    Reference("BUFFER_QUEUE", "profile", "BUFFER_PROFILE", "the queue has no buffer"),
    Reference(
        "BUFFER_PORT_INGRESS_PROFILE_LIST", "profile_list", "BUFFER_PROFILE", "the port's list is not set"
    ),
    Reference(
        "BUFFER_PORT_EGRESS_PROFILE_LIST", "profile_list", "BUFFER_PROFILE", "the port's list is not set"
    ),
)
_BRACKET = "["
_OldReference = tuple[Reference, list[tuple[str, "ConfigRow"]]]


def on_switch(switch: SwitchConfiguration) -> Results:
    """Yield a violation per profile, policy or class name that another system's configuration does not define."""
    name = switch.read.switch.name
    for undefined in switch.read.undefined:
        yield Violation(
            origin=undefined.origin,
            message=f"{undefined.kind} {undefined.name} is not defined: what it should set is not set",
            note="the port has its defaults, without PFC and ECN",
            help=f"define {undefined.kind} {undefined.name}, or name one that is",
            elements=tuple(f"{name}:{port}" for port in undefined.ports) or (undefined.name,),
            severity="error" if undefined.ports and switch.is_named else "warning",
        )


def check(device: Device) -> Results:
    """Yield a violation per field, missing name and effect of its absence, and one for all names in brackets."""
    old: list[_OldReference] = []
    for reference in _not_yet_followed(device):
        rows = device.tables.table(reference.table)
        field = reference.field
        texts = {text for row in rows.values() if (text := row.fields.get(field)) is not None}
        odd_names = {text: name for text in texts if (name := _odd_name(device, reference, text)) is not None}
        if odd_names:
            yield from _dangling_names(device, reference, odd_names, old)
    if old:
        yield _old_form(device, old)


def _not_yet_followed(device: Device) -> tuple[Reference, ...]:
    """Return the references to follow: in a whole file that conforms to SONiC's models, only lists.

    SONiC's models strip the blanks in a list and at the ends of a key, which orchagent does not.
    """
    if device.metadata and not device.conformity.problems and not _has_blanks(device):
        return tuple(reference for reference in _REFERENCES if reference.field == "profile_list")
    return _REFERENCES


def _has_blanks(device: Device) -> bool:
    """Return whether a row that others may name has blanks at the ends of its key."""
    targets = {reference.target for reference in _REFERENCES}
    return any(key.strip() != key for table in targets for key in _names(device, table))


def _odd_name(device: Device, reference: Reference, text: str) -> str | None:
    """Return the first name of a text that neither exists nor will be made, ``[`` for one in brackets, else None."""
    there = _names(device, reference.target)
    for name in _list_names(text) if reference.field == "profile_list" else (text,):
        if name in there or (reference.table == "BUFFER_PG" and name == "NULL"):
            continue
        if name.strip()[:1] == _BRACKET:
            return _BRACKET
        if reference.target != "BUFFER_PROFILE" or not _will_be_made(device, name):
            return name
    return None


def _list_names(text: str) -> list[str]:
    """Return the names of a list as orchagent splits it: a final comma adds none, an empty text is one empty name."""
    return tokens(text, ",") if "," in text else [text]


def _names(device: Device, table: str) -> frozenset[str]:
    rows = device.tables.data.get(table)
    return frozenset(rows) if isinstance(rows, dict) else frozenset()


def _will_be_made(device: Device, name: str) -> bool:
    """Return whether buffermgrd makes a headroom profile of that name for some port of the device."""
    if device.switch.qos.buffer_model == "dynamic" or not name.startswith(PG_PROFILE_PREFIX):
        return False
    return any(
        port.speed_bps
        and port.cable.configured_m
        and pg_profile_name(port.speed_bps, port.cable.configured_m) == name
        for port in device.switch.ports
    )


def _dangling_names(
    device: Device, reference: Reference, odd_names: dict[str, str], old: list[_OldReference]
) -> Results:
    if not device.metadata and reference.target not in device.tables.data:
        if any(name != _BRACKET for name in odd_names.values()):
            yield MissingInput(
                f"{reference.target}, which {reference.table} names, is not in this part of a configuration"
            )
        odd_names = {text: name for text, name in odd_names.items() if name == _BRACKET}
    # Of the row for the whole switch only the DSCP map counts; SWS010 reports other fields.
    ignored = "" if reference.field == "dscp_to_tc_map" else "global"
    rows_of = grouped(
        ((odd_names[text], _lost(device, reference, key, row)), (key, row))
        for key, row in device.tables.table(reference.table).items()
        if (text := row.fields.get(reference.field)) in odd_names
        and key != ignored
        and (odd_names[text] == _BRACKET or not _is_of_no_port(device, reference.table, key))
    )
    brackets = [row for (name, _), rows in rows_of.items() if name == _BRACKET for row in rows]
    if brackets:
        old.append((reference, brackets))
    for (name, lost), rows in rows_of.items():
        if name != _BRACKET:
            yield _dangling(device, reference._replace(lost=lost), name, rows)


_REPLACED = "buffermgrd writes the profile of speed and cable into the row"
_NO_PORT_LEFT = "the switch has no map for ports without one of their own, and none is without"


def _lost(device: Device, reference: Reference, key: str, row: ConfigRow) -> str:
    """Return the effect of a missing name in one row, for the message."""
    state, table = device.programmed, reference.table
    if key == "global":
        bare = any(
            "dscp_to_tc_map" not in port.maps for port in state.ports.values() if port.settings.admin_up
        )
        return "the switch has no map for ports without one of their own" if bare else _NO_PORT_LEFT
    if (table, row.key) in state.generated:
        return _REPLACED
    if (table, row.key) == state.ended:
        return "orchagent crashes on it"
    if reference.field == "profile_list" and "" in _list_names(row.fields["profile_list"]):
        return "no port's list of this table is set"
    if table in ("BUFFER_PG", "BUFFER_QUEUE") and state.unready.get(port_of(key)) == (table, row.key):
        return f"{reference.lost}, and the port waits for it"
    return reference.lost


def _is_of_no_port(device: Device, table: str, key: str) -> bool:
    """Return whether a row names no port of the switch: it has no effect, and CFG008 (SCM003 of a LAG) reports it."""
    ports = device.tables.table("PORT")
    if table == "BUFFER_PROFILE" or key == "global" or key.count("|") > 1 or not ports:
        return False
    return not any(name in ports or name == "CPU" for name in tokens(port_of(key), ","))


def port_of(key: str) -> str:
    """Return the part of a row's key before the first ``|``: its port or ports, of a system port its host."""
    return key.partition("|")[0]


def _dangling(
    device: Device, reference: Reference, name: str, rows: list[tuple[str, ConfigRow]]
) -> Violation:
    from lossless.checks.rules.sonic.lossless_rows import severity_of

    there = _names(device, reference.target)
    blank = name.strip() != name and name.strip() in there
    padded = next((key for key in sorted(there) if key.strip() == name.strip()), "")
    problem = "names nothing" if not name else f"names {name!r}, which is not in {reference.target}"
    return Violation(
        origin=device.tables.origin(reference.table, rows[0][1], reference.field),
        message=f"{reference.field} {problem}: {reference.lost}",
        note="orchagent takes the blank for part of the name" if padded else "",
        help="remove the blank"
        if blank
        else f"take the blank out of the key {padded!r} of {reference.target}"
        if padded
        else f"add the row to {reference.target}, or name one that is there",
        elements=_elements(device, reference, rows),
        data={"name": name, "table": reference.target, "rows": len(rows)},
        severity="warning"
        if reference.lost in (_REPLACED, _NO_PORT_LEFT)
        else severity_of(device, reference.table, (row.key for _, row in rows)),
        fix=tuple(_rewritten(device, reference, row, str.strip) for _, row in rows) if blank else (),
    )


def _rewritten(device: Device, reference: Reference, row: ConfigRow, name_of: Callable[[str], str]) -> Edit:
    """Return the edit that replaces each name in a field of a row by ``name_of`` it."""
    names = ",".join(map(name_of, row.fields[reference.field].split(",")))
    return Edit(device.tables.origin(reference.table, row, reference.field), "set", names)


def _without_brackets(name: str) -> str:
    return plain_name(name.strip()) if name.strip()[:1] == _BRACKET else name


def _old_form(device: Device, old: list[_OldReference]) -> Violation:
    """Return one violation for all references in brackets: they come from one release, and are fixed together."""
    reference, first_rows = old[0]
    row = first_rows[0][1]
    text = row.fields[reference.field].split(",")[0].strip()
    # A name that does not exist even without brackets is another fault.
    whole = all(
        name in _names(device, used.target) or _will_be_made(device, name)
        for used, rows in old
        for _, other in rows
        for name in map(_without_brackets, other.fields[used.field].split(","))
    )
    version = device.switch.qos.database_version
    severity, note = _of_release(device, old)
    tables = list(dict.fromkeys(other.table for other, _ in old[1:] if other.table != reference.table))
    also = f", as in {', '.join(tables)}" if tables else ""
    outcome = (
        "a form of old releases" if severity == "info" else f"orchagent finds no such name, {reference.lost}"
    )
    return Violation(
        origin=device.tables.origin(reference.table, row, reference.field),
        message=f"{reference.field} {text!r} is a reference in brackets{also}: {outcome}",
        note=note,
        help=f"write {plain_name(text)!r}, and all names without brackets"
        if whole
        else "write all names without brackets, and add the rows of those that are not there",
        elements=tuple(dict.fromkeys(name for used, rows in old for name in _elements(device, used, rows))),
        data={"references": sum(len(rows) for _, rows in old)},
        severity=severity,
        # What a migration takes the brackets from is applied as it is written.
        conclusive=not (has_old_references(version) if version else is_of_old_form(device.tables)),
        # A release that reads brackets may know no other form.
        fix=()
        if severity == "info" or not whole
        else tuple(
            _rewritten(device, used, other, _without_brackets) for used, rows in old for _, other in rows
        ),
    )


def _of_release(device: Device, old: list[_OldReference]) -> tuple[Severity, str]:
    """Return the severity of brackets and the reason, by the release of the database version."""
    from lossless.checks.rules.sonic.lossless_rows import severity_of

    version = device.switch.qos.database_version or ""
    if has_old_references(version):
        return "info", f"the database is of {version}; its migration to 3_0_3 removes the brackets"
    if not version and is_of_old_form(device.tables):
        return (
            "warning",
            "the file names no database version; a migration from before 3_0_3 removes the brackets",
        )
    by_table = {(used.table, row.key) for used, rows in old for _, row in rows}
    needed = any(severity_of(device, table, (key,)) is None for table, key in by_table)
    why = "other references of the file are plain, and no release reads both forms"
    return "error" if needed else "warning", f"the database is of {version}" if version else why


def _elements(device: Device, reference: Reference, rows: list[tuple[str, ConfigRow]]) -> tuple[str, ...]:
    if reference.table == "BUFFER_PROFILE":
        return tuple(key for key, _ in rows)
    ports = (key.rpartition("|")[0] or key for key, _ in rows)
    return tuple(dict.fromkeys(element(device, port.rpartition("|")[2]) for port in ports))
