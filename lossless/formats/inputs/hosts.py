"""Facts of hosts to hosts of the fabric model; the NIC profiles map PCI ids to adapters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.hosts.to_model import Hosts, read_hosts
from lossless.ground.basics.errors import Problem, ProfileError
from lossless.model.hardware.load import nic_profiles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.formats.hosts.read.facts import Facts
    from lossless.model.hardware.load import Folder


def hosts_of(files: Sequence[Facts], profile_dirs: Sequence[Folder]) -> Hosts:
    """Return the hosts that files of facts describe, and the problems of the files."""
    problems = [problem for facts in files for problem in facts.problems]
    try:
        nics = nic_profiles(profile_dirs)
    except ProfileError as error:
        nics = ()
        problems.insert(0, Problem(files[0].document.file, None, None, str(error)))
    hosts = read_hosts(files, nics)
    return hosts._replace(problems=(*problems, *hosts.problems))
