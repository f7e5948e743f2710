"""Work shared among several processes, which are copies of this one and end with it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, TypeVar

from lossless.ground.basics.errors import LosslessError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_CHUNK = 8
"""Items handed to a process at a time: few, so that all end together."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_work: list[Callable[[Any], Any]] = []
"""What a process does; set once, when it starts."""


def usable() -> bool:
    """Return whether this machine has several processors to use, and processes that start as copies.

    Elsewhere than on Linux copies are not safe, or do not exist; a process started again costs more than it saves.
    """
    return sys.platform == "linux" and processors() > 1 and _has_locks()


def processors() -> int:
    """Return how many processors this process may use."""
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
    """Yield what comes of each item, in their order; each process runs ``prepare`` once, as it starts.

    Work need not be picklable, items and results must be. ``doing`` says what a process does: ``rendered``.

    Raises:
        LosslessError: a process was ended from outside, as a machine does that has no memory left.
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
    """End this process when the one that started it has ended, also by SIGKILL: else it would never end."""
    import multiprocessing

    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _do(item: Any) -> Any:
    return _work[0](item)


def _has_locks() -> bool:
    """Return whether processes can share a lock here; some containers have no memory for that."""
    import multiprocessing

    try:
        multiprocessing.get_context("fork").Lock()
    except (ImportError, OSError):
        return False
    return True
