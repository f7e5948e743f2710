"""A whole fabric to files, device by device: one folder a switch, one a host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.errors import RenderError
from lossless.output.render.deployment import HOST_FILES
from lossless.output.render.planned_files import PlannedFile

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from lossless.model.fabric.model import Fabric, Host


def require_bases(fabric: Fabric, present: Collection[str]) -> None:
    """Refuse a fabric some of whose switches have no file of their own among ``present``.

    Raises:
        RenderError: a device without a base.
    """
    missing = [switch.name for switch in fabric.switches if switch.name not in present]
    if missing:
        raise RenderError(f"no base for {', '.join(missing)}; a base is DIR/<device>/config_db.json")


def host_notes(fabric: Fabric) -> tuple[str, ...]:
    """Return what of the hosts' settings no file sets, and why."""
    from lossless.formats.hosts.from_model.scripts import unset

    left: dict[str, int] = {}
    for host in fabric.hosts:
        what = unset(host.qos)
        if what is not None:
            note = f"hosts with {host.qos.nic_name}: their files leave out {what}"
            left[note] = left.get(note, 0) + 1
    return tuple(f"{count} {note}" for note, count in sorted(left.items()))


def host_files(fabric: Fabric) -> Iterator[PlannedFile]:
    """Yield the files of each host; identical hosts are rendered once.

    Raises:
        RenderError: a host that cannot be set as declared.
    """
    rendered: dict[int, tuple[PlannedFile, ...]] = {}
    for host in fabric.hosts:
        if id(host.qos) not in rendered:
            rendered[id(host.qos)] = _one_host(host)
        for file in rendered[id(host.qos)]:
            yield file._replace(path=f"{host.name}/{file.path}")


def _one_host(host: Host) -> tuple[PlannedFile, ...]:
    from lossless.formats.hosts.from_model.scripts import host_files as files_of
    from lossless.output.render.environment import render_template

    return tuple(
        PlannedFile(
            file.path,
            render_template(file.template, file.context),
            file.executable,
            HOST_FILES.get(file.path),
        )
        for file in files_of(host.qos)
    )
