"""A list of NICs for a job must not leave out the NIC nearest to a GPU.

Severity: warning
Subject: running fabric

## What it does
Compares `NCCL_IB_HCA`, of the log of a job or of the command of nccl-tests, with `nvidia-smi topo -m` of the host. It
fires where the list leaves out a NIC behind the same PCI switch as a GPU (PIX, PXB), while every NIC that it selects is
on another root of the CPU or on another socket (NODE, SYS). The port that is left out must be active, with the rate and
the link layer of those that are selected (`ibstat`, `ibstatus`). A job on fewer GPUs than the host has is not reported.
Where no output lists the ranks of the host, it is information: the job may use other GPUs alone.

## Why it breaks a lossless fabric
Nothing is lost, and the job is slower: fewer NICs carry it, and data of that GPU crosses the CPU, or another GPU.

## Bad
```text capture
# host host1
==> nvidia-smi topo -m
        GPU0    GPU1    NIC0    NIC1    CPU Affinity    NUMA Affinity
GPU0     X      NV18    PIX     SYS     0-55            0
GPU1    NV18     X      SYS     PIX     56-111          1
NIC0    PIX     SYS      X      SYS
NIC1    SYS     PIX     SYS      X

NIC Legend:

  NIC0: mlx5_0
  NIC1: mlx5_1
==> ibstat
CA 'mlx5_0'
        Port 1:
                State: Active
                Rate: 400
                Link layer: InfiniBand
CA 'mlx5_1'
        Port 1:
                State: Active
                Rate: 400
                Link layer: InfiniBand
==> mpirun -x NCCL_IB_HCA=mlx5_0 all_reduce_perf -b 8G
# nThread 1 nGpus 1 minBytes 8589934592 maxBytes 8589934592 step: 2(factor) warmup iters: 1 iters: 20   # <- here
#  Rank  0 Group  0 Pid   1887 on    host1 device  0 [0x8d] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid   1888 on    host1 device  1 [0x8e] NVIDIA H100 80GB HBM3
```

## Good
```text capture
# host host1
==> nvidia-smi topo -m
        GPU0    GPU1    NIC0    NIC1    CPU Affinity    NUMA Affinity
GPU0     X      NV18    PIX     SYS     0-55            0
GPU1    NV18     X      SYS     PIX     56-111          1
NIC0    PIX     SYS      X      SYS
NIC1    SYS     PIX     SYS      X

NIC Legend:

  NIC0: mlx5_0
  NIC1: mlx5_1
==> ibstat
CA 'mlx5_0'
        Port 1:
                State: Active
                Rate: 400
                Link layer: InfiniBand
CA 'mlx5_1'
        Port 1:
                State: Active
                Rate: 400
                Link layer: InfiniBand
==> cat job.log
host1:57:58 [0] NCCL INFO NCCL_IB_HCA set by environment to mlx5_0,mlx5_1
```

## Fix
Let `NCCL_IB_HCA` select all NICs of the fabric, or leave it unset: NCCL chooses by distance itself.

## Sources
- The legend of `nvidia-smi topo -m`; NVIDIA/nccl#820, #1435 and #1453 (outputs), NVIDIA/nccl-tests#112 (a list of one
  NIC of four)
- NVIDIA/nccl docs, environment variables (NCCL_IB_HCA)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Violation
from lossless.checks.rules.host_counters.traffic_tests import captured_rates, selected
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.checks.rules.base import Results
    from lossless.checks.rules.running_subjects import RunningDevice, RunningFabric
    from lossless.model.fabric.state import PlacedReading

_NEAR = ("PIX", "PXB")
_FAR = ("NODE", "SYS")


def throughout(fabric: RunningFabric) -> Results:
    """Yield a violation per host and list of NICs that leaves out the nearest NIC of a GPU."""
    for host in fabric.devices:
        paths = _paths(host)
        for placed in _lists(fabric, host.name) if paths else ():
            yield from _left_out(fabric, host, paths, placed)


def _paths(host: RunningDevice) -> Mapping[str, Mapping[str, str]]:
    """Return the path from each GPU of a host to each NIC."""
    paths: dict[str, dict[str, str]] = {}
    for placed in host.state.named("gpu_path", "gpu", "device"):
        paths.setdefault(placed.part("gpu") or "", {})[placed.part("device") or ""] = str(
            placed.reading.value
        )
    return paths


def _lists(fabric: RunningFabric, host: str) -> Iterator[PlacedReading]:
    """Yield the first list of NICs of each file for a job of a host: of its log, else of a command of nccl-tests."""
    seen: set[str] = set()
    for device in fabric.devices:
        for placed in (*device.state.every("ib_hca"), *device.state.every("test_adapters")):
            named = placed.part("host")
            hosts = {named} if named else {device.name, *_ranks(fabric, placed.file)}
            if host in hosts and placed.file not in seen and isinstance(placed.reading.value, str):
                seen.add(placed.file)
                yield placed


def _ranks(fabric: RunningFabric, file: str) -> list[str]:
    """Return the hosts of the ranks of tests in a file, one for each rank."""
    return [
        str(placed.reading.value)
        for device in fabric.devices
        for placed in device.state.every("test_rank")
        if placed.file == file
    ]


class _Nearest(NamedTuple):
    """The NIC nearest to a GPU that a list leaves out, the nearest NIC on the list, and the paths to both."""

    gpu: str
    nic: str
    path: str
    chosen: str
    far: str


def _left_out(
    fabric: RunningFabric, host: RunningDevice, paths: Mapping[str, Mapping[str, str]], placed: PlacedReading
) -> Results:
    ranks = _ranks(fabric, placed.file).count(host.name)
    if 0 < ranks < len(paths):
        return
    names = sorted({name for of_gpu in paths.values() for name in of_gpu})
    chosen = selected(str(placed.reading.value), names)
    nearest = [found for gpu, of_gpu in paths.items() for found in _nearest(gpu, of_gpu, chosen)]
    if not nearest:
        return
    rates = captured_rates(host)
    equal = [found for found in nearest if rates.get(found.nic) and _is_equal(host, rates, found.nic, chosen)]
    if not rates or any(name not in rates for name in chosen):
        yield MissingInput("no capture of ibstat or ibstatus has the rates of a job's NICs")
    elif equal:
        nics = list(dict.fromkeys(found.nic for found in equal))
        gpus = [f"GPU{found.gpu}" for found in equal]
        first = equal[0]
        yield Violation(
            origin=placed.origin,
            message=f"NCCL_IB_HCA leaves out {listed(nics)} of {host.name}, nearest to {listed(gpus)}",
            note=f"GPU{first.gpu} reaches {first.nic} over {first.path}, and {first.chosen} over {first.far}",
            help=f"let NCCL_IB_HCA select {listed(nics)} too, or leave it unset",
            elements=tuple(f"{host.name}:{name}" for name in nics),
            severity=None if ranks else "info",
            data={"left_out": [*nics], "gpus": [*gpus]},
        )


def _nearest(gpu: str, paths: Mapping[str, str], chosen: tuple[str, ...]) -> Iterator[_Nearest]:
    """Yield the NICs near a GPU that are not chosen, where each chosen one is far from it."""
    if not chosen or any(paths.get(name) not in _FAR for name in chosen):
        return
    best = min(chosen, key=lambda name: _FAR.index(paths[name]))
    for name, path in paths.items():
        if name not in chosen and path in _NEAR:
            yield _Nearest(gpu, name, path, best, paths[best])


def _is_equal(host: RunningDevice, rates: Mapping[str, float], name: str, chosen: tuple[str, ...]) -> bool:
    """Return whether a NIC has the link layer of those chosen, and a rate that is no lower than the lowest."""
    layers = {host.state.value("link_layer", device=each, port="1") for each in (name, *chosen)}
    return len(layers) == 1 and rates[name] >= min(
        (rates[each] for each in chosen if each in rates), default=0
    )
