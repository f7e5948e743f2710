"""Runs commands on changed files, and keeps what breaks one, or a law, as an input of the tests.

    python tools/fuzz.py [--seed N ...] [--inputs 20000] [--seconds 2400] [--branches 300] [--keep]

Most files are sound ones of which values are changed behind validation, some are changed as bytes are. A run ends
after so many inputs or seconds, whichever comes first, once for each seed; its figures are printed: the share of inputs
that passed validation with a changed value, the rules that fired, the readers and renderers that ran, what broke.
``--branches`` traces so many of the inputs once more, changed and unchanged, and compares the branches.

Each breakage is printed once, with its command, its traceback or the law, and its files, which are made as small as
still break the same. With ``--keep`` it is written to ``tests/fuzz/found``, whose files the tests run. The exit code is
1 where anything broke.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import re
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
# What pygls logs of messages that are none would hide what broke.
logging.disable(logging.CRITICAL)

from tests.fuzz.figures import Figures, arcs_of, branches  # noqa: E402
from tests.fuzz.stock import INTENTS_DRAWN, Drawn, Stock, warmed_up  # noqa: E402
from tests.fuzz.trials import Breakage, Trial, checked, minimised, outcome_of  # noqa: E402

SLOWEST_S = 10.0
"""Processor time after which an input is named as slow, with its law."""
MINIMISED_S = 120.0
SHOWN = 2_000
"""Characters of a file that are printed with what broke by it; what is kept is whole."""


def main() -> int:
    """Run each seed until its inputs or its time are over; return 1 where something broke."""
    parser = argparse.ArgumentParser(description="run commands on changed files")
    parser.add_argument("--seed", type=int, nargs="+", default=[random.randrange(1_000_000)], metavar="N")
    parser.add_argument("--inputs", type=int, metavar="N", help="end after so many")
    parser.add_argument("--seconds", type=float, metavar="S", help="end after so long")
    parser.add_argument(
        "--branches", type=int, default=0, metavar="N", help="compare the branches of so many"
    )
    parser.add_argument("--keep", action="store_true", help="write what breaks to tests/fuzz/found")
    options = parser.parse_args()
    if options.inputs is None and options.seconds is None:
        options.seconds = 60.0
    warmed_up()
    broken: dict[tuple[str, str], Breakage] = {}
    for seed in options.seed:
        print(f"seed {seed}", flush=True)
        _run(seed, options, broken)
    print(f"{len(broken)} breakages from seeds {', '.join(map(str, options.seed))}")
    return 1 if broken else 0


def _run(seed: int, options: argparse.Namespace, broken: dict[tuple[str, str], Breakage]) -> None:
    chance = random.Random(seed)
    stock = Stock(seed, intents_drawn=INTENTS_DRAWN, runs=True)
    figures, sample = Figures(), random.Random(seed)
    traced: list[Drawn] = []
    began, used = time.monotonic(), time.process_time()
    for drawn in stock.draws(chance):
        started = time.process_time()
        with figures.watched():
            outcome = outcome_of(drawn.trial)
            found = checked(drawn.trial, outcome)
        figures.count(drawn, outcome)
        took_s = time.process_time() - started
        if took_s > SLOWEST_S:
            print(f"{' '.join(drawn.trial.command)}: {took_s:.0f} s of processor time", flush=True)
            _keep(drawn.trial, f"slow-{seed}-{figures.inputs}", options.keep)
        figures.broken += found is not None
        if found is not None and found.cause not in broken:
            broken[found.cause] = found
            _report(drawn.trial, found, options.keep)
        if len(traced) < options.branches:
            traced.append(drawn)
        elif options.branches and sample.random() < options.branches / figures.inputs:
            traced[sample.randrange(options.branches)] = drawn
        if _is_over(figures.inputs, time.monotonic() - began, options):
            break
    wall_s, cpu_s = time.monotonic() - began, time.process_time() - used
    print(f"{figures.inputs:,} inputs in {wall_s:.0f} s, {cpu_s:.0f} s of processor time")
    print("\n".join(figures.report()), flush=True)
    if traced:
        print(_compared(traced), flush=True)


def _is_over(inputs: int, seconds: float, options: argparse.Namespace) -> bool:
    return (options.inputs is not None and inputs >= options.inputs) or (
        options.seconds is not None and seconds >= options.seconds
    )


def _compared(traced: list[Drawn]) -> str:
    """Return how many branches the changed and the unchanged files of some inputs take."""
    unchanged = arcs_of([drawn.unchanged for drawn in traced])
    changed = arcs_of([drawn.trial._replace(law="") for drawn in traced])
    both = branches(unchanged | changed)
    return (
        f"branches of {len(traced)} inputs: {len(both & changed):,} taken, {len(both & unchanged):,} by the same with "
        f"their files unchanged; {len(both & changed - unchanged):,} by the changed alone, together {len(both):,}"
    )


def _report(trial: Trial, found: Breakage, keep: bool) -> None:
    print(f"lossless {' '.join(trial.command)}\n{found.text}", flush=True)
    small = minimised(trial, found.cause, MINIMISED_S)
    name = re.sub(r"[^\w-]+", "-", f"{found.kind}-{found.place}".replace(".py", ""))[:80]
    for file, text in small.files.items():
        print(f"--- {file}\n{text[:SHOWN]}{'' if len(text) <= SHOWN else ' ...'}", flush=True)
    _keep(small, name, keep)


def _keep(trial: Trial, name: str, keep: bool) -> None:
    if keep:
        file = ROOT / "tests" / "fuzz" / "found" / f"{name}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(trial._asdict(), indent=2) + "\n")
        print(f"kept in {file.relative_to(ROOT)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
