"""Intent sections on jobs: GPUs of hosts, failures to tolerate, environment variables, and workloads.

Variables are declared by name. Workloads are the traffic that thresholds are tuned for, in the terms of ``simulate``
and ``workload``.
"""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from lossless.formats.intent.base import (
    AboveZero,
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
from lossless.formats.intent.policy import Ratio
from lossless.model.fabric.cluster import (
    COLLECTIVE,
    LEAST_NICS,
    MOST_NICS,
    PATTERN,
    Algorithm,
    Collective,
    Pattern,
)

_MOST_IN_HOST = 256
"""The largest accepted number of GPUs or NICs of one host: above any real host, and small enough to count one by one.
"""


SomeRate = Annotated[Rate, AboveZero("a GPU that sends nothing needs no fabric; state its rate, as in 400G")]


class NvLink(Model):
    """GPUs joined by NVLink: its generation, and how many of them are one domain."""

    generation: Literal[1, 2, 3, 4, 5, 6]
    """Generation of NVLink, 1 to 6: per GPU, one way, 80, 150, 300, 450, 900 and 1,800 GB/s. Example: `5`"""
    domain: Count
    """How many GPUs reach each other by NVLink: 8 in one host, 72 in an NVL72. Example: `8` Example: `72`"""


class UaLink(Model):
    """GPUs joined by UALink: the rate of each GPU, one way, and the number of GPUs in one pod."""

    rate: SomeRate
    """Rate at which each GPU sends into its pod, one way, with its unit. Example: `3.2T`"""
    domain: Count
    """How many GPUs are one pod. Example: `64`"""


class ClusterIntent(Model):
    """The GPUs of every host, counted by rules about bandwidth per GPU and about stalled hosts."""

    gpus_per_host: Annotated[int, *whole_number(1, _MOST_IN_HOST, "a number of GPUs in one host")]
    """How many GPUs every host has. Example: `8`"""
    nics_per_host: Annotated[int, *whole_number(1, _MOST_IN_HOST, "a number of NICs in one host")] | None = (
        None
    )
    """How many RDMA NICs every host has on this fabric. Left out: as many as it has links. Example: `8`"""
    gpus: Count | None = None
    """Number of GPUs in all, to be checked. Left out: the GPUs of all hosts are counted. Example: `256`"""
    rails: Count | None = None
    """Number of rails that the NICs of a host are spread over. Left out: no rails are declared. Example: `8`"""
    bandwidth_per_gpu: SomeRate | None = None
    """Bandwidth that each GPU must have on the fabric, one way, with its unit: checked. Left out: that of the links.
    Example: `400G`
    """
    nvlink: NvLink | None = None
    """Given where NVLink joins the GPUs. Left out: it does not. Example: `{generation: 4, domain: 8}`"""
    ualink: UaLink | None = None
    """Given where UALink joins the GPUs. Left out: it does not. Example: `{rate: 3.2T, domain: 64}`"""

    @model_validator(mode="after")
    def _joined_one_way(self) -> Self:
        if self.nvlink is not None and self.ualink is not None:
            raise refused("give either nvlink or ualink, not both")
        return self


_MOST_FAILED = 1024
"""The largest accepted number of failed links or switches: the most links of one bundle."""


def _out_of_service(value: object) -> object:
    """Return a failed switch as a tuple of one name, failed links as a tuple of their two ends.

    Raises:
        PydanticCustomError: the value is neither.
    """
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list) and len(value) == 2 and all(isinstance(end, str) for end in value):
        return tuple(value)
    raise refused(f"expected a switch, or the two ends of links as [leaf1, spine1]; found {shown(value)}")


_ENDS = {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}
OutOfService = Annotated[
    tuple[str, ...],
    BeforeValidator(_out_of_service),
    WithJsonSchema({"anyOf": [{"type": "string"}, _ENDS]}),
]


class FailuresIntent(Model):
    """Failures to tolerate: any ``links`` links at once, or any ``switches`` switches, besides those out of service.

    Rules about capacity and about routing read the same numbers; both are 1 where the intent has none.
    """

    links: Annotated[int, *whole_number(0, _MOST_FAILED, "a number of links")] = 1
    """How many links may fail at once, while all switches work. Example: `2`"""
    switches: Annotated[int, *whole_number(0, _MOST_FAILED, "a number of switches")] = 1
    """How many switches may fail at once, while all other links work. Example: `1`"""
    oversubscription: Ratio | None = None
    """Accepted ratio of bandwidth below a switch to the bandwidth above it that such failures leave. Left out: any.
    Example: `2`
    """
    out_of_service: Annotated[tuple[OutOfService, ...], BeforeValidator(listed)] = ()
    """Switches that have failed already or are under repair, and links by their two ends. Left out: none.
    Example: `[spine2, [leaf1, spine1]]`
    """


NAME = r"^[A-Z][A-Z0-9_]{0,63}$"
VALUE = r"^[A-Za-z0-9_./:,=^+%@-]{1,255}$"
"""The pattern of values of environment variables that NCCL's file, a shell, Docker and systemd read identically.

Such values need no quotes.
"""

VARIABLE_KEYS = {
    "NCCL_IB_TC": "hosts.nccl.ib_tc",
    "NCCL_IB_FIFO_TC": "hosts.nccl.ib_fifo_tc",
    "NCCL_IB_TIMEOUT": "hosts.nccl.ib_timeout",
    "NCCL_IB_RETRY_CNT": "hosts.nccl.ib_retry_count",
    "NCCL_IB_QPS_PER_CONNECTION": "hosts.nccl.ib_qps_per_connection",
    "NCCL_IB_GID_INDEX": "hosts.nccl.ib_gid_index",
    "NCCL_GIN_IB_TC": "hosts.nccl.gin_ib_tc",
    "NCCL_SOCKET_IFNAME": "hosts.nccl.socket_interfaces",
    "NCCL_IB_HCA": "hosts.rdma_devices",
    "UCX_IB_TRAFFIC_CLASS": "hosts.ucx.traffic_class",
    "UCX_IB_GID_INDEX": "hosts.ucx.gid_index",
    "UCX_NET_DEVICES": "hosts.rdma_devices",
    "MORI_RDMA_TC": "hosts.mori.traffic_class",
}
"""Environment variables that are derived from a key of the intent, and that key."""


def _environment(value: Any) -> Any:
    if not isinstance(value, dict):
        raise refused(f"expected a mapping of variables, found {shown(value)}")
    for name, setting in value.items():
        if not isinstance(name, str) or not re.fullmatch(NAME, name):
            wanted = "at most 64 capital letters, digits and '_', beginning with a letter"
            raise refused(
                f"hosts.environment: {shown(name)} is no variable; expected {wanted}", name, at_key=True
            )
        _check_value(name, setting)
    return {name: str(setting) for name, setting in value.items()}


def _check_value(name: str, setting: Any) -> None:
    if isinstance(setting, bool):
        raise refused(f"{shown(setting)} is no text; write 1 or 0, or the word in quotes", name)
    if not isinstance(setting, int | str):
        raise refused(f"expected a number or text, found {shown(setting)}", name)
    if not re.fullmatch(VALUE, str(setting)):
        wanted = "1 to 255 letters, digits and any of _ . / : , = ^ + % @ -"
        raise refused(
            f"{shown(setting)} cannot stand in every file that it goes into; expected {wanted}", name
        )


Environment = Annotated[
    dict[str, str],
    BeforeValidator(_environment),
    WithJsonSchema(
        {
            "type": "object",
            "patternProperties": {NAME: {"type": ["string", "integer"], "pattern": VALUE}},
            "additionalProperties": False,
        }
    ),
]
"""Environment variables of jobs by name, their values as text."""


_SlowRate = Annotated[
    Rate, AboveZero("a slow NIC takes in something; a NIC that never resumes is a dead one: dead_nic: true")
]
_SomeBytes = Annotated[Size, AboveZero("a workload that sends nothing shows nothing; state at least 1 B")]


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
    size: _SomeBytes | None = None
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
    slow_nic: _SlowRate | None = None
    """Receive rate limit of the target, with its unit. Left out: line rate. Example: `100G`"""
    dead_nic: OnOff = False
    """Whether the target pauses its switch permanently. Left out: it does not. Example: `true`"""
    gpus: Count | None = None
    """How many GPUs take part. Left out: all. Example: `64`"""
    algorithm: Algorithm | None = None
    """Algorithm of the collective.

    Left out: ring, or hierarchical where NVLink or UALink joins GPUs; direct for collectives that have neither.
    Example: `ring`
    """
    sources: Count | None = None
    """Storage servers that each GPU reads from, or writes to. Left out: one. Example: `4`"""

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
