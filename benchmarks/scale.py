"""How time and memory grow with a fabric: commands over three tiers of 16,384 to 131,072 hosts, and of 1,048,576.

    python benchmarks/scale.py [--largest]

Time is that of the processor, memory the peak of the process. An exponent of 1 is time in proportion to the hosts.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.measure import ENVIRONMENT, report

LOSSLESS = str(Path(sys.executable).parent / "lossless")
INTENT = """
lossless: v1
fabric: scale
transport: rocev2
preset: nvidia
hardware: {{switch: nvidia-sn5600, nic: connectx-7}}
topology:
  oversubscription: {{leaf: {above}, spine: {above}}}
  three_tier:
    pods: {pods}
    leaves_per_pod: {leaves}
    spines_per_pod: 32
    super_spines: 1024
    planes: 32
    hosts_per_leaf: {hosts}
    host_links: 1 x {host_rate}
    uplinks: 1 x {rate}
    spine_uplinks: 1 x {rate}
    cables: {{host: 5m, uplink: 30m, spine_uplink: 40m}}
cluster: {{gpus_per_host: 1}}
"""
PODS = (8, 32, 64)
HOSTS_IN_POD = 2048
COMMANDS = {
    "lint": ("lint",),
    "topology": ("topology",),
    "workload": ("workload",),
    "storm": ("storm", "--from", "host1"),
    "trace": ("trace", "--from", "host1", "--to", "host16384", "--dscp", "26"),
}
TIMES_LINT = {"topology": 1.5, "workload": 1.5, "storm": 3.0, "trace": 3.0}
"""What a command may take, over what lint of the same intent takes."""
MOST_EXPONENT = 1.1


class Cost(NamedTuple):
    """What one process took."""

    cpu_s: float
    peak_mib: float


def cost(words: tuple[str, ...], intent: Path) -> Cost:
    """Return what a command over an intent takes; it must not fail."""
    command, *options = words
    silent = os.open(os.devnull, os.O_WRONLY)
    actions = [(os.POSIX_SPAWN_DUP2, silent, 1)]
    child = os.posix_spawn(
        LOSSLESS, [LOSSLESS, command, str(intent), *options], ENVIRONMENT, file_actions=actions
    )
    _, status, used = os.wait4(child, 0)
    os.close(silent)
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"{' '.join(words)} failed")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def costs(folder: Path, **shape: object) -> dict[str, Cost]:
    """Return what each command takes over a fabric of a shape."""
    intent = folder / "fabric.yaml"
    intent.write_text(INTENT.format(**shape), encoding="utf-8")
    return {name: cost(words, intent) for name, words in COMMANDS.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--largest", action="store_true", help="1,048,576 hosts, too")
    largest = parser.parse_args().largest
    narrow = {"leaves": 32, "hosts": 64, "host_rate": "400G", "rate": "800G", "above": 1}
    wide = {"leaves": 64, "hosts": 128, "host_rate": "200G", "rate": "400G", "above": 2}
    with tempfile.TemporaryDirectory() as folder:
        by_pods = {pods: costs(Path(folder), pods=pods, **narrow) for pods in PODS}
        most = costs(Path(folder), pods=128, **wide) if largest else {}
    for pods, found in by_pods.items():
        print(f"{pods * HOSTS_IN_POD:,} hosts:", _spoken(found))
    if most:
        print("1,048,576 hosts:", _spoken(most))
    few, middle, many = (by_pods[pods] for pods in PODS)
    grown = math.log(PODS[-1] / PODS[0])
    report(
        [
            *(
                (f"{name}, 65,536 hosts", middle[name].cpu_s / middle["lint"].cpu_s, times, "x lint")
                for name, times in TIMES_LINT.items()
            ),
            ("storm, 65,536 hosts", middle["storm"].peak_mib, 500.0, "MiB"),
            *(
                (
                    f"{name}, growth",
                    math.log(many[name].cpu_s / few[name].cpu_s) / grown,
                    MOST_EXPONENT,
                    "exponent",
                )
                for name in COMMANDS
            ),
        ]
    )


def _spoken(found: dict[str, Cost]) -> str:
    return ", ".join(f"{name} {took.cpu_s:.1f} s and {took.peak_mib:.0f} MiB" for name, took in found.items())


if __name__ == "__main__":
    main()
