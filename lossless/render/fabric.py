"""A whole fabric to files, device by device: one folder a switch, one a host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.errors import RenderError
from lossless.render.deploy import HOST_FILES
from lossless.render.plan import PlannedFile

DRIVER = "mlx5"
"""The driver of NVIDIA's ConnectX and BlueField NICs."""

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from lossless.fabric.model import Fabric, Host


def require_bases(fabric: Fabric, present: Collection[str]) -> None:
    """Refuse a fabric some of whose switches have no file of their own among ``present``.

    Raises:
        RenderError: a device without a base.
    """
    missing = [switch.name for switch in fabric.switches if switch.name not in present]
    if missing:
        raise RenderError(f"no base for {', '.join(missing)}; a base is DIR/<device>/config_db.json")


def host_notes(fabric: Fabric) -> tuple[str, ...]:
    """Return which hosts no files are rendered for, and why."""
    _, left_out = _hosts_by_driver(fabric)
    return tuple(
        f"no files for {len(hosts)} hosts with {name}: only NICs of driver {DRIVER} are rendered"
        for name, hosts in sorted(left_out.items())
    )


def host_files(fabric: Fabric) -> Iterator[PlannedFile]:
    """Yield the files of each host; hosts that are alike are rendered once.

    Raises:
        RenderError: a host that cannot be set as declared.
    """
    hosts, _ = _hosts_by_driver(fabric)
    rendered: dict[int, tuple[PlannedFile, ...]] = {}
    for host in hosts:
        if id(host.qos) not in rendered:
            rendered[id(host.qos)] = _one_host(host)
        for file in rendered[id(host.qos)]:
            yield file._replace(path=f"{host.name}/{file.path}")


def _hosts_by_driver(fabric: Fabric) -> tuple[Sequence[Host], dict[str, list[Host]]]:
    """Return the hosts that files are rendered for, and by NIC those that none are."""
    rendered: list[Host] = []
    left_out: dict[str, list[Host]] = {}
    for host in fabric.hosts:
        nic = host.qos.nic
        if nic is not None and nic.driver == DRIVER:
            rendered.append(host)
        else:
            left_out.setdefault(host.qos.nic_name, []).append(host)
    return rendered, left_out


def _one_host(host: Host) -> tuple[PlannedFile, ...]:
    from lossless.hosts.nvidia import host_files as files_of
    from lossless.render.environment import render_template

    return tuple(
        PlannedFile(
            file.path,
            render_template(file.template, file.context),
            file.executable,
            HOST_FILES.get(file.path),
        )
        for file in files_of(host.qos)
    )
