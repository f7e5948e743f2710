"""Values changed behind validation: the file stays one that its reader takes, and declares something else.

A value is exchanged for one from the same place of another sound file, or that the schema of intents names
there; a number becomes a near one; a section, a row or a line goes, or comes from another file.
"""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterable, Iterator
from typing import Any

Path = tuple[str | int, ...]
_NUMBER = re.compile(r"(?<![\w.])-?\d{1,12}(?:\.\d{1,6})?")
_COMMENTS = ("#", "!")
_KIND = ("lossless", "transport")
"""Keys that say what kind of file an intent is."""
_MOST_OF_A_PLACE = 60
"""Values of one place that are kept: some places, as the serial numbers of devices, have thousands."""


class Pool:
    """What sound files have at each place, and the lines of texts by the suffix of their names."""

    def __init__(self) -> None:
        self._values: dict[str, dict[str, Any]] = {}
        self._entries: dict[str, dict[str, tuple[str, Any]]] = {}
        self._lines: dict[str, dict[str, None]] = {}

    def add(self, data: Any) -> None:
        """Take in the values of a file."""
        kind = kind_of(data)
        for path, value in _walk(data):
            if isinstance(path[-1], str):
                entries = self._entries.setdefault(_mapping(kind, path[:-1]), {})
                if len(entries) < _MOST_OF_A_PLACE:
                    entries.setdefault(path[-1], (path[-1], value))
            self.add_value(_place(kind, path), value)

    def add_value(self, place: str, value: Any) -> None:
        """Take in a value that may stand at a place: the kind of a file, and the key above the value."""
        values = self._values.setdefault(place, {})
        if len(values) < _MOST_OF_A_PLACE:
            values.setdefault(json.dumps(value, sort_keys=True, default=str), value)

    def add_schema(self, schema: Any, key: str = "") -> None:
        """Take in the enumerators, constants, defaults and examples of a JSON Schema of intents."""
        if isinstance(schema, list):
            for each in schema:
                self.add_schema(each, key)
        if not isinstance(schema, dict):
            return
        for word in ("enum", "examples"):
            for value in schema.get(word, ()) if isinstance(schema.get(word, ()), list) else ():
                self.add_value(f"intent {key}", value)
        for word in ("const", "default", "minimum", "maximum"):
            if schema.get(word) is not None and not isinstance(schema[word], dict):
                self.add_value(f"intent {key}", schema[word])
        for word, part in schema.items():
            if word in ("properties", "$defs", "definitions", "patternProperties") and isinstance(part, dict):
                for name, each in part.items():
                    self.add_schema(each, name if word == "properties" else key)
            elif word not in ("enum", "examples", "const", "default", "required"):
                self.add_schema(part, key)

    def add_lines(self, name: str, text: str) -> None:
        """Take in the lines of a text."""
        lines = self._lines.setdefault(_suffix(name), {})
        if len(lines) < 50 * _MOST_OF_A_PLACE:
            lines |= dict.fromkeys(text.splitlines())

    def values(self, kind: str, path: Path) -> list[Any]:
        """Return what may stand at a path."""
        return [*self._values.get(_place(kind, path), {}).values()]

    def entries(self, kind: str, path: Path) -> list[tuple[str, Any]]:
        """Return the entries that a mapping at a path may have."""
        return [*self._entries.get(_mapping(kind, path), {}).values()]

    def lines(self, name: str) -> list[str]:
        """Return the lines that a text of a name may have."""
        return [*self._lines.get(_suffix(name), {})]


def kind_of(data: Any) -> str:
    """Return the kind of a file by its data: an intent, the rows of a switch, or something else."""
    if not isinstance(data, dict):
        return "other"
    if "lossless" in data:
        return "intent"
    return "rows" if {"PORT", "DEVICE_METADATA", "PORT_QOS_MAP"} & data.keys() else "other"


def _suffix(name: str) -> str:
    return name.rpartition(".")[2]


def _place(kind: str, path: Path) -> str:
    """Return the place of a value: rows have it by table and field, others by the last key that is none of a list."""
    words = [word for word in path if isinstance(word, str)]
    if kind == "rows" and len(words) > 1:
        return f"rows {words[0]} {words[-1] if len(words) > 2 else ''}"
    return f"{kind} {words[-1] if words else ''}"


def _mapping(kind: str, path: Path) -> str:
    words = [word for word in path if isinstance(word, str)]
    if kind == "rows":
        return f"rows {words[0] if words else ''} {min(len(words), 2)}"
    return f"{kind} {words[-1] if words else ''}"


def _walk(data: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    items: Iterable[tuple[str | int, Any]] = ()
    if isinstance(data, dict):
        items = data.items()
    elif isinstance(data, list):
        items = enumerate(data)
    for key, value in items:
        yield (*path, key), value
        yield from _walk(value, (*path, key))


# --- mappings ---


def changed_data(data: Any, pool: Pool, chance: random.Random, times: int = 1) -> Any:
    """Return data with one or more changes; they are left as they are."""
    data = copy.deepcopy(data)
    for _ in range(times):
        places = [path for path, _ in _walk(data) if path[0] not in _KIND]
        if not places:
            break
        _change(data, _drawn_path(places, chance), pool, chance)
    return data


def _drawn_path(places: list[Path], chance: random.Random) -> Path:
    """Return a path: first one of the sections, so that a table of many rows is changed no more often than others."""
    section = chance.choice(sorted({str(path[0]) for path in places}))
    return chance.choice([path for path in places if str(path[0]) == section])


def _change(data: Any, path: Path, pool: Pool, chance: random.Random) -> None:
    kind = kind_of(data)
    holder = data
    for key in path[:-1]:
        holder = holder[key]
    key, value = path[-1], holder[path[-1]]
    drawn = chance.random()
    others = [other for other in pool.values(kind, path) if other != value]
    if drawn < 0.45 and others:
        similar = [other for other in others if type(other) is type(value)]
        holder[key] = copy.deepcopy(chance.choice(similar if similar and chance.random() < 0.8 else others))
    elif drawn < 0.62 and (near := _near(value, chance)) != value:
        holder[key] = near
    elif drawn < 0.76:
        del holder[key]
    elif drawn < 0.90 and isinstance(value, dict):
        entries = pool.entries(kind, path)
        if entries:
            name, entry = chance.choice(entries)
            value[name] = copy.deepcopy(entry)
    elif isinstance(holder, dict) and len(path) > 1:
        holder[chance.choice([*holder])] = copy.deepcopy(value)
    elif isinstance(holder, list):
        holder.insert(chance.randrange(len(holder) + 1), copy.deepcopy(value))
    elif others:
        holder[key] = copy.deepcopy(chance.choice(others))


def _near(value: Any, chance: random.Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return chance.choice((value + 1, value - 1, value * 2, value // 2, 0))
    if isinstance(value, str) and (numbers := [*_NUMBER.finditer(value)]):
        number = chance.choice(numbers)
        return value[: number.start()] + _near_number(number[0], chance) + value[number.end() :]
    return value


def _near_number(text: str, chance: random.Random) -> str:
    number = float(text) if "." in text else int(text)
    return f"{chance.choice((number + 1, max(number - 1, 0), number * 2, number // 2, number * 10, 0)):.12g}"


# --- lines ---


def changed_lines(text: str, name: str, pool: Pool, chance: random.Random, times: int = 1) -> str:
    """Return a text with numbers or words of lines exchanged, or lines left out, repeated, or of another file."""
    lines = text.splitlines()
    for _ in range(times):
        told = [
            at for at, line in enumerate(lines) if line.strip() and not line.lstrip().startswith(_COMMENTS)
        ]
        if not told:
            break
        at = chance.choice(told)
        lines[at : at + 1] = _changed_line(lines, at, pool.lines(name), chance)
    return "\n".join(lines) + "\n"


def _changed_line(lines: list[str], at: int, others: list[str], chance: random.Random) -> list[str]:
    line = lines[at]
    numbers = [*_NUMBER.finditer(line)]
    drawn = chance.random()
    if drawn < 0.5 and numbers:
        number = chance.choice(numbers)
        return [line[: number.start()] + _near_number(number[0], chance) + line[number.end() :]]
    if drawn < 0.65:
        first = line.split()[0]
        similar = [other for other in (*lines, *others) if other.split()[:1] == [first] and other != line]
        return [chance.choice(similar)] if similar else []
    if drawn < 0.75:
        return []
    if drawn < 0.85 or not others:
        return [line, line]
    return [line, chance.choice(others)]
