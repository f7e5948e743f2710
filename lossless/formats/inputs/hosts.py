"""Facts of hosts to hosts of the fabric model; the NIC profiles map PCI ids to adapters.

Ports of a host that are on the fabric, and their names: a host has others, for storage or management.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.hosts.to_model import Hosts, read_hosts
from lossless.ground.basics.errors import Problem, ProfileError
from lossless.model.hardware.load import nic_profiles

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from lossless.formats.hosts.read.facts import Facts
    from lossless.model.fabric.hosts import HostInterfaces, HostQos
    from lossless.model.fabric.model import Fabric
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


def ports_on_fabric(
    hosts: Iterable[HostInterfaces], declaring: Mapping[str, tuple[Fabric, HostQos]]
) -> tuple[tuple[HostInterfaces, ...], int]:
    """Return the ports of hosts that are on the fabric of their intent, and how many are not.

    They are those that the intent names, else those of its kind of NIC, without those whose neighbor is another switch.
    If none of a host's ports would be left, all are returned: then the host has another NIC than declared.
    """
    by_host: dict[str, list[HostInterfaces]] = {}
    for host in hosts:
        by_host.setdefault(host.host, []).append(host)
    on_fabric: list[HostInterfaces] = []
    for name, ports in by_host.items():
        on_fabric += _on_fabric(ports, *declaring[name]) if name in declaring else ports
    return tuple(on_fabric), sum(map(len, by_host.values())) - len(on_fabric)


def with_known_names(names: Collection[str], hosts: Iterable[HostInterfaces]) -> tuple[HostInterfaces, ...]:
    """Return hosts by the names others have for them: ``gpu1`` of ``gpu1.example.net`` where only that is known."""
    return tuple(_with_known_name(host, names) for host in hosts)


def _with_known_name(host: HostInterfaces, names: Collection[str]) -> HostInterfaces:
    short = host.host.partition(".")[0]
    if host.host in names or short not in names:
        return host
    return host._replace(host=short, name=short + host.name.removeprefix(host.host))


def _on_fabric(ports: Sequence[HostInterfaces], fabric: Fabric, want: HostQos) -> Sequence[HostInterfaces]:
    named = {*want.interfaces, *want.rdma_devices}
    if named:
        return _matching(
            ports, lambda port: not named.isdisjoint((*port.qos.interfaces, *port.qos.rdma_devices))
        )
    of_its_kind = _matching(ports, lambda port: port.qos.nic_name in ("", want.nic_name))
    switches = {switch.device for switch in fabric.switches}
    return _matching(of_its_kind, lambda port: _may_be_attached(port, switches))


def _may_be_attached(port: HostInterfaces, switches: set[str]) -> bool:
    neighbors = [attachment.neighbor[0] for attachment in port.attachments if attachment.neighbor]
    return not neighbors or not switches.isdisjoint(neighbors)


def _matching(
    ports: Sequence[HostInterfaces], matches: Callable[[HostInterfaces], bool]
) -> Sequence[HostInterfaces]:
    return [port for port in ports if matches(port)] or ports
