"""Renders the files of an InfiniBand subnet, one folder a host: of managers, SHARP and jobs, and how each is applied.

opensm(8): HUP starts a heavy sweep, in which opensm reads its configuration, partitions and policy again; options
whose table entry has no can_update stay as they were (``restart`` in profiles/opensm/options.toml). Folders of UFM:
docs.nvidia.com, UFM Enterprise, and kobibar/OpenAI.recipe.old OpenAI.recipe.md @c314151. UFM writes partitions.conf
itself, which may not be edited, and merges partitions.conf.user_ext into it: UFM Enterprise User Manual 6.13.1,
Appendix - Partitioning; its unit is ufm-enterprise: 6.17.1, Running UFM Server Software.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.device_files.base_merge import Deployment, PlannedFile
from lossless.formats.infiniband.from_model import (
    UFM_FOLDER,
    folder_of,
    job_files,
    manager_files,
    secret_values,
    sharp_files,
    ufm_files,
)
from lossless.ground.basics.records import Unknown
from lossless.model.fabric.infiniband.subnet import option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lossless.formats.infiniband.from_model import ManagerFile, WriteProblem
    from lossless.model.fabric.infiniband.subnet import ManagerHost, Subnet


_HUP = ("pkill -HUP -x opensm",)
_UFM_MERGE = ("/opt/ufm/scripts/sync_partitions_conf.sh",)
_SHOWN = 4


def deployment_of(subnet: Subnet, name: str) -> Deployment | None:
    """Return how a file of a subnet is applied on its host, by its name."""
    ufm = subnet.manager == "ufm"
    folder = folder_of(subnet)
    if name == "opensm.conf":
        return _options(subnet, f"{folder}/{name}")
    if name in ("nccl.conf", "job.env"):
        return _JOBS[name]
    if name == "sharp_am.cfg":
        target = f"{UFM_FOLDER}/sharp/{name}" if ufm else f"/etc/sharp/{name}"
        return Deployment(target, (), hitless=None, why=_SHARP)
    if name == "gv.cfg":
        return Deployment(
            f"{UFM_FOLDER}/{name}",
            (),
            hitless=None,
            why="a part of the file: set its keys, then restart ufm-enterprise",
        )
    if name == "partitions.conf" and ufm:
        return Deployment(f"{UFM_FOLDER}/{name}.user_ext", _UFM_MERGE, hitless=False, why=_UFM_PARTITIONS)
    if name == "partitions.conf":
        return Deployment(f"{folder}/{name}", _HUP, hitless=False, why=_PARTITIONS)
    if name == "qos-policy.conf":
        return Deployment(
            f"{folder}/{name}", _HUP, hitless=True, why="read at every heavy sweep; new paths get new SLs"
        )
    return Deployment(f"{folder}/{name}", _restart(subnet), hitless=False, why=_ROUTES)


def _restart(subnet: Subnet) -> tuple[str, ...]:
    """Return the command that restarts the subnet manager: UFM runs an opensm of its own, in its own unit."""
    return ("systemctl restart ufm-enterprise",) if subnet.manager == "ufm" else ("systemctl restart opensm",)


_LOST_KEYS = "a port that is no member any more loses its P_Key and its connections"
_PARTITIONS = f"read at every heavy sweep: {_LOST_KEYS}"
_UFM_PARTITIONS = f"UFM merges it behind partitions of its own and starts a heavy sweep: {_LOST_KEYS}"
_ROUTES = "read when the routing engine starts: routes are made again, and packets on their way may be lost"
_SHARP = "restart sharp_am, or UFM's: running jobs lose their trees; SIGHUP takes in what its template calls runtime"
_JOBS = {
    "nccl.conf": Deployment(
        "/etc/nccl.conf", (), hitless=True, why="NCCL reads it when a job starts; others run on"
    ),
    "job.env": Deployment(
        "job.env", (), hitless=True, why="for the environment of jobs: nothing reads it by itself"
    ),
}


def _options(subnet: Subnet, target: str) -> Deployment:
    keys = [setting.key for setting in subnet.options]
    after_restart = [
        key for key in dict.fromkeys(keys) if (entry := option(key)) is not None and entry.restart
    ]
    why = "links stay up, and no path is found for new connections until the subnet is swept again: a standby first"
    if not after_restart:
        return Deployment(target, _HUP, hitless=True, why="SIGHUP takes every key of it in, at a heavy sweep")
    shown = ", ".join(after_restart[:_SHOWN]) + (" and more" if len(after_restart) > _SHOWN else "")
    return Deployment(target, _restart(subnet), hitless=False, why=f"read at the start alone: {shown}; {why}")


def files_of(subnet: Subnet, environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the text of the files that opensm reads, by name, as the host of the master subnet manager gets them.

    Keys come from ``environment``; without it the file has none.
    """
    master = max(
        subnet.managers, key=lambda manager: (not manager.standby, manager.priority or 0), default=None
    )
    keys, _ = secret_values(subnet.secrets, environment or {})
    return {file.name: _text(file) for file in manager_files(subnet, master, keys)[0]}


def subnet_files(
    subnet: Subnet, environment: Mapping[str, str]
) -> tuple[tuple[PlannedFile, ...], tuple[WriteProblem, ...]]:
    """Return every file of a subnet, none if there is a problem, and the problems of values that cannot be written.

    ``environment`` has the keys that protect the subnet, by the names of its variables.
    """
    keys, missing = secret_values(subnet.secrets, environment)
    made: dict[str, list[ManagerFile]] = {}
    troubles = list(missing)
    for host, (files, wrong) in _by_host(subnet, keys):
        made.setdefault(host, []).extend(files)
        troubles += wrong
    text = _once()
    planned = (
        PlannedFile(
            f"{host}/{file.name}", text(file), deployment=deployment_of(subnet, file.name), secret=file.secret
        )
        for host, files in made.items()
        for file in files
    )
    unique = dict.fromkeys(troubles)
    return () if unique else tuple(planned), tuple(unique)


def _by_host(
    subnet: Subnet, keys: Mapping[str, str]
) -> Iterator[tuple[str, tuple[Sequence[ManagerFile], Sequence[WriteProblem]]]]:
    """Yield hosts with the files that they get and the problems of the files; a host may be yielded more than once."""
    for host, manager in _manager_hosts(subnet):
        yield host, manager_files(subnet, manager, keys)
        yield host, ufm_files(subnet)
    node = subnet.sharp.am_node if subnet.sharp else None
    if isinstance(node, str):
        yield node, sharp_files(subnet)
    for host in _job_hosts(subnet):
        yield host, job_files(subnet, host)


def _manager_hosts(subnet: Subnet) -> Iterator[tuple[str, ManagerHost]]:
    switches = _switch_names(subnet)
    for manager in subnet.managers:
        if isinstance(manager.node, str) and manager.node not in switches:
            yield manager.node, manager


def _job_hosts(subnet: Subnet) -> Iterator[str]:
    if not isinstance(subnet.hosts, Unknown):
        yield from (host.name for host in subnet.hosts if host.role == "compute")


def _switch_names(subnet: Subnet) -> frozenset[str]:
    return frozenset(
        () if isinstance(subnet.switches, Unknown) else (switch.name for switch in subnet.switches)
    )


def subnet_notes(subnet: Subnet) -> Iterator[str]:
    """Yield notes on subnet managers without files, and on keys of opensm.conf that are not tested."""
    switches = _switch_names(subnet)
    on_switches = [manager.node for manager in subnet.managers if manager.node in switches]
    if on_switches:
        yield f"no files for the subnet manager on {', '.join(map(str, on_switches))}: a switch has it in its own CLI"
    if subnet.flavour == "nvidia":
        yield "keys of NVIDIA's OpenSM alone stand apart in opensm.conf: no opensm that can be had freely checks them"


def _once() -> Callable[[ManagerFile], str]:
    """Return a function that renders a file; files of jobs, identical on most hosts, are rendered once."""
    texts: dict[tuple[str, str], str] = {}

    def text(file: ManagerFile) -> str:
        key = (file.template, repr(file.context)) if file.name in ("nccl.conf", "job.env") else None
        if key is None:
            return _text(file)
        if key not in texts:
            texts[key] = _text(file)
        return texts[key]

    return text


def _text(file: ManagerFile) -> str:
    from lossless.formats.device_files.environment import render_template

    return render_template(file.template, file.context)
