"""Questions to the packet-level model, as records that need neither NumPy nor numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.cluster import PATTERN

if TYPE_CHECKING:
    from lossless.model.fabric.cluster import Pattern
    from lossless.model.hardware.load_balancing import LoadBalancing
    from lossless.model.hardware.nic import NicProfile

SEEDS = 12
MOST_EVENTS = 2_000_000_000
"""Default limit of events over all seeds: about a minute on two cores."""

TUNE_SEEDS = 8
"""Seeds of a search for thresholds; as many other seeds check its result."""
EVALUATIONS = 1000
"""Default number of settings to try."""


class NamedTransfer(NamedTuple):
    """A transfer from one NIC port to another, both by name."""

    source: str
    target: str
    size_bytes: int


class Question(NamedTuple):
    """A question about a fabric.

    ``size_bytes`` is the number of bytes that each NIC sends in one step, ``nics`` how many take part at most (None: as
    many as the topology has, up to the number that ``model.fabric.workloads`` sets), ``target`` the NIC port that is
    the destination of an incast and that is dead or slow, by name. ``storage`` is the part of a NIC's traffic that is
    storage in addition, in the class ``storage_class`` (None: that of the storage network, else that of all other
    DSCPs). ``failed`` are ports whose links are down, as ``switch:port``. ``nic`` is assumed where the fabric names
    none.

    ``load_balancing`` is how switches choose among equal paths (None: as the intent declares, else by ECMP),
    ``by_tier`` has exceptions for some roles, and ``ahead_frames`` is how many frames NICs take ahead of the one that
    is due (0: any number; None: as the intent declares, else none).

    ``moves``, if any, are transfers that replace the pattern, all of them from the beginning; ``called`` is their
    description, and ``size_bytes`` then the most that one NIC sends.
    """

    pattern: Pattern = "incast"
    size_bytes: int = PATTERN.size_bytes
    nics: int | None = None
    target: str | None = None
    traffic_class: str | None = None
    storage: float = 0.0
    storage_class: str | None = None
    failed: tuple[str, ...] = ()
    dead_nic: bool = False
    slow_nic_bps: int | None = None
    nic: NicProfile | None = None
    load_balancing: LoadBalancing | None = None
    by_tier: tuple[tuple[str, LoadBalancing], ...] = ()
    ahead_frames: int | None = None
    moves: tuple[NamedTransfer, ...] = ()
    called: str = ""


class NamedQuestion(NamedTuple):
    """A question by the name of its workload, and how much of the workload it is; None and why, if it cannot be asked.

    A collective has a question for its own traffic, and one for its worst fan-in.
    """

    name: str
    question: Question | None
    part: float = 1.0
    not_run: str | None = None


class Limits(NamedTuple):
    """How far a study goes: seeds, events over all of them, and threads (None: one a core)."""

    seeds: int = SEEDS
    events: int = MOST_EVENTS
    threads: int | None = None


class SimulationRequest(NamedTuple):
    """A question, its limits, and the callbacks that report progress.

    ``compiling`` is called before the model is compiled, ``progress`` with how many seeds are done of how many.
    ``record``: the first seed is recorded for pictures. ``pfc_load``: the traffic that PFC carries is requested too.
    """

    question: Question = Question()
    limits: Limits = Limits()
    compiling: Callable[[], None] | None = None
    progress: Callable[[int, int], None] | None = None
    record: bool = False
    pfc_load: bool = True


class TuneAsk(NamedTuple):
    """A tuning request: the class, the workloads, the parameters to search, and limits.

    ``class_name`` None is the first lossless class; without ``workloads`` by name, all workloads of the intent count.
    ``dcqcn``: DCQCN parameters are searched too. ``evaluations`` is the number of settings to try, ``limits`` those of
    each.
    """

    class_name: str | None = None
    workloads: tuple[str, ...] = ()
    dcqcn: bool = False
    evaluations: int = EVALUATIONS
    limits: Limits = Limits(seeds=TUNE_SEEDS)


class TuneProgress(NamedTuple):
    """Callbacks that report the progress of a tuning.

    ``measured`` is called when one setting is begun (None), and when it has been tried, with the maximum number of
    settings to come, each with the number of workers; ``done`` with how many are done of how many.
    """

    measured: Callable[[int | None, int], None] = lambda _, __: None
    done: Callable[[int, int], None] = lambda _, __: None


INTERPRETED = "NUMBA_DISABLE_JIT is set: the packet-level model is run compiled or not at all"
FOREIGN_SETTINGS = (
    ".numba_config.yaml in this folder would set how the packet-level model is compiled: run from another folder, and "
    "state your own settings as variables of the environment (NUMBA_*)"
)
