"""Hosts: settings of their NICs, the environment of the jobs that run on them, and a cluster's NIC operator.

The operator is NVIDIA's NIC configuration operator, where hosts are the nodes of a Kubernetes cluster. Its resource
is NicConfigurationTemplate (Mellanox/nic-configuration-operator). Sources of its behavior: README.md @0082142 and
pkg/configuration/configvalidation.go @01eed1d; of its fields: the resource definition @4096d0c.
"""

import re
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BeforeValidator, Field, ValidationInfo, WithJsonSchema, field_validator, model_validator

from lossless.formats.intent.base import (
    DURATION_PATTERN,
    Byte,
    Duration,
    FrameSize,
    Model,
    OnOff,
    Priority,
    identifier,
    listed,
    refused,
    shown,
    whole_milliseconds,
    whole_number,
)
from lossless.formats.intent.jobs import Environment
from lossless.ground.basics.limits import FRAMES_AHEAD
from lossless.model.fabric.hosts import DcbxSpeaker, NicSetter, TrustMode
from lossless.model.fabric.model import DEFAULT_HOST_MTU_BYTES

LABEL = r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"
"""The pattern of a DNS label (RFC 1123), the form of namespace names (Kubernetes, object names and IDs)."""
_PART = r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
LABEL_KEY = rf"^([a-z0-9]([a-z0-9.-]{{0,251}}[a-z0-9])?/)?{_PART}$"
LABEL_VALUE = rf"^({_PART})?$"
"""The pattern of label values, and of the parts of label keys (Kubernetes, labels and selectors)."""
PCI_ADDRESS = r"^0000:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]$"
"""The operator's own pattern of PCI addresses (api/v1alpha1/nicconfigurationtemplate_types.go @0744b8d)."""
PARAMETER = r"^[A-Z][A-Z0-9_]{0,63}$"
PARAMETER_VALUE = r"^[A-Za-z0-9_.-]{1,128}$"
MOST_VFS = 65_535
"""TotalVFs has 16 bits (PCI Express, SR-IOV extended capability); the limit of a card depends on its firmware."""
DERIVED = (
    "ROCE_CC_PRIO_MASK",
    "CNP_DSCP",
    "CNP_802P_PRIO",
    "LINK_TYPE",
    "SRIOV_EN",
    "NUM_OF_VFS",
    "ATS_ENABLED",
)
"""Firmware settings that the operator sets, or that are derived from the rest of the intent, without port suffix."""


MOST_PARAMETERS = 48
"""The most firmware settings: the resource holds 128, and the fabric's own take 20 for each of at most 4 ports."""


def _matching(pattern: str, what: str, wanted: str) -> BeforeValidator:
    has_form = re.compile(pattern).fullmatch

    def read(value: Any) -> Any:
        if not isinstance(value, str) or not has_form(value):
            raise refused(f"{shown(value)} is not {what}; expected {wanted}")
        return value

    return BeforeValidator(read)


_NAMESPACE = _matching(LABEL, "a namespace", "at most 63 small letters, digits and '-'")
_PCI = _matching(PCI_ADDRESS, "a PCI address", "one like 0000:1a:00.0")


def _selector(value: Any) -> Any:
    if not isinstance(value, dict) or not value:
        raise refused(f"expected labels by name, found {shown(value)}")
    for name, label in value.items():
        if not isinstance(name, str) or not re.fullmatch(LABEL_KEY, name):
            raise refused(f"hosts.kubernetes.node_selector: {shown(name)} is no label", name, at_key=True)
        if not isinstance(label, str) or not re.fullmatch(LABEL_VALUE, label):
            quotes = " in quotes" if isinstance(label, bool | int) else ""
            raise refused(f"{shown(label)} is no value of a label; expected text{quotes}", name)
    return value


def _parameters(value: Any) -> Any:
    if not isinstance(value, dict):
        raise refused(f"expected firmware settings by name, found {shown(value)}")
    if len(value) > MOST_PARAMETERS:
        raise refused(f"{len(value)} firmware settings; the most is {MOST_PARAMETERS}")
    for name, setting in value.items():
        at = "hosts.kubernetes.firmware"
        if not isinstance(name, str) or not re.fullmatch(PARAMETER, name):
            raise refused(f"{at}: {shown(name)} is no firmware setting", name, at_key=True)
        if re.sub(r"_P[0-9]$", "", name) in DERIVED:
            raise refused(f"{at}: {name} follows from the rest of the intent", name, at_key=True)
        if isinstance(setting, bool) or not re.fullmatch(PARAMETER_VALUE, str(setting)):
            raise refused(
                f"{shown(setting)} is no value of a firmware setting; write a number or a word", name
            )
    return {name: str(setting) for name, setting in value.items()}


def _max_read_request(value: Any) -> Any:
    if value in (True, "on"):
        return "on"
    if value in (False, "off"):
        return None
    if isinstance(value, dict) and value.keys() == {"max_read_request"}:
        return _read_request(value["max_read_request"])
    raise refused(f"expected on, off or {{max_read_request: 4096}}, found {shown(value)}")


def _read_request(size: Any) -> Any:
    if isinstance(size, bool) or size not in READ_REQUESTS:
        sizes = ", ".join(map(str, READ_REQUESTS[:-1]))
        message = f"{shown(size)} is no size of a read request; expected {sizes} or {READ_REQUESTS[-1]} bytes"
        raise refused(message, "max_read_request")
    return size


ReadRequest = Literal[128, 256, 512, 1024, 2048, 4096]
READ_REQUESTS: tuple[ReadRequest, ...] = get_args(ReadRequest)
"""Sizes of PCI Express read requests, in bytes, that NicConfigurationTemplate admits."""
_PCI_SCHEMA = {
    "anyOf": [
        {"type": "boolean"},
        {"enum": ["on", "off"]},
        {
            "type": "object",
            "properties": {
                "max_read_request": {
                    "enum": list(READ_REQUESTS),
                    "documentation": "Bytes that a read request asks for at most: 128 to 4096, a power of two.",
                }
            },
            "required": ["max_read_request"],
            "additionalProperties": False,
        },
    ]
}


class Kubernetes(Model):
    """Settings of NVIDIA's NIC configuration operator beyond those derived from the fabric.

    ``num_vfs`` has no default: 0 switches SR-IOV off. ``pci_addresses`` are the NICs of the fabric, where others of the
    same type serve other networks. ``ports`` is how many ports a NIC has: the operator ignores settings of ports that
    do not exist. ``firmware`` are further settings of mlxconfig.
    """

    namespace: Annotated[str, _NAMESPACE, WithJsonSchema({"type": "string", "pattern": LABEL})]
    """Namespace that the operator runs in. Example: `nvidia-network-operator`"""
    num_vfs: Annotated[int, *whole_number(0, MOST_VFS, "a number of VFs")]
    """Virtual functions of each NIC, for SR-IOV; 0 switches SR-IOV off. Example: `0` Example: `8`"""
    node_selector: Annotated[
        dict[str, str] | None,
        BeforeValidator(_selector),
        WithJsonSchema(
            {
                "type": "object",
                "patternProperties": {LABEL_KEY: {"type": "string", "pattern": LABEL_VALUE}},
                "additionalProperties": False,
                "minProperties": 1,
            }
        ),
    ] = None
    """Labels of the nodes that are configured, all of which a node must have. Left out: every node.
    Example: `{feature.node.kubernetes.io/network-sriov.capable: "true"}`
    """
    pci_addresses: Annotated[
        tuple[Annotated[str, _PCI, WithJsonSchema({"type": "string", "pattern": PCI_ADDRESS})], ...] | None,
        BeforeValidator(listed),
    ] = None
    """PCI addresses of the fabric's NICs, where nodes have others of the same type. Left out: all of that type.
    Example: `["0000:1a:00.0"]`
    """
    ports: Annotated[int, *whole_number(1, 4, "a number of ports")] = 2
    """Ports of each NIC, 1 to 4; settings of ports that it does not have are ignored. Example: `1`"""
    pci_performance: Annotated[
        Literal["on"] | ReadRequest | None,
        BeforeValidator(_max_read_request),
        WithJsonSchema(_PCI_SCHEMA),
    ] = None
    """Whether the operator tunes PCI Express, and how many bytes a read request asks for at most. Left out: it does
    not.
    Example: `on`
    Example: `{max_read_request: 4096}`
    """
    gpu_direct: OnOff = False
    """Whether the operator prepares GPUDirect on bare metal; needs `pci_performance`."""
    firmware: Annotated[
        dict[str, str] | None,
        BeforeValidator(_parameters),
        WithJsonSchema(
            {
                "type": "object",
                "patternProperties": {PARAMETER: {"type": ["string", "integer"], "pattern": PARAMETER_VALUE}},
                "additionalProperties": False,
            }
        ),
    ] = None
    """Further settings of the firmware by their names in mlxconfig, with their ports. Left out: none.
    Example: `{ADVANCED_PCI_SETTINGS: 1}`
    """

    @model_validator(mode="after")
    def _gpu_direct_needs_pci(self) -> Self:
        if self.gpu_direct and self.pci_performance is None:
            raise refused(
                "the operator refuses it without pci_performance; add pci_performance: on", "gpu_direct"
            )
        return self


_INTERFACE_SCHEMA = {"type": "string", "pattern": r"^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$"}
Interface = Annotated[str, WithJsonSchema(_INTERFACE_SCHEMA)]


def _interface_names(value: Any) -> Any:
    for name in value if isinstance(value, list | tuple) else ():
        if isinstance(name, str):
            identifier(name, "an interface name", 15)
    return listed(value)


SocketInterfaces = Annotated[tuple[Interface, ...] | None, BeforeValidator(_interface_names)]
"""The interfaces of the job's bootstrap network, by their exact names."""
GidIndex = Annotated[int, *whole_number(0, 255, "an index of the GID table")]
"""Index of the GID table; an address vector has eight bits for it (rdma-core libibverbs/verbs.h, ibv_global_route)."""


class Nccl(Model):
    """NCCL's variables in the job environment.

    The timeout and retry count default to NCCL's own (NVIDIA/nccl src/transport/net_ib @5067397).
    ``gin`` declares that jobs use GPU-initiated networking, whose queue pairs do not get the kernel's traffic class.
    ``socket_interfaces`` are the interfaces over which jobs meet before RDMA begins.
    """

    ib_tc: Byte | None = None
    """ToS byte of its traffic, 0 to 255 (NCCL_IB_TC). Left out: the hosts' own. Example: `106`"""
    ib_fifo_tc: Byte | None = None
    """ToS byte of its control messages, 0 to 255 (NCCL_IB_FIFO_TC). Left out: that of the traffic. Example: `192`"""
    ib_timeout: Annotated[int, *whole_number(0, 31, "a value of NCCL_IB_TIMEOUT")] = 20
    """Transport timeout, as a power of two times 4.096 us, 0 to 31 (NCCL_IB_TIMEOUT). Example: `20`"""
    ib_retry_count: Annotated[int, *whole_number(0, 7, "a value of NCCL_IB_RETRY_CNT")] = 7
    """How often the transport tries again, 0 to 7 (NCCL_IB_RETRY_CNT). Example: `7`"""
    ib_qps_per_connection: (
        Annotated[int, *whole_number(1, 128, "a value of NCCL_IB_QPS_PER_CONNECTION")] | None
    ) = None
    """Queue pairs of a connection, 1 to 128 (NCCL_IB_QPS_PER_CONNECTION). Left out: not set. Example: `4`"""
    gin: OnOff = False
    """Whether jobs use GPU-initiated networking, which the hosts' `traffic_class` does not reach."""
    gin_ib_tc: Byte | None = None
    """ToS byte of GPU-initiated networking, 0 to 255 (NCCL_GIN_IB_TC). Left out: `ib_tc`. Example: `106`"""
    ib_gid_index: GidIndex | None = None
    """Index of the GID to send from, 0 to 255 (NCCL_IB_GID_INDEX). Left out: NCCL chooses a GID of RoCEv2.
    Example: `3`
    """
    socket_interfaces: SocketInterfaces = None
    """Interfaces that jobs meet over before RDMA begins, by their exact names (NCCL_SOCKET_IFNAME). Left out: NCCL
    chooses.
    Example: `[eth0]`
    """


class LibraryIntent(Model):
    """Another communication library of the jobs, and the ToS byte that it is set to; ``{}`` sets none."""

    traffic_class: Byte | None = None
    """ToS byte that the library is set to, 0 to 255. Left out: none is set. Example: `106`"""


class Ucx(LibraryIntent):
    """UCX, whose default ToS byte for RoCEv2 is 106 (openucx/ucx src/uct/ib/base/ib_device.h @9466d10).

    From 1.21 on the default is the traffic class of the port, where the driver has one, and 106 without one
    (uct_ib_device_query_roce_tclass in ib_device.c @e7b7c86).
    """

    traffic_class: Byte | None = None
    """ToS byte that UCX is set to, 0 to 255 (UCX_IB_TRAFFIC_CLASS). Left out: the hosts' own. Example: `106`"""
    gid_index: GidIndex | None = None
    """Index of the GID to send from, 0 to 255 (UCX_IB_GID_INDEX). Left out: UCX chooses a GID of RoCEv2.
    Example: `3`
    """


def _traffic_class(value: Any) -> Any:
    if value in ("derived", "unset"):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 255:
        return value
    raise refused(f"{shown(value)} is not a ToS byte; expected a number from 0 to 255, derived or unset")


def _prevention(value: Any) -> Any:
    if value == "auto":
        return value
    if value == "off" or value is False:
        return 0
    found_ms = whole_milliseconds(value, "NICs")
    if found_ms == 0:
        raise refused("0 switches it off; write off")
    return found_ms


def _reorder(value: Any) -> Any:
    if value in ("any", "none"):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= FRAMES_AHEAD:
        return value
    raise refused(f"{shown(value)} is no number of frames; expected 1 to {FRAMES_AHEAD:,}, any or none")


Reorder = Annotated[
    int | Literal["any", "none"] | None,
    BeforeValidator(_reorder),
    WithJsonSchema(
        {"anyOf": [{"type": "integer", "minimum": 1, "maximum": FRAMES_AHEAD}, {"enum": ["any", "none"]}]}
    ),
]
"""How many frames a NIC accepts ahead of the next one in order: a number, ``any`` or ``none``."""
_DEVICE_NAME = ("an RDMA device name", 63)
"""The noun of an RDMA device name in messages, and its most characters.

IFNAMSIZ is 16 and IB_DEVICE_NAME_MAX 64, both with the final zero (Linux include/uapi).
"""
RdmaDevice = Annotated[
    str, WithJsonSchema({"type": "string", "pattern": r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"})
]


class HostsIntent(Model):
    """Settings of every host.

    ``traffic_class`` is the ToS byte of all RDMA traffic: derived from the RDMA class's DSCP, a number, or unset where
    the jobs set it themselves. ``pfc`` lists priorities only where they differ from the lossless classes.
    ``pfc_prevention`` is the time after which a NIC with a stuck receiver stops pausing its switch, in milliseconds, 0
    for off. ``tool`` is the program that sets trust, DSCP map and PFC; auto is that of the NIC's own driver.
    ``applied_by`` declares who sets the NICs after a reboot: the rendered unit, another program, or a person.
    """

    mtu: FrameSize = DEFAULT_HOST_MTU_BYTES
    """MTU of the hosts in bytes, without the Ethernet header; at most that of the switches. Example: `9000`"""
    traffic_class: Annotated[
        int | Literal["derived", "unset"],
        BeforeValidator(_traffic_class),
        WithJsonSchema(
            {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 255}, {"enum": ["derived", "unset"]}]}
        ),
    ] = "derived"
    """ToS byte of all RDMA traffic, 0 to 255 (DSCP x 4, plus 2 for ECN). `derived`: from the lossless class; `unset`:
    jobs set it themselves.
    Example: `106`
    """
    trust: TrustMode = "dscp"
    """What a NIC sorts packets by: `dscp`, or the VLAN tag (`pcp`)."""
    pfc: Annotated[tuple[Priority, ...] | None, BeforeValidator(listed)] = None
    """Priorities with PFC on the NICs. Left out: those of the lossless classes. Example: `[3]`"""
    pfc_prevention: Annotated[
        int | Literal["auto"],
        BeforeValidator(_prevention),
        WithJsonSchema(
            {"anyOf": [{"enum": ["auto", "off", False]}, {"type": "string", "pattern": DURATION_PATTERN}]}
        ),
    ] = "auto"
    """When a NIC with a stuck receiver stops pausing its switch, in whole milliseconds, with its unit. `auto`: as the
    NIC profile has it; `off`: never.
    Example: `100ms`
    """
    dcbx: DcbxSpeaker = "os"
    """Who speaks DCBX: the operating system (`os`) or the NIC's `firmware`."""
    global_pause: OnOff = False
    """Whether IEEE 802.3x global pause is on beside PFC."""
    reorder: Reorder = None
    """How many frames NICs accept ahead of the next one in order, `any` or `none`; set on NVIDIA NICs (`mlxreg`). Left
    out: unknown.
    Example: `any`
    Example: `64`
    """
    retransmission: Literal["go-back-n", "selective"] | None = None
    """Packets that RoCE NICs send again where one is lost: all from it on (`go-back-n`) or it alone (`selective`); set
    on NVIDIA NICs (`mlxreg`). Left out: go-back-n is simulated.
    """
    applied_by: NicSetter = "unit"
    """Who sets the NICs after a reboot: the rendered `unit`, something `other`, or a `hand`."""
    tool: Literal["auto", "mlnx_qos", "dcb", "niccli"] = "auto"
    """The tool that sets trust, DSCP map and PFC of the NICs: `mlnx_qos` (NVIDIA), `niccli` (Broadcom), or Linux's
    `dcb` for any NIC. `auto`: mlnx_qos for NVIDIA, else dcb.
    """
    interfaces: Annotated[tuple[Interface, ...] | None, BeforeValidator(listed)] = None
    """Network interfaces that carry RDMA. Left out: every Ethernet port of such a NIC. Example: `[eth0, eth1]`"""
    rdma_devices: Annotated[tuple[RdmaDevice, ...] | None, BeforeValidator(listed)] = None
    """Their RDMA devices. Left out: those that belong to the interfaces. Example: `[mlx5_0]`"""
    nccl: Nccl = Nccl.model_construct()
    """NCCL's settings in the job environment. Left out: NCCL's own defaults, and the hosts' ToS byte."""
    ucx: Ucx | None = None
    """Given where jobs use UCX; `{}` where it has no settings. Left out: they do not.
    Example: `{traffic_class: 106}`
    """
    mori: LibraryIntent | None = None
    """Given where jobs use MORI; `{}` where it has no settings. Left out: they do not.
    Example: `{traffic_class: 104}`
    """
    job_timeout: Duration | None = None
    """Time after which a job that hangs ends itself, with its unit. Left out: not declared. Example: `600s`"""
    loopback_rdma: OnOff = False
    """Whether processes of one host talk over its NIC."""
    environment: Environment = Field(default_factory=dict)
    """Further variables of the jobs by name, as numbers or text without blanks. Left out: none.
    Example: `{NCCL_DEBUG: WARN, NCCL_CROSS_NIC: 0}`
    """
    kubernetes: Kubernetes | None = None
    """Given where NVIDIA's NIC configuration operator sets the NICs of a Kubernetes cluster: one
    NicConfigurationTemplate for each kind of NIC is rendered. Left out: none is.
    Example: `{namespace: nvidia-network-operator, num_vfs: 0}`
    """

    @field_validator("interfaces", "rdma_devices")
    @classmethod
    def _safe_names(cls, value: tuple[str, ...] | None, field: ValidationInfo) -> tuple[str, ...] | None:
        what, longest = ("an interface name", 15) if field.field_name == "interfaces" else _DEVICE_NAME
        for name in value or ():
            identifier(name, what, longest)
        return value
