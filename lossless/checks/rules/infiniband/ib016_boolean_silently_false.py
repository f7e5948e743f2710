"""A boolean of opensm.conf must be TRUE or FALSE: every other word is false, without a message.

Severity: error
Fix: unsafe
Subject: subnet

## What it does
Looks for booleans of another spelling. It is an error where the word means yes (`true`, `yes`, `on`, `1`) or has no
known meaning, and information where it means no, as opensm reads it.

## Why it breaks a lossless fabric
`qos true` starts a subnet without QoS: no SL2VL table, no arbitration, every packet on VL 0, and torus-2QoS without the
lanes that keep it free of cycles. opensm reports nothing, neither when it starts nor in its log.

## Bad
```conf opensm base=none
routing_engine updn
qos true   # <- here
```

```conf opensm base=none
use_ucast_cache no   # <- here
```

## Good
```conf opensm base=none
qos TRUE
```

## Fix
Write the word in capitals.

## Sources
- opensm 3.3.23, run: `qos true` is written back as `qos FALSE`, and no line is printed
- linux-rdma/opensm opensm/osm_subnet.c @007a62e (opts_parse_boolean compares with TRUE)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import set_to, stated

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import ManagerSetting, Subnet


_YES = frozenset({"true", "t", "yes", "y", "on", "1", "enable", "enabled"})
_NO = frozenset({"false", "f", "no", "n", "off", "0", "disable", "disabled"})


def check(subnet: Subnet) -> Results:
    """Yield a violation per boolean of opensm.conf that is neither ``TRUE`` nor ``FALSE``."""
    for setting, option in stated(subnet):
        if option.kind == "bool" and setting.text not in ("TRUE", "FALSE"):
            yield _meant_false(setting) if setting.text.lower() in _NO else _boolean_silently_false(setting)


def _boolean_silently_false(setting: ManagerSetting) -> Violation:
    means_true = setting.text.lower() in _YES
    return Violation(
        origin=setting.origin,
        message=f"{setting.key} {setting.text} is taken as FALSE: only the word TRUE is true",
        note="opensm says nothing of it, and writes FALSE where its effective configuration is asked for",
        help=f"write {setting.key} TRUE" if means_true else "write TRUE or FALSE",
        data={"key": setting.key, "text": setting.text},
        # Other rules report the effect of an option that is off where it is meant to be off.
        conclusive=means_true,
        fix=set_to(setting, "TRUE") if means_true else (),
    )


def _meant_false(setting: ManagerSetting) -> Violation:
    return Violation(
        origin=setting.origin,
        message=f"{setting.key} {setting.text} is FALSE, as any word but TRUE is",
        help=f"write {setting.key} FALSE",
        data={"key": setting.key, "text": setting.text},
        severity="info",
        fix=set_to(setting, "FALSE"),
        conclusive=False,
    )
