"""Programs that tests start, each with a time to end in: what hangs fails its test, and is ended."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from tests.tool_server import LONGEST_S


def run(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path | None = None,
    within_s: float = LONGEST_S,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; with all that it started in its session, it is ended where it takes too long."""
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            output, errors = process.communicate(timeout=within_s)
        except subprocess.TimeoutExpired:
            # What it started holds its pipes: they are not read to their end.
            os.killpg(process.pid, signal.SIGKILL)
            pytest.fail(f"{' '.join(command[:3])} did not end within {within_s:.0f} s")
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def attempts(within_s: float = LONGEST_S) -> Iterator[None]:
    """Yield until there is no time left for one more attempt, and fail then."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        yield
    pytest.fail(f"what the test waits for did not happen within {within_s:.0f} s")
