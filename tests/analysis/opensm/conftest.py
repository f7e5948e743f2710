"""The real opensm, where this machine has it: ``make test`` installs it where it may, ``.ci/run`` insists."""

from __future__ import annotations

import pytest

from lossless.analysis.opensm.tools import Tools, find_tools
from lossless.ground.basics.errors import SubnetManagerError


@pytest.fixture(scope="session")
def tools() -> Tools:
    """The programs; tests that need them skip where they are not installed."""
    try:
        return find_tools()
    except SubnetManagerError as error:
        pytest.skip(str(error))
