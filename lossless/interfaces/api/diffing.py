"""Diff: how a running configuration differs from what an intent declares, and how it gets there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.formats.inputs.fabrics import intent_at
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.records import NamedTuple
from lossless.interfaces.api.options import DEFAULT_OPTIONS, Options
from lossless.interfaces.api.rendering import sound_fabric

if TYPE_CHECKING:
    from os import PathLike

    from lossless.formats.sonic.changes.difference import RowDifference
    from lossless.ground.documents.document import Document
    from lossless.interfaces.api.report import Report
    from lossless.model.fabric.model import Fabric, Switch
    from lossless.output.render.plan import Change


class Drift(NamedTuple):
    """What differs between a switch's running configuration and what is rendered for it.

    ``rows`` differ in meaning. ``change`` says what it takes to bring the switch there and ``patch`` is that as RFC
    6902 operations, None where the switch's updater would refuse it; it also mends what is only spelled in an old
    form, ``respelled`` counts the operations where there is nothing else. ``problems`` are what a render onto the
    file would be refused for: there is no change and no patch then. ``report`` is what the rules say of the
    intent; with errors in it nothing is compared.
    """

    device: str
    file: str
    intent: str
    rows: tuple[RowDifference, ...]
    respelled: int
    change: Change | None
    patch: tuple[dict[str, Any], ...] | None
    problems: tuple[str, ...]
    report: Report

    @property
    def patch_text(self) -> str | None:
        """The patch as a file for ``config apply-patch``, None where there is no patch."""
        from lossless.formats.sonic.changes.patch import patch_text

        return None if self.patch is None else patch_text(self.patch)


def diff(
    config_db: str | PathLike[str],
    intent: str | PathLike[str],
    *,
    device: str | None = None,
    options: Options = DEFAULT_OPTIONS,
) -> Drift:
    """Compare a switch's ``config_db.json`` with what an intent renders for it, in the tables rendering owns.

    ``device`` names the switch of the intent; left out, it is the file's own hostname.

    Raises:
        InputError: the file or the intent cannot be read, or the intent has no such switch.
    """
    from lossless.ground.documents import load

    document = intent_at(intent)
    running = _one_device(load(config_db))
    report, fabric = sound_fabric(document, options)
    if fabric is None:
        return Drift(device or "", running.file, document.file, (), 0, None, None, (), report)
    return _compared(_switch(fabric, running, device), running, document.file, report)


def _one_device(document: Document) -> Document:
    """Return the configuration of one device, in whatever form it is found.

    Raises:
        InputError: the file holds none, or several.
    """
    from lossless.formats.sonic.read.forms import devices_of

    if document.problems:
        raise InputError(document.problems)
    devices = devices_of(document)
    if len(devices) == 1:
        return devices[0]
    message = (
        f"holds the configurations of {len(devices)} devices or ASICs; compare each by a file of its own"
    )
    raise InputError(
        [Problem(document.file, None, None, message if devices else "holds no configuration of a device")]
    )


def _switch(fabric: Fabric, running: Document, device: str | None) -> Switch:
    """Return the switch of the intent that a file is of.

    Raises:
        InputError: there is none; the message names those that there are.
    """
    switches = {switch.name: switch for switch in fabric.switches}
    name = device or _hostname(running)
    if name in switches:
        return switches[name]
    from lossless.ground.basics.nearest import nearest

    near = nearest(name, switches) if name else None
    meant = f"did you mean {near}?" if near else f"it has {_some(list(switches))}"
    if device:
        said = f"the intent has no switch {device!r}; {meant}"
    elif name:
        said = f"is the file of {name!r}, and the intent has no such switch; {meant}; name one with --device"
    else:
        said = (
            f"does not say whose it is (DEVICE_METADATA|localhost|hostname); {meant}; name one with --device"
        )
    raise InputError([Problem(running.file, None, None, said)])


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _hostname(running: Document) -> str:
    table = running.data.get("DEVICE_METADATA")
    row = table.get("localhost") if isinstance(table, dict) else None
    name = row.get("hostname") if isinstance(row, dict) else None
    return name if isinstance(name, str) else ""


def _compared(switch: Switch, running: Document, intent: str, report: Report) -> Drift:
    from lossless.formats.sonic.changes.difference import differences
    from lossless.formats.sonic.from_model.tables import tables
    from lossless.formats.sonic.read.tables import Tables
    from lossless.ground.basics.errors import RenderError
    from lossless.output.render.extras import change_of, update_of
    from lossless.output.render.switches import contents

    rows = differences(Tables(running.file, running.data), tables(switch))
    # Who names the device knows whose file it is; the name in it is then no reason to refuse it.
    named = switch._replace(name=_hostname(running) or switch.name)
    try:
        _, target = contents(named, running)
    except RenderError as error:
        problems = tuple(str(error).splitlines())
        return Drift(switch.name, running.file, intent, rows, 0, None, None, problems, report)
    there = update_of(switch, running.data, target)
    patch = None if there.refusals else tuple(step.as_json() for step in there.operations)
    respelled = 0 if rows else len(there.operations)
    change = change_of(switch, there)
    return Drift(switch.name, running.file, intent, rows, respelled, change, patch, (), report)
