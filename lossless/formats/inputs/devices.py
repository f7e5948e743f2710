"""Turns CONFIG_DB documents of SONiC switches into the fabric model: one device by itself, or all devices together."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.formats.inputs.collect import located
from lossless.formats.sonic.read.tables import Tables
from lossless.formats.sonic.to_model.devices import read_fabric
from lossless.ground.basics.errors import Problem, ProfileError
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.model import RepeatedKey
from lossless.model.hardware.load import hardware_finder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lossless.ground.documents.text import Document
    from lossless.model.fabric.model import Fabric
    from lossless.model.fabric.qos import DscpRewrites
    from lossless.model.hardware.load import Folder


class DeviceInput(NamedTuple):
    """One SONiC device: its rows, the problems of its file, and its fabric, None if a profile cannot be read."""

    tables: Tables
    problems: tuple[Problem, ...]
    fabric: Fabric | None


class DeviceReader:
    """Reads SONiC devices one by one, and looks up the profile of each kind of device once."""

    def __init__(self, profile_dirs: Sequence[Folder]) -> None:
        self._find_hardware = hardware_finder(profile_dirs)

    def read(self, document: Document, rdma_dscps: tuple[int, ...] = ()) -> DeviceInput:
        """Return the rows and the fabric of one device, on which ``rdma_dscps`` must be lossless."""
        tables = tables_of(document)
        problems = _problems(document, tables)
        try:
            fabric = read_fabric([tables], self._find_hardware, [rdma_dscps])
        except ProfileError as error:
            return DeviceInput(tables, (*problems, Problem(document.file, None, None, str(error))), None)
        return DeviceInput(tables, problems, fabric._replace(repeated_keys=_repeated_keys(document)))


_PARTIAL = "qos.json"
"""The name of the rendered file of a switch without a base: the rendered tables alone, without a hostname."""


def tables_of(document: Document) -> Tables:
    """Return the rows of a CONFIG_DB document; a rendered ``qos.json`` belongs to the switch that its folder names."""
    tables = Tables.of(document)
    if document.file.endswith(_PARTIAL) and not tables.device and not tables.table("DEVICE_METADATA"):
        folder, name = os.path.split(document.file)
        if name == _PARTIAL and os.path.basename(folder):
            from lossless.formats.inputs.skipped import is_in_rendered_tree

            if is_in_rendered_tree(document.file):
                tables.device = os.path.basename(folder)
    return tables


def deployed_fabric(
    documents: Sequence[Document],
    profile_dirs: Sequence[Folder],
    named_in: Callable[[str], tuple[int, ...]],
    errors: list[Problem],
) -> Fabric:
    """Return one fabric of all devices together, as the daemons of each apply its rows.

    ``named_in`` returns the DSCPs that must be lossless on the devices of a file. Problems of reading the documents are
    added to ``errors``.

    Raises:
        ProfileError: a hardware profile cannot be read.
    """
    from lossless.formats.sonic.effective.chain import chain_of

    devices = [tables_of(document) for document in documents]
    for document, tables in zip(documents, devices, strict=True):
        errors.extend(_problems(document, tables))
    repeated_keys = tuple(key for document in documents for key in _repeated_keys(document))
    find_hardware = hardware_finder(profile_dirs)
    fabric = chain_of(devices, find_hardware, [named_in(document.file) for document in documents]).applied
    sources = tuple(document.file for document in documents)
    return fabric._replace(repeated_keys=repeated_keys, sources=sources)


def rewrites_of(fabric: Fabric, documents: Iterable[Document]) -> DscpRewrites:
    """Return the maps by which ports of deployed devices rewrite DSCP; empty for an intent, which declares none."""
    if fabric.declared:
        return {}
    from lossless.formats.sonic.to_model.lags import rewrites

    return rewrites(fabric, documents)


def _problems(document: Document, tables: Tables) -> tuple[Problem, ...]:
    return (*document.problems, *(located(document, (name,), why) for name, why in tables.unreadable))


def _repeated_keys(document: Document) -> tuple[RepeatedKey, ...]:
    """Return the keys that an object of a document repeats."""
    return tuple(
        RepeatedKey(Origin(document.file, duplicate.path, "key"), duplicate.first_line)
        for duplicate in document.duplicates
    )


def hostname_of(running: Document) -> str:
    """Return the hostname in DEVICE_METADATA of a configuration, empty where it has none."""
    table = running.data.get("DEVICE_METADATA")
    row = table.get("localhost") if isinstance(table, dict) else None
    name = row.get("hostname") if isinstance(row, dict) else None
    return name if isinstance(name, str) else ""


def name_in_intent(tables: Tables, name: str) -> str:
    """Return the name of a device in an intent: ``name`` if its file names the device, else the name of its folder."""
    row = tables.row("DEVICE_METADATA", "localhost")
    named = tables.device or (row is not None and "hostname" in row.fields)
    # Plain strings: pathlib costs a linter's start a third of an interpreter's.
    return name if named else os.path.basename(os.path.dirname(tables.file))
