"""A number of opensm.conf must have a form that C reads, and fit its field.

Severity: error
Fix: unsafe
Subject: subnet

## What it does
Looks for numbers that opensm cannot read: hexadecimal digits without 0x, units, words, an 8 or 9 behind a leading 0,
which makes a number octal, and numbers too wide for their field.

## Why it breaks a lossless fabric
opensm keeps its previous value, or takes the digits at the beginning, or 0, and starts. A `subnet_prefix` without 0x
leaves the default prefix, so two subnets with intended prefixes of their own share one; an `m_key` that cannot be read
leaves the subnet without one.

## Bad
```conf opensm base=none
subnet_prefix fe80000000000001   # <- here
```

```conf opensm base=none
qos TRUE
qos_high_limit all   # <- here
```

```conf opensm base=none
sweep_interval 10s   # <- here
```

## Good
```conf opensm base=none
subnet_prefix 0xfe80000000000001
sweep_interval 10
```

## Fix
Write digits alone, with 0x before hexadecimal ones.

## Sources
- opensm 3.3.23, run: `-E- Parsing error in field subnet_prefix`, and the default stays; the exit status is 0 all
  the same; `qos_high_limit abc` is `qos_high_limit 0`, without a message
- linux-rdma/opensm opensm/osm_subnet.c @007a62e (strtol, strtoul with base 0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import set_to, stated
from lossless.model.fabric.infiniband.subnet import BITS, taken

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import ManagerSetting, Option, OptionValue, Subnet


_HEXADECIMAL = frozenset("0123456789abcdefABCDEF")


def check(subnet: Subnet) -> Results:
    """Yield a violation per number of opensm.conf that opensm cannot read, or that is too wide.

    ``sharp_enabled`` is left to IB038.
    """
    for setting, option in stated(subnet):
        value = taken(option, setting.text)
        # Another rule checks the meaning of sharp_enabled.
        if option.key != "sharp_enabled" and value.loss in ("no number", "too wide", "silently zero"):
            yield _option_unreadable(setting, option, value)


def _option_unreadable(setting: ManagerSetting, option: Option, value: OptionValue) -> Violation:
    loss = value.loss
    what = f"is wider than {BITS[option.kind]} bits" if loss == "too wide" else "is no number"
    then = f"is taken as {value.value}, without a message" if loss == "silently zero" else _outcome(option)
    missing = option.kind in BITS and _lacks_prefix(setting.text)
    return Violation(
        origin=setting.origin,
        message=f"{setting.key} {_shown(setting, option)} {what}: it {then}",
        help="write 0x before hexadecimal digits" if missing else "write digits alone, without a leading 0",
        data={"key": setting.key, "loss": loss},
        fix=set_to(setting, f"0x{setting.text}") if missing else (),
    )


def _outcome(option: Option) -> str:
    return "is not taken" if option.default is None else f"stays {option.default}"


def _lacks_prefix(text: str) -> bool:
    """Return whether a text is a hexadecimal number without 0x: it has digits that decimal numbers lack."""
    return bool(text) and _HEXADECIMAL.issuperset(text) and not text.isdigit()


def _shown(setting: ManagerSetting, option: Option) -> str:
    """Return the text of an option for a message; a placeholder for the keys that protect a subnet."""
    return "(a key)" if option.secret else repr(setting.text)
