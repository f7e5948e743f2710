"""Load: makes fabrics of documents, or of the files at a path."""

from __future__ import annotations

from os.path import isdir
from typing import TYPE_CHECKING

from lossless.formats.inputs.fabrics import (
    Fabrics as Fabrics,
    documents_at as found_documents,
    fabrics_of,
    inside,
    intent_at,
    with_other_systems,
)
from lossless.formats.inputs.intents import intent_fabric, is_intent, require_own_switches
from lossless.ground.basics.errors import InputError, Problem
from lossless.interfaces.api.lint import (
    DEFAULT_OPTIONS,
    Options,
    as_configured,
    configurations_of,
    exclusions_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from lossless.ground.documents.text import Document
    from lossless.model.fabric.model import Fabric


def load_fabrics(documents: Sequence[Document], options: Options = DEFAULT_OPTIONS) -> Fabrics:
    """Return the fabric of each valid intent, and one of deployed SONiC devices, or one for each ``[[fabric]]`` table.

    Ports that a ``lossless.toml`` lists as without RDMA are in no lossless class.
    """
    lookup = None if all(map(is_intent, documents)) else configurations_of(as_configured(options))
    fabrics, errors = fabrics_of(documents, options.profile_dirs, options.rdma_dscps, lookup)
    problems = lookup.problems() if lookup else []
    return Fabrics(inside(fabrics, lookup), (*errors, *problems))


def documents_at(path: str | PathLike[str], options: Options) -> tuple[list[Document], list[Problem]]:
    """Return the documents at a path, without files that are excluded below a folder, and the problems of reading."""
    return found_documents(path, exclusions_of(options) if isdir(path) else None)


def fabrics_at(path: str | PathLike[str], options: Options, purpose: str) -> tuple[Fabric, ...]:
    """Return the fabrics at a path, including switches of other systems than SONiC.

    ``purpose`` completes the error message ``nothing here to``.

    Raises:
        InputError: a file there cannot be read, or there is no fabric.
    """
    documents, errors = documents_at(path, options)
    fabrics, unread = load_fabrics(documents, options)
    if any(document.dialect for document in documents):
        lookup = configurations_of(options)
        fabrics = inside(with_other_systems(fabrics, documents, options.rdma_dscps, lookup), lookup)
    if errors or unread or not fabrics:
        nothing = Problem(str(path), None, None, f"nothing here to {purpose}")
        raise InputError([*errors, *unread] or [nothing])
    return fabrics


def fabrics_to_simulate(path: str | PathLike[str], options: Options) -> tuple[Fabric, ...]:
    """Return the fabrics at a path; the switches of each are the operator's own.

    Raises:
        InputError: a file there cannot be read, there is no fabric, or a cloud runs the switches of one.
    """
    fabrics = fabrics_at(path, options, "simulate")
    require_own_switches(fabrics)
    return fabrics


def intent_fabric_at(path: str | PathLike[str], options: Options) -> Fabric:
    """Return the fabric of the one intent at a path; its switches are the operator's own.

    Raises:
        InputError: there is not exactly one intent, it cannot be read or has no fabric, or a cloud runs its switches.
    """
    fabric = any_fabric_at(path, options)
    require_own_switches((fabric,))
    return fabric


def any_fabric_at(path: str | PathLike[str], options: Options) -> Fabric:
    """Return the fabric of the one intent at a path, a cloud's too.

    Raises:
        InputError: there is not exactly one intent, or it cannot be read or has no fabric.
    """
    errors: list[Problem] = []
    fabric = intent_fabric(intent_at(path), options.profile_dirs, errors)
    if fabric is None:
        raise InputError(errors)
    return fabric
