"""The base of a subnet, and files of a subnet manager, as rules are given them; and what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.api import lint_documents
from tests.checks.rules.checking import patched
from tests.checks.rules.snippets import read_text

if TYPE_CHECKING:
    from lossless.ground.documents.text import Document

MEMBERS = "0x506b4b0300000001=full, 0x506b4b0300000002=full"


def intent(**patch: Any) -> Document:
    """Return the base of a subnet with a merge patch applied."""
    return patched("infiniband.yaml", patch)


def managed(**patch: Any) -> Document:
    """Return it with the keys of its subnet manager patched."""
    return intent(subnet_manager=patch)


def conf(text: str, partitions: str | None = None) -> list[Document]:
    """Return an opensm.conf, with the partitions beside it."""
    found = [read_text(text, "opensm.conf")]
    return found if partitions is None else [*found, read_text(partitions, "partitions.conf")]


def said(*documents: Document) -> dict[str, str]:
    """Return what is said of documents, by code: the severity."""
    report = lint_documents(documents)
    assert report.errors == ()
    return {finding.code: finding.severity for finding in report.findings}
