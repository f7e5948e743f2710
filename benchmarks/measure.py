"""Ratios of whole processes, measured side by side: every figure is against a bare interpreter in the same run."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROUNDS = 15
# As installed: with bytecode, whatever this shell says.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
BARE = [sys.executable, "-c", "pass"]


def seconds(command: Sequence[str]) -> float:
    """Return how long one process takes; what it prints is dropped."""
    started = time.perf_counter()
    subprocess.run(
        command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
    )
    return time.perf_counter() - started


def ratios(commands: Mapping[str, Sequence[str]], rounds: int = ROUNDS) -> dict[str, float]:
    """Return the median time of each command over that of ``python -c pass``, taken alternately."""
    taken: dict[str, list[float]] = {name: [] for name in ("bare", *commands)}
    for _ in range(rounds):
        taken["bare"].append(seconds(BARE))
        for name, command in commands.items():
            taken[name].append(seconds(command))
    bare = statistics.median(taken.pop("bare"))
    return {name: statistics.median(times) / bare for name, times in taken.items()}


def report(rows: Sequence[tuple[str, float, float, str]]) -> None:
    """Print measured figures beside what is aimed at."""
    width = max(len(name) for name, *_ in rows)
    for name, found, goal, unit in rows:
        verdict = "ok" if found <= goal else "MISSED"
        print(f"{name:<{width}}  {found:8.2f} {unit:<8} goal {goal:g}  {verdict}")
