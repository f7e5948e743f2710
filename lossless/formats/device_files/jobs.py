"""Files for jobs, beside those of NICs: their environment on each host, and resources for a cluster's operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.device_files.deployment import CLUSTER
from lossless.formats.device_files.hosts import below, of_each_host, planned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.device_files.planned_files import PlannedFile
    from lossless.model.fabric.model import Fabric

CLUSTER_FOLDER = "kubernetes"
MACHINES = "machines"
"""The folder of files that are identical on all machines of a cloud."""


def job_files(fabric: Fabric) -> Iterator[PlannedFile]:
    """Yield the files that configure jobs for a fabric.

    Raises:
        RenderError: a NIC cannot be set as the fabric needs.
    """
    from lossless.formats.hosts.from_model.jobs import job_files as files_of

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
