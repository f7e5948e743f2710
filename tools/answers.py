"""What commands print in the documentation: each page is run from its first block to its last.

python tools/answers.py [PAGE ...]    write again what the commands of the pages print, and their pictures
python tools/answers.py --check       report what is stale

A page is run in an empty folder that holds the examples. A block whose first line says ``title="NAME"`` is the file
NAME; one that begins with ``$`` has commands and what they print, and a line ``...`` in it stands for lines left out.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

from lossless.interfaces.cli import main as lossless, options
from tests.interfaces.cli.repositories import environment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

ROOT = Path(__file__).resolve().parent.parent
PAGES = (
    "README.md",
    "docs/tutorial.md",
    "docs/faq.md",
    "docs/dialects.md",
    "docs/published-claims.md",
    "docs/guides/acceptance.md",
    "docs/guides/change.md",
    "docs/guides/ci.md",
    "docs/guides/diff.md",
    "docs/guides/editors.md",
    "docs/guides/headroom.md",
    "docs/guides/host-facts.md",
    "docs/guides/import.md",
    "docs/guides/infiniband.md",
    "docs/guides/intent.md",
    "docs/guides/jobs.md",
    "docs/guides/lint.md",
    "docs/guides/load-balancing.md",
    "docs/guides/plugins.md",
    "docs/guides/render.md",
    "docs/guides/simulate.md",
    "docs/guides/storm.md",
    "docs/guides/suppress.md",
    "docs/guides/sweep.md",
    "docs/guides/telemetry.md",
    "docs/guides/topology.md",
    "docs/guides/trace.md",
    "docs/guides/tune.md",
    "docs/guides/verify.md",
    "docs/guides/workload.md",
)
"""The pages that are run as they are; pictures that their commands draw are kept beside them, under the same name."""
CUT = "...\n"
"""Stands for lines of what a command prints."""
_FENCE = re.compile(r"^```(\w*)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ ", re.MULTILINE)
_OURS = re.compile(r"""lossless((?: +(?:'[^']*'|"[^"$`\\]*"|[^\s|<>&;*$`'"\\])+)+?)( +\d?[|<>].*)?""")
"""A ``lossless`` command that runs within this process, and the redirection or pipe behind it."""
_TODAY = "2026-06-15"
"""The day on which pages are run, for suppressions that end."""
_SIMILAR = 0.5
"""Below this similarity of two lines, one did not become the other."""


def fresh(names: Iterable[str] = PAGES) -> dict[Path, str]:
    """Return pages with what their commands print now, and the pictures that they show and draw."""
    found: dict[Path, str] = {}
    for path in map(ROOT.__truediv__, names):
        with elsewhere():
            found[path] = run(path)
            drawn = [svg for svg in pictures(found[path]) if Path(svg).exists()]
            found |= {path.parent / svg: Path(svg).read_text("utf-8") for svg in drawn}
    return found


def pictures(text: str) -> list[str]:
    """Return the pictures that a page shows, as paths from its folder."""
    return re.findall(r"!\[[^]]*\]\(([\w./-]+\.svg)\)", text)


@contextlib.contextmanager
def elsewhere() -> Iterator[None]:
    """Work in an empty folder that has the examples."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            Path("examples").symlink_to(ROOT / "examples")
            yield
        finally:
            os.chdir(here)


def run(page: Path) -> str:
    """Do what a page says from its first block to its last, and return it with what was printed."""
    return _FENCE.sub(_done, page.read_text(encoding="utf-8"))


def _done(fence: re.Match[str]) -> str:
    language, title, text = fence.groups()
    if title:
        Path(title).parent.mkdir(parents=True, exist_ok=True)
        Path(title).write_text(text, encoding="utf-8")
    elif text.startswith("$ "):
        return f"```{language}\n{''.join(map(_again, _COMMAND.split(text)[1:]))}```"
    return fence[0]


def _again(shown: str) -> str:
    command, _, before = shown.partition("\n")
    return f"$ {command}\n{cut(_answer(command), before)}"


def _answer(command: str) -> str:
    ours = _OURS.fullmatch(command)
    if ours is None:
        return _by_shell(command)
    out, err = io.StringIO(), io.StringIO()
    today = mock.patch.object(options, "today", return_value=_TODAY)
    with today, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        lossless(shlex.split(ours[1]))
    if ours[2] is None:
        return out.getvalue() + err.getvalue()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "out").write_text(out.getvalue(), encoding="utf-8")
        Path(folder, "err").write_text(err.getvalue(), encoding="utf-8")
        return _by_shell(f"lossless() {{ cat {folder}/out; cat {folder}/err >&2; }}\n{command}")


def _by_shell(command: str) -> str:
    path = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", command],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**environment(), "PATH": path, "LC_ALL": "C.UTF-8"},
    )
    return done.stdout


def cut(answer: str, before: str) -> str:
    """Return an answer without the lines that ``before`` leaves out, wherever its other lines are now."""
    now, parts = answer.splitlines(keepends=True), [part.splitlines() for part in _parts(before)]
    if len(parts) < 2:
        return answer
    kept, at = [], 0
    for number, part in enumerate(parts):
        start = _place(part, now, at) if number and part else at
        last = number == len(parts) - 1
        at = len(now) if last and part else start + len(part)
        kept.append("".join(now[start:at]))
    return CUT.join(kept)


def _parts(before: str) -> list[str]:
    """Divide what is shown at the lines that stand for others."""
    return re.split(r"^\.\.\.\n", before, flags=re.MULTILINE)


def _place(part: Sequence[str], now: Sequence[str], start: int) -> int:
    """Return where the line is now with which a part begins: the most similar one."""
    likeness = [SequenceMatcher(None, part[0], line.rstrip("\n")).ratio() for line in now[start:]]
    if max(likeness, default=0) < _SIMILAR:
        raise LookupError(f"no line is like {part[0]!r} any more; choose by hand what the page shows")
    return start + likeness.index(max(likeness))


def stale(found: dict[Path, str], *, check: bool) -> int:
    """Write what was found, or report which of it is not what the file has; return the exit code."""
    old = [path for path, text in found.items() if not path.exists() or path.read_text("utf-8") != text]
    for path in old:
        if check:
            sys.stderr.write(f"{path.relative_to(ROOT)} is stale; run: make docs\n")
        else:
            path.write_text(found[path], encoding="utf-8")
    return 1 if check and old else 0


def main(arguments: Sequence[str]) -> int:
    """Write the pages that are named, or all; with ``--check`` report what is stale."""
    names = [argument for argument in arguments if argument != "--check"]
    return stale(fresh(names or PAGES), check="--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
