"""CONTRIBUTING lists every place that changes: with all of them the checks hold, and each that is left out is named.

What is added lies beside this test: for each section the places with what is written there, what writes the generated
files, the checks, and for each place a check that fails without it with the words of ``missing``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.formats.switches.test_completeness import missing
from tests.paths import ROOT

pytestmark = pytest.mark.tools("contributing")
HERE = Path(__file__).parent
ADDITIONS = {
    file.stem: tomllib.loads(file.read_text(encoding="utf-8")) for file in sorted(HERE.glob("*.toml"))
}
IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
PLACES = [(name, number) for name, of in ADDITIONS.items() for number in range(len(of["places"]))]


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the files of this checkout, on record in a repository of its own.

    Compiled modules and results of mypy come along, which hold as long as their file has not changed.
    """
    listed = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    files = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    folder = tmp_path_factory.mktemp("contributing") / "checkout"
    for file in filter(None, files):
        if (ROOT / file).is_file():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / file, folder / file)
    for made in (
        ".mypy_cache",
        *{f"{Path(file).parent}/__pycache__" for file in files if file.endswith(".py")},
    ):
        if (ROOT / made).is_dir():
            shutil.copytree(ROOT / made, folder / made)
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "as it was"]):
        subprocess.run(["git", *IDENTITY, *command], cwd=folder, check=True)
    return folder


@pytest.fixture
def checkout(copied: Path) -> Path:
    """Return the copy, without what a test before has changed in it."""
    for command in (["reset", "-q", "--hard"], ["clean", "-qfd"]):
        subprocess.run(["git", *command], cwd=copied, check=True)
    return copied


def run(folder: Path, command: list[str]) -> tuple[int, str]:
    """Run Python with the code of a checkout; return its exit code and all that it prints."""
    unset = ("LOSSLESS_REFERENCE", "PYTHONDONTWRITEBYTECODE", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER")
    environment = {key: value for key, value in os.environ.items() if key not in unset}
    environment["PYTHONPATH"] = str(folder)
    ran = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return ran.returncode, f"{ran.stdout}\n{ran.stderr}"


def add(folder: Path, place: dict[str, Any]) -> None:
    """Write a new file, or behind a line of one that is there."""
    file = folder / place["file"]
    for edit in (place, place.get("also", {})):
        if "after" in edit:
            text = file.read_text(encoding="utf-8")
            assert edit["after"] in text, f"{place['file']} has no {edit['after']!r} any more: change {HERE}"
            file.write_text(text.replace(edit["after"], edit["after"] + edit["text"], 1), encoding="utf-8")
        elif edit:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(edit["text"], encoding="utf-8")


def section(title: str) -> str:
    """Return a section of CONTRIBUTING."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return page.partition(f"## {title}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("name", ADDITIONS)
def test_with_every_place_the_checks_hold_and_nothing_else_changes(name: str, checkout: Path) -> None:
    addition = ADDITIONS[name]
    for place in addition["places"]:
        add(checkout, place)
    for command in (*addition["writes"], *addition["holds"]):
        code, said = run(checkout, command)
        assert code == 0, f"{command}\n{said}"
    status = subprocess.run(
        ["git", "status", "--porcelain", "-uall"], cwd=checkout, check=True, capture_output=True, text=True
    )
    changed = {line[3:] for line in status.stdout.splitlines()}
    assert changed == {place["file"] for place in addition["places"]} | set(addition["written"])


@pytest.mark.parametrize(("name", "number"), PLACES)
def test_a_place_that_is_left_out_is_named(name: str, number: int, checkout: Path) -> None:
    addition = ADDITIONS[name]
    places = addition["places"]
    for place in (*places[:number], *places[number + 1 :]):
        add(checkout, place)
    for command in addition["writes"]:
        run(checkout, command)
    code, said = run(checkout, places[number]["without"])
    assert code != 0
    assert places[number]["missing"] in said


@pytest.mark.parametrize("name", ADDITIONS)
def test_contributing_lists_these_places_in_their_order(name: str) -> None:
    steps = re.split(r"^[0-9]+\. ", section(ADDITIONS[name]["section"]), flags=re.MULTILINE)[1:]
    listed = [place["listed"] for place in ADDITIONS[name]["places"]]
    assert len(steps) == len(listed)
    assert [place for step, place in zip(steps, listed, strict=True) if f"`{place}`" not in step] == []


def test_a_system_of_which_only_the_name_is_there_is_told_every_place(checkout: Path) -> None:
    named = {
        "file": "lossless/formats/switches/registry.py",
        "after": "TITLES = {",
        "text": '"trial": "Trial", ',
    }
    add(checkout, named)
    code, said = run(checkout, ["-m", "pytest", "-n0", "-q", "tests/formats/switches/test_completeness.py"])
    assert code != 0
    assert [place for place in missing("trial", "Trial") if place not in said] == []


def test_contributing_lists_every_place_of_a_system() -> None:
    text = section("Another system beside SONiC").replace("<name>", "trial")
    places = list(missing("trial", "trial"))
    assert [
        place for place in places if any(part.strip("'") not in text for part in place.split(" in "))
    ] == []
    assert len(places) > 10
