"""Tests the laws between commands on new random fabrics: for a number of minutes, or until a law is broken.

    python tools/laws.py [--minutes 10] [--seed N]

runs the tests marked ``laws`` again and again, each time with the next seed, and prints the seed. A broken law is
printed with the smallest fabric that breaks it, and ``--seed`` runs that round again. The exit code is then 1.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time

COMMAND = (sys.executable, "-m", "pytest", "-n", "auto", "-m", "laws", "--hypothesis-profile=random")


def main() -> int:
    """Run rounds until the time is over; return 1 where a law was broken."""
    parser = argparse.ArgumentParser(description="test the laws between commands on new random fabrics")
    parser.add_argument("--minutes", type=float, default=10.0, metavar="N", help="how long (default: 10)")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000), metavar="N")
    options = parser.parse_args()
    end = time.monotonic() + 60 * options.minutes
    rounds = 0
    while rounds == 0 or time.monotonic() < end:
        seed = options.seed + rounds
        print(f"round {rounds + 1}, seed {seed}", flush=True)
        if subprocess.run([*COMMAND, f"--hypothesis-seed={seed}"], check=False).returncode:
            print(f"a law is broken: python tools/laws.py --minutes 0 --seed {seed} runs this round again")
            return 1
        rounds += 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
