"""Load: documents and paths to fabrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.inputs.fabrics import Fabrics as Fabrics, documents_at, fabrics_of, intent_at
from lossless.formats.inputs.intents import intent_fabric, require_own_switches
from lossless.ground.basics.errors import InputError, Problem
from lossless.interfaces.api.options import DEFAULT_OPTIONS, Options

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from lossless.ground.documents.document import Document
    from lossless.model.fabric.model import Fabric


def load_fabrics(documents: Sequence[Document], options: Options = DEFAULT_OPTIONS) -> Fabrics:
    """Return the fabric of each intent, and one of all deployed devices together."""
    return fabrics_of(documents, options.profile_dirs, options.rdma_dscps)


def only_sonic(documents: Sequence[Document]) -> str:
    """Return the end of an error message for a command without support of the systems found; empty if all are SONiC."""
    if not any(document.dialect for document in documents):
        return ""
    from lossless.formats.inputs.switches import systems_of

    return f": configurations of {systems_of(documents)}, and this is known of SONiC and of intents alone"


def fabrics_at(path: str | PathLike[str], options: Options, purpose: str) -> tuple[Fabric, ...]:
    """Return the fabrics at a path.

    Raises:
        InputError: something there cannot be read, or there is nothing to ``purpose``.
    """
    documents, errors = documents_at(path)
    fabrics, unread = load_fabrics(documents, options)
    if errors or unread or not fabrics:
        nothing = Problem(str(path), None, None, f"nothing here to {purpose}{only_sonic(documents)}")
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
