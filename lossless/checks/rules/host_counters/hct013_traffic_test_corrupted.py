"""A traffic test must not receive wrong data.

Severity: error
Subject: running fabric

## What it does
Reports tests of nccl-tests and rccl-tests whose column `#wrong`, or whose sum `Out of bounds values`, is above 0. The
column `error` of older versions is the largest deviation of a value, and is not counted.

## Why it breaks a lossless fabric
Data arrived changed, or was read before it arrived: a job would compute with it. A bandwidth of wrong data proves
nothing, so none is checked. Frames that are damaged on a link are dropped by their checksums; wrong data comes from
memory, PCIe, the order of writes, or the library.

## Bad
```text capture
# nThread 1 nGpus 1 minBytes 8589934592 maxBytes 8589934592 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1
# Using devices
#  Rank  0 Group  0 Pid   1887 on    worker1 device  0 [0x8d] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid   1885 on    worker2 device  0 [0x8d] NVIDIA H100 80GB HBM3
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
  8589934592  2147483648  float   sum   -1  178956   48.00   48.00    512   178956   48.00   48.00      0   # <- here
# Out of bounds values : 512 FAILED
```

## Good
```text capture
# nThread 1 nGpus 1 minBytes 8589934592 maxBytes 8589934592 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1
# Using devices
#  Rank  0 Group  0 Pid   1887 on    worker1 device  0 [0x8d] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid   1885 on    worker2 device  0 [0x8d] NVIDIA H100 80GB HBM3
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
  8589934592    2147483648     float     sum      -1   178956   48.00   48.00      0   178956   48.00   48.00      0
# Out of bounds values : 0 OK
```

## Fix
Repeat the test on one host, then on pairs of hosts, until one host remains. There compare versions of NCCL, driver and
firmware, test without GPUDirect RDMA (`NCCL_NET_GDR_LEVEL=LOC`), and run the memory test of the GPUs (`dcgmi diag`).

## Sources
- NVIDIA/nccl-tests src/util.cu and src/common.cu @a0b82b2 (`#wrong`, `Out of bounds values`)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Violation
from lossless.checks.rules.host_counters.traffic_tests import traffic_tests

if TYPE_CHECKING:
    from lossless.checks.rules.base import Results
    from lossless.checks.rules.running_subjects import RunningFabric


def throughout(fabric: RunningFabric) -> Results:
    """Yield a violation per traffic test with wrong values."""
    for test in traffic_tests(fabric):
        if test.wrong is not None:
            count, placed = test.wrong
            yield Violation(
                origin=placed.origin,
                message=f"{test.name} received {count:,} wrong values",
                note="no bandwidth of this test is checked",
                help="repeat it on one host and on pairs of hosts until one host remains",
                elements=test.hosts or (test.device.name,),
                data={"wrong": count},
            )
