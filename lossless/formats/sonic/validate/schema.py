"""The CONFIG_DB schema of SONiC's YANG models, release by release, with its types of values.

It is ``profiles/sonic/schema.json``, prepared for checks. The facts are those of the models on master; if an older
release is known to differ, the field has the type that this release accepts and the source that proves it. A device
reports its release by ``VERSIONS|DATABASE|VERSION``. If it does not, a violation that depends on the release is not
``sure`` (:class:`~lossless.formats.sonic.validate.checks.RowFlaw`).

A type has the values that SONiC's models accept for a field or the part of a key. ``profiles/sonic/schema.json``
writes a type as a line of words: ``uint32 100..5000``, ``enum drop forward``, ``text 1..32``, ``ref PORT``, the name
of one of its patterns, or several of them with ``|`` between, and ``list of`` before them for a field that holds
several values.
"""

from __future__ import annotations

import os
import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.files import data_dir
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


Reference = tuple[str, str]
"""A table, and the row of it that a value names."""

_MOST_WORDS = 12
_MOST_CHARACTERS = 64
_MOST_GOOD = 1024
_LARGEST = 2**64 - 1


class Alternative(NamedTuple):
    """One alternative of a type of values: ``enum``, ``number``, ``pattern``, ``text``, or ``ref`` (a row's name)."""

    kind: str
    low: int = 0
    high: int = 0
    words: tuple[str, ...] = ()
    name: str = ""
    means: str = ""

    def accepts(self, text: str) -> bool:
        """Return whether this alternative accepts a text; ``ref`` accepts any, as the row is looked up later."""
        if self.kind == "enum":
            return text in self.words
        if self.kind == "number":
            number = whole(text)
            return number is not None and self.low <= number <= self.high
        if self.kind == "pattern":
            return re.fullmatch(self.name, text) is not None
        return self.kind == "ref" or self.low <= len(text) <= self.high


class ValueType:
    """The values that a field or a part of a key accepts; ``many`` if the value is a list, or text with commas.

    Valid texts are remembered, up to a limit: most fields have few values in a fabric.
    """

    __slots__ = ("_good", "arms", "many")

    def __init__(self, arms: tuple[Alternative, ...], many: bool) -> None:
        self.arms = arms
        self.many = many
        self._good: dict[str, tuple[Reference, ...]] = {}

    @property
    def one(self) -> str:
        """The accepted single values, as messages show them."""
        return " or ".join(arm.means for arm in self.arms)

    @property
    def means(self) -> str:
        """The accepted values, as messages show them."""
        return f"a list of {self.one}" if self.many else self.one

    @property
    def words(self) -> tuple[str, ...]:
        """The allowed words of the type, empty for a type that is no choice of words."""
        return tuple(word for arm in self.arms for word in arm.words)

    def references(self, text: str) -> tuple[Reference, ...] | None:
        """Return the rows that a text must name, empty if it refers to no row; None if it is refused."""
        references = self._good.get(text)
        if references is None:
            references = self._checked(text)
            if references is not None and len(self._good) < _MOST_GOOD:
                self._good[text] = references
        return references

    def _checked(self, text: str) -> tuple[Reference, ...] | None:
        named = None
        for arm in self.arms:
            if arm.kind == "ref":
                named = ((arm.name, text),)
            elif arm.accepts(text):
                return ()
        return named


def whole(text: str) -> int | None:
    """Return the whole number that a text spells, None if it is no number or has more than 64 characters."""
    # Python takes more: underscores between digits, and digits of other scripts.
    if len(text) > _MOST_CHARACTERS or not text.isascii() or "_" in text:
        return None
    try:
        return int(text)
    except ValueError:
        return None


def texts(value: object, many: bool) -> list[str] | None:
    """Return the texts that the models see in a JSON value; None for an object, or a list where one value is due.

    Between two commas, and before or after one, nothing may stand (sonic-buildimage src/sonic-yang-mgmt
    sonic_yang_ext.py @086b03b, tried).
    """
    if isinstance(value, dict):
        return None
    if isinstance(value, list):
        return [str(item) for item in value] if many else None
    return [item for text in str(value).split(",") if (item := text.strip())] if many else [str(value)]


@lru_cache(maxsize=1024)
def parsed(line: str, patterns: PatternTable) -> ValueType:
    """Return the type of values that a line of the schema (``uint32 100..5000``) means."""
    bare = line.removeprefix("list of ")
    return ValueType(tuple(_arm(arm.split(), patterns) for arm in bare.split(" | ")), bare != line)


class PatternTable:
    """The named patterns of a schema: one object a schema, so that parsed types are kept by its identity."""

    def __init__(self, patterns: Mapping[str, Mapping[str, str]]) -> None:
        self.patterns = patterns


def _arm(words: list[str], patterns: PatternTable) -> Alternative:
    kind, *rest = words
    if kind == "enum":
        return Alternative("enum", words=tuple(rest), means=_choice(rest))
    if kind == "ref":
        return Alternative("ref", name=rest[0], means=f"the name of a row of {rest[0]}")
    if kind == "text":
        low, high = _bounds(rest[0]) if rest else (0, 1 << 30)
        return Alternative("text", low, high, means=f"{low} to {high} characters" if rest else "text")
    if "int" in kind:
        low, high = _bounds(rest[0]) if rest else _width(kind)
        return Alternative("number", low, high, means=_range(low, high))
    return Alternative(
        "pattern", name=patterns.patterns[kind]["pattern"], means=patterns.patterns[kind]["means"]
    )


def _bounds(text: str) -> tuple[int, int]:
    low, _, high = text.partition("..")
    return int(low), int(high)


def _width(kind: str) -> tuple[int, int]:
    bits = int(kind.lstrip("uint"))
    return (0, 2**bits - 1) if kind.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _range(low: int, high: int) -> str:
    if high == _LARGEST:
        return f"a whole number of {low} or more"
    return f"a whole number from {low:,} to {high:,}"


def _choice(words: list[str]) -> str:
    if len(words) > _MOST_WORDS:
        return f"one of {len(words)} words such as {', '.join(words[:4])}"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


Check = tuple[Any, ...]
"""A constraint: the name of a function of :mod:`lossless.formats.sonic.validate.checks`, and its arguments."""

_KEYED_CHECKS = frozenset({"local_port", "tacacs_passkey", "telemetry_objects", "telemetry_counters"})


class OtherReleases(NamedTuple):
    """Releases that have another type of a field, None if they lack it; for a table or row those that have it."""

    releases: tuple[str, ...]
    type: ValueType | None
    source: str


class SchemaField(NamedTuple):
    """One field: its type in the given release (None: that release does not define the field), and in others."""

    type: ValueType | None
    required: bool
    otherwise: OtherReleases | None


class RowSchema(NamedTuple):
    """The schema of rows of one kind: the types of the parts of their key, and their fields or entries."""

    key: tuple[ValueType, ...]
    fields: Mapping[str, SchemaField]
    entries: tuple[ValueType, ValueType] | None
    required: tuple[str, ...]
    checks: tuple[Check, ...]
    open: bool
    when: tuple[str, str, str] | None

    @property
    def keyed(self) -> bool:
        """Whether a check of the row depends on its key, or on any table (``_KEYED_CHECKS``)."""
        return any(check[0] in _KEYED_CHECKS for check in self.checks)


class TableSchema(NamedTuple):
    """The schema of one table: rows of fixed names, and rows by the number of parts of their key.

    ``otherwise`` is None unless the release is known to lack the table; ``older_rows`` are fixed rows that it lacks.
    """

    rows: Mapping[str, RowSchema]
    lists: tuple[RowSchema, ...]
    otherwise: OtherReleases | None
    older_rows: Mapping[str, OtherReleases]


class Schema:
    """The CONFIG_DB schema of SONiC's models as ``profiles/sonic/schema.json`` has it."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data
        self.releases: tuple[str, ...] = tuple(data["releases"])
        self.tables: Mapping[str, Mapping[str, Any]] = data["tables"]
        self.others: frozenset[str] = frozenset(data["other_tables"])
        self.sources: Mapping[str, str] = data["sources"]
        self.patterns = PatternTable(data["types"])

    def release(self, version: object) -> str | None:
        """Return the known release of a database version such as ``version_202411_01``, None where unknown."""
        parts = str(version).split("_")
        release = parts[1] if len(parts) > 1 else ""
        return release if release in self.releases else None

    def type(self, line: str) -> ValueType:
        """Return the type of values that a line of the schema (``uint32 100..5000``) means."""
        return parsed(line, self.patterns)


@cache
def schema() -> Schema:
    """Return the CONFIG_DB schema of SONiC's models.

    Raises:
        LosslessError: the installation has no profiles.
        OSError: it lacks this file.
    """
    import json

    # Plain strings: pathlib costs a linter's start a third of an interpreter's.
    path = os.path.join(data_dir("profiles"), "sonic", "schema.json")  # noqa: PTH118
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        return Schema(json.load(file))


@cache
def table_schema(table: str, release: str | None) -> TableSchema | None:
    """Return the schema of a table for a release, None where the schema does not describe the table."""
    own = schema()
    entry = own.tables.get(table)
    if entry is None:
        return None
    rows = {name: _row_schema(own, data, release) for name, data in entry.get("rows", {}).items()}
    for group in entry.get("groups", ()):
        rows |= dict.fromkeys(group["names"], _row_schema(own, group, release))
    lists = tuple(_row_schema(own, data, release) for data in entry.get("lists", ()))
    older = {
        name: other_releases
        for name, data in entry.get("older_rows", {}).items()
        if (other_releases := _unknown_to(own, data, release))
    }
    return TableSchema(rows, lists, _unknown_to(own, own.data["older_tables"].get(table), release), older)


def nearest_name(name: str, names: Iterable[str]) -> str | None:
    """Return the name that is most similar to a text, None if none resembles it."""
    from lossless.ground.basics.units import nearest

    return nearest(name, names)


def _unknown_to(own: Schema, older: Mapping[str, Any] | None, release: str | None) -> OtherReleases | None:
    """Return the releases that define a table or row that the given release lacks, None if it has it, or may."""
    if older is None or release not in older["releases"]:
        return None
    return OtherReleases(_but(own, older["releases"]), None, own.sources[older["source"]])


def _row_schema(own: Schema, data: Mapping[str, Any], release: str | None) -> RowSchema:
    entries = data.get("entries")
    fields = {name: _field(own, value, release) for name, value in data.get("fields", {}).items()}
    checks = [tuple(check) for check in data.get("checks", ())]
    for resource in (*data.get("resources", ()), *data.get("dpu_resources", ())):
        fields |= _thresholds(own, resource)
        checks.append(("thresholds", resource))
    checks += [("dpu_only", f"{resource}_") for resource in data.get("dpu_resources", ())]
    checks += [
        ("missing_unless", name, value["unless"])
        for name, value in data.get("fields", {}).items()
        if isinstance(value, dict) and "unless" in value
    ]
    unless = {check[1] for check in checks if check[0] == "missing_unless"}
    return RowSchema(
        key=tuple(own.type(line) for line in data.get("key", ())),
        fields=fields,
        entries=(own.type(entries[0]), own.type(entries[1])) if entries else None,
        required=tuple(name for name, field in fields.items() if field.required and name not in unless),
        checks=tuple(checks),
        open=data.get("open", False),
        when=tuple(data["when"]) if "when" in data else None,
    )


def _thresholds(own: Schema, resource: str) -> dict[str, SchemaField]:
    word = SchemaField(own.type("enum percentage used free PERCENTAGE USED FREE"), False, None)
    number = SchemaField(own.type("uint16"), False, None)
    return {
        f"{resource}_threshold_type": word,
        f"{resource}_high_threshold": number,
        f"{resource}_low_threshold": number,
    }


def _field(own: Schema, value: str | Mapping[str, Any], release: str | None) -> SchemaField:
    data: Mapping[str, Any] = {"type": value} if isinstance(value, str) else value
    newest, older = own.type(data["type"]), data.get("older")
    required = data.get("required", False)
    if older is None:
        return SchemaField(newest, required, None)
    before = own.type(older["type"]) if older["type"] else None
    source = own.sources[older["source"]]
    if release in older["releases"]:
        return SchemaField(before, required, OtherReleases(_but(own, older["releases"]), newest, source))
    return SchemaField(newest, required, OtherReleases(tuple(older["releases"]), before, source))


def _but(own: Schema, releases: list[str]) -> tuple[str, ...]:
    return tuple(release for release in own.releases if release not in releases)
