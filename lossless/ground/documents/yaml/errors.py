"""Explains mistakes in a YAML text for operators, with their places; imported only for an invalid text.

The C parser and the pure Python one word a mistake differently, so the text at the place is examined first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.text import Lines

if TYPE_CHECKING:
    from ruamel.yaml.error import YAMLError

# YAML 1.2.2, production [1] c-printable.
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LONG_ESCAPE = re.compile(r"\\U([0-9a-fA-F]{8})")
_ESCAPE = "unknown escape {}; in double quotes a backslash is written \\\\"
_TAB = "tab used for indentation; YAML allows only spaces"


class _Mistake(NamedTuple):
    problem: str
    context: str
    offset: int
    context_offset: int


def explain(text: str, error: YAMLError | ValueError | OverflowError) -> tuple[int, str]:
    """Return the offset and the description of a syntax error."""
    unprintable = _UNPRINTABLE.search(text)
    if unprintable:
        code = ord(unprintable[0])
        return unprintable.start(), f"character U+{code:04X} is not allowed in YAML"
    if isinstance(error, ValueError | OverflowError):
        return _escape_too_large(text)
    mark = getattr(error, "problem_mark", None)
    context_mark = getattr(error, "context_mark", None)
    offset = min(mark.index, len(text)) if mark else 0
    context_offset = min(context_mark.index, len(text)) if context_mark else offset
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    mistake = _Mistake(problem, getattr(error, "context", None) or "", offset, context_offset)
    return (
        _indentation(text, mistake)
        or _quoted(text, mistake)
        or _bracket(text, mistake)
        or _stray(text, mistake)
        or (mistake.offset, f"not valid YAML: {mistake.problem}")
    )


def _escape_too_large(text: str) -> tuple[int, str]:
    for match in _LONG_ESCAPE.finditer(text):
        if int(match[1], 16) > 0x10FFFF:
            return match.start(), _ESCAPE.format("\\U")
    return 0, "not valid YAML: an escape stands for no character"


def _indentation(text: str, mistake: _Mistake) -> tuple[int, str] | None:
    is_tab = text[mistake.offset : mistake.offset + 1] == "\t"
    if is_tab or "tab character" in mistake.problem:
        return mistake.offset, _TAB
    return None


def _quoted(text: str, mistake: _Mistake) -> tuple[int, str] | None:
    if "quoted scalar" not in mistake.context:
        return None
    if "end of stream" in mistake.problem or "document" in mistake.problem:
        return mistake.context_offset, f"text opened by {text[mistake.context_offset]} is never closed"
    offset = text.rfind("\\", mistake.context_offset, mistake.offset + 1)
    if offset >= 0:
        return offset, _ESCAPE.format(text[offset : offset + 2])
    return None


def _bracket(text: str, mistake: _Mistake) -> tuple[int, str] | None:
    for opening, closing in ("[]", "{}"):
        if f"',' or '{closing}'" in mistake.problem:
            line = Lines(text).place(mistake.context_offset)[0]
            return (
                mistake.offset,
                f"expected ',' or '{closing}': '{opening}' opened on line {line} is still open",
            )
    return None


def _stray(text: str, mistake: _Mistake) -> tuple[int, str] | None:
    character = text[mistake.offset : mistake.offset + 1]
    if "cannot start any token" in mistake.problem and character:
        return mistake.offset, f"a value cannot start with {character}; put it in quotes"
    if "mapping values are not allowed" in mistake.problem or "unexpected ':'" in mistake.problem:
        return mistake.offset, "unexpected ':'; quote the value, or fix the indentation of this line"
    if "alphabetic or numeric" in mistake.problem:
        return mistake.context_offset, "a name must follow * and &; put a value that starts so in quotes"
    if "simple key" in mistake.context:
        return mistake.context_offset, "expected ':' after this key"
    if "sequence entries are not allowed" in mistake.problem:
        return mistake.offset, "a list entry cannot start here; put its - on a line of its own"
    if "flow node" in mistake.context and character:
        return mistake.offset, f"expected a value before {character}"
    if "block" in mistake.context and character:
        return mistake.offset, "unexpected text; is the indentation off, or a quote missing?"
    return None
