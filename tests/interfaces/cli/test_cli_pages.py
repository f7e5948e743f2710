"""``--output html=FILE``: a page beside what a command prints; refused before work where it cannot be written."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lossless.interfaces.cli.app import FAILED, OK
from tests.interfaces.cli.conftest import Cli
from tests.paths import EXAMPLES


@pytest.fixture
def fabric(cli: Cli) -> Cli:
    """Return the command line, in a folder with an intent, and one with another watchdog."""
    shutil.copy(EXAMPLES / "roce-256" / "fabric.yaml", "fabric.yaml")
    text = Path("fabric.yaml").read_text().replace("detection: 1200ms", "detection: 1800ms")
    Path("target.yaml").write_text(text)
    return cli


COMMANDS = {
    "lint": ("lint", "fabric.yaml"),
    "verify": ("verify", "fabric.yaml", "leaf1"),
    "simulate": ("simulate", "fabric.yaml", "--closed-form"),
    "plan": ("plan", "fabric.yaml", "target.yaml"),
    "acceptance": ("acceptance", "fabric.yaml"),
}
CAPTURE = "leaf1:~$ show pfc counters\n  Port Rx    PFC0    PFC3\n-----------  ------  ------\n  Ethernet0       0       7\n"  # noqa: E501


@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_changes_nothing_that_is_printed(command: str, fabric: Cli) -> None:
    Path("leaf1").mkdir()
    Path("leaf1/show.txt").write_text(CAPTURE)
    alone = fabric(*COMMANDS[command])
    done = fabric(*COMMANDS[command], "--output", "html=page.html")
    assert (done.code, done.out, done.err) == (alone.code, alone.out, alone.err)
    page = Path("page.html").read_text()
    assert page.startswith('<!doctype html>\n<html lang="en">')
    assert f"lossless {command}" in page
    assert "<title>Fabric roce-256" not in page
    assert "roce-256: devices and links" in page
    assert "fabric.yaml</td>" in page


def test_the_page_of_a_plan_is_beside_its_folder(fabric: Cli) -> None:
    done = fabric("plan", "fabric.yaml", "target.yaml", "-o", "change", "--output", "html=page.html")
    assert done.code == OK
    assert Path("change/plan.md").exists()
    assert "target.yaml</td>" in Path("page.html").read_text()


@pytest.mark.parametrize("command", ["lint", "simulate", "plan", "acceptance"])
@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("html=fabric.yaml", "fabric.yaml: cannot be written: it is one of the files that were checked"),
        ("html=gone/page.html", "gone/page.html: cannot be written: there is no folder gone"),
        ("html=.", ".: cannot be written: it is a folder"),
        ("html=", "'html=' is not FORMAT=FILE, as in "),
    ],
)
def test_a_page_that_cannot_be_written_is_refused(command: str, value: str, says: str, fabric: Cli) -> None:
    before = {path: path.read_bytes() for path in Path().iterdir()}
    done = fabric(*COMMANDS[command], "--output", value)
    assert done.code == FAILED
    assert says in done.err
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


def test_a_page_is_not_written_over_a_file_in_a_folder_of_switches(fabric: Cli) -> None:
    shutil.copytree(EXAMPLES / "roce-256" / "base", "base")
    done = fabric("plan", "base", "fabric.yaml", "--output", "html=base/leaf1/config_db.json")
    assert (done.code, "one of the files that were checked" in done.err) == (FAILED, True)


@pytest.mark.parametrize("command", ["plan", "acceptance"])
def test_what_is_written_has_one_folder(command: str, fabric: Cli) -> None:
    done = fabric(*COMMANDS[command], "-o", "a", "-o", "b")
    assert (done.code, "two folders, a and b" in done.err) == (FAILED, True)


def test_only_a_page_imports_what_a_page_needs() -> None:
    code = (
        "import sys; from lossless.interfaces.cli import main; main(['lint', sys.argv[1]]);"
        "print([name for name in sys.modules if name in ('jinja2', 'markupsafe', 'lossless.output.report.page')])"
    )
    leaf = EXAMPLES / "roce-256" / "base" / "leaf1" / "config_db.json"
    done = subprocess.run([sys.executable, "-c", code, leaf], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]"
