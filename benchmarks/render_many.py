"""How long 1,000 different 64-port switches take to render onto their files and write, on two cores.

The figure is a ratio to a bare interpreter in the same run, beside the seconds it took; memory is what the largest
process held beyond the fabric itself, at 1,000 switches more than at 250.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.measure import BARE, report, seconds

if TYPE_CHECKING:
    from lossless.model.fabric.model import Fabric

SWITCHES, FEWER = 1000, 250
CORES = 2
ROUNDS = 3
HARDWARE = (
    ("nvidia-sn5600", "ACS-SN5600", ("400G", "200G", "100G")),
    ("nvidia-sn5600", "Mellanox-SN5600-O128", ("400G", "200G")),
    ("nvidia-sn4700", "ACS-MSN4700", ("200G", "100G", "50G")),
    ("arista-7060x6-64pe-b", "Arista-7060X6-64PE-B-O128", ("400G",)),
)
HEAD = """
lossless: v1
fabric: many
transport: rocev2
preset: nvidia
hardware: {leaf: nvidia-sn5600, nic: connectx-8}
topology:
  oversubscription: 9
"""


def many(count: int) -> Fabric:
    """Return a fabric of switches with 64 ports in use each, no two identical; the same one on every run."""
    from lossless.formats.intent.load import load_intent
    from lossless.formats.intent.resolve.fabric import resolve
    from lossless.ground.documents import load_text

    source = random.Random(1)
    devices, links = [], []
    for number in range(count):
        name = f"leaf{number:04}"
        hardware, hwsku, rates = source.choice(HARDWARE)
        devices.append(f"    {name}: {{role: leaf, hardware: {{profile: {hardware}, hwsku: {hwsku}}}}}")
        for group in range(8):
            host = f"gpu{number:04}-{group}"
            devices.append(f"    {host}: {{role: host}}")
            rate, cable_m = source.choice(rates), source.randrange(1, 40)
            links.append(f"    - {{a: {name}, b: {host}, links: 8 x {rate}, cable: {cable_m}m}}")
    lines = [HEAD.rstrip(), "  devices:", *devices, "  links:", *links]
    found = resolve(load_intent(load_text("\n".join(lines) + "\n", "fabric.yaml")))
    return found._replace(hosts=())


def write_bases(fabric: Fabric, folder: Path) -> dict[str, str]:
    """Write the file that each switch has before its first render; return where it lies, by switch."""
    from tools.example_base import base_of

    found = {}
    alone = fabric._replace(links=(), hosts=())
    for switch in fabric.switches:
        path = folder / switch.name / "config_db.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(base_of(alone, switch), indent=4), encoding="utf-8")
        found[switch.name] = str(path)
    return found


def render(count: int) -> None:
    """Make the switches, then time rendering and writing alone; print seconds and the most memory a process held."""
    import resource

    from lossless.output.render.fabric import render_fabric

    fabric = many(count)
    taken = []
    with tempfile.TemporaryDirectory() as place:
        bases = write_bases(fabric, Path(place) / "base")
        held_kib = _resident_kib()
        for number in range(ROUNDS):
            out = Path(place) / f"out{number}"
            started = time.perf_counter()
            render_fabric(fabric, out, bases, write=True, processes=CORES)
            taken.append(time.perf_counter() - started)
        written = sum(path.stat().st_size for path in out.rglob("config_db.json"))
    worker_kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(json.dumps([statistics.median(taken), worker_kib - held_kib, written]))


def _resident_kib() -> int:
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


def measured(count: int) -> list[float]:
    """Return what :func:`render` prints, run in a process of its own."""
    done = subprocess.run([sys.executable, __file__, str(count)], check=True, capture_output=True, text=True)
    found: list[float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Measure and print."""
    bare = statistics.median(seconds(BARE) for _ in range(15))
    taken, most_kib, written = measured(SWITCHES)
    _, fewer_kib, _ = measured(FEWER)
    print(f"{SWITCHES:,} files of {written / SWITCHES / 1000:.0f} kB on average, {CORES} processes")
    report(
        [
            ("render and write 1,000 switches", taken, 5.0, "s"),
            ("the same as a ratio", taken / bare, 500.0, "x bare"),
            ("memory of a process, 1,000 more than 250", (most_kib - fewer_kib) / 1024, 8.0, "MiB"),
        ]
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        render(int(sys.argv[1]))
    else:
        main()
