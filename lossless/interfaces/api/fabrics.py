"""Load: documents and paths to fabrics."""

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
from lossless.interfaces.api.lint import DEFAULT_OPTIONS, Options, configurations_of, exclusions_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from lossless.ground.documents.text import Document
    from lossless.model.fabric.model import Fabric


def load_fabrics(documents: Sequence[Document], options: Options = DEFAULT_OPTIONS) -> Fabrics:
    """Return the fabric of each intent, and of deployed devices one of all, or as configurations tell them apart.

    Ports that a configuration says to carry no RDMA have no part of a class.
    """
    lookup = None if all(map(is_intent, documents)) else configurations_of(options)
    fabrics, errors = fabrics_of(documents, options.profile_dirs, options.rdma_dscps, lookup)
    problems = lookup.problems() if lookup else []
    return Fabrics(inside(fabrics, lookup), (*errors, *problems))


def documents_at(path: str | PathLike[str], options: Options) -> tuple[list[Document], list[Problem]]:
    """Return what a path stands for, without what is excluded below a folder, and what could not be read."""
    return found_documents(path, exclusions_of(options) if isdir(path) else None)


def fabrics_at(path: str | PathLike[str], options: Options, purpose: str) -> tuple[Fabric, ...]:
    """Return the fabrics at a path, with the switches of all systems.

    Raises:
        InputError: something there cannot be read, or there is nothing to ``purpose``.
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
    """Return the fabrics at a path, whose switches are the operator's own.

    Raises:
        InputError: something there cannot be read, there is no fabric, or a cloud runs one.
    """
    fabrics = fabrics_at(path, options, "simulate")
    require_own_switches(fabrics)
    return fabrics


def intent_fabric_at(path: str | PathLike[str], options: Options) -> Fabric:
    """Return the fabric of the one intent at a path, whose switches are the operator's own.

    Raises:
        InputError: it cannot be read, there is not exactly one, or it declares something else.
    """
    errors: list[Problem] = []
    fabric = intent_fabric(intent_at(path), options.profile_dirs, errors)
    if fabric is None:
        raise InputError(errors)
    require_own_switches((fabric,))
    return fabric
