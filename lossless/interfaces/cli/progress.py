"""Progress bars on a terminal, and the notice before the packet-level model is compiled."""

from __future__ import annotations

import sys
from time import monotonic
from typing import TYPE_CHECKING, Any

from lossless.interfaces.cli.terminal import display, problem

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE_S = 1.0
_PAUSE_S = 0.1


class LongRun:
    """A progress bar of checked files, shown after a second.

    It is drawn when a finished file is reported: no thread exists while processes start.
    """

    def __init__(self, now: float | None = None) -> None:
        self._next_s = (monotonic() if now is None else now) + PATIENCE_S
        self._bar: Progress | None = None
        self._task: Any = None

    def __call__(self, done: int, of: int) -> None:
        """Show the number of checked files and of all, at most ten times a second."""
        now = monotonic()
        if now < self._next_s:
            return
        self._next_s = now + _PAUSE_S
        if self._bar is None:
            self._bar = self._started(done, of)
            return
        self._bar.update(self._task, completed=done, total=of)
        self._bar.refresh()

    def _started(self, done: int, of: int) -> Progress:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        shown = (TextColumn("checking"), BarColumn(), MofNCompleteColumn())
        bar = Progress(*shown, console=Console(file=display()), transient=True, auto_refresh=False)
        self._task = bar.add_task("", completed=done, total=of)
        bar.start()
        return bar

    def stop(self) -> None:
        """Remove the progress bar from the terminal."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def compiling() -> None:
    """Report that the packet-level model is being compiled, and the machine code that is there and is not used."""
    from lossless.interfaces.api.simulate import unused_machine_code

    for unused in unused_machine_code():
        problem(f"machine code is not used: {unused}")
    problem("compiling the packet-level model: about half a minute, once for each version")


class ProgressBar:
    """A progress bar on a terminal; no output elsewhere or with ``quiet``."""

    def __init__(self, what: str, *, quiet: bool = False) -> None:
        self._what = what
        self._quiet = quiet
        self._bar: Progress | None = None
        self._task: Any = None

    def __call__(self, done: int, of: int) -> None:
        """Show the number of finished items, such as seeds or settings, and of all."""
        if self._bar is None:
            if self._quiet or not sys.stderr.isatty():
                return
            self._start(of)
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=of)

    def _start(self, of: int) -> None:
        from rich.console import Console
        from rich.progress import Progress

        bar = Progress(console=Console(file=display()), transient=True)
        self._task = bar.add_task(self._what, total=of)
        bar.start()
        # An interrupt while it starts must not find it half made.
        self._bar = bar

    def stop(self) -> None:
        """Remove the progress bar from the terminal."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
