"""Turns changes to YAML into edits of its text, so that the comments, order and quotes of the rest stay."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from lossless.ground.documents.changes import Replacement, by_container, without
from lossless.ground.documents.yaml.compose import ScalarError, YamlLocator, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.ground.basics.findings import Json
    from lossless.ground.documents.changes import ValueChange
    from lossless.ground.documents.text import Document
    from lossless.ground.documents.yaml.compose import YamlNode

    Member = tuple[YamlNode, YamlNode]

_PLAIN = re.compile(r"[A-Za-z0-9_./+](?:[A-Za-z0-9_./+% -]*[A-Za-z0-9_./+%-])?")
"""The pattern of text that may stand without quotes, in flow mappings too."""


def replacements(document: Document, changes: Sequence[ValueChange]) -> list[Replacement]:
    """Return the replacements in the text of a YAML document that make the changes.

    Other documents have none, nor have mappings with keys that an alias or a merge key brings in.
    """
    edits: list[Replacement] = []
    locator = document.locator
    if not isinstance(locator, YamlLocator):
        return edits
    for path, inside in by_container(document.data, changes).items():
        edits += _inside(document.text, locator.node(path), inside)
    return edits


def _inside(text: str, node: YamlNode, changes: Sequence[ValueChange]) -> Iterator[Replacement]:
    by_key = {change.path[-1]: change for change in changes}
    members = _members(node)
    if len(members) < len(node.children or ()):
        return  # a merge key brings the others in: what is written here is not all there is
    gone = [
        _key(node, at, key) in by_key and by_key[_key(node, at, key)].action == "remove"
        for at, (key, _) in enumerate(members)
    ]
    for at, (key, value) in enumerate(members):
        change = by_key.pop(_key(node, at, key), None)
        if change is not None and change.action == "set":
            yield _set(text, value, change.value)
        elif change is not None and change.action == "rename":
            yield Replacement(key.start, key.end, _scalar(change.value))
    added = {str(key): change.value for key, change in by_key.items() if change.action == "set"}
    if text[node.start : node.start + 1] in ("{", "["):
        yield from _in_flow(node, members, gone, added)
    else:
        yield from _in_block(text, members, gone, added)


def _members(node: YamlNode) -> list[Member]:
    """Return the keys and values that are written in a node, in order, without those of a merge key."""
    if isinstance(node.children, list):
        return [(item, item) for item in node.children]
    own = [pair for pair in (node.children or {}).values() if node.start <= pair[0].start < node.end]
    return sorted(own, key=lambda pair: pair[0].start)


def _key(node: YamlNode, at: int, key: YamlNode) -> str | int:
    return at if isinstance(node.children, list) else key.data


def _set(text: str, old: YamlNode, value: Json) -> Replacement:
    quote = text[old.start : old.start + 1]
    if isinstance(value, str) and quote == "'":
        return Replacement(old.start, old.end, "'" + value.replace("'", "''") + "'")
    if isinstance(value, str) and quote == '"':
        return Replacement(old.start, old.end, _quoted(value))
    # Behind a key without a value the colon stands alone.
    blank = " " if old.start == old.end and text[old.start - 1 : old.start] == ":" else ""
    return Replacement(old.start, old.end, blank + on_one_line(value))


def _in_flow(
    node: YamlNode, members: Sequence[Member], gone: Sequence[bool], added: dict[str, Json]
) -> Iterator[Replacement]:
    inner = (node.start + 1, node.end - 1)
    more = ", ".join(f"{_scalar(key)}: {on_one_line(value)}" for key, value in added.items())
    if all(gone):
        yield Replacement(*inner, more)
        return
    if any(gone):
        yield from without([(key.start, value.end) for key, value in members], gone, inner)
    if added:
        last = next(
            value for (_, value), lost in zip(reversed(members), reversed(gone), strict=True) if not lost
        )
        yield Replacement(last.end, last.end, f", {more}")


def _in_block(
    text: str, members: Sequence[Member], gone: Sequence[bool], added: dict[str, Json]
) -> Iterator[Replacement]:
    first = members[0][0].start
    indent = " " * (first - _line_start(text, first))
    feed = "\r\n" if "\r\n" in text else "\n"
    more = [f"{indent}{_scalar(key)}: {on_one_line(value)}" for key, value in added.items()]
    if all(gone):
        inside = (feed.join(more)).lstrip() if more else "{}"
        yield Replacement(first, max(value.end for _, value in members), inside)
        return
    for (key, value), lost in zip(members, gone, strict=True):
        if lost:
            yield Replacement(_line_start(text, key.start), _next_line(text, value.end), "")
    if more:
        end = _line_end(text, max(value.end for _, value in members))
        yield Replacement(end, end, "".join(f"{feed}{line}" for line in more))


def _line_start(text: str, offset: int) -> int:
    return text.rfind("\n", 0, offset) + 1


def _line_end(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    end = len(text) if end < 0 else end
    return end - 1 if text[end - 1 : end] == "\r" else end


def _next_line(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    return len(text) if end < 0 else end + 1


def on_one_line(value: Json) -> str:
    """Return a value as YAML on one line, texts in quotes where they need some, in a flow mapping too."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(key)}: {on_one_line(below)}" for key, below in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(on_one_line, value)) + "]"
    return _scalar(value)


def _scalar(value: Json) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    return value if _PLAIN.fullmatch(value) and _is_text(value) else _quoted(value)


def _is_text(value: str) -> bool:
    """Return whether a text without quotes is parsed as text."""
    try:
        return plain(value) == value
    except ScalarError:
        return False


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=not value.isprintable())
