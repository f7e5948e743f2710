"""The rate and MTU of a partition must be codes that its ports can reach.

Severity: error
Subject: subnet

## What it does
Looks at partitions for IPoIB: `rate=` and `mtu=` must be codes (17 is 200 Gb/s, 21 400, 23 800; 4 is 2048 bytes), and
the rate no more than that of the slowest link to an adapter.

## Why it breaks a lossless fabric
They are those of the group that carries broadcasts. A number that is not a valid code (`rate=200`) makes opensm refuse
the group, and IPoIB never comes up in the partition; a rate above a port's own keeps that port out of it, and its host
cannot resolve an address.

## Bad
```conf partitions base=none beside=opensm.conf at=rate
Default=0x7fff, ipoib, rate=200 : ALL=full ;   # <- here
```

```conf partitions base=none beside=opensm.conf at=mtu
Default=0x7fff, ipoib, mtu=4096 : ALL=full ;   # <- here
```

## Good
```conf partitions base=none beside=opensm.conf
Default=0x7fff, ipoib, rate=17, mtu=5 : ALL=full ;
```

## Fix
Write the code; `rate=3` (10 Gb/s) is opensm's own choice and serves all.

## Sources
- opensm 3.3.23 on a simulated fabric, run: `rate=200`, `rate=25` and `mtu=2048` draw `ERR 1B26: Requested MGRP
  parameters are not realizable`
- opensm's ib_types.h (IB_PATH_RECORD_RATE_*)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import links, partitions
from lossless.ground.basics.units import format_capacity
from lossless.model.fabric.infiniband.qos_policy import MTU_CODES, RATE_CODES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.infiniband.subnet import Partition, Subnet


_RATES = {code: rate for rate, code in RATE_CODES.items()}
_MTUS = {code: mtu for mtu, code in MTU_CODES.items()}


def check(subnet: Subnet) -> Results:
    """Yield a violation per invalid rate or MTU code of an IPoIB partition, and per rate above the slowest HCA link."""
    slowest_bps = min((link.rate.bits_per_second for link in links(subnet) if link.to_hca), default=None)
    for partition in partitions(subnet) or ():
        if not partition.ipoib:
            continue
        if partition.rate is not None:
            yield from _rate(partition, partition.rate, slowest_bps)
        if partition.mtu is not None and partition.mtu not in _MTUS:
            yield _no_code(partition, "mtu", partition.mtu, MTU_CODES.get(partition.mtu))


def _rate(partition: Partition, code: int, slowest_bps: int | None) -> Iterator[Violation]:
    rate_bps = _RATES.get(code)
    if rate_bps is None:
        yield _no_code(partition, "rate", code, RATE_CODES.get(code * 10**9))
    elif slowest_bps is not None and rate_bps > slowest_bps:
        yield Violation(
            origin=partition.origin.at("rate"),
            message=f"{partition.name} is for {format_capacity(rate_bps)}; "
            f"the slowest port has {format_capacity(slowest_bps)}",
            note="ports below the rate of a group are not let into it",
            help=f"state no more than {format_capacity(slowest_bps)}",
            data={"rate_bps": rate_bps, "slowest_bps": slowest_bps},
        )


def _no_code(partition: Partition, key: str, number: int, intended_code: int | None) -> Violation:
    return Violation(
        origin=partition.origin.at(key),
        message=f"{key}={number} is no code: opensm makes no group for {partition.name}, and IPoIB never comes up",
        help=f"write {key}={intended_code}"
        if intended_code
        else "write the code that the specification has for it",
        data={"key": key, "number": number},
    )
