"""A traffic test must reach the bandwidth of the NICs that it used.

Severity: warning
Subject: running fabric

## What it does
Compares the results of nccl-tests, rccl-tests, perftest and `l8k validate` (k8s-launch-kit) with the rates of the NICs,
of an intent or of `ibstat` and `ibstatus` beside them. The message with the largest size counts; the average of a whole
test never does. Expected of a collective is at least what a ring gets through the NICs of a host: 96 % of their rates,
as the maintainers of NCCL say, and of that the pass mark `collective` (0.9). Other algorithms exceed it, on two hosts
Tree and NVLSTree by up to `2(n-1)/n`: that is no finding. More than any algorithm can is information: the test used
other NICs. Of an alltoall only the part that leaves the host is expected, of a sendrecv what one NIC gets, and of
`NCCL_ALGO=Tree` on three hosts or more `(n-1)/n` of a ring. Of perftest the rate of the port less headers is expected,
twice of it with `-b`, and of that the mark `perftest` (0.94). Both marks can be set in `lossless.toml`, table
`bandwidth`. Without the rate of a NIC, and below the mark on a curve that is not flat, it is *not checked*.

## Why it breaks a lossless fabric
Nothing is lost, and jobs are slower: a NIC that is not used, GPUDirect RDMA that is off, PCIe at half its width, ACS,
pauses, or traffic that is not lossless and is sent again.

## Bad
```text capture
==> ibstat
CA 'mlx5_0'
        CA type: MT4129
        Number of ports: 1
        Port 1:
                State: Active
                Physical state: LinkUp
                Rate: 400
                Link layer: InfiniBand
==> ib_write_bw -d mlx5_0 -s 8388608 --report_gbits host2
---------------------------------------------------------------------------------------
                    RDMA_Write BW Test
 Dual-port       : OFF          Device         : mlx5_0
 Number of qps   : 1            Transport type : IB
 Connection type : RC           Using SRQ      : OFF
 Mtu             : 4096[B]
 Link type       : IB
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 8388608    5000             196.23             196.20             0.002924   # <- here
```

## Good
```text capture
==> ibstat
CA 'mlx5_0'
        CA type: MT4129
        Number of ports: 1
        Port 1:
                State: Active
                Physical state: LinkUp
                Rate: 400
                Link layer: InfiniBand
==> ib_write_bw -d mlx5_0 -s 8388608 --report_gbits host2
---------------------------------------------------------------------------------------
                    RDMA_Write BW Test
 Dual-port       : OFF          Device         : mlx5_0
 Number of qps   : 1            Transport type : IB
 Connection type : RC           Using SRQ      : OFF
 Mtu             : 4096[B]
 Link type       : IB
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 8388608    5000             394.61             394.50             0.005879
```

## Fix
Measure each NIC of each host with `ib_write_bw`, then run the collective with `NCCL_DEBUG=INFO` and `NCCL_ALGO=RING`:
look for the NICs that NCCL uses, `GDRDMA`, ACS of PCI switches, and pauses and discards of the class.

## Sources
- NVIDIA/nccl-tests doc/PERFORMANCE.md @a0b82b2 (bus bandwidth), #119 and #319 (24 GB/s of 200 Gb/s, 48 of 400)
- NVIDIA/nccl-tests#22, #153, #196 (Tree and NVLSTree exceed the NICs on two hosts), #130 (alltoall)
- linux-rdma/perftest src/perftest_parameters.c @00b55b6 (units)
- Azure/azurehpc-health-checks conf/nd96isr_h100_v5.conf @0611432, NVIDIA/aicr#1256 (pass marks)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Violation
from lossless.checks.rules.host_counters.traffic_tests import verdicts

if TYPE_CHECKING:
    from lossless.checks.rules.base import Results
    from lossless.checks.rules.running_subjects import RunningFabric


def throughout(fabric: RunningFabric) -> Results:
    """Yield a violation per traffic test below its mark or above its limit; a missing input per unchecked one."""
    for verdict in verdicts(fabric):
        if verdict.outcome in ("too low", "too high"):
            yield Violation(
                origin=verdict.origin,
                message=verdict.text,
                note=verdict.note,
                help=verdict.help,
                elements=verdict.elements,
                severity=None if verdict.outcome == "too low" else "info",
                data=verdict.data,
            )
        elif verdict.outcome == "not checked":
            yield MissingInput(f"{verdict.name}: {verdict.note}")
