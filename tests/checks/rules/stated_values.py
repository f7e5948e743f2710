"""Each value that an example states, taken away or moved: where what a rule says of the example changes.

A number, or the number that a text begins with (``30m``, ``2 x 400G``), is moved up and down to the exact value from
which on the rule says something of another kind: other findings, in other rows, or of another severity.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.errors import InputError
from tests.checks.rules.snippets import Snippet, document_of_data, report_on

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lossless.api import Report

Path = tuple[str | int, ...]
Codes = tuple[str, ...]
_NUMBER = re.compile(r"-?[0-9]+")
_FACTOR, _FACTOR_OF_SHAPES = 64, 2
"""How many times a number is made larger; shapes of so many times the switches would take seconds."""


def has_values(snippet: Snippet) -> bool:
    """Return whether the values of a snippet can be moved, and what is said of it takes no run of traffic."""
    is_own = not snippet.is_facts and snippet.kind not in ("json baseline", "text switch")
    return is_own and snippet.suffix in {".json", ".yaml"} and not snippet.simulate


def moved_values(snippet: Snippet, *codes: str, on_record: str | None = None) -> Iterator[tuple[str, Report]]:
    """Yield each change to a value of a snippet from which on some rules (without codes any) say something else.

    With what is on record, only changes named there are made, and numbers are also moved to the last values before
    those, of which nothing may differ; without, all are searched for.
    """
    data = snippet.document().data
    kind = _kind(_checked(snippet, codes, data), codes)
    for path in _leaves(data if snippet.suffix == ".yaml" else snippet.own().data):
        value = _at(data, path)
        name = "|".join(map(str, path))
        if value is None:
            continue
        for what, other in (("taken away", None), *((str(other), other) for other in _others(value))):
            if on_record is None or f"-- {name} is {what}:" in on_record:
                report = _checked(snippet, codes, _with(data, path, other))
                yield from _differing(f"{name} is {what}", report, codes, kind)
        if (number := _NUMBER.match(str(value))) and not isinstance(value, bool):
            rest = str(value)[number.end() :]

            @cache
            def checked(at: int, path: Path = path, rest: str = rest, value: Any = value) -> Report | None:
                new = at if isinstance(value, int) else f"{at}{rest}"
                return _checked(snippet, codes, _with(data, path, new))

            if on_record is None:
                factor = _FACTOR_OF_SHAPES if path[0] == "topology" else _FACTOR
                points = _turning_points(int(number[0]), factor, lambda at: _kind(checked(at), codes))
            else:
                points = _points_on_record(on_record, name, rest, int(number[0]))
            for at in dict.fromkeys(points):
                yield from _differing(f"{name} is {at}{rest}", checked(at), codes, kind)


def _points_on_record(on_record: str, name: str, rest: str, value: int) -> Iterator[int]:
    """Yield the recorded values of a number, and what comes just before each on the way from the number."""
    for at in re.findall(f"^-- {re.escape(name)} is (-?[0-9]+){re.escape(rest)}:", on_record, re.MULTILINE):
        yield int(at)
        if (before := int(at) + (1 if int(at) < value else -1)) != value:
            yield before


def _differing(name: str, report: Report | None, codes: Codes, kind: object) -> Iterator[tuple[str, Report]]:
    if report and not report.errors and _kind(report, codes) != kind:
        yield name, report


def _turning_points(value: int, factor: int, kind: Callable[[int], object]) -> Iterator[int]:
    """Yield the nearest values below and above from which on something is of another kind."""
    here = kind(value)
    for far in dict.fromkeys((0, value - factor, value // 2, value + factor, value * 2, value * factor)):
        near, beyond = value, far
        if kind(far) == here or kind(far) is None:
            continue
        while abs(beyond - near) > 1:
            middle = (near + beyond) // 2
            near, beyond = (middle, beyond) if kind(middle) == here else (near, middle)
        yield beyond


def _kind(report: Report | None, codes: Codes) -> object:
    """Return what a rule says without its words; None where the network cannot be read."""
    if report is None or report.errors:
        return None
    found = [
        (it.code, it.severity, it.confidence, it.origin.path)
        for it in report.findings
        if not codes or it.code in codes
    ]
    return found, sum(rule.times for rule in report.not_checked if not codes or rule.code in codes)


def _checked(snippet: Snippet, codes: Codes, data: Any) -> Report | None:
    try:
        return report_on(snippet, document_of_data(data, snippet.file), *codes)
    except InputError:
        return None


def _others(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, str) and "," in value:
        return [value.rpartition(",")[0], value.partition(",")[2]]
    return []


def _leaves(data: Any, path: Path = ()) -> Iterator[Path]:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from _leaves(value, (*path, key))


def _at(data: Any, path: Path) -> Any:
    for key in path:
        try:
            data = data[key]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def _with(data: Any, path: Path, value: Any = None) -> Any:
    """Return a copy of data with another value at a path, or without it."""
    if not path:
        return value
    key: Any = path[0]
    copy: Any = dict(data) if isinstance(data, dict) else list(data)
    if len(path) == 1 and value is None:
        del copy[key]
    else:
        copy[key] = _with(copy[key], path[1:], value)
    return copy
