"""Reads intents and resolves them to the fabrics and InfiniBand subnets that they declare, with a progress callback."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from lossless.ground.basics.errors import InputError, Problem, ProfileError
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.formats.intent.load import LoadedIntent
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.infiniband.subnet import Subnet
    from lossless.model.fabric.model import Fabric, Switch
    from lossless.model.hardware.load import Folder


class Declaration(NamedTuple):
    """The fabric or InfiniBand subnet that an intent declares; neither if the intent is not read, or refused."""

    fabric: Fabric | None = None
    subnet: Subnet | None = None


class Declarations(NamedTuple):
    """The fabrics and subnets that intents declare, and the problems of reading them."""

    fabrics: tuple[Fabric, ...] = ()
    errors: tuple[Problem, ...] = ()
    subnets: tuple[Subnet, ...] = ()


def is_intent(document: Document) -> bool:
    """Return whether a document is an intent, by its name and form: YAML that is no configuration of a switch."""
    return not document.dialect and document.file.lower().endswith((".yaml", ".yml"))


def declares_subnet(document: Document) -> bool:
    """Return whether a document is the intent of an InfiniBand subnet, by its transport."""
    return is_intent(document) and document.data.get("transport") == "infiniband"


def declarations_of(
    documents: Sequence[Document], profile_dirs: Sequence[Folder], progress: Progress | None = None
) -> Declarations:
    """Return the fabrics and subnets that the intents among documents declare, and the problems of reading them."""
    errors: list[Problem] = []
    intents = [document for document in documents if is_intent(document)]
    declarations = [
        declaration_of(document, profile_dirs, errors) for document in reported(intents, progress)
    ]
    return Declarations(
        tuple(each.fabric for each in declarations if each.fabric is not None),
        tuple(errors),
        tuple(each.subnet for each in declarations if each.subnet is not None),
    )


def declaration_of(document: Document, profile_dirs: Sequence[Folder], errors: list[Problem]) -> Declaration:
    """Return the fabric or subnet that an intent declares; problems of reading it are added to ``errors``."""
    from lossless.formats.intent.load import TRANSPORTS, transport_of

    try:
        return BY_MODEL[TRANSPORTS[transport_of(document)]](document, profile_dirs)
    except InputError as error:
        errors.extend(error.problems)
    except ProfileError as error:
        errors.append(Problem(document.file, None, None, str(error)))
    return Declaration()


def _fabric(document: Document, profile_dirs: Sequence[Folder]) -> Declaration:
    from lossless.formats.intent.load import load_intent
    from lossless.formats.intent.resolve.fabric import resolve

    fabric = resolve(load_intent(document), profile_dirs)
    if all(switch.runs_sonic for switch in fabric.switches):
        return Declaration(fabric=fabric)
    switches = (_of_its_system(switch) for switch in fabric.switches)
    return Declaration(fabric=fabric._replace(switches=tuple(switches)))


def _of_its_system(switch: Switch) -> Switch:
    from lossless.formats.switches.registry import dialect

    in_percent = not switch.runs_sonic and dialect(switch.format).shares_in_percent
    return switch._replace(shares_in_percent=True) if in_percent else switch


def _subnet(document: Document, profile_dirs: Sequence[Folder]) -> Declaration:
    from lossless.formats.intent.infiniband.document import load_subnet
    from lossless.formats.intent.resolve.infiniband.subnet import resolve_subnet

    return Declaration(subnet=resolve_subnet(load_subnet(document), profile_dirs))


def _managed(document: Document, _profile_dirs: Sequence[Folder]) -> Declaration:
    from lossless.formats.intent.managed import load_managed
    from lossless.formats.intent.resolve.managed import resolve_managed

    return Declaration(fabric=resolve_managed(load_managed(document)))


BY_MODEL: dict[str, Callable[[Document, Sequence[Folder]], Declaration]] = {
    "lossless.formats.intent.document": _fabric,
    "lossless.formats.intent.infiniband.document": _subnet,
    "lossless.formats.intent.managed": _managed,
}
"""The function that reads and resolves an intent, by the module that ``intent.load.TRANSPORTS`` has for its transport.
"""


def intent_fabric(document: Document, profile_dirs: Sequence[Folder], errors: list[Problem]) -> Fabric | None:
    """Return the fabric of an intent; None, with ``errors``, if it declares a subnet or cannot be read."""
    declaration = declaration_of(document, profile_dirs, errors)
    if declaration.subnet is not None:
        errors.append(no_fabric(document))
    return declaration.fabric


def subnet_of(document: Document, profile_dirs: Sequence[Folder]) -> Subnet:
    """Return the subnet of an intent that declares one.

    Raises:
        InputError: the intent or a hardware profile cannot be read.
    """
    errors: list[Problem] = []
    subnet = declaration_of(document, profile_dirs, errors).subnet
    if subnet is None:
        raise InputError(errors)
    return subnet


def no_fabric(document: Document) -> Problem:
    """Return the problem of an intent that declares an InfiniBand subnet, where a fabric with PFC is needed."""
    message = (
        "transport: infiniband: this is for fabrics with PFC; an InfiniBand subnet, which has credits instead, "
        "can be linted, rendered, planned, checked by opensm, and asked for its topology and for workloads"
    )
    return at_transport(document, message)


def at_transport(document: Document, message: str) -> Problem:
    """Return a problem located at the transport of an intent."""
    span = document.locate(("transport",))
    return Problem(document.file, span.line, span.column, message)


CLOUD_SWITCHES = "its switches are run by the cloud, and nothing here knows how they are set"


def require_own_switches(fabrics: Sequence[Fabric]) -> None:
    """Refuse fabrics whose switches a cloud operates: their internals are unknown.

    Raises:
        InputError: there are such fabrics.
    """
    problems = [
        Problem(fabric.sources[0], None, None, f"transport: {fabric.managed.transport}: {CLOUD_SWITCHES}")
        for fabric in fabrics
        if fabric.managed is not None
    ]
    if problems:
        raise InputError(problems)


def intent_of_switches(document: Document) -> LoadedIntent:
    """Return the intent of an Ethernet fabric with switches of its own, loaded and not yet resolved.

    Raises:
        InputError: the document cannot be read, or declares a subnet or a fabric whose switches a cloud runs.
    """
    from lossless.formats.intent.load import load_intent
    from lossless.model.hardware.clouds import TRANSPORTS

    if declares_subnet(document):
        raise InputError([no_fabric(document)])
    transport = document.data.get("transport") if is_intent(document) else None
    if transport in TRANSPORTS:
        raise InputError([at_transport(document, f"transport: {transport}: {CLOUD_SWITCHES}")])
    return load_intent(document)


Progress = Callable[[int, int], None]
"""A callback that gets the number of files done so far, and the number of all files."""

_Item = TypeVar("_Item")


def reported(items: Sequence[_Item], progress: Progress | None) -> Sequence[_Item] | Iterator[_Item]:
    """Return items for a loop that reports to ``progress`` before each item; unchanged without ``progress``."""
    return items if progress is None else _reporting(items, progress)


def _reporting(items: Sequence[_Item], progress: Progress) -> Iterator[_Item]:
    for done, item in enumerate(items):
        progress(done, len(items))
        yield item
