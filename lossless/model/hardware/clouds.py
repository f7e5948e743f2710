"""Networks that a cloud provider operates: settings for tenants, and why the rules of a lossless fabric do not apply.

Machine types have the number of their GPUs and NICs, and the rates. Each fact was read in the provider's own files or
pages, or in a copy of them; facts that none of them has are left out:

* EFA: the SRD protocol delivers reliably and in any order, and the provider's library reassembles messages
  (libfabric fi_efa(7), "Supported features"); its variables are in aws-ofi-nccl doc/efa-env-var.md @518f4c6.
* A3 Mega: google/nccl-plugin-gpudirect-tcpxo tcpxo_scripts/nccl-env-profile.sh @8f816be, and how it is run in
  GoogleCloudPlatform/container-engine-accelerators gpudirect-tcpxo/README.md @0a2b482.
* A3 High: GoogleCloudPlatform/container-engine-accelerators gpudirect-tcpx/nccl-config.yaml @992db81, which sets the
  variables of TCPX by itself, without a profile.
* A3 Ultra, A4 and A4X: GoogleCloudPlatform/container-engine-accelerators gpudirect-rdma/nccl-test.yaml @0920249,
  nccl-test-a4.yaml @155bfa4 and nccl-test-imex-a4x.yaml @992db81; A4X Max: nccl-test-a4x-max.yaml @992db81, where each
  node of 4 GPUs takes 8 devices of mrdma.google.com.
* Azure: Azure/azhpc-images customizations/ndv4.sh @4657de6 and ndv5.sh @bf3b320, which its images run for the sizes
  named in their setup_sku_customizations.sh; ndv5_rocm.sh and ndv6.sh @8e9d055 write no /etc/nccl.conf.

The generation of NVLink is that of the GPU (:data:`~lossless.model.hardware.devices.NVLINK`): 3 on A100, 4 on H100 and
H200, 5 on B200, B300, GB200 and GB300.
"""

from __future__ import annotations

from typing import Literal, get_args

from lossless.ground.basics.records import NamedTuple
from lossless.model.hardware.devices import NVLINK

Transport = Literal["efa", "gcp", "azure"]
TRANSPORTS: tuple[Transport, ...] = get_args(Transport)
PROVIDERS: dict[Transport, str] = {"efa": "AWS", "gcp": "Google", "azure": "Microsoft"}


class CloudMachine(NamedTuple):
    """One machine type, as its provider publishes it in ``source``.

    ``nics`` is the number of NICs for the traffic between GPUs of several machines, ``nic_bps`` the rate of each, one
    way; NICs for other traffic are left out. ``nvlink`` is the generation of NVLink, None where something else joins
    the GPUs. ``domain_gpus`` is the number of GPUs that it joins, those of several machines in a rack.
    """

    name: str
    gpu: str
    gpus: int
    nics: int
    nic_bps: int
    nvlink: int | None
    domain_gpus: int
    source: str

    @property
    def rate_bps(self) -> int:
        """The rate of all these NICs together, one way."""
        return self.nics * self.nic_bps

    @property
    def inside_bps(self) -> int | None:
        """The rate of a GPU inside its domain, one way, None without NVLink."""
        return None if self.nvlink is None else NVLINK[self.nvlink].rate_bps


class CloudNetwork(NamedTuple):
    """One kind of network of a cloud.

    ``verbs``: NCCL's own InfiniBand transport runs on it, so that NCCL_IB_* apply; ``roce``: it is RoCE, whose
    packets have a ToS byte. ``machines`` are the known types that have it. ``image`` are the variables that the
    provider's image writes to /etc/nccl.conf. ``profile`` is the script that sets the others, which a job sources;
    ``needs`` are its own inputs. ``decides`` are variables that the cloud's own software sets, with the reason; a
    name that ends in ``*`` is a prefix.
    """

    name: str
    verbs: bool
    roce: bool
    why: str
    machines: tuple[CloudMachine, ...] = ()
    image: tuple[tuple[str, str], ...] = ()
    profile: str | None = None
    needs: tuple[tuple[str, str], ...] = ()
    decides: tuple[tuple[str, str], ...] = ()


_G = 10**9
_AWS_TYPES = "docs.aws.amazon.com/ec2/latest/instancetypes/ac.html, network specifications"
_AWS_CARDS = "docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html"
_GOOGLE = "cloud.google.com/compute/docs/gpus/gpu-network-bandwidth"
_GOOGLE_FAMILY = "cloud.google.com/compute/docs/accelerator-optimized-machines"
_MICROSOFT = "MicrosoftDocs/azure-compute-docs articles/virtual-machines/sizes/gpu-accelerated/includes"

EFA = CloudNetwork(
    name="EFA",
    verbs=False,
    roce=False,
    why="SRD delivers every packet itself, by many paths and in any order, and AWS runs the switches",
    machines=(
        CloudMachine("p4d.24xlarge", "A100", 8, 4, 100 * _G, 3, 8, f"{_AWS_TYPES} (4 cards of 100 Gb/s)"),
        CloudMachine("p4de.24xlarge", "A100", 8, 4, 100 * _G, 3, 8, f"{_AWS_TYPES} (4 cards of 100 Gb/s)"),
        CloudMachine("p5.48xlarge", "H100", 8, 32, 100 * _G, 4, 8, f"{_AWS_CARDS} (32 cards, 3,200 Gb/s)"),
        CloudMachine("p5e.48xlarge", "H200", 8, 32, 100 * _G, 4, 8, f"{_AWS_CARDS} (32 cards, 3,200 Gb/s)"),
        CloudMachine("p5en.48xlarge", "H200", 8, 16, 200 * _G, 4, 8, f"{_AWS_TYPES} (16 cards, 3,200 Gb/s)"),
        CloudMachine("p6-b200.48xlarge", "B200", 8, 8, 400 * _G, 5, 8, f"{_AWS_CARDS} (8 cards of 400 Gb/s)"),
        CloudMachine(
            "p6-b300.48xlarge", "B300", 8, 16, 400 * _G, 5, 8, f"{_AWS_CARDS} (16 cards with EFA, 6,400 Gb/s)"
        ),
        # The page of types has 3,200 Gb/s for all cards; a GPU reaches EFA at 400 Gb/s at most, 1,600 together.
        CloudMachine(
            "p6e-gb200.36xlarge",
            "GB200",
            4,
            4,
            400 * _G,
            5,
            72,
            f"{_AWS_CARDS} (1,600 Gb/s of EFA for 4 GPUs)",
        ),
    ),
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
TCPX = CloudNetwork(
    name="GPUDirect-TCPX",
    verbs=False,
    roce=False,
    why="TCPX moves data over TCP, which fixes losses itself, and Google runs the switches",
    machines=(
        # 1,000 Gb/s with the fifth NIC, which is that of the host.
        CloudMachine("a3-highgpu-8g", "H100", 8, 4, 200 * _G, 4, 8, f"{_GOOGLE} (A3 High, GPUDirect-TCPX)"),
    ),
)
TCPXO = CloudNetwork(
    name="GPUDirect-TCPXO",
    verbs=False,
    roce=False,
    why="TCPXO moves data over TCP, which fixes losses itself, and Google runs the switches",
    machines=(
        # 1,800 Gb/s with the ninth NIC, which is that of the host.
        CloudMachine("a3-megagpu-8g", "H100", 8, 8, 200 * _G, 4, 8, f"{_GOOGLE} (A3 Mega, GPUDirect-TCPXO)"),
    ),
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
    machines=(
        CloudMachine("a3-ultragpu-8g", "H200", 8, 8, 400 * _G, 4, 8, f"{_GOOGLE} (8 CX-7, 3,200 Gb/s)"),
        CloudMachine("a4-highgpu-8g", "B200", 8, 8, 400 * _G, 5, 8, f"{_GOOGLE} (8 CX-7, 3,200 Gb/s)"),
        CloudMachine("a4x-highgpu-4g", "GB200", 4, 4, 400 * _G, 5, 72, f"{_GOOGLE} (4 CX-7, 1,600 Gb/s)"),
    ),
    profile="/usr/local/gib/scripts/set_nccl_env.sh",
    decides=tuple(
        (name, "Google's profile gives RDMA the classes that its switches have")
        for name in ("NCCL_IB_TC", "NCCL_IB_FIFO_TC", "NCCL_NET")
    ),
)

# No public file of its image says where the profile is, or which variables it sets.
GIB_MAX = GIB._replace(
    machines=(
        # 3,600 Gb/s with the two NICs of the host. The CX-8 are 8 RDMA devices, on 8 rails.
        CloudMachine(
            "a4x-maxgpu-4g-metal",
            "GB300",
            4,
            8,
            400 * _G,
            5,
            72,
            f"{_GOOGLE_FAMILY} (A4X Max: CX-8, 8 rails, 3,200 Gb/s)",
        ),
    ),
    profile=None,
    decides=(),
)


def _azure(machines: tuple[CloudMachine, ...], topology: str | None = None) -> CloudNetwork:
    """Return Azure's network; ``topology`` is the folder of the image with the machine's topology, None without one."""
    return CloudNetwork(
        name="InfiniBand",
        verbs=True,
        roce=False,
        why="InfiniBand sends by credits, without PFC or ToS, and Microsoft runs switches and subnet manager",
        machines=machines,
        image=(
            ("NCCL_IB_PCI_RELAXED_ORDERING", "1"),
            ("NCCL_TOPO_FILE", f"/opt/microsoft/{topology}/topo.xml"),
            ("NCCL_IGNORE_CPU_AFFINITY", "1"),
        )
        if topology
        else (),
    )


# Microsoft prints 200 GB/s for a port of HDR, which has 200 Gb/s.
_HDR = "MicrosoftDocs/azure-docs nd-a100-v4-series-summary.md @0c9c618 (HDR for each GPU)"
NETWORKS: dict[Transport, tuple[CloudNetwork, ...]] = {
    "efa": (EFA,),
    "gcp": (TCPX, TCPXO, GIB, GIB_MAX),
    "azure": (
        _azure(
            (
                CloudMachine("Standard_ND96asr_v4", "A100", 8, 8, 200 * _G, 3, 8, _HDR),
                CloudMachine("Standard_ND96amsr_A100_v4", "A100", 8, 8, 200 * _G, 3, 8, _HDR),
            ),
            "ndv4",
        ),
        _azure(
            (
                CloudMachine(
                    "Standard_ND96isr_H100_v5", "H100", 8, 8, 400 * _G, 4, 8,
                    f"{_MICROSOFT}/ndh100v5-series-summary.md @a18807c",
                ),
                CloudMachine(
                    "Standard_ND96isr_H200_v5", "H200", 8, 8, 400 * _G, 4, 8,
                    f"{_MICROSOFT}/nd-h200-v5-series-summary.md @a18807c",
                ),
            ),
            "ndv5",
        ),
        _azure(
            (
                CloudMachine(
                    "Standard_ND96isr_MI300X_v5", "MI300X", 8, 8, 400 * _G, None, 8,
                    f"{_MICROSOFT}/ndmi300xv5-series-summary.md @2bc777f",
                ),
                CloudMachine(
                    "Standard_ND128isr_GB300_v6", "GB300", 4, 4, 800 * _G, 5, 72,
                    f"{_MICROSOFT}/nd-gb300-v6-series-summary.md @335cf59 (800 Gb/s for each GPU)",
                ),
                CloudMachine(
                    "Standard_ND128isr_NDR_GB200_v6", "GB200", 4, 4, 400 * _G, 5, 72,
                    f"{_MICROSOFT}/nd-gb200-v6-series-summary.md @2af9ad0",
                ),
            ),
        ),
    ),
}  # fmt: skip


def machines_of(transport: Transport) -> tuple[str, ...]:
    """Return the machine types of a cloud for which the settings of their network are known."""
    return tuple(machine.name for network in NETWORKS[transport] for machine in network.machines)


def machine_of(transport: Transport, name: str | None) -> CloudMachine | None:
    """Return a machine type of a cloud by its name, None without a name or for an unknown one."""
    machines = (machine for network in NETWORKS[transport] for machine in network.machines)
    return next((machine for machine in machines if machine.name == name), None)


def network_of(transport: Transport, machine: str | None) -> CloudNetwork | None:
    """Return the network of a known machine type of a cloud.

    Without a type it is that of the cloud, without machines and image variables; None where the cloud has several.
    """
    networks = NETWORKS[transport]
    if machine is not None:
        return next(network for network in networks if machine in (each.name for each in network.machines))
    if len({network.name for network in networks}) > 1:
        return None
    # What an image writes depends on the machine, the rest does not.
    return networks[0]._replace(machines=(), image=())
