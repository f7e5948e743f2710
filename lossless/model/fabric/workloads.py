"""The traffic that an intent declares: what thresholds are to be good for."""

from __future__ import annotations

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple


class DeclaredWorkload(NamedTuple):
    """A workload by name: a ``pattern`` among NIC ports, or a ``collective`` of GPUs; of each pair one is None.

    ``size_bytes``: what each NIC port sends in one step, of a collective its buffer; None where it is not stated.
    ``target`` is the NIC port that an incast goes to, and that is slow or dead. ``storage`` is the part of the traffic
    that is storage, 0 to below 1. ``failed`` are ports whose links are down, as ``switch:port``. ``gpus``,
    ``algorithm`` and ``sources`` are those of a collective.
    """

    name: str
    pattern: str | None
    collective: str | None
    size_bytes: int | None
    nics: int | None
    target: str | None
    class_name: str | None
    storage: float
    failed: tuple[str, ...]
    slow_nic_bps: int | None
    dead_nic: bool
    gpus: int | None
    algorithm: str | None
    sources: int
    origin: Origin
