"""The lowest versions that pyproject.toml allows are enough to lint and to render."""

from __future__ import annotations

import os
import subprocess
import tomllib
import venv
from pathlib import Path

import pytest

from tests.packaging.test_locks import bare, pins
from tests.paths import EXAMPLES, ROOT

PROGRAM = "import sys; from lossless.interfaces.cli import main; sys.exit(main(sys.argv[1:]))"


def test_the_lock_of_lowest_versions_holds_the_lower_bounds() -> None:
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    bounds = {bare(text): text.partition(">=")[2].partition(",")[0] for text in stated}
    locked = {name: version for (name, _), (version, _) in pins("lowest").items()}

    def numbers(version: str) -> list[int]:
        return [*map(int, version.split("."))]

    width = max(len(numbers(locked[name])) for name in bounds)
    padded = {name: (numbers(version) + [0] * width)[:width] for name, version in bounds.items()}
    assert {name: (numbers(locked[name]) + [0] * width)[:width] for name in bounds} == padded


@pytest.mark.tools("installing")
def test_the_lowest_versions_lint_and_render(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True, symlinks=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r"]
    subprocess.run([*pip, str(ROOT / "requirements" / "lowest.txt")], check=True, stdin=subprocess.DEVNULL)
    fabric = str(EXAMPLES / "roce-256" / "fabric.yaml")
    for words in (["lint", fabric], ["render", fabric, "-o", str(tmp_path / "out")]):
        done = subprocess.run(
            [python, "-c", PROGRAM, *words],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "out" / "manifest.json").is_file()
