"""What a start imports: a linter that is slow to start is not run before every change.

How long it takes is measured by benchmarks/startup.py, never here.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.interfaces.cli.inputs import BASES
from tests.paths import ROOT

HEAVY = {
    "asyncio",
    "concurrent.futures",
    "dataclasses",
    "importlib.metadata",
    "importlib.resources",
    "jinja2",
    "multiprocessing",
    "netaddr",
    "numpy",
    "pathlib",
    "pydantic",
    "pydantic_core",
    "rich",
    "ruamel",
    "ruamel.yaml",
    "tempfile",
}


def program(*arguments: str, then: str = "sys.exit(code)") -> str:
    start = f"import sys; sys.argv[1:] = {list(arguments)!r}"
    return f"{start}; from lossless.interfaces.cli import main; code = main(); {then}"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """An installed package has its bytecode; here it goes to a folder of its own."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": str(tmp_path_factory.mktemp("bytecode"))}


def run(code: str, environment: Mapping[str, str]) -> str:
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize("output", ["text", "json"])
def test_linting_a_switch_imports_nothing_heavy(output: str, environment: Mapping[str, str]) -> None:
    code = program(
        "lint",
        "--format",
        output,
        str(BASES / "leaf.json"),
        then=f"print('imported:', *sorted({HEAVY!r} & set(sys.modules)))",
    )
    assert run(code, environment).splitlines()[-1] == "imported:"


@pytest.mark.parametrize("arguments", [("--help",), ("--version",)])
def test_help_imports_only_click(arguments: tuple[str, ...], environment: Mapping[str, str]) -> None:
    listed = "print('imported:', *sorted(name for name in sys.modules if name.startswith('lossless')))"
    ours = (
        *("", ".ground", ".ground.basics", ".ground.basics.errors", ".ground.basics.records"),
        ".ground.basics.foreign_text",
        *(".interfaces", ".interfaces.cli", ".interfaces.cli.app", ".interfaces.cli.terminal"),
    )
    of_commit = (".ground.basics.files", ".ground.basics.limits") if arguments == ("--version",) else ()
    needed = {f"lossless{name}" for name in (*ours, *of_commit)}
    assert run(program(*arguments, then=listed), environment).splitlines()[-1] == " ".join(
        ["imported:", *sorted(needed)]
    )
    heavy = f"print('imported:', *sorted({HEAVY!r} & set(sys.modules)))"
    assert run(program(*arguments, then=heavy), environment).splitlines()[-1] == "imported:"


def test_the_launcher_is_the_same_as_the_module() -> None:
    launcher = Path(sys.executable).with_name("lossless")
    if not launcher.exists():
        pytest.skip("the package is not installed here")
    done = subprocess.run([launcher, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("lossless ")


@pytest.mark.parametrize("name", ["click.py", "lossless/__init__.py"])
def test_by_the_documented_form_python_runs_no_module_of_the_working_folder(
    tmp_path: Path, name: str
) -> None:
    planted = tmp_path / name
    planted.parent.mkdir(exist_ok=True)
    planted.write_text("raise SystemExit('planted')\n")
    written = documented_forms()
    assert written == {"python -P -m lossless"}
    for options in (["-P", "-m", "lossless"], ["-m", "lossless"]):
        done = subprocess.run(
            [sys.executable, *options, "--version"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        runs_it = "planted" in done.stderr
        assert runs_it == ("-P" not in options), "the plant works, but not by the documented form"
        assert done.stdout.startswith("lossless ") != runs_it


def documented_forms() -> set[str]:
    """Return the commands by which pages start the package with Python."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    told = re.findall(r"python3? (?:-P )?-m lossless\b", "".join(page.read_text("utf-8") for page in pages))
    return set(told)
