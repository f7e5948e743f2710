"""Texts that stand for files while they are edited."""

from __future__ import annotations

import re

from lossless.formats.inputs.collect import Inputs, foreign
from lossless.formats.sonic.read.tables import READ_TABLES
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.documents import load_text
from lossless.ground.documents.text import decode

_INTENT = re.compile(r"^lossless[ \t]*:", re.MULTILINE)
_TABLE = re.compile(r'"([A-Z][A-Z0-9_]+)"\s*:')


def is_ours(file: str, text: str) -> bool:
    """Return whether a text is meant to be an intent or a configuration, be it readable or not."""
    if not file.lower().endswith(".json"):
        return _INTENT.search(text) is not None
    return any(match[1] in READ_TABLES for match in _TABLE.finditer(text))


def read_text(file: str, text: str) -> Inputs:
    """Read a text that stands for a file: to a document, or to the reasons why there is none."""
    try:
        document = load_text(decode(text.encode("utf-8", "surrogatepass"), file), file)
    except InputError as error:
        return Inputs(problems=error.problems)
    reason = foreign(document)
    return Inputs((document,)) if reason is None else Inputs(problems=(Problem(file, 1, 1, reason),))
