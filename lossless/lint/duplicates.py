"""Duplicate keys in JSON: SONiC silently takes the last one, so the file does not say what the device does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.findings import Finding, Origin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.source.document import Document

CODE = "CFG005"
NAME = "duplicate-key"


def duplicate_keys(documents: Sequence[Document]) -> Iterator[Finding]:
    """Yield a finding for every key that a JSON object holds more than once."""
    for document in documents:
        for duplicate in document.duplicates:
            yield Finding(
                code=CODE,
                name=NAME,
                severity="warning",
                confidence="high",
                message=f"{duplicate.path[-1]!r} stands twice in one object; SONiC takes the last and drops the first",
                note=f"the first is on line {duplicate.first_line}",
                help="remove one of the two",
                origin=Origin(document.file, duplicate.path, "key"),
                object_form="config_db",
            )
