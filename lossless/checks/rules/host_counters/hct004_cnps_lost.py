"""The CNPs that receivers send must arrive at the senders.

Severity: warning
Subject: running fabric

## What it does
With `--since` and an intent, adds up the counts of all hosts of the intent between the captures: the CNPs that they
sent (`np_cnp_sent`), and those that they received (`rp_cnp_handled` and `rp_cnp_ignored`). It fires where less than
half of the CNPs that must be in both sums have arrived. It needs all RDMA ports of all hosts, DCQCN on in the intent,
and at least ten CNPs. Captures of hosts are not taken at once. Where they have a time (`# taken`), the CNPs of the
common counting time are expected to arrive; a common time of less than half of the whole time is *not checked*. Without
times, this rule fires only where no CNP has arrived at any host, with medium confidence.

The margins: with a steady load, both ends count the CNPs of the common time. Half of them is this project's own margin,
because CNPs come in bursts. Ten CNPs, each with a probability of one half, are all outside of the common time once in a
thousand cases.

## Why it breaks a lossless fabric
The counters of a single host do not show it: one host sends CNPs as it should, the other gets none and does not slow
down. An ACL, a class that drops, or a missing route to the sender loses the CNPs, and only PFC limits the load.

## Bad
```text earlier
admin@host1:~$ rdma statistic show link mlx5_0/1
link mlx5_0/1 np_cnp_sent 100 rp_cnp_handled 0 rp_cnp_ignored 0
admin@host2:~$ rdma statistic show link mlx5_0/1
link mlx5_0/1 np_cnp_sent 0 rp_cnp_handled 0 rp_cnp_ignored 0
```
```text capture beside=pair.yaml
admin@host1:~$ rdma statistic show link mlx5_0/1
link mlx5_0/1 np_cnp_sent 20691 rp_cnp_handled 0 rp_cnp_ignored 0   # <- here
admin@host2:~$ rdma statistic show link mlx5_0/1
link mlx5_0/1 np_cnp_sent 0 rp_cnp_handled 0 rp_cnp_ignored 0
```

## Good
```text earlier
admin@host1:~$ rdma statistic show link mlx5_0/1
link mlx5_0/1 np_cnp_sent 100 rp_cnp_handled 0 rp_cnp_ignored 0
admin@host2:~$ rdma statistic show link mlx5_0/1
link mlx5_0/1 np_cnp_sent 0 rp_cnp_handled 0 rp_cnp_ignored 0
```
```text capture beside=pair.yaml
admin@host1:~$ rdma statistic show link mlx5_0/1
link mlx5_0/1 np_cnp_sent 20691 rp_cnp_handled 0 rp_cnp_ignored 0
admin@host2:~$ rdma statistic show link mlx5_0/1
link mlx5_0/1 np_cnp_sent 0 rp_cnp_handled 20480 rp_cnp_ignored 0
```

## Fix
Follow one CNP with `lossless trace`, and look for drops of its class along the way: queue counters of the priority of
CNPs, ACLs, the DSCP that hosts give them.

## Sources
- Linux commit e1f24a79f424 (mlx5): CNPs sent by the notification point, handled and ignored by the reaction point
- Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015 (CNPs go from the receiver of a flow to
  its sender)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.counting import Count, common_s, counted_time, whole_s
from lossless.checks.rules.host_counters.rdma_ports import CNPS_HANDLED, CNPS_IGNORED, CNPS_SENT, rdma_ports
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lossless.checks.rules.host_counters.rdma_ports import RdmaPort
    from lossless.checks.rules.running_subjects import RunningDevice, RunningFabric

_FEWEST = 10
_COUNTERS = (CNPS_SENT, CNPS_HANDLED, CNPS_IGNORED)
_NOT_ALL = MissingInput(
    "CNPs are compared over all RDMA ports of all hosts of the intent, and some are not captured"
)
_ONE_CAPTURE = MissingInput("CNPs are compared between two captures of each host (--since)")
_UNTIMED = MissingInput("some CNPs did not arrive; when the captures of each host were taken is not known")
_BARELY = MissingInput("the captures of all hosts have less than half of their time in common")


class _Flow(NamedTuple):
    """The CNPs of a fabric between two captures, and the port that sent most."""

    sent: int
    arrived: int
    most: tuple[RdmaPort, Count]


def throughout(fabric: RunningFabric) -> Results:
    """Yield a violation where less than half of the expected CNPs between the hosts of an intent arrived.

    Only from ten sent CNPs on, and where the intent has DCQCN on for all captured hosts.
    """
    links = grouped((link.b, link) for link in fabric.links if link.to_host)
    hosts = [device for device in fabric.devices if device.name in links]
    ports = {host.name: rdma_ports(host, CNPS_SENT) for host in hosts}
    if not any(ports.values()) or not all(
        (host.intended_host is not None and host.intended_host.dcqcn.enabled is True) for host in hosts
    ):
        return
    if any(len(ports.get(name, ())) != len(to_host) for name, to_host in links.items()):
        yield _NOT_ALL
        return
    flow = _flow(ports)
    if isinstance(flow, MissingInput):
        yield flow
    elif flow.sent >= _FEWEST and 2 * flow.arrived < flow.sent:
        yield from _lost(hosts, flow)


def _flow(ports: Mapping[str, Sequence[RdmaPort]]) -> _Flow | MissingInput:
    """Return the CNPs of all RDMA ports between captures; a missing input if a count is unknown or of one capture."""
    counts = [
        (port, name, port.counted(name))
        for of_host in ports.values()
        for port in of_host
        for name in _COUNTERS
    ]
    known = [(port, name, count) for port, name, count in counts if isinstance(count, Count)]
    if len(known) < len(counts):
        return next(count for _, _, count in counts if isinstance(count, MissingInput))
    if not all(count.between for _, _, count in known):
        return _ONE_CAPTURE
    sent = [(port, count) for port, name, count in known if name == CNPS_SENT]
    arrived = sum(count.amount for _, name, count in known if name != CNPS_SENT)
    most = max(sent, key=lambda pair: pair[1].amount)
    return _Flow(sum(count.amount for _, count in sent), arrived, most)


def _lost(hosts: Sequence[RunningDevice], flow: _Flow) -> Results:
    """Yield the violation where too few CNPs arrived for the common time of the captures of hosts.

    It is a missing input where the captures have too little time in common, or no times and some CNPs arrived.
    """
    times = [time for host in hosts if (time := counted_time(host)) is not None]
    if len(times) < len(hosts):
        yield (
            _UNTIMED if flow.arrived else _cnps_lost(flow, "no capture says when it was taken", certain=False)
        )
        return
    common, whole = common_s(times), whole_s(times)
    if 2 * common < whole or not whole:
        yield _BARELY
    elif 2 * flow.arrived * whole < flow.sent * common:
        said = f"all hosts counted at the same time for {common} of {whole} s"
        yield _cnps_lost(flow, said, certain=True)


def _cnps_lost(flow: _Flow, times: str, *, certain: bool) -> Violation:
    port, count = flow.most
    return Violation(
        origin=count.placed.origin,
        message=(
            f"hosts sent {flow.sent:,} CNPs between the captures, and received "
            f"{f'{flow.arrived:,} of them' if flow.arrived else 'none'}"
        ),
        note=f"{port.element} sent most, {count.amount:,}; {times}",
        help="look for drops of the class of CNPs along the way, and for ACLs that match it",
        elements=(port.element,),
        data={"sent": flow.sent, "arrived": flow.arrived},
        confidence=None if certain else "medium",
    )
