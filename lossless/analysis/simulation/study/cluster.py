"""Work on many machines, or in many processes of one: an executor over a scheduler of dask.distributed.

Batches are pure, so that the scheduler reassigns those of a lost worker. The data that all batches share is sent once:
the scheduler keeps it as a task of its own, and recomputes it when every worker that held it is lost.
"""

from __future__ import annotations

import logging
import os
import pickle
import pkgutil
import signal
import warnings
from concurrent.futures import CancelledError, Executor, Future
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any

from lossless import __version__
from lossless.ground.basics.errors import LosslessError, ProgramError, QuantityError
from lossless.ground.basics.programs import install_command
from lossless.ground.basics.units import unsigned_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LEAST = 100
"""The least settings of a batch: dispatching a batch takes some milliseconds, as long as trying one setting."""
CONNECT_S = 10.0
"""How long a scheduler may take to answer, in seconds."""
_EXTRA = ("distributed", "cryptography")
_LOCAL = "local"
_VERSIONS = ("lossless", "numba")
"""The packages on whose versions results depend: a client and its workers must have the same of these."""


class ClusterExecutor(Executor):
    """An executor that submits work to the workers of a client of dask.distributed.

    ``workers`` is how many batches can run at once when the executor is created, ``least`` the minimum number of items
    of a batch.
    """

    least = LEAST

    def __init__(self, client: Any) -> None:
        self._client = client
        self.workers = max(1, sum(client.nthreads().values()))

    def shared(self, value: object) -> Any:
        """Return a handle of a value for :meth:`submit`, so that the value is sent to each worker once."""
        # As bytes: dask looks for futures of its own in every tuple that it is given.
        return self._client.submit(pickle.loads, pickle.dumps(value), pure=False)

    def submit(self, function: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        """Submit a call; the future fails with a LosslessError if the cluster failed."""
        from distributed import Future as RemoteFuture

        sent = [value if isinstance(value, RemoteFuture) else pickle.dumps(value) for value in given]
        remote = self._client.submit(_on_worker, __version__, function, named, *sent, pure=False)
        local: Future[Any] = Future()
        # A release, unlike a cancellation, waits for no answer of the scheduler.
        local.add_done_callback(lambda done: remote.release() if done.cancelled() else None)
        remote.add_done_callback(lambda done: self._hand_over(done, local))
        return local

    def _hand_over(self, remote: Any, local: Future[Any]) -> None:
        if not local.set_running_or_notify_cancel():
            return
        try:
            if remote.status == "error":
                local.set_exception(self._why(remote.exception()))
            else:
                local.set_result(remote.result())
        except (CancelledError, OSError):
            lost = f"the scheduler at {self._client.scheduler.address} was lost; nothing is reported"
            local.set_exception(ProgramError(lost))

    def _why(self, error: BaseException) -> BaseException:
        """Return the error of a failed batch, unchanged unless workers died or have another version of lossless."""
        from distributed import KilledWorker

        if isinstance(error, KilledWorker):
            return ProgramError(
                f"{error.allowed_failures + 1} workers died one after another of the same batch, the last at"
                f" {error.last_worker.address}; its log says why (often too little memory)"
            )
        if isinstance(error, LosslessError):
            return error
        return different_version(self._client) or error


def _on_worker(version: str, function: Callable[..., Any], named: dict[str, Any], *sent: Any) -> Any:
    """Run a call on a worker; a worker that joined later has its version checked here.

    Raises:
        ProgramError: this is another version than that of the client.
    """
    if version != __version__:
        from distributed import get_worker

        raise _other_version(f"worker at {get_worker().address}", "lossless", __version__, version)
    given = (pickle.loads(value) if isinstance(value, bytes) else value for value in sent)
    return function(*given, **named)


def is_unwanted() -> bool:
    """Return, within a task on a worker, whether its result is no longer needed: dask interrupts no task."""
    from distributed import get_worker

    worker = get_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    return task is None or task.state == "cancelled"


def different_version(client: Any) -> ProgramError | None:
    """Return the error for a scheduler or worker of another version than this client; None if all have the same."""
    # A function of the standard library: whoever has another version, or none, can be sent it.
    for package in _VERSIONS:
        here = pkgutil.resolve_name(f"{package}:__version__")
        versions = client.run(pkgutil.resolve_name, f"{package}:__version__", on_error="return")
        for address, there in sorted(versions.items()):
            if there != here:
                return _other_version(f"worker at {address}", package, there, here)
    # It reads what is handed out, but computes nothing.
    try:
        there = client.run_on_scheduler(pkgutil.resolve_name, "lossless:__version__")
    except ImportError:
        there = None
    if there != __version__:
        return _other_version(f"scheduler at {client.scheduler.address}", "lossless", there, __version__)
    return None


def _other_version(whose: str, package: str, there: object, here: str) -> ProgramError:
    has = f"{package} {there}" if isinstance(there, str) else f"no {package}"
    return ProgramError(f"the {whose} has {has}, here is {here}; install the same version on both")


@contextmanager
def cluster_executor(place: str, waiting: Callable[[], None] | None = None) -> Iterator[ClusterExecutor]:
    """Yield an executor over a cluster: ``local``, ``local:N`` or the address of a scheduler.

    ``waiting`` is called if the scheduler has no worker yet; submitted work waits for one.

    Raises:
        QuantityError: the place is invalid.
        LosslessError: dask.distributed is not installed, or no certificate is configured for a ``tls:`` address.
        ProgramError: no scheduler answers, or the scheduler or a worker has another version.
    """
    workers = local_workers(place)
    if any(find_spec(name) is None for name in _EXTRA):
        raise LosslessError(f"a cluster needs dask.distributed: {install_command('cluster')}")
    from dask.config import get
    from distributed import Client

    if place.startswith("tls:") and not get("distributed.comm.tls.client.cert", None):
        raise LosslessError(
            f"{place} takes certificates alone: state distributed.comm.tls in dask's configuration"
        )
    with ExitStack() as stack:
        stack.enter_context(_silent())
        where = place if workers is None else stack.enter_context(_local_cluster(workers))
        client = stack.enter_context(_connected(Client, where))
        if (different := different_version(client)) is not None:
            raise different
        if waiting is not None and not client.nthreads():
            waiting()
        yield ClusterExecutor(client)


def local_workers(place: str) -> int | None:
    """Return the number of workers that ``local`` or ``local:N`` starts here, None for the address of a Dask scheduler.

    Raises:
        QuantityError: it is neither.
    """
    name, colon, many = place.partition(":")
    if name != _LOCAL:
        if unsigned_number(place.rpartition(":")[2]) is None:
            raise QuantityError(
                f"{place!r} is no cluster; expected local, local:N or HOST:PORT of a scheduler"
            )
        return None
    workers = unsigned_number(many) if colon else os.cpu_count() or 1
    if not workers:
        raise QuantityError(f"{place!r} is no cluster; expected a number of workers, such as local:4")
    return workers


@contextmanager
def _local_cluster(workers: int) -> Iterator[Any]:
    """Start workers of one thread each; they use the cache of compiled kernels.

    They listen on the loopback alone, and only to clients with the certificate of this run. An interrupt at the
    terminal reaches every process there: in the workers it is blocked, a mask that their threads and processes inherit,
    and this process ends them.
    """
    from distributed import LocalCluster

    # Where it starts later, it unblocks the interrupt.
    resource_tracker.ensure_running()
    with ExitStack() as stack:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            started = LocalCluster(  # type: ignore[no-untyped-call]
                n_workers=workers, threads_per_worker=1, processes=True, security=True, protocol="tls://",
                memory_limit=0, silence_logs=logging.CRITICAL, dashboard_address=None,
                # Whatever else uses the port of the dashboard, which is opened without one too.
                scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
            )  # fmt: skip
            cluster = stack.enter_context(started)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        yield cluster


@contextmanager
def _connected(client: Callable[..., Any], where: Any) -> Iterator[Any]:
    try:
        connected = client(where, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        message = (
            f"no scheduler of dask.distributed answers at {where}; is it running, and reachable from here?"
        )
        raise ProgramError(message) from error
    with connected:
        yield connected


@contextmanager
def _silent() -> Iterator[None]:
    """Silence logs and warnings of dask; lossless has messages of its own for the relevant ones.

    dask continues to log while it ends, after the last of our calls, so that its logger stays silent.
    """
    logging.getLogger("distributed").setLevel(logging.CRITICAL + 1)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"distributed\.")
        yield
