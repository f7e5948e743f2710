"""Whatever installs this project installs locked versions by their hashes, and builds without a network."""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tools.hook_versions import versions, with_versions

ROOT = Path(__file__).parent.parent.parent
HOOKS: list[dict[str, Any]] = YAML(typ="safe").load(ROOT / ".pre-commit-hooks.yaml")
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


def test_hooks_that_promise_hashes_run_the_script_that_installs_by_hash() -> None:
    promising = [hook for hook in HOOKS if hook["id"].endswith("-locked")]
    assert {(hook["language"], hook["entry"].split()[0]) for hook in promising} == {
        ("script", "integrations/pre-commit/lossless")
    }
    assert not any("additional_dependencies" in hook for hook in promising)


def test_each_hook_is_there_with_and_without_hashes_and_runs_the_same() -> None:
    apart = ("description", "language", "additional_dependencies")
    shared = {hook["id"]: {key: hook[key] for key in hook.keys() - {*apart}} for hook in HOOKS}
    names = [name for name in shared if not name.endswith("-locked")]
    assert [*shared] == [*names, *(f"{name}-locked" for name in names)]
    for name in names:
        entry = f"integrations/pre-commit/{shared[name]['entry']}"
        assert shared[f"{name}-locked"] == shared[name] | {"id": f"{name}-locked", "entry": entry}


def test_hooks_that_pre_commit_installs_have_the_exact_versions_of_the_lock() -> None:
    """``make lock`` writes both; a list that was not written again with the lock fails here."""
    lists = [hook["additional_dependencies"] for hook in HOOKS if hook["language"] == "python"]
    assert lists == [versions((ROOT / "requirements" / "base.txt").read_text())] * 3
    locked = {f"{name}=={version}{marker}".strip() for (name, marker), (version, _) in pins("run").items()}
    assert {*lists[0]} < locked
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    installed = {*map(bare, lists[0])}
    assert installed >= {*map(bare, project["project"]["dependencies"])}
    assert not installed & {*map(bare, project["build-system"]["requires"])}


def test_a_list_of_versions_has_what_a_dependency_needs_and_no_build_backend() -> None:
    digest = f"    --hash=sha256:{'0' * 64}\n"
    lock = "".join(
        f"{pin} \\\n{digest}{via}"
        for pin, via in (
            ("builder==1", "    # via -r requirements/build.in\n"),
            ("deep==2 ; python_full_version < '3.12'", "    # via\n    #   builder\n    #   middle\n"),
            ("direct==3", "    # via lossless (pyproject.toml)\n"),
            ("middle==4", "    # via direct\n"),
            ("plugin==5", "    # via builder\n"),
        )
    )
    listed = versions(lock)
    assert listed == ["deep==2 ; python_full_version < '3.12'", "direct==3", "middle==4"]
    stale = "- id: a\n  additional_dependencies: &locked\n  - old==1\n\n- id: b\n"
    assert with_versions(stale, listed[1:]) == stale.replace("old==1", "direct==3\n  - middle==4")
