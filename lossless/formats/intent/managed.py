"""The intent of a fabric that a cloud provider operates: tenants declare their machines, GPUs and jobs.

Its document becomes a checked intent, with every mistake located in the file. Valid keys depend on the network of the
provider, and so are checked apart from the model of the document.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError, WithJsonSchema

from lossless.formats.intent.base import Model, shown
from lossless.formats.intent.document import Intent, finished_schema
from lossless.formats.intent.hosts import SocketInterfaces
from lossless.formats.intent.jobs import ClusterIntent, Environment
from lossless.formats.intent.problems import IntentSource, in_file_order, located, not_text, refusals
from lossless.formats.intent.wiring import Name
from lossless.ground.basics.errors import InputError
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple
from lossless.model.hardware.clouds import NETWORKS, PROVIDERS, Transport, machines_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.text import Document


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

    ``machine`` is the type of the machines, which the network, the provider's image and the rates of GPUs depend on.
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
    cluster: ClusterIntent | None = None
    """The GPUs of the jobs, which are compared with the figures that the provider publishes of the machine. Left out:
    none are declared.
    Example: `{gpus_per_host: 8, gpus: 256, bandwidth_per_gpu: 400G}`
    """
    hosts: ManagedHosts = ManagedHosts.model_construct()
    """Settings of jobs on every machine. Left out: those of the cloud's own image."""


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of an intent for a cloud provider's fabric, as people write it."""

    return finished_schema(ManagedIntent.model_json_schema(by_alias=True))


class LoadedManagedIntent(NamedTuple):
    """The intent of a cloud provider's fabric, and the document that it was loaded from."""

    intent: ManagedIntent
    document: Document

    def origin(self, *path: str) -> Origin:
        """Return the origin of a value of the intent, or of the nearest key above it that is in the file."""
        if self.document.exists(path):
            return Origin(self.document.file, path)
        while path and not self.document.exists(path):
            path = path[:-1]
        return Origin(self.document.file, path, "key")


def load_managed(document: Document) -> LoadedManagedIntent:
    """Return the intent of a document that names a cloud's transport, and so could be read.

    Raises:
        InputError: every key that is invalid on such a fabric and every value that the model refuses, or if it refuses
            none every contradiction, each located, in the order of the file.
    """
    problems = list(not_text(document, document.data))
    out_of_place = list(_out_of_place(document))
    problems += (_pointless(document, path) for path in out_of_place)
    try:
        intent = ManagedIntent.model_validate(_without(document.data, out_of_place))
    except ValidationError as error:
        problems += refusals(IntentSource(document, {}, ManagedIntent), error.errors())
        raise InputError(in_file_order(problems)) from None
    problems += _contradictions(document, intent)
    if problems:
        raise InputError(in_file_order(problems))
    return LoadedManagedIntent(intent, document)


def _out_of_place(document: Document) -> Iterator[Path]:
    """Yield the paths of keys that are valid only for fabrics whose switches the operator configures."""
    yield from _beyond(document.data, ManagedIntent, Intent, ())


def _beyond(data: Any, here: type[BaseModel], own: type[BaseModel], path: Path) -> Iterator[Path]:
    for key, value in data.items() if isinstance(data, dict) else ():
        theirs, ours = _field(own, key), _field(here, key)
        if theirs is not None and ours is None:
            yield (*path, key)
        elif _is_model(theirs) and _is_model(ours):
            yield from _beyond(value, ours, theirs, (*path, key))


def _field(model: type[BaseModel], key: object) -> Any:
    fields = {field.alias or name: field.annotation for name, field in model.model_fields.items()}
    return fields.get(str(key))


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _pointless(document: Document, path: Path) -> Problem:
    transport: Transport = document.data["transport"]
    networks = {network.why for network in NETWORKS[transport]}
    why = networks.pop() if len(networks) == 1 else f"{PROVIDERS[transport]} runs the switches"
    message = f"{'.'.join(map(str, path))}: nothing to state with transport: {transport}: {why}"
    return located(document, path, message, at_key=True)


def _without(data: Any, paths: list[Path], at: Path = ()) -> Any:
    if not isinstance(data, dict):
        return data
    kept = (key for key in data if (*at, key) not in paths)
    return {key: _without(data[key], paths, (*at, key)) for key in kept}


def _contradictions(document: Document, intent: ManagedIntent) -> Iterator[Problem]:
    known = machines_of(intent.transport)
    if intent.machine is not None and intent.machine not in known:
        yield located(document, ("machine",), f"machine: {_unknown_machine(intent.machine, known)}")
    if "NCCL_SOCKET_IFNAME" in intent.hosts.environment:
        message = "hosts.environment: NCCL_SOCKET_IFNAME is set by hosts.nccl.socket_interfaces"
        yield located(document, ("hosts", "environment", "NCCL_SOCKET_IFNAME"), message, at_key=True)


def _unknown_machine(machine: str, known: tuple[str, ...]) -> str:
    # Another type is another machine: none of the known ones is proposed for it.
    return (
        f"it is not known what the network of {shown(machine)} wants; known are {', '.join(known)}; "
        "leave it out for another one"
    )
