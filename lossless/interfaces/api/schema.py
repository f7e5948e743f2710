"""JSON Schemas of intents and of ``lossless.toml``, and the description of a key of an intent.

A path is that of a value in an intent, with an index for an item of a list. Without a known ``transport``, keys are
those of any intent.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.intent.key_docs import Schema
    from lossless.ground.basics.findings import Path


def configuration_schema() -> dict[str, Any]:
    """Return the JSON Schema of ``lossless.toml``, which is that of ``[tool.lossless]`` in a ``pyproject.toml`` too."""
    from lossless.checks.lint.configuration.reader import json_schema

    return json_schema()


def intent_schema() -> dict[str, Any]:
    """Return the JSON Schema of an intent, with one alternative for each kind of transport."""
    from lossless.formats.intent import schema

    return schema.intent_schema()


class IntentKey(NamedTuple):
    """One key of an intent: its path with dots, and its default, words and examples as YAML has them."""

    name: str
    dotted_path: str
    description: str
    default: str | None
    choices: tuple[str, ...]
    examples: tuple[str, ...]


class IntentValues(NamedTuple):
    """The values that a key of an intent accepts: the words to choose from, and examples of other values."""

    choices: tuple[str, ...]
    examples: tuple[str, ...]


def intent_key(path: Path, transport: str | None = None) -> IntentKey | None:
    """Return the schema's description of a key; for a user-chosen name, the description of the key above it.

    Returns None if there is no such key.
    """
    if not path:
        return None
    schemas = _schemas_at(path[:-1], transport)
    described = [
        schema["properties"][path[-1]] for schema in schemas if path[-1] in schema.get("properties", {})
    ]
    if described:
        return _described(path, described[0])
    is_name = any(True for schema in schemas for _ in _below(schema, path[-1]))
    return intent_key(path[:-1], transport) if is_name else None


def intent_keys(path: Path, transport: str | None = None) -> tuple[IntentKey, ...]:
    """Return the keys that can be written below a path."""
    keys: dict[str, IntentKey] = {}
    for schema in _schemas_at(path, transport):
        for name, described in schema.get("properties", {}).items():
            keys.setdefault(name, _described((*path, name), described))
    return tuple(keys.values())


def intent_values(path: Path, transport: str | None = None) -> IntentValues:
    """Return the words and examples that are valid as the value at a path."""
    from lossless.formats.intent.key_docs import words, written

    choices = tuple(dict.fromkeys(word for schema in _schemas_at(path, transport) for word in words(schema)))
    keys = (schema.get("properties", {}) for schema in _schemas_at(path[:-1], transport))
    examples = (
        written(example)
        for key in keys
        for example in key.get(path[-1] if path else "", {}).get("examples", ())
    )
    return IntentValues(choices, tuple(example for example in examples if example not in choices))


def _described(path: Path, schema: Schema) -> IntentKey:
    from lossless.formats.intent.key_docs import forms, words, written

    return IntentKey(
        str(path[-1]),
        ".".join(str(key) for key in path if not isinstance(key, int)),
        schema["description"],
        written(schema["default"]) if "default" in schema else None,
        tuple(word for form in forms(schema) for word in words(form)),
        tuple(map(written, schema.get("examples", ()))),
    )


def _schemas_at(path: Path, transport: str | None) -> list[Schema]:
    """Return the schemas of the forms that the value at a path can have; empty if no value is allowed there."""
    from lossless.formats.intent.key_docs import forms

    schemas = _schemas_of_intents(transport)
    for key in path:
        schemas = [form for schema in schemas for inner in _below(schema, key) for form in forms(inner)]
    return schemas


@cache
def _schema() -> Schema:
    return intent_schema()


def _schemas_of_intents(transport: str | None) -> list[Schema]:
    """Return the schemas of intents of a transport, or of all transports for None."""
    from lossless.formats.intent.key_docs import forms, words

    every = list(forms(_schema()))
    return [schema for schema in every if transport in words(schema["properties"]["transport"])] or every


def _below(schema: Schema, key: str | int) -> Iterator[Schema]:
    if isinstance(key, int):
        if "items" in schema:
            yield schema["items"]
    elif key in schema.get("properties", {}):
        yield schema["properties"][key]
    else:
        named = schema.get("patternProperties", {})
        yield from (inner for pattern, inner in named.items() if re.search(pattern, key))
