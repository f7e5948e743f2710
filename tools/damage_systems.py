"""Damages rendered fabrics of EOS, NVUE and NX-OS, and chassis of SONiC, and holds ``lossless lint`` to what ports do.

    python tools/damage_systems.py SYSTEM [--seed N] [--count N] [--keep DIR] [--json FILE]

Each case renders the intent of a system (``eos``, ``nvue``, ``nxos``, or ``voq`` for a chassis), gives it what belongs
to a switch's own provisioning (MTU, descriptions), and damages one switch, one tier or all, at one port, some or all.
What the ports then do with DSCP 26 is read from the text again in tools/damages, which knows the
documented meaning of each line and nothing of the readers of this project. Then ``lint`` runs three times: on the tree
alone, with ``--rdma-dscp 26``, and with the intent. Counted are

- missed: a port that must carry the class is lossy, and lint exits with 0, the DSCP or the intent named,
- silent: it says nothing at all of a fault, not even that something is not checked,
- false: an error where every port is sound.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from lossless.api import Options, lint  # noqa: E402
from tools.damages import voq  # noqa: E402
from tools.damages.eos import EOS  # noqa: E402
from tools.damages.nvue import NVUE  # noqa: E402
from tools.damages.nxos import NXOS  # noqa: E402
from tools.damages.text import RDMA, Lines, Site, System  # noqa: E402

COMMAND = (sys.executable, "-c", "import sys; from lossless.interfaces.cli import main; sys.exit(main())")
Tree = dict[str, Lines]


class Verdict(NamedTuple):
    """What is wrong in a tree: for those who name the DSCP, for those who have the intent, and beside losses."""

    named: frozenset[str]
    intended: frozenset[str]
    unclear: frozenset[str]
    other: frozenset[str]


INTENT = """lossless: v1
fabric: damage
transport: rocev2
classes:
  rdma:    {{dscp: 26, priority: 3, lossless: true, bandwidth: 50%,
    ecn: {{min: 800 kB, max: 3200 kB, probability: 20%}}}}
  cnp:     {{dscp: 48, priority: 6, scheduling: strict}}
  default: {{dscp: rest, priority: 0, bandwidth: 50%}}
pfc:
  watchdog: {{poll: 200ms, detection: 600ms, restoration: 1200ms, action: drop}}
congestion_control:
  dcqcn: {{cnp_interval: 4us}}
hardware: {{switch: {hardware}, nic: connectx-7}}
topology:
  leaf_spine: {{leaves: 2, spines: 2, hosts_per_leaf: 2, host_links: 1 x 400G, uplinks: 2 x 400G,
    cables: {{host: 3m, uplink: 20m}}}}
"""
HOST_PORTS = 2
SECONDS, BACKUPS = 0.25, 0.1
"""How often a second damage is done, and how often a backup lies beside a file."""


SYSTEMS = {"eos": EOS, "nvue": NVUE, "nxos": NXOS}


class Run(NamedTuple):
    """What lint said: findings but information, by code and severity, and what is not checked, by rule and reason."""

    said: frozenset[str]
    unchecked: frozenset[tuple[str, str]]

    @property
    def errors(self) -> frozenset[str]:
        """The codes of its errors."""
        return frozenset(code for code in self.said if code.endswith(" error"))


def linted(paths: Sequence[Path], dscps: tuple[int, ...] = ()) -> Run:
    """Return what lint says of files, each of which it must read."""
    report = lint(paths, Options(rdma_dscps=dscps))
    if report.errors:
        raise SystemExit(f"not read: {report.errors}")
    said = frozenset(
        f"{found.code} {found.severity}" for found in report.findings if found.severity != "info"
    )
    return Run(said, frozenset((unchecked.code, unchecked.reason) for unchecked in report.not_checked))


def rendered(system: System, folder: Path) -> Tree:
    """Return the configurations of a system's intent, which is left in a folder."""
    intent = folder / "fabric.yaml"
    intent.write_text(INTENT.format(hardware=system.hardware))
    command = [*COMMAND, "render", str(intent), "-o"]
    subprocess.run([*command, str(folder / "out")], check=True, capture_output=True, cwd=ROOT)
    files = sorted((folder / "out").glob(f"*/{system.file}"))
    return {file.parent.name: system.provisioned(file.read_text().splitlines()) for file in files}


def verdict_of(tree: Tree, system: System) -> Verdict:
    """Return what is wrong in a tree."""
    named, intended, unclear, other = set(), set(), set(), set()
    for name, lines in tree.items():
        ports = {port: state for port, state in system.ports_of(lines).items() if port not in SPARE}
        for port, state in ports.items():
            if state.lossy:
                intended.add(f"{name} {port}: {state.lossy}")
                if not state.unclear and (not state.outside or all(each.outside for each in ports.values())):
                    named.add(f"{name} {port}: {state.lossy}")
            elif state.against:
                intended.add(f"{name} {port}: {state.against}")
            if state.beside:
                other.add(f"{name} {port}: {state.beside}")
            if state.unclear:
                unclear.add(f"{name} {port}: {state.unclear}")
            if not state.watched:
                other.add(f"{name} {port}: unwatched")
            if not (state.marks or state.lossy or state.unclear):
                other.add(f"{name} {port}: unmarked")
    return Verdict(frozenset(named), frozenset(intended), frozenset(unclear), frozenset(other))


SPARE = frozenset({"Ethernet40/1", "Ethernet1/30", "swp60"})
"""Ports that harmless damages add: no link of the intent uses them."""


def faults(verdict: Verdict, runs: dict[str, Run], sound: dict[str, Run]) -> list[str]:
    """Return where lint contradicts a verdict: in words that begin with missed, silent or false.

    ``sound`` is what lint says of the tree without damage.
    """
    found = []
    for mode, run in runs.items():
        lossy = {"named": verdict.named, "intent": verdict.intended}.get(mode, frozenset())
        wrong = lossy or verdict.other or (verdict.unclear if mode != "plain" else frozenset())
        if lossy and not run.errors:
            found.append(f"missed ({mode}): {min(lossy)}")
        if wrong and not run.said and run.unchecked <= sound[mode].unchecked:
            found.append(f"silent ({mode}): {min(wrong)}")
        if run.errors and not (verdict.intended or verdict.other or verdict.unclear):
            found.append(f"false ({mode}): {sorted(run.errors)}")
    return found


def damaged(tree: Tree, system: System, rng: random.Random, first: str) -> tuple[Tree, str]:
    """Return a tree with one damage or two, and their names."""
    labels = []
    for number in range(1 + (rng.random() < SECONDS)):
        name = first if number == 0 else rng.choice(list(system.damages))
        who = rng.choice(["one", "leaf", "spine", ""])
        switches = (
            [rng.choice(sorted(tree))] if who == "one" else [s for s in sorted(tree) if s.startswith(who)]
        )
        kind = rng.choice(["one", "hosts", "uplinks", "all"])
        state = rng.getstate()
        for switch in switches:
            rng.setstate(state)
            ports = [port for port in system.ports(tree[switch]) if port not in SPARE]
            hosts = ports[:HOST_PORTS] if switch.startswith("leaf") else []
            chosen = {"one": [rng.choice(ports)], "hosts": hosts or ports, "uplinks": ports[len(hosts) :]}
            tree = tree | {switch: system.damages[name](Site(tree[switch], chosen.get(kind, ports), rng))}
        labels.append(f"{name} [{kind}] on {' '.join(switches)}")
    return tree, "; ".join(labels)


def cases(system: System, seed: int, count: int, folder: Path) -> Iterator[tuple[str, Verdict]]:
    """Yield the tree without damage, then damaged ones: damages, and what is wrong. The files are in a folder."""
    base, rng = rendered(system, folder), random.Random(seed)
    names = list(system.damages)
    rng.shuffle(names)
    for number in range(-1, count):
        tree, label = base, ""
        if number >= 0:
            tree, label = damaged(base, system, rng, names[number % len(names)])
        files = {f"{name}/{system.file}": "\n".join(lines) + "\n" for name, lines in tree.items()}
        copies = {f"{name}.bak": text for name, text in files.items() if rng.random() < BACKUPS}
        written(folder, files | copies)
        yield label, verdict_of(tree, system)


def voq_cases(seed: int, count: int, folder: Path) -> Iterator[tuple[str, Verdict]]:
    """Yield the same of a chassis."""
    rng, names = random.Random(seed), list(voq.DAMAGES)
    rng.shuffle(names)
    for number in range(-1, count):
        cards, chosen = voq.chassis(), list[str]()
        if number >= 0:
            chosen = [names[number % len(names)], *([rng.choice(names)] if rng.random() < SECONDS else [])]
        for name in chosen:
            voq.DAMAGES[name](cards, rng)
        written(folder, {f"{name}/config_db.json": voq.text(rows) for name, rows in cards.items()})
        lossy, other = voq.verdict(cards)
        yield "; ".join(chosen), Verdict(lossy, lossy, frozenset(), other)


def written(folder: Path, files: dict[str, str]) -> None:
    """Write the files of a tree in place of the last one."""
    shutil.rmtree(folder / "tree", ignore_errors=True)
    for name, text in files.items():
        file = folder / "tree" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


class Case(NamedTuple):
    """A damaged tree: its damages, whether any port is lossy, where lint contradicts that, and what it said."""

    number: int
    damage: str
    lossy: bool
    faults: list[str]
    said: dict[str, list[str]]


def of_system(system: str, seed: int, count: int, folder: Path) -> Iterator[Case]:
    """Yield the cases of a system."""
    drawn = voq_cases(seed, count, folder) if system == "voq" else cases(SYSTEMS[system], seed, count, folder)
    sound: dict[str, Run] = {}
    for number, (label, verdict) in enumerate(drawn, -1):
        place = folder / "tree"
        runs = {"plain": linted([place]), "named": linted([place], (RDMA,))}
        if system != "voq":
            runs["intent"] = linted([folder / "fabric.yaml", place])
        if number >= 0:
            said = {mode: sorted(run.said) for mode, run in runs.items()}
            yield Case(number, label, bool(verdict.intended), faults(verdict, runs, sound), said)
        elif any(verdict) or any(run.said for run in runs.values()):
            raise SystemExit(f"the tree without damage is not sound: {verdict} {runs}")
        else:
            sound = runs


def main() -> int:
    """Run the cases of a system, print those that lint contradicts, and the counts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("system", choices=[*SYSTEMS, "voq"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--keep", type=Path, help="where trees are copied that lint contradicts")
    parser.add_argument("--json", type=Path, help="where all cases are written")
    options = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for case in of_system(options.system, options.seed, options.count, folder):
            found.append(case)
            if case.faults:
                print(case.number, case.damage, case.faults, case.said)
                if options.keep:
                    kept = options.keep / f"{options.seed}-{case.number:03}"
                    shutil.copytree(folder / "tree", kept, dirs_exist_ok=True)
    if options.json:
        options.json.write_text(json.dumps([case._asdict() for case in found], indent=1))
    lossy = sum(case.lossy for case in found)
    counts = ", ".join(
        f"{kind} {sum(any(fault.startswith(kind) for fault in case.faults) for case in found)}"
        for kind in ("missed", "silent", "false")
    )
    print(f"{options.system} seed {options.seed}: {len(found)} cases, {lossy} lossy, {counts}")
    return int(any(case.faults for case in found))


if __name__ == "__main__":
    sys.exit(main())
