"""Compares the render of an imported intent with the devices it was imported from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.importing.differences import Explainer
from lossless.formats.sonic.changes.meaning import compare
from lossless.formats.sonic.from_model.chassis import chassis_rows
from lossless.formats.sonic.from_model.tables import tables
from lossless.formats.sonic.read.tables import Tables
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.formats.importing.differences import ImportDifference
    from lossless.formats.importing.model import Draft
    from lossless.formats.sonic.changes.meaning import Cell
    from lossless.model.fabric.model import Fabric


class RoundTrip(NamedTuple):
    """All fields of the tables that rendering owns, by device, and the fields that differ after import and render."""

    cells: dict[str, tuple[Cell, ...]]
    differences: tuple[ImportDifference, ...]


def round_trip(draft: Draft, fabric: Fabric) -> RoundTrip:
    """Compare the devices of a draft that run SONiC with the render of the fabric of its intent."""
    switches = {switch.name: switch for switch in fabric.switches}
    cells: dict[str, tuple[Cell, ...]] = {}
    differences: list[ImportDifference] = []
    for device in draft.devices:
        if not device.switch.runs_sonic:
            continue
        switch = switches[device.name]
        rendered = Tables(device.name, chassis_rows(tables(switch), device.tables.data))
        cells[device.name] = compare(device.tables, rendered, device.switch)
        differences += Explainer(device, switch, draft).differences(cells[device.name])
    return RoundTrip(cells, tuple(differences))
