"""Writes the commit that a package is built from into it, so that versions of two commits differ (hatchling runs it).

The commit comes from, in this order: the file ``COMMIT`` that a source distribution has; this file, as ``git archive``
writes it (``.gitattributes``); git, in a checkout. Without any of these the package has no commit.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ARCHIVED = "$Format:%H$"
DIGITS = 12
"""Digits of a commit in a version: two of a million commits have the same with a chance below 1 in 500."""


class CommitHook(BuildHookInterface):  # type: ignore[type-arg,unused-ignore]
    """Adds the file with the commit to a wheel and to a source distribution."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the file, unless there is no commit or the install is editable: the checkout has its own then."""
        commit = "" if version == "editable" else commit_of(Path(self.root))
        if commit:
            self._folder = tempfile.TemporaryDirectory()
            file = Path(self._folder.name, "COMMIT")
            file.write_text(f"{commit}\n", encoding="ascii")
            place = "COMMIT" if self.target_name == "sdist" else "lossless/_data/COMMIT"
            build_data["force_include"][str(file)] = place


def commit_of(root: Path, archived: str = ARCHIVED) -> str:
    """Return the first digits of the commit of a source tree, with ``.dirty`` if files differ; empty if unknown."""
    stated = root / "COMMIT"
    if stated.is_file():
        return stated.read_text(encoding="ascii").strip()
    if not archived.startswith("$"):
        return archived[:DIGITS]
    if not (root / ".git").exists():
        return ""
    asked = ["git", "--no-optional-locks", "-C", str(root), "describe", "--always", "--exclude=*"]
    try:
        done = subprocess.run(
            [*asked, "--abbrev=40", "--dirty=.dirty"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    commit, dot, dirty = done.stdout.strip().partition(".")
    return f"{commit[:DIGITS]}{dot}{dirty}"
