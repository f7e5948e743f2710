"""The files of one switch: its tables laid out by a template, read back and compared, and the extras beside them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lossless.formats.device_files.base_merge import onto_base
from lossless.formats.device_files.deployment import (
    COMPLETE,
    QOS_ALONE,
    QOS_WITH_DELETES,
    PlannedFile,
    asic_deployment,
)
from lossless.formats.device_files.environment import render_template
from lossless.formats.sonic.capabilities.releases import release_problems
from lossless.formats.sonic.from_model.chassis import chassis_rows
from lossless.formats.sonic.from_model.tables import tables
from lossless.ground.basics.errors import RenderError
from lossless.ground.basics.natural_order import natural_key

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from lossless.formats.device_files.deployment import Extra, UpdatePlan
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.model import Switch

TEMPLATE = "sonic/config_db.json.j2"


def switch_files(
    switch: Switch, base: Document | None, extras: Collection[Extra] = ()
) -> tuple[tuple[PlannedFile, ...], UpdatePlan | None]:
    """Return the files of a switch: its own, and beside it the extras, which need a base.

    The second value is the switch's update plan, if a patch was requested.

    Raises:
        RenderError: the base does not fit, or the text of the template does not match the tables.
    """
    if not switch.runs_sonic:
        from lossless.formats.device_files.other_systems import other_files

        return other_files(switch), None
    rendered, content = contents(switch, base)
    if switch.asic:
        return (_file_of_asic(switch, base, content, extras),), None
    if base is None:
        return (_file(switch, "qos.json", rendered)._replace(deployment=QOS_ALONE),), None
    files = [_file(switch, "config_db.json", content)._replace(deployment=COMPLETE)]
    if not extras:
        return tuple(files), None
    from lossless.formats.device_files.extras import extra_files

    beside, plan = extra_files(switch, base, content, extras)
    if "qos" in extras:
        files.append(_file(switch, "qos.json", rendered)._replace(deployment=QOS_WITH_DELETES))
    return (*files, *beside), plan


def _file_of_asic(
    switch: Switch, base: Document | None, content: Mapping[str, Any], extras: Collection[Extra]
) -> PlannedFile:
    """Return the file of one ASIC of several: ``config_db0.json`` on a base, ``qos0.json`` without one."""
    if extras:
        why = "are made for switches with one ASIC; render without them"
        raise RenderError(f"{switch.name}: {', '.join(extras)} {why}")
    kind = "config_db" if base else "qos"
    file = _file(switch, f"{kind}{switch.asic.removeprefix('asic')}.json", content)
    return file._replace(deployment=asic_deployment(switch.asic, complete=base is not None))


def contents(switch: Switch, base: Document | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tables that are rendered for a switch, and its complete configuration: on a base, if there is one.

    Raises:
        RenderError: its release does not support a rendered row, or the base does not fit.
    """
    rendered: dict[str, Any] = chassis_rows(tables(switch), base.data if base else {})
    problems = list(release_problems(switch, rendered, base.data if base else None))
    if problems:
        raise RenderError(
            "\n".join(f"{base.file if base else switch.name}: {problem}" for problem in problems)
        )
    return rendered, rendered if base is None else onto_base(switch, rendered, base)


def switch_file(switch: Switch, base: Document | None) -> PlannedFile:
    """Return ``config_db.json`` on a base, or ``qos.json`` with the owned tables alone.

    Raises:
        RenderError: the base does not fit, or the text of the template does not match the tables.
    """
    files, _ = switch_files(switch, base)
    return files[0]


def _file(switch: Switch, name: str, content: Mapping[str, Any]) -> PlannedFile:
    text = render_template(
        TEMPLATE, {"tables": sorted(content.items(), key=lambda item: natural_key(item[0]))}
    )
    if json.loads(text) != content:
        raise RenderError(f"template {TEMPLATE} wrote something else than the tables of {switch.name}")
    return PlannedFile(f"{switch.device}/{name}", text)
