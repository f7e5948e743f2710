"""How long two versions of lossless take for the same commands, alternately: OLD, NEW, OLD, NEW, and so on.

    python benchmarks/versions.py OLD NEW [--rounds 30]

OLD and NEW are checkouts with an installed ``.venv`` whose bytecode is compiled. Printed is the median, over the
rounds, of the time that NEW takes over the time that OLD took just before it: processor time of the process and its
children, which other work on the machine disturbs less than wall time.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.devices import write_devices
from benchmarks.fabrics import leaf_of_64_ports
from lossless.formats.device_files.switches import switch_file

ROOT = Path(__file__).parent.parent
START_UP = 1.0
WORK = 1.05


def cpu_s(checkout: Path, arguments: list[str], folder: Path) -> float:
    """Return the processor time that one command of a version takes; what it prints is dropped."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("LOSSLESS", "PYTHON"))
    }
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [str(checkout / ".venv" / "bin" / "lossless"), *arguments],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(checkout)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def commands(folder: Path, files: int) -> dict[str, tuple[list[str], float]]:
    """Lay out what is read, and return by name the commands and the ratio that each may have."""
    fabric, base = leaf_of_64_ports()
    config_db = folder / "leaf.json"
    config_db.write_text(switch_file(fabric.switches[0], base).text, encoding="utf-8")
    write_devices(folder / "many", files)
    example = str(ROOT / "examples" / "roce-256" / "fabric.yaml")
    return {
        "lossless --help": (["--help"], START_UP),
        "lint one 64-port config_db.json": (["lint", str(config_db)], WORK),
        "lint one intent": (["lint", example], WORK),
        f"lint {files} configurations": (["lint", str(folder / "many")], WORK),
        "render on base": (["render", example, "-o", str(folder / "out")], WORK),
        "simulate, closed form": (["simulate", "--closed-form", example], WORK),
        "simulate, 4 seeds": (["simulate", "--seeds", "4", "--nics", "16", example], WORK),
        "topology": (["topology", example], WORK),
        "trace": (["trace", example, "--from", "host1", "--to", "host17", "--dscp", "26"], WORK),
    }


def main() -> int:
    """Measure and print; exit 1 where a ratio is above what it may be."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--files", type=int, default=100, help="configurations that are linted together")
    parser.add_argument("--only", default="", help="only commands whose name holds this")
    options = parser.parse_args()
    missed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for command, (arguments, goal) in commands(folder, options.files).items():
            if options.only not in command:
                continue
            pairs = [
                [cpu_s(version.resolve(), arguments, folder) for version in (options.old, options.new)]
                for _ in range(options.rounds + 1)
            ][1:]
            ratio = statistics.median(new / old for old, new in pairs)
            missed += ratio > goal
            verdict = "ok" if ratio <= goal else "MISSED"
            old_s, new_s = (statistics.median(times) for times in zip(*pairs, strict=True))
            print(
                f"{command:<34} {old_s:7.3f} s {new_s:7.3f} s  {ratio:6.3f} goal {goal:g}  {verdict}",
                flush=True,
            )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
