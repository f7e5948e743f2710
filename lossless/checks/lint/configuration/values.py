"""Kinds of values in a configuration: what is accepted, the message for anything else, and each as JSON Schema."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lossless.checks.rules.registry import RULES
from lossless.checks.rules.selectors import EVERY, codes_of, families, unknown
from lossless.ground.basics.limits import GLOB_CHARACTERS
from lossless.ground.basics.nearest import nearest
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.qos import DSCPS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lossless.ground.basics.findings import Path

    Faults = Iterator[tuple[Path, str]]
    """What is wrong with a value, each with the path to it below the value."""

_DATE = re.compile(r"\d{4}-\d\d-\d\d")


class ValueKind(NamedTuple):
    """A kind of value. ``faults`` yields the errors of a value, ``schema`` is its JSON Schema for editors."""

    faults: Callable[[Any], Faults]
    schema: Callable[[], dict[str, Any]]


def iso_date(value: object) -> str | None:
    """Return a date as 2026-12-31, from a date of TOML or a text; None where it is none."""
    from datetime import date, datetime

    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    if not (isinstance(value, str) and _DATE.fullmatch(value)):
        return None
    try:
        return date.fromisoformat(value).isoformat()
    except ValueError:
        return None


def texts(value: object) -> tuple[str, ...]:
    """Return a text, or a list of them, as a tuple."""
    items = value if isinstance(value, list) else [value]
    return tuple(item for item in items if isinstance(item, str))


def one_of(words: Sequence[str]) -> ValueKind:
    """Return the kind of a value that is one of a few words."""

    def faults(value: object) -> Faults:
        if value not in words:
            yield (), f"{shown(value)} is none of {', '.join(words)}{_near(value, words)}"

    return ValueKind(faults, lambda: {"enum": list(words)})


def shown(value: object) -> str:
    """Return a value as people write it in TOML, the beginning of a long one."""
    text = repr(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _near(value: object, words: Sequence[str]) -> str:
    near = nearest(value, words) if isinstance(value, str) else None
    return f"; did you mean {near}?" if near else ""


def _text(value: object) -> Faults:
    if not isinstance(value, str) or not value.strip():
        yield (), f"{shown(value)} is no text; expected one that says something, in quotes"


def _pattern(value: object) -> Faults:
    yield from _text(value)
    if isinstance(value, str) and len(value) > GLOB_CHARACTERS:
        yield (), f"a pattern of {len(value):,} characters; the most is {GLOB_CHARACTERS:,}"


def _patterns(value: object) -> Faults:
    if not isinstance(value, list):
        yield from _pattern(value)
        return
    if not value:
        yield (), "an empty list stands for nothing; leave the key out"
    for number, item in enumerate(value):
        for path, message in _pattern(item):
            yield (number, *path), message


def _selectors(value: object) -> Faults:
    if not isinstance(value, list) or not value:
        yield (), f'{shown(value)} is no list of rules; expected one such as ["WD001", "ECN"]'
        return
    for number, item in enumerate(value):
        if not isinstance(item, str):
            yield (number,), f"{shown(item)} is no rule; expected a code, a name or a family, in quotes"
        elif not codes_of(item):
            yield (number,), unknown(item)


def _date(value: object) -> Faults:
    if iso_date(value) is None:
        yield (), f"{shown(value)} is no date; expected one such as 2026-12-31"


def _dscps(value: object) -> Faults:
    if not isinstance(value, list) or not value:
        yield (), f"{shown(value)} is no list of DSCPs; expected one such as [26]"
        return
    for number, item in enumerate(value):
        if isinstance(item, bool) or not isinstance(item, int) or item not in DSCPS:
            yield (number,), f"{shown(item)} is not a DSCP; expected a number from 0 to 63"


def _boolean(value: object) -> Faults:
    if not isinstance(value, bool):
        yield (), f"{shown(value)} is neither true nor false"


def _selector_schema() -> dict[str, Any]:

    words = [*RULES, *(row.name for row in RULES.values()), *families(), EVERY]
    prefix = f"^({'|'.join(families())})[0-9]*$"
    item = {"anyOf": [{"enum": words}, {"type": "string", "pattern": prefix}]}
    return {"type": "array", "items": item, "minItems": 1}


def _patterns_schema() -> dict[str, Any]:
    text = _text_schema() | {"maxLength": GLOB_CHARACTERS}
    return {"anyOf": [text, {"type": "array", "items": text, "minItems": 1}]}


def _text_schema() -> dict[str, Any]:
    return {"type": "string", "pattern": r"\S"}


def _dscps_schema() -> dict[str, Any]:
    item = {"type": "integer", "minimum": DSCPS[0], "maximum": DSCPS[-1]}
    return {"type": "array", "items": item, "minItems": 1}


BOOLEAN = ValueKind(_boolean, lambda: {"type": "boolean"})
TEXT = ValueKind(_text, _text_schema)
PATTERNS = ValueKind(_patterns, _patterns_schema)
SELECTORS = ValueKind(_selectors, _selector_schema)
NAMED_DSCPS = ValueKind(_dscps, _dscps_schema)
DATE = ValueKind(_date, lambda: {"type": "string", "format": "date", "pattern": f"^{_DATE.pattern}$"})
