"""The JSON Schema of intents as text: the forms of a value, the words it may be, and values in YAML."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Schema = dict[str, Any]


def forms(part: Schema) -> Iterator[Schema]:
    """Yield the schemas of all forms that a value can have."""
    if "anyOf" not in part:
        yield part
    for form in part.get("anyOf", ()):
        yield from forms(form)


def words(form: Schema) -> list[str]:
    """Return the words that a value may be; ``off`` stands for false."""
    if form.get("type") == "boolean":
        return ["true", "false"]
    values = [*form.get("enum", ()), *([form["const"]] if "const" in form else [])]
    return [word for word in values if isinstance(word, str)]


_OTHER_IN_YAML = frozenset({"true", "false", "null", "~"})
"""Texts that YAML parses as another type where they are not quoted."""


def written(value: Any) -> str:
    """Return a value as YAML text."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {written(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return value if isinstance(value, str) and value not in _OTHER_IN_YAML else json.dumps(value)
