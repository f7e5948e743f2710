"""How much faster two workers of a local cluster try settings than one: time of the batches, their start excluded.

The incast of ``benchmarks/sweep.py`` with DCQCN, 10,000 settings or as many thousands as are named, in turn by one
worker and by two, each of one thread; the median of three rounds. Each cluster has compiled and laid out before the
clock starts.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from statistics import median

# Not this folder: dask would take the yaml.py of ours for PyYAML.
sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.sweep import HORIZON_NS, grid, incast
from lossless.analysis.simulation.engine.run import prepare
from lossless.analysis.simulation.question.request import Limits
from lossless.analysis.simulation.study.cluster import cluster_executor
from lossless.analysis.simulation.study.grid import Grid
from lossless.analysis.simulation.study.sweep import sweep

SETTINGS = 10_000
ROUNDS = 3
WARM = Grid(kmin_bytes=range(100_000, 500_000, 1_000))
"""Four batches, so that every worker has tried one."""
GOAL = 1.8
"""How many times as fast two workers shall be."""


def main() -> None:
    """Measure both in turn, and print each round and the median of their ratios."""
    settings = int(sys.argv[1]) if len(sys.argv) > 1 else SETTINGS
    prepare()
    print(f"{os.cpu_count()} cores; {settings:,} settings of 16 x 400G into one, {HORIZON_NS / 1e6:g} ms")
    ratios = []
    for _ in range(ROUNDS):
        one_s, two_s = (seconds(workers, settings) for workers in (1, 2))
        ratios.append(one_s / two_s)
        print(f"one worker {one_s:.2f} s, two workers {two_s:.2f} s: {ratios[-1]:.2f} times as fast")
    ratio = median(ratios)
    print(f"median {ratio:.2f}, goal {GOAL:g}  {'ok' if ratio >= GOAL else 'MISSED'}")


def seconds(workers: int, settings: int) -> float:
    """Return how long so many workers take for a sweep, once they have started and done a small one."""
    what, once = incast(dcqcn=True), Limits(seeds=1)
    with cluster_executor(f"local:{workers}") as executor:
        sweep(what, WARM, once, HORIZON_NS, executor)
        begun = time.perf_counter()
        rows = sweep(what, grid(settings), once, HORIZON_NS, executor).rows
        took_s = time.perf_counter() - begun
    assert len(rows) == settings, len(rows)
    return took_s


if __name__ == "__main__":
    main()
