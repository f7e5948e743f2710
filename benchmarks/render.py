"""How long one switch takes to render in process, its file written."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.fabrics import leaf_of_64_ports
from benchmarks.measure import report
from lossless.formats.device_files.switches import switch_file

ROUNDS = 51


def main() -> None:
    """Measure and print the median; the first round, which compiles the template, is not counted."""
    fabric, base = leaf_of_64_ports()
    times = []
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "config_db.json"
        for _ in range(ROUNDS + 1):
            started = time.perf_counter()
            target.write_text(switch_file(fabric.switches[0], base).text, encoding="utf-8")
            times.append((time.perf_counter() - started) * 1e3)
    report([("render one 64-port switch onto its base", statistics.median(times[1:]), 5.0, "ms")])


if __name__ == "__main__":
    main()
