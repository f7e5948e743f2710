"""How one host treats RDMA traffic: NIC settings and the transport's patience."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lossless.fabric.known import Maybe
from lossless.findings import Origin

if TYPE_CHECKING:
    from lossless.hardware.model import NicProfile


class Dcqcn(NamedTuple):
    """DCQCN parameters by their ConnectX names, lower case, in the units of the NIC profile's table.

    ``stated`` are those the intent gives; ``values`` is the full set, the rest from the NIC profile.
    """

    enabled: bool
    values: tuple[tuple[str, int], ...]
    stated: tuple[str, ...]
    cnp_dscp: int | None
    cnp_priority: int | None
    origin: Origin


class Transport(NamedTuple):
    """How long a queue pair keeps trying: 4.096 us x 2^timeout x (retry_count + 1) (IBTA vol. 1, 9.7.6.1.3)."""

    timeout: int
    retry_count: int
    origin: Origin


class HostQos(NamedTuple):
    """The QoS of a host's RDMA NICs.

    ``traffic_class`` is the ToS byte that every RDMA packet carries (sysfs or RDMA-CM); None: nothing sets it.
    ``nccl_tc`` is NCCL_IB_TC, None where the job environment leaves it alone.
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
