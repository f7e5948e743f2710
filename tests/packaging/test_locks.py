"""Whatever installs this project installs locked versions by their hashes, and builds without a network."""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parent.parent.parent
LOCKS = ("base", "run", "dev", "docs", "lock", "lowest", "release")
PIN = re.compile(
    r"^([a-z0-9-]+)==([^ ]+)((?: ;[^\\]+)?) \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE
)
INSTALLERS = (
    "Makefile",
    "action.yml",
    "integrations/gitlab/lossless.yml",
    "integrations/pre-commit/lossless",
)


def pins(lock: str) -> dict[tuple[str, str], tuple[str, frozenset[str]]]:
    """Return the version and the hashes of each package of a lock, by its name and marker."""
    text = (ROOT / "requirements" / f"{lock}.txt").read_text()
    return {
        (name, marker): (version, frozenset(hashes.split()))
        for name, version, marker, hashes in PIN.findall(text)
    }


def bare(name: str) -> str:
    """Return the name of a requirement as locks have it."""
    return re.sub(r"[-_.]+", "-", re.split(r"[<>=!;\[ ]", name, maxsplit=1)[0]).lower()


@pytest.mark.parametrize("lock", LOCKS)
def test_each_line_of_a_lock_is_a_version_with_hashes(lock: str) -> None:
    text = (ROOT / "requirements" / f"{lock}.txt").read_text()
    left = PIN.sub("", text)
    assert pins(lock)
    assert [line for line in left.splitlines() if line.strip() and not line.startswith("    #")] == []


def test_what_lints_is_a_part_of_what_simulates() -> None:
    base, run = pins("base"), pins("run")
    assert {key: run[key][0] for key in base} == {key: version for key, (version, _) in base.items()}
    assert not {"numba", "llvmlite", "numpy"} & {name for name, _ in base}


def test_locks_hold_what_the_project_and_its_build_need() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = chain(project["project"]["dependencies"], project["build-system"]["requires"])
    assert set(map(bare, wanted)) <= {name for name, _ in pins("base")}
    simulating = set(map(bare, project["project"]["optional-dependencies"]["sim"]))
    assert simulating <= {name for name, _ in pins("run")}


@pytest.mark.parametrize("file", INSTALLERS)
def test_nothing_is_installed_but_by_hash_or_from_the_checkout(file: str) -> None:
    text = (ROOT / file).read_text()
    calls = [
        line
        for line in re.findall(r"^.*(?:pip install|pip_install)\b(.*)$", text, re.MULTILINE)
        if not line.rstrip().endswith(('"$@"', '"$@" >&2', "() {"))
    ]
    assert calls
    for call in calls:
        locked = re.search(r'--require-hashes -r "?[^ ]*requirements/[^ ]+\.txt', call)
        own = "--no-deps" in call and "--no-build-isolation" in call
        assert locked or own, call
        assert locked or "--no-index" in call or file == "Makefile", call


def test_hooks_run_the_script_that_installs_by_hash() -> None:
    hooks = YAML(typ="safe").load(ROOT / ".pre-commit-hooks.yaml")
    assert {(hook["language"], hook["entry"].split()[0]) for hook in hooks} == {
        ("script", "integrations/pre-commit/lossless")
    }
    assert not any("additional_dependencies" in hook for hook in hooks)
