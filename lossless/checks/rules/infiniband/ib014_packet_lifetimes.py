"""Packet lifetimes must be long enough for a busy queue, and must not be unlimited.

Severity: warning
Subject: subnet

## What it does
Checks the lifetimes at the head of a queue, in switches and towards hosts, and the lifetime in a switch: each must not
be too short (below 0x0c, 16.8 ms), and those at the head of a queue not off (0x14 and above), or longer towards hosts
than between switches.

## Why it breaks a lossless fabric
A packet whose lifetime ends is discarded, on a fabric that should lose none: short lifetimes drop packets in queues
that are merely busy. With the lifetime off, nothing ends a credit loop, and one dead host may stall all hosts behind
it. A lifetime at the leaves that is longer than that between switches moves the drops of a slow host from the edge to
the middle of the fabric.

## Bad
```conf opensm base=none
head_of_queue_lifetime 0x14   # <- here
```

```conf opensm base=none
head_of_queue_lifetime 0x08   # <- here
leaf_head_of_queue_lifetime 0x08
```

```conf opensm base=none
head_of_queue_lifetime 0x0f
leaf_head_of_queue_lifetime 0x12   # <- here
```

## Good
```conf opensm base=none
head_of_queue_lifetime 0x12
leaf_head_of_queue_lifetime 0x10
```

## Fix
Leave them out: 0x12 (1.07 s) between switches and 0x10 (268 ms) towards hosts.

## Sources
- opensm 3.3.23, run: `opensm -c` writes 4.096 us x 2^n, 0x14 disables, and the defaults 0x12 and 0x10
- InfiniBand specification 1.2.1, 18.2.5.4 (transmitter queueing: packets at the head of a queue are discarded after
  HOQLife)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import number
from lossless.checks.rules.locations import beside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.infiniband.subnet import ManagerSetting, Subnet


INNER, LEAF, SWITCH = "head_of_queue_lifetime", "leaf_head_of_queue_lifetime", "packet_life_time"
SHORTEST, OFF, WIDEST = 0x0C, 0x14, 0x1F
"""Codes of lifetimes: the shortest that a busy queue survives, the first that is unlimited, the last of the field."""
_TICK_US = 4.096


def check(subnet: Subnet) -> Results:
    """Yield violations for lifetimes that are too short, and those at the head of queues that are off or reversed."""
    short = [
        setting
        for key in (INNER, LEAF, SWITCH)
        if (setting := subnet.option(key)) and number(subnet, key) < SHORTEST
    ]
    yield from _short(subnet, short)
    for key in (INNER, LEAF):
        setting = subnet.option(key)
        if setting is not None and OFF <= number(subnet, key) <= WIDEST:
            yield _off(setting)
    inner, leaf = number(subnet, INNER), number(subnet, LEAF)
    stated = subnet.option(LEAF) or subnet.option(INNER)
    if SHORTEST <= inner < leaf < OFF and stated is not None:
        yield _reversed(subnet, stated, inner, leaf)


def _short(subnet: Subnet, settings: list[ManagerSetting]) -> Iterator[Violation]:
    """Yield one violation for the packet lifetimes that are too short, at the first of them."""
    for setting in settings[:1]:
        life_us = _TICK_US * 2 ** number(subnet, setting.key)
        yield Violation(
            origin=setting.origin,
            message=f"{setting.key} {setting.text} discards packets after {life_us / 1000:.3g} ms in a queue",
            note="a queue that is merely busy may hold a packet longer",
            help=f"remove {setting.key}",
            elements=tuple(short.key for short in settings),
            data={"code": number(subnet, setting.key), "life_us": life_us},
        )


def _off(setting: ManagerSetting) -> Violation:
    return Violation(
        origin=setting.origin,
        message=f"{setting.key} {setting.text} is unlimited: packets in a credit loop are never discarded",
        help=f"remove {setting.key}",
        data={"key": setting.key},
    )


def _reversed(subnet: Subnet, stated: ManagerSetting, inner: int, leaf: int) -> Violation:
    other = subnet.option(INNER)
    return Violation(
        origin=stated.origin,
        message=f"packet lifetime is longer towards hosts ({_in_ms(leaf)}) than between switches ({_in_ms(inner)})",
        note="packets for a slow host are then discarded in the middle of the fabric, not at its edge",
        help="set the lifetime at leaves to no more than that between switches",
        data={"inner": inner, "leaf": leaf},
        related=beside(stated.origin, (other.origin if other else None, "the lifetime between switches")),
    )


def _in_ms(code: int) -> str:
    return f"{_TICK_US * 2**code / 1000:.4g} ms"
