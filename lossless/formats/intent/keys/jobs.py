"""What the keys of an intent mean: the environment of jobs, Kubernetes, and fabrics that a cloud runs."""

from __future__ import annotations

from lossless.formats.intent.keys.key_doc import KeyDoc

_ENVIRONMENT = KeyDoc(
    "Further variables of the jobs by name, as numbers or text without blanks. Left out: none.",
    ({"NCCL_DEBUG": "WARN", "NCCL_CROSS_NIC": 0},),
)
_SOCKET_INTERFACES = KeyDoc(
    "Interfaces that jobs meet over before RDMA begins, by their exact names (NCCL_SOCKET_IFNAME). Left out: NCCL "
    "chooses.",
    (["eth0"],),
)
_GID = "Left out: it takes that of RoCEv2 by itself."

JOBS: dict[str, dict[str, KeyDoc]] = {
    "Hosts": {
        "environment": _ENVIRONMENT,
        "kubernetes": KeyDoc(
            "Given where NVIDIA's NIC configuration operator sets the NICs of a Kubernetes cluster: one "
            "NicConfigurationTemplate for each kind of NIC is rendered. Left out: none is.",
            ({"namespace": "nvidia-network-operator", "num_vfs": 0},),
        ),
    },
    "Nccl": {
        "ib_gid_index": KeyDoc(
            f"Index of the GID to send from, 0 to 255 (NCCL_IB_GID_INDEX). {_GID}",
            (3,),
        ),
        "socket_interfaces": _SOCKET_INTERFACES,
    },
    "Ucx": {
        "traffic_class": KeyDoc(
            "ToS byte it is told to use, 0 to 255 (UCX_IB_TRAFFIC_CLASS). Left out: the hosts' own.", (106,)
        ),
        "gid_index": KeyDoc(
            f"Index of the GID to send from, 0 to 255 (UCX_IB_GID_INDEX). {_GID}",
            (3,),
        ),
    },
    "Kubernetes": {
        "namespace": KeyDoc("Namespace that the operator runs in.", ("nvidia-network-operator",)),
        "num_vfs": KeyDoc("Virtual functions of each NIC, for SR-IOV; 0 switches SR-IOV off.", (0, 8)),
        "node_selector": KeyDoc(
            "Labels of the nodes that are configured, all of which a node must have. Left out: every node.",
            ({"feature.node.kubernetes.io/network-sriov.capable": "true"},),
        ),
        "pci_addresses": KeyDoc(
            "PCI addresses of the fabric's NICs, where nodes have others of the same type. Left out: all of that "
            "type.",
            (["0000:1a:00.0"],),
        ),
        "ports": KeyDoc(
            "Ports of each NIC, 1 to 4; what is said of ports that it does not have is ignored.", (1,)
        ),
        "pci_performance": KeyDoc(
            "Whether the operator tunes PCI Express, and how many bytes a read request asks for at most. Left out: "
            "it does not.",
            ("on", {"max_read_request": 4096}),
        ),
        "max_read_request": KeyDoc(
            "Bytes that a read request asks for at most: 128 to 4096, a power of two."
        ),
        "gpu_direct": KeyDoc(
            "Whether the operator prepares GPUDirect on bare metal; needs `pci_performance`."
        ),
        "firmware": KeyDoc(
            "Further settings of the firmware by their names in mlxconfig, with their ports. Left out: none.",
            ({"ADVANCED_PCI_SETTINGS": 1},),
        ),
    },
    "ManagedIntent": {
        "lossless": KeyDoc("Version of this format. Every intent begins with it."),
        "fabric": KeyDoc("Name of the fabric: at most 63 letters, digits, '.', '_' and '-'.", ("train-1",)),
        "transport": KeyDoc(
            "Whose fabric RDMA travels over: that of AWS (`efa`), Google (`gcp`) or Microsoft (`azure`)."
        ),
        "machine": KeyDoc(
            "Type of the machines, as the cloud calls it. Left out: only what holds for all of them is known.",
            ("a3-ultragpu-8g", "Standard_ND96isr_H100_v5"),
        ),
        "hosts": KeyDoc(
            "What jobs on every machine are told. Left out: what the cloud's own image tells them."
        ),
    },
    "ManagedHosts": {
        "nccl": KeyDoc("What the job environment tells NCCL. Left out: nothing."),
        "environment": _ENVIRONMENT,
    },
    "ManagedNccl": {"socket_interfaces": _SOCKET_INTERFACES},
    "pci_performance": {
        "max_read_request": KeyDoc(
            "Bytes that a read request asks for at most: 128 to 4096, a power of two."
        ),
    },
}
