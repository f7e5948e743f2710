"""How long all rules take over a repository of 1,000 different switches, and over an intent of 1,024 hosts."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.devices import write_devices
from benchmarks.fabrics import INTENT
from benchmarks.measure import report, seconds

LOSSLESS = str(Path(sys.executable).parent / "lossless")
DEVICES = 1000
ROUNDS = 3


def main() -> None:
    """Measure whole processes and print the best of three rounds."""
    with tempfile.TemporaryDirectory() as folder:
        repository, intent = Path(folder) / "devices", Path(folder) / "fabric.yaml"
        written = write_devices(repository, DEVICES)
        intent.write_text(
            INTENT.format(leaves=16, spines=4, hosts_per_leaf=64, host_rate="400G", uplinks=8),
            encoding="utf-8",
        )
        print(f"{DEVICES:,} files of {written / DEVICES / 1000:.0f} kB on average, 64 ports in use on each")
        devices = min(seconds([LOSSLESS, "lint", str(repository)]) for _ in range(ROUNDS))
        hosts = min(seconds([LOSSLESS, "lint", str(intent)]) for _ in range(ROUNDS))
    report([("lint 1,000 config_db.json", devices, 4.0, "s"), ("lint 1,024 hosts", hosts, 2.0, "s")])


if __name__ == "__main__":
    main()
