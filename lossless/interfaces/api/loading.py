"""What a user can say about a run, and paths to fabrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.errors import InputError, Problem, ProfileError
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from lossless.checks.lint.devices import Settings
    from lossless.formats.intent.load import LoadedIntent
    from lossless.ground.documents.document import Document
    from lossless.model.fabric.infiniband.subnet import Subnet
    from lossless.model.fabric.model import Fabric


class Options(NamedTuple):
    """What a user can say about a run.

    ``rdma_dscps`` names the DSCPs that must be lossless on devices without an intent; ``profile_dirs`` are
    folders of hardware profiles that add to the shipped ones. ``simulate``: lint also runs traffic.

    ``select`` and ``ignore`` choose rules by code, name or family. ``configured``: what ``lossless.toml`` or
    ``pyproject.toml`` above a file says holds for it; ``configuration`` names one that holds for all instead.
    ``baseline`` is the file of known findings that counts instead of a configured one; empty, none counts. ``today``,
    as 2026-12-31, ends suppressions that have a date; without it none ends.

    ``per_file``: every file is judged by itself, and one that is named need not be ours. ``tell`` is told how many
    files are done, of how many, while there is more to do.
    """

    rdma_dscps: tuple[int, ...] = ()
    profile_dirs: tuple[str | PathLike[str], ...] = ()
    simulate: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    configured: bool = False
    configuration: str | None = None
    baseline: str | None = None
    today: str = ""
    per_file: bool = False
    tell: Callable[[int, int], None] | None = None


DEFAULT_OPTIONS = Options()


class Fabrics(NamedTuple):
    """The fabrics that documents describe, and what could not be read of them."""

    fabrics: tuple[Fabric, ...]
    errors: tuple[Problem, ...]


def load_fabrics(documents: Sequence[Document], options: Options = DEFAULT_OPTIONS) -> Fabrics:
    """Return the fabric of each intent, and one of all deployed devices together."""
    errors: list[Problem] = []
    intents = [document for document in documents if is_intent(document)]
    fabrics = [fabric for document in intents if (fabric := intent_fabric(document, options, errors))]
    deployed = [document for document in documents if document.file.lower().endswith(".json")]
    if deployed:
        from lossless.checks.lint.devices import deployed_fabric
        from lossless.formats.inputs.collect import split

        try:
            fabrics.append(deployed_fabric(split(deployed), settings_of(options), errors))
        except ProfileError as error:
            errors.append(Problem(deployed[0].file, None, None, str(error)))
    return Fabrics(tuple(fabrics), tuple(errors))


def is_intent(document: Document) -> bool:
    """Return whether a document is an intent: those are in YAML, devices in JSON, managers have forms of their own."""
    return document.file.lower().endswith((".yaml", ".yml"))


class Declared(NamedTuple):
    """What an intent declares: a fabric, or a subnet of InfiniBand; neither where it cannot be read."""

    fabric: Fabric | None = None
    subnet: Subnet | None = None


def declared(document: Document, options: Options, errors: list[Problem]) -> Declared:
    """Return what an intent declares; what cannot be read of it is added to ``errors``."""
    from lossless.formats.intent.load import transport_of

    try:
        return _BY_TRANSPORT[transport_of(document)](document, options)
    except InputError as error:
        errors.extend(error.problems)
    except ProfileError as error:
        errors.append(Problem(document.file, None, None, str(error)))
    return Declared()


def _fabric(document: Document, options: Options) -> Declared:
    from lossless.formats.intent.load import load_intent
    from lossless.formats.intent.resolve.fabric import resolve

    return Declared(fabric=resolve(load_intent(document), options.profile_dirs))


def _subnet(document: Document, options: Options) -> Declared:
    from lossless.formats.intent.infiniband.load import load_subnet
    from lossless.formats.intent.resolve.infiniband.subnet import resolve_subnet

    return Declared(subnet=resolve_subnet(load_subnet(document), options.profile_dirs))


def _managed(document: Document, _options: Options) -> Declared:
    from lossless.formats.intent.managed.load import load_managed
    from lossless.formats.intent.resolve.managed import resolve_managed

    return Declared(fabric=resolve_managed(load_managed(document)))


_BY_TRANSPORT: dict[str, Callable[[Document, Options], Declared]] = {
    "rocev2": _fabric,
    "infiniband": _subnet,
    "efa": _managed,
    "gcp": _managed,
    "azure": _managed,
}
"""How the intent of each transport is read and resolved; its keys are those of ``intent.load.TRANSPORTS``."""


def intent_fabric(document: Document, options: Options, errors: list[Problem]) -> Fabric | None:
    """Return the fabric of an intent; one that declares a subnet is an error, as is one that cannot be read."""
    found = declared(document, options, errors)
    if found.subnet is not None:
        errors.append(no_fabric(document))
    return found.fabric


def declares_subnet(document: Document) -> bool:
    """Return whether a document is the intent of an InfiniBand subnet, by its transport."""
    return is_intent(document) and document.data.get("transport") == "infiniband"


def no_fabric(document: Document) -> Problem:
    """Return what is said where a fabric is needed that has PFC and buffers, and an intent declares a subnet."""
    span = document.locate(("transport",))
    says = (
        "transport: infiniband: this is for fabrics with PFC; an InfiniBand subnet, which has credits instead, "
        "can be linted, rendered and judged by opensm"
    )
    return Problem(document.file, span.line, span.column, says)


_NOT_OURS = "its switches are run by the cloud, and nothing here knows how they are set"


def require_own_switches(fabrics: Sequence[Fabric]) -> None:
    """Refuse fabrics whose switches a cloud runs: of what happens in them nothing is known.

    Raises:
        InputError: one is among them.
    """
    problems = [
        Problem(fabric.sources[0], None, None, f"transport: {fabric.managed.transport}: {_NOT_OURS}")
        for fabric in fabrics
        if fabric.managed is not None
    ]
    if problems:
        raise InputError(problems)


def intent_of_switches(document: Document) -> LoadedIntent:
    """Return the intent of a document whose devices and links are declared, not yet resolved.

    Raises:
        InputError: it cannot be read; it declares a subnet, or a fabric whose switches a cloud runs.
    """
    from lossless.formats.intent.load import load_intent

    if declares_subnet(document):
        raise InputError([no_fabric(document)])
    transport = document.data.get("transport") if is_intent(document) else None
    if isinstance(transport, str) and _BY_TRANSPORT.get(transport) is _managed:
        span = document.locate(("transport",))
        raise InputError(
            [Problem(document.file, span.line, span.column, f"transport: {transport}: {_NOT_OURS}")]
        )
    return load_intent(document)


def one_subnet(path: str | PathLike[str], options: Options = DEFAULT_OPTIONS) -> Subnet:
    """Return the subnet of the one intent at a path.

    Raises:
        InputError: the intent cannot be read, or is of another transport.
    """
    document = one_intent(path)
    errors: list[Problem] = []
    found = declared(document, options, errors)
    if found.subnet is None:
        span = document.locate(("transport",))
        other = Problem(document.file, span.line, span.column, "this is for intents of transport: infiniband")
        raise InputError(errors or [other])
    return found.subnet


def one_fabric(path: str | PathLike[str], options: Options) -> Fabric:
    """Return the fabric of the one intent at a path, whose switches are the user's own.

    Raises:
        InputError: the intent cannot be read, or declares no such fabric.
    """
    errors: list[Problem] = []
    fabric = intent_fabric(one_intent(path), options, errors)
    if fabric is None:
        raise InputError(errors)
    require_own_switches((fabric,))
    return fabric


def fabrics_at(path: str | PathLike[str], options: Options) -> tuple[Fabric, ...]:
    documents, errors = documents_at(path)
    fabrics, unread = load_fabrics(documents, options)
    if errors or unread or not fabrics:
        raise InputError([*errors, *unread] or [Problem(str(path), None, None, "nothing here to simulate")])
    require_own_switches(fabrics)
    return fabrics


def documents_at(path: str | PathLike[str]) -> tuple[list[Document], list[Problem]]:
    """Return what a path stands for; a folder with a fabric.yaml stands for that intent."""
    import os

    from lossless.formats.inputs.collect import collect

    inside = os.path.join(path, "fabric.yaml")
    return collect([inside if os.path.isfile(inside) else path])


def one_intent(path: str | PathLike[str]) -> Document:
    documents, errors = documents_at(path)
    intents = [document for document in documents if is_intent(document)]
    if errors or len(intents) != 1:
        message = (
            f"expected one intent, found {len(intents)}; name a file, or a folder that holds fabric.yaml"
        )
        raise InputError(errors or [Problem(str(path), None, None, message)])
    return intents[0]


def settings_of(options: Options) -> Settings:
    import os

    from lossless.checks.lint.devices import Settings

    folders = tuple(os.fspath(folder) for folder in options.profile_dirs)
    return Settings(options.rdma_dscps, folders, intended={}, compared=False)
