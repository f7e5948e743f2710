"""What it costs to know whether buffers can wait in a circle: against size, after failures, and where nothing is alike.

The fabrics are three-tier Clos of growing size, resolved from intents; the check is that of the rules, from links to
verdict. In the worn ones every leaf has lost a link of its own choice, so that no two are alike.
"""

from __future__ import annotations

import math
import resource
import sys
import time
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.measure import report
from lossless.intent.load import load_intent
from lossless.resolve.fabric import resolve
from lossless.routing.failures import Borne, after_failures
from lossless.routing.judge import Question, judge
from lossless.routing.wires import wires_of, without
from lossless.source import load_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lossless.fabric.model import Fabric
    from lossless.routing.wires import Wires

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
    spines_per_pod: {leaves}
    super_spines: {supers}
    planes: {leaves}
    hosts_per_leaf: {leaves}
    host_links: 1 x 800G
    uplinks: 1 x 800G
    spine_uplinks: 1 x 800G
    cables: {{host: 3m, uplink: 30m, spine_uplink: 100m}}
"""
PODS = (4, 8, 16, 32, 64)
"""Of 1,024 hosts each: 4,096 to 65,536."""
ROUNDS = 3


def main() -> None:
    """Measure and print; the memory is the peak of the whole process, model included."""
    alike, worn = [], []
    for pods in PODS:
        started = time.perf_counter()
        found = _fabric(pods, leaves=32, supers=512)
        resolved = time.perf_counter() - started
        alike.append((len(found.hosts), _least(partial(_planted, found))))
        worn.append((len(found.hosts), _least(partial(_judged_worn, found))))
        print(
            f"{len(found.hosts):6,} hosts: resolved in {resolved:5.2f} s, two bounces found in {alike[-1][1]:5.2f} s, "
            f"all unlike in {worn[-1][1]:5.2f} s"
        )
    mebibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    report(
        [
            ("growth exponent, Clos", _exponent(alike), 1.1, ""),
            ("growth exponent, all unlike", _exponent(worn), 1.1, ""),
            ("65,536 hosts, model and circle", resolved + alike[-1][1], 60.0, "s"),
            ("65,536 hosts, peak memory", mebibytes, 8192.0, "MiB"),
            *_failures(),
        ]
    )


def _fabric(pods: int, leaves: int, supers: int) -> Fabric:
    return resolve(
        load_intent(load_text(INTENT.format(pods=pods, leaves=leaves, supers=supers), "fabric.yaml"))
    )


def _least(run: Callable[[], object]) -> float:
    """Return the least time of a few runs, in seconds."""
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return min(times)


def _judged_worn(found: Fabric) -> None:
    judge(_worn(wires_of(found)), Question("up-down"))


def _planted(found: Fabric) -> None:
    """Plant two bounces at random and find the circle they close.

    Raises:
        AssertionError: it is not found, or goes elsewhere.
    """
    wires = wires_of(found)
    leaves = [name for name, here in zip(wires.names, wires.attached, strict=True) if here]
    bounce = frozenset(Random(len(leaves)).sample(leaves, 2))
    circle = judge(wires, Question("up-down", bounce)).circle
    assert {hop.near for hop in circle if hop.up_again} == bounce


def _worn(wires: Wires) -> Wires:
    """Return wires in which every switch with hosts has lost one or two of its links at random."""
    random = Random(1)
    leaves = [leaf for leaf, here in enumerate(wires.attached) if here]
    gone = {(leaf, random.choice(list(wires.links[leaf]))) for leaf in leaves for _ in range(2)}
    return without(wires, pairs=gone)


def _exponent(measured: Sequence[tuple[int, float]]) -> float:
    """Return the slope of the logarithm of time against that of size, by least squares."""
    points = [(math.log(size), math.log(seconds)) for size, seconds in measured]
    mean_x, mean_y = (sum(values) / len(points) for values in zip(*points, strict=True))
    along = sum((x - mean_x) ** 2 for x, _ in points)
    return float(sum((x - mean_x) * (y - mean_y) for x, y in points) / along)


def _failures() -> list[tuple[str, float, float, str]]:
    """Return how long 1,024 hosts take with failures, whose links are all alike and all unlike."""
    wires = wires_of(_fabric(pods=16, leaves=8, supers=64))
    question, rows = Question("shortest-path"), []
    for name, found in (("Clos", wires), ("all unlike", _worn(wires))):
        for survive, goal in ((1, 30.0), (2, 60.0)):
            started = time.perf_counter()
            outcome = after_failures(found, question, Borne(survive, survive))
            kind = f"{outcome.cases} {'drawn' if outcome.drawn else 'cases'}"
            rows.append(
                (f"1,024 hosts, {survive} failed, {name}, {kind}", time.perf_counter() - started, goal, "s")
            )
    return rows


if __name__ == "__main__":
    main()
