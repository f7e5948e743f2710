"""Hosts: settings of their NICs, and the environment of the jobs that run on them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, WithJsonSchema, field_validator

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
from lossless.formats.intent.environment import Environment
from lossless.formats.intent.kubernetes import Kubernetes
from lossless.ground.basics.limits import FRAMES_AHEAD
from lossless.model.fabric.hosts import DcbxSpeaker, NicSetter, TrustMode
from lossless.model.fabric.model import DEFAULT_HOST_MTU_BYTES

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
    """NCCL's variables in the job environment. Defaults are NCCL's own (NVIDIA/nccl src/transport/net_ib @5067397).

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
    """UCX, whose default ToS byte for RoCEv2 is 106 (openucx/ucx src/uct/ib/base/ib_iface.c @a9aeeea)."""

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
"""How many frames a NIC accepts ahead of the next one in order."""
_DEVICE_NAME = ("an RDMA device name", 63)
"""The noun of an RDMA device name in messages, and its most characters.

IFNAMSIZ is 16 and IB_DEVICE_NAME_MAX 64, both with the final zero (Linux include/uapi).
"""
RdmaDevice = Annotated[
    str, WithJsonSchema({"type": "string", "pattern": r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"})
]


class HostsIntent(Model):
    """Settings of every host.

    ``traffic_class`` is the ToS byte of all RDMA traffic: derived from the RDMA class's DSCP, a number, or
    unset where the jobs set it themselves. ``pfc`` lists priorities only where they differ from the lossless classes.
    ``pfc_prevention`` is the time after which a NIC with a stuck receiver stops pausing its switch, in milliseconds,
    0 for off. ``tool`` is the program that sets trust, DSCP map and PFC; auto is that of the NIC's own driver.
    ``applied_by`` declares who sets the NICs after a reboot: the rendered unit, something else, or a hand.
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
    """NCCL's settings in the job environment. Left out: NCCL's own defaults."""
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
