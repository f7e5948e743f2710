"""The policy of service levels must give a partition the level that the partition states.

Severity: warning
Subject: subnet

## What it does
Follows a path of each partition that states a P_Key and a service level through the policy: its match rules in their
order, then its simple rules, then its default. Where a match rule also asks for other things than a P_Key, nothing is
checked.

## Why it breaks a lossless fabric
Where there is a policy, its answer counts and the `sl` of a partition does not, not even for a path request with the
partition's key. `default : 0`, which looks harmless, puts every partition on the lane of all other traffic.

## Bad
```conf partitions base=none beside=opensm-policy.conf,qos-policy.conf
Default=0x7fff : ALL=limited, SELF=full ;
Training=0x0002, sl=3, defmember=full : 0x506b4b0300000001, 0x506b4b0300000002 ;
Storage=0x0003, sl=1, defmember=full : 0x506b4b0300000001, 0x506b4b0300000003 ;   # <- here
```

## Good
```conf partitions base=none beside=opensm-policy.conf,qos-policy.conf
Default=0x7fff : ALL=limited, SELF=full ;
Training=0x0002, sl=3, defmember=full : 0x506b4b0300000001, 0x506b4b0300000002 ;
```

## Fix
Add a rule for the partition, `any, pkey 0x0002 : 3`, or leave the policy out.

## Sources
- opensm 3.3.23 on a simulated fabric, run: with `sl=2` for a partition and `default : 1` in the policy, paths have
  SL 1, asked for with the partition's key or without; with `any, pkey 0x0002 : 5` they have SL 5
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import (
    QOS_UNTOLD,
    holds_key,
    is_on,
    partitions,
    qos_untold,
)
from lossless.checks.rules.locations import beside
from lossless.model.fabric.infiniband.derived_policy import DEFAULT, policy_of
from lossless.model.fabric.infiniband.subnet import c_number

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.infiniband.qos_policy import PolicyBlock, QosPolicy
    from lossless.model.fabric.infiniband.subnet import Partition, Subnet


_OF_KEYS = frozenset({"use", "pkey", "qos-level-name"})


def check(subnet: Subnet) -> Results:
    """Yield a violation per partition with a P_Key whose paths get another service level by the policy than it states.

    Only with QoS on.
    """
    policy = policy_of(subnet) if is_on(subnet, "qos") else None
    if policy is None:
        if subnet.policy is not None and qos_untold(subnet):
            yield QOS_UNTOLD
        return
    for partition in partitions(subnet) or ():
        if partition.sl is None or partition.base is None:
            continue
        if any(not _OF_KEYS.issuperset(line.word for line in rule.lines) for rule in policy.rules):
            yield MissingInput("a match rule that asks for more than a P_Key")
            continue
        sl, origin = _given(policy, partition.base)
        if sl is not None and sl != partition.sl:
            yield _policy_overrides_partition(partition, sl, origin)


def _policy_overrides_partition(partition: Partition, sl: int, given: Origin) -> Violation:
    return Violation(
        origin=partition.origin,
        message=f"partition {partition.name} states SL {partition.sl}, and the policy gives its paths SL {sl}",
        note="the policy counts for more, whoever asks",
        help=f"add a rule for {partition.base:#06x} to the policy, or leave the policy out",
        data={"stated": partition.sl, "given": sl},
        related=beside(partition.origin, (given, f"what gives SL {sl}")),
    )


def _given(policy: QosPolicy, key: int) -> tuple[int | None, Origin]:
    """Return the SL that the policy gives a path with a P_Key, None without one, and the origin of its rule."""
    levels = {level.text("name").upper(): level for level in policy.levels}
    for rule in policy.rules:
        if holds_key(rule.text("pkey"), key) or rule.line("pkey") is None:
            return _sl_of(levels.get(rule.text("qos-level-name").upper())), rule.origin
    for ulp in policy.ulps:
        if ulp.match == "any, pkey" and holds_key(ulp.numbers, key):
            return ulp.sl, ulp.origin
    for ulp in policy.ulps:
        if ulp.match == "default":
            return ulp.sl, ulp.origin
    level = levels.get(DEFAULT)
    return _sl_of(level), level.origin if level else policy.origin


def _sl_of(level: PolicyBlock | None) -> int | None:
    return None if level is None else c_number(level.text("sl"))
