"""One row against its schema: violations of SONiC's models in its key and its fields, and rows it must refer to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.formats.sonic.validate.checks import CHECKS
from lossless.formats.sonic.validate.schema import nearest_name
from lossless.formats.sonic.validate.types import ValueType, texts
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.wording import joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.formats.sonic.validate.checks import RowContext
    from lossless.formats.sonic.validate.schema import OtherReleases, RowSchema, SchemaField
    from lossless.formats.sonic.validate.types import Reference

_MOST_SHOWN = 60
_MOST_WORDS = 4
Kind = Literal["field", "value", "reference", "constraint", "missing", "key", "release"]


class RowFlaw(NamedTuple):
    """A violation in a row: its fields below the row, and the message without the row itself.

    ``reference`` is the row that is named and absent, ``sure`` False if the violation depends on an unknown release.
    """

    kind: Kind
    fields: tuple[str, ...]
    message: str
    note: str = ""
    help: str = ""
    value: str = ""
    reference: Reference | None = None
    sure: bool = True


class RowResult(NamedTuple):
    """The violations in the fields of a row, and each reference with its field."""

    flaws: tuple[RowFlaw, ...]
    references: tuple[tuple[str, Reference], ...]


def check_fields(shape: RowSchema, fields: Mapping[object, object], context: RowContext) -> RowResult:
    """Return the violations in the fields of a row, independent of its key."""
    flaws: list[RowFlaw] = []
    references: list[tuple[str, Reference]] = []
    checked = _entry if shape.entries else _field
    for name, value in fields.items():
        if name != "NULL":
            for item in checked(shape, str(name), value, context.release, fields):
                if isinstance(item, RowFlaw):
                    flaws.append(item)
                else:
                    references.append((str(name), item))
    flaws += _missing(shape, fields)
    flaws += _broken(shape, fields, context, {name for flaw in flaws for name in flaw.fields})
    return RowResult(tuple(flaws), tuple(references))


def check_key(shape: RowSchema, parts: tuple[str, ...]) -> Iterator[RowFlaw | Reference]:
    """Yield the violations in the parts of a key, and the rows that they refer to."""
    for part, kind in zip(parts, shape.key, strict=True):
        named = kind.references(part)
        if named is None:
            yield RowFlaw("key", (), f"{shown(part)} in its key is not {kind.means}", value=part)
        elif named and "," in part:
            yield RowFlaw(
                "key",
                (),
                "the key names several ports at once",
                note="orchagent takes such a key apart; SONiC's models do not",
                help="write one row for each port",
                value=part,
            )
        else:
            yield from named


def _entry(
    shape: RowSchema, name: str, value: object, _: str | None, _fields: Mapping[object, object]
) -> Iterator[RowFlaw | Reference]:
    assert shape.entries is not None
    left, right = shape.entries
    named = left.references(name)
    if named is None:
        yield RowFlaw("value", (name,), f"entry {shown(name)} is not {left.means}", value=name)
    else:
        yield from named
    yield from _value(right, name, value, "")


def _field(
    shape: RowSchema, name: str, value: object, release: str | None, fields: Mapping[object, object]
) -> Iterator[RowFlaw | Reference]:
    field = shape.fields.get(name)
    if field is None:
        if not shape.open:
            yield _unknown(shape, name, fields)
    elif field.type is None:
        yield _of_other(name, None, field, release)
    else:
        results = list(_value(field.type, name, value, f"{name} "))
        refused = any(isinstance(item, RowFlaw) for item in results)
        if refused and _accepted(field.otherwise, name, value):
            yield _of_other(name, value, field, release)
        else:
            yield from results


def _value(kind: ValueType, name: str, value: object, subject: str) -> Iterator[RowFlaw | Reference]:
    """Yield the violations of a value, which messages introduce with ``subject``, or the rows that it refers to."""
    value_texts = texts(value, kind.many)
    if value_texts is None:
        shape = "an object" if isinstance(value, dict) else "a list"
        yield RowFlaw("value", (name,), f"{subject}is {shape}, not {kind.means}")
        return
    for place, text in enumerate(value_texts):
        named = kind.references(text)
        if named is None:
            yield _refused(kind, name, value, subject, text)
        elif text in value_texts[:place]:
            yield RowFlaw("value", (name,), f"{subject}names {shown(text)} twice", value=text)
        else:
            yield from named


def _refused(kind: ValueType, name: str, value: object, subject: str, text: str) -> RowFlaw:
    means = kind.one
    if isinstance(value, bool):
        word = str(value).lower()
        return RowFlaw(
            "value",
            (name,),
            f"{subject}JSON {word} is not {means}",
            help=f'write "{word}" in quotes',
            value=text,
        )
    return RowFlaw(
        "value",
        (name,),
        f"{subject}{shown(text)} is not {means}",
        help=_nearest(text, kind.words),
        value=text,
    )


def shown(text: str) -> str:
    """Return a value in quotes, shortened for a message."""
    return repr(text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}...")


def _nearest(text: str, words: tuple[str, ...]) -> str:
    begin = [word for word in words if text and word.lower().startswith(text.lower())]
    if len(begin) > 1:
        return f"accepted are {joined(map(repr, begin[:_MOST_WORDS]))}"
    nearest = nearest_name(text, words) if words and text else None
    return f"{nearest!r} is the nearest value that is accepted" if nearest else ""


def _unknown(shape: RowSchema, name: str, fields: Mapping[object, object]) -> RowFlaw:
    # A field that the row has beside it is not the one that was meant.
    nearest = nearest_name(name, [known for known in shape.fields if known not in fields])
    return RowFlaw(
        "field",
        (name,),
        f"has no field {name}",
        help=f"did you mean {nearest}?" if nearest else "",
        value=name,
    )


def _accepted(otherwise: OtherReleases | None, name: str, value: object) -> bool:
    if otherwise is None or otherwise.type is None:
        return False
    return not any(isinstance(item, RowFlaw) for item in _value(otherwise.type, name, value, ""))


def _of_other(name: str, value: object, field: SchemaField, release: str | None) -> RowFlaw:
    """Return the violation of a value or field that only releases other than the device's accept."""
    assert field.otherwise is not None
    others = _span(field.otherwise.releases)
    if field.type is None:
        message = f"{name} is unknown to {release}; {others} know it"
    else:
        wants = f"{field.type.means} as {release or 'master'} wants it"
        message = f"{name} {shown(str(value))} is not {wants}; {others} accept it"
    return RowFlaw(
        "release", (name,), message, field.otherwise.source, value=str(value), sure=release is not None
    )


def _span(releases: tuple[str, ...]) -> str:
    if len(releases) == 1:
        return f"the models of {releases[0]}"
    return f"the models of {releases[0]} to {releases[-1]}"


def unknown_to(what: str, otherwise: OtherReleases, release: str | None) -> RowFlaw:
    """Return that a table or row is unknown to the release of the device."""
    message = f"{what} unknown to {release}; {_span(otherwise.releases)} know it"
    return RowFlaw("release", (), message, otherwise.source, sure=release is not None)


def _missing(shape: RowSchema, fields: Mapping[object, object]) -> Iterator[RowFlaw]:
    for name in shape.required:
        kind = shape.fields[name].type
        if name not in fields or (fields[name] == [] and kind is not None and kind.many):
            yield RowFlaw("missing", (), f"{name} is missing", help=_write(name, kind))


def _write(name: str, kind: ValueType | None) -> str:
    return f"write {name}: {kind.means}" if kind else ""


def _broken(
    shape: RowSchema, fields: Mapping[object, object], context: RowContext, blamed: set[str]
) -> Iterator[RowFlaw]:
    """Yield constraints that are broken, one a field at most, and none where the field itself is refused."""
    if not shape.checks:
        return
    row = as_text(fields)
    for name, *rest in shape.checks:
        for broken in CHECKS[name](row, context, *rest) if name in CHECKS else ():
            if broken.kind == "missing" or broken.field not in blamed:
                blamed.add(broken.field)
                where = (broken.field,) if broken.field else ()
                yield RowFlaw("missing" if broken.kind == "missing" else "constraint", where, broken.message)


def as_text(fields: Mapping[object, object]) -> dict[str, str]:
    """Return the fields of a row as texts, lists with commas."""
    return {
        str(name): ",".join(map(str, value)) if isinstance(value, list) else str(value)
        for name, value in fields.items()
    }
