"""Fixtures shared by all tests, and what is said of tests that are left out."""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from tests import real_tools
from tests.all_cases import ALL_CASES

ROOT = Path(__file__).parent.parent
REFERENCE = Path(os.environ.get("LOSSLESS_REFERENCE", ROOT.parent / "shared"))

settings.register_profile(
    "repeatable",
    max_examples=60 if ALL_CASES else 30,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "random", settings.get_profile("repeatable"), max_examples=100, derandomize=False, print_blob=True
)
settings.load_profile("repeatable")

# Hypothesis also draws numbers and texts that stand in the modules which are loaded by then: what a test draws would
# depend on the tests before it.
providers._get_local_constants = Constants

# What is imported and collected lives as long as the process: looking through it again and again finds nothing.
gc.set_threshold(100_000)

# Reports are as wide as COLUMNS says, and workers of pytest-xdist are told 80.
os.environ.pop("COLUMNS", None)
# Rules of whoever runs the tests would be found in all reports.
os.environ.pop("LOSSLESS_PLUGINS", None)

# A shell that starts a run in its background ignores Ctrl-C for it, and every program that a test starts would, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def reference() -> Path:
    """The folder of reference material; tests that need it skip where it is absent."""
    if not REFERENCE.is_dir():
        pytest.skip(f"no reference material at {REFERENCE}; set LOSSLESS_REFERENCE")
    return REFERENCE


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Distribute by group without the work that grows with the square of the number of tests."""
    if config.getoption("dist") != "loadgroup":
        return None
    from tests.distribution import Distribution  # only where pytest-xdist is at work

    return Distribution(config, log)


def pytest_collection_finish() -> None:
    """Leave what was collected out of all collections of garbage to come."""
    gc.freeze()


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name bytes by their argument: all workers must collect the same ids, and an archive holds its time."""
    return argname if isinstance(val, bytes) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests with the tools that their fixtures give, before any are left out."""
    for item in items:
        real_tools.mark(item)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose tools are not installed."""
    real_tools.require(item)


# --- what is left out: workers of pytest-xdist count it, and the process that started them says so ---

_LEFT_OUT: Counter[str] = Counter()


def pytest_deselected(items: Iterable[pytest.Item]) -> None:
    """Count tests that ``-m "not tools"`` leaves out, each by its first kind."""
    _LEFT_OUT.update(kinds[0] for kinds in map(real_tools.kinds_of, items) if kinds)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the count on."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left_out"] = dict(_LEFT_OUT)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the count of a worker: each has collected all tests."""
    _LEFT_OUT.update(Counter(getattr(node, "workeroutput", {}).get("left_out", {})) - _LEFT_OUT)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say what was left out, and how it is run."""
    for line in real_tools.left_out(_LEFT_OUT) if _LEFT_OUT else ():
        terminalreporter.write_line(line)


# --- which data a test file reads, for tools/affected.py ---

if _RECORD := os.environ.get("LOSSLESS_RECORD_READS"):
    _ROOT = f"{ROOT}{os.sep}"
    _READS: set[tuple[str, str]] = set()
    _reading = ""

    def _note(event: str, arguments: tuple[Any, ...]) -> None:
        # Bytecode is opened by imports, which tools/affected.py sees in the source.
        path = arguments[0] if event == "open" else None
        if isinstance(path, str) and path.startswith(_ROOT) and not path.endswith(".pyc"):
            _READS.add((_reading, path[len(_ROOT) :].partition(os.sep)[0]))

    sys.addaudithook(_note)

    def pytest_collectstart(collector: pytest.Collector) -> None:
        """What is read while a file is collected is read for its tests."""
        global _reading
        _reading = str(collector.path.relative_to(ROOT)) if isinstance(collector, pytest.Module) else ""

    def pytest_runtest_logstart(location: tuple[str, int | None, str]) -> None:
        """What is read from now on is read by this test."""
        global _reading
        _reading = location[0]

    def pytest_unconfigure() -> None:
        """Write what this process read."""
        folder = Path(str(_RECORD))
        folder.mkdir(parents=True, exist_ok=True)
        reads = sorted(pair for pair in _READS if pair[0])
        (folder / f"reads-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}.json").write_text(
            json.dumps(reads)
        )
