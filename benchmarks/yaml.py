"""How long it takes to check 100 different intents of 200 lines, beside yamllint on the same files in the same run.

The intents name their devices and links one by one, as those do that are this long: twelve leaves, four spines and
their hosts. Each file is a fabric of its own, with numbers of its own.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.measure import report, seconds

BIN = Path(sys.executable).parent
FILES, LINES = 100, 200
LEAVES, SPINES = 12, 4
ROUNDS = 3
GOAL = 0.5
"""Of yamllint's time."""

HEAD = """\
lossless: v1
fabric: site{number}
transport: rocev2

classes:
  rdma:
    {{dscp: 26, priority: 3, lossless: true, bandwidth: 50%, ecn: {{min: {kmin} KiB, max: 3200 KiB, probability: 20%}}}}
  cnp: {{dscp: 48, priority: 6, scheduling: strict}}
  default: {{dscp: rest, priority: 0, bandwidth: 50%}}

pfc:
  watchdog: {{poll: 600ms, detection: 1200ms, restoration: 1200ms, action: drop}}

congestion_control:
  dcqcn: {{cnp_interval: 4us}}

hardware: {{leaf: nvidia-sn5600, spine: nvidia-sn5600, nic: connectx-7}}

topology:
  oversubscription: 1
  devices:
"""


def main() -> None:
    """Measure whole processes alternately and print the best of some rounds."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(FILES):
            (Path(folder) / f"site{number}.yaml").write_text(_intent(number), encoding="utf-8")
        ours, theirs = [str(BIN / "lossless"), "lint", folder], [str(BIN / "yamllint"), folder]
        taken = [(seconds(ours), seconds(theirs)) for _ in range(ROUNDS)]
    checked, linted = (min(times) for times in zip(*taken, strict=True))
    print(f"{FILES} intents of {LINES} lines: {checked:.2f} s, yamllint {linted:.2f} s")
    report([(f"{FILES} intents of {LINES} lines", checked / linted, GOAL, "x yamllint")])


def _intent(number: int) -> str:
    """Return an intent of ``LINES`` lines: hosts fill what leaves, spines and what joins them leave."""
    head = HEAD.format(number=number, kmin=800 + number)
    switches = [
        *(f"    leaf{n}: {{role: leaf}}" for n in range(1, LEAVES + 1)),
        *(f"    spine{n}: {{role: spine}}" for n in range(1, SPINES + 1)),
    ]
    joined = [
        f"    - {{a: leaf{leaf}, b: spine{spine}, links: 4 x 800G, cable: {20 + (leaf + number) % 10}m}}"
        for leaf in range(1, LEAVES + 1)
        for spine in range(1, SPINES + 1)
    ]
    hosts = range((LINES - head.count("\n") - len(switches) - 1 - len(joined)) // 2)
    devices = [*switches, *(f"    gpu{n}: {{role: host}}" for n in hosts)]
    down = [f"    - {{a: leaf{n % LEAVES + 1}, b: gpu{n}, links: 2 x 400G, cable: 3m}}" for n in hosts]
    lines = [*devices, "  links:", *joined, *down]
    rest = LINES - head.count("\n") - len(lines)
    return head + "\n".join([*lines, *["# end"] * rest]) + "\n"


if __name__ == "__main__":
    main()
