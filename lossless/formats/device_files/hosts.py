"""A whole fabric to files, device by device: one folder a switch, one a host.

Files for jobs, beside those of NICs: their environment on each host, and resources for a cluster's operator.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lossless.formats.device_files.deployment import CLUSTER, HOST_FILES, PlannedFile
from lossless.ground.basics.errors import RenderError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from lossless.formats.hosts.from_model.scripts import HostFile
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.model import Fabric


def require_bases(fabric: Fabric, present: Collection[str]) -> None:
    """Refuse a fabric with a switch that has no file of its own among ``present``.

    Raises:
        RenderError: a device without a base.
    """
    missing = [s.name for s in fabric.switches if s.runs_sonic and s.name not in present]
    if missing:
        raise RenderError(f"no base for {', '.join(missing)}; a base is DIR/<device>/config_db.json")


def host_notes(fabric: Fabric) -> tuple[str, ...]:
    """Return the host settings that no file sets, and why."""
    from lossless.formats.hosts.from_model.scripts import unset

    left = Counter(
        (host.qos.nic_name, what) for host in fabric.hosts if (what := unset(host.qos)) is not None
    )
    notes = (
        (f"hosts with {nic}: their files leave out {what}", count) for (nic, what), count in left.items()
    )
    return tuple(f"{count} {note}" for note, count in sorted(notes))


def host_files(fabric: Fabric) -> Iterator[PlannedFile]:
    """Return the files of each host.

    Raises:
        RenderError: a host that cannot be set as declared.
    """
    from lossless.formats.hosts.from_model.scripts import host_files as files_of

    return of_each_host(fabric, files_of)


def of_each_host(fabric: Fabric, files_of: Callable[[HostQos], Iterable[HostFile]]) -> Iterator[PlannedFile]:
    """Yield files in the folder of each host; for identical hosts they are rendered once."""
    rendered: dict[int, tuple[PlannedFile, ...]] = {}
    for host in fabric.hosts:
        if id(host.qos) not in rendered:
            rendered[id(host.qos)] = tuple(planned(files_of(host.qos)))
        yield from below(host.name, rendered[id(host.qos)])


def planned(files: Iterable[HostFile]) -> Iterator[PlannedFile]:
    """Yield files as they are rendered."""
    from lossless.formats.device_files.environment import render_template

    for file in files:
        text = render_template(file.template, file.context)
        yield PlannedFile(file.path, text, file.executable, HOST_FILES.get(file.path))


def below(folder: str, files: Iterable[PlannedFile]) -> Iterator[PlannedFile]:
    """Return files in a folder."""
    return (file._replace(path=f"{folder}/{file.path}") for file in files)


CLUSTER_FOLDER = "kubernetes"
MACHINES = "machines"
"""The folder of files that are identical on all machines of a cloud."""


def job_files(fabric: Fabric) -> Iterator[PlannedFile]:
    """Yield the files that configure jobs for a fabric.

    Raises:
        RenderError: a NIC cannot be set as the fabric needs.
    """
    from lossless.formats.hosts.from_model.kubernetes import job_files as files_of

    yield from of_each_host(fabric, files_of)
    yield from _of_cluster(fabric)
    if fabric.managed is not None:
        from lossless.formats.hosts.from_model.managed import managed_files

        yield from below(MACHINES, planned(managed_files(fabric.managed)))


def job_notes(fabric: Fabric) -> tuple[str, ...]:
    """Return which NICs of a cluster its operator does not set."""
    from lossless.formats.hosts.from_model.kubernetes import unconfigured

    return tuple(
        f"no NicConfigurationTemplate for {name}: NVIDIA's operator sets NVIDIA NICs alone"
        for name in unconfigured(fabric)
    )


def _of_cluster(fabric: Fabric) -> Iterator[PlannedFile]:
    if fabric.kubernetes is None:
        return
    from lossless.formats.hosts.from_model.kubernetes import kubernetes_files

    for file in below(CLUSTER_FOLDER, planned(kubernetes_files(fabric))):
        apply = (f"kubectl apply -f {file.path}",)
        yield file._replace(deployment=CLUSTER._replace(target=file.path, apply=apply))
