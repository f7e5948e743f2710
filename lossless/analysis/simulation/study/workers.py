"""Who tries the settings of a sweep, and how they are told to stop."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from threading import Event
from typing import TYPE_CHECKING

from lossless.analysis.simulation.study.trial import SweepTask, Trial, trials

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Executor, Future
    from types import TracebackType

    from lossless.analysis.simulation.study.grid import ThresholdSetting


class WorkerPool:
    """Whoever does the work: threads of ours, which can be told to stop, or an executor of the caller's.

    Results are waited for in a queue, not by :func:`concurrent.futures.wait`: that takes a lock of every future in
    turn, and an interrupt that comes meanwhile leaves those locked that threads must set.
    """

    def __init__(self, executor: Executor | None, threads: int | None) -> None:
        self.workers = threads or os.cpu_count() or 1
        self._owned = executor is None
        self._executor = ThreadPoolExecutor(self.workers) if executor is None else executor
        self._stop = Event()
        self._pending: dict[Future[list[tuple[Trial, ...]]], int] = {}
        self._done: SimpleQueue[Future[list[tuple[Trial, ...]]]] = SimpleQueue()

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        for future in self._pending:
            future.cancel()
        if self._owned:
            self._executor.shutdown(cancel_futures=True)

    def submit(self, job: SweepTask, chunk: Sequence[ThresholdSetting], number: int = 0) -> None:
        """Hand out a chunk of settings; whoever shares our memory also learns when to stop."""
        stopping = (self._stop.is_set,) if isinstance(self._executor, ThreadPoolExecutor) else ()
        future = self._executor.submit(trials, job, chunk, *stopping)
        self._pending[future] = number
        future.add_done_callback(self._done.put)

    def results(self) -> Iterator[tuple[int, list[tuple[Trial, ...]]]]:
        """Yield what comes back with its number, in the order in which it does."""
        while self._pending:
            future = self._done.get()
            yield self._pending.pop(future), future.result()

    def trials(self, job: SweepTask, chunk: Sequence[ThresholdSetting]) -> list[tuple[Trial, ...]]:
        """Have one chunk done."""
        self.submit(job, chunk)
        ((_, results),) = self.results()
        return results
