"""This checkout as others install it: a repository of its own, and an environment that needs no network."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.interfaces.cli.repositories import commit, environment, git

ROOT = Path(__file__).parent.parent.parent
LEFT_OUT = (
    ".git",
    ".venv*",
    "__pycache__",
    ".*_cache",
    ".hypothesis",
    "out",
    "build",
    "dist",
    "tests",
    "benchmarks",
    "docs",
)

_PYTHON = """#!/bin/sh
# python3 whose environments get no pip: it is among the dependencies, and copying it takes half of an installation.
[ "$1 $2" != "-m venv" ] || set -- "$@" --without-pip
exec {python} "$@"
"""


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with one commit that holds the working tree, without its tests."""
    folder = tmp_path_factory.mktemp("checkout") / "lossless"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder, {})
    return folder


@pytest.fixture(scope="session")
def installing(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """What lets the real pip install this package in any environment without a network.

    Its dependencies are those of this environment, by the path; the package itself is not on it.
    """
    dependencies = tmp_path_factory.mktemp("dependencies")
    for entry in Path(sysconfig.get_paths()["purelib"]).iterdir():
        if "lossless" not in entry.name and not entry.name.endswith(".pth"):
            (dependencies / entry.name).symlink_to(entry)
    programs = tmp_path_factory.mktemp("programs")
    python = programs / "python3"
    python.write_text(_PYTHON.format(python=shlex.quote(f"{sys.base_prefix}/bin/python3")))
    python.chmod(0o755)
    # pip reads 0 as "no isolation": the name is that of the option, the value that of what it switches off. Modules are
    # compiled when they are imported, which most are not.
    pip = {"PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_CACHE_DIR": "1"}
    pip |= {"PIP_NO_COMPILE": "0"}
    without = ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE", "NO_COLOR", "FORCE_COLOR")
    kept = {name: value for name, value in environment().items() if name not in without}
    own = {"PYTHONPATH": str(dependencies), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return on_path(kept | pip | own, programs)


def bash(
    script: str, folder: Path, given: Mapping[str, str], *options: str
) -> subprocess.CompletedProcess[str]:
    """Run a script as CI systems do."""
    command = ["bash", "--noprofile", "--norc", *(options or ("-eo", "pipefail")), "-c", script]
    return subprocess.run(command, cwd=folder, env=dict(given), capture_output=True, text=True, check=False)


def on_path(given: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return an environment in which the programs of a folder come first."""
    return {**given, "PATH": f"{folder}{os.pathsep}{given['PATH']}"}
