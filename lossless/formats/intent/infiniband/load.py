"""The document of an InfiniBand subnet to a checked intent, every mistake located in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.infiniband.document import InfinibandIntent
from lossless.formats.intent.load import checked
from lossless.formats.intent.problems import IntentSource, in_file_order, located
from lossless.ground.basics.errors import InputError
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.ground.basics.errors import Problem
    from lossless.ground.documents.document import Document


class LoadedSubnet(NamedTuple):
    """The intent of a subnet, and the document it was written in."""

    intent: InfinibandIntent
    document: Document

    def problem(self, origin: Origin, message: str) -> Problem:
        """Return a problem located at an origin of this document."""
        return located(self.document, origin.path, message, at_key=origin.mark == "key")

    def origin(self, *path: str | int) -> Origin:
        """Return where a value was written, or the nearest key above it where it is left out."""
        if self.document.exists(path):
            return Origin(self.document.file, path)
        while path and not self.document.exists(path):
            path = path[:-1]
        return Origin(self.document.file, path, "key")


def load_subnet(document: Document) -> LoadedSubnet:
    """Return the intent of a subnet.

    Raises:
        InputError: every invalid value of the document, each located, in the order of the file.
    """
    written = IntentSource(document, {}, InfinibandIntent)
    intent, problems = checked(written, InfinibandIntent, document.data)
    if problems:
        raise InputError(in_file_order(problems))
    return LoadedSubnet(intent, document)
