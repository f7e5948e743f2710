"""RFC 6902 on a CONFIG_DB: the result of a patch, or the reason why it does not apply.

As in the updater's library: the six operations of the RFC, applied one after another to a copy.
"""

from __future__ import annotations

import re
from copy import deepcopy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Path = tuple[str, ...]
_ESCAPE = re.compile(r"~[01]")
_INDEX = re.compile(r"0|[1-9][0-9]*")


class PatchDoesNotApply(ValueError):  # noqa: N818
    """An operation that a configuration rejects: its index (from 0), its path, and the reason."""

    def __init__(self, operation: Mapping[str, Any], why: str, index: int) -> None:
        super().__init__(why)
        self.index = index
        self.op = str(operation.get("op", ""))
        self.path = str(operation.get("path", ""))


def parts(pointer: str) -> Path:
    """Return the names in a JSON pointer (RFC 6901).

    Raises:
        ValueError: it is not a JSON pointer.
    """
    if not pointer:
        return ()
    first, *names = pointer.split("/")
    if first or any("~" in _ESCAPE.sub("", name) for name in names):
        raise ValueError(f"{pointer!r} is not a JSON pointer")
    return tuple(name.replace("~1", "/").replace("~0", "~") for name in names)


def applied(document: Mapping[str, Any], patch: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a configuration with a patch applied; the configuration itself stays unchanged.

    Raises:
        PatchDoesNotApply: an operation is malformed, or finds nothing at its path, or another value than it tests for.
    """
    result: Any = deepcopy(document)
    for index, operation in enumerate(patch):
        try:
            result = _OPERATIONS[operation["op"]](result, operation)
        except KeyError as error:
            missing = f"there is no {error.args[0]}" if error.args else "there is no such place"
            raise PatchDoesNotApply(operation, missing, index) from error
        except (ValueError, IndexError, TypeError, AttributeError) as error:
            raise PatchDoesNotApply(operation, str(error), index) from error
    return _members(result)


def _add(document: Any, operation: Mapping[str, Any]) -> Any:
    return _put(document, parts(operation["path"]), deepcopy(operation["value"]))


def _put(document: Any, path: Path, value: Any) -> Any:
    """Return a document with a value at a path: added, or replaced; in a list, inserted before the present item."""
    if not path:
        return _members(value)
    holder = _found(document, path[:-1])
    if isinstance(holder, list):
        place = len(holder) if path[-1] == "-" else _index(path[-1])
        if place > len(holder):
            raise IndexError(f"the list ends before {place}")
        holder.insert(place, value)
    else:
        _members(holder)[path[-1]] = value
    return document


def _remove(document: Any, operation: Mapping[str, Any]) -> Any:
    path = parts(operation["path"])
    if not path:
        raise ValueError("the whole configuration cannot be removed")
    holder = _found(document, path[:-1])
    if isinstance(holder, list):
        del holder[_index(path[-1])]
    else:
        del _members(holder)[path[-1]]
    return document


def _replace(document: Any, operation: Mapping[str, Any]) -> Any:
    path, value = parts(operation["path"]), deepcopy(operation["value"])
    if not path:
        return _members(value)
    _found(document, path)
    holder = _found(document, path[:-1])
    holder[_index(path[-1]) if isinstance(holder, list) else path[-1]] = value
    return document


def _move(document: Any, operation: Mapping[str, Any]) -> Any:
    source, path = parts(operation["from"]), parts(operation["path"])
    value = _found(document, source)
    if source == path:
        return document
    if path[: len(source)] == source:
        raise ValueError("a value cannot be moved into itself")
    return _put(_remove(document, {"path": operation["from"]}), path, value)


def _copy(document: Any, operation: Mapping[str, Any]) -> Any:
    source = parts(operation["from"])
    if not source:
        raise ValueError("the whole configuration cannot be copied")
    return _put(document, parts(operation["path"]), deepcopy(_found(document, source)))


def _test(document: Any, operation: Mapping[str, Any]) -> Any:
    there = _found(document, parts(operation["path"]))
    if there != operation["value"]:
        raise ValueError(f"the value is {there!r}, not {operation['value']!r}")
    return document


def _found(document: Any, path: Path) -> Any:
    for name in path:
        document = document[_index(name)] if isinstance(document, list) else _members(document)[name]
    return document


def _members(holder: Any) -> dict[str, Any]:
    if not isinstance(holder, dict):
        raise TypeError(f"{holder!r} has nothing below it")
    return holder


def _index(name: str) -> int:
    if not _INDEX.fullmatch(name):
        raise ValueError(f"{name!r} is not a place in a list")
    return int(name)


_OPERATIONS: dict[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy,
    "test": _test,
}
