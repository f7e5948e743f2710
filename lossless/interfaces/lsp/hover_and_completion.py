"""Hovers and completions: the documentation of a rule or a key, and the valid words at a place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import CompletionItem, CompletionItemKind, MarkupContent, MarkupKind

from lossless.interfaces.api.reference import IntentKey, find_rule, intent_key, intent_keys, intent_values

if TYPE_CHECKING:
    from lossless.interfaces.lsp.cursor import Cursor, Path


def of_rule(code: str) -> str | None:
    """Return the documentation of a rule as Markdown, None where there is none of that code."""
    rule = find_rule(code)
    return None if rule is None else rule.page


def of_key(path: Path, transport: str | None = None) -> str | None:
    """Return the description of an intent's key as Markdown, for a name that of its object, or None for no such key.

    Without a known ``transport`` the key may be one of any intent.
    """
    key = intent_key(path, transport)
    return None if key is None else _markdown(key)


def _markdown(key: IntentKey) -> str:
    paragraphs = [f"**{key.dotted_path}**", key.description]
    if key.default is not None:
        paragraphs.append(f"Default: `{key.default}`")
    if key.choices:
        paragraphs.append(f"One of: {_code(key.choices)}")
    if key.examples:
        paragraphs.append(f"Example: {_code(key.examples)}")
    return "\n\n".join(paragraphs)


def _code(values: tuple[str, ...]) -> str:
    return ", ".join(f"`{value}`" for value in values)


def completions(cursor: Cursor, transport: str | None = None) -> list[CompletionItem]:
    """Return the keys or values that are valid at a place of an intent; of any ``transport`` if it is unknown."""
    if cursor.path == ("transport",):
        transport = None
    return _values(cursor.path, transport) if cursor.in_value else _keys(cursor.path, transport)


def _keys(path: Path, transport: str | None) -> list[CompletionItem]:
    return [
        CompletionItem(
            key.name,
            kind=CompletionItemKind.Property,
            documentation=MarkupContent(MarkupKind.Markdown, _markdown(key)),
            insert_text=f"{key.name}: ",
        )
        for key in intent_keys(path, transport)
    ]


def _values(path: Path, transport: str | None) -> list[CompletionItem]:
    choices, examples = intent_values(path, transport)
    return [
        *(CompletionItem(word, kind=CompletionItemKind.EnumMember) for word in choices),
        *(CompletionItem(word, kind=CompletionItemKind.Value, detail="an example") for word in examples),
    ]
