"""What is asked of an estimate: a collective, its size, and the job around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.workloads import COLLECTIVE

if TYPE_CHECKING:
    from lossless.model.fabric.workloads import Algorithm, Collective


class Workload(NamedTuple):
    """What is asked. ``algorithm`` None: the usual one of the collective. ``gpus`` None: all.

    ``sources`` is how many storage servers each GPU reads from, ``microbatches`` how often a pipeline hands on.
    ``compute_ns`` is what a step computes, ``overlap`` how much of the communication that hides, 0 to 1.
    ``step_ns`` is what each step of a collective takes besides its bytes.
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
