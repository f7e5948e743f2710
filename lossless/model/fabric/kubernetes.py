"""Settings of an intent for the Kubernetes cluster whose nodes are the hosts of a fabric."""

from __future__ import annotations

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple


class KubernetesPolicy(NamedTuple):
    """Settings of NVIDIA's NIC configuration operator beyond those derived from the fabric.

    ``ports`` is the largest number of ports of a NIC. ``max_read_request`` is in bytes, None for the operator's
    default. ``firmware`` are settings of mlxconfig by name.
    """

    namespace: str
    num_vfs: int
    node_selector: tuple[tuple[str, str], ...]
    pci_addresses: tuple[str, ...]
    ports: int
    pci_performance: bool
    max_read_request: int | None
    gpu_direct: bool
    firmware: tuple[tuple[str, str], ...]
    origin: Origin
