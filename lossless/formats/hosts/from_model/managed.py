"""Files for machines on a fabric that a cloud provider operates: the environment of their jobs, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.hosts.from_model.kubernetes import environment_files
from lossless.formats.hosts.from_model.scripts import HostFile

if TYPE_CHECKING:
    from lossless.model.fabric.managed import ManagedFabric

JOBS_SH = "jobs.sh"


def managed_files(managed: ManagedFabric) -> tuple[HostFile, ...]:
    """Return the files of every machine of a fabric that a cloud provider operates.

    Where the provider ships a script with the settings of its network, a job sources a file that runs that script
    first: its values belong to the version of the provider's plugin, and are not repeated.
    """
    network = managed.network
    if network is None or network.profile is None:
        return environment_files(managed.variables)
    context = {
        "network": network.name,
        "profile": network.profile,
        "needs": network.needs,
        "variables": [(variable.name, variable.value) for variable in managed.variables],
    }
    return (HostFile(JOBS_SH, f"hosts/jobs/{JOBS_SH}.j2", context, executable=False),)
