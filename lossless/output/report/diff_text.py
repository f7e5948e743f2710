"""Drift as text and as data: the value of the device beside that of the intent, identical rows in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.foreign_text import visible
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.units import format_bytes
from lossless.ground.basics.wording import joined, listed
from lossless.output.report.columns import cut, wrapped
from lossless.output.report.text_style import PLAIN, TextStyle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lossless.checks.drift.drift import Drift
    from lossless.formats.sonic.changes.json_patch import FieldDifference, RowDifference

_PORTS = "port"
"""In place of a table where a system has none."""
VERSION = 1
"""Of the names in the object: names once shipped stay."""
_MAPS = {
    "DSCP_TO_TC_MAP": ("DSCP", "TC"),
    "MAP_PFC_PRIORITY_TO_QUEUE": ("PFC priority", "queue"),
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": ("PFC priority", "priority group"),
    "TC_TO_PRIORITY_GROUP_MAP": ("TC", "priority group"),
    "TC_TO_QUEUE_MAP": ("TC", "queue"),
}
"""Tables whose fields are numbers that go to others, and what both are."""


def drift_data(rows: Iterable[RowDifference]) -> list[dict[str, str | None]]:
    """Return one object a field that differs; a row without fields is one object whose field is null."""
    return [
        {"table": row.table, "key": row.key, "field": field, "before": before, "after": after}
        for row in rows
        for field, before, after in _triples(row)
    ]


def _triples(row: RowDifference) -> Iterable[tuple[str | None, str | None, str | None]]:
    if row.fields:
        return [(field.field, field.before, field.after) for field in row.fields]
    return [(None, "" if row.kind == "removed" else None, "" if row.kind == "added" else None)]


def drift_lines(rows: Iterable[RowDifference], style: TextStyle = PLAIN) -> list[str]:
    """Return one entry a cause, as many as fit a screen."""
    return cut([wrapped(cause, style) for cause in causes_of(rows)], style)


def causes_of(rows: Iterable[RowDifference]) -> list[str]:
    """Return each cause in words: rows of one table with the same difference share it."""
    keys_of = grouped(((row.table, change), row.key) for row in rows for change in _changes(row))
    return [
        visible(f"{'' if table == _PORTS else f'{table}|'}{listed(keys)}: {change}")
        for (table, change), keys in keys_of.items()
    ]


def _changes(row: RowDifference) -> Iterator[str]:
    """Yield how a row differs; its table and key come before it."""
    if row.kind == "changed":
        yield from _field_changes(row)
        return
    values = ", ".join(
        _value(row, field.field, field.after or field.before or "") for field in row.fields[:3]
    )
    more = f" and {len(row.fields) - 3} more fields" if len(row.fields) > 3 else ""
    what = f" ({values}{more})" if values else ""
    yield f"only on the device{what}" if row.kind == "removed" else f"missing on the device{what}"


def _field_changes(row: RowDifference) -> Iterator[str]:
    if row.table != "CABLE_LENGTH" and row.table not in _MAPS:
        yield from (_change(row, field) for field in row.fields)
        return
    identical = grouped(((field.before, field.after), field.field) for field in row.fields)
    for (before, after), names in identical.items():
        yield _moved(row.table, names, before, after)


def _moved(table: str, names: list[str], before: str | None, after: str | None) -> str:
    """Return the change of a map entry, ``DSCP 26 goes to TC 1; the intent says TC 3``, or of the cables of ports."""
    is_single = len(names) == 1
    if table == "CABLE_LENGTH":
        has = ("has" if is_single else "have") + (f" {before}" if before is not None else " no length")
        return f"{listed(names)} {has}; the intent says {after or 'none'}"
    source, target = _MAPS[table]
    goes = ("goes" if is_single else "go") + (f" to {target} {before}" if before is not None else " nowhere")
    return f"{source} {listed(names)} {goes}; the intent says {f'{target} {after}' if after else 'nowhere'}"


def _change(row: RowDifference, field: FieldDifference) -> str:
    name, words = field.field, _WORDS.get((row.table, field.field))
    what = f"{name} ({words[0]})" if words else name
    if field.before is None:
        return f"{what} is not set; the intent says {_shown(row, name, field.after)}"
    says = "does not set it" if field.after is None else f"says {_shown(row, name, field.after)}"
    return f"{what} is {_shown(row, name, field.before)}; the intent {says}"


def _value(row: RowDifference, field: str, text: str) -> str:
    return f"{field} {_shown(row, field, text)}"


def _shown(row: RowDifference, field: str, text: str | None) -> str:
    words = _WORDS.get((row.table, field))
    digits = (text or "").removeprefix("-")
    if words is None or not digits.isascii() or not digits.isdecimal() or len(digits) > 20:
        return text or "empty"
    return words[1](int(text or "0"))


def _bytes(value: int) -> str:
    return format_bytes(value)


def _ms(value: int) -> str:
    return f"{value} ms"


def _percent(value: int) -> str:
    return f"{value} %"


def _alpha(value: int) -> str:
    """Return an exponent with its alpha."""
    return f"{value} (alpha {2.0**value:g})" if -8 <= value <= 7 else str(value)


_COLOURS: dict[str, tuple[str, Callable[[int], str]]] = {
    "min_threshold": ("Kmin", _bytes),
    "max_threshold": ("Kmax", _bytes),
    "drop_probability": ("Pmax", _percent),
}
_WORDS: dict[tuple[str, str], tuple[str, Callable[[int], str]]] = {
    ("BUFFER_POOL", "size"): ("shared and reserved", _bytes),
    ("BUFFER_POOL", "xoff"): ("shared headroom", _bytes),
    ("BUFFER_PROFILE", "dynamic_th"): ("exponent of alpha", _alpha),
    ("BUFFER_PROFILE", "size"): ("reserved", _bytes),
    ("BUFFER_PROFILE", "static_th"): ("static threshold", _bytes),
    ("BUFFER_PROFILE", "xoff"): ("headroom", _bytes),
    ("BUFFER_PROFILE", "xon"): ("resume below", _bytes),
    ("BUFFER_PROFILE", "xon_offset"): ("resume at most below the pause", _bytes),
    ("PFC_WD", "POLL_INTERVAL"): ("poll", _ms),
    ("PFC_WD", "detection_time"): ("detection", _ms),
    ("PFC_WD", "restoration_time"): ("restoration", _ms),
    **{
        ("WRED_PROFILE", f"{colour}_{field}"): words
        for colour in ("green", "yellow", "red")
        for field, words in _COLOURS.items()
    },
}
"""What fields are called among people, and their unit."""


def not_compared_lines(drifts: Iterable[Drift]) -> list[str]:
    """Return a line for each reason why settings are not compared."""
    by_why = grouped((why, what) for drift in drifts for what, why in drift.not_compared)
    return [f"not compared: {joined([*dict.fromkeys(what)])}: {why}" for why, what in by_why.items()]


def drift_json(drift: Drift) -> str:
    """Return the comparison of one switch as a JSON object."""
    import json

    return json.dumps({"version": VERSION, **device_drift(drift)}, indent=2)


def device_drift(drift: Drift) -> dict[str, Any]:
    """Return the comparison of one switch as data; ``change`` is None if the effort of the update is unknown."""
    change = drift.change
    return {
        "device": drift.device,
        "file": drift.file,
        "intent": drift.intent,
        "drift": drift_data(drift.rows),
        "change": change
        and {
            "how": change.how,
            "ports_down": change.ports_down,
            "why": change.why,
            "harms": change.harms,
        },
        "patch": drift.patch,
        "not_compared": [{"what": what, "why": why} for what, why in drift.not_compared],
        "errors": list(drift.problems),
    }
