"""A whole fabric to files: one folder a switch, one a host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.errors import RenderError
from lossless.render.plan import PlannedFile, RenderPlan
from lossless.render.switches import switch_file

DRIVER = "mlx5"
"""The driver of NVIDIA's ConnectX and BlueField NICs."""

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.fabric.model import Fabric, Host
    from lossless.source.document import Document


def plan_fabric(fabric: Fabric, bases: Mapping[str, Document] | None) -> RenderPlan:
    """Return every file of a fabric; ``bases`` holds each switch's own file, None renders owned tables alone.

    Raises:
        RenderError: a device without a base, a base that does not fit, a host that cannot be set as declared.
    """
    if bases is not None:
        missing = [switch.name for switch in fabric.switches if switch.name not in bases]
        if missing:
            raise RenderError(f"no base for {', '.join(missing)}; a base is DIR/<device>/config_db.json")
    problems: list[str] = []
    files: list[PlannedFile] = []
    for switch in fabric.switches:
        try:
            files.append(switch_file(switch, bases[switch.name] if bases is not None else None))
        except RenderError as error:
            problems.append(str(error))
    if problems:
        raise RenderError("\n".join(problems))
    rendered, left_out = _hosts_by_driver(fabric)
    notes = tuple(
        f"no files for {len(hosts)} hosts with {name}: only NICs of driver {DRIVER} are rendered"
        for name, hosts in sorted(left_out.items())
    )
    return RenderPlan((*files, *_host_files(rendered)), notes)


def _hosts_by_driver(fabric: Fabric) -> tuple[list[Host], dict[str, list[Host]]]:
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


def _host_files(hosts: Sequence[Host]) -> Iterator[PlannedFile]:
    """Yield the files of each host; hosts that are alike are rendered once."""
    rendered: dict[int, tuple[PlannedFile, ...]] = {}
    for host in hosts:
        if id(host.qos) not in rendered:
            rendered[id(host.qos)] = _one_host(host)
        for file in rendered[id(host.qos)]:
            yield file._replace(path=f"{host.name}/{file.path}")


def _one_host(host: Host) -> tuple[PlannedFile, ...]:
    from lossless.hosts.nvidia import host_files
    from lossless.render.environment import render_template

    return tuple(
        PlannedFile(file.path, render_template(file.template, file.context), file.executable)
        for file in host_files(host.qos)
    )
