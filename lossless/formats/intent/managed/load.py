"""Turns an intent document of a cloud provider's fabric into a checked one; every mistake is located in the file.

Separate from the document model, because the valid keys depend on the network of the provider.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from lossless.formats.intent.base import shown
from lossless.formats.intent.document import Intent
from lossless.formats.intent.managed.document import ManagedIntent
from lossless.formats.intent.problems import (
    IntentSource,
    in_file_order,
    located,
    not_text,
    refusals,
)
from lossless.ground.basics.errors import InputError
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.nearest import suggestion
from lossless.ground.basics.records import NamedTuple
from lossless.model.hardware.clouds import NETWORKS, PROVIDERS, machines_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.document import Document
    from lossless.model.hardware.clouds import Transport


class LoadedManagedIntent(NamedTuple):
    """An intent of a fabric that a cloud runs, and the document it was written in."""

    intent: ManagedIntent
    document: Document

    def origin(self, *path: str) -> Origin:
        """Return where a value was written, or the key above it."""
        if self.document.exists(path):
            return Origin(self.document.file, path)
        while path and not self.document.exists(path):
            path = path[:-1]
        return Origin(self.document.file, path, "key")


def load_managed(document: Document) -> LoadedManagedIntent:
    """Return the intent of a document that names a cloud's transport.

    Raises:
        InputError: every key and value that is invalid on such a fabric, each located, in the order of the file.
    """
    if document.problems:
        raise InputError(document.problems)
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
    if not known:
        return "nothing that is rendered for it depends on the machine; leave it out"
    hint = suggestion(machine, known)
    return f"it is not known what the network of {shown(machine)} wants{hint}; leave it out for another one"
