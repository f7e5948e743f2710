"""Workloads: the supported patterns and collectives, and the traffic that an intent declares.

Commands, intents and the packet-level model take names, limits and defaults from here.
"""

from __future__ import annotations

from typing import Literal, get_args

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import parse_size

Pattern = Literal["incast", "all-to-all", "ring", "tree", "permutation"]
Collective = Literal[
    "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "pipeline", "storage-read", "storage-write"
]
Algorithm = Literal["ring", "hierarchical", "tree", "sharp", "direct", "pxn"]
StormTraffic = Literal["all-to-all", "incast"]
"""Traffic patterns of storm simulations."""
PATTERNS: tuple[Pattern, ...] = get_args(Pattern)
COLLECTIVES: tuple[Collective, ...] = get_args(Collective)
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
"""Algorithms by collective; the first of each is the default."""
LEAST_NICS = 2
MOST_NICS = 65_536
"""The most NIC ports that can take part in a pattern."""
MOST_SENDERS = 512
MOST_PEERS = 64
"""The default number of NICs in patterns where all send to all: flows grow with its square."""


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
    """A workload by name: a ``pattern`` among NIC ports, or a ``collective`` of GPUs; of each pair one is None.

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
