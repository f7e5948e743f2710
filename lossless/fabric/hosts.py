"""How one host treats RDMA traffic: NIC settings and the transport's patience."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.fabric.known import Maybe
from lossless.findings import Origin
from lossless.records import NamedTuple

if TYPE_CHECKING:
    from lossless.hardware.model import NicProfile


class Dcqcn(NamedTuple):
    """DCQCN parameters by their ConnectX names, lower case, in the units of the NIC profile's table.

    ``stated`` are those the intent gives; ``values`` is the full set, the rest from the NIC profile.
    ``priorities`` are those it runs on, None where they are those with PFC.
    """

    enabled: bool
    values: tuple[tuple[str, int], ...]
    stated: tuple[str, ...]
    cnp_dscp: int | None
    cnp_priority: int | None
    origin: Origin
    priorities: tuple[int, ...] | None = None


class Library(NamedTuple):
    """A library that jobs move data with, by name, and the variable that tells it a ToS byte.

    ``tos`` None: it is told none. ``bypasses`` says that its queue pairs are made without the kernel's help,
    which leaves the kernel's traffic class without effect on them.
    """

    name: str
    variable: str
    tos: int | None
    bypasses: bool
    origin: Origin


class Jobs(NamedTuple):
    """What an intent says of the jobs on a host.

    ``fifo_tc`` is NCCL_IB_FIFO_TC, ``timeout_ms`` the time after which a job that hangs ends itself,
    ``loopback`` whether processes of one host talk over its NIC. None: nothing is said.
    """

    libraries: tuple[Library, ...]
    fifo_tc: int | None
    qps_per_connection: int | None
    timeout_ms: int | None
    loopback: bool


class Transport(NamedTuple):
    """How long a queue pair keeps trying: 4.096 us x 2^timeout x (retry_count + 1) (IBTA vol. 1, 9.7.6.1.3)."""

    timeout: int
    retry_count: int
    origin: Origin


class HostQos(NamedTuple):
    """The QoS of a host's RDMA NICs.

    ``traffic_class`` is the ToS byte that every RDMA packet carries (sysfs or RDMA-CM); None: nothing sets it.
    ``nccl_tc`` is NCCL_IB_TC, None where the job environment leaves it alone. ``stall_ms`` is when the NIC
    stops pausing its switch for a stuck receiver: 0 never, None where no profile says that it can.
    ``applied_by`` says who sets all this after a reboot.
    """

    nic: NicProfile | None
    nic_name: str
    interfaces: tuple[str, ...]
    rdma_devices: tuple[str, ...]
    rate_bps: int
    mtu_bytes: int
    cable_m: int
    dscp_to_priority: tuple[tuple[int, int], ...]
    pfc_priorities: tuple[int, ...]
    pfc_origin: Origin
    traffic_class: int | None
    traffic_class_origin: Origin
    nccl_tc: int | None
    nccl_tc_origin: Origin
    dcqcn: Dcqcn
    transport: Maybe[Transport]
    origin: Origin
    nic_origin: Origin
    mtu_origin: Origin
    jobs: Jobs
    stall_ms: int | None
    trust: Literal["dscp", "pcp"] = "dscp"
    dcbx: Literal["os", "firmware"] = "os"
    global_pause: bool = False
    applied_by: Literal["unit", "other", "hand"] = "unit"

    def at(self, *keys: str) -> Origin:
        """Return where a key of the hosts that an intent states is written."""
        return Origin(self.origin.file, ("hosts", *keys))
