"""Settings of one host for RDMA traffic: its NICs, the environment of jobs, and the transport's retry time.

One model for declared and deployed hosts. In a host of an intent every value is known; None mostly means that the
intent leaves the setting unchanged; other meanings are documented at its class. In a host that was read, a value is
UNKNOWN until a file has it, and every known value has its place in that file.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from lossless.ground.basics.findings import Origin, Severity
from lossless.ground.basics.records import UNKNOWN, Maybe, NamedTuple, Provenance, Unknown

if TYPE_CHECKING:
    from lossless.model.hardware.clouds import CloudMachine, CloudNetwork, Transport as CloudTransport
    from lossless.model.hardware.devices import NicProfile, Tool

TrustMode = Literal["dscp", "pcp"]
DcbxSpeaker = Literal["os", "firmware"]
NicSetter = Literal["unit", "other", "hand"]
Tsa = Literal["strict", "ets", "vendor", "cbs"]
KeyOrigins = tuple[tuple[str, Origin], ...]
"""Keys of host settings, each with the place of its value."""
NIC_DSCP_PRIORITIES = tuple(dscp >> 3 for dscp in range(64))
"""The priority of each DSCP on a NIC that trusts DSCP and has no configured map: DSCP / 8.

Source: Mellanox/mlnx-tools python/mlnx_qos @088fadb.
"""
RDMA_MTUS = (4096, 2048, 1024, 512, 256)
"""Path MTUs of RDMA in bytes (IBTA vol. 1, 9.4.3): the largest that fits is used."""
RDMA_HEADERS_BYTES = 60
"""Bytes of an IP packet beside the RDMA payload: IPv4 20, UDP 8, BTH 12, RETH 16, ICRC 4."""
_TIMEOUT_UNIT_NS = 4096
"""The unit of a local ACK timeout, which is a power of two of it.

Source: InfiniBand Architecture Specification, vol. 1, 9.7.6.1.3.
"""


class Dcqcn(NamedTuple):
    """DCQCN parameters by their ConnectX names, lower case, in the units of the NIC profile's table.

    ``stated`` are those the intent declares; ``values`` is the full set, the rest from the NIC profile. In a host
    that was read, both are those that were read. ``priorities`` are those its reaction point runs on, None
    where they are those with PFC; ``notifying`` those its notification point runs on, None: the same.
    ``priority_mask`` is ROCE_CC_PRIO_MASK of the firmware (bit 3 for priority 3), None where no mask is required.
    ``cnp_dscp`` and ``cnp_priority`` are the DSCP and the priority of CNPs.
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
        """Return the place of a DCQCN parameter by its key: under ``dcqcn`` of an intent, or in a host's own file.

        Where no file of the host has the key, it is the place of these settings.
        """
        if self.provenance == "intent":
            return self.origin.at(name)
        return next((origin for key, origin in self.origins if key == name), self.origin)


class Library(NamedTuple):
    """A communication library of jobs, by name, and the variable that sets its ToS byte.

    ``tos`` None: it is not set. ``bypasses``: its queue pairs are created without the kernel,
    so that the kernel's traffic class has no effect on them.
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


VARIABLE_RANGES: dict[str, tuple[int, int]] = {
    "NCCL_IB_TIMEOUT": (0, 31),
    "NCCL_IB_RETRY_CNT": (0, 7),
    "NCCL_IB_SL": (0, 15),
    "NCCL_IB_QPS_PER_CONNECTION": (1, 128),
    "UCX_IB_SL": (0, 15),
}
"""Least and greatest value of variables of jobs that become fields of a queue pair.

Timeouts have five bits, retries three, service levels four (InfiniBand specification 1.2.1, 9.7.5.1.3, 9.7.6.1.3,
5.2.2); queue pairs: NVIDIA/nccl src/transport/net_ib @5067397.
"""


class Departure(NamedTuple):
    """The library that a variable takes off RDMA, and how severe that is.

    For UCX the severity is info: jobs of NCCL that MPI starts may exchange only a few messages by UCX.
    """

    library: str
    severity: Severity


_SOCKET_PROVIDERS = frozenset({"tcp", "sockets", "udp", "net"})
_UCX_WITHOUT_RDMA = frozenset(
    [
        *("tcp", "sm", "shm", "self", "mm", "cma", "knem", "xpmem", "posix", "sysv"),
        *("cuda", "cuda_copy", "cuda_ipc", "gdr_copy", "rocm", "rocm_copy", "rocm_ipc"),
    ]
)
_UCX_RDMA = frozenset({"ib"}), frozenset({"rc", "ud", "dc"})
_UCX_VARIANTS = re.compile(r"_(?:v|x|verbs|mlx5)$")


def departure(name: str, value: str) -> Departure | None:
    """Return how a variable takes jobs off RDMA over verbs, on InfiniBand or RoCE; None where it does not.

    Sources: NVIDIA/nccl src/transport/net_ib/init.cc @5067397 (NCCL_IB_DISABLE) and docs (NCCL_NET), openucx/ucx
    src/ucp/core/ucp_context.c @9466d10 (TLS: names of transports, ``^`` before those to leave out), libfabric
    fabric(7) (FI_PROVIDER, the same ``^``).
    """
    text = value.strip().lower()
    if (name == "NCCL_IB_DISABLE" and variable_number(text)) or (name == "NCCL_NET" and text == "socket"):
        return Departure("NCCL", "error")
    names = [part.strip() for part in text.removeprefix("^").split(",")]
    if name == "FI_PROVIDER" and not text.startswith("^") and set(names) <= _SOCKET_PROVIDERS:
        return Departure("libfabric", "warning")
    if name == "UCX_TLS":
        plain = {_UCX_VARIANTS.sub("", part) for part in names}
        left_out = any(every <= plain for every in _UCX_RDMA)
        if left_out if text.startswith("^") else plain <= _UCX_WITHOUT_RDMA:
            return Departure("UCX", "info")
    return None


_COLLNET = frozenset({"collnet", "collnetdirect", "collnetchain"})
"""NCCL's algorithms that reduce in switches by a plugin; the first is their name up to 2.13."""
_ALGORITHMS = _COLLNET | {"tree", "ring", "nvls", "nvlstree", "pat"}


def reduces_in_switches(name: str, value: str) -> bool | None:
    """Return whether a variable has jobs reduce in switches (True) or keeps them from it (False); None for neither.

    That is SHARP, which NCCL reaches by a plugin and its CollNet algorithms, and HPC-X by its collective library.
    Sources: NVIDIA/nccl docs, environment variables (NCCL_COLLNET_ENABLE, NCCL_ALGO, NCCL_NET_PLUGIN);
    Mellanox/nccl-rdma-sharp-plugins src/sharp_plugin.c @2f5ac02 (NCCL_SHARP_DISABLE), NVIDIA HPC-X 2.26
    (NCCL_IBEXT_DISABLE); NVIDIA SHARP 3.10.2 (SHARP_COLL_ENABLE_SAT; HCOLL_ENABLE_SHARP: 0 is off, 1 probes, from 2
    on it is forced).
    """
    text = value.strip().lower()
    number = variable_number(text)
    if name in ("NCCL_COLLNET_ENABLE", "SHARP_COLL_ENABLE_SAT"):
        return bool(number)
    if name == "HCOLL_ENABLE_SHARP":
        return None if number in (1, None) else bool(number)
    if (name == "NCCL_NET_PLUGIN" and text == "none") or (name == "NCCL_SHARP_DISABLE" and text == "1"):
        return False
    if name == "NCCL_IBEXT_DISABLE" and number:
        return False
    if name == "NCCL_ALGO":
        allowed = _all_reduce_algorithms(text)
        # Between hosts NVLS reduces by CollNet; inside of one it needs none.
        if allowed and allowed <= _COLLNET:
            return True
        if allowed and not allowed & (_COLLNET | {"nvls"}):
            return False
    return None


NO_ALGORITHM = "NCCL finds no other algorithm, and the first all-reduce fails"
"""The effect of NCCL_ALGO that allows CollNet alone where no switch reduces (NVIDIA/nccl src/enqueue.cc @5067397)."""


def effect_without_reductions(name: str) -> str:
    """Return in words the effect of a variable that requests reductions in switches where no switch makes them."""
    return NO_ALGORITHM if name == "NCCL_ALGO" else "jobs reduce on the hosts, and send twice the bytes"


def _all_reduce_algorithms(text: str) -> frozenset[str] | None:
    """Return the algorithms that NCCL_ALGO allows for an all-reduce; None where it has an unknown one.

    NCCL_ALGO is a list, or several lists with ``;`` between them, each after the name of a function and ``:``. A list
    that begins with ``^`` names excluded algorithms. The list of the function counts before a list for all functions.
    """
    lists: dict[str, frozenset[str]] = {}
    for part in text.split(";"):
        function, colon, names = part.rpartition(":")
        named = frozenset(name.strip() for name in names.removeprefix("^").split(","))
        if not named <= _ALGORITHMS:
            return None
        lists[function if colon else ""] = _ALGORITHMS - named if names.startswith("^") else named
    return lists.get("allreduce", lists.get("", _ALGORITHMS))


def variable_number(text: str) -> int | None:
    """Return the number of a variable as NCCL reads it, in C's notation; None where the text is none."""
    from lossless.model.fabric.infiniband.subnet import c_number

    return c_number(text.strip())


class ManagedFabric(NamedTuple):
    """The declaration of a fabric that a cloud provider operates.

    ``machine`` is None where the intent does not state the type. ``network`` is None where the cloud has several and
    the intent does not select one. ``variables`` are the environment of jobs, in the order of rendered files;
    ``stated`` are those of them that the intent declares.
    """

    transport: CloudTransport
    machine: CloudMachine | None
    network: CloudNetwork | None
    variables: tuple[Variable, ...]
    stated: tuple[Variable, ...]
    origin: Origin


class Jobs(NamedTuple):
    """Settings of the jobs on a host, from an intent or from files of their environment.

    ``fifo_tc`` is NCCL_IB_FIFO_TC, ``timeout_ms`` the time after which a job that hangs ends itself,
    ``loopback`` whether processes of one host communicate over its NIC. ``gid_index`` is NCCL_IB_GID_INDEX. None:
    not set. ``hca`` and ``socket_interfaces`` are NCCL_IB_HCA and NCCL_SOCKET_IFNAME as written, with
    their ``=`` and ``^``; ``ucx_devices`` is UCX_NET_DEVICES. ``variables`` are all that are written.
    ``lacks_device``: a container that is set up for RDMA gets no RDMA device of its host.
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
    lacks_device: bool = False

    def variable(self, name: str) -> Variable | None:
        """Return a variable by name, None where it is not written anywhere."""
        return next((variable for variable in self.variables if variable.name == name), None)


class Transport(NamedTuple):
    """Timeout and retries of a queue pair: its retry time is 4.096 us x 2^timeout x (retry_count + 1).

    With timeout 0 it waits forever. Source: IBTA vol. 1, 9.7.6.1.3.
    """

    timeout: int
    retry_count: int
    origin: Origin

    @property
    def timeout_ns(self) -> int | None:
        """Time after which a packet without ACK is sent again, in nanoseconds, None for never (timeout 0)."""
        return _TIMEOUT_UNIT_NS << self.timeout if self.timeout else None

    @property
    def patience_ns(self) -> int | None:
        """Total retry time in nanoseconds, None if a queue pair waits forever (timeout 0)."""
        return None if self.timeout_ns is None else self.timeout_ns * (self.retry_count + 1)


class Ets(NamedTuple):
    """Bandwidth shares of a NIC: the TC of every priority, and the selection algorithm and percentage of every TC.

    In an intent TCs with another algorithm than ``ets`` have 0 percent.
    """

    priority_to_tc: tuple[int, ...]
    tsa: tuple[Tsa, ...]
    bandwidth_percent: tuple[int, ...]


class ReceiveBuffers(NamedTuple):
    """The receive buffers of a NIC: the buffer of every priority, and the size of each."""

    priority_to_buffer: tuple[int, ...]
    size_bytes: tuple[int, ...]


class Attachment(NamedTuple):
    """One interface of a host: its RDMA device, and the switch and port at the other end according to LLDP."""

    interface: str
    rdma_device: str | None
    neighbor: tuple[str, str] | None
    origin: Origin


class HostQos(NamedTuple):
    """The QoS of a host's RDMA NICs.

    ``traffic_class`` is the ToS byte of every RDMA packet; None: it is not set. In an intent it is the value of both
    places that can set it. In a host that was read it is that of sysfs, which every queue pair gets, and ``cma_tos``
    that of RDMA-CM (``default_roce_tos``). ``nccl_tc`` is NCCL_IB_TC, None where the job environment does not set it.
    ``stall_ms`` is the time after which the NIC stops pausing its switch for a stuck receiver: 0 never, None where no
    profile documents that it can. ``applied_by`` is who applies the settings after a reboot. ``cma_tos``,
    ``rdma_mtu_bytes``, ``roce_version`` (2 for RoCEv2, the version of RDMA-CM's connections), ``ets`` and ``buffers``
    are None where they are not required. ``out_of_order``: new queue pairs accept packets out of order;
    ``selective_repeat``: they retransmit lost packets alone; None: not required. ``gid_types`` has the type of each GID
    index that is in use, in the kernel's spelling: ``RoCE v2``.

    ``tool`` is the program that sets trust, DSCP map and PFC on the host, None where nothing is to be set. ``links`` is
    the number of links of the host in an intent's topology, 0 where it is unknown.

    ``provenance`` is ``intent``, or ``deployed`` where files were read on the host. ``driver`` is the
    kernel's driver, known from the profile or from the host.
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
    links: int = 0

    @property
    def dcqcn_priorities(self) -> tuple[int, ...] | Unknown:
        """The priorities that DCQCN runs on: those declared, else those with PFC (both may be UNKNOWN); none if off."""
        if self.dcqcn.enabled is False:
            return ()
        return self.pfc_priorities if self.dcqcn.priorities is None else self.dcqcn.priorities

    @property
    def dcqcn_without_priority(self) -> bool:
        """Whether DCQCN is declared to be on, and has no priority to run on."""
        return self.provenance == "intent" and self.dcqcn.enabled is True and self.dcqcn_priorities == ()

    def at(self, *keys: str) -> Origin:
        """Return the place of a setting, by its keys under ``hosts`` of an intent: ``at("nccl", "ib_tc")``.

        In a host that was read it is the place in its own file, or that of the host where no file has the setting.
        """
        if self.provenance == "intent":
            return Origin(self.origin.file, ("hosts", *keys))
        wanted = ".".join(keys)
        return next((origin for name, origin in self.origins if name == wanted), self.origin)


class HostInterfaces(NamedTuple):
    """Interfaces of a host with identical settings.

    ``name`` is the host's name, followed by the first of these interfaces (``host1:eth2``) where settings differ.
    """

    name: str
    host: str
    qos: HostQos
    attachments: tuple[Attachment, ...]


def unread(origin: Origin) -> HostQos:
    """Return the QoS of a deployed host before its files are read: no NIC, interface or variable, settings UNKNOWN."""
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
