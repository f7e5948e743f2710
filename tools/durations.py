"""Keeps the list of the heaviest test files, which ``make quick`` leaves out.

    python tools/durations.py --record FILE     writes the list from the JUnit file of a run of ``make test``
    python tools/durations.py --ignore          prints the options by which pytest leaves these files out
    python tools/durations.py --left-out        prints how much is left out

A file that is not listed runs.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "tests" / "heaviest.txt"
QUICK_S = 105.0
"""What the files that stay may cost together, in seconds of one worker; collecting them comes on top."""


class Cost(NamedTuple):
    """What the tests of a file take together, in seconds of one worker, and how many they are."""

    seconds: float
    tests: int
    file: str


def on_record() -> list[Cost]:
    """Return the files of the list."""
    rows = (line.split() for line in LIST.read_text(encoding="utf-8").splitlines())
    return [Cost(float(seconds), int(tests), file) for seconds, tests, file in rows]


def costs(junit: Path) -> list[Cost]:
    """Return what each file of a run took, the heaviest first."""
    seconds: dict[str, float] = defaultdict(float)
    tests: dict[str, int] = defaultdict(int)
    for case in ET.parse(junit).iter("testcase"):
        parts = case.attrib["classname"].split(".")
        while parts and not (ROOT / "/".join(parts)).with_suffix(".py").is_file():
            parts.pop()  # a class in the file
        file = f"{'/'.join(parts)}.py"
        seconds[file] += float(case.attrib["time"])
        tests[file] += 1
    return sorted((Cost(round(seconds[file], 1), tests[file], file) for file in seconds), reverse=True)


def heaviest(every: list[Cost], most_s: float = QUICK_S) -> list[Cost]:
    """Return the files to leave out, the heaviest first, so that the others take at most so long."""
    left, out = sum(cost.seconds for cost in every), []
    for cost in every:
        if left <= most_s:
            break
        out.append(cost)
        left -= cost.seconds
    return out


def main(arguments: list[str]) -> int:
    """Write the list, or print it."""
    if arguments[0] == "--record":
        rows = heaviest(costs(Path(arguments[1])))
        LIST.write_text("".join(f"{cost.seconds:7.1f} {cost.tests:5d} {cost.file}\n" for cost in rows))
        return 0
    listed = on_record()
    if arguments[0] == "--ignore":
        print(" ".join(f"--ignore={cost.file}" for cost in listed))
    else:
        tests, seconds = sum(cost.tests for cost in listed), sum(cost.seconds for cost in listed)
        print(
            f"left out: {len(listed)} files with {tests:,} tests, {seconds:,.0f} s of one worker (make test has them)"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
