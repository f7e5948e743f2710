"""Hosts: what their NICs are set to, and what the jobs on them set themselves."""

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
    small_number,
    whole_milliseconds,
)
from lossless.formats.intent.environment import Environment
from lossless.formats.intent.kubernetes import Kubernetes
from lossless.model.fabric.model import DEFAULT_HOST_MTU_BYTES

_INTERFACE_SCHEMA = {"type": "string", "pattern": r"^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$"}
Interface = Annotated[str, WithJsonSchema(_INTERFACE_SCHEMA)]


def _interface_names(value: Any) -> Any:
    for name in value if isinstance(value, list | tuple) else ():
        if isinstance(name, str):
            identifier(name, "an interface name", 15)
    return listed(value)


SocketInterfaces = Annotated[tuple[Interface, ...] | None, BeforeValidator(_interface_names)]
"""The interfaces that jobs meet over, by their exact names."""
GidIndex = Annotated[
    int,
    small_number(0, 255, "an index of the GID table"),
    WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 255}),
]
"""An address vector has eight bits for it (linux-rdma/rdma-core libibverbs/verbs.h, ibv_global_route)."""


def _nccl_number(low: int, high: int, name: str) -> tuple[BeforeValidator, WithJsonSchema]:
    schema = {"type": "integer", "minimum": low, "maximum": high}
    return small_number(low, high, f"a value of {name}"), WithJsonSchema(schema)


class Nccl(Model):
    """What the job environment sets. Defaults are NCCL's own (NVIDIA/nccl src/transport/net_ib @5067397).

    ``gin`` says that jobs use GPU-initiated networking, whose queue pairs the kernel's traffic class misses.
    ``socket_interfaces`` are those that jobs meet over before RDMA begins.
    """

    ib_tc: Byte | None = None
    ib_fifo_tc: Byte | None = None
    ib_timeout: Annotated[int, *_nccl_number(0, 31, "NCCL_IB_TIMEOUT")] = 20
    ib_retry_count: Annotated[int, *_nccl_number(0, 7, "NCCL_IB_RETRY_CNT")] = 7
    ib_qps_per_connection: Annotated[int, *_nccl_number(1, 128, "NCCL_IB_QPS_PER_CONNECTION")] | None = None
    gin: OnOff = False
    gin_ib_tc: Byte | None = None
    ib_gid_index: GidIndex | None = None
    socket_interfaces: SocketInterfaces = None


class LibraryIntent(Model):
    """Another library that jobs move data with, and the ToS byte it is told to use; ``{}`` tells it none."""

    traffic_class: Byte | None = None


class Ucx(LibraryIntent):
    """UCX, which takes 106 for the ToS byte of RoCEv2 by itself (openucx/ucx src/uct/ib/base/ib_iface.c @a9aeeea)."""

    gid_index: GidIndex | None = None


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


MOST_FRAMES = 1 << 20
"""More frames than any NIC keeps of a flow."""


def _reorder(value: Any) -> Any:
    if value in ("any", "none"):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST_FRAMES:
        return value
    raise refused(f"{shown(value)} is no number of frames; expected 1 to {MOST_FRAMES:,}, any or none")


Reorder = Annotated[
    int | Literal["any", "none"] | None,
    BeforeValidator(_reorder),
    WithJsonSchema(
        {"anyOf": [{"type": "integer", "minimum": 1, "maximum": MOST_FRAMES}, {"enum": ["any", "none"]}]}
    ),
]
"""How many frames a NIC takes ahead of the one that is due."""
_DEVICE_NAME = ("an RDMA device name", 63)
"""IFNAMSIZ is 16 and IB_DEVICE_NAME_MAX 64, both with the final zero (Linux include/uapi)."""
RdmaDevice = Annotated[
    str, WithJsonSchema({"type": "string", "pattern": r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"})
]


class HostsIntent(Model):
    """What holds on every host.

    ``traffic_class`` is the ToS byte of all RDMA traffic: derived from the RDMA class's DSCP, a number, or
    unset where the jobs set it themselves. ``pfc`` names priorities only where they differ from the classes.
    ``pfc_prevention`` is when a NIC with a stuck receiver stops pausing its switch, in milliseconds inside,
    0 for off. ``tool`` is what sets trust, DSCP map and PFC; auto is the one of the NIC's own driver.
    ``applied_by`` says who sets the NICs after a reboot: the rendered unit, something else, or a
    hand.
    """

    mtu: FrameSize = DEFAULT_HOST_MTU_BYTES
    traffic_class: Annotated[
        int | Literal["derived", "unset"],
        BeforeValidator(_traffic_class),
        WithJsonSchema(
            {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 255}, {"enum": ["derived", "unset"]}]}
        ),
    ] = "derived"
    trust: Literal["dscp", "pcp"] = "dscp"
    pfc: Annotated[tuple[Priority, ...] | None, BeforeValidator(listed)] = None
    pfc_prevention: Annotated[
        int | Literal["auto"],
        BeforeValidator(_prevention),
        WithJsonSchema(
            {"anyOf": [{"enum": ["auto", "off", False]}, {"type": "string", "pattern": DURATION_PATTERN}]}
        ),
    ] = "auto"
    dcbx: Literal["os", "firmware"] = "os"
    global_pause: OnOff = False
    reorder: Reorder = None
    retransmission: Literal["go-back-n", "selective"] | None = None
    applied_by: Literal["unit", "other", "hand"] = "unit"
    tool: Literal["auto", "mlnx_qos", "dcb", "niccli"] = "auto"
    interfaces: Annotated[tuple[Interface, ...] | None, BeforeValidator(listed)] = None
    rdma_devices: Annotated[tuple[RdmaDevice, ...] | None, BeforeValidator(listed)] = None
    nccl: Nccl = Nccl.model_construct()
    ucx: Ucx | None = None
    mori: LibraryIntent | None = None
    job_timeout: Duration | None = None
    loopback_rdma: OnOff = False
    environment: Environment = Field(default_factory=dict)
    kubernetes: Kubernetes | None = None

    @field_validator("interfaces", "rdma_devices")
    @classmethod
    def _safe_names(cls, value: tuple[str, ...] | None, field: ValidationInfo) -> tuple[str, ...] | None:
        what, longest = ("an interface name", 15) if field.field_name == "interfaces" else _DEVICE_NAME
        for name in value or ():
            identifier(name, what, longest)
        return value
