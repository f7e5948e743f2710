"""How the work for an input grows with its size, measured in one process on one machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

_Input = TypeVar("_Input")
TIMES_LARGER = 8


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
