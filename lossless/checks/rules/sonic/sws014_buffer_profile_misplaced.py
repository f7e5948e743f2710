"""Ingress profiles belong on groups, egress profiles on queues.

Severity: error
Subject: device

## What it does
Follows the profiles that `BUFFER_PG`, `BUFFER_QUEUE` and the profile lists of a deployed device name to their pools,
and reports those of the wrong side. Pools of type `both` serve either. A profile with `xoff`, headroom, on an egress
pool is reported too, and one with `packet_discard_action` trim on a group or in a list. In the traditional model a
profile of the wrong side is a warning, because the chip's driver decides; so is one with trim in a row that no lossless
class needs. Groups that pause and have no headroom by such a profile are PFC005's.

## Why it breaks a lossless fabric
The dynamic model refuses the row or the profile, and the group or the queue has no buffer of its own. In the
traditional model orchagent requests it from the chip all the same: a group on an egress pool has no headroom, and a
queue on an ingress pool is bounded by the received traffic, not by the queued one. The schema checks names only.

## Bad
```json config_db base=leaf
{
  "BUFFER_QUEUE": {"Ethernet0|1": {
    "profile": "ingress_lossy_profile"   // <- here
  }}
}
```

```json config_db base=leaf
{
  "BUFFER_PROFILE": {"egress_lossless_profile": {
    "xoff": "19456"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "BUFFER_QUEUE": {"Ethernet0|1": {
    "profile": "egress_lossy_profile"
  }}
}
```

## Fix
Name a profile whose pool is of the right side.

## Sources
- sonic-swss cfgmgr/buffermgrdyn.cpp @0160f0a (checkBufferProfileDirection, handleSingleBufferPgEntry)
- sonic-swss orchagent/bufferorch.cpp @e6b0c5b (trimming profiles are refused on groups and in lists)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, merged
from lossless.checks.rules.locations import element
from lossless.formats.sonic.read.tables import names_in
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.read.tables import ConfigRow
    from lossless.ground.basics.findings import Severity


class _ProfileField(NamedTuple):
    """A table that names profiles: its field, the direction of their pools, and whether packets may be trimmed."""

    table: str
    field: str
    side: str
    trims: bool


_USES = (
    _ProfileField("BUFFER_PG", "profile", "ingress", trims=False),
    _ProfileField("BUFFER_QUEUE", "profile", "egress", trims=True),
    _ProfileField("BUFFER_PORT_INGRESS_PROFILE_LIST", "profile_list", "ingress", trims=False),
    _ProfileField("BUFFER_PORT_EGRESS_PROFILE_LIST", "profile_list", "egress", trims=False),
)


def check(device: Device) -> Results:
    """Yield a violation per table and profile that does not belong into it, and per egress profile with xoff.

    The profile has a pool of the other direction, or trims in a table in which profiles must not trim.
    """
    wrong = {side: _of_other_side(device, side) for side in ("ingress", "egress")}
    trimming = {
        name
        for name, row in device.tables.table("BUFFER_PROFILE").items()
        if row.fields.get("packet_discard_action") == "trim"
    }
    for use in _USES:
        misplaced = wrong[use.side] | (trimming if not use.trims else set())
        texts = {row.fields.get(use.field, "") for row in device.tables.table(use.table).values()}
        if any(not misplaced.isdisjoint(names_in(text)) for text in texts):
            yield from merged(_misplaced(device, use, misplaced, trimming))
    for name in wrong["ingress"]:
        row = device.tables.table("BUFFER_PROFILE")[name]
        if "xoff" in row.fields and row.fields["xoff"] not in ("", "0"):
            yield _headroom(device, row)


def _of_other_side(device: Device, side: str) -> set[str]:
    """Return the names of profiles whose pool has the other direction than ``side``, ingress or egress."""
    pools = device.tables.table("BUFFER_POOL")
    others = {name for name, row in pools.items() if row.fields.get("type") == _OTHER[side]}
    return {
        name for name, row in device.tables.table("BUFFER_PROFILE").items() if row.reference("pool") in others
    }


_OTHER = {"ingress": "egress", "egress": "ingress"}


def _misplaced(
    device: Device, use: _ProfileField, misplaced: set[str], trimming: set[str]
) -> Iterator[Violation]:
    for key, row in device.tables.table(use.table).items():
        for name in names_in(row.fields.get(use.field, "")):
            if name in misplaced and not _paused_without_headroom(device, use, key, name):
                yield _use_violation(device, use, key, row, name, trimmed=name in trimming and not use.trims)


def _paused_without_headroom(device: Device, use: _ProfileField, key: str, name: str) -> bool:
    """Return whether PFC005 reports the row: a group of a priority with PFC, whose profile has no headroom."""
    if use.table != "BUFFER_PG" or "xoff" in device.tables.table("BUFFER_PROFILE")[name].fields:
        return False
    name_of_port, _, index = key.rpartition("|")
    port = device.view.port(device.switch.name, name_of_port)
    numbers = device.tables.keys[use.table].ranges.get(index)
    if port is None or port.qos is None or port.admin_up is False or numbers is None:
        return False
    return not set(port.qos.pfc.priorities).isdisjoint(numbers)


def _use_violation(
    device: Device, use: _ProfileField, key: str, row: ConfigRow, name: str, *, trimmed: bool
) -> Violation:
    what = {"BUFFER_PG": "a group", "BUFFER_QUEUE": "a queue"}.get(use.table, "a profile list")
    pool = device.tables.table("BUFFER_PROFILE")[name].reference("pool")
    problem, wanted = (
        (
            f"{name} trims packets, and orchagent refuses it on {what} of {use.table}",
            "that does not trim packets",
        )
        if trimmed
        else (
            f"{name} draws from the {_OTHER[use.side]} pool {pool}, and {use.table} needs an {use.side} profile",
            f"whose pool is of type {use.side}",
        )
    )
    port = key.rpartition("|")[0] if use.field == "profile" else key
    return Violation(
        origin=device.tables.origin(use.table, row, use.field),
        message=problem,
        help=f"name a profile {wanted}",
        elements=(element(device, port.rpartition("|")[2]),),
        data={"profile": name, "pool": pool},
        severity=_use_severity(device, use, key, trimmed=trimmed),
    )


def _use_severity(device: Device, use: _ProfileField, key: str, *, trimmed: bool) -> Severity | None:
    from lossless.checks.rules.sonic.lossless_rows import severity_of

    if trimmed:
        return severity_of(device, use.table, (key,))
    return None if device.switch.qos.buffer_model == "dynamic" else "warning"


def _headroom(device: Device, row: ConfigRow) -> Violation:
    dynamic = device.switch.qos.buffer_model == "dynamic"
    severity: Severity = "error" if dynamic else "warning"
    outcome = ": the dynamic model drops the profile" if dynamic else ", which only a group can have"
    return Violation(
        origin=device.tables.origin("BUFFER_PROFILE", row, "xoff"),
        message=f"{row.key} has xoff {row.fields['xoff']} on the egress pool {row.reference('pool')}{outcome}",
        help="remove xoff, or let the profile draw from an ingress pool",
        data={"xoff": row.fields["xoff"]},
        severity=severity,
    )
