"""Runs commands on mutated files, for so many seconds, and keeps what breaks one as an input of the tests.

    python tools/fuzz.py [--seconds 60] [--seed N] [--keep]

Each breakage is printed once, with its traceback, after the file was made as small as still breaks the same code. With
``--keep`` it is written to ``tests/fuzz/found``, whose files the tests run. The exit code is 1 where anything broke.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
# What pygls logs of messages that are none would hide what broke.
logging.disable(logging.CRITICAL)

from tests.fuzz.seeds import seeds  # noqa: E402
from tests.fuzz.trials import Breakage, Trial, beside, breakage, drawn, minimised  # noqa: E402

SLOWEST_S = 20.0
"""Processor time after which an example is named as slow."""


def main() -> int:
    """Run until the time is over; return 1 where something broke."""
    parser = argparse.ArgumentParser(description="run commands on mutated files")
    parser.add_argument("--seconds", type=float, default=60.0, metavar="S")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000), metavar="N")
    parser.add_argument("--keep", action="store_true", help="write what breaks to tests/fuzz/found")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    end = time.monotonic() + options.seconds
    broken: dict[tuple[str, str], Breakage] = {}
    examples = 0
    while examples == 0 or time.monotonic() < end:
        trial = drawn(seeds(), beside(), chance)
        started = time.process_time()
        found = breakage(trial)
        examples += 1
        took_s = time.process_time() - started
        if took_s > SLOWEST_S:
            print(f"{' '.join(trial.command)}: {took_s:.0f} s of processor time", flush=True)
            _keep(trial, f"slow-{options.seed}-{examples}", options.keep)
        if found is not None and found.cause not in broken:
            broken[found.cause] = found
            _report(minimised(trial, found.cause), found, options.keep)
    print(f"{examples:,} examples from seed {options.seed}, {len(broken)} breakages")
    return 1 if broken else 0


def _report(trial: Trial, found: Breakage, keep: bool) -> None:
    print(f"lossless {' '.join(trial.command)}\n{found.text}", flush=True)
    _keep(trial, f"{found.kind}-{found.place}".replace(":", "-").replace(".py", ""), keep)


def _keep(trial: Trial, name: str, keep: bool) -> None:
    if keep:
        file = ROOT / "tests" / "fuzz" / "found" / f"{name}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(trial._asdict(), indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
