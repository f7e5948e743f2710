"""Writes plain data as YAML, for the files of Prometheus and Alertmanager: few shapes, and many of the same.

A general writer takes minutes for the rules of a large fabric. Texts are quoted as in JSON, which YAML reads
the same way (YAML 1.2.2, 1.2), except for words that every reader takes for text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias, Union

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Yaml: TypeAlias = Union["Mapping[str, Yaml]", "Sequence[Yaml]", str, int, float, bool]
_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
"""Words that a reader of YAML 1.1 takes for something other than text."""


def yaml_text(data: Mapping[str, Yaml], comment: str = "") -> str:
    """Return data as a YAML document, below a comment."""
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    return "\n".join([*lines, *_members(data, "")]) + "\n"


def _members(data: Mapping[str, Yaml], margin: str) -> Iterator[str]:
    for key, value in data.items():
        yield from _member(f"{margin}{_scalar(key)}:", value, margin + "  ")


def _items(data: Sequence[Yaml], margin: str) -> Iterator[str]:
    for value in data:
        lines = list(_member("", value, margin + "  "))
        first, *rest = lines[1:] if lines[0] == "" else lines
        yield f"{margin}- {first.strip()}"
        yield from rest


def _member(head: str, value: Yaml, margin: str) -> Iterator[str]:
    """Yield the lines of a value after a key; an item of a list has an empty ``head``."""
    if isinstance(value, str) and "\n" in value:
        yield f"{head} |-"
        yield from (f"{margin}{line}".rstrip() for line in value.split("\n"))
    elif isinstance(value, str | int | float):
        yield f"{head} {_scalar(value)}"
    elif not value:
        yield f"{head} {'{}' if isinstance(value, Mapping) else '[]'}"
    else:
        yield head
        yield from _members(value, margin) if isinstance(value, Mapping) else _items(value, margin)


def _scalar(value: str | float) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return json.dumps(value, ensure_ascii=False)
