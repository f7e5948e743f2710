"""Differences between a switch's running and rendered configuration, and the update that removes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.formats.device_files.extras import change_of, update_of
from lossless.formats.device_files.switches import contents
from lossless.formats.inputs.devices import hostname_of
from lossless.formats.sonic.changes.json_patch import RowDifference, differences, patch_text
from lossless.formats.sonic.from_model.chassis import chassis_rows
from lossless.formats.sonic.from_model.tables import tables
from lossless.formats.sonic.read.tables import Tables
from lossless.formats.sonic.to_model.devices import read_fabric
from lossless.ground.basics.errors import RenderError
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.checks.lint.report import Report
    from lossless.formats.device_files.deployment import UpdatePlan
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.model import Switch


class NotCompared(NamedTuple):
    """A setting of an intent that the files of the switch's system do not carry, with why."""

    what: str
    why: str


class SwitchDrift(NamedTuple):
    """The differences of a switch; the fields are those of :class:`Drift`."""

    rows: tuple[RowDifference, ...]
    respelled: int = 0
    change: UpdatePlan | None = None
    patch: tuple[dict[str, Any], ...] | None = None
    problems: tuple[str, ...] = ()
    not_compared: tuple[NotCompared, ...] = ()


class Drift(NamedTuple):
    """The differences between a switch's running configuration and the one rendered for it.

    ``rows`` differ in meaning. ``change`` is the update of the switch and ``patch`` the same as RFC 6902 operations,
    None if the switch's updater would refuse it. The patch also rewrites values in an old spelling; ``respelled``
    counts its operations if there are no other differences. ``problems`` are the reasons why a render onto the file
    would be refused: there is no change and no patch then. ``not_compared`` are settings of the intent that files of
    the switch's system do not carry. ``report`` contains the findings of the rules on the intent; with errors in it
    nothing is compared.
    """

    device: str
    file: str
    intent: str
    rows: tuple[RowDifference, ...]
    respelled: int
    change: UpdatePlan | None
    patch: tuple[dict[str, Any], ...] | None
    problems: tuple[str, ...]
    not_compared: tuple[NotCompared, ...]
    report: Report

    @property
    def patch_text(self) -> str | None:
        """The patch as a file for ``config apply-patch``, None where there is no patch."""
        return None if self.patch is None else patch_text(self.patch)


def drift_of(switch: Switch, running: Document) -> SwitchDrift:
    """Return the differences between the running configuration of a switch and the one rendered for it."""
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
    """Return the switch of a configuration, read with the hardware profile of another switch."""
    known = (like.profile, like.hwsku) if like.profile and like.hwsku else None
    return read_fabric([deployed], lambda name, _: known if name == like.hwsku_name else None).switches[0]
