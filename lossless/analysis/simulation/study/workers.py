"""Workers for many batches, the order of their results, and the signal to stop.

A pure function of a task and a batch is mapped over batches by threads of this process, by any executor of
:mod:`concurrent.futures`, or by a cluster (:mod:`lossless.analysis.simulation.study.cluster`).
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from queue import SimpleQueue
from threading import Event
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from lossless.analysis.simulation.study.cluster import ClusterExecutor, is_unwanted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Executor, Future
    from types import TracebackType

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_Task = TypeVar("_Task")

BATCHES_PER_WORKER = 8
"""Batches are no larger than this many to a worker allow, so that all end at about the same time."""


class WorkerPool(Generic[_Task, _Item, _Result]):
    """Maps ``work`` over batches: it gets the task, a batch, and, in threads, a function that returns whether to stop.

    ``workers`` is how many batches can run at once.

    The workers are threads of this process, which can be stopped, an executor of the caller's, or a cluster.

    Results are waited for in a queue, not by :func:`concurrent.futures.wait`: that takes a lock of every future in
    turn, and an interrupt that comes meanwhile leaves those locked that threads must set.
    """

    def __init__(
        self, work: Callable[..., list[_Result]], task: _Task, executor: Executor | None, threads: int | None
    ) -> None:
        self._work = work
        self._owned = executor is None
        self._task: Any = task
        self._stopping: tuple[Callable[[], bool], ...] = ()
        self._stop = Event()
        self.workers, self._least = threads or os.cpu_count() or 1, 1
        self._executor = ThreadPoolExecutor(self.workers) if executor is None else executor
        if isinstance(self._executor, ThreadPoolExecutor):
            self._stopping = (self._stop.is_set,)
        elif isinstance(self._executor, ClusterExecutor):
            self.workers, self._least = self._executor.workers, self._executor.least
            self._task, self._stopping = self._executor.shared(task), (is_unwanted,)
        self._pending: dict[Future[list[_Result]], int] = {}
        self._done: SimpleQueue[Future[list[_Result]]] = SimpleQueue()

    def __enter__(self) -> WorkerPool[_Task, _Item, _Result]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        for future in self._pending:
            future.cancel()
        if self._owned:
            self._executor.shutdown(cancel_futures=True)

    def batches(self, items: Sequence[_Item], most: int) -> list[Sequence[_Item]]:
        """Return items in batches of the same size, about ``most`` or less, but no less than a cluster is sent."""
        size = max(self._least, min(most, -(-len(items) // (BATCHES_PER_WORKER * self.workers))))
        many = max(1, len(items) // size)
        ends = [len(items) * number // many for number in range(many + 1)]
        return [items[start:end] for start, end in pairwise(ends)]

    def map(self, batches: Iterable[Sequence[_Item]]) -> Iterator[list[_Result]]:
        """Submit batches, and yield the result of each in their order, as soon as all earlier ones are there."""
        for number, batch in enumerate(batches):
            self._submit(batch, number)
        early: dict[int, list[_Result]] = {}
        due = 0
        while self._pending:
            future = self._done.get()
            early[self._pending.pop(future)] = future.result()
            while due in early:
                yield early.pop(due)
                due += 1

    def _submit(self, batch: Sequence[_Item], number: int) -> None:
        future = self._executor.submit(self._work, self._task, batch, *self._stopping)
        self._pending[future] = number
        future.add_done_callback(self._done.put)
