"""The guide to topologies: what commands print in it, and its pictures.

python tools/topology_guide.py           write them anew
python tools/topology_guide.py --check   say what is stale
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

from lossless.cli import main as lossless

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parent.parent
GUIDE = ROOT / "docs" / "guides" / "topology.md"
PICTURES = {"roce-256.svg": "topology-roce-256.svg", "pods.svg": "topology-three-tier.svg"}
"""What the commands of the guide draw, and what that is called beside it."""
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SHEETS = ("cabling.csv", "faults.csv", "cabled.csv")


def fresh() -> dict[Path, str]:
    """Return the guide with what its commands print now, and its pictures; files of the guide are those it shows."""
    text = GUIDE.read_text(encoding="utf-8")
    fences = list(_FENCE.finditer(text))
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            Path("examples").symlink_to(ROOT / "examples")
            sheets = iter(_SHEETS)
            for fence in fences:
                if fence[1] == "yaml" and fence[2].startswith("lossless:"):
                    Path("fabric.yaml").write_text(fence[2], encoding="utf-8")
                elif fence[1] == "csv":
                    Path(next(sheets)).write_text(fence[2], encoding="utf-8")
            guide = _FENCE.sub(_shown, text)
            pictures = {GUIDE.parent / name: Path(made).read_text("utf-8") for made, name in PICTURES.items()}
        finally:
            os.chdir(here)
    return {GUIDE: guide, **pictures}


def _shown(fence: re.Match[str]) -> str:
    """Return a block as it is; one that shows a command with what the command prints now."""
    command, _, _ = fence[2].partition("\n")
    if not command.startswith("$ lossless "):
        return fence[0]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        lossless(shlex.split(command)[2:])
    return f"```{fence[1]}\n{command}\n{out.getvalue()}{err.getvalue()}```"


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
