"""Files for jobs, beside those of NICs: their environment on each host, and resources for a cluster's operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.output.render.deployment import CLUSTER, HOST_FILES
from lossless.output.render.planned_files import PlannedFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.formats.hosts.from_model.host_file import HostFile
    from lossless.model.fabric.model import Fabric

CLUSTER_FOLDER = "kubernetes"
MACHINES = "machines"
"""The folder of what all machines of a cloud get alike."""


def job_files(fabric: Fabric) -> Iterator[PlannedFile]:
    """Yield the files that tell jobs how to use a fabric; for identical hosts they are rendered once.

    Raises:
        RenderError: a NIC cannot be set as the fabric needs.
    """
    yield from _of_hosts(fabric)
    yield from _of_cluster(fabric)
    if fabric.managed is not None:
        from lossless.formats.hosts.from_model.managed import managed_files

        yield from _below(MACHINES, _planned(managed_files(fabric.managed)))


def job_notes(fabric: Fabric) -> tuple[str, ...]:
    """Return which NICs of a cluster its operator does not set."""
    from lossless.formats.hosts.from_model.kubernetes import unconfigured

    return tuple(
        f"no NicConfigurationTemplate for {name}: NVIDIA's operator sets NVIDIA NICs alone"
        for name in unconfigured(fabric)
    )


def _of_hosts(fabric: Fabric) -> Iterator[PlannedFile]:
    from lossless.formats.hosts.from_model.jobs import job_files as files_of

    rendered: dict[int, tuple[PlannedFile, ...]] = {}
    for host in fabric.hosts:
        if id(host.qos) not in rendered:
            rendered[id(host.qos)] = tuple(_planned(files_of(host.qos)))
        yield from _below(host.name, rendered[id(host.qos)])


def _of_cluster(fabric: Fabric) -> Iterator[PlannedFile]:
    if fabric.kubernetes is None:
        return
    from lossless.formats.hosts.from_model.kubernetes import kubernetes_files

    for file in _below(CLUSTER_FOLDER, _planned(kubernetes_files(fabric))):
        apply = (f"kubectl apply -f {file.path}",)
        yield file._replace(deployment=CLUSTER._replace(target=file.path, apply=apply))


def _below(folder: str, files: Iterable[PlannedFile]) -> Iterator[PlannedFile]:
    return (file._replace(path=f"{folder}/{file.path}") for file in files)


def _planned(files: Iterable[HostFile]) -> Iterator[PlannedFile]:
    from lossless.output.render.environment import render_template

    for file in files:
        text = render_template(file.template, file.context)
        yield PlannedFile(file.path, text, file.executable, HOST_FILES.get(file.path))
