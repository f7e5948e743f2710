"""Texts that replace files: those that are edited, and standard input."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.inputs.collect import Inputs, foreign
from lossless.formats.inputs.subnet_manager import documents_in, is_managers
from lossless.formats.sonic.read.tables import READ_TABLES
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.documents import load_bytes, load_text
from lossless.ground.documents.text import decode

if TYPE_CHECKING:
    from lossless.ground.documents.document import Document

_INTENT = re.compile(r"^lossless[ \t]*:", re.MULTILINE)
_TABLE = re.compile(r'"([A-Z][A-Z0-9_]+)"\s*:')


def is_ours(file: str, text: str) -> bool:
    """Return whether a text is meant to be an intent or a configuration, even if it cannot be parsed."""
    if not file.lower().endswith(".json"):
        return _INTENT.search(text) is not None
    return any(match[1] in READ_TABLES for match in _TABLE.finditer(text))


def read_text(file: str, text: str) -> Inputs:
    """Read a text that replaces a file: to a document, or to the reasons why there is none."""
    try:
        plain = decode(text.encode("utf-8", "surrogatepass"), file)
        if is_managers(file):
            configured = _of_switch(plain, file)
            return Inputs() if configured is None else Inputs((configured,))
        document = load_text(plain, file, lists=True)
    except InputError as error:
        return Inputs(problems=tuple(error.problems))
    return _checked(document)


def _of_switch(text: str, file: str) -> Document | None:
    from lossless.formats.inputs.switches import configuration_in

    return configuration_in(text, file)


def read_bytes(raw: bytes, file: str) -> Inputs:
    """Read the bytes of a file, whose suffix gives its kind; files beside a subnet manager's are not read."""
    try:
        if is_managers(file):
            text = decode(raw, file)
            configured = _of_switch(text, file)
            managers = documents_in(file, text, near=False) if configured is None else (configured,)
            if managers:
                return Inputs(managers)
        document = load_bytes(raw, file, lists=True)
    except InputError as error:
        return Inputs(problems=tuple(error.problems))
    return _checked(document)


def _checked(document: Document) -> Inputs:
    reason = foreign(document)
    if reason is None:
        return Inputs((document,))
    return Inputs(problems=(Problem(document.file, 1, 1, reason),))
