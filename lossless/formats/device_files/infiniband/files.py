"""A subnet to files: one folder a host of its managers, one a host that runs jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.device_files.infiniband.deployment import deployment_of
from lossless.formats.device_files.planned_files import PlannedFile
from lossless.formats.infiniband.from_model.files import (
    job_files,
    manager_files,
    secret_values,
    sharp_files,
    ufm_files,
)
from lossless.ground.basics.known import Unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lossless.formats.infiniband.from_model.files import ManagerFile, WriteProblem
    from lossless.model.fabric.infiniband.subnet import ManagerHost, Subnet


def files_of(subnet: Subnet, environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the files that opensm reads, by name, as the host of the master gets them.

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
    """Return every file of a subnet, and the problems of values that cannot be written.

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
    """Yield hosts with the files that they get, and the problems of those; a host may come more than once."""
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
    """Yield the parts of a subnet that are not rendered, and why."""
    switches = _switch_names(subnet)
    on_switches = [manager.node for manager in subnet.managers if manager.node in switches]
    if on_switches:
        yield f"no files for the subnet manager on {', '.join(map(str, on_switches))}: a switch has it in its own CLI"
    if subnet.flavour == "nvidia":
        yield "keys of NVIDIA's OpenSM alone stand apart in opensm.conf: no opensm that can be had freely checks them"


def _once() -> Callable[[ManagerFile], str]:
    """Return a function that renders a file, each distinct one once: most hosts are identical."""
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
