"""A switch whose queues trim needs settings for trimmed packets.

Severity: warning
Subject: device
Needs: BUFFER_QUEUE

## What it does
Looks for queues of a deployed device whose profile has `packet_discard_action` trim. `SWITCH_TRIMMING|GLOBAL` must then
give trimmed packets a DSCP: `dscp_value`, and with `from-tc` a `tc_value` too. A missing `queue_index` alone is
information: the design sends such packets by their DSCP, SAI's default is queue 0. Without `size` the default of 128
bytes counts, which is correct.

## Why it breaks a lossless fabric
A trimmed packet is to report a loss to the receiver, ahead of the data. With DSCP 0 it cannot: it waits with all other
traffic, in the congested class, and the sender learns of the loss by a timeout, as if no packet had been trimmed.

## Bad
```json config_db base=trimming-leaf
{
  "SWITCH_TRIMMING": null,
  "BUFFER_PROFILE": {"q_lossy_trim_profile": {
    "packet_discard_action": "trim"   // <- here
  }}
}
```

```json config_db base=trimming-leaf
{
  "SWITCH_TRIMMING": {
    "GLOBAL": {"dscp_value": "from-tc", "tc_value": null}   // <- here
  },
  "TC_TO_DSCP_MAP": {"TRIM": {"5": "48"}},
  "PORT_QOS_MAP": {
    "Ethernet0": {"tc_to_dscp_map": "TRIM"},
    "Ethernet4": {"tc_to_dscp_map": "TRIM"},
    "Ethernet8": {"tc_to_dscp_map": "TRIM"}
  }
}
```

## Good
```json config_db base=trimming-leaf
{
  "SWITCH_TRIMMING": {"GLOBAL": {"size": null, "dscp_value": "48", "queue_index": "6"}}
}
```

## Fix
Write `dscp_value` and `queue_index`: a DSCP that no data has, and a queue that is served early.

## Sources
- sonic-net/SONiC doc/packet_trimming/packet-trimming-design.md @98de38f (2.1: size 128; without a queue the QoS maps)
- opencomputeproject/SAI inc/saiswitch.h @91e6b86 (defaults: 128 bytes, DSCP 0, TC 0, queue 0)
- sonic-swss orchagent/switchorch.cpp @e6b0c5b (setSwitchTrimming sets the fields of the row, and nothing else)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.locations import beside, distinct
from lossless.checks.rules.scheduling.scheduler_use import queue_names
from lossless.checks.rules.trimming.trimmed_packets import (
    TABLE,
    is_by_class,
    settings_row,
    trimming_queues,
)

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import Device
    from lossless.checks.rules.trimming.trimmed_packets import TrimmingQueue
    from lossless.formats.sonic.read.tables import ConfigRow

_DEFAULTS = {
    "dscp_value": "trimmed packets keep SAI's default, DSCP 0",
    "tc_value": "trimmed packets keep SAI's default, TC 0",
    "queue_index": "the design sends trimmed packets by their DSCP, SAI's default is queue 0",
}
"""The defaults of missing fields (packet-trimming-design.md @98de38f, 2.1; SAI inc/saiswitch.h @91e6b86)."""


def check(device: Device) -> Results:
    """Yield a violation where queues trim and the switch lacks the row, or fields, of settings for trimmed packets."""
    queues = trimming_queues(device)
    if not queues:
        return
    row = settings_row(device)
    if row is None and device.switch.is_fragment:
        yield MissingInput(f"a fragment without PORT rows: {TABLE} may stand elsewhere", len(queues))
    elif row is None:
        yield _without_row(queues)
    elif missing := _missing(row):
        yield _incomplete(device, row, queues, missing)


def _missing(row: ConfigRow) -> list[str]:
    wanted = ["dscp_value", *(["tc_value"] if is_by_class(row) else []), "queue_index"]
    return [field for field in wanted if not row.fields.get(field)]


def _numbers(queues: tuple[TrimmingQueue, ...]) -> tuple[int, ...]:
    return tuple(sorted({trimming.queue.number for trimming in queues}))


def _without_row(queues: tuple[TrimmingQueue, ...]) -> Violation:
    numbers = _numbers(queues)
    return Violation(
        origin=queues[0].action_origin,
        message=f"{queue_names(numbers)} trims packets, and nothing says what becomes of them: there is no {TABLE}",
        note="the chip's defaults count; those of SAI are 128 bytes, DSCP 0 and queue 0",
        help=f"write dscp_value and queue_index into {TABLE}|GLOBAL",
        data={"queues": [*numbers]},
    ).on_ports(*distinct(trimming.ports for trimming in queues))


def _incomplete(
    device: Device, row: ConfigRow, queues: tuple[TrimmingQueue, ...], missing: list[str]
) -> Violation:
    origin = device.tables.origin(TABLE, row)
    return Violation(
        origin=origin,
        message=f"{TABLE}|GLOBAL has no {' and no '.join(missing)}: {_DEFAULTS[missing[0]]}",
        help=f"write {' and '.join(missing)} into {TABLE}|GLOBAL",
        data={"missing": [*missing], "queues": [*_numbers(queues)]},
        related=beside(origin, (queues[0].action_origin, "the profile that trims")),
        severity="info" if missing == ["queue_index"] else None,
    ).on_ports(*distinct(trimming.ports for trimming in queues))
