"""Texts of a switch, compared with the databases from which they were made."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.records import UNKNOWN
from tools.state_rows import SCALES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.model.fabric.state import StateReading
    from tools.state_rows import ReadFile

    Key = tuple[frozenset[tuple[str, str]], str]

SUMS = {
    "in_packets": ("in_unicast_packets", "in_non_unicast_packets"),
    "out_packets": ("out_unicast_packets", "out_non_unicast_packets"),
}
"""Columns that are sums of counters (sonic-utilities utilities_common/portstat.py @01876d4)."""
_CLEARED = re.compile(r"after (?:`[^`]*|sonic-)?clear|history enabled")
"""What the index says of a text that shows differences since a clear, or settings that a test has changed."""
_PLACES = frozenset({"namespace", "table", "key"})
_FORMATTED = frozenset({"recent_pause_timestamp"})
_TOLERANCE = 0.01
"""What may be lost where a rate or a ratio is printed with three digits."""


def compare_pairs(files: Sequence[ReadFile]) -> dict[str, Any]:
    """Return how many values of texts are the same in their databases, which differ, and what is not compared."""
    agree = 0
    differ: list[dict[str, Any]] = []
    without: Counter[str] = Counter()
    stored_in = cache(partial(_stored, files))
    for file in files:
        folder = (file.entry.get("pair") or {}).get("db")
        if folder and not file.refused:
            for reading, result, values in _results(file, stored_in(folder)):
                if result == "differ":
                    differ.append(_listed(file, reading, values))
                elif result == "agree":
                    agree += 1
                else:
                    without[result] += 1
    return {"agree": agree, "differ": differ, "not_compared": without}


def _listed(file: ReadFile, reading: StateReading, values: Sequence[object]) -> dict[str, Any]:
    what = " ".join(f"{kind} {name}" for kind, name in reading.identity)
    return {
        "file": file.entry["path"],
        "what": f"{what} {reading.name}",
        "text": reading.value,
        "database": [str(value) for value in values],
    }


def _stored(files: Sequence[ReadFile], folder: str) -> dict[Key, list[StateReading]]:
    """Return what the databases of a folder hold, by what it is of."""
    stored: dict[Key, list[StateReading]] = defaultdict(list)
    for file in files:
        if file.entry["path"].startswith(folder) and file.entry["kind"] == "sonic-db":
            for reading in file.readings:
                identity, name = _key(reading)
                stored[identity, name].append(reading)
                # pfcwd prints the number of a queue alone.
                alone = frozenset(pair for pair in identity if pair[0] != "queue_kind")
                if alone != identity:
                    stored[alone, name].append(reading)
    return stored


def _key(reading: StateReading, name: str = "") -> Key:
    identity = frozenset(pair for pair in reading.identity if pair[0] not in _PLACES)
    return identity, name or reading.name


def _results(
    file: ReadFile, stored: dict[Key, list[StateReading]]
) -> Iterator[tuple[StateReading, str, list[object]]]:
    said = f"{file.entry.get('facts')} {file.entry.get('command')}"
    cleared = _CLEARED.search(said) is not None
    for reading in file.readings:
        values = list(_values(reading, stored))
        if reading.value is UNKNOWN or reading.name in _FORMATTED:
            yield reading, "unknown in the text", []
        elif not values:
            yield reading, "not in the databases", []
        elif any(_same(_plain(reading), value) for value in values):
            yield reading, "agree", values
        else:
            yield reading, "since a clear, or changed by the test" if cleared else "differ", values


def _values(reading: StateReading, stored: dict[Key, list[StateReading]]) -> Iterator[object]:
    """Yield what the databases hold of a reading of a text, of the same window."""
    for name in SUMS.get(reading.name, ()):
        if _key(reading, name) not in stored:
            return
    if reading.name in SUMS:
        parts = [_plain(stored[_key(reading, name)][0]) for name in SUMS[reading.name]]
        yield sum(part for part in parts if isinstance(part, int))
        return
    for other in stored.get(_key(reading), ()):
        if "watermark" not in reading.name or other.since == reading.since:
            yield _plain(other)


def _plain(reading: StateReading) -> object:
    """Return a value in microseconds where it is a time."""
    value: object = reading.value
    if reading.unit in SCALES and isinstance(value, int | float):
        return value * SCALES[reading.unit]
    return value


def _same(text: object, stored: object) -> bool:
    if isinstance(text, float) and isinstance(stored, int | float):
        return abs(text - stored) <= _TOLERANCE * max(abs(text), abs(stored))
    return str(text) == str(stored)
