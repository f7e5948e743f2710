"""How long a fabric of 65,536 hosts takes to resolve, and how much memory."""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.fabrics import fabric
from benchmarks.measure import report


def main() -> None:
    """Measure and print; the memory is the peak of the whole process."""
    started = time.perf_counter()
    found = fabric(leaves=1024, spines=32, hosts_per_leaf=64, host_rate="400G", uplinks=1)
    seconds = time.perf_counter() - started
    mebibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(found.hosts):,} hosts, {len(found.switches):,} switches, {len(found.links):,} links")
    report([("resolve", seconds, 10.0, "s"), ("peak memory", mebibytes, 1024.0, "MiB")])


if __name__ == "__main__":
    main()
