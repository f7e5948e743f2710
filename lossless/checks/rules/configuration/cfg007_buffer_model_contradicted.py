"""The buffer tables must be those of the buffer model.

Severity: error
Fix: unsafe
Subject: device

## What it does
Compares `buffer_model` of `DEVICE_METADATA|localhost` with the buffer tables of a deployed device. The traditional
model, which is the default, does not work with values that only the dynamic model computes: a group with profile
`NULL`, a pool without a size or with a percentage, a profile with `headroom_type` dynamic. The dynamic model needs
`DEFAULT_LOSSLESS_BUFFER_PARAMETER` and `LOSSLESS_TRAFFIC_PATTERN`. Where several tables are written for the dynamic
model, the model itself is reported, once. Parts of a configuration without the row are not checked.

## Why it breaks a lossless fabric
In the traditional model orchagent keeps waiting for a profile named `NULL`: the group has no headroom, the port is not
brought up at boot. buffermgrd overwrites the group of a paused priority, and `NULL` there is a warning. A pool without
a size is never made, nor are the profiles that name it. In the dynamic model no pool, group or queue is applied before
a default threshold is known, and without a traffic pattern no headroom is computed.

## Bad
```json config_db base=leaf
{
  "BUFFER_PG": {"Ethernet4|0": {
    "profile": "NULL"   // <- here
  }}
}
```

```json config_db base=leaf
{
  "BUFFER_POOL": {
    "egress_lossy_pool": {   // <- here
      "size": null
    }
  }
}
```

## Good
```json config_db base=leaf
{
  "BUFFER_POOL": {
    "egress_lossy_pool": {
      "size": "78000000"
    }
  }
}
```

## Fix
Set `buffer_model` to the model of the tables, or write the tables of the model.

## Sources
- sonic-swss cfgmgr/buffermgr.cpp @029506c, orchagent/orch.cpp @015527d (NULL is a name like any other)
- sonic-swss cfgmgr/buffermgrdyn.cpp @0160f0a (handlePendingBufferObjects waits for the default threshold)
- sonic-swss cfgmgr/buffer_headroom_mellanox.lua @e6b0c5b (reads LOSSLESS_TRAFFIC_PATTERN)
- sonic-buildimage dockers/docker-orchagent/buffermgrd.sh @086b03b (which model is started)
- sonic-net/sonic-buildimage issue 10342
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation, merged
from lossless.checks.rules.fixes import field
from lossless.checks.rules.locations import beside, element
from lossless.ground.basics.findings import Origin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.read.tables import ConfigRow

_NEEDED = {
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER": "no pool, group or queue is applied before a default threshold is known",
    "LOSSLESS_TRAFFIC_PATTERN": "the headroom of lossless groups is computed from it",
}


def check(device: Device) -> Results:
    """Yield violations on rows that contradict the traditional model, or one on the model where several tables do.

    Under the dynamic model, yield one where there are pools, and a table that the model needs is missing.
    """
    if device.tables.row("DEVICE_METADATA", "localhost") is None:
        return
    if device.switch.qos.buffer_model == "dynamic":
        yield from _dynamic(device)
        return
    signs = list(merged(_signs(device)))
    written = [table for table in _NEEDED if device.tables.table(table)]
    tables = {violation.origin.path[0] for violation in signs}
    if signs and len(tables) + len(written) > 1:
        yield _model(device, signs, written)
    else:
        yield from signs


def _dynamic(device: Device) -> Iterator[Violation]:
    if not device.tables.table("BUFFER_POOL"):
        return
    missing = [table for table in _NEEDED if not device.tables.table(table)]
    if missing:
        yield Violation(
            origin=_model_origin(device),
            message=f"buffer_model is dynamic, and {' and '.join(missing)} {_are(missing)} not there: "
            f"{_NEEDED[missing[0]]}",
            help=f"add {' and '.join(missing)}, or set buffer_model to traditional",
            data={"missing": list(missing)},
        )


def _are(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _signs(device: Device) -> Iterator[Violation]:
    tables = device.tables
    for key, row in tables.table("BUFFER_PG").items():
        if row.fields.get("profile") == "NULL":
            port = key.partition("|")[0]
            replaced = ("BUFFER_PG", row.key) in device.programmed.generated
            waits = device.programmed.unready.get(port) == ("BUFFER_PG", row.key)
            outcome = "the group has no headroom" + (", and the port waits for it" if waits else "")
            if replaced:
                outcome = "buffermgrd writes the profile of speed and cable into the row"
            yield Violation(
                origin=tables.origin("BUFFER_PG", row, "profile"),
                message="profile NULL is for the dynamic model to compute, and buffer_model is traditional: "
                f"{outcome}",
                help="name a profile, or set buffer_model to dynamic",
                elements=(element(device, port),),
                severity="warning" if replaced else None,
            )
    for row in tables.table("BUFFER_POOL").values():
        if "size" not in row.fields and row.fields:
            yield _unsized(device, row)
    for row in tables.table("BUFFER_PROFILE").values():
        if row.fields.get("headroom_type") == "dynamic":
            yield Violation(
                origin=tables.origin("BUFFER_PROFILE", row, "headroom_type"),
                message=f"{row.key} leaves its headroom to the dynamic model, and buffer_model is traditional",
                help="write xon, xoff and size, or set buffer_model to dynamic",
            )


def _unsized(device: Device, row: ConfigRow) -> Violation:
    share = row.fields.get("percentage")
    origin = device.tables.origin("BUFFER_POOL", row)
    has = f"a percentage of {share} and no size" if share is not None else "no size"
    return Violation(
        origin=origin.key() if share is None else origin.at("percentage"),
        message=f"{row.key} has {has}, and buffer_model is traditional, which computes none",
        help="write the size in bytes, or set buffer_model to dynamic",
    )


def _model(device: Device, signs: list[Violation], written: list[str]) -> Violation:
    seen = [f"{violation.origin.path[0]} has what only the dynamic model computes" for violation in signs]
    origin, whole = _model_origin(device), len(written) == len(_NEEDED)
    contradictions = list(dict.fromkeys([*seen, *(f"{table} is there" for table in written)]))
    return Violation(
        origin=_model_origin(device),
        message="buffer_model is traditional, and the tables are for the dynamic model",
        note="; ".join(contradictions),
        help=(
            'set "buffer_model": "dynamic", or write the tables of the traditional model'
            if whole
            else "write the tables of the traditional model"
        ),
        fix=field(Origin(origin.file, ("DEVICE_METADATA", "localhost", "buffer_model")), "dynamic")
        if whole
        else (),
        data={"signs": [violation.message for violation in signs]},
        related=beside(
            _model_origin(device),
            *(
                (violation.origin, "what only the dynamic model computes")
                for violation in {
                    violation.origin.path[0]: violation for violation in reversed(signs)
                }.values()
            ),
            *((device.tables.origin(table).key(), "for the dynamic model") for table in written),
        ),
    )


def _model_origin(device: Device) -> Origin:
    row = device.tables.row("DEVICE_METADATA", "localhost")
    if row is not None and "buffer_model" in row.fields:
        return device.tables.origin("DEVICE_METADATA", row, "buffer_model")
    return device.tables.origin("DEVICE_METADATA", row).key()
