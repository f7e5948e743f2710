"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

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

# Reports are as wide as COLUMNS says, and workers of pytest-xdist are told 80.
os.environ.pop("COLUMNS", None)

# A shell that starts a run in its background ignores Ctrl-C for it, and every program that a test starts would, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def reference() -> Path:
    """The folder of reference material; tests that need it skip where it is absent."""
    if not REFERENCE.is_dir():
        pytest.skip(f"no reference material at {REFERENCE}; set LOSSLESS_REFERENCE")
    return REFERENCE
