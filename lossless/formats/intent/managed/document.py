"""The intent of a fabric that a cloud provider operates: tenants declare only the environment of their jobs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from lossless.formats.intent.base import Model
from lossless.formats.intent.environment import Environment
from lossless.formats.intent.hosts import SocketInterfaces
from lossless.formats.intent.wiring import Name
from lossless.model.hardware.clouds import Transport


class ManagedNccl(Model):
    """NCCL's settings in the job environment, beyond variables by name."""

    socket_interfaces: SocketInterfaces = None
    """Interfaces that jobs meet over before RDMA begins, by their exact names (NCCL_SOCKET_IFNAME). Left out: NCCL
    chooses.
    Example: `[eth0]`
    """


class ManagedHosts(Model):
    """Settings of every host of a fabric that a cloud provider operates."""

    nccl: ManagedNccl = ManagedNccl.model_construct()
    """NCCL's settings in the job environment. Left out: none."""
    environment: Environment = Field(default_factory=dict)
    """Further variables of the jobs by name, as numbers or text without blanks. Left out: none.
    Example: `{NCCL_DEBUG: WARN, NCCL_CROSS_NIC: 0}`
    """


class ManagedIntent(Model, title="ManagedIntent"):
    """The intent for jobs on a fabric that AWS (``efa``), Google (``gcp``) or Microsoft (``azure``) operates.

    ``machine`` is the type of the machines, where the network or the provider's image depends on it.
    """

    lossless: Annotated[
        Literal["v1"], WithJsonSchema({"const": "v1", "description": "version of this format"})
    ]
    """Version of this format. Every intent begins with it."""
    fabric: Name
    """Name of the fabric: at most 63 letters, digits, '.', '_' and '-'. Example: `train-1`"""
    transport: Transport
    """Whose fabric RDMA travels over: that of AWS (`efa`), Google (`gcp`) or Microsoft (`azure`)."""
    machine: str | None = None
    """Type of the machines, as the cloud calls it. Left out: only what holds for all of them is known.
    Example: `a3-ultragpu-8g`
    Example: `Standard_ND96isr_H100_v5`
    """
    hosts: ManagedHosts = ManagedHosts.model_construct()
    """Settings of jobs on every machine. Left out: those of the cloud's own image."""


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a managed intent as people write it."""
    from lossless.formats.intent.document import finished_schema

    return finished_schema(ManagedIntent.model_json_schema(by_alias=True))
