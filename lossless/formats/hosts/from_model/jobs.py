"""The environment of jobs as files: NCCL's own configuration, and variables for containers.

Both are lines of ``NAME=value`` without quotes or ``export``, the only syntax that their readers support:

* NCCL reads ``/etc/nccl.conf``. A line that begins with ``#`` is a comment, blanks belong to names and values, and a
  variable that a job has set itself wins (NVIDIA/nccl src/misc/param.cc @081eafa).
* Containers do not see that file; ``docker run --env-file`` and systemd's ``EnvironmentFile=`` read the other one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.hosts.from_model.host_file import HostFile
from lossless.ground.basics.known import UNKNOWN, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lossless.model.fabric.hosts import HostQos, Transport, Variable

NCCL_CONF = "nccl.conf"
JOBS_ENV = "jobs.env"
_NCCL = "NCCL_"


def job_files(qos: HostQos) -> tuple[HostFile, ...]:
    """Return the files that configure the jobs on a host for its fabric."""
    return environment_files(qos.jobs.variables, about=_about(qos))


def environment_files(variables: Iterable[Variable], about: tuple[str, ...] = ()) -> tuple[HostFile, ...]:
    """Return variables as NCCL's configuration and as a file for containers, both with the comment lines ``about``."""
    every = tuple(variables)
    nccl = tuple(variable for variable in every if variable.name.startswith(_NCCL))
    return (
        HostFile(NCCL_CONF, f"hosts/jobs/{NCCL_CONF}.j2", _context(nccl, about), executable=False),
        HostFile(JOBS_ENV, f"hosts/jobs/{JOBS_ENV}.j2", _context(every, about), executable=False),
    )


def _context(variables: tuple[Variable, ...], about: tuple[str, ...]) -> Mapping[str, object]:
    return {"about": about, "variables": [(variable.name, variable.value) for variable in variables]}


def _about(qos: HostQos) -> tuple[str, ...]:
    transport = qos.transport
    if transport is None or transport is UNKNOWN or isinstance(transport, Unknown):
        return ()
    return (_patience(transport),)


def _patience(transport: Transport) -> str:
    """Return how long NCCL's queue pairs retry, the time that rule WD008 compares with the switches' watchdog."""
    patience_ns = transport.patience_ns
    if patience_ns is None:
        return "A queue pair never gives up: NCCL_IB_TIMEOUT is 0."
    sum_ = f"4.096 us x 2^{transport.timeout} x ({transport.retry_count} + 1) = {patience_ns / 10**9:.1f} s"
    return f"A queue pair gives up after {sum_}."
