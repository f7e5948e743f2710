"""Files that are no regular files: reading one may never end, and opening one may do something."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

KINDS = ("fifo", "open pipe", "socket", "/dev/zero", "/dev/ptmx", "/dev/null")
"""A FIFO that nobody writes to, one whose writer says nothing, and devices that give no end, wait, or give nothing."""
LIMIT_S = 100
"""When a test that waits for ever is ended; none of them takes seconds."""


@contextmanager
def in_time() -> Iterator[None]:
    """Fail a test that waits for something without an end."""

    def late(*_: object) -> None:
        raise AssertionError("it waits for something that never comes")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(LIMIT_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def made(kind: str, path: Path) -> Iterator[str]:
    """Make a special file at a path, a device as a link; yield the path."""
    if kind in ("fifo", "open pipe"):
        os.mkfifo(path)
        # Open for both, so that neither end waits for the other.
        held = os.open(path, os.O_RDWR) if kind == "open pipe" else None
        yield str(path)
        if held is not None:
            os.close(held)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(os.path.relpath(path))
            yield str(path)
    else:
        path.symlink_to(kind)
        yield str(path)
    path.unlink(missing_ok=True)
