"""A buffer profile must have one threshold, of the kind of its pool.

Severity: warning
Subject: device

## What it does
Looks at `dynamic_th` and `static_th` of every `BUFFER_PROFILE` row of a deployed device: none, both, one of the other
kind than the pool's `mode`, a `dynamic_th` outside -8 to 7. In the dynamic model both, and a wrong kind, are errors. In
the traditional model a wrong kind is a warning on NVIDIA switches and left alone elsewhere, where 211 of SONiC's own
buffer templates mix the kinds. Profiles with `headroom_type` dynamic need no threshold.

## Why it breaks a lossless fabric
The dynamic model drops a profile whose threshold is not of its pool's kind, and every group and queue that names it
waits. In the traditional model orchagent passes the fields on unchecked: with both or without any, sairedis refuses the
profile before any driver sees it, and every row that names it waits as well.

## Bad
```json config_db base=leaf
{
  "BUFFER_PROFILE": {"spare_profile": {
    "pool": "egress_lossy_pool",
    "size": "0",
    "dynamic_th": "3",
    "static_th": "1000000"   // <- here
  }}
}
```

```json config_db base=leaf
{
  "BUFFER_PROFILE": {"egress_lossy_profile": {
    "dynamic_th": "8"   // <- here
  }}
}
```

## Good
```json config_db base=leaf
{
  "BUFFER_PROFILE": {"egress_lossy_profile": {
    "dynamic_th": "3"
  }}
}
```

## Fix
Keep the threshold of the pool's kind: `dynamic_th` from -8 to 7 in a dynamic pool, `static_th` in bytes in a static
one.

## Sources
- sonic-swss cfgmgr/buffermgrdyn.cpp @0160f0a (handleBufferProfileTable), orchagent/bufferorch.cpp @51de623
- sonic-sairedis meta/Meta.cpp @21851c5 (meta_generic_validation_create: mandatory attributes, and none twice)
- sonic-net/sonic-swss issue 2438 (threshold kind and pool mode)
- sonic-buildimage device/**/buffers_defaults_*.j2 @086b03b, files that are no links: none of 118 thresholds below
  device/mellanox is of the other kind than its pool, 316 of 1,019 elsewhere are, in 211 files
- sonic-buildimage src/sonic-yang-models/yang-models/sonic-buffer-profile.yang @086b03b (-8 to 7)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.formats.sonic.read.tables import UINT64_MAX, read_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.read.tables import ConfigRow
    from lossless.ground.basics.findings import Severity


_KINDS = ("dynamic_th", "static_th")
_EXPONENTS = range(-8, 7 + 1)


def check(device: Device) -> Results:
    """Yield a violation per profile with a threshold that is missing, doubled, of the wrong kind or out of range.

    The kind counts in the dynamic buffer model and on NVIDIA switches.
    """
    for row in device.tables.table("BUFFER_PROFILE").values():
        kinds = [kind for kind in _KINDS if kind in row.fields]
        if len(kinds) == 2:
            yield _both(device, row)
        elif kinds:
            yield from _kind(device, row, kinds[0])
            yield from _exponent(device, row)
        elif row.fields.get("headroom_type") != "dynamic" and row.fields:
            yield _none(device, row)


def _dynamic(device: Device) -> bool:
    return device.switch.qos.buffer_model == "dynamic"


def _mode(device: Device, row: ConfigRow) -> str:
    pool = device.tables.row("BUFFER_POOL", row.reference("pool"))
    return pool.fields.get("mode", "") if pool else ""


def _both(device: Device, row: ConfigRow) -> Violation:
    mode = _mode(device, row)
    wrong = "dynamic_th" if mode == "static" else "static_th"
    who = "the dynamic model" if _dynamic(device) else "orchagent"
    problem = f"has both dynamic_th and static_th: {who} drops the profile"
    return _threshold_contradicts_pool(device, row, wrong, problem, f"remove {wrong}")


def _kind(device: Device, row: ConfigRow, kind: str) -> Iterator[Violation]:
    mode = _mode(device, row)
    if mode not in ("dynamic", "static") or kind == f"{mode}_th":
        return
    if not _dynamic(device) and not _is_nvidia(device):
        return
    problem = f"has {kind}, and its pool {row.reference('pool')} is {mode}"
    if _dynamic(device):
        problem += ": the dynamic model drops the profile, and what names it waits"
    yield _threshold_contradicts_pool(device, row, kind, problem, f"write {mode}_th instead")


def _is_nvidia(device: Device) -> bool:
    profile = device.switch.profile
    if profile is not None:
        return profile.vendor == "NVIDIA"
    return any(name in device.metadata.get("platform", "") for name in ("mlnx", "nvidia"))


def _exponent(device: Device, row: ConfigRow) -> Iterator[Violation]:
    number = read_number(row.fields.get("dynamic_th", "0"), UINT64_MAX)
    if number is not None and number not in _EXPONENTS:
        problem = (
            f"has dynamic_th {number}, and alpha is 2^-8 to 2^7: the chip's driver refuses it or cuts it off"
        )
        violation = _threshold_contradicts_pool(device, row, "dynamic_th", problem, "write -8 to 7")
        yield violation._replace(severity="warning")


def _none(device: Device, row: ConfigRow) -> Violation:
    mode = _mode(device, row)
    name = f"{mode}_th" if mode in ("dynamic", "static") else "dynamic_th or static_th"
    violation = _threshold_contradicts_pool(
        device, row, "size", "has no threshold, and a profile must have a threshold mode", f"add {name}"
    )
    return violation._replace(origin=device.tables.origin("BUFFER_PROFILE", row).key(), severity="warning")


def _threshold_contradicts_pool(
    device: Device, row: ConfigRow, field: str, problem: str, help_: str
) -> Violation:
    severity: Severity | None = "error" if _dynamic(device) else None
    return Violation(
        origin=device.tables.origin("BUFFER_PROFILE", row, field),
        message=f"{row.key} {problem}",
        help=help_,
        data={"pool": row.reference("pool"), "value": row.fields.get(field)},
        severity=severity,
    )
