"""Calls that change the file system, counted: one of them ends the process or fails."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

CHANGING = (
    "open",
    "write",
    "mkdir",
    "rename",
    "replace",
    "link",
    "unlink",
    "remove",
    "rmdir",
    "fchmod",
    "fchown",
)
"""Functions of ``os`` through which files are changed; ``open`` counts where it creates."""
GROWING = ("open", "write", "mkdir", "rename", "replace", "link")
"""Those that a full disk refuses."""


class Faults:
    """What happens at each counted call: ``at`` is called with the number of the call, and the call to make."""

    def __init__(self, names: tuple[str, ...], at: Callable[[int, Callable[[], Any]], Any]) -> None:
        self.calls = 0
        self._at = at
        self._patched = {name: self._counted(name, getattr(os, name)) for name in names}

    @contextmanager
    def injected(self) -> Iterator[None]:
        """Count the calls of what runs inside."""
        with ExitStack() as patches:
            for name, call in self._patched.items():
                patches.enter_context(mock.patch.object(os, name, call))
            yield

    def _counted(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            if name == "open" and not arguments[1] & os.O_CREAT:
                return real(*arguments, **named)
            self.calls += 1
            return self._at(self.calls, lambda: real(*arguments, **named))

        return call


def killed_at(number: int, work: Callable[[], object], *, after: bool) -> bool:
    """Run work in a copy of this process that SIGKILL ends before or after a call; return whether it came so far."""

    def at(calls: int, call: Callable[[], Any]) -> Any:
        if calls != number:
            return call()
        try:
            return call() if after else None
        finally:
            os.kill(os.getpid(), signal.SIGKILL)

    return _ended(work, Faults(CHANGING, at)) == -signal.SIGKILL


def _ended(work: Callable[[], object], faults: Faults) -> int:
    child = os.fork()
    if not child:
        try:
            with faults.injected():
                work()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
