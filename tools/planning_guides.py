"""The guides to topology, workload and storm: what commands print in them, and their pictures.

python tools/planning_guides.py           write them again
python tools/planning_guides.py --check   say what is stale
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from lossless.interfaces.cli import main as lossless

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
GUIDES = ROOT / "docs" / "guides"
PICTURES: Mapping[str, Mapping[str, str]] = {
    "topology.md": {"roce-256.svg": "topology-roce-256.svg", "pods.svg": "topology-three-tier.svg"},
    "workload.md": {},
    "storm.md": {"dead.svg": "storm-roce-256.svg"},
}
"""By guide: what its commands draw, and what that is called beside it."""
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILES: Mapping[str, Sequence[str]] = {
    "topology.md": ("fabric.yaml", "grown.yaml", "fabric.yaml", "cabling.csv", "faults.csv", "cabled.csv"),
}
"""By guide: what whole intents and sheets in it are called, in their order; one may take the place of another."""
_CUT = "...\n"
"""Stands for the rest of what a command prints."""


def fresh() -> dict[Path, str]:
    """Return the guides with what their commands print now, and their pictures."""
    found: dict[Path, str] = {}
    for name, pictures in PICTURES.items():
        with _elsewhere():
            found[GUIDES / name] = _run(GUIDES / name)
            found |= {GUIDES / kept: Path(made).read_text("utf-8") for made, kept in pictures.items()}
    return found


@contextlib.contextmanager
def _elsewhere() -> Iterator[None]:
    """Work in an empty folder that has the examples."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            Path("examples").symlink_to(ROOT / "examples")
            yield
        finally:
            os.chdir(here)


def _run(guide: Path) -> str:
    """Do what a guide says from its first block to its last, and return it with what was printed."""
    files = iter(FILES.get(guide.name, ()))

    def shown(fence: re.Match[str]) -> str:
        language, text = fence.groups()
        if language == "csv" or (language == "yaml" and text.startswith("lossless:")):
            Path(next(files)).write_text(text, encoding="utf-8")
        elif text.startswith("$ lossless "):
            command, _, before = text.partition("\n")
            return f"```{language}\n{command}\n{_cut(_answer(command), before)}```"
        return fence[0]

    return _FENCE.sub(shown, guide.read_text(encoding="utf-8"))


def _answer(command: str) -> str:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        lossless(shlex.split(command)[2:])
    return out.getvalue() + err.getvalue()


def _cut(answer: str, before: str) -> str:
    """Return an answer, or as many of its first lines as were shown where the rest was left out."""
    if not before.endswith(f"\n{_CUT}"):
        return answer
    return "".join(answer.splitlines(keepends=True)[: before.removesuffix(_CUT).count("\n")]) + _CUT


def main(arguments: Sequence[str]) -> int:
    """Write all, or with ``--check`` report what is stale."""
    found = fresh()
    if "--check" not in arguments:
        for path, content in found.items():
            path.write_text(content, encoding="utf-8")
        return 0
    stale = [p for p, content in found.items() if not p.exists() or p.read_text(encoding="utf-8") != content]
    for path in stale:
        sys.stderr.write(f"{path.relative_to(ROOT)} is stale; run: make docs\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
