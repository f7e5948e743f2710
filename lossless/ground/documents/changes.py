"""Changes of single values in plain data, and the text replacements that make them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lossless.ground.basics.findings import Action, Json, Path


class ValueChange(NamedTuple):
    """One change of the value at a path; the actions are those of :class:`lossless.ground.basics.findings.Edit`."""

    path: Path
    action: Action
    value: Json = None


class Replacement(NamedTuple):
    """The replacement of a part of a text: its offsets, the end exclusive, and the new text."""

    start: int
    end: int
    text: str


def changed(data: dict[Any, Any], changes: Iterable[ValueChange]) -> dict[Any, Any] | None:
    """Return a copy of plain data with changes made, None where one of them does not apply.

    A value that YAML aliases share is one of its own at each place of the copy, so a change at one place leaves the
    others as they are.
    """
    new_data: dict[Any, Any] = _copied(data)
    return new_data if all(_apply(new_data, change) for change in changes) else None


def _copied(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _copied(value) for key, value in data.items()}
    return [_copied(value) for value in data] if isinstance(data, list) else data


def _apply(data: Any, change: ValueChange) -> bool:
    *way, last = change.path
    for key in way:
        if isinstance(data, dict) and key not in data and change.action == "add":
            data[key] = {}
        if not _has(data, key):
            return False
        data = data[key]
    if not _has(data, last) and not (change.action in ("set", "add") and isinstance(data, dict)):
        return False
    if change.action in ("set", "add"):
        data[last] = change.value
    elif change.action == "remove":
        del data[last]
    elif isinstance(data, dict) and change.value not in data:
        data[change.value] = data.pop(last)
    else:
        return False
    return True


def _has(data: Any, key: Any) -> bool:
    if isinstance(data, dict):
        return key in data
    return isinstance(data, list) and isinstance(key, int) and 0 <= key < len(data)


def spliced(text: str, replacements: Iterable[Replacement]) -> str | None:
    """Return a text with parts of it replaced, None where two of them overlap."""
    pieces, at = [], 0
    for start, end, new in sorted(set(replacements)):
        if start < at:
            return None
        pieces += [text[at:start], new]
        at = end
    return "".join([*pieces, text[at:]])


def by_container(data: Any, changes: Sequence[ValueChange]) -> dict[Path, list[ValueChange]]:
    """Return changes by the path of their mapping or list; values below a missing one are set together with it."""
    changes_by_container: dict[Path, list[ValueChange]] = {}
    added: dict[Path, Any] = {}
    for change in changes:
        at = _existing(data, change.path)
        if change.action in ("remove", "rename"):
            changes_by_container.setdefault(change.path[:-1], []).append(change)
        elif at == len(change.path):
            changes_by_container.setdefault(change.path[:-1], []).append(change._replace(action="set"))
        else:
            _nest(added, change, at)
    for path, value in added.items():
        changes_by_container.setdefault(path[:-1], []).append(ValueChange(path, "set", value))
    return changes_by_container


def _existing(data: Any, path: Path) -> int:
    """Return the number of leading keys of a path that exist in the data."""
    for at, key in enumerate(path):
        if not _has(data, key):
            return at
        data = data[key]
    return len(path)


def _nest(added: dict[Path, Any], change: ValueChange, at: int) -> None:
    """Add a value below the first missing key of its path."""
    top, below = change.path[: at + 1], change.path[at + 1 :]
    if not below:
        added[top] = change.value
        return
    value = added.setdefault(top, {})
    for key in below[:-1]:
        value = value.setdefault(key, {})
    value[below[-1]] = change.value


def without(
    members: Sequence[tuple[int, int]], gone: Sequence[bool], inner: tuple[int, int]
) -> list[Replacement]:
    """Return the replacements that remove members from a list whose members are separated by commas.

    ``members`` are their offsets in order, ``gone`` has whether each is removed, ``inner`` are the offsets of
    the text between the brackets.
    """
    if all(gone):
        return [Replacement(*inner, "")]
    replacements = []
    for at, (start, _) in enumerate(members):
        if not gone[at] or (at and gone[at - 1]):
            continue
        following = next((other for other in range(at, len(members)) if not gone[other]), None)
        if following is not None:
            replacements.append(Replacement(start, members[following][0], ""))
        else:
            replacements.append(Replacement(members[at - 1][1], members[-1][1], ""))
    return replacements
