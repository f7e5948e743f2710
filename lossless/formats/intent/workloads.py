"""Workloads: the traffic that thresholds are tuned for, in the terms of ``simulate`` and ``workload``."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from lossless.formats.intent.base import (
    Count,
    Model,
    OnOff,
    Percent,
    Rate,
    Size,
    listed,
    refused,
    shown,
    whole_number,
)
from lossless.model.fabric.cluster import (
    COLLECTIVE,
    LEAST_NICS,
    MOST_NICS,
    PATTERN,
    Algorithm,
    Collective,
    Pattern,
)


def _some_rate(rate_bps: int) -> int:
    if rate_bps == 0:
        raise refused("a slow NIC takes in something; a NIC that never resumes is a dead one: dead_nic: true")
    return rate_bps


def _ports(value: object) -> object:
    ports = listed([value] if isinstance(value, str) else value)
    if isinstance(ports, tuple):
        for number, port in enumerate(ports):
            if not isinstance(port, str) or ":" not in port:
                raise refused(f"expected a port as leaf1:Ethernet0, found {shown(port)}", number)
    return ports


class WorkloadIntent(Model):
    """One workload: a ``pattern`` of NIC ports that send to each other, or a ``collective`` of GPUs.

    Defaults are those of ``lossless simulate`` and ``lossless workload``.
    """

    pattern: Pattern | None = None
    """Which NIC ports send to which, all at once. Left out: a collective is stated. Example: `incast`"""
    collective: Collective | None = None
    """What GPUs run together. Left out: a pattern is stated. Example: `all-reduce`"""
    size: Size | None = None
    """Data that each NIC port sends in one step of a pattern, or the buffer of a collective, with its unit. Left out:
    8 MiB, and 1 GiB.
    Example: `8 MiB`
    """
    traffic_class: str | None = Field(default=None, alias="class")
    """The lossless class of the workload. Left out: the first. Example: `rdma`"""
    nics: (
        Annotated[int, *whole_number(LEAST_NICS, MOST_NICS, "a number of NIC ports that send to each other")]
        | None
    ) = None
    """How many NIC ports take part at most. Left out: up to 513 in an incast, 64 in other patterns. Example: `17`"""
    target: str | None = None
    """NIC port that an incast goes to, and that is slow or dead. Left out: the first of the fabric.
    Example: `host1:port1`
    """
    storage: Percent | None = None
    """Share of each NIC port's traffic that is storage, in its own class, in percent. Left out: none. Example: `30%`"""
    link_down: Annotated[tuple[str, ...], BeforeValidator(_ports)] = ()
    """Ports whose links are down, each as `switch:port`. Left out: none. Example: `["leaf1:Ethernet0"]`"""
    slow_nic: Annotated[Rate, AfterValidator(_some_rate)] | None = None
    """Receive rate limit of the target, with its unit. Left out: line rate. Example: `100G`"""
    dead_nic: OnOff = False
    """Whether the target pauses its switch permanently. Left out: it does not. Example: `true`"""
    gpus: Count | None = None
    """How many GPUs take part. Left out: all. Example: `64`"""
    algorithm: Algorithm | None = None
    """Algorithm of the collective. Left out: ring, and hierarchical where NVLink or UALink joins GPUs.
    Example: `ring`
    """
    sources: Count | None = None
    """Storage servers that each GPU reads from, or writes to. Left out: one. Example: `4`"""

    @field_validator("size")
    @classmethod
    def _some_bytes(cls, value: int | None) -> int | None:
        if value == 0:
            raise refused("a workload that sends nothing shows nothing; state at least 1 B")
        return value

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.pattern is None) is (self.collective is None):
            raise refused(
                "state what moves: either a pattern, such as incast, or a collective, such as all-reduce"
            )
        kind, other = (PATTERN, COLLECTIVE) if self.pattern else (COLLECTIVE, PATTERN)
        for key in other.own_keys:
            if getattr(self, key) is not None:
                raise refused(f"{key} has no meaning for a {kind.key}", key)
        if self.dead_nic and self.slow_nic is not None:
            raise refused("a NIC is slow or dead; leave out slow_nic or dead_nic", "slow_nic")
        if self.storage == 100:
            raise refused("100% leaves nothing of the workload itself; state less", "storage")
        return self
