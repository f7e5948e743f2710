"""JSON with positions: the standard library parses it, and places are looked up only on request."""

from __future__ import annotations

import json
import re
from itertools import chain
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.limits import NESTING
from lossless.ground.documents.text import Document, Lines, ValuePlace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import NoReturn

    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.text import DuplicateKey

_WALKS = 4
"""How many times a text is asked before offsets are kept: most are asked once, for all paths together."""
_SPACE = re.compile(r"[ \t\n\r]*")
_LONE_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_OBJECTS = frozenset({dict})
_CONTAINERS = frozenset({dict, list})
_KINDS = {list: "a list", str: "a string", bool: "a boolean", type(None): "null"}


def load_json(text: str, file: str, *, lists: bool = False) -> Document:
    """Return the document of a JSON object; of a repeated key the last value applies, ``duplicates`` has each.

    With ``lists`` the top level may be a list as well; its items are then in the data by their numbers.

    Raises InputError for text that RFC 8259 does not allow (NaN, Infinity, comments), a number too large,
    text that is not Unicode, nesting beyond NESTING, and a top level that is not an object.
    """
    data, repeats = _parse(text, file)
    is_list = lists and isinstance(data, list)
    if is_list:
        data = dict(enumerate(data))
    if not isinstance(data, dict):
        kind = _KINDS.get(type(data), "a number")
        _refuse(text, file, _skip(text, 0), f"the top level is {kind}; expected an object {{...}}")
    if "\\" in text and _LONE_SURROGATE.search(text):
        from lossless.ground.documents.json.errors import lone_surrogate

        offset = lone_surrogate(text)
        if offset is not None:
            _refuse(
                text, file, offset, "this string holds half of a \\u surrogate pair, which is no character"
            )
    unique = None if repeats or is_list else data
    return Document(
        file, text, data, JsonLocator(text, unique), duplicates=_duplicates(text) if repeats else ()
    )


def _parse(text: str, file: str) -> tuple[Any, bool]:
    """Return the data, and whether an object repeats a key."""
    try:
        data = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        from lossless.ground.documents.json.errors import explain

        _refuse(text, file, *explain(text, error.msg, error.pos))
    except RecursionError:
        _refuse_depth(text, file)
    except ValueError:
        from lossless.ground.documents.json.errors import bad_number

        _refuse(text, file, *bad_number(text))
    strings = _count_strings(data)
    if strings is None:
        _refuse_depth(text, file)
    # Each string has two quotes in the text, and more where it holds some; a repeated key is lost in the data.
    # Nearly all texts hold no others, and are read without a call for each object.
    return data, text.count('"') != 2 * strings and _has_repeats(text)


def _has_repeats(text: str) -> bool:
    """Return whether an object of a valid text repeats a key."""
    repeats = False

    def look(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeats
        unique = dict(pairs)
        repeats = repeats or len(unique) < len(pairs)
        return unique

    json.loads(text, object_pairs_hook=look)
    return repeats


def _refuse_constant(literal: str) -> NoReturn:
    raise ValueError(literal)


def _finite(literal: str) -> float:
    number = float(literal)
    if number in (float("inf"), float("-inf")):
        raise ValueError(literal)
    return number


def _count_strings(data: Any) -> int | None:
    """Return the number of keys and strings, None where values are nested too deep."""
    level: list[Any] = [[data]]
    strings = 0
    for _ in range(NESTING + 2):
        values = list(_items(level))
        kinds = list(map(type, values))
        strings += kinds.count(str)
        if _CONTAINERS.isdisjoint(kinds):
            return strings
        level = [value for value in values if type(value) in _CONTAINERS]
        strings += sum(map(len, level if _are_objects(level) else filter(_is_object, level)))
    return None


def _are_objects(containers: list[Any]) -> bool:
    return _OBJECTS.issuperset(map(type, containers))


def _is_object(value: Any) -> bool:
    return type(value) is dict


def _items(containers: list[Any]) -> Iterator[Any]:
    """Yield the values in objects and lists, one level down."""
    if _are_objects(containers):
        return chain.from_iterable(map(dict.values, containers))
    return chain.from_iterable(each.values() if type(each) is dict else each for each in containers)


def _refuse_depth(text: str, file: str) -> NoReturn:
    from lossless.ground.documents.json.errors import depth_exceeded

    _refuse(text, file, depth_exceeded(text, NESTING), f"nested deeper than {NESTING} levels")


def _duplicates(text: str) -> tuple[DuplicateKey, ...]:
    from lossless.ground.documents.json.errors import duplicates

    return tuple(duplicates(text))


def _refuse(text: str, file: str, offset: int, message: str) -> NoReturn:
    raise InputError([Problem(file, *Lines(text).place(offset), message)]) from None


class JsonLocator:
    """Finds places in a valid JSON text by walking only the requested paths.

    The C decoder skips siblings. With ``unique``, the data of an object in which no key is repeated, the walk stops
    once all paths are found; of a repeated key the last occurrence applies. After a few
    requests offsets are kept, so that objects and lists are not walked again for each path.
    """

    __slots__ = ("_asked", "_decode", "_offsets", "_root", "_text", "_unique")

    def __init__(self, text: str, unique: Mapping[str, Any] | None) -> None:
        self._text = text
        self._unique = unique
        self._decode = json.JSONDecoder().raw_decode
        self._asked = 0
        self._offsets: dict[int, Any] = {}
        self._root: ValuePlace | None = None

    def places(self, paths: Iterable[Path]) -> dict[Path, ValuePlace]:
        """Return, for each path, the place of its deepest prefix that exists."""
        wanted = list(paths)
        self._asked += 1
        if self._root is None:
            start, end = _skip(self._text, 0), len(self._text.rstrip(" \t\n\r"))
            self._root = ValuePlace(start, end, start, end)
        places: dict[Path, ValuePlace] = {(): self._root}
        self._walk(self._root.start, (), _tree(wanted), places)
        return {path: self._ended(_deepest(path, places)) for path in wanted}

    def _ended(self, place: ValuePlace) -> ValuePlace:
        """Return a place with its end, which is computed only on request."""
        return place if place.end >= 0 else place._replace(end=self._decode(self._text, place.start)[1])

    def _walk(self, start: int, path: Path, wanted: dict[Any, Any], places: dict[Path, ValuePlace]) -> None:
        if self._asked > _WALKS:
            hits = self._kept(start, wanted)
        else:
            hits = self._only_ones(wanted) if not path else {}
            for key, place in self.children(start) if len(hits) < len(wanted) else ():
                if key in wanted:
                    hits[key] = place
                    if self._unique is not None and len(hits) == len(wanted):
                        break
        for key, place in hits.items():
            places[(*path, key)] = place
            self._walk(place.start, (*path, key), wanted[key], places)

    def _kept(self, start: int, wanted: Iterable[Any]) -> dict[Any, ValuePlace]:
        """Return the places of wanted children of the object or list at an offset, which is walked once."""
        is_object = self._text[start] == "{"
        if start not in self._offsets:
            from array import array

            found = self.children(start)
            self._offsets[start] = (
                {key: place.key_start for key, place in found}
                if is_object
                else array("Q", (place.start for _, place in found))
            )
        offsets = self._offsets[start]
        entries = self._members if is_object else self._items
        known = offsets if is_object else range(len(offsets))
        return {key: next(entries(offsets[key]))[1] for key in wanted if key in known}

    def _only_ones(self, wanted: Iterable[Any]) -> dict[Any, ValuePlace]:
        """Return the places of top-level keys that occur only once in the whole text, without walking to them.

        The result is empty without ``unique``, and for a text with a backslash: an escaped quote could make a part of a
        string look like a key.
        """
        text, hits = self._text, dict[Any, ValuePlace]()
        known = self._unique if self._unique is not None and "\\" not in text else {}
        for key in (key for key in wanted if key in known):
            quoted = f'"{key}"'
            start = text.find(quoted)
            colon = _skip(text, start + len(quoted))
            if start < 0 or text[colon] != ":" or text.find(quoted, start + 1) >= 0:
                continue
            value_start = _skip(text, colon + 1)
            hits[key] = ValuePlace(start, start + len(quoted), value_start, -1)
        return hits

    def children(self, start: int) -> Iterator[tuple[str | int, ValuePlace]]:
        """Yield the entries of the object or list at an offset, by key or index, with their places."""
        if self._text[start] == "{":
            return self._members(_skip(self._text, start + 1))
        if self._text[start] == "[":
            return self._items(_skip(self._text, start + 1))
        return iter(())

    def _members(self, offset: int) -> Iterator[tuple[str, ValuePlace]]:
        """Yield the entries of an object from the one at an offset."""
        text, decode = self._text, self._decode
        while text[offset] != "}":
            key, key_end = decode(text, offset)
            value_start = _skip(text, _skip(text, key_end) + 1)
            value_end = decode(text, value_start)[1]
            yield key, ValuePlace(offset, key_end, value_start, value_end)
            offset = _next(text, value_end)

    def _items(self, offset: int) -> Iterator[tuple[int, ValuePlace]]:
        """Yield the items of a list from the one at an offset, counted from 0."""
        index = 0
        while self._text[offset] != "]":
            end = self._decode(self._text, offset)[1]
            yield index, ValuePlace(offset, end, offset, end)
            index, offset = index + 1, _next(self._text, end)


def _skip(text: str, offset: int) -> int:
    match = _SPACE.match(text, offset)
    return match.end() if match else offset


def _next(text: str, offset: int) -> int:
    offset = _skip(text, offset)
    return _skip(text, offset + 1) if text[offset] == "," else offset


def _tree(paths: Iterable[Path]) -> dict[Any, Any]:
    root: dict[Any, Any] = {}
    for path in paths:
        node = root
        for key in path:
            node = node.setdefault(key, {})
    return root


def _deepest(path: Path, places: dict[Path, ValuePlace]) -> ValuePlace:
    while path not in places:
        path = path[:-1]
    return places[path]
