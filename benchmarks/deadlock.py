"""What the search for cyclic buffer dependencies costs: against size, after failures, and without symmetry.

The fabrics are three-tier Clos of growing size, resolved from intents. The check is that of the rules, from links to
verdict, on a model that was just made, as in a lint; and the whole of a lint is measured as a process. In the worn
ones every leaf has lost links of its own choice, so that no two are identical. Seconds are processor time, so that
what else a machine does counts little; of a few rounds, the least.
"""

from __future__ import annotations

import gc
import math
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple, TypeVar

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.measure import ENVIRONMENT, report
from lossless.analysis.routing.dependencies import RoutingQuestion, routing_verdict
from lossless.analysis.routing.failures import FailureBudget, after_failures
from lossless.analysis.routing.symmetry import wires_of
from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.documents import load_text
from lossless.model.fabric.model import Tier

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from lossless.analysis.routing.dependencies import RoutingVerdict
    from lossless.model.fabric.model import Fabric

Found = TypeVar("Found")

INTENT = """
lossless: v1
fabric: bench
transport: rocev2
preset: nvidia
hardware: {{switch: nvidia-sn5600, nic: connectx-8}}
topology:
  three_tier:
    pods: {pods}
    leaves_per_pod: {leaves}
    spines_per_pod: {planes}
    super_spines: {supers}
    planes: {planes}
    hosts_per_leaf: {leaves}
    host_links: 1 x 800G
    uplinks: 1 x 800G
    spine_uplinks: 1 x 800G
    cables: {{host: 3m, uplink: 30m, spine_uplink: 100m}}
"""
FAILING = """
  routing: {policy: shortest-path}
failures: {links: 2, switches: 2}
"""
PODS = (4, 8, 16, 32, 64)
"""Of 1,024 hosts each: 4,096 to 65,536."""
ROUNDS = 3
COLLECTED = 50_000
"""As the program has its garbage collected; the model is all objects that stay."""
LINT = "import sys; from lossless.interfaces.cli import main; sys.exit(main())"
UP_DOWN, SHORTEST = RoutingQuestion("up-down"), RoutingQuestion("shortest-path")


def main() -> None:
    """Measure and print."""
    gc.set_threshold(COLLECTED)
    texts = {pods * 1024: INTENT.format(pods=pods, leaves=32, planes=32, supers=512) for pods in PODS}
    # Before anything is made here: a process counts the memory of the one that starts it as its own.
    lints = {hosts: _linted(text) for hosts, text in texts.items()}
    linted, failing = lints[max(texts)], _linted(texts[max(texts)] + FAILING)
    measured = {"lint": [(hosts, cost.seconds) for hosts, cost in lints.items()]}
    for hosts, text in texts.items():
        taken = _taken(text)
        for name, seconds in taken.items():
            measured.setdefault(name, []).append((hosts, seconds))
        print(f"{hosts:6,} hosts:", ", ".join(f"{name} {seconds:.2f} s" for name, seconds in taken.items()))
    largest = {name: sizes[-1][1] for name, sizes in measured.items()}
    report(
        [
            *((f"growth exponent, {name}", _exponent(sizes), 1.1, "") for name, sizes in measured.items()),
            *((f"65,536 hosts, {name}", seconds, 60.0, "s") for name, seconds in largest.items()),
            ("65,536 hosts, lint, peak memory", linted.mebibytes, 8192.0, "MiB"),
            ("65,536 hosts, lint, with every 2 failures", failing.seconds, 60.0, "s"),
            ("65,536 hosts, lint, with every 2 failures, peak memory", failing.mebibytes, 8192.0, "MiB"),
            *_failures(),
        ]
    )


class Cost(NamedTuple):
    """What a process took."""

    seconds: float
    mebibytes: float


def _linted(text: str) -> Cost:
    """Return what ``lossless lint`` of an intent takes, all rules and all that starts and ends with it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "fabric.yaml")
        file.write_text(text)
        costs = [_process([sys.executable, "-c", LINT, "lint", str(file)]) for _ in range(ROUNDS)]
    return Cost(min(cost.seconds for cost in costs), max(cost.mebibytes for cost in costs))


def _process(command: Sequence[str]) -> Cost:
    """Return what one process takes of the processor, and its peak of memory.

    Raises:
        AssertionError: it did not come to findings.
    """
    started = subprocess.Popen(
        command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert started.stdout is not None
    with started.stdout as printed:
        assert "in 1 file" in printed.read(), "lint came to no end"
    _, status, used = os.wait4(started.pid, 0)
    started.returncode = os.waitstatus_to_exitcode(status)
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def _taken(text: str) -> dict[str, float]:
    """Return the least time of each step, every round on a model of its own."""
    taken: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        seconds, found = _timed(lambda: resolve(load_intent(load_text(text, "fabric.yaml"))))
        taken.setdefault("resolve", []).append(seconds)
        for name, check in _checks(found).items():
            taken.setdefault(name, []).append(_timed(check)[0])
    return {name: min(times) for name, times in taken.items()}


def _timed(run: Callable[[], Found]) -> tuple[float, Found]:
    started = time.process_time()
    found = run()
    return time.process_time() - started, found


def _checks(found: Fabric) -> Mapping[str, Callable[[], RoutingVerdict]]:
    """Return what is asked of a fabric, of all that are identical and of all unlike."""
    worn = _worn(found)
    bounces = RoutingQuestion("up-down", _two_leaves(found))
    return {
        "Clos, two bounces": lambda: _cycle_through(found, bounces),
        "all unlike": lambda: routing_verdict(wires_of(worn), UP_DOWN),
        "all unlike, two bounces": lambda: _cycle_through(worn, bounces),
        "all unlike, shortest path": lambda: routing_verdict(wires_of(worn), SHORTEST),
    }


def _two_leaves(found: Fabric) -> frozenset[str]:
    leaves = [switch.name for switch in found.switches if switch.tier is Tier.LEAF]
    return frozenset(Random(len(leaves)).sample(leaves, 2))


def _cycle_through(found: Fabric, question: RoutingQuestion) -> RoutingVerdict:
    """Find the cycle that two bounces, planted at random, close.

    Raises:
        AssertionError: it is not found, or goes elsewhere.
    """
    verdict = routing_verdict(wires_of(found), question)
    assert {hop.near for hop in verdict.cycle if hop.up_again} == question.bounces
    return verdict


def _worn(found: Fabric, each: int = 2) -> Fabric:
    """Return a fabric in which every leaf has lost one or two of its links to switches at random."""
    random, up = Random(1), dict[str, list[int]]()
    for place, link in enumerate(found.links):
        if not link.to_host:
            up.setdefault(link.a, []).append(place)
    leaves = [switch.name for switch in found.switches if switch.tier is Tier.LEAF]
    gone = {random.choice(up[leaf]) for leaf in leaves for _ in range(each)}
    return found._replace(links=tuple(link for place, link in enumerate(found.links) if place not in gone))


def _exponent(measured: Sequence[tuple[int, float]]) -> float:
    """Return the slope of the logarithm of time against that of size, by least squares."""
    points = [(math.log(size), math.log(seconds)) for size, seconds in measured]
    mean_x, mean_y = (sum(values) / len(points) for values in zip(*points, strict=True))
    along = sum((x - mean_x) ** 2 for x, _ in points)
    return float(sum((x - mean_x) * (y - mean_y) for x, y in points) / along)


def _failures() -> list[tuple[str, float, float, str]]:
    """Return how long fabrics take with failures, whose links are all identical and all unlike, many and few."""
    rows = []
    for planes, supers in ((8, 64), (4, 32), (2, 16)):
        text = INTENT.format(pods=16, leaves=8, planes=planes, supers=supers)
        found = resolve(load_intent(load_text(text, "fabric.yaml")))
        for name, fabric in (("identical", found), ("unlike", _worn(found, 2 if planes > 4 else 1))):
            for failed, goal in ((1, 30.0), (2, 60.0)):
                wires = wires_of(fabric)
                seconds, outcome = _timed(
                    partial(after_failures, wires, SHORTEST, FailureBudget(failed, failed))
                )
                kind = f"{outcome.cases} {'drawn' if outcome.drawn else 'cases'}"
                rows.append(
                    (f"1,024 hosts, {planes} planes, {name}, {failed} failed, {kind}", seconds, goal, "s")
                )
    return rows


if __name__ == "__main__":
    main()
