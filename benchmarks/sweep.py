"""How long 1,000 and 10,000 settings of thresholds take, and how much memory.

Incast of 16 NICs of 400G into one, 8 MiB each in frames of 4,096 B of payload, followed for 3 ms, with DCQCN and
without: then nothing but PFC holds senders back, and there is more to follow. Each line is a process of its own.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.fabrics import fabric
from benchmarks.measure import report
from lossless.analysis.simulation.engine.run import prepare
from lossless.analysis.simulation.question.request import Limits, Question
from lossless.analysis.simulation.question.scenario import Scenario, scenario
from lossless.analysis.simulation.study.grid import Grid
from lossless.analysis.simulation.study.sweep import sweep
from lossless.model.fabric.view import View

KIB = 1024
HORIZON_NS = 3_000_000
SIZES = (1_000, 10_000)
SECONDS = 30.0
"""Goal for the larger size on two cores; in proportion for the smaller."""
MIB_FOR_NINE_THOUSAND = 32.0
"""Goal: rows of numbers may be kept of each setting, arrays may not."""


def main() -> None:
    """Measure, one process for each kind and size of sweep, or be that process."""
    if len(sys.argv) > 1:
        json.dump(measured(sys.argv[1] == "dcqcn", int(sys.argv[2])), sys.stdout)
        return
    print(f"{os.cpu_count()} cores; 16 x 400G into one, {HORIZON_NS / 1e6:g} ms")
    rows = []
    for kind, title in (("dcqcn", "DCQCN"), ("off", "PFC alone")):
        few, many = (apart(kind, settings) for settings in SIZES)
        for found in (few, many):
            name = f"{title}, {found['settings']:,.0f} settings"
            print(f"{name}: {speeds(found)}")
            rows.append((name, found["seconds"], SECONDS * found["settings"] / SIZES[-1], "s"))
        rows.append(
            (f"{title}, memory of 9,000 more", many["mib"] - few["mib"], MIB_FOR_NINE_THOUSAND, "MiB")
        )
    report(rows)


def speeds(found: dict[str, float]) -> str:
    """Return how fast a sweep was and what it took."""
    rate, per = found["settings"] / found["seconds"], found["events"] / found["settings"]
    return f"{rate:,.0f} settings/s of {per:,.0f} events, {found['cores']:.2f} cores, {found['mib']:.0f} MiB at most"


def apart(kind: str, settings: int) -> dict[str, float]:
    """Return what another process measures, whose peak of memory is its own."""
    done = subprocess.run([sys.executable, __file__, kind, str(settings)], capture_output=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def measured(dcqcn: bool, settings: int) -> dict[str, float]:
    """Return what one sweep takes, the compiled kernel at hand."""
    prepare()
    found = incast(dcqcn)
    begun, busy = time.perf_counter(), time.process_time()
    done = sweep(found, grid(settings), Limits(seeds=1), HORIZON_NS)
    seconds, busy = time.perf_counter() - begun, time.process_time() - busy
    return {
        "settings": len(done.rows),
        "seconds": seconds,
        "cores": busy / seconds,
        "events": done.events,
        "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KIB,
    }


def incast(dcqcn: bool) -> Scenario:
    """Return the incast: 17 hosts at one leaf."""
    view = View(fabric(leaves=1, spines=1, hosts_per_leaf=17, host_rate="400G", uplinks=8))
    found = scenario(view, Question(nics=17))
    assert isinstance(found, Scenario), found
    assert found.mtu_bytes == 4096, found.mtu_bytes
    return found if dcqcn else found._replace(dcqcn_of={})


def grid(settings: int) -> Grid:
    """Return ten alphas by ten Kmin by ten headrooms by as many Kmax as make so many settings."""
    return Grid(
        dynamic_th=range(-6, 4),
        kmin_bytes=range(100 * KIB, 2000 * KIB, 190 * KIB),
        kmax_bytes=range(2000 * KIB, 2000 * KIB + settings // 1000 * 400 * KIB, 400 * KIB),
        headroom_bytes=range(160 * KIB, 260 * KIB, 10 * KIB),
    )


if __name__ == "__main__":
    main()
