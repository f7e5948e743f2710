"""Random numbers and hashes of a run."""

from __future__ import annotations

from typing import Any

import numpy as np

from lossless.analysis.simulation.engine.compiled import kernel, outlined


@kernel
def random(clock: Any) -> float:
    """Return the next random number in [0, 1): xorshift64* (Vigna 2016)."""
    state = clock.random
    state ^= state >> np.uint64(12)
    state ^= state << np.uint64(25)
    state ^= state >> np.uint64(27)
    clock.random = state
    return float((state * np.uint64(2685821657736338717)) >> np.uint64(11)) / 9007199254740992.0


@kernel
def below(clock: Any, many: int) -> int:
    """Return a random whole number from 0 on, below a count."""
    return int(random(clock) * many)


@outlined
def hashed(salt: Any, place: int, flow: int, value: int) -> int:
    """Return the hash of a flow and a value at a place, 31 bits: splitmix64 of them (Steele 2014)."""
    word = salt ^ (np.uint64(place) << np.uint64(48)) ^ (np.uint64(flow) << np.uint64(16)) ^ np.uint64(value)
    word += np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return int((word ^ (word >> np.uint64(31))) >> np.uint64(33))
