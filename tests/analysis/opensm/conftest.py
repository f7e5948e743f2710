"""The real opensm: tests that have it are those of ``make test-tools``."""

from __future__ import annotations

import pytest

from lossless.analysis.opensm.run import Tools, find_tools


@pytest.fixture(scope="session")
def tools() -> Tools:
    """The programs; tests that need them are marked by it (tests/real_tools.py)."""
    return find_tools()
