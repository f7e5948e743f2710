"""The versions that pre-commit installs for the hooks of `language: python`, from the lock.

``python tools/hook_versions.py`` writes them into ``.pre-commit-hooks.yaml``; with ``--check`` it says whether they are
stale. They are those of ``requirements/base.txt`` without the build backend, which an installed hook does not use.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tools.generated import write_or_check

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements" / "base.txt"
HOOKS = ROOT / ".pre-commit-hooks.yaml"
PROJECT = "lossless (pyproject.toml)"
"""The name by which uv says in a lock that the project itself requires a package."""
_PIN = re.compile(r"^(([a-z0-9-]+)==[^\n\\]+) \\\n((?: .*\n)+)", re.MULTILINE)
_REQUIRED_BY = re.compile(r"^    #(?: via|  ) (.+)$", re.MULTILINE)
_LIST = re.compile(r"(?<=  additional_dependencies: &locked\n)(?:  - .*\n)*")


def versions(lock: str) -> list[str]:
    """Return the pins, with their markers, of the packages in a lock that the project needs when it runs.

    A lock names below each package those that require it.
    """
    pins = {name: (pin, {*_REQUIRED_BY.findall(rest)}) for pin, name, rest in _PIN.findall(lock)}
    needed = {PROJECT}
    while more := {name for name, (_, above) in pins.items() if above & needed} - needed:
        needed |= more
    return [pin for name, (pin, _) in pins.items() if name in needed]


def with_versions(hooks: str, pins: Sequence[str]) -> str:
    """Return the file of hooks with a list of pins: the first hook has it, and the others refer to it."""
    return _LIST.sub("".join(f"  - {pin}\n" for pin in pins), hooks, count=1)


def main(arguments: Sequence[str]) -> int:
    """Write the file of hooks, or check it; return the exit code."""
    hooks = with_versions(HOOKS.read_text(encoding="utf-8"), versions(LOCK.read_text(encoding="utf-8")))
    return write_or_check({HOOKS: hooks}, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
