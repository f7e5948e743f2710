"""Conformity of a CONFIG_DB to SONiC's YANG models: the violations of all its rows, not the first one alone.

Upstream stops at its first error, and an unknown field hides all others. Most rows of a file, and most rows of all
files of a fabric, are identical: rows that were found valid are remembered, up to limits, and not checked again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.sonic.validate.checks import (
    KEYED_CHECKS,
    RowContext,
    RowFlaw,
    RowResult,
    as_text,
    check_fields,
    check_key,
    context_of,
    unknown_to,
)
from lossless.formats.sonic.validate.schema import schema, table_schema
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.formats.sonic.validate.schema import Reference, RowSchema, TableSchema

    Rows = Mapping[str, Mapping[object, object]]
    Content = tuple[tuple[object, object], ...]

_MOST_CONTEXTS = 32
_MOST_KEYS = 50_000
_MOST_CONTENTS = 20_000
_TEXT = frozenset({str})


class SchemaViolation(NamedTuple):
    """One violation of SONiC's models, and the path to it in the CONFIG_DB: table, key, fields."""

    path: tuple[str, ...]
    flaw: RowFlaw

    @property
    def table(self) -> str:
        """The table with the violation."""
        return self.path[0]


class ValidationResult(NamedTuple):
    """The violations of SONiC's models, the tables that they do not define, and the context of the checks."""

    problems: tuple[SchemaViolation, ...]
    unknown_tables: tuple[str, ...]
    context: RowContext


class _AcceptedRows:
    """The rows of one table found valid in one context: keys with the row that they refer to, and contents of rows."""

    __slots__ = ("contents", "fixed", "keys", "schema", "shape", "target")

    def __init__(self, table: TableSchema, context: RowContext) -> None:
        self.schema = table
        self.shape = _only(table, context)
        self.target = _target(self.shape)
        self.keys: dict[str, str] = {}
        self.contents: dict[Content, tuple[tuple[str, Reference], ...]] = {}
        self.fixed: dict[str, set[Content]] = {name: set() for name in table.rows}


def _only(table: TableSchema, context: RowContext) -> RowSchema | None:
    """Return the one schema of rows without a fixed name on this device; None without, or if it depends on the key."""
    shapes = [shape for shape in table.lists if _applies(shape, context)]
    return shapes[0] if len(shapes) == 1 and not shapes[0].keyed else None


def _applies(shape: RowSchema, context: RowContext) -> bool:
    if shape.when is None or context.metadata_elsewhere:
        return True
    field, how, value = shape.when
    return (getattr(context, field) == value) is (how == "is")


def _target(shape: RowSchema | None) -> str:
    """Return the one table that the keys of a row schema refer to, empty where they refer to none or to several."""
    named = {arm.name for part in shape.key for arm in part.arms if arm.kind == "ref"} if shape else set()
    return named.pop() if len(named) == 1 else ""


_accepted: dict[RowContext, dict[str, _AcceptedRows | None]] = {}


def validate(data: Mapping[str, object], release: str | None = None) -> ValidationResult:
    """Check a CONFIG_DB against SONiC's models of ``release``, else of the release that it names, else of master."""
    context = context_of(data, release or _release(data))
    tables = _accepted.get(context)
    if tables is None:
        if len(_accepted) >= _MOST_CONTEXTS:
            _accepted.clear()
        tables = _accepted[context] = {}
    problems: list[SchemaViolation] = []
    unknown: list[str] = []
    for name, rows in data.items():
        accepted = tables[name] if name in tables else _remembered(tables, name, context)
        if accepted is None:
            if name not in schema().others:
                unknown.append(name)
        elif isinstance(rows, dict) and not _is_clean(accepted, rows, data):
            problems += _TableValidator(name, accepted, context, data).problems(rows)
    return ValidationResult(tuple(problems), tuple(sorted(unknown)), context)


def _release(data: Mapping[str, object]) -> str | None:
    versions = data.get("VERSIONS")
    row = versions.get("DATABASE") if isinstance(versions, dict) else None
    return schema().release(row.get("VERSION")) if isinstance(row, dict) else None


def _remembered(
    tables: dict[str, _AcceptedRows | None], name: str, context: RowContext
) -> _AcceptedRows | None:
    table = table_schema(name, context.release)
    accepted = None if table is None else _AcceptedRows(table, context)
    if table is not None or len(tables) < _MOST_KEYS:
        tables[name] = accepted
    return accepted


def _is_clean(accepted: _AcceptedRows, rows: Rows, data: Mapping[str, object]) -> bool:
    """Return whether all rows of a table are among the valid rows found before; False if that is uncertain."""
    if accepted.schema.otherwise or (
        accepted.schema.older_rows and accepted.schema.older_rows.keys() & rows.keys()
    ):
        return not rows
    if accepted.fixed:
        named = accepted.fixed.keys() & rows.keys()
        try:
            if not all(tuple(rows[name].items()) in accepted.fixed[name] for name in named):
                return False
        except (TypeError, AttributeError):
            return False
        if len(named) == len(rows):
            return True
        rows = {key: fields for key, fields in rows.items() if key not in named} if named else rows
    return accepted.shape is not None and _all_known(accepted, rows, data)


def _all_known(accepted: _AcceptedRows, rows: Rows, data: Mapping[str, object]) -> bool:
    contents = accepted.contents
    try:
        row_contents: set[Content] = set(map(tuple, map(dict.items, rows.values())))  # type: ignore[arg-type]
    except TypeError:
        return False
    named = set(map(accepted.keys.get, rows))
    if None in named or not contents.keys() >= row_contents:
        return False
    named.discard("")
    if named and not named <= _rows(data, accepted.target).keys():
        return False
    wanted = {reference for content in row_contents for _, reference in contents[content]}
    return all(name in _rows(data, table) for table, name in wanted)


def _rows(data: Mapping[str, object], table: str) -> Mapping[str, object]:
    rows = data.get(table)
    return rows if isinstance(rows, dict) else {}


def _parts(key: str) -> tuple[str, ...]:
    """Return the parts of the key of a row, without the blanks around them, which the models never see.

    Source: sonic-buildimage src/sonic-yang-mgmt/sonic_yang_ext.py @086b03b (``_extractKey``).
    """
    parts = key.split("|")
    return tuple(parts if key.split() == [key] else map(str.strip, parts))


def _named(shape: RowSchema, parts: Sequence[str]) -> str | None:
    """Return the row that the parts of a key refer to, empty if they refer to none; None: a full check is needed."""
    named = ""
    for part, kind in zip(parts, shape.key, strict=True):
        references = kind.references(part)
        if references is None or (references and ("," in part or named)):
            return None
        named = references[0][1] if references else named
    return named


class _TableValidator:
    """Checks the rows of one table one by one, and remembers those that are valid."""

    def __init__(
        self, name: str, accepted: _AcceptedRows, context: RowContext, data: Mapping[str, object]
    ) -> None:
        self.name = name
        self.accepted = accepted
        self.context = context
        self.data = data
        self.named = _rows(data, accepted.target)
        self.checked: dict[Content, RowResult] = {}

    def problems(self, rows: Rows) -> Iterator[SchemaViolation]:
        table = self.accepted.schema
        if table.otherwise and rows:
            yield SchemaViolation((self.name,), unknown_to("is", table.otherwise, self.context.release))
        for key, fields in rows.items():
            if not self._is_known(key, fields) and not self._is_identical(key, fields):
                for flaw in self._row(key, fields):
                    yield SchemaViolation((self.name, key, *flaw.fields), flaw)

    def _is_known(self, key: str, fields: Mapping[object, object]) -> bool:
        """Return whether key and contents of a row were found valid before: one mistake leaves a table mostly valid."""
        named = self.accepted.keys.get(key)
        if named is None or (named and named not in self.named) or not isinstance(fields, dict):
            return False
        try:
            wanted = self.accepted.contents.get(tuple(fields.items()))
        except TypeError:
            return False
        return wanted is not None and all(name in _rows(self.data, table) for _, (table, name) in wanted)

    def _is_identical(self, key: str, fields: Mapping[object, object]) -> bool:
        """Return whether a row under a new key has the contents of a valid row; False for rows with constraints."""
        shape, parts = self.accepted.shape, _parts(key)
        if shape is None or shape.checks or key in self.accepted.fixed or len(parts) != len(shape.key):
            return False
        named = _named(shape, parts)
        if named is None or (named and named not in self.named):
            return False
        if key not in self.accepted.keys and len(self.accepted.keys) < _MOST_KEYS and "|".join(parts) == key:
            self.accepted.keys[key] = named
        return self._is_known(key, fields)

    def _row(self, key: str, fields: Mapping[object, object]) -> Iterator[RowFlaw]:
        older = self.accepted.schema.older_rows.get(key)
        if older:
            yield unknown_to(f"row {key} is", older, self.context.release)
        fixed = self.accepted.schema.rows.get(key)
        parts = _parts(key)
        shape = fixed or self._shape(parts)
        if shape is None:
            yield self._misshapen(key, parts)
        elif not isinstance(fields, dict):
            yield RowFlaw("key", (), f"a {type(fields).__name__} stands where a row of fields is wanted")
        else:
            if not fixed:
                yield from self._key(key, parts, shape)
            yield from self._fields(shape, key if fixed else None, fields)
            yield from self._keyed(shape, parts, fields)

    def _shape(self, parts: tuple[str, ...]) -> RowSchema | None:
        for shape in self.accepted.schema.lists:
            if len(shape.key) == len(parts) and _applies(shape, self.context):
                return shape
        return None

    def _misshapen(self, key: str, parts: tuple[str, ...]) -> RowFlaw:
        table = self.accepted.schema
        if not table.lists:
            return RowFlaw(
                "key", (), f"has no row {key}", help=f"its rows are {', '.join(table.rows)}", value=key
            )
        counts = sorted({len(shape.key) for shape in table.lists if _applies(shape, self.context)})
        wanted = " or ".join(map(str, counts))
        return RowFlaw("key", (), f"the key has {len(parts)} parts where {wanted} are wanted", value=key)

    def _key(self, key: str, parts: tuple[str, ...], shape: RowSchema) -> Iterator[RowFlaw]:
        results = tuple(check_key(shape, parts))
        references = [item for item in results if not isinstance(item, RowFlaw)]
        plain = "|".join(parts)
        if plain != key and plain in _rows(self.data, self.name):
            yield RowFlaw("key", (), f"is {plain} once more: the models see no blanks around keys", value=key)
        elif len(references) == len(results) and shape is self.accepted.shape and plain == key:
            if len(self.accepted.keys) >= _MOST_KEYS:
                self.accepted.keys.clear()
            self.accepted.keys[key] = references[0][1] if references else ""
        yield from (item for item in results if isinstance(item, RowFlaw))
        for reference in references:
            yield from self._absent((), reference, "")

    def _fields(
        self, shape: RowSchema, fixed: str | None, fields: Mapping[object, object]
    ) -> Iterator[RowFlaw]:
        verdict = self._verdict(shape, fixed, fields)
        yield from verdict.flaws
        for field, reference in verdict.references:
            yield from self._absent((field,), reference, "" if shape.entries else field)

    def _verdict(self, shape: RowSchema, fixed: str | None, fields: Mapping[object, object]) -> RowResult:
        # True equals 1 as a key of a map: only rows of texts are remembered.
        if not {*map(type, fields.values())} <= _TEXT or not (fixed or shape is self.accepted.shape):
            return check_fields(shape, fields, self.context)
        content: Content = tuple(fields.items())
        verdict = None if fixed else self.checked.get(content)
        if verdict is None:
            verdict = check_fields(shape, fields, self.context)
            self._remember(content, fixed, verdict)
        return verdict

    def _remember(self, content: Content, fixed: str | None, verdict: RowResult) -> None:
        if fixed is None:
            self.checked[content] = verdict
        if verdict.flaws:
            return
        if fixed is not None and not verdict.references:
            self.accepted.fixed[fixed].add(content)
        elif fixed is None:
            if len(self.accepted.contents) >= _MOST_CONTENTS:
                self.accepted.contents.clear()
            self.accepted.contents[content] = verdict.references

    def _keyed(
        self, shape: RowSchema, parts: tuple[str, ...], fields: Mapping[object, object]
    ) -> Iterator[RowFlaw]:
        for name, *rest in shape.checks:
            if name in KEYED_CHECKS:
                for broken in KEYED_CHECKS[name](parts, as_text(fields), self.context, self.data, *rest):
                    if broken.kind == "reference":
                        yield from self._absent((), ("PORT", broken.message), "")
                    else:
                        yield RowFlaw("constraint", (broken.field,), broken.message)

    def _absent(self, where: tuple[str, ...], reference: Reference, by: str) -> Iterator[RowFlaw]:
        table, name = reference
        rows = _rows(self.data, table)
        if name not in rows and name not in map(str.strip, rows):
            yield RowFlaw("reference", where, by, value=name, reference=reference)
