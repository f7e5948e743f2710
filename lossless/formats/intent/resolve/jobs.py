"""The environment of the jobs on a host: variables that an intent declares, and those derived from the fabric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.model.fabric.hosts import Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.formats.intent.load import LoadedIntent
    from lossless.ground.basics.findings import Origin


def variables(loaded: LoadedIntent, tos: int | None) -> tuple[Variable, ...]:
    """Return every variable of the jobs, in the order of the rendered files.

    ``tos`` is the ToS byte that the hosts give RDMA traffic. NCCL and UCX are set to it where the intent declares no
    other byte: UCX would use 106 by default, and queue pairs that bypass the kernel would use 0.
    """
    hosts = loaded.intent.hosts
    stated = (
        Variable(name, value, loaded.origin("hosts", "environment", name))
        for name, value in sorted(hosts.environment.items())
    )
    return (*_nccl(loaded, tos), *_ucx(loaded, tos), *_mori(loaded), *stated)


def _nccl(loaded: LoadedIntent, tos: int | None) -> Iterator[Variable]:
    hosts, nccl = loaded.intent.hosts, loaded.intent.hosts.nccl
    traffic = tos if nccl.ib_tc is None else nccl.ib_tc
    origin = loaded.origin(
        *(("hosts", "traffic_class") if nccl.ib_tc is None else ("hosts", "nccl", "ib_tc"))
    )
    yield from _known("NCCL_IB_TC", traffic, origin)
    for name, key, value in (
        ("NCCL_IB_FIFO_TC", "ib_fifo_tc", nccl.ib_fifo_tc),
        ("NCCL_GIN_IB_TC", "gin_ib_tc", nccl.gin_ib_tc),
        ("NCCL_IB_GID_INDEX", "ib_gid_index", nccl.ib_gid_index),
        ("NCCL_IB_TIMEOUT", "ib_timeout", nccl.ib_timeout),
        ("NCCL_IB_RETRY_CNT", "ib_retry_count", nccl.ib_retry_count),
        ("NCCL_IB_QPS_PER_CONNECTION", "ib_qps_per_connection", nccl.ib_qps_per_connection),
        ("NCCL_SOCKET_IFNAME", "socket_interfaces", exactly(nccl.socket_interfaces)),
    ):
        yield from _known(name, value, loaded.origin("hosts", "nccl", key))
    yield from _known("NCCL_IB_HCA", exactly(hosts.rdma_devices), loaded.origin("hosts", "rdma_devices"))


def _ucx(loaded: LoadedIntent, tos: int | None) -> Iterator[Variable]:
    hosts, ucx = loaded.intent.hosts, loaded.intent.hosts.ucx
    if ucx is None:
        return
    key = "traffic_class" if ucx.traffic_class is not None else None
    origin = loaded.origin("hosts", "ucx", key) if key else loaded.origin("hosts", "traffic_class")
    yield from _known("UCX_IB_TRAFFIC_CLASS", ucx.traffic_class if key else tos, origin)
    yield from _known("UCX_IB_GID_INDEX", ucx.gid_index, loaded.origin("hosts", "ucx", "gid_index"))
    ports = ",".join(f"{device}:1" for device in hosts.rdma_devices or ())
    yield from _known("UCX_NET_DEVICES", ports or None, loaded.origin("hosts", "rdma_devices"))


def _mori(loaded: LoadedIntent) -> Iterator[Variable]:
    mori = loaded.intent.hosts.mori
    if mori is not None:
        yield from _known("MORI_RDMA_TC", mori.traffic_class, loaded.origin("hosts", "mori", "traffic_class"))


def exactly(names: Iterable[str] | None) -> str | None:
    """Return names with the prefix ``=``, without which mlx5_1 also matches mlx5_10; None for no names.

    Source: NVIDIA/nccl docs, environment variables (NCCL_IB_HCA, NCCL_SOCKET_IFNAME).
    """
    listed = ",".join(names or ())
    return f"={listed}" if listed else None


def _known(name: str, value: int | str | None, origin: Origin) -> Iterator[Variable]:
    if value is not None:
        yield Variable(name, str(value), origin)
