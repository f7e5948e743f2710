"""One row of what a capture is expected to show, compared with what is read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from lossless.formats.sonic.state.databases import SwitchCommand
from lossless.ground.basics.records import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.model.fabric.state import CountedSince, StateCapture, StateReading

NAMES = ("counter", "field", "column", "metric")
ELEMENTS = ("queue", "priority", "pg", "tc", "dscp", "buffer")
SELECTORS = (
    *ELEMENTS,
    *("port", "pool", "profile", "partition", "device", "path", "guid", "lid"),
    *("table", "key", "error", "source", "time", "namespace", "index"),
)
WINDOWS: dict[str, CountedSince] = {
    "user_": "user clear",
    "persistent_": "persistent clear",
    "periodic_": "period",
}
ALIASES = {
    "drop_packets": ("dropped_packets",),
    "drop_bytes": ("dropped_bytes",),
    "pg_dropped_packets": ("dropped_packets",),
    "ecn_marked": ("ecn_marked_packets",),
    "tx_drop": ("pfcwd_tx_drop", "out_discards"),
    "rx_drop": ("pfcwd_rx_drop", "in_discards"),
    "rx_ok": ("pfcwd_rx_ok", "in_packets"),
    "tx_ok": ("pfcwd_tx_ok", "out_packets"),
    "rx_pause": ("pause_rx",),
    "tx_pause": ("pause_tx",),
    "dcbx_mode": ("dcbx",),
    "port_xmit_discard": ("port_xmit_discards",),
    "pfcwd_poll": ("pfcwd_poll_interval",),
    "pfcwd_detection": ("pfcwd_detection_time",),
    "pfcwd_restoration": ("pfcwd_restoration_time",),
}
"""What names of the index are called here; a watchdog's counters have its name before theirs."""
WORDS = {"Firmware controlled": "firmware", "OS controlled": "os"}
"""Values of the index that have a shorter word here."""
SCALES = {"us": 1, "ms": 10**3, "s": 10**6}
_TIMED = re.compile(r"(.+)_(us|ms|s)")
_SIZE = re.compile(r"([0-9.]+)([KMG]?)b")
_SIZES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
_QUEUE = re.compile(r"([A-Z]+)([0-9]+)")


class ReadFile(NamedTuple):
    """A file of the folder: its entry in the index, what is read in it, and why it is refused."""

    entry: dict[str, Any]
    captures: tuple[StateCapture, ...]
    refused: str = ""

    @property
    def readings(self) -> tuple[StateReading, ...]:
        """All that is read; the command of the index says which watermarks are printed, where the text does not."""
        command = SwitchCommand(self.entry.get("command") or "")
        return tuple(
            _completed(reading, command) if "watermark" in reading.name else reading
            for capture in self.captures
            for reading in capture.readings
        )


def _completed(reading: StateReading, command: SwitchCommand) -> StateReading:
    if reading.since == "unknown":
        reading = reading._replace(since=command.window)
    is_open = reading.name in ("pg_watermark_bytes", "pool_watermark_bytes")
    return reading._replace(name=command.watermark) if is_open and command.watermark else reading


class Verdict(NamedTuple):
    """What comes of a row: whether it agrees, differs or is not read; the values read; why it is not."""

    result: str
    values: Sequence[Any] = ()
    reason: str = ""


def evaluated(row: dict[str, Any], readings: Sequence[StateReading]) -> Verdict:
    """Return what comes of one row."""
    chosen = [reading for reading in readings if _selected(row, reading)]
    if "column" in row and not chosen:
        chosen = list(_in_rows_of(row, readings))
    if "count" in row:
        return _counted(row, chosen)
    name = next((row[kind] for kind in NAMES if kind in row), None)
    if name is not None:
        return _compared(str(name), row.get("value"), row, chosen, readings)
    parts = [_compared(key, row[key], row, chosen, readings) for key in row if key not in SELECTORS]
    return next((part for part in parts if part.result != "agree"), Verdict("agree"))


def _selected(row: dict[str, Any], reading: StateReading) -> bool:
    """Return whether a reading is of what a row names."""
    identity = dict(reading.identity)
    return all(_names(key, str(row[key]), identity) for key in SELECTORS if key in row)


def _names(key: str, value: str, identity: dict[str, str]) -> bool:
    if key == "queue" and (match := _QUEUE.fullmatch(value)):
        return identity.get("queue_kind") == match[1] and identity.get("queue") == match[2]
    return identity.get(key, "").lower() == value.lower()


def _in_rows_of(row: dict[str, Any], readings: Sequence[StateReading]) -> Iterator[StateReading]:
    """Yield the readings in the rows of a printed table that begin with what a row of the index calls a port."""
    first = str(row["port"])
    begun = {
        reading.path[:2]
        for reading in readings
        if first in dict(reading.identity).values() or _equal(first, reading.value)
    }
    for reading in readings:
        queue = "queue" not in row or _names("queue", str(row["queue"]), dict(reading.identity))
        if reading.path[:2] in begun and queue:
            yield reading


def _counted(row: dict[str, Any], chosen: list[StateReading]) -> Verdict:
    """Compare the number of rows of a table, or how often something is there."""
    said = [reading.value for reading in chosen if reading.name == "count"]
    if "table" in row:
        said = [len({dict(reading.identity).get("key") for reading in chosen})]
    values = said or [len(chosen)]
    return Verdict("agree" if row["count"] in values else "differ", values)


def _compared(
    name: str,
    expected: object,
    row: dict[str, Any],
    chosen: list[StateReading],
    readings: Sequence[StateReading],
) -> Verdict:
    named, unit, since = _parted(name)
    unit = row.get("unit", unit)
    matches = [reading for reading in chosen if _is_named(reading, name, named)]
    matches = _of_window(_of_element(matches, row), named[0], since)
    values = [_scaled(reading, unit, expected) for reading in matches]
    if expected is None:
        return _unknown(row, chosen, values, readings)
    if not values:
        return Verdict("unread", (), f"no reading of it is called {name}")
    if "column" in row:
        agrees = any(_equal(expected, value) for value in values)
    else:
        agrees = all(_equal(expected, value) for value in values)
    return Verdict("agree" if agrees else "differ", [_shown(value) for value in dict.fromkeys(values)])


def _unknown(
    row: dict[str, Any], chosen: list[StateReading], values: list[object], readings: Sequence[StateReading]
) -> Verdict:
    """Compare with null: the file does not say it, so it is read as unknown or not at all."""
    known = [value for value in values if value is not UNKNOWN and value is not None]
    if known:
        return Verdict("differ", known)
    if row.get("table") and not chosen:
        return Verdict("unread", (), f"there is no row {row['table']}|{row.get('key')}")
    return Verdict("agree") if readings else Verdict("unread", (), "nothing of the file is read")


def _parted(name: str) -> tuple[tuple[str, ...], str, CountedSince | None]:
    """Return the names that a name of the index stands for, its unit and since when it counts."""
    since: CountedSince | None = None
    for prefix, window in WINDOWS.items():
        if name.startswith(prefix) and "watermark" in name:
            name, since = name.removeprefix(prefix), window
    match = _TIMED.fullmatch(name)
    plain, unit = (match[1], match[2]) if match else (name, "")
    return (plain, *ALIASES.get(plain, (f"pfcwd_{plain}",)), name), unit, since


def _is_named(reading: StateReading, name: str, named: tuple[str, ...]) -> bool:
    return reading.heading == name or reading.name in named


def _of_element(matches: list[StateReading], row: dict[str, Any]) -> list[StateReading]:
    """Return the readings of a port itself where there are any, and not those of its queues."""
    more = [kind for kind in ELEMENTS if kind not in row]
    return [
        reading for reading in matches if not any(kind in more for kind, _ in reading.identity)
    ] or matches


def _of_window(matches: list[StateReading], name: str, since: CountedSince | None) -> list[StateReading]:
    """Return the readings of one window; a capture that does not say since when it counts, answers for any."""
    if "watermark" not in name:
        return matches
    wanted = since or "last poll"
    return [reading for reading in matches if reading.since == wanted] or [
        reading for reading in matches if reading.since == "unknown"
    ]


def _scaled(reading: StateReading, unit: str, expected: object) -> object:
    """Return the value of a reading in the unit that is expected."""
    value: object = reading.value
    if unit in SCALES and reading.unit in SCALES and isinstance(value, int | float):
        return value * SCALES[reading.unit] / SCALES[unit]
    match = _SIZE.fullmatch(expected) if isinstance(expected, str) else None
    if match and reading.unit == "bytes" and value == float(match[1]) * _SIZES[match[2]]:
        return expected
    return value


def _equal(expected: object, value: object) -> bool:
    """Return whether two values are the same number, or the same text, with thousands commas or without."""
    if value is UNKNOWN or value is None:
        return str(expected).upper() in ("N/A", "-")
    if isinstance(expected, int | float) and isinstance(value, int | float):
        return expected == value
    texts = WORDS.get(str(expected).strip(), str(expected).strip()), str(value).strip()
    return texts[0] == texts[1] or texts[0].replace(",", "") == texts[1].replace(",", "")


def _shown(value: object) -> object:
    return "unknown" if value is UNKNOWN else value
