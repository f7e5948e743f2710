"""The CONFIG_DB schema of SONiC's models, release by release: ``profiles/sonic/schema.json``, prepared for checks.

The facts are those of the models on master; if an older release is known to differ, the field has the type that this
release accepts and the source that proves it. A device reports its release by ``VERSIONS|DATABASE|VERSION``. If it does
not, a value is a violation only if every known release refuses it.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.validate.types import PatternTable, ValueType, parsed
from lossless.ground.basics.data_files import data_dir
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Check = tuple[Any, ...]
"""A constraint: the name of a function of :mod:`lossless.formats.sonic.validate.checks`, and its arguments."""

_KEYED_CHECKS = frozenset({"local_port", "telemetry_objects", "telemetry_counters"})


class OtherReleases(NamedTuple):
    """The type of a field in other releases: None if they do not define it."""

    releases: tuple[str, ...]
    type: ValueType | None
    source: str


class SchemaField(NamedTuple):
    """One field: its type in the given release (None: that release does not define the field), and in others."""

    type: ValueType | None
    required: bool
    otherwise: OtherReleases | None


class RowSchema(NamedTuple):
    """The schema of rows of one kind: the parts of their key, and their fields or entries."""

    key: tuple[ValueType, ...]
    fields: Mapping[str, SchemaField]
    entries: tuple[ValueType, ValueType] | None
    required: tuple[str, ...]
    checks: tuple[Check, ...]
    open: bool
    when: tuple[str, str, str] | None

    @property
    def keyed(self) -> bool:
        """Whether the valid fields of a row depend on its key."""
        return any(check[0] in _KEYED_CHECKS for check in self.checks)


class TableSchema(NamedTuple):
    """The schema of one table: rows of fixed names, and rows by the number of parts of their key.

    ``otherwise`` is None if the release defines the table; ``older_rows`` are fixed rows that it does not define.
    """

    rows: Mapping[str, RowSchema]
    lists: tuple[RowSchema, ...]
    otherwise: OtherReleases | None
    older_rows: Mapping[str, OtherReleases]


class Schema:
    """The schema as its file has it."""

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
        """Return the type that a line of the schema means."""
        return parsed(line, self.patterns)


@cache
def schema() -> Schema:
    """Return the schema.

    Raises:
        LosslessError: the installation is damaged.
    """
    import json

    # Plain strings: pathlib costs a linter's start a third of an interpreter's.
    path = os.path.join(data_dir("profiles"), "sonic", "schema.json")  # noqa: PTH118
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        return Schema(json.load(file))


@cache
def table_schema(table: str, release: str | None) -> TableSchema | None:
    """Return how a table is checked on a device of a release, None where the schema does not describe the table."""
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
    from lossless.ground.basics.nearest import nearest

    return nearest(name, names)


def _unknown_to(own: Schema, older: Mapping[str, Any] | None, release: str | None) -> OtherReleases | None:
    """Return the releases that define an element that the given release lacks, None if it has it, or may."""
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
