"""One redis-server for all tests of a worker, emptied before each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.redis_server import Redis, running


@pytest.fixture(scope="session")
def server() -> Iterator[Redis]:
    """A running server. Its folder has a short name: the path of a socket has at most 107 bytes (sun_path)."""
    with TemporaryDirectory(prefix="redis") as folder, running(Path(folder)) as server:
        yield server


@pytest.fixture
def redis(server: Redis) -> Redis:
    """An empty server."""
    server.ask("FLUSHALL")
    return server
