"""A whole fabric to files: one folder a switch, one a host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.errors import LosslessError, RenderError
from lossless.render.plan import PlannedFile
from lossless.render.switches import switch_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.fabric.model import Fabric, Host
    from lossless.source.document import Document


def plan_fabric(fabric: Fabric, bases: Mapping[str, Document] | None) -> tuple[PlannedFile, ...]:
    """Return every file of a fabric; ``bases`` holds each switch's own file, None renders owned tables alone.

    Raises:
        RenderError: a device without a base, a base that does not fit, a NIC that nothing is rendered for.
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
    return (*files, *_host_files(fabric))


def _host_files(fabric: Fabric) -> Iterator[PlannedFile]:
    """Yield the files of each host; hosts that are alike are rendered once."""
    rendered: dict[int, tuple[PlannedFile, ...]] = {}
    for host in fabric.hosts:
        if id(host.qos) not in rendered:
            rendered[id(host.qos)] = _one_host(host)
        for file in rendered[id(host.qos)]:
            yield file._replace(path=f"{host.name}/{file.path}")


def _one_host(host: Host) -> tuple[PlannedFile, ...]:
    from lossless.hosts.nvidia import host_files
    from lossless.render.environment import render_template

    if host.qos.nic is None:
        raise LosslessError(f"{host.name}: no NIC profile")
    return tuple(
        PlannedFile(file.path, render_template(file.template, file.context), file.executable)
        for file in host_files(host.qos)
    )
