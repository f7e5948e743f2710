"""The GPUs, workloads and tolerated failures that an intent declares, and notations of priorities and DSCPs.

The hosts of a fabric may be nodes of a Kubernetes cluster, for which an intent has settings. A workload has a pattern
or a collective: commands, intents and the packet-level model take names, limits and defaults from here. NICs write a
set of priorities as a bit each, or a flag each; DSCPs have standard names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import parse_size
from lossless.model.fabric.cabling import FabricElement
from lossless.model.fabric.qos import PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Iterable


class ScaleUp(NamedTuple):
    """The interconnect of the GPUs of a domain outside the fabric; ``rate_bps`` is the rate of one GPU, one way.

    ``most_gpus`` is the largest possible domain of this ``name``, None where it is unknown.
    """

    name: str
    domain_gpus: int
    rate_bps: int
    most_gpus: int | None
    origin: Origin


class Cluster(NamedTuple):
    """The GPUs of every host. None: not declared.

    ``rails`` is the number of rails that a host's NICs are distributed over, ``gpus`` the total number of GPUs, and
    ``bandwidth_bps`` the declared bandwidth of each on the fabric, one way.
    """

    gpus_per_host: int
    nics_per_host: int | None
    gpus: int | None
    rails: int | None
    bandwidth_bps: int | None
    scale_up: ScaleUp | None
    origin: Origin

    @property
    def domain_gpus(self) -> int:
        """Number of GPUs in one domain outside the fabric; 1 without such an interconnect."""
        return self.scale_up.domain_gpus if self.scale_up else 1


class Failures(NamedTuple):
    """Failures to tolerate: any ``links`` at once, or any ``switches``, besides elements that are ``out_of_service``.

    ``accepted`` is the oversubscription that such failures may cause, None where an intent declares none.
    """

    links: int
    switches: int
    accepted: float | None
    out_of_service: tuple[FabricElement, ...]
    origin: Origin

    def works(self, near: str, far: str) -> bool:
        """Return whether links between two devices are in service, and so are both devices."""
        return not any(set(cable.names) <= {near, far} for cable in self.out_of_service)

    @property
    def gone(self) -> tuple[str, ...]:
        """The elements out of service as text: ``spine2``, ``leaf1 - spine1``."""
        return tuple(" - ".join(cable.names) for cable in self.out_of_service)


class KubernetesPolicy(NamedTuple):
    """Settings of NVIDIA's NIC configuration operator beyond those derived from the fabric.

    ``ports`` is the largest number of ports of a NIC. ``max_read_request`` is in bytes, None for the operator's
    default. ``firmware`` are settings of mlxconfig by name.
    """

    namespace: str
    num_vfs: int
    node_selector: tuple[tuple[str, str], ...]
    pci_addresses: tuple[str, ...]
    ports: int
    pci_performance: bool
    max_read_request: int | None
    gpu_direct: bool
    firmware: tuple[tuple[str, str], ...]
    origin: Origin


Pattern = Literal["incast", "all-to-all", "ring", "tree", "permutation"]
Collective = Literal[
    "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "pipeline", "storage-read", "storage-write"
]
Algorithm = Literal["ring", "hierarchical", "tree", "sharp", "direct", "pxn"]
RailTraffic = Literal["rail", "any"]
"""The destinations of a NIC port in a fabric with rails: those of its own rail, or of any."""
StormTraffic = Literal["all-to-all", "incast", "any"]
"""Traffic patterns of storm simulations: those within rails, and ``any``, an all-to-all that crosses rails."""
PATTERNS: tuple[Pattern, ...] = get_args(Pattern)
COLLECTIVES: tuple[Collective, ...] = get_args(Collective)
RAIL_TRAFFIC: tuple[RailTraffic, ...] = get_args(RailTraffic)
STORM_TRAFFIC: tuple[StormTraffic, ...] = get_args(StormTraffic)
ALGORITHMS: dict[Collective, tuple[Algorithm, ...]] = {
    "all-reduce": ("ring", "hierarchical", "tree", "sharp"),
    "all-gather": ("ring", "hierarchical"),
    "reduce-scatter": ("ring", "hierarchical"),
    "all-to-all": ("direct", "pxn"),
    "pipeline": ("direct",),
    "storage-read": ("direct",),
    "storage-write": ("direct",),
}
"""Algorithms by collective; the default is ``hierarchical`` if it is one and GPUs form domains, else the first."""
LEAST_NICS = 2
MOST_NICS = 65_536
"""The most NIC ports that an intent may declare for a pattern."""
MOST_SENDERS = 512
MOST_PEERS = 64
"""The default number of NICs in patterns other than incast: the flows of all-to-all grow with its square."""
MOST_LOADED = 512
"""The number of NICs from which the load on a fabric is that of some of its leaves: a run takes about a second."""


class WorkloadKind(NamedTuple):
    """A kind of workload: the key that names one, its default size, and the keys that apply to it alone.

    ``size`` is the data of each NIC port in one step of a pattern, and the buffer of a collective.
    """

    key: str
    size: str
    own_keys: tuple[str, ...]

    @property
    def size_bytes(self) -> int:
        """The default size in bytes."""
        return parse_size(self.size)


PATTERN = WorkloadKind("pattern", "8 MiB", ("nics", "target", "storage"))
COLLECTIVE = WorkloadKind("collective", "1 GiB", ("gpus", "algorithm", "sources"))


class DeclaredWorkload(NamedTuple):
    """A workload by name: a ``pattern`` among NIC ports, or a ``collective`` of GPUs; the other one is None.

    ``size_bytes`` is the data that each NIC port sends in one step, of a collective its buffer; None where it is not
    declared. ``target`` is the NIC port that an incast goes to, and that is slow or dead. ``storage`` is the share of
    the traffic that is storage, 0 to below 1. ``failed`` are ports whose links are down, as ``switch:port``. ``gpus``,
    ``algorithm`` and ``sources`` are those of a collective.
    """

    name: str
    pattern: Pattern | None
    collective: Collective | None
    size_bytes: int | None
    nics: int | None
    target: str | None
    class_name: str | None
    storage: float
    failed: tuple[str, ...]
    slow_nic_bps: int | None
    dead_nic: bool
    gpus: int | None
    algorithm: Algorithm | None
    sources: int
    origin: Origin


class Workload(NamedTuple):
    """A collective and the job around it. ``algorithm`` None: the usual one of the collective. ``gpus`` None: all.

    ``sources`` is how many storage servers each GPU reads from, ``microbatches`` how often a stage of a pipeline sends
    to the next. ``compute_ns`` is the computation time of a step, ``overlap`` the part of the communication that it
    hides, 0 to 1. ``step_ns`` is the time of each step of a collective besides that of its bytes.
    """

    collective: Collective = "all-reduce"
    size_bytes: int = COLLECTIVE.size_bytes
    algorithm: Algorithm | None = None
    gpus: int | None = None
    sources: int = 1
    microbatches: int = 1
    compute_ns: int = 0
    overlap: float = 0.0
    step_ns: int = 0


def priority_bits(priorities: Iterable[int]) -> int:
    """Return a set of priorities as a number with a bit for each: 8 for priority 3."""
    return sum(1 << priority for priority in set(priorities))


def priorities_of_bits(bits: int) -> tuple[int, ...]:
    """Return the priorities whose bits are set in a number: 3 for 8."""
    return tuple(priority for priority in PRIORITIES if bits >> priority & 1)


def priority_flags(priorities: Iterable[int]) -> tuple[str, ...]:
    """Return ``1`` for each of the eight priorities that is in a set, else ``0``."""
    chosen = frozenset(priorities)
    return tuple("1" if priority in chosen else "0" for priority in PRIORITIES)


def priorities_of_flags(flags: Iterable[bool]) -> tuple[int, ...]:
    """Return the priorities whose flags are set, flags in the order of priorities from 0."""
    return tuple(priority for priority, flag in enumerate(flags) if flag)


_OTHER_NAMES = {"EF": 46, "VOICE-ADMIT": 44, "LE": 1}


def dscp_of_name(name: str) -> int | None:
    """Return the DSCP of a name in capital or small letters, None for an unknown name.

    CS0 to CS7 (RFC 2474), AF11 to AF43 (RFC 2597), EF (RFC 3246), VOICE-ADMIT (RFC 5865), LE (RFC 8622).
    """
    text = name.upper()
    if len(text) == 3 and text[:2] == "CS" and text[2] in "01234567":
        return 8 * int(text[2])
    if len(text) == 4 and text[:2] == "AF" and text[2] in "1234" and text[3] in "123":
        return 8 * int(text[2]) + 2 * int(text[3])
    return _OTHER_NAMES.get(text)


def name_of_dscp(dscp: int) -> str | None:
    """Return the name of a DSCP, None where it has none."""
    names = (*(f"CS{n}" for n in range(8)), *(f"AF{x}{y}" for x in range(1, 5) for y in range(1, 4)))
    return next((name for name in (*names, *_OTHER_NAMES) if dscp_of_name(name) == dscp), None)
