"""The input of an estimate: a collective, its size, and the job around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.cluster import COLLECTIVE

if TYPE_CHECKING:
    from lossless.model.fabric.cluster import Algorithm, Collective


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
