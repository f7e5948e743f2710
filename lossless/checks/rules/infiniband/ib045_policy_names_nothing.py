"""Service levels and P_Keys that a policy names must exist.

Severity: error
Subject: subnet

## What it does
Looks for match rules whose `qos-level-name` is no level of the policy, and, as a warning, for P_Keys in match rules and
simple rules of which no partition is defined.

## Why it breaks a lossless fabric
For one unknown level opensm drops the whole policy: every path has the level of its partition, or SL 0. A rule for a
P_Key without a partition never matches: its traffic shares the lane of all other traffic instead of its own.

## Bad
```conf qos-policy base=none beside=opensm-policy.conf
qos-levels
  qos-level
    name: DEFAULT
    sl: 0
  end-qos-level
end-qos-levels
qos-match-rules
  qos-match-rule
    pkey: 0x0002
    qos-level-name: Training   # <- here
  end-qos-match-rule
end-qos-match-rules
```

## Good
```conf qos-policy base=none beside=opensm-policy.conf
qos-levels
  qos-level
    name: DEFAULT
    sl: 0
  end-qos-level
  qos-level
    name: Training
    sl: 3
  end-qos-level
end-qos-levels
qos-match-rules
  qos-match-rule
    pkey: 0x0002
    qos-level-name: Training
  end-qos-match-rule
end-qos-match-rules
```

## Fix
Name a level of the file, and a P_Key of partitions.conf.

## Sources
- linux-rdma/opensm opensm/osm_qos_policy.c @fa74b98 (osm_qos_policy_validate: ERR AC11, ERR AC14),
  opensm/osm_qos_parser_y.y @fa74b98 (ERR AC04: the policy is destroyed)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import (
    NO_PARTITIONS,
    QOS_UNTOLD,
    by_key,
    holds_key,
    is_on,
    partitions,
    qos_untold,
)
from lossless.model.fabric.infiniband.derived_policy import DEFAULT_PKEY

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.infiniband.qos_policy import QosPolicy
    from lossless.model.fabric.infiniband.subnet import Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation per rule of a policy with a level that it lacks, and per list of P_Keys without a partition.

    Only with QoS on.
    """
    policy = subnet.policy if is_on(subnet, "qos") else None
    if policy is None:
        if subnet.policy is not None and qos_untold(subnet):
            yield QOS_UNTOLD
        return
    levels = {level.text("name").upper() for level in policy.levels}
    for rule in policy.rules:
        line = rule.line("qos-level-name")
        if line is not None and line.text.upper() not in levels:
            yield Violation(
                origin=line.origin,
                message=f"the policy has no level {line.text}: opensm drops the whole policy",
                help="name a level of qos-levels",
                data={"level": line.text},
            )
    stated = _keys(policy)
    if stated and partitions(subnet) is None:
        yield NO_PARTITIONS
        return
    for ranges, origin in stated:
        if not any(holds_key(ranges, key) for key in (DEFAULT_PKEY, *by_key(subnet))):
            yield Violation(
                origin=origin,
                message=f"no partition has the P_Key {ranges}: the rule never matches",
                help="name the P_Key of a partition, or take the rule out",
                data={"pkey": ranges},
                severity="warning",
            )


def _keys(policy: QosPolicy) -> list[tuple[str, Origin]]:
    lines = [line for rule in policy.rules if (line := rule.line("pkey")) is not None]
    simple = [(ulp.numbers, ulp.origin) for ulp in policy.ulps if ulp.match == "any, pkey"]
    return [*((line.text, line.origin) for line in lines), *simple]
