"""Converts values of databases to samples. A value other than a number of 64 bits, as ``N/A``, gives no sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.telemetry.exposition.text import number_text
from lossless.ground.documents.printed_values import stored_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.formats.telemetry.exposition.reading_plan import SourceSamples
    from lossless.formats.telemetry.metrics import Source

    Answers = Sequence[Sequence[bytes | None]]
    """The values of each row that was read; None for a field that the row lacks."""

_MOST = 2**64 - 1
"""Counters of SAI have 64 bits (opencomputeproject/SAI inc/saitypes.h @b1e1bd2, sai_stat_value_t)."""
_DIGITS = len(str(_MOST)) - 1
"""A number with up to this many digits fits into 64 bits."""


def lines_of(batch: SourceSamples, answers: Answers) -> Iterator[tuple[bytes, bytes]]:
    """Yield the samples of a batch that have a value: name and labels, and the value as text."""
    source = batch.source
    as_stored = source.times == source.per and not source.words
    for sample in batch.samples:
        start, row, fields = sample
        values = answers[row]
        if as_stored and len(fields) == 1:
            value = values[fields[0][0]]
            # Most values by far, and so without a detour.
            if value is not None and value.isdigit() and len(value) <= _DIGITS:
                yield start, value
                continue
        number = _number(fields, source, values)
        if number is not None:
            yield start, number_text(number).encode()


def _number(fields: Iterable[Sequence[int]], source: Source, values: Sequence[bytes | None]) -> float | None:
    """Return the value of a sample, None if one of its counters has no value."""
    total: float = 0
    for any_of in fields:
        present = (values[field] for field in any_of if values[field] is not None)
        value = number_of(next(present, None), source.words)
        if value is None:
            return None
        total += value
    return total * source.times / source.per


def number_of(stored: bytes | None, words: Sequence[tuple[str, int]] = ()) -> float | None:
    """Return the number in a field, or the number that ``words`` has for its text; None for any other content."""
    if stored is None:
        return None
    text = stored.decode(errors="replace")
    if words:
        return dict(words).get(text)
    value = stored_value(text)
    return value if isinstance(value, int | float) and 0 <= value <= _MOST else None
