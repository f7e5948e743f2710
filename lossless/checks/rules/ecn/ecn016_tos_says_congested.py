"""A ToS byte must not have the ECN bits 11 (congestion experienced).

Severity: warning
Subject: intent, hosts

## What it does
Looks at the ECN bits, the lower two, of every ToS byte that hosts or jobs set. 11 is CE, which only a switch sets; 00,
01 and 10 are accepted. It is a warning where a NIC may send the byte unchanged; mlx5 uses only its DSCP, and there it
is information.

## Why it breaks a lossless fabric
A receiver answers CE with a CNP. A flow with CE in every packet is slowed at every CNP interval, with or without
congestion, down to the lowest rate.

## Bad
```yaml intent base=leaf-spine
congestion_control: dcqcn
hardware: {nic: broadcom-thor-2}
hosts:
  traffic_class: 107   # <- here
```

## Good
```yaml intent base=leaf-spine
hosts: {traffic_class: 106}
```

## Fix
Write the DSCP shifted by two, plus 2 for ECT(0): 104 or 106 for DSCP 26.

## Sources
- RFC 3168, section 5 (the ECN field)
- Linux drivers/infiniband/hw/mlx5/qp.c (the DSCP of a path is its traffic class shifted by two)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.classification.host_markings import ECT0, Marking, markings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.view import View

CE = 0b11


def check(view: View) -> Results:
    """Yield a violation per kind of host and ToS byte with both ECN bits set."""
    for host, names in view.host_kinds:
        for marking in dict.fromkeys(_bytes(host)):
            if marking.tos & CE == CE:
                yield _tos_says_congested(host, marking, names)


def _bytes(host: HostQos) -> Iterator[Marking]:
    yield from markings(host)
    for library in host.jobs.libraries:
        if library.tos is not None:
            yield Marking(library.variable, library.tos, library.origin)
    if isinstance(host.jobs.fifo_tc, int):
        yield Marking("NCCL_IB_FIFO_TC", host.jobs.fifo_tc, host.at("nccl", "ib_fifo_tc"))


def _tos_says_congested(host: HostQos, marking: Marking, names: tuple[str, ...]) -> Violation:
    dscp_alone = host.nic is not None and host.nic.driver == "mlx5"
    wanted = marking.dscp << 2 | ECT0
    return Violation(
        origin=marking.origin,
        message=f"{marking.name} {marking.tos} has ECN bits 11: each packet claims that it has experienced congestion",
        note=f"{host.nic_name} takes the DSCP alone from it"
        if dscp_alone
        else "a receiver answers each such packet with a CNP, congestion or not",
        help=f"write {wanted}: DSCP {marking.dscp} with ECT(0)",
        elements=names,
        data={"tos": marking.tos, "dscp": marking.dscp},
        severity="info" if dscp_alone else None,
    )
