"""How a switch's running configuration differs from what is rendered for it, and what it takes to get there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.changes.difference import RowDifference as RowDifference, differences
from lossless.formats.sonic.changes.patch import patch_text as patch_text
from lossless.formats.sonic.from_model.chassis import chassis_rows
from lossless.formats.sonic.from_model.tables import tables
from lossless.formats.sonic.read.tables import Tables
from lossless.formats.sonic.to_model.devices import read_fabric
from lossless.ground.basics.errors import RenderError
from lossless.ground.basics.records import NamedTuple
from lossless.output.render.extras import change_of, update_of
from lossless.output.render.switches import contents

if TYPE_CHECKING:
    from lossless.ground.documents.document import Document
    from lossless.model.fabric.model import Switch
    from lossless.output.render.planned_files import UpdatePlan


class NotCompared(NamedTuple):
    """A setting of an intent that the files of the switch's system do not carry, with why."""

    what: str
    why: str


class SwitchDrift(NamedTuple):
    """What differs; the fields are those of :class:`lossless.api.Drift`."""

    rows: tuple[RowDifference, ...]
    respelled: int = 0
    change: UpdatePlan | None = None
    patch: tuple[dict[str, Any], ...] | None = None
    problems: tuple[str, ...] = ()
    not_compared: tuple[NotCompared, ...] = ()


def drift_of(switch: Switch, running: Document) -> SwitchDrift:
    """Return how the running configuration of a switch differs from what is rendered for it."""
    deployed = Tables(running.file, running.data)
    rows = differences(deployed, chassis_rows(tables(switch), running.data), _read(deployed, switch))
    # Who names the device knows whose file it is; the name in it is then no reason to refuse it.
    named = switch._replace(name=hostname_of(running) or switch.name)
    try:
        _, target = contents(named, running)
    except RenderError as error:
        return SwitchDrift(rows, problems=error.lines)
    update = update_of(switch, running.data, target)
    patch = None if update.refusals else tuple(step.as_json() for step in update.operations)
    respelled = 0 if rows else len(update.operations)
    return SwitchDrift(rows, respelled, change_of(switch, update), patch)


def _read(deployed: Tables, like: Switch) -> Switch:
    """Return what a configuration of the hardware of another switch is read to."""
    known = (like.profile, like.hwsku) if like.profile and like.hwsku else None
    return read_fabric([deployed], lambda name, _: known if name == like.hwsku_name else None).switches[0]


def hostname_of(running: Document) -> str:
    """Return the hostname that a configuration states, empty where it states none."""
    table = running.data.get("DEVICE_METADATA")
    row = table.get("localhost") if isinstance(table, dict) else None
    name = row.get("hostname") if isinstance(row, dict) else None
    return name if isinstance(name, str) else ""
