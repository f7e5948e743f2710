"""Patterns for files and objects, as .gitignore has them: what a pattern names stands for everything below it too.

``*`` and ``?`` stay within one part, ``**`` goes over any number of them, ``[0-3]`` is one character of a set.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Path

_TOKEN = re.compile(r"\*\*|\*|\?|\[!?[^\[\]]+\]|.", re.DOTALL)


def fits_file(pattern: str, file: str) -> bool:
    """Return whether a pattern stands for a file, or for a folder that it is in.

    The file is relative to where patterns begin. A pattern without a slash stands for that name at any depth.
    """
    named = pattern.removeprefix("./").rstrip("/")
    anchored = named.lstrip("/") if "/" in named else f"**/{named}"
    return _matcher(anchored, "/").fullmatch(file) is not None


def fits_object(pattern: str, path: Path, form: str) -> bool:
    """Return whether a pattern stands for the object at a path, or for something it is part of.

    ``form`` says how objects are written there: ``config_db`` or ``intent``.
    """
    separator = "|" if form == "config_db" else "."
    return _matcher(pattern, separator).fullmatch(separator.join(map(str, path))) is not None


@cache
def _matcher(pattern: str, separator: str) -> re.Pattern[str]:
    """Return an expression for a pattern and everything below it."""
    quoted = re.escape(separator)
    words = "".join(_expression(token, quoted) for token in _TOKEN.findall(pattern))
    # Any number of parts, also none: a/**/b is a/b too.
    words = words.replace(f".*{quoted}", f"(?:.*{quoted})?")
    return re.compile(f"{words}(?:{quoted}.*)?", re.DOTALL)


def _expression(token: str, separator: str) -> str:
    if token == "**":
        return ".*"
    if token == "*":
        return f"[^{separator}]*"
    if token == "?":
        return f"[^{separator}]"
    if token.startswith("[") and len(token) > 1:
        return _set(token)
    return re.escape(token)


def _set(token: str) -> str:
    """Return the expression for a set of characters; one that is none, such as ``[z-a]``, stands for itself."""
    expression = token.replace("\\", "\\\\").replace("[!", "[^")
    try:
        re.compile(expression)
    except re.error:
        return re.escape(token)
    return expression
