"""Which ports of a host are on the fabric, and by which name: a host has others, for storage or management."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from lossless.formats.hosts.read.host import ReadHost
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.model import Fabric


def on_the_fabric(
    hosts: Iterable[ReadHost], declaring: Mapping[str, tuple[Fabric, HostQos]]
) -> tuple[tuple[ReadHost, ...], int]:
    """Return the ports of hosts that are on the fabric of their intent, and how many are not.

    They are those that the intent names, else those of its kind of NIC, without those that hear of another switch.
    Where none of a host's ports would be left, all are meant: then the host has another NIC than it should.
    """
    by_host: dict[str, list[ReadHost]] = {}
    for host in hosts:
        by_host.setdefault(host.host, []).append(host)
    kept: list[ReadHost] = []
    for name, ports in by_host.items():
        kept += _meant(ports, *declaring[name]) if name in declaring else ports
    return tuple(kept), sum(map(len, by_host.values())) - len(kept)


def known_by(names: Collection[str], hosts: Iterable[ReadHost]) -> tuple[ReadHost, ...]:
    """Return hosts by the names others have for them: ``gpu1`` of ``gpu1.example.net`` where only that is known."""
    return tuple(_called(host, names) for host in hosts)


def _called(host: ReadHost, names: Collection[str]) -> ReadHost:
    short = host.host.partition(".")[0]
    if host.host in names or short not in names:
        return host
    return host._replace(host=short, name=short + host.name.removeprefix(host.host))


def _meant(ports: Sequence[ReadHost], fabric: Fabric, want: HostQos) -> Sequence[ReadHost]:
    named = {*want.interfaces, *want.rdma_devices}
    if named:
        return _some(ports, lambda port: not named.isdisjoint((*port.qos.interfaces, *port.qos.rdma_devices)))
    of_its_kind = _some(ports, lambda port: port.qos.nic_name in ("", want.nic_name))
    switches = {switch.device for switch in fabric.switches}
    return _some(of_its_kind, lambda port: _may_hang_on(port, switches))


def _may_hang_on(port: ReadHost, switches: set[str]) -> bool:
    heard = [one.neighbor[0] for one in port.attachments if one.neighbor]
    return not heard or not switches.isdisjoint(heard)


def _some(ports: Sequence[ReadHost], fits: Callable[[ReadHost], bool]) -> Sequence[ReadHost]:
    return [port for port in ports if fits(port)] or ports
