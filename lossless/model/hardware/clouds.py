"""Networks that a cloud provider operates: settings for tenants, and why the rules of a lossless fabric do not apply.

Each fact was read in the provider's own files; facts that no such file has are left out:

* EFA: the SRD protocol delivers reliably and in any order, and the provider's library reassembles messages
  (libfabric fi_efa(7), "Supported features"); its variables are in aws-ofi-nccl doc/efa-env-var.md @518f4c6.
* A3 Mega: google/nccl-plugin-gpudirect-tcpxo tcpxo_scripts/nccl-env-profile.sh @8f816be, and how it is run in
  GoogleCloudPlatform/container-engine-accelerators gpudirect-tcpxo/README.md @0a2b482.
* A3 Ultra and A4: GoogleCloudPlatform/container-engine-accelerators gpudirect-rdma/nccl-test.yaml @0920249 and
  nccl-test-a4.yaml @155bfa4.
* Azure: Azure/azhpc-images customizations/ndv4.sh @4657de6 and ndv5.sh @bf3b320, which its images run for the sizes
  named in their setup_sku_customizations.sh.
"""

from __future__ import annotations

from typing import Literal, get_args

from lossless.ground.basics.records import NamedTuple

Transport = Literal["efa", "gcp", "azure"]
TRANSPORTS: tuple[Transport, ...] = get_args(Transport)
PROVIDERS: dict[Transport, str] = {"efa": "AWS", "gcp": "Google", "azure": "Microsoft"}


class CloudNetwork(NamedTuple):
    """One kind of network of a cloud.

    ``verbs``: NCCL's own InfiniBand transport runs on it, so that NCCL_IB_* apply; ``roce``: it is RoCE, whose
    packets have a ToS byte. ``machines`` are the types that have it. ``image`` are the variables that the provider's
    image writes to /etc/nccl.conf. ``profile`` is the script that sets the others, which a job sources;
    ``needs`` are its own inputs. ``decides`` are variables that the cloud's own software sets, with the reason; a
    name that ends in ``*`` is a prefix.
    """

    name: str
    verbs: bool
    roce: bool
    why: str
    machines: tuple[str, ...] = ()
    image: tuple[tuple[str, str], ...] = ()
    profile: str | None = None
    needs: tuple[tuple[str, str], ...] = ()
    decides: tuple[tuple[str, str], ...] = ()


EFA = CloudNetwork(
    name="EFA",
    verbs=False,
    roce=False,
    why="SRD delivers every packet itself, by many paths and in any order, and AWS runs the switches",
    decides=(
        ("FI_EFA_USE_DEVICE_RDMA", "libfabric sees by itself whether the device can, from 1.18 on"),
        (
            "FI_EFA_FORK_SAFE",
            "aws-ofi-nccl sets it to 1 on NVIDIA GPUs, whatever the kernel, unless the job has it",
        ),
        ("FI_EFA_ENABLE_SHM_TRANSFER", "aws-ofi-nccl has libfabric switch it off"),
        ("RDMAV_*", "aws-ofi-nccl says to use none of them: on newer kernels one can break jobs"),
    ),
)
TCPXO = CloudNetwork(
    name="GPUDirect-TCPXO",
    verbs=False,
    roce=False,
    why="TCPXO moves data over TCP, which fixes losses itself, and Google runs the switches",
    machines=("a3-megagpu-8g",),
    profile="/usr/local/nvidia/lib64/nccl-env-profile.sh",
    needs=(("NCCL_LIB_DIR", "/usr/local/nvidia/lib64"),),
    decides=tuple(
        (name, "Google's profile sets it, and its guest config checker compares it when a job starts")
        for name in (
            "NCCL_FASTRAK_*",
            "NCCL_CROSS_NIC",
            "NCCL_PROTO",
            "NCCL_MIN_NCHANNELS",
            "NCCL_NVLSTREE_MAX_CHUNKSIZE",
            "NCCL_P2P_NET_CHUNKSIZE",
            "NCCL_P2P_PCI_CHUNKSIZE",
            "NCCL_P2P_NVL_CHUNKSIZE",
            "NCCL_BUFFSIZE",
            "NCCL_NET_GDR_LEVEL",
            "NCCL_TUNER_PLUGIN",
            "NCCL_TUNER_CONFIG_PATH",
        )
    ),
)
GIB = CloudNetwork(
    name="GPUDirect RDMA (gIB)",
    verbs=True,
    roce=True,
    why="Google runs the switches, and its profile gives RDMA the classes that they have",
    machines=("a3-ultragpu-8g", "a4-highgpu-8g"),
    profile="/usr/local/gib/scripts/set_nccl_env.sh",
    decides=tuple(
        (name, "Google's profile gives RDMA the classes that its switches have")
        for name in ("NCCL_IB_TC", "NCCL_IB_FIFO_TC", "NCCL_NET")
    ),
)


def _azure(folder: str, machines: tuple[str, ...]) -> CloudNetwork:
    return CloudNetwork(
        name="InfiniBand",
        verbs=True,
        roce=False,
        why="InfiniBand sends by credits, without PFC or ToS, and Microsoft runs switches and subnet manager",
        machines=machines,
        image=(
            ("NCCL_IB_PCI_RELAXED_ORDERING", "1"),
            ("NCCL_TOPO_FILE", f"/opt/microsoft/{folder}/topo.xml"),
            ("NCCL_IGNORE_CPU_AFFINITY", "1"),
        ),
    )


NETWORKS: dict[Transport, tuple[CloudNetwork, ...]] = {
    "efa": (EFA,),
    "gcp": (TCPXO, GIB),
    "azure": (
        _azure("ndv4", ("Standard_ND96asr_v4", "Standard_ND96amsr_A100_v4")),
        _azure("ndv5", ("Standard_ND96isr_H100_v5", "Standard_ND96isr_H200_v5")),
    ),
}


def machines_of(transport: Transport) -> tuple[str, ...]:
    """Return the machine types of a cloud for which the settings of their network are known."""
    return tuple(machine for network in NETWORKS[transport] for machine in network.machines)


def network_of(transport: Transport, machine: str | None) -> CloudNetwork | None:
    """Return the network of a known machine type of a cloud.

    Without a type it is that of the cloud, without machines and image variables; None where the cloud has several.
    """
    networks = NETWORKS[transport]
    if machine is not None:
        return next(network for network in networks if machine in network.machines)
    if len({network.name for network in networks}) > 1:
        return None
    # What an image writes depends on the machine, the rest does not.
    return networks[0]._replace(machines=(), image=())
