"""Distributes work over several processes, which are copies of this one and end with it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, TypeVar

from lossless.ground.basics.errors import LosslessError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_CHUNK = 8
"""Items given to a process at a time: few, so that no process works much longer than the others."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_work: list[Callable[[Any], Any]] = []
"""The function that a process runs; set once, when it starts."""


def usable() -> bool:
    """Return whether this process may use several processors, and start copies of itself that share locks.

    On other systems than Linux copies are unsafe, or do not exist; starting a new process costs more than it saves.
    """
    return sys.platform == "linux" and processors() > 1 and _has_locks()


def processors() -> int:
    """Return the number of processors that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def in_processes(
    work: Callable[[_Item], _Result],
    items: Sequence[_Item],
    *,
    processes: int,
    prepare: Callable[[], None],
    doing: str,
) -> Iterator[_Result]:
    """Yield the result of each item, in their order; each process runs ``prepare`` once, as it starts.

    Work need not be picklable, items and results must be. ``doing`` is the verb for error messages: ``rendered``.

    Raises:
        LosslessError: a process ended early, for example for lack of memory.
    """
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    context = multiprocessing.get_context("fork")
    try:
        with ProcessPoolExecutor(processes, context, _begin, (work, prepare)) as pool:
            yield from pool.map(_do, items, chunksize=_CHUNK)
    except BrokenProcessPool as error:
        message = f"a process that {doing} was ended from outside; is there enough memory?"
        raise LosslessError(message) from error


def _begin(work: Callable[[Any], Any], prepare: Callable[[], None]) -> None:
    from threading import Thread

    _work[:] = [work]
    prepare()
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when its parent has ended, also by SIGKILL; otherwise it would never end."""
    import multiprocessing

    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _do(item: Any) -> Any:
    return _work[0](item)


def _has_locks() -> bool:
    """Return whether processes can share a lock here; some containers have no shared memory for that."""
    import multiprocessing

    try:
        multiprocessing.get_context("fork").Lock()
    except (ImportError, OSError):
        return False
    return True
