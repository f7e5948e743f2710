"""One CONFIG_DB row against SONiC's YANG models: key and fields, rows that it refers to, constraints between them.

Constraints between fields and rows (``must`` and ``when``) are small named functions. Each gets a row as texts and
its context from elsewhere, and yields the invalid field with the reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.formats.sonic.validate.schema import ValueType, nearest_name, texts, whole
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import joined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lossless.formats.sonic.validate.schema import OtherReleases, Reference, RowSchema, SchemaField


if TYPE_CHECKING:
    Row = Mapping[str, str]
    Data = Mapping[str, object]

POLL = "POLL_INTERVAL"
"""The field of PFC_WD|GLOBAL that timers of all its rows are held against."""

_CHASSIS_TYPES = frozenset({"voq", "chassis-packet", "fabric"})
_CHASSIS_HWSKUS = frozenset({"msft_four_asic_vs", "msft_multi_asic_vs"})


class RowContext(NamedTuple):
    """The facts from other rows of a CONFIG_DB on which constraints of a row depend, and the release.

    ``lanes_wanted`` is False on supervisors of a chassis, whose ports are on their line cards. ``poll`` is the
    watchdog's polling interval, empty if its row ``GLOBAL`` has none, None if there is no such row or its value cannot
    be read. A ``fragment`` has neither ports nor the HWSKU of a device; it may state the buffer model that its rows are
    for. ``metadata_elsewhere``: there is neither DEVICE_METADATA nor PORT.
    """

    release: str | None
    switch_type: str | None
    buffer_model: str | None
    lanes_wanted: bool
    poll: str | None
    mgmt_vrf: str | None
    fragment: bool
    metadata_elsewhere: bool


class ConstraintViolation(NamedTuple):
    """A constraint that a row breaks: the field to blame, empty for the whole row, and why."""

    field: str
    message: str
    kind: str = "constraint"


def context_of(data: Data, release: str | None) -> RowContext:
    """Return the facts of a CONFIG_DB on which constraints of its rows depend."""
    own = _row(data, "DEVICE_METADATA", "localhost")
    poll = None
    if "GLOBAL" in _table(data, "PFC_WD"):
        poll = _text(_row(data, "PFC_WD", "GLOBAL"), POLL) or ""
        # Where it cannot be read its type is blamed, not every timer of the file.
        poll = poll if not poll or whole(poll) is not None else None
    return RowContext(
        release,
        _text(own, "switch_type"),
        _text(own, "buffer_model"),
        not _is_supervisor(own),
        poll,
        _text(_row(data, "MGMT_VRF_CONFIG", "vrf_global"), "mgmtVrfEnabled"),
        "PORT" not in data and "hwsku" not in own,
        "PORT" not in data and "DEVICE_METADATA" not in data,
    )


def _is_supervisor(own: Mapping[str, object]) -> bool:
    kinds = (_text(own, "switch_type") in _CHASSIS_TYPES, _text(own, "hwsku") in _CHASSIS_HWSKUS)
    return any(kinds) and not _text(own, "asic_name")


def _table(data: Data, name: str) -> Mapping[str, object]:
    rows = data.get(name)
    return rows if isinstance(rows, dict) else {}


def _row(data: Data, table: str, key: str) -> Mapping[str, object]:
    row = _table(data, table).get(key)
    return row if isinstance(row, dict) else {}


def _text(row: Mapping[str, object], field: str) -> str | None:
    return str(row[field]) if field in row else None


def _numbers(row: Row, *names: str) -> list[int] | None:
    """Return fields as numbers, 0 if absent; None if one cannot be read: its type is blamed, not the constraint."""
    numbers = [whole(row.get(name, "0")) for name in names]
    return None if None in numbers else [number for number in numbers if number is not None]


def _needs_positive(row: Row, _: RowContext, name: str, other: str) -> Iterator[ConstraintViolation]:
    numbers = _numbers(row, other)
    if name in row and numbers is not None and numbers[0] <= 0:
        yield ConstraintViolation(name, f"{name} is accepted only beside {other} above 0")


def _needs(row: Row, _: RowContext, name: str, other: str) -> Iterator[ConstraintViolation]:
    if name in row and other not in row:
        yield ConstraintViolation(name, f"{name} is accepted only beside {other}")


def _not_below(row: Row, _: RowContext, name: str, other: str) -> Iterator[ConstraintViolation]:
    numbers = _numbers(row, name, other)
    if name in row and other in row and numbers is not None and numbers[0] < numbers[1]:
        yield ConstraintViolation(name, f"{name} {row[name]} is below {other} {row[other]}")


def _not_below_poll(row: Row, context: RowContext, *names: str) -> Iterator[ConstraintViolation]:
    times = {name: time for name in names if (time := whole(row.get(name, ""))) is not None}
    if context.poll is None or not times:
        return
    poll = whole(context.poll)
    if poll is None:
        yield ConstraintViolation(
            next(iter(times)), "timers are accepted only beside a POLL_INTERVAL in PFC_WD|GLOBAL"
        )
        return
    below = {name: f"{name} {_shown(row[name], time)}" for name, time in times.items() if time < poll}
    if below:
        verb = "are" if len(below) > 1 else "is"
        yield ConstraintViolation(
            next(iter(below)), f"{' and '.join(below.values())} {verb} below {POLL} {poll} ms"
        )


def _shown(text: str, time_ms: int) -> str:
    """Return a timer as messages show it: ``200 ms``, or with its spelling, which orchagent may read otherwise."""
    return f"{time_ms} ms" if text == str(time_ms) else f"{text!r}, {time_ms} ms to the models,"


def _not_with(row: Row, _: RowContext, name: str, other: str) -> Iterator[ConstraintViolation]:
    if name in row and other in row:
        yield ConstraintViolation(name, f"{name} is not accepted beside {other}")


def _needs_metadata(
    row: Row, context: RowContext, name: str, field: str, value: str
) -> Iterator[ConstraintViolation]:
    actual = getattr(context, field)
    if name in row and actual != value and not context.metadata_elsewhere:
        has = f"is {actual}" if actual else "is absent"
        yield ConstraintViolation(
            name, f"{name} is accepted only with {field} {value}, and DEVICE_METADATA's {has}"
        )


def _refused_with(
    row: Row, _: RowContext, name: str, value: str, other: str, no: str
) -> Iterator[ConstraintViolation]:
    if row.get(name) == value and row.get(other) == no:
        yield ConstraintViolation(name, f"{name} {value} is not accepted beside {other} {no}")


def _needs_mgmt_vrf(
    row: Row, context: RowContext, name: str, value: str, *_: str
) -> Iterator[ConstraintViolation]:
    if row.get(name) == value and context.mgmt_vrf != "true":
        yield ConstraintViolation(
            name, f"{name} {value} is accepted only with MGMT_VRF_CONFIG|vrf_global|mgmtVrfEnabled true"
        )


def _alone(row: Row, _: RowContext, name: str, word: str) -> Iterator[ConstraintViolation]:
    items = row.get(name, "").split(",")
    if word in items and len(items) > 1:
        yield ConstraintViolation(name, f"{name} holds {word} beside other values")


def _missing_unless(row: Row, context: RowContext, name: str, _: str) -> Iterator[ConstraintViolation]:
    if name not in row and context.lanes_wanted:
        yield ConstraintViolation("", f"{name} is missing", "missing")


def _thresholds(row: Row, _: RowContext, resource: str) -> Iterator[ConstraintViolation]:
    kind, high, low = (f"{resource}_{end}" for end in ("threshold_type", "high_threshold", "low_threshold"))
    numbers = _numbers(row, high, low)
    if numbers is None:
        return
    if high in row and (low not in row or numbers[0] <= numbers[1]):
        yield ConstraintViolation(high, f"{high} {row[high]} is not above {low} {row.get(low, 'absent')}")
    if row.get(kind, "").lower() == "percentage" and not (high in row and low in row and max(numbers) < 100):
        yield ConstraintViolation(kind, f"{kind} {row[kind]} is accepted only with both thresholds below 100")


def _dpu_only(row: Row, context: RowContext, prefix: str) -> Iterator[ConstraintViolation]:
    if context.switch_type != "dpu":
        named = (f"{prefix}{end}" for end in ("threshold_type", "high_threshold", "low_threshold"))
        yield from (
            ConstraintViolation(name, f"{name} is accepted only on a DPU") for name in named if name in row
        )


CHECKS: dict[str, Callable[..., Iterator[ConstraintViolation]]] = {
    "needs_positive": _needs_positive,
    "needs": _needs,
    "not_below": _not_below,
    "not_below_poll": _not_below_poll,
    "not_with": _not_with,
    "needs_metadata": _needs_metadata,
    "refused_with": _refused_with,
    "needs_row_field": _needs_mgmt_vrf,
    "alone": _alone,
    "missing_unless": _missing_unless,
    "thresholds": _thresholds,
    "dpu_only": _dpu_only,
}
"""The functions of constraints within a row, and between a row and the facts of :class:`RowContext`, by name."""


def _local_port(parts: Sequence[str], _: Row, __: RowContext, data: Data) -> Iterator[ConstraintViolation]:
    own = _row(data, "DEVICE_METADATA", "localhost")
    here = (_text(own, "hostname"), _text(own, "asic_name"))
    if (parts[0], parts[1]) == here and parts[2] not in _table(data, "PORT"):
        yield ConstraintViolation("", parts[2], "reference")


def _telemetry_objects(
    parts: Sequence[str], row: Row, _: RowContext, data: Data
) -> Iterator[ConstraintViolation]:
    tables = {"PORT": "PORT", "BUFFER_POOL": "BUFFER_POOL"}
    keyed = {"INGRESS_PRIORITY_GROUP": "BUFFER_PG", "QUEUE": "BUFFER_QUEUE"}
    for name in row["object_names"].split(",") if "object_names" in row else ():
        if parts[1] in tables:
            known = name in _table(data, tables[parts[1]])
        else:
            port, _bar, number = name.partition("|")
            ports = {key.split("|")[0] for key in _table(data, keyed[parts[1]])}
            known = port in ports and number.isascii() and number.isdecimal()
        if not known:
            table = tables.get(parts[1]) or keyed[parts[1]]
            yield ConstraintViolation("object_names", f"{name!r} is not an object of {table}")


def _telemetry_counters(
    parts: Sequence[str], row: Row, _: RowContext, __: Data, counters: Mapping[str, str]
) -> Iterator[ConstraintViolation]:
    allowed = counters[parts[1]].split()
    for name in row["object_counters"].split(",") if "object_counters" in row else ():
        if name not in allowed:
            yield ConstraintViolation("object_counters", f"{name!r} is not a counter of the group {parts[1]}")


def _tacacs_passkey(
    parts: Sequence[str], row: Row, _: RowContext, data: Data
) -> Iterator[ConstraintViolation]:
    """Yield a violation if users log in by TACACS+ and no passkey is configured.

    Source: sonic-buildimage src/sonic-yang-models/yang-models/sonic-system-aaa.yang @086b03b."""
    login = row.get("login", "")
    if (
        parts[0] == "authentication"
        and "tacacs+" in login
        and "passkey" not in _row(data, "TACPLUS", "global")
    ):
        yield ConstraintViolation("login", f"login {login} is accepted only beside TACPLUS|global|passkey")


KEYED_CHECKS: dict[str, Callable[..., Iterator[ConstraintViolation]]] = {
    "local_port": _local_port,
    "tacacs_passkey": _tacacs_passkey,
    "telemetry_objects": _telemetry_objects,
    "telemetry_counters": _telemetry_counters,
}
"""The functions of constraints that depend on the key of a row, or on any table, by name."""


_MOST_SHOWN = 60
_MOST_WORDS = 4
Kind = Literal["field", "value", "reference", "constraint", "missing", "key", "release"]


class RowFlaw(NamedTuple):
    """A violation of SONiC's YANG models in a row: the field to blame, if one is, and the message without the row.

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
    """The violations in the fields of a row, and each row that a field refers to, with that field."""

    flaws: tuple[RowFlaw, ...]
    references: tuple[tuple[str, Reference], ...]


def check_fields(shape: RowSchema, fields: Mapping[object, object], context: RowContext) -> RowResult:
    """Return the violations in the fields of a row, independent of its key, and the rows that fields refer to."""
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
    """Return a value in quotes for a message, a long one shortened."""
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
    """Return the violation that a table or row is unknown to the release of the device."""
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
    """Yield the broken constraints of a row, one a field at most, none on a field that is refused itself."""
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
