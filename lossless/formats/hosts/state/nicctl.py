"""Reads ``nicctl show ... -j`` of AMD Pensando NICs: cards, their LIFs, ports and queue pairs.

Some versions print two LIFs as one object with the key ``spec`` twice: then each ``spec`` begins another element.
Numbers are texts, rates have a unit (``3.83 Mpps``), and a list without entries is an empty text. Forms read from
ROCm/device-metrics-exporter docker/mockdata/nic @afd0fe8.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lossless.formats.hosts.state.ethtool import counter_name
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.records import UNKNOWN, Unknown
from lossless.ground.documents.json.document import load_json
from lossless.ground.documents.printed_lines import json_of, measured, value_of
from lossless.model.fabric.state import StateReading

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.printed_lines import PrintedSection
    from lossless.model.fabric.state import CountedSince, Identity, StateItems

_SIGN = re.compile(r'\s*\{\s*"nic"\s*:\s*[\["]')
_KINDS = {"nic": "nic", "lif": "device", "port": "port", "queue_pair": "qp"}
_RATE = re.compile(r"([0-9.]{1,40}) ?([KMGT]?)(pps|bps)")
_SCALE = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


class JsonPairs(tuple[tuple[str, Any], ...]):
    """An object of JSON as its pairs, so that a key may occur twice."""

    __slots__ = ()


def is_form(section: PrintedSection) -> bool:
    """Return whether a text is JSON that begins with the key ``nic``, the list of cards."""
    return bool(_SIGN.match(section.head))


def read(section: PrintedSection) -> StateItems:
    """Yield the numbers and words of each card, LIF, port and queue pair."""
    data = json_of(section, pairs=JsonPairs)
    if isinstance(data, Problem):
        yield data
    elif isinstance(data, JsonPairs):
        yield from _repeats(section)
        yield from _object(section, data, (), "", ())


def _repeats(section: PrintedSection) -> StateItems:
    """Yield a problem where the key ``spec`` occurs twice in one object, and those of invalid JSON."""
    try:
        document = load_json(section.text, section.file)
    except InputError as error:
        yield from error.problems
        return
    for repeat in document.duplicates:
        if repeat.path[-1] == "spec":
            line = section.lines[0].number + repeat.line - 1
            yield Problem(
                section.file, line, repeat.column, "two elements in one object: the key spec stands twice"
            )


def _object(section: PrintedSection, pairs: JsonPairs, above: Identity, kind: str, path: Path) -> StateItems:
    """Yield the readings of a JSON object of a card, LIF, port or queue pair, identified by its name or id."""
    for part in _elements(pairs):
        identity = (*above, (kind, _named(part))) if kind else above
        for key, value in part:
            yield from _entry(section, key, value, identity, (*path, key))


def _elements(pairs: JsonPairs) -> list[JsonPairs]:
    """Return the elements of a JSON object: one for each key ``spec`` if there are several, else the object itself."""
    starts = [index for index, (key, _) in enumerate(pairs) if key == "spec"]
    if len(starts) < 2:
        return [pairs]
    ends = [*starts[1:], len(pairs)]
    begins = [0, *starts[1:]]
    return [JsonPairs(pairs[begin:end]) for begin, end in zip(begins, ends, strict=True)]


def _named(pairs: JsonPairs) -> str:
    """Return the name of a card, LIF, port or queue pair: that of its status, else its id, else empty."""
    ids = {"": dict(pairs)} | {key: dict(value) for key, value in pairs if isinstance(value, JsonPairs)}
    name = ids.get("status", {}).get("name") or ids.get("spec", {}).get("id") or ids[""].get("id")
    return str(name or "")


def _entry(section: PrintedSection, key: str, value: Any, identity: Identity, path: Path) -> StateItems:
    if isinstance(value, JsonPairs):
        yield from _object(section, value, identity, "", path)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, JsonPairs):
                yield from _object(section, item, identity, _KINDS.get(key, key), (*path, index))
    elif key not in _KINDS:
        yield _reading(key, value, identity, path)


def _reading(key: str, value: Any, identity: Identity, path: Path) -> StateReading:
    is_counter = any(
        isinstance(part, str) and ("statist" in part or part.endswith("_stats")) for part in path[:-1]
    )
    since: CountedSince = "boot" if is_counter else "now"
    rate = _rate(str(value))
    if rate is not None:
        return StateReading(identity, key, rate[0], rate[1], "now", path, key)
    called = counter_name(key)
    qualified = (
        f"{path[-2]}.{key}" if any(part == "queue_pair" for part in path) and len(path) > 2 else called.name
    )
    said = value_of(str(value))
    return StateReading((*identity, *called.part), qualified, said, called.unit, since, path, key)


def _rate(word: str) -> tuple[int | float | Unknown, str] | None:
    match = _RATE.fullmatch(word)
    if match is None:
        return None
    number = measured(match[1])
    scaled = number if number is UNKNOWN else round(number * _SCALE[match[2]])
    return scaled, "packets/s" if match[3] == "pps" else "bits/s"
