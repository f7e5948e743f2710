"""Templates and profiles are found from a wheel and from an editable install, outside the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
EXAMPLE = ROOT / "examples" / "roce-256"


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command that must succeed, without anything of this environment on its path."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def empty_environment(folder: Path) -> Path:
    """Return the interpreter of a new environment that sees the locked dependencies, and nothing of ours.

    The dependencies are those of this environment, by a path file: installing them again would need a network.
    """
    venv.create(folder, with_pip=False, symlinks=True)
    site = next((folder / "lib").glob("python*")) / "site-packages"
    dependencies = folder / "dependencies"
    dependencies.mkdir()
    for entry in Path(sysconfig.get_paths()["purelib"]).iterdir():
        if "lossless" not in entry.name and not entry.name.endswith(".pth"):
            (dependencies / entry.name).symlink_to(entry)
    (site / "dependencies.pth").write_text(f"{dependencies}\n")
    return folder / "bin" / "python"


def lint_and_render(python: Path, folder: Path) -> None:
    """Lint, render onto bases, and check that the files are there, from outside the checkout."""
    lossless = python.parent / "lossless"
    run(lossless, "lint", EXAMPLE / "fabric.yaml", cwd=folder)
    run(lossless, "render", EXAMPLE, "--base", EXAMPLE / "base", "-o", folder / "out", cwd=folder)
    assert (folder / "out" / "leaf1" / "config_db.json").stat().st_size > 10_000
    assert (folder / "out" / "host32" / "lossless-roce.sh").exists()


def install(python: Path, *arguments: str | Path, cwd: Path) -> None:
    """Install with this environment's pip into another one."""
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--no-deps",
        "--no-index",
        "--no-compile",
        *arguments,
        cwd=cwd,
    )


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return folder


@pytest.mark.tools("installing")
def test_the_wheel_works_outside_the_checkout(tmp_path: Path, outside: Path) -> None:
    run(
        sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", tmp_path / "dist", ROOT, cwd=outside
    )
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    python = empty_environment(tmp_path / "env")
    install(python, wheel, cwd=outside)
    found = run(python, "-c", "import lossless; print(lossless.__file__)", cwd=outside)
    assert str(tmp_path / "env") in found
    lint_and_render(python, outside)


@pytest.mark.tools("installing")
def test_an_editable_install_works_outside_the_checkout(tmp_path: Path, outside: Path) -> None:
    python = empty_environment(tmp_path / "env")
    install(python, "--no-build-isolation", "-e", ROOT, cwd=outside)
    found = run(python, "-c", "import lossless; print(lossless.__file__)", cwd=outside)
    assert str(ROOT / "lossless") in found
    lint_and_render(python, outside)
