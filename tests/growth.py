"""How the work for an input grows with its size, measured in one process on one machine."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from itertools import pairwise
from typing import TypeVar

_Input = TypeVar("_Input")
TIMES_LARGER = 8
POINT_S = 0.05
"""The processor time of the smallest input whose doubling is measured: beside it, what else a call costs is little."""
MOST_BY_DOUBLING = 2.6
"""Twice the input takes twice the time, and more where it no longer fits into a cache; 4 would be quadratic."""
_SUSPECT = 2.2
_MOST_STEP = 8


def grows_with_size(make: Callable[[int], _Input], work: Callable[[_Input], object], size: int) -> bool:
    """Return whether eight times the input takes less than 24 times the processor time: 64 would be quadratic."""
    small, large = make(size), make(size * TIMES_LARGER)
    return _least_s(work, large) < 3 * TIMES_LARGER * max(_least_s(work, small), 1e-4)


def _least_s(work: Callable[[_Input], object], given: _Input) -> float:
    """Return the least of three measurements: what else the machine does only adds."""
    times = []
    for _ in range(3):
        started = time.process_time()
        work(given)
        times.append(time.process_time() - started)
    return min(times)


def by_doubling(
    make: Callable[[int], _Input], work: Callable[[_Input], object], size: int, largest: int
) -> list[float] | None:
    """Return by what the time grows with each doubling of the input, None where that is at most MOST_BY_DOUBLING.

    The input grows until it takes POINT_S; None also where the largest takes less. What one measurement of its double
    does not make suspect is not measured again: what else the machine does only adds to the time of either.
    """
    # What other tests left is not looked through before each measurement: that takes longer than measuring.
    gc.freeze()
    spent = _spent_s(work, make(size))
    while spent < POINT_S:
        if size >= largest:
            return None
        size = min(largest, size * max(2, min(_MOST_STEP, round(1.2 * POINT_S / max(spent, 1e-4)))))
        spent = _spent_s(work, make(size))
    if _spent_s(work, make(2 * size)) <= _SUSPECT * spent:
        return None
    made = [*map(make, (size, 2 * size, 4 * size))]
    least = [float("inf")] * len(made)
    # In turn, and again where it is suspect: a slow moment of the machine then falls on one round of all sizes.
    for _ in range(3):
        for _ in range(5):
            least = [min(before, _spent_s(work, one)) for before, one in zip(least, made, strict=True)]
        growth = [later / earlier for earlier, later in pairwise(least)]
        if max(growth) <= MOST_BY_DOUBLING:
            return None
    return growth


def _spent_s(work: Callable[[_Input], object], given: _Input) -> float:
    """Return the processor time of this process for one call, without that of collecting what others left."""
    gc.collect()
    gc.disable()
    try:
        started = time.process_time()
        work(given)
        return time.process_time() - started
    finally:
        gc.enable()
