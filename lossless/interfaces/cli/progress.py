"""A progress bar for runs that turn out long: on a terminal, after a second, gone before anything is printed."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE_S = 1.0
_PAUSE_S = 0.1


class LongRun:
    """Shows how many files are judged. It is drawn when it is told of one: no thread is there while processes start."""

    def __init__(self, now: float | None = None) -> None:
        self._next_s = (monotonic() if now is None else now) + PATIENCE_S
        self._bar: Progress | None = None
        self._task: Any = None

    def __call__(self, done: int, of: int) -> None:
        """Show how many are done, unless that was shown a moment ago."""
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

        shown = (TextColumn("judging"), BarColumn(), MofNCompleteColumn())
        bar = Progress(*shown, console=Console(stderr=True), transient=True, auto_refresh=False)
        self._task = bar.add_task("", completed=done, total=of)
        bar.start()
        return bar

    def stop(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
