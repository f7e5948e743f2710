"""Shows whether two versions of lossless do the same: runs the commands of both on the same files and compares.

    python tools/behaviour.py OLD NEW --reference ../shared

OLD and NEW are checkouts with an installed ``.venv``. Each command runs on the files of the reference (corpus,
published designs, known defects) and on OLD's examples. Compared are exit codes; of lint the findings by file, code,
object and severity; of everything else what was printed or written, byte by byte. Differences that are intended
stand in ``tools/behaviour.toml``: arguments that have other names now, keys of JSON that have, and findings that
changed with the reason.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
TIMEOUT_S = 1200
SEEDS = ("--seeds", "3")


class Case(NamedTuple):
    """One command on one input: its words, as OLD calls them, below the folder of inputs."""

    name: str
    words: tuple[str, ...]


class Outcome(NamedTuple):
    """What a command did: its exit code and what is compared of its output."""

    code: int
    seen: Any


def inputs(reference: Path, examples: Path, folder: Path) -> None:
    """Lay the files that both versions are given into one folder."""
    for name in ("corpus", "reference/designs", "reference/defects"):
        shutil.copytree(reference / name, folder / Path(name).name, copy_function=shutil.copyfile)
    shutil.copytree(examples, folder / "examples")
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)


def cases(folder: Path) -> Iterator[Case]:
    """Yield every command that is run."""
    os.chdir(folder)
    configurations = sorted(map(str, [*Path("corpus").rglob("*.json"), *Path("defects").rglob("*.json")]))
    intents = sorted(
        str(path)
        for path in (
            *Path("designs").glob("*.yaml"),
            *Path("defects").rglob("*.yaml"),
            *Path("examples").rglob("*.yaml"),
        )
    )
    for name in configurations:
        yield Case(f"lint {name}", ("lint", "--format", "json", "-v", name))
    for name in intents:
        yield from _of_intent(name)
    for name in sorted(map(str, Path("corpus/full").glob("*.json"))):
        yield from _of_configuration(name)
    yield from _of_trees()


def _of_intent(name: str) -> Iterator[Case]:
    yield Case(f"lint {name}", ("lint", "--format", "json", "-v", name))
    yield Case(f"lint --simulate {name}", ("lint", "--simulate", "--format", "json", name))
    yield Case(f"render {name}", ("render", name, "-o", "OUT"))
    yield Case(f"simulate {name}", ("simulate", name, "--format", "json", "--nics", "16", *SEEDS))
    yield Case(f"closed form {name}", ("simulate", name, "--closed-form", "--format", "json"))
    yield Case(f"headroom {name}", ("headroom", name, "--format", "json"))
    yield Case(f"topology {name}", ("topology", name, "--format", "json", "--svg", "OUT/topology.svg"))
    workload = ("workload", name, "--collective", "all-reduce", "--size", "1GB", "--format", "json")
    yield Case(f"workload {name}", workload)
    base = Path(name).parent / "base"
    if base.is_dir():
        full = ("render", name, "-o", "OUT", "--base", str(base), "--also", "patch", "--also", "rollback")
        yield Case(f"render on base {name}", full)
        for device in sorted(base.iterdir()):
            yield Case(f"diff {device}", ("diff", f"{device}/config_db.json", name, "--format", "json"))


def _of_configuration(name: str) -> Iterator[Case]:
    yield Case(f"import {name}", ("import", name, "-o", "OUT/fabric.yaml"))
    yield Case(f"headroom {name}", ("headroom", name, "--format", "json"))
    yield Case(f"lint with DSCPs {name}", ("lint", "--rdma-dscp", "3,4,26", "--format", "json", name))
    run = ("simulate", name, "--nic", "connectx-7", "--format", "json", "--nics", "8", *SEEDS)
    yield Case(f"simulate {name}", run)


def _of_trees() -> Iterator[Case]:
    yield Case("lint corpus/full", ("lint", "--format", "json", "corpus/full"))
    yield Case("lint examples/roce-256", ("lint", "--format", "json", "examples/roce-256"))
    yield Case("collector", ("collector",))
    yield Case("collector of switches", ("collector", "--switch"))
    yield Case("rules", ("rules",))
    for path in ("examples/roce-256", "examples/thor-64/fabric.yaml", "designs/superpod-roce-1su.yaml"):
        host = "h1" if "thor" in path else "host1"
        yield Case(f"storm {path}", ("storm", path, "--from", host, "--format", "json"))
    for dscp in ("0", "26", "48"):
        ends = ("--from", "host1", "--to", "host17", "--dscp", dscp)
        yield Case(
            f"trace intent {dscp}", ("trace", "examples/roce-256/fabric.yaml", *ends, "--format", "json")
        )
    ends = ("--from", "leaf1:Ethernet0", "--to", "leaf1:Ethernet8", "--dscp", "26")
    yield Case("trace deployed", ("trace", "examples/roce-256/base", *ends, "--format", "json"))


class Renames(NamedTuple):
    """What NEW calls otherwise: words of commands, keys of JSON, keys that it alone has; and what differs, and why."""

    words: dict[str, str]
    keys: dict[str, str]
    added: list[str]
    intended: list[dict[str, str]]


def outcome(checkout: Path, case: Case, folder: Path, words: dict[str, str]) -> Outcome:
    """Run one command of one version."""
    with tempfile.TemporaryDirectory() as out:
        argv = [words.get(word, word) for word in case.words]
        argv = [out + word[3:] if word.startswith("OUT") else word for word in argv]
        environment = {
            key: value for key, value in os.environ.items() if not key.startswith(("LOSSLESS", "PYTHON"))
        }
        done = subprocess.run(
            [str(checkout / ".venv" / "bin" / "lossless"), *argv],
            cwd=folder,
            env=environment | {"COLUMNS": "100", "NO_COLOR": "1", "PYTHONPATH": str(checkout)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        written = {str(p.relative_to(out)): _digest(p) for p in sorted(Path(out).rglob("*")) if p.is_file()}
        return Outcome(done.returncode, _seen(case, done.stdout.decode(), written))


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _seen(case: Case, printed: str, written: dict[str, str]) -> Any:
    if not case.name.startswith("lint"):
        try:
            return {"printed": json.loads(printed), "written": written}
        except ValueError:
            return {"printed": printed, "written": written}
    report = json.loads(printed) if printed.startswith("{") else {}
    return {
        "findings": sorted(
            [f["file"], f["code"], f["object"], f["severity"]] for f in report.get("findings", [])
        ),
        "errors": len(report.get("errors", [])),
    }


def renamed(value: Any, keys: dict[str, str]) -> Any:
    """Return plain data of OLD with the keys that NEW has."""
    if isinstance(value, dict):
        return {keys.get(key, key): renamed(item, keys) for key, item in value.items()}
    return [renamed(item, keys) for item in value] if isinstance(value, list) else value


def without(value: Any, added: list[str]) -> Any:
    """Return plain data of NEW without the keys that OLD did not have."""
    if isinstance(value, dict):
        return {key: without(item, added) for key, item in value.items() if key not in added}
    return [without(item, added) for item in value] if isinstance(value, list) else value


def main() -> int:
    """Run both versions; print what differs and is not intended; exit 1 where anything is."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--reference", type=Path, default=HERE.parent.parent / "shared")
    parser.add_argument("--record", type=Path, help="file that keeps what OLD does between runs")
    parser.add_argument("--only", default="", help="only cases whose name holds this")
    options = parser.parse_args()
    old, new, reference = options.old.resolve(), options.new.resolve(), options.reference.resolve()
    record = options.record and options.record.resolve()
    renames = Renames(**tomllib.loads((HERE / "behaviour.toml").read_text(encoding="utf-8")))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "inputs"
        inputs(reference, old / "examples", folder)
        wanted = [case for case in cases(folder) if options.only in case.name]
        before = _recorded(record, old, wanted, folder)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            after = list(pool.map(lambda case: outcome(new, case, folder, renames.words), wanted))
    return _report(wanted, before, after, renames)


def _recorded(record: Path | None, old: Path, wanted: list[Case], folder: Path) -> list[Outcome]:
    known = json.loads(record.read_text()) if record is not None and record.exists() else {}
    missing = [case for case in wanted if case.name not in known]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for case, done in zip(missing, pool.map(lambda c: outcome(old, c, folder, {}), missing), strict=True):
            known[case.name] = done
    if record is not None:
        record.write_text(json.dumps(known))
    return [Outcome(*known[case.name]) for case in wanted]


def _report(wanted: list[Case], before: list[Outcome], after: list[Outcome], renames: Renames) -> int:
    intended = {row["case"]: row["why"] for row in renames.intended}
    unlike = 0
    for case, old, new in zip(wanted, before, after, strict=True):
        was = json.loads(json.dumps(renamed(old.seen, renames.keys)))
        now = without(json.loads(json.dumps(new.seen)), renames.added)
        if (old.code, was) == (new.code, now):
            continue
        why = intended.get(case.name)
        unlike += why is None
        print(f"{'intended' if why else 'DIFFERS'}: {case.name}: {why or ''}")
        _explain(old.code, new.code, was, now)
    print(f"{len(wanted)} commands on the same files, {unlike} differ")
    return 1 if unlike else 0


def _explain(old_code: int, new_code: int, was: Any, now: Any) -> None:
    if old_code != new_code:
        print(f"  exit {old_code} -> {new_code}")
    for key in sorted(was.keys() | now.keys()):
        old, new = was.get(key), now.get(key)
        if isinstance(old, list) and isinstance(new, list):
            for row in [row for row in old if row not in new][:5]:
                print(f"  - {row}")
            for row in [row for row in new if row not in old][:5]:
                print(f"  + {row}")
        elif old != new:
            print(f"  {key}: {str(old)[:300]}\n  {' ' * len(key)}  {str(new)[:300]}")


if __name__ == "__main__":
    sys.exit(main())
