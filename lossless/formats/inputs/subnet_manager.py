"""Files of subnet managers among those of a run: told apart by what stands in them, a subnet an opensm.conf."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.ground.basics.findings import NotJudged
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lossless.formats.infiniband.read.subnet import Deployed, SubnetFile
    from lossless.ground.basics.errors import Problem
    from lossless.ground.documents.changes import Change
    from lossless.ground.documents.document import Document

SUFFIXES = (".conf", ".cfg")
"""Names that such files have; one that is named may have any."""
_ALONE = "a file of a subnet manager that no opensm.conf beside it names: nothing else is known of its subnet"


class ManagerFiles(NamedTuple):
    """The files of subnet managers of a run: subnets by their opensm.conf, and files that none names."""

    subnets: tuple[Deployed, ...] = ()
    alone: tuple[Document, ...] = ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What has no meaning in them."""
        documents = (*(document for one in self.subnets for document in one.documents), *self.alone)
        return tuple(problem for document in documents for problem in document.problems)

    @property
    def not_judged(self) -> tuple[NotJudged, ...]:
        """One a file that was read, and of whose subnet nothing else is known."""
        return tuple(NotJudged("", _ALONE) for _ in self.alone)


def is_managers(file: str) -> bool:
    """Return whether a file is neither a device's (JSON) nor an intent (YAML): perhaps one of a subnet manager."""
    return not file.lower().endswith((".json", ".yaml", ".yml"))


def documents_in(file: str, text: str, *, near: bool) -> tuple[Document, ...]:
    """Return the document of a text that stands for a file; ``near``: with those of the files beside it."""
    from lossless.formats.infiniband.read.subnet import SubnetFile, document_of, kind_of, read_subnet

    one = SubnetFile(file, text)
    kind = kind_of(text, file)
    if kind is None:
        return ()
    if kind == "options":
        return read_subnet(one, _beside(one) if near else {}).documents
    return (document_of(kind, one),)


def manager_files(documents: Iterable[Document]) -> ManagerFiles:
    """Return the subnets of the documents that are files of subnet managers, each once."""
    texts = {document.file: document for document in documents if is_managers(document.file)}
    if not texts:
        return ManagerFiles()
    from lossless.formats.infiniband.read.subnet import SubnetFile, kind_of, read_subnet

    subnets = []
    used: set[str] = set()
    for file, document in texts.items():
        if kind_of(document.text, file) == "options":
            near = [other for other in texts if os.path.dirname(other) == os.path.dirname(file)]
            beside = {os.path.basename(other): SubnetFile(other, texts[other].text) for other in near}
            subnets.append(read_subnet(SubnetFile(file, document.text), beside))
            used.update(subnets[-1].subnet.files)
    return ManagerFiles(tuple(subnets), tuple(one for file, one in texts.items() if file not in used))


def edited_document(document: Document, changes: Sequence[Change]) -> Document | None:
    """Return a file with some changes, read again; None where it would not say just that."""
    from lossless.formats.infiniband.read.subnet import SubnetFile, document_of, kind_of
    from lossless.ground.documents.changes import changed, spliced
    from lossless.ground.documents.line_edits import replacements

    kind, expected = kind_of(document.text, document.file), changed(document.data, changes)
    if kind is None or expected is None:
        return None
    text = spliced(document.text, replacements(document, changes))
    found = None if text is None else document_of(kind, SubnetFile(document.file, text))
    return found if found is not None and found.data == expected else None


def _beside(conf: SubnetFile) -> dict[str, SubnetFile]:
    """Return the files that an opensm.conf names, as far as they lie in its folder."""
    from lossless.formats.infiniband.read.subnet import SubnetFile, companions
    from lossless.ground.documents.marked_document import read_as_written

    folder = os.path.dirname(conf.file)
    paths = {name: os.path.join(folder, name) for name in companions(conf.text)}
    there = {name: path for name, path in paths.items() if os.path.isfile(path)}
    return {name: SubnetFile(path, read_as_written(path)) for name, path in there.items()}
