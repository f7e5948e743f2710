"""Counts the instructions that common commands execute, and compares them with the figures on record.

    python tools/instructions.py             exit 1 where a command executes 3 % more than is on record
    python tools/instructions.py --record    writes the figures again

Counted by valgrind's cachegrind, with bytecode present, hash seed 0 and a bare environment: two counts of one command
on one machine lie within 0.1 % of each other, whatever else it does. Between machines, C libraries differ; so each
figure is one above that of ``python -c pass``, counted in the same run, and figures are compared under the Python that
they were recorded with.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "tools" / "instructions.json"
MOST_MORE = 0.03
COMMANDS = {
    "--help": ("--help",),
    "lint of one config_db.json": ("lint", "-q", "examples/roce-256/base/leaf1/config_db.json"),
    "lint of one intent": ("lint", "-q", "examples/roce-256/fabric.yaml"),
    "closed forms": ("simulate", "-q", "--closed-form", "examples/roce-256/fabric.yaml"),
}
"""What users wait for most often. Each has to succeed."""
BARE = "python -c pass"


def counted(words: tuple[str, ...]) -> int:
    """Return the instructions that a command executes; without words, those of an interpreter that does nothing."""
    program = ("-c", "import sys; from lossless.interfaces.cli import main; sys.exit(main())", *words)
    command = [sys.executable, *(program if words else ("-c", "pass"))]
    environment = {
        "PYTHONHASHSEED": "0",
        "PATH": os.defpath,
        "HOME": tempfile.gettempdir(),
        "LC_ALL": "C.UTF-8",
    }
    with tempfile.TemporaryDirectory() as folder:
        valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={folder}/out"]
        done = subprocess.run(
            [*valgrind, *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
    refs = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if done.returncode or refs is None:
        raise SystemExit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return int(refs[1].replace(",", ""))


def figures() -> dict[str, int]:
    """Return the instructions of each command above those of a bare interpreter, after one run that compiles."""
    for words in COMMANDS.values():
        program = "import sys; from lossless.interfaces.cli import main; sys.exit(main())"
        subprocess.run([sys.executable, "-c", program, *words], cwd=ROOT, capture_output=True, check=False)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = dict(zip((BARE, *COMMANDS), pool.map(counted, ((), *COMMANDS.values())), strict=True))
    bare = counts.pop(BARE)
    return {name: count - bare for name, count in counts.items()}


def main(arguments: list[str]) -> int:
    """Compare or record; return the exit code."""
    now = figures()
    python = platform.python_version()
    if arguments == ["--record"]:
        RECORD.write_text(json.dumps({"python": python, "above a bare interpreter": now}, indent=2) + "\n")
        return 0
    record = json.loads(RECORD.read_text())
    worse = []
    for name, count in now.items():
        before = record["above a bare interpreter"][name]
        print(
            f"{name:28} {count / 1e6:8.1f} M instructions, {before / 1e6:8.1f} M on record, {count / before - 1:+.1%}"
        )
        worse += [name] if count > before * (1 + MOST_MORE) else []
    if record["python"] != python:
        print(f"not compared: recorded with Python {record['python']}, this is {python}")
        return 0
    if worse:
        print(
            f"more than {MOST_MORE:.0%} above the record: {', '.join(worse)}; find out why, or record it: --record"
        )
    return int(bool(worse))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
