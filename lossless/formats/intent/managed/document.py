"""The intent of a fabric that a cloud runs: what its tenants set, which is the environment of their jobs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from lossless.formats.intent.base import Model
from lossless.formats.intent.environment import Environment
from lossless.formats.intent.hosts import SocketInterfaces
from lossless.formats.intent.wiring import Name


class ManagedNccl(Model):
    """What the job environment tells NCCL beyond its variables by name."""

    socket_interfaces: SocketInterfaces = None


class ManagedHosts(Model):
    """What holds on every host of a fabric that a cloud runs."""

    nccl: ManagedNccl = ManagedNccl.model_construct()
    environment: Environment = Field(default_factory=dict)


class ManagedIntent(Model, title="ManagedIntent"):
    """What jobs on a fabric need that a cloud runs: AWS (``efa``), Google (``gcp``) or Microsoft (``azure``).

    ``machine`` is the type of the machines, where the network or the provider's image depends on it.
    """

    lossless: Annotated[
        Literal["v1"], WithJsonSchema({"const": "v1", "description": "version of this format"})
    ]
    fabric: Name
    transport: Literal["efa", "gcp", "azure"]
    machine: str | None = None
    hosts: ManagedHosts = ManagedHosts.model_construct()


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of such an intent as people write it."""
    from lossless.formats.intent.document import finished_schema

    return finished_schema(ManagedIntent.model_json_schema(by_alias=True))
