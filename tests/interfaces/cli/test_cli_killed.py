"""Commands that write, killed at every writing system call: whole files, and nothing left after the next start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.all_cases import ALL_CASES
from tests.interfaces.cli import killed
from tests.interfaces.cli.inputs import INTENT, LEAF

FIXABLE = LEAF.replace('"pfcwd_sw_enable": "3"', '"pfcwd_sw_enable": ""')
RELEASED = INTENT + 'sonic: {release: "202411"}\n'
COMMANDS = {
    "fix": ("lint", "--fix", "--unsafe-fixes", "a/config_db.json", "b/config_db.json"),
    "baseline": ("baseline", "."),
    "import": ("import", "leaf.json", "-o", "imported/fabric.yaml", "--base", "imported/base"),
    "report": ("lint", "leaf.json", "--output", "json=lint.json", "--output", "sarif=lint.sarif"),
    "render": ("render", "fabric.yaml", "-o", "out"),
    "telemetry": ("render", "fabric.yaml", "-o", "monitored", "--also", "telemetry"),
    "plan": ("plan", "fabric.yaml", "target.yaml", "-o", "change"),
}
LONG = ("import", "report", "render", "telemetry", "plan")
ONE_OF = {"telemetry": 8, "plan": 6, "render": 4}
"""So many of the calls are not tried but one, except by ``make cases``."""
SMALL = RELEASED.replace("hosts_per_leaf: 4", "hosts_per_leaf: 1").replace(
    "leaves: 2\n    spines: 2", "leaves: 1\n    spines: 1"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with switches to fix, an intent, one that it is changed to, and trees of an earlier one."""
    folder = tmp_path / "folder"
    for name in ("a", "b"):
        (folder / name).mkdir(parents=True)
        (folder / name / "config_db.json").write_text(FIXABLE)
    (folder / "leaf.json").write_text(LEAF)
    (folder / "lossless.toml").write_text('baseline = "known.json"\n')
    (folder / "known.json").write_text('{"version": 2, "findings": []}\n')
    (folder / "fabric.yaml").write_text(SMALL.replace("leaves: 1", "leaves: 2"))
    earlier = ("render", "fabric.yaml", "-o"), ("render", "fabric.yaml", "--also", "telemetry", "-o")
    for call, out in zip(earlier, ("out", "monitored"), strict=True):
        killed.run(folder, [*call, out])
    (folder / "fabric.yaml").write_text(SMALL)
    (folder / "target.yaml").write_text(SMALL.replace("cnp_interval: 4us", "cnp_interval: 8us"))
    return folder


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.tools("hostile")) if name in LONG else name for name in COMMANDS],
)
def test_a_killed_command_leaves_whole_files_and_its_next_start_nothing_else(name: str, folder: Path) -> None:
    one_of = 1 if ALL_CASES else ONE_OF.get(name, 1)
    command = [sys.executable, "-P", killed.__file__, str(folder), str(one_of), *COMMANDS[name]]
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": path}
    )
    calls, problems = json.loads(done.stdout)
    assert problems == []
    assert calls >= 6, "rather few: does something write past what is counted?"
