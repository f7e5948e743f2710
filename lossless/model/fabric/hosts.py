"""How one host treats RDMA traffic: NIC settings, the environment of jobs, and the transport's patience.

One model for declared and deployed hosts. What an intent makes is known throughout; None is what it leaves alone.
What was read from a host is UNKNOWN until a file says it, and every value that is known has its place in that file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.known import UNKNOWN, Maybe, Provenance, Unknown
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.model.hardware.nic import NicProfile, Tool

TrustMode = Literal["dscp", "pcp"]
DcbxSpeaker = Literal["os", "firmware"]
NicSetter = Literal["unit", "other", "hand"]
Tsa = Literal["strict", "ets", "vendor", "cbs"]
KeyOrigins = tuple[tuple[str, Origin], ...]
"""Keys, each with where its value is written."""
NIC_DSCP_PRIORITIES = tuple(dscp >> 3 for dscp in range(64))
"""The priority of each DSCP on a NIC that trusts DSCP and was given no map: DSCP / 8
(Mellanox/mlnx-tools python/mlnx_qos @088fadb)."""
RDMA_MTUS = (4096, 2048, 1024, 512, 256)
"""Path MTUs of RDMA in bytes (IBTA vol. 1, 9.4.3): the largest that fits is used."""
RDMA_HEADERS_BYTES = 60
"""IPv4 20, UDP 8, BTH 12, RETH 16, ICRC 4 bytes, which an IP MTU must hold beside the payload."""
_TIMEOUT_UNIT_NS = 4096
"""What a local ACK timeout counts in powers of two of (InfiniBand Architecture Specification, vol. 1, 9.7.6.1.3)."""


class Dcqcn(NamedTuple):
    """DCQCN parameters by their ConnectX names, lower case, in the units of the NIC profile's table.

    ``stated`` are those the intent gives; ``values`` is the full set, the rest from the NIC profile. Of a host
    that was read, both are those that were read. ``priorities`` are those its reaction point runs on, None
    where they are those with PFC; ``notifying`` those its notification point runs on, None: the same.
    ``priority_mask`` is ROCE_CC_PRIO_MASK of the firmware (bit 3 for priority 3), None where nobody asks for one.
    ``cnp_dscp`` and ``cnp_priority`` are what CNPs carry.
    """

    enabled: bool | Unknown
    values: tuple[tuple[str, int], ...]
    stated: tuple[str, ...]
    cnp_dscp: Maybe[int]
    cnp_priority: Maybe[int]
    origin: Origin
    priorities: Maybe[tuple[int, ...]] = None
    notifying: Maybe[tuple[int, ...]] = None
    priority_mask: Maybe[int] = None
    provenance: Provenance = "intent"
    origins: KeyOrigins = ()

    def at(self, name: str) -> Origin:
        """Return where a parameter is written, by its key under ``dcqcn`` of an intent, or in a host's own file."""
        if self.provenance == "intent":
            return self.origin.at(name)
        return next((origin for key, origin in self.origins if key == name), self.origin)


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


class Variable(NamedTuple):
    """One variable of a job's environment, its value as written."""

    name: str
    value: str
    origin: Origin


class Jobs(NamedTuple):
    """What is said of the jobs on a host, by an intent or by files of their environment.

    ``fifo_tc`` is NCCL_IB_FIFO_TC, ``timeout_ms`` the time after which a job that hangs ends itself,
    ``loopback`` whether processes of one host talk over its NIC. ``gid_index`` is NCCL_IB_GID_INDEX. None:
    nothing is said. ``hca`` and ``socket_interfaces`` are NCCL_IB_HCA and NCCL_SOCKET_IFNAME as written, with
    their ``=`` and ``^``; ``ucx_devices`` is UCX_NET_DEVICES. ``variables`` are all that are written.
    """

    libraries: tuple[Library, ...]
    fifo_tc: Maybe[int]
    qps_per_connection: Maybe[int]
    timeout_ms: Maybe[int]
    loopback: bool | Unknown
    gid_index: Maybe[int] = None
    hca: Maybe[str] = None
    socket_interfaces: Maybe[str] = None
    ucx_devices: Maybe[str] = None
    variables: tuple[Variable, ...] = ()

    def variable(self, name: str) -> Variable | None:
        """Return a variable by name, None where it is not written anywhere."""
        return next((variable for variable in self.variables if variable.name == name), None)


class Transport(NamedTuple):
    """How long a queue pair keeps trying: 4.096 us x 2^timeout x (retry_count + 1) (IBTA vol. 1, 9.7.6.1.3)."""

    timeout: int
    retry_count: int
    origin: Origin

    @property
    def patience_ns(self) -> int | None:
        """How long it keeps trying in all, None where it never gives up (timeout 0)."""
        if self.timeout == 0:
            return None
        return _TIMEOUT_UNIT_NS * (1 << self.timeout) * (self.retry_count + 1)


class Ets(NamedTuple):
    """How a NIC shares its wire: the TC of every priority; of every TC how it is chosen, and its percentage.

    Those that are not ``ets`` have 0 percent.
    """

    priority_to_tc: tuple[int, ...]
    tsa: tuple[Tsa, ...]
    bandwidth_percent: tuple[int, ...]


class ReceiveBuffers(NamedTuple):
    """The receive buffers of a NIC: which of them every priority fills, and the size of each."""

    priority_to_buffer: tuple[int, ...]
    size_bytes: tuple[int, ...]


class Attachment(NamedTuple):
    """One interface of a host: its RDMA device, and the switch and port that LLDP names at the other end."""

    interface: str
    rdma_device: str | None
    neighbor: tuple[str, str] | None
    origin: Origin


class HostQos(NamedTuple):
    """The QoS of a host's RDMA NICs.

    ``traffic_class`` is the ToS byte that every RDMA packet carries; None: nothing sets it. In an intent it is
    the value of both places that can hold it. Of a host that was read it is that of sysfs, which every queue pair gets,
    and ``cma_tos`` that of RDMA-CM (``default_roce_tos``).
    ``nccl_tc`` is NCCL_IB_TC, None where the job environment leaves it alone. ``stall_ms`` is when the NIC
    stops pausing its switch for a stuck receiver: 0 never, None where no profile says that it can.
    ``applied_by`` says who sets all this after a reboot. ``cma_tos``, ``rdma_mtu_bytes``, ``roce_version`` (2 for
    RoCEv2, what RDMA-CM makes connections by), ``ets`` and ``buffers`` are None where nothing asks for them.
    ``out_of_order`` says whether every queue pair is made to take packets out of order, ``selective_repeat`` whether
    each sends lost packets alone again; None: nothing asks for either.
    ``gid_types`` has the type of each GID index that is in use, as the kernel spells it: ``RoCE v2``.

    ``tool`` is what sets trust, DSCP map and PFC on the host, None where nothing is to be set.

    ``provenance`` is ``intent``, or ``deployed`` where files were read on the host. ``driver`` is the
    kernel's driver, known where there is a profile or where the host says so.
    """

    nic: NicProfile | None
    nic_name: str
    interfaces: tuple[str, ...]
    rdma_devices: tuple[str, ...]
    rate_bps: int | Unknown
    mtu_bytes: int | Unknown
    cable_m: int | Unknown
    dscp_to_priority: tuple[tuple[int, int], ...] | Unknown
    pfc_priorities: tuple[int, ...] | Unknown
    pfc_origin: Origin
    traffic_class: Maybe[int]
    traffic_class_origin: Origin
    nccl_tc: Maybe[int]
    nccl_tc_origin: Origin
    dcqcn: Dcqcn
    transport: Maybe[Transport]
    origin: Origin
    nic_origin: Origin
    mtu_origin: Origin
    jobs: Jobs
    stall_ms: Maybe[int]
    trust: TrustMode | Unknown = "dscp"
    dcbx: DcbxSpeaker | Unknown = "os"
    global_pause: bool | Unknown = False
    applied_by: NicSetter | Unknown = "unit"
    provenance: Provenance = "intent"
    driver: Maybe[str] = None
    cma_tos: Maybe[int] = None
    rdma_mtu_bytes: Maybe[int] = None
    roce_version: Maybe[int] = None
    ets: Maybe[Ets] = None
    buffers: Maybe[ReceiveBuffers] = None
    gid_types: Maybe[tuple[tuple[int, str], ...]] = None
    out_of_order: Maybe[bool] = None
    selective_repeat: Maybe[bool] = None
    origins: KeyOrigins = ()
    tool: Tool | None = None

    @property
    def dcqcn_priorities(self) -> tuple[int, ...] | Unknown:
        """The priorities that DCQCN runs on: those stated, else those with PFC; none where it is off."""
        if self.dcqcn.enabled is False:
            return ()
        return self.pfc_priorities if self.dcqcn.priorities is None else self.dcqcn.priorities

    @property
    def dcqcn_without_priority(self) -> bool:
        """Whether DCQCN is declared to be on, and has no priority to run on."""
        return self.provenance == "intent" and self.dcqcn.enabled is True and self.dcqcn_priorities == ()

    def at(self, *keys: str) -> Origin:
        """Return where a setting is written, by its keys under ``hosts`` of an intent: ``at("nccl", "ib_tc")``.

        Of a host that was read, this is the place in its own file; where no file says it, the host's.
        """
        if self.provenance == "intent":
            return Origin(self.origin.file, ("hosts", *keys))
        wanted = ".".join(keys)
        return next((origin for name, origin in self.origins if name == wanted), self.origin)


class HostInterfaces(NamedTuple):
    """Interfaces of a host with identical settings; ``name`` is the host's, with the first of several."""

    name: str
    host: str
    qos: HostQos
    attachments: tuple[Attachment, ...]


def unread(origin: Origin) -> HostQos:
    """Return a host of which nothing is known yet."""
    return HostQos(
        nic=None,
        nic_name="",
        interfaces=(),
        rdma_devices=(),
        rate_bps=UNKNOWN,
        mtu_bytes=UNKNOWN,
        cable_m=UNKNOWN,
        dscp_to_priority=UNKNOWN,
        pfc_priorities=UNKNOWN,
        pfc_origin=origin,
        traffic_class=UNKNOWN,
        traffic_class_origin=origin,
        nccl_tc=UNKNOWN,
        nccl_tc_origin=origin,
        dcqcn=Dcqcn(UNKNOWN, (), (), UNKNOWN, UNKNOWN, origin, UNKNOWN, UNKNOWN, UNKNOWN, "deployed"),
        transport=UNKNOWN,
        origin=origin,
        nic_origin=origin,
        mtu_origin=origin,
        jobs=Jobs((), UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN),
        stall_ms=UNKNOWN,
        trust=UNKNOWN,
        dcbx=UNKNOWN,
        global_pause=UNKNOWN,
        applied_by=UNKNOWN,
        provenance="deployed",
        driver=UNKNOWN,
        cma_tos=UNKNOWN,
        rdma_mtu_bytes=UNKNOWN,
        roce_version=UNKNOWN,
        ets=UNKNOWN,
        buffers=UNKNOWN,
        gid_types=UNKNOWN,
        out_of_order=UNKNOWN,
        selective_repeat=UNKNOWN,
    )
