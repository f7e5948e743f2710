"""Traffic tests of one kind must be equally fast.

Severity: warning
Subject: running fabric

## What it does
Compares tests of one kind in all captures: collectives of one name over as many hosts and GPUs with NICs of one rate,
and perftest of one kind on ports of one rate; where the rate is unknown, on ports of one name. From three of them on,
those below 0.9 of the best (`same` in table `bandwidth` of `lossless.toml`) are slow. A host, the NIC of one name
on all hosts (the rail), or by the intent a leaf, is reported where all of its tests are slow, the one first that most
slow tests have in common. Where a slow test leaves several, all are named.

## Why it breaks a lossless fabric
The slowest host sets the pace of a collective. One that is slow with any partner has a fault of its own: a NIC, PCIe,
ACS, a bad cable, or another configuration. A slow rail or leaf is the network's.

## Bad
```text capture
==> mpirun -H host1,host2 all_reduce_perf -b 8G -e 8G
# nThread 1 nGpus 1 minBytes 8589934592 maxBytes 8589934592 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1
#  Rank  0 Group  0 Pid   1887 on    host1 device  0 [0x8d] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid   1885 on    host2 device  0 [0x8d] NVIDIA H100 80GB HBM3
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
  8589934592  2147483648  float   sum   -1  350612   24.50   24.50      0   350612   24.50   24.50      0   # <- here
# Out of bounds values : 0 OK
# nThread 1 nGpus 1 minBytes 8589934592 maxBytes 8589934592 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1
#  Rank  0 Group  0 Pid   1887 on    host1 device  0 [0x8d] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid   1885 on    host3 device  0 [0x8d] NVIDIA H100 80GB HBM3
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
  8589934592    2147483648     float     sum      -1   350612   24.50   24.50      0   350612   24.50   24.50      0
# Out of bounds values : 0 OK
# nThread 1 nGpus 1 minBytes 8589934592 maxBytes 8589934592 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1
#  Rank  0 Group  0 Pid   1887 on    host2 device  0 [0x8d] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid   1885 on    host3 device  0 [0x8d] NVIDIA H100 80GB HBM3
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
  8589934592    2147483648     float     sum      -1   178956   48.00   48.00      0   178956   48.00   48.00      0
# Out of bounds values : 0 OK
```

## Good
```text capture
# nThread 1 nGpus 1 minBytes 8589934592 maxBytes 8589934592 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1
#  Rank  0 Group  0 Pid   1887 on    host2 device  0 [0x8d] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid   1885 on    host3 device  0 [0x8d] NVIDIA H100 80GB HBM3
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
  8589934592    2147483648     float     sum      -1   178956   48.00   48.00      0   178956   48.00   48.00      0
# Out of bounds values : 0 OK
```

## Fix
Measure every NIC of the host with `ib_write_bw`, and compare its PCIe links, ACS, firmware, `mlnx_qos` and counters
with those of a fast host. Of a rail or a leaf look at the switch: pauses, discards, FEC, and the links up.

## Sources
- NVIDIA/nccl-tests#106: 49 instead of 88 GB/s with one host, whatever the partner
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Violation
from lossless.checks.rules.host_counters.traffic_tests import PASS_MARKS, traffic_tests, verdicts
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.checks.rules.base import Results
    from lossless.checks.rules.host_counters.traffic_tests import TrafficTest
    from lossless.checks.rules.running_subjects import RunningFabric

_FEWEST = 3
"""The fewest tests of one kind: of two, neither is the outlier."""


class _Measured(NamedTuple):
    """One test with its bandwidth, and the parts of the fabric that it used: pairs of a kind and a name."""

    test: TrafficTest
    rate: float
    parts: frozenset[tuple[str, str]]


def throughout(fabric: RunningFabric) -> Results:
    """Yield a violation for parts of the fabric that make the same tests slower than others of their kind."""
    pairs = (
        (_kind(test, verdict.low), _measured(fabric, test))
        for test, verdict in zip(traffic_tests(fabric), verdicts(fabric), strict=True)
        if test.sizes and not test.wrong
    )
    for same in grouped(pairs).values():
        share = min(
            fabric.pass_marks.get(each.test.file, {}).get("same", PASS_MARKS["same"].share) for each in same
        )
        best = max(each.rate for each in same)
        slow = [each for each in same if each.rate < share * best]
        if len(same) >= _FEWEST and slow and len(slow) < len(same):
            yield from _outliers(slow, [each for each in same if each not in slow], best, share)


def _kind(test: TrafficTest, expected: float | None) -> tuple[object, ...]:
    """Return the kind of a test; without an expected bandwidth, ports of another name may have another rate."""
    size = test.sizes[-1][0]
    if not test.is_pair:
        return (test.collective, len(test.hosts), test.size, size, expected)
    port = test.said("perftest_device") if expected is None else expected
    return (test.said("perftest_kind"), test.said("perftest_queue_pairs"), size, port)


def _measured(fabric: RunningFabric, test: TrafficTest) -> _Measured:
    hosts = tuple(filter(None, (test.device.name, test.peer))) if test.is_pair else test.hosts
    parts = {("host", host) for host in hosts}
    device = test.said("perftest_device")
    if test.is_pair and isinstance(device, str):
        parts.add(("rail", device))
    for host in hosts:
        leaves = {link.a for link in fabric.links if link.to_host and link.b == host}
        if len(leaves) == 1:
            parts.add(("leaf", leaves.pop()))
    return _Measured(test, test.sizes[-1][1], frozenset(parts))


def _outliers(slow: Sequence[_Measured], fast: Sequence[_Measured], best: float, share: float) -> Results:
    innocent = {part for each in fast for part in each.parts}
    left = list(slow)
    while left:
        suspects = {part for each in left for part in each.parts} - innocent
        if not suspects:
            return
        explained = max(sorted(suspects), key=lambda part: sum(part in each.parts for each in left))
        tests = [each for each in left if explained in each.parts]
        same = [part for part in sorted(suspects) if _explains(part, tests)]
        yield _slow(tests, same, best, share)
        left = [each for each in left if each not in tests]


def _explains(part: tuple[str, str], tests: Sequence[_Measured]) -> bool:
    return all(part in each.parts for each in tests)


def _slow(
    tests: Sequence[_Measured], parts: Sequence[tuple[str, str]], best: float, share: float
) -> Violation:
    rates = sorted(each.rate for each in tests)
    unit = "Gb/s" if tests[0].test.is_pair else "GB/s"
    named = " or ".join(_named(parts))
    count = f"{len(tests)} tests" if len(tests) > 1 else "a test"
    measured = (
        f"{rates[0]:.4g} {unit}" if rates[0] == rates[-1] else f"{rates[0]:.4g} to {rates[-1]:.4g} {unit}"
    )
    return Violation(
        origin=tests[0].test.sizes[-1][2].origin,
        message=f"{named} makes {count} slow: {measured}, others of the kind reach {best:.4g} {unit}",
        note=f"mark {share * best:.4g} {unit}, {share:g} of the best; its partners are as fast as others elsewhere",
        help="compare its NICs, PCIe links, ACS, firmware and counters with those of a fast one",
        elements=tuple(name for _, name in parts),
        data={"measured": rates[0], "best": best, "mark": share * best, "unit": unit},
    )


def _named(parts: Sequence[tuple[str, str]]) -> Iterator[str]:
    for kind, name in parts:
        yield name if kind == "host" else f"{kind} {name}"
