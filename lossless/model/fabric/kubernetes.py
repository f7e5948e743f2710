"""What an intent says of the Kubernetes cluster whose nodes the hosts of a fabric are."""

from __future__ import annotations

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple


class KubernetesPolicy(NamedTuple):
    """What NVIDIA's NIC configuration operator is told beyond what follows from the fabric.

    ``ports`` is how many ports each NIC has at most. ``max_read_request`` in bytes, None where the operator's own
    holds.
    ``firmware`` are settings of mlxconfig by name.
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
