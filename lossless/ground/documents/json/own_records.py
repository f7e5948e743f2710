"""Reads files that this program wrote, such as a plan or a baseline, and checks them as strictly as foreign files.

The shape of such a file is a :class:`Record`: its fields are the keys that are read, the annotation of each is the
kind of its value, and one with a default may be left out. Other keys are skipped. Annotations may be ``str``, ``int``,
``bool``, ``float``, ``Any``, ``Literal`` of texts, ``X | None``, ``list[X]``, ``dict[str, X]`` and records.

Files in a cache are another matter: a damaged one is made again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.foreign_text import visible
from lossless.ground.basics.records import Record

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.text import Document

_R = TypeVar("_R", bound=Record)
_Reader = Callable[[Any, "Path"], Any]
_PLAIN: dict[Any, str] = {
    str: "text",
    int: "a whole number",
    bool: "true or false",
    float: "a number",
    list: "a list",
    dict: "a mapping",
    NoneType: "null",
}
"""The kinds of JSON's values, in words."""


class _MisfitError(Exception):
    """A value of another kind than its field has, or a missing one; ``path`` is that of the nearest existing value."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(message)
        self.path, self.message = path, message


def own_record(document: Document, shape: type[_R], path: Path = ()) -> _R:
    """Return the value at a path of a file that this program wrote, by default the whole file, as a record.

    Raises:
        InputError: a value is missing or of another kind, with its place; the name of its key begins at ``path``.
    """
    value: Any = document.data
    for key in path:
        value = value[key]
    of: Any = shape
    try:
        record: _R = _reader(of)(value, path)
    except _MisfitError as misfit:
        raise InputError([own_problem(document, misfit.path, misfit.message, path)]) from None
    return record


def own_problem(document: Document, at: Path, message: str, path: Path = ()) -> Problem:
    """Return a problem at a path of a file that this program wrote; its message names the key from ``path`` on."""
    span = document.locate(at)
    return Problem(document.file, span.line, span.column, f"{_named(at[len(path) :])}{message}")


def _named(path: Path) -> str:
    name = "".join(f"[{key}]" if isinstance(key, int) else f".{visible(str(key))}" for key in path)
    return f"{name.removeprefix('.')}: " if path else ""


@cache
def _reader(shape: Any) -> _Reader:
    """Return the function that reads a value of a shape."""
    origin, within = get_origin(shape), get_args(shape)
    if shape is Any:
        return _as_it_is
    if shape in _PLAIN:
        return _of_kind(shape)
    if origin is Literal:
        return _one_of(within)
    if origin is UnionType and len(within) == 2 and within[1] is NoneType:
        return _or_null(_reader(within[0]))
    if origin is list:
        return _list_of(_reader(within[0]))
    if origin is dict and within[0] is str:
        return _mapping_of(_reader(within[1]))
    return _record_of(shape)


def _as_it_is(value: Any, path: Path) -> Any:
    del path
    return value


def _or_null(read_value: _Reader) -> _Reader:
    def read(value: Any, path: Path) -> Any:
        return None if value is None else read_value(value, path)

    return read


def _of_kind(kind: type) -> _Reader:
    def read(value: Any, path: Path) -> Any:
        # The type itself: to Python a boolean is a number.
        if type(value) is not kind:
            raise _MisfitError(path, f"expected {_PLAIN[kind]}, found {_PLAIN[type(value)]}")
        return value

    return read


def _one_of(words: tuple[str, ...]) -> _Reader:
    def read(value: Any, path: Path) -> Any:
        if not isinstance(value, str) or value not in words:
            raise _MisfitError(path, f"expected one of {', '.join(words)}")
        return value

    return read


def _list_of(read_one: _Reader) -> _Reader:
    is_list = _of_kind(list)

    def read(value: Any, path: Path) -> Any:
        return [read_one(item, (*path, at)) for at, item in enumerate(is_list(value, path))]

    return read


def _mapping_of(read_one: _Reader) -> _Reader:
    is_mapping = _of_kind(dict)

    def read(value: Any, path: Path) -> Any:
        return {key: read_one(item, (*path, key)) for key, item in is_mapping(value, path).items()}

    return read


def _record_of(shape: type[Record]) -> _Reader:
    fields: dict[str, _Reader] | None = None
    is_mapping = _of_kind(dict)

    def read(value: Any, path: Path) -> Any:
        nonlocal fields
        if fields is None:
            # Only now: a record may hold records of its own class.
            fields = {name: _reader(of) for name, of in get_type_hints(shape).items()}
        of = is_mapping(value, path)
        for name in fields:
            if name not in of and not hasattr(shape, name):
                raise _MisfitError(path, f"{name} is missing")
        return shape(
            **{name: read_one(of[name], (*path, name)) for name, read_one in fields.items() if name in of}
        )

    return read
