"""Work in several processes: in order, all of it, and ended with whoever asked for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.processes import in_processes, usable

pytestmark = pytest.mark.skipif(
    not usable(), reason="this machine has one processor, or no copies of processes"
)

ENDLESS = """
import os, sys, time
from lossless.ground.basics.processes import in_processes

def work(number):
    open(f"{sys.argv[1]}/{os.getpid()}", "w").close()
    time.sleep(600)

list(in_processes(work, range(16), processes=2, prepare=lambda: None, doing="slept"))
"""


def test_results_come_in_the_order_of_items() -> None:
    results = in_processes(lambda n: n * n, range(100), processes=2, prepare=lambda: None, doing="counted")
    assert list(results) == [n * n for n in range(100)]


def test_a_process_that_is_ended_from_outside_is_told_of() -> None:
    def work(_number: int) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(
        LosslessError, match=r"a process that counted was ended from outside; is there enough memory\?"
    ):
        list(in_processes(work, range(16), processes=2, prepare=lambda: None, doing="counted"))


def test_no_process_outlives_the_one_that_started_it(tmp_path: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", ENDLESS, str(tmp_path)])
    _until(lambda: len(list(tmp_path.iterdir())) == 2)
    parent.kill()
    parent.wait()
    _until(lambda: not any(Path("/proc", path.name).exists() for path in tmp_path.iterdir()))


def _until(is_so: object) -> None:
    """Wait for what comes sooner or later, however slow the machine is."""
    assert callable(is_so)
    while not is_so():
        time.sleep(0.02)
