"""What all rules take over 1,000 different switches, as multiples of ``json.loads`` of the same bytes.

And how long they take over an intent of 1,024 hosts, and how much longer ``lint --since`` takes than ``lint``, over
200 switches of which three have changed.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.devices import write_devices
from benchmarks.fabrics import INTENT
from benchmarks.measure import report, seconds

LOSSLESS = str(Path(sys.executable).parent / "lossless")
DEVICES = 1000
ROUNDS = 3
COMPARED, CHANGED = 200, 3
MOST_SINCE = 1.3
MOST_CPU, MOST_WALL = 8.0, 4.5


def against_json(folder: Path) -> tuple[float, float]:
    """Return the processor time and the wall time of ``lint``, each over that of ``json.loads`` of all files."""
    texts = [file.read_bytes() for file in sorted(folder.rglob("*.json"))]
    started = time.process_time()
    for text in texts:
        json.loads(text)
    loads = time.process_time() - started
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    wall = seconds([LOSSLESS, "lint", str(folder)])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return processor / loads, wall / loads


def since(folder: Path) -> float:
    """Return how long ``lint --since`` takes over how long ``lint`` takes, alternately."""
    write_devices(folder, COMPARED)
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    for words in (["init", "--quiet"], ["add", "--all"], [*identity, "commit", "--quiet", "--message=one"]):
        subprocess.run(["git", "-C", str(folder), *words], check=True)
    for file in sorted(folder.rglob("*.json"))[:CHANGED]:
        file.write_text(file.read_text(encoding="utf-8").replace('"400000"', '"200000"'), encoding="utf-8")
    whole, changes = [LOSSLESS, "lint", str(folder)], [LOSSLESS, "lint", "--since", "HEAD", str(folder)]
    return statistics.median(seconds(changes) / seconds(whole) for _ in range(2 * ROUNDS + 1))


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
        processor, wall = (
            min(each) for each in zip(*(against_json(repository) for _ in range(ROUNDS)), strict=True)
        )
        hosts = min(seconds([LOSSLESS, "lint", str(intent)]) for _ in range(ROUNDS))
        compared = since(Path(folder) / "compared")
    report(
        [
            ("lint 1,000 config_db.json, processor time", processor, MOST_CPU, "x json.loads"),
            ("lint 1,000 config_db.json, wall time", wall, MOST_WALL, "x json.loads"),
            ("lint 1,024 hosts", hosts, 2.0, "s"),
            ("lint --since", compared, MOST_SINCE, "x lint"),
        ]
    )


if __name__ == "__main__":
    main()
