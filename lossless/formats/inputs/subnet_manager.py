"""Files of subnet managers among those of a run: recognized by their content, one subnet for each opensm.conf."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import InputError
from lossless.ground.basics.findings import UncheckedRule
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lossless.formats.infiniband.to_model import DeployedSubnet, SubnetFile
    from lossless.ground.basics.errors import Problem
    from lossless.ground.documents.changes import ValueChange
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.infiniband.subnet import Subnet

SUFFIXES = (".conf", ".cfg")
"""Suffixes of a subnet manager's files in a folder; a file that is named may have any."""
_ALONE = "a file of a subnet manager that no opensm.conf beside it names: nothing else is known of its subnet"


class ManagerFiles(NamedTuple):
    """The files of subnet managers of a run: subnets by their opensm.conf, and files that none names."""

    subnets: tuple[DeployedSubnet, ...] = ()
    alone: tuple[Document, ...] = ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of invalid settings in the files."""
        documents = (*(document for subnet in self.subnets for document in subnet.documents), *self.alone)
        return tuple(problem for document in documents for problem in document.problems)

    @property
    def not_checked(self) -> tuple[UncheckedRule, ...]:
        """One entry on unchecked rules for each file that belongs to no known subnet."""
        return tuple(UncheckedRule("", _ALONE) for _ in self.alone)


def is_managers(file: str) -> bool:
    """Return whether a file is neither a device's (JSON) nor an intent (YAML): perhaps a subnet manager's, by name."""
    return not file.lower().endswith((".json", ".yaml", ".yml"))


def documents_in(file: str, text: str, *, near: bool) -> tuple[Document, ...]:
    """Return the documents of a subnet manager in a text; empty if the text is none of its files.

    With ``near`` those of an opensm.conf include the files beside it that its options, or their defaults, name, and
    ``sharp_am.cfg``.

    Raises:
        InputError: such a file is a link that may not be followed, or cannot be read.
    """
    from lossless.formats.infiniband.to_model import SubnetFile, document_of, kind_of, read_subnet

    subnet_file = SubnetFile(file, text)
    kind = kind_of(text, file)
    if kind is None:
        return ()
    if kind == "options":
        return read_subnet(subnet_file, _beside(subnet_file) if near else {}).documents
    return (document_of(kind, subnet_file),)


def manager_files(documents: Iterable[Document]) -> ManagerFiles:
    """Return the files of subnet managers among documents: a subnet for each opensm.conf, and the rest."""
    texts = {
        document.file: document
        for document in documents
        if is_managers(document.file) and not document.dialect
    }
    if not texts:
        return ManagerFiles()
    from lossless.formats.infiniband.to_model import SubnetFile, kind_of, read_subnet

    subnets = []
    used: set[str] = set()
    for file, document in texts.items():
        if kind_of(document.text, file) == "options":
            near = [other for other in texts if os.path.dirname(other) == os.path.dirname(file)]
            beside = {os.path.basename(other): SubnetFile(other, texts[other].text) for other in near}
            subnets.append(read_subnet(SubnetFile(file, document.text), beside))
            used.update(subnets[-1].subnet.files)
    return ManagerFiles(
        tuple(subnets), tuple(document for file, document in texts.items() if file not in used)
    )


def lone_subnet(conf: str) -> tuple[Subnet, str]:
    """Return the subnet of an opensm.conf, as far as the file alone declares it, and its text.

    Raises:
        InputError: it cannot be read, or has an invalid setting.
    """
    from lossless.formats.infiniband.to_model import SubnetFile, read_subnet
    from lossless.ground.documents.marked_document import read_as_written

    text = read_as_written(conf)
    deployed = read_subnet(SubnetFile(conf, text), {})
    problems = [problem for document in deployed.documents for problem in document.problems]
    if problems:
        raise InputError(problems)
    return deployed.subnet, text


def without_secrets(file: str, text: str) -> str:
    """Return the text of a file as others may see it: without the keys that protect an InfiniBand subnet."""
    if not is_managers(file):
        return text
    from lossless.formats.infiniband.read.sharp import masked

    return masked(text)


def edited_document(document: Document, changes: Sequence[ValueChange]) -> Document | None:
    """Return the document of a subnet manager's file after changes; None if no edit makes exactly these changes."""
    from lossless.formats.infiniband.to_model import SubnetFile, document_of, kind_of
    from lossless.ground.documents.changes import changed, spliced
    from lossless.ground.documents.command_lines import replacements

    kind, expected = kind_of(document.text, document.file), changed(document.data, changes)
    if kind is None or expected is None:
        return None
    text = spliced(document.text, replacements(document, changes))
    after = None if text is None else document_of(kind, SubnetFile(document.file, text))
    return after if after is not None and after.data == expected else None


def _beside(conf: SubnetFile) -> dict[str, SubnetFile]:
    """Return the files beside an opensm.conf by name, ``sharp_am.cfg`` among them.

    Partitions, QoS policy, and GUIDs of roots and of compute nodes are where its options or their defaults name them.

    Raises:
        InputError: one of them is a link that leads outside, or cannot be read.
    """
    from lossless.formats.infiniband.to_model import SubnetFile, companions
    from lossless.ground.documents.folder import file_in
    from lossless.ground.documents.marked_document import read_as_written

    folder = os.path.dirname(conf.file)
    paths = {name: os.path.join(folder, name) for name in companions(conf.text)}
    there = {name: path for name, path in paths.items() if os.path.isfile(path)}
    return {name: SubnetFile(path, read_as_written(file_in(folder, name))) for name, path in there.items()}
