"""Turns changes to JSON into edits of its text, in the layout of the surrounding text."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.changes import Replacement, by_container, without
from lossless.ground.documents.json.document import JsonLocator

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.ground.basics.findings import Json
    from lossless.ground.documents.changes import ValueChange
    from lossless.ground.documents.text import Document, ValuePlace

    Member = tuple[str | int, ValuePlace]

_BLANKS = re.compile(r"[ \t]*")


def replacements(document: Document, changes: Sequence[ValueChange]) -> list[Replacement]:
    """Return the replacements in the text of a JSON document that make the changes."""
    locator, layout = JsonLocator(document.text, None), _layout(document.text)
    edits: list[Replacement] = []
    containers = by_container(document.data, changes)
    places = locator.places(containers)
    for path, inside in containers.items():
        edits += _inside(layout, places[path], list(locator.children(places[path].start)), inside)
    # JSON has no line break within a string: those here are of the layout.
    feed = "\r\n" if "\r\n" in document.text else "\n"
    return [edit._replace(text=edit.text.replace("\n", feed)) for edit in edits]


class _Layout(NamedTuple):
    """A text, and the indentation of one level, None if its first entry is on the line of the first brace."""

    text: str
    step: str | None


def _layout(text: str) -> _Layout:
    return _Layout(text, _step(text))


def _inside(
    layout: _Layout, place: ValuePlace, members: Sequence[Member], changes: Sequence[ValueChange]
) -> Iterator[Replacement]:
    by_key = {change.path[-1]: change for change in changes}
    gone = [key in by_key and by_key[key].action == "remove" for key, _ in members]
    for key, member in members:
        change = by_key.pop(key, None)
        if change is not None and change.action == "set":
            yield Replacement(member.start, member.end, _written(change.value, layout, member.key_start))
        elif change is not None and change.action == "rename":
            yield Replacement(member.key_start, member.key_end, json.dumps(change.value, ensure_ascii=False))
    added = {str(key): change.value for key, change in by_key.items() if change.action == "set"}
    inner = (place.start + 1, place.end - 1)
    if added and all(gone):
        yield Replacement(*inner, _first(layout, place, added))
        return
    if any(gone):
        yield from without([(member.key_start, member.end) for _, member in members], gone, inner)
    if added:
        last = next(
            member
            for (_, member), is_gone in zip(reversed(members), reversed(gone), strict=True)
            if not is_gone
        )
        yield Replacement(last.end, last.end, _more(layout, members[0][1], added))


def _first(layout: _Layout, place: ValuePlace, added: dict[str, Json]) -> str:
    """Return the first members of an object: one a line, indented by one step; without a step all on one line."""
    outer, step = _indent(layout.text, place.start), layout.step
    if step is None:
        return ", ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in added.items())
    lines = (f"{outer}{step}{_member(key, value, outer + step, step)}" for key, value in added.items())
    return "\n" + ",\n".join(lines) + f"\n{outer}"


def _more(layout: _Layout, first: ValuePlace, added: dict[str, Json]) -> str:
    """Return the text of members added after others, in the layout of the ``first`` one."""
    before = _indent(layout.text, first.key_start)
    begins_line = layout.text.endswith(f"\n{before}", 0, first.key_start)
    if not begins_line:
        return "".join(f", {json.dumps(key)}: {json.dumps(value)}" for key, value in added.items())
    step = layout.step or ""
    return "".join(f",\n{before}{_member(key, value, before, step)}" for key, value in added.items())


def _member(key: str, value: Json, indent: str, step: str) -> str:
    return f"{json.dumps(key, ensure_ascii=False)}: {_laid_out(value, indent, step)}"


def _written(value: Json, layout: _Layout, key_start: int) -> str:
    return _laid_out(value, _indent(layout.text, key_start), layout.step or "")


def _laid_out(value: Json, indent: str, step: str) -> str:
    if not isinstance(value, dict | list) or not value or not step:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=step).split("\n")
    return f"\n{indent}".join(lines)


def _indent(text: str, offset: int) -> str:
    """Return the leading blanks of the line of an offset."""
    blanks = _BLANKS.match(text, text.rfind("\n", 0, offset) + 1, offset)
    return blanks[0] if blanks else ""


def _step(text: str) -> str | None:
    """Return the indentation of the first line inside the top level, two blanks if it has none.

    It is None if the top level begins on the line of its brace.
    """
    brace = text.find("{")
    start = text.find("\n", brace) + 1
    if not start or text[brace + 1 : start].strip():
        return None
    line = text[start:].lstrip("\r\n")
    return line[: len(line) - len(line.lstrip(" \t"))] or "  "
