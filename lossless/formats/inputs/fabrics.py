"""Documents and paths to fabrics, of intents and of deployed devices identical."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.formats.inputs.collect import collect, is_device, is_json, search, split
from lossless.formats.inputs.discover import seems_ours
from lossless.formats.inputs.intents import intent_fabric, is_intent
from lossless.ground.basics.errors import InputError, Problem, ProfileError
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from lossless.ground.documents.document import Document
    from lossless.model.fabric.model import Fabric
    from lossless.model.hardware.load import Folder


class Fabrics(NamedTuple):
    """The fabrics that documents describe, and the problems of reading them."""

    fabrics: tuple[Fabric, ...]
    errors: tuple[Problem, ...]


def fabrics_of(
    documents: Sequence[Document],
    profile_dirs: Sequence[Folder] = (),
    rdma_dscps: tuple[int, ...] = (),
) -> Fabrics:
    """Return the fabric of each intent, and one of all deployed devices together, as their daemons apply their rows.

    ``rdma_dscps`` names the DSCPs that must be lossless on deployed devices.
    """
    errors: list[Problem] = []
    intents = [document for document in documents if is_intent(document)]
    fabrics = [fabric for document in intents if (fabric := intent_fabric(document, profile_dirs, errors))]
    deployed = [document for document in documents if is_device(document)]
    if deployed:
        from lossless.formats.inputs.devices import deployed_fabric

        try:
            every = split(deployed)
            fabrics.append(deployed_fabric(every, profile_dirs, rdma_dscps, errors))
        except ProfileError as error:
            errors.append(Problem(deployed[0].file, None, None, str(error)))
    return Fabrics(tuple(fabrics), tuple(errors))


def with_other_systems(
    fabrics: Sequence[Fabric], documents: Sequence[Document], rdma_dscps: tuple[int, ...] = ()
) -> tuple[Fabric, ...]:
    """Return fabrics with the deployed switches that run other systems, among those that run SONiC."""
    configured = [document for document in documents if document.dialect]
    if not configured:
        return tuple(fabrics)
    from lossless.formats.inputs.switches import fabric_of_switches, read_switch

    switches = tuple(read_switch(document, rdma_dscps).read.switch for document in configured)
    files = tuple(document.file for document in configured)
    declared = [fabric for fabric in fabrics if fabric.declared]
    deployed = next((fabric for fabric in fabrics if not fabric.declared), None)
    if deployed is None:
        return (*declared, fabric_of_switches(switches, files))
    every = (*deployed.switches, *switches)
    return (*declared, deployed._replace(switches=every, sources=(*deployed.sources, *files)))


def documents_at(path: str | PathLike[str]) -> tuple[list[Document], list[Problem]]:
    """Return the documents at a path; a folder with a fabric.yaml means that intent."""
    inside = os.path.join(path, "fabric.yaml")
    return collect([inside if os.path.isfile(inside) else path])


def configurations_beside(path: str | PathLike[str]) -> tuple[str, ...]:
    """Return the files of devices below a folder that is read as its fabric.yaml: they are not read with it."""
    if not os.path.isfile(os.path.join(path, "fabric.yaml")):
        return ()
    return tuple(file for file, _ in search([path]).candidates if is_json(file) and seems_ours(file))


def intent_at(path: str | PathLike[str]) -> Document:
    """Return the one intent at a path.

    Raises:
        InputError: it cannot be read, or there is not exactly one.
    """
    documents, errors = documents_at(path)
    intents = [document for document in documents if is_intent(document)]
    if errors or len(intents) != 1:
        message = (
            f"expected one intent, found {len(intents)}; name a file, or a folder that holds fabric.yaml"
        )
        raise InputError(errors or [Problem(str(path), None, None, message)])
    return intents[0]
