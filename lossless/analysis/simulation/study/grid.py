"""The thresholds that a sweep varies: their values, the notation of the values, and all settings that they make.

The setting of one trial has thresholds of all ports, thresholds of ports of some kinds, and DCQCN of all senders.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import prod
from operator import index

from lossless.analysis.buffers.ecn_marking import DYNAMIC_TH, LARGEST_THRESHOLD
from lossless.ground.basics.errors import QuantityError, ScenarioError
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import BLANKS, parse_percent, parse_size

MOST_SETTINGS = 100_000
"""The most settings of one sweep: two cores try them in some minutes, and a person can still use the table."""
_MOST_HEADROOM_BYTES = 1 << 40
"""The most headroom of a setting: more than any chip holds, and the sum over all groups still fits 64 bits."""


class ThresholdSetting(NamedTuple):
    """Thresholds of the requested class on all ports, or on those of a kind; None: as configured.

    The last two are of a lossy class: the exponent of its queues' alpha, and whether they trim (1) or drop (0).
    """

    dynamic_th: int | None = None
    kmin_bytes: int | None = None
    kmax_bytes: int | None = None
    pmax_percent: int | None = None
    headroom_bytes: int | None = None
    queue_dynamic_th: int | None = None
    trimming: int | None = None


class Grid(NamedTuple):
    """The values of each varied threshold, none for a threshold that stays as configured.

    ``dynamic_th`` is the exponent of alpha. If any of Kmin, Kmax and Pmax is varied, queues mark, also those whose WRED
    drops as configured. ``headroom_bytes`` is the own headroom of lossless groups after XOFF. Of a lossy class
    ``queue_dynamic_th`` is the exponent of its queues' alpha, and ``trimming`` is 1 where they trim, 0 where they drop.
    """

    dynamic_th: Sequence[int] = ()
    kmin_bytes: Sequence[int] = ()
    kmax_bytes: Sequence[int] = ()
    pmax_percent: Sequence[int] = ()
    headroom_bytes: Sequence[int] = ()
    queue_dynamic_th: Sequence[int] = ()
    trimming: Sequence[int] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The fields of the thresholds that are varied."""
        return tuple(name for name, values in zip(self._fields, self, strict=True) if len(values))

    @property
    def size(self) -> int:
        """The number of settings: the product of the numbers of values."""
        return prod(len(values) or 1 for values in self)


class Knob(NamedTuple):
    """A threshold that can be varied: its name for people, its field, which values it has and how they are written."""

    name: str
    field: str
    values: range
    parse: Callable[[str], int]
    expected: str


def _whole(text: str) -> int:
    if re.fullmatch(r"[+-]?[0-9]{1,6}", text.strip(BLANKS)) is None:
        raise QuantityError(f"{text.strip()!r} is not a whole number")
    return int(text)


def _switched(text: str) -> int:
    if text.strip() not in _SWITCHED:
        raise QuantityError(f"{text.strip()!r} is neither on nor off")
    return _SWITCHED.index(text.strip())


_SWITCHED = ("off", "on")
_THRESHOLDS = range(LARGEST_THRESHOLD + 1)
_THRESHOLD_TEXT = f"a size from 0 B to {LARGEST_THRESHOLD:,} B"
KNOBS = (
    Knob("dynamic_th", "dynamic_th", DYNAMIC_TH, _whole, f"{DYNAMIC_TH[0]} to {DYNAMIC_TH[-1]}"),
    Knob("kmin", "kmin_bytes", _THRESHOLDS, parse_size, _THRESHOLD_TEXT),
    Knob("kmax", "kmax_bytes", _THRESHOLDS, parse_size, _THRESHOLD_TEXT),
    Knob("pmax", "pmax_percent", range(101), parse_percent, "0% to 100%"),
    Knob("headroom", "headroom_bytes", range(_MOST_HEADROOM_BYTES + 1), parse_size, "a size up to 1,024 GiB"),
    Knob(
        "queue_dynamic_th", "queue_dynamic_th", DYNAMIC_TH[1:], _whole, f"{DYNAMIC_TH[1]} to {DYNAMIC_TH[-1]}"
    ),
    Knob("trimming", "trimming", range(2), _switched, "on or off"),
)
LOSSLESS_ALONE, LOSSY_ALONE = ("dynamic_th", "headroom_bytes"), ("queue_dynamic_th", "trimming")
"""Thresholds that only a lossless class has, and those that only a lossy class has."""
NAMES = tuple(knob.name for knob in KNOBS)


def checked(grid: Grid) -> Grid:
    """Return a grid of plain numbers.

    Raises:
        ScenarioError: it has no values, too many or invalid ones.
        TypeError: a value is no whole number.
    """
    if not grid.names:
        raise ScenarioError(f"nothing is varied; expected values for at least one of {', '.join(NAMES)}")
    if grid.size > MOST_SETTINGS:
        raise ScenarioError(
            f"{grid.size:,} settings are more than the {MOST_SETTINGS:,} that are swept at once; name fewer values"
        )
    plain = Grid(*(tuple(map(index, values)) for values in grid))
    for knob, values in zip(KNOBS, plain, strict=True):
        wrong = next((value for value in values if value not in knob.values), None)
        if wrong is not None:
            raise ScenarioError(f"{knob.field} is {wrong}; expected {knob.expected}")
    return plain


def settings(grid: Grid) -> Iterator[ThresholdSetting]:
    """Yield every setting of a grid, the last threshold changing fastest."""
    return (
        ThresholdSetting(*values)
        for values in product(*(values if len(values) else (None,) for values in grid))
    )


def parse_grid(texts: Sequence[str]) -> Grid:
    """Return the grid of texts like ``dynamic_th=-4..3`` and ``kmin=100KiB..2MiB/20``.

    A comma separates values and ranges; ``a..b`` has every exponent of an alpha, ``a..b/n`` n values evenly spaced,
    each rounded to a whole number: of bytes, or of percent.

    Raises:
        QuantityError: with the text and the reason.
    """
    values_of: dict[str, tuple[int, ...]] = {}
    for text in texts:
        name, given, values = text.partition("=")
        knob = next((knob for knob in KNOBS if knob.name == name.strip()), None)
        if knob is None or not given:
            raise QuantityError(
                f"{text!r} varies nothing that is known; expected NAME=VALUES of {', '.join(NAMES)}"
            )
        if knob.field in values_of:
            raise QuantityError(
                f"{text!r}: {knob.name} is varied twice; put a comma between its values instead"
            )
        try:
            values_of[knob.field] = parse_values(knob, values)
        except QuantityError as error:
            raise QuantityError(f"{text!r}: {error}") from None
    return Grid(**values_of)


def parse_values(knob: Knob, text: str) -> tuple[int, ...]:
    """Return the values of a threshold that a text names, each once.

    Raises:
        QuantityError: a value that the threshold cannot have, or an invalid range.
    """
    parts = (_part(knob, part.strip(BLANKS)) for part in text.split(","))
    return tuple(dict.fromkeys(value for part in parts for value in part))


def _part(knob: Knob, text: str) -> Sequence[int]:
    first, is_range, rest = text.partition("..")
    if not is_range:
        return (_value(knob, text),)
    last, _, many = rest.partition("/")
    low, high = _value(knob, first), _value(knob, last)
    if low > high:
        raise QuantityError(f"{text!r} runs backwards; expected the smaller value first")
    if "/" in rest:
        return _spaced(text, low, high, many)
    if knob.parse is not _whole:
        raise QuantityError(f"{text!r} does not say how many values; write it like {text}/20")
    return range(low, high + 1)


def _value(knob: Knob, text: str) -> int:
    value = knob.parse(text)
    if value not in knob.values:
        raise QuantityError(f"{text.strip()!r} is out of range; expected {knob.expected}")
    return value


def _spaced(text: str, low: int, high: int, many: str) -> tuple[int, ...]:
    """Return ``many`` values from low to high, halves rounded up.

    Raises:
        QuantityError: ``many`` is no number, out of range, or more than the values from low to high.
    """
    count = int(many) if re.fullmatch("[0-9]{1,6}", many.strip(BLANKS)) else 0
    if not 2 <= count <= MOST_SETTINGS:
        raise QuantityError(f"{text!r} asks for {many.strip()!r} values; expected 2 to {MOST_SETTINGS:,}")
    if count > high - low + 1:
        raise QuantityError(
            f"{text!r} asks for {count:,} values; there are {high - low + 1:,} from end to end"
        )
    steps = count - 1
    return tuple(low + (2 * at * (high - low) + steps) // (2 * steps) for at in range(count))


class PortKind(NamedTuple):
    """Ports of switches that have the same thresholds: the role of their switch, and their speed in b/s."""

    role: str
    rate_bps: float


class TrialSetting(NamedTuple):
    """Thresholds of the requested class on every port, then on ports of some kinds.

    ``dcqcn`` are parameters of every sender that runs DCQCN, by ConnectX's names in lower case and in its units.
    """

    everywhere: ThresholdSetting = ThresholdSetting()
    by_kind: tuple[tuple[PortKind, ThresholdSetting], ...] = ()
    dcqcn: tuple[tuple[str, int], ...] = ()
