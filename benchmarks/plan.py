"""How long a plan takes for 1,024 switches and 8,192 hosts: from an intent, and from the files of all switches.

    python benchmarks/plan.py

Each change is measured against lint of the target; the seconds are those of the processor.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.measure import ENVIRONMENT, report
from lossless.checks.plan.inputs import running_of_intent
from lossless.formats.inputs.fabrics import fabrics_of, intent_at

LOSSLESS = str(Path(sys.executable).parent / "lossless")
INTENT = """
lossless: v1
fabric: large
transport: rocev2
sonic: {release: "202411"}
preset: nvidia
hardware: {switch: nvidia-sn5600, nic: connectx-7}
topology:
  oversubscription: {leaf: 1, spine: 2}
  three_tier:
    pods: 16
    leaves_per_pod: 32
    spines_per_pod: 16
    super_spines: 256
    planes: 16
    hosts_per_leaf: 16
    host_links: 1 x 400G
    uplinks: 1 x 800G
    spine_uplinks: 1 x 800G
    cables: {host: 5m, uplink: 30m, spine_uplink: 40m}
cluster: {gpus_per_host: 1}
"""
CLASSES = {
    "new DSCP": "classes: {rdma: {dscp: 24}}\n",
    "ECN curve": "classes: {rdma: {ecn: {min: 4 MiB, max: 8 MiB, probability: 20%}}}\n",
    "new lossless class": (
        "classes: {rdma: {bandwidth: 40%}, checkpoints: {dscp: 28, priority: 4, lossless: true, bandwidth: 10%, "
        "ecn: {min: 800 KiB, max: 3200 KiB, probability: 20%}}}\n"
    ),
}
MOST_S = 60.0
"""Longest that a plan may take."""


def cpu_s(*words: str) -> float:
    """Return the processor time of one command; it must not fail."""
    silent = os.open(os.devnull, os.O_WRONLY)
    actions = [(os.POSIX_SPAWN_DUP2, silent, 1)]
    child = os.posix_spawn(LOSSLESS, [LOSSLESS, *words], ENVIRONMENT, file_actions=actions)
    _, status, used = os.wait4(child, 0)
    os.close(silent)
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"{' '.join(words)} failed")
    return used.ru_utime + used.ru_stime


def write_running(intent: Path, folder: Path) -> None:
    """Write what the switches of an intent run, one config_db.json a switch."""
    document = intent_at(intent)
    for name, running in running_of_intent(fabrics_of([document]).fabrics[0], document).documents.items():
        data = {**running.data, "VERSIONS": {"DATABASE": {"VERSION": "version_202411_01"}}}
        (folder / name).mkdir(parents=True)
        (folder / name / "config_db.json").write_text(json.dumps(data, indent=4), encoding="utf-8")


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        old, new = folder / "old.yaml", folder / "new.yaml"
        old.write_text(INTENT, encoding="utf-8")
        write_running(old, folder / "running")
        rows: list[tuple[str, float, float, str]] = []
        for change, classes in CLASSES.items():
            new.write_text(INTENT.replace("hardware:", f"{classes}hardware:"), encoding="utf-8")
            lint_s = cpu_s("lint", str(new))
            for source in (old, folder / "running"):
                took_s = cpu_s("plan", str(source), str(new), "-o", str(folder / "plan"))
                rows.append((f"{change}, from {source.name}", took_s, MOST_S, "s"))
                print(f"{change}, from {source.name}: {took_s / lint_s:.1f} times lint of the target")
    report(rows)


if __name__ == "__main__":
    main()
