"""What an editor shows beside a text: the documentation of a rule or a key, and what can be written at a place."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from lsprotocol.types import CompletionItem, CompletionItemKind, MarkupContent, MarkupKind

from lossless.formats.intent.schema_values import forms, words, written

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.intent.schema_values import Schema
    from lossless.interfaces.lsp.cursor import Cursor, Path


def of_rule(code: str) -> str | None:
    """Return the documentation of a rule as Markdown, None where there is none of that code."""
    from lossless.checks.rules.documentation import rule_of
    from lossless.checks.rules.registry import RULES

    if code not in RULES:
        return None
    rule = rule_of(code)
    return f"# {rule.code} {rule.name} ({rule.severity})\n\n{rule.text}"


def of_key(path: Path, transport: str | None = None) -> str | None:
    """Return what the key of an intent means as Markdown; of a name, what is named there; None for no such key.

    Without a ``transport`` that is known the key may be one of any intent.
    """
    if not path:
        return None
    parts = _at(path[:-1], transport)
    above = [part for part in parts if path[-1] in part.get("properties", {})]
    if not above:
        return (
            of_key(path[:-1], transport)
            if any(True for part in parts for _ in _below(part, path[-1]))
            else None
        )
    said = above[0]["properties"][path[-1]]
    name = ".".join(str(key) for key in path if not isinstance(key, int))
    return "\n\n".join([f"**{name}**", said["description"], *_facts(said)])


def completions(cursor: Cursor, transport: str | None = None) -> list[CompletionItem]:
    """Return what can be written at a place of an intent; of one of any ``transport`` where none is known."""
    if cursor.path == ("transport",):
        transport = None
    return list(_values(cursor.path, transport) if cursor.in_value else _keys(cursor.path, transport))


@cache
def _schema() -> Schema:
    from lossless.formats.intent.schema import intent_schema

    return intent_schema()


def _roots(transport: str | None) -> list[Schema]:
    """Return the schemas of intents of a transport, those of all where it is none."""
    every = list(forms(_schema()))
    return [one for one in every if transport in words(one["properties"]["transport"])] or every


def _facts(said: Schema) -> Iterator[str]:
    if "default" in said:
        yield f"Default: `{written(said['default'])}`"
    choices = [f"`{word}`" for form in forms(said) for word in words(form)]
    if choices:
        yield f"One of: {', '.join(choices)}"
    if "examples" in said:
        yield f"Example: {', '.join(f'`{written(example)}`' for example in said['examples'])}"


def _at(path: Path, transport: str | None) -> list[Schema]:
    """Return the forms of the value at a path, none where nothing can be there."""
    found = _roots(transport)
    for key in path:
        found = [form for part in found for inner in _below(part, key) for form in forms(inner)]
    return found


def _below(part: Schema, key: str | int) -> Iterator[Schema]:
    if isinstance(key, int):
        if "items" in part:
            yield part["items"]
    elif key in part.get("properties", {}):
        yield part["properties"][key]
    else:
        yield from (
            inner for name, inner in part.get("patternProperties", {}).items() if re.search(name, key)
        )


def _keys(path: Path, transport: str | None) -> Iterator[CompletionItem]:
    seen = set()
    for part in _at(path, transport):
        for name, said in part.get("properties", {}).items():
            if name not in seen:
                seen.add(name)
                words = MarkupContent(
                    MarkupKind.Markdown, of_key((*path, name), transport) or said["description"]
                )
                kind = CompletionItemKind.Property
                yield CompletionItem(name, kind=kind, documentation=words, insert_text=f"{name}: ")


def _values(path: Path, transport: str | None) -> Iterator[CompletionItem]:
    choices = dict.fromkeys(word for form in _at(path, transport) for word in words(form))
    yield from (CompletionItem(word, kind=CompletionItemKind.EnumMember) for word in choices)
    for part in _at(path[:-1], transport):
        for example in part.get("properties", {}).get(path[-1] if path else "", {}).get("examples", ()):
            if written(example) not in choices:
                yield CompletionItem(written(example), kind=CompletionItemKind.Value, detail="an example")
