"""How the tools that write generated files end: the files are written, or those that are stale are named."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent


def write_or_check(contents: Mapping[Path, str], arguments: Sequence[str]) -> int:
    """Write files, or with ``--check`` among the arguments name those that are stale; return the exit code."""
    if "--check" not in arguments:
        for path, text in contents.items():
            path.write_text(text, encoding="utf-8")
        return 0
    stale = [
        path
        for path, text in contents.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    for path in stale:
        sys.stderr.write(f"{path.relative_to(ROOT)} is stale; run: make docs\n")
    return 1 if stale else 0


def between_marks(text: str, tool: str, body: str) -> str:
    """Return a page with ``body`` between the two marks of the tool that writes it."""
    begin, end = f"<!-- written by {tool} -->\n", "<!-- end -->\n"
    before, _, rest = text.partition(begin)
    return f"{before}{begin}{body}\n{end}{rest.partition(end)[2]}"
