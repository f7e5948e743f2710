"""Reads documents into fabrics, of intents and of deployed devices, with statements of ``lossless.toml`` about files.

Such a statement says which fabric a switch belongs to, which DSCPs must be lossless, or which ports carry no RDMA.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from lossless.formats.inputs.collect import collect, is_device, is_json, search, split
from lossless.formats.inputs.discover import seems_ours
from lossless.formats.inputs.intents import intent_fabric, is_intent
from lossless.ground.basics.errors import InputError, Problem, ProfileError
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from os import PathLike

    from lossless.formats.inputs.collect import Excludes
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.model import Fabric, Switch
    from lossless.model.hardware.load import Folder


class Fabrics(NamedTuple):
    """The fabrics that documents describe, and the problems of reading them."""

    fabrics: tuple[Fabric, ...]
    errors: tuple[Problem, ...]


def fabrics_of(
    documents: Sequence[Document],
    profile_dirs: Sequence[Folder] = (),
    rdma_dscps: tuple[int, ...] = (),
    stated: FileStatements | None = None,
) -> Fabrics:
    """Return the fabric of each intent, and of the deployed SONiC devices together, as their daemons apply their rows.

    ``rdma_dscps`` names the DSCPs that must be lossless on deployed devices. ``stated`` says which of these make up one
    fabric, by default all, and names DSCPs where ``rdma_dscps`` does not.
    """
    errors: list[Problem] = []
    intents = [document for document in documents if is_intent(document)]
    fabrics = [fabric for document in intents if (fabric := intent_fabric(document, profile_dirs, errors))]
    deployed = [document for document in documents if is_device(document)]
    if deployed:
        from lossless.formats.inputs.devices import deployed_fabric

        named_in = _naming(rdma_dscps, stated)
        try:
            fabrics += [
                deployed_fabric(devices, profile_dirs, named_in, errors)
                for devices in _by_fabric(split(deployed), stated)
            ]
        except ProfileError as error:
            errors.append(Problem(deployed[0].file, None, None, str(error)))
    return Fabrics(tuple(fabrics), tuple(errors))


def with_other_systems(
    fabrics: Sequence[Fabric],
    documents: Sequence[Document],
    rdma_dscps: tuple[int, ...] = (),
    stated: FileStatements | None = None,
) -> tuple[Fabric, ...]:
    """Return fabrics with the deployed switches that run other systems than SONiC.

    They join the deployed fabric that their files belong to, or make up one of their own.
    """
    configured = [document for document in documents if document.dialect]
    if not configured:
        return tuple(fabrics)
    from lossless.formats.inputs.switches import fabric_of_switches, read_switch

    named_in = _naming(rdma_dscps, stated)
    together = list(fabrics)
    for of_fabric in _by_fabric(configured, stated):
        switches = tuple(read_switch(each, named_in(each.file)).read.switch for each in of_fabric)
        files = tuple(document.file for document in of_fabric)
        same = [fabric for fabric in together if not fabric.declared and _are_one(fabric, files[0], stated)]
        for deployed in same[:1]:
            every = (*deployed.switches, *switches)
            joined = deployed._replace(switches=every, sources=(*deployed.sources, *files))
            together = [joined if fabric is deployed else fabric for fabric in together]
        together += [] if same else [fabric_of_switches(switches, files)]
    return tuple(together)


def inside(fabrics: Sequence[Fabric], stated: FileStatements | None) -> tuple[Fabric, ...]:
    """Return fabrics without the QoS of deployed ports that are stated to carry no RDMA."""
    if stated is None:
        return tuple(fabrics)
    return tuple(_inside(fabric, ports_outside(fabric, stated)) for fabric in fabrics)


def _inside(fabric: Fabric, outside: Mapping[str, Collection[str]]) -> Fabric:
    if not any(outside.values()):
        return fabric
    switches = (without_class(switch, outside[switch.origin.file]) for switch in fabric.switches)
    return fabric._replace(switches=tuple(switches))


def ports_outside(fabric: Fabric, stated: FileStatements) -> dict[str, frozenset[str]]:
    """Return the ports of deployed switches that are stated to carry no RDMA, by the file of the switch's origin."""
    if fabric.declared:
        return {}
    pairs = zip(fabric.switches, fabric.sources, strict=True)
    return {switch.origin.file: stated.without_rdma(file, switch) for switch, file in pairs}


def without_class(switch: Switch, names: Collection[str]) -> Switch:
    """Return a switch without the QoS of the named ports."""
    if not names:
        return switch
    ports = (port._replace(qos=None) if port.name in names else port for port in switch.ports)
    return switch._replace(ports=tuple(ports))


def _naming(rdma_dscps: tuple[int, ...], stated: FileStatements | None) -> Callable[[str], tuple[int, ...]]:
    """Return a function from a file to the DSCPs that must be lossless there: ``rdma_dscps`` if any, else as stated."""
    return (lambda _file: rdma_dscps) if rdma_dscps or stated is None else stated.rdma_dscps


def _by_fabric(documents: Sequence[Document], stated: FileStatements | None) -> list[list[Document]]:
    """Return documents grouped by the fabric that they are stated to belong to; one group without statements."""
    if stated is None:
        return [[*documents]]
    return [*grouped((stated.fabric(document.file), document) for document in documents).values()]


def _are_one(fabric: Fabric, file: str, stated: FileStatements | None) -> bool:
    return stated is None or stated.fabric(fabric.sources[0]) == stated.fabric(file)


def documents_at(
    path: str | PathLike[str], excludes: Excludes | None = None
) -> tuple[list[Document], list[Problem]]:
    """Return the documents at a path and their problems; of a folder with a fabric.yaml, that intent alone.

    Raises:
        InputError: the fabric.yaml is a link that leads into ``.git``, or outside of the folder and its repository.
    """
    if os.path.isfile(os.path.join(path, "fabric.yaml")):
        from lossless.ground.documents.folder import file_in

        path = file_in(path, "fabric.yaml")
    return collect([path], excludes=excludes)


def configurations_beside(path: str | PathLike[str]) -> tuple[str, ...]:
    """Return the CONFIG_DB files below a folder with a fabric.yaml, which are not read with it; else empty."""
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


class FileStatements(Protocol):
    """Statements about the file of a switch that no such file contains."""

    def fabric(self, file: str) -> str:
        """Return the fabric that the switch of a file belongs to, empty where it is not stated."""

    def rdma_dscps(self, file: str) -> tuple[int, ...]:
        """Return the DSCPs that must be lossless on the devices of a file."""

    def without_rdma(self, file: str, switch: Switch) -> frozenset[str]:
        """Return the ports of a switch in a file that carry no RDMA."""
