"""Repositories of git for tests: real ones, without anything of the person who runs the tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

PLAIN = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def environment() -> dict[str, str]:
    """Return the environment without what a hook was told of another repository."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | PLAIN


def git(folder: Path, *arguments: str) -> str:
    """Run git, which must succeed."""
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def repository(folder: Path, files: dict[str, str]) -> Path:
    """Make a repository with one commit that holds some files."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder, files)
    return folder


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write files below a folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def commit(folder: Path, files: dict[str, str]) -> None:
    """Write files, and commit all there is."""
    write(folder, files)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message=one")
