"""Ports that write DSCP again when packets leave: ``tc_to_dscp_map`` of PORT_QOS_MAP.

orchagent takes DSCPs 0 to 63 and refuses the whole map otherwise (sonic-swss orchagent/qosorch.cpp @e6b0c5b).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.sonic.read.tables import Tables, whole_number
from lossless.model.fabric.qos import DSCPS, PRIORITIES, DscpRewrite

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.ground.documents.text import Document
    from lossless.model.fabric.model import Fabric
    from lossless.model.fabric.qos import DscpRewrites

_TABLE = "TC_TO_DSCP_MAP"


def rewrites(fabric: Fabric, documents: Iterable[Document]) -> DscpRewrites:
    """Return the maps that write DSCP again; ports that bind none are not among them.

    ``documents`` are those that the fabric was read from: the model has no place for these maps, which few
    devices bind.
    """
    names = {switch.origin.file: switch.name for switch in fabric.switches}
    devices = map(Tables.of, documents)
    return {(names[device.file], port): rewrite for device in devices for port, rewrite in _of_device(device)}


def _of_device(tables: Tables) -> Iterator[tuple[str, DscpRewrite]]:
    for port, row in tables.table("PORT_QOS_MAP").items():
        name = row.reference("tc_to_dscp_map")
        if name and port != "global":
            yield port, rewrite_of(tables, name)


def rewrite_of(tables: Tables, name: str) -> DscpRewrite:
    """Return the DSCPs that a map gives traffic classes; entries of classes beyond 7 exist, and are ignored."""
    maps = tables.data.get(_TABLE)
    row = maps.get(name) if isinstance(maps, dict) else None
    if not isinstance(row, dict):
        return DscpRewrite(name, None, refused=False)
    numbers = [(whole_number(str(tc)), whole_number(str(dscp))) for tc, dscp in row.items()]
    if any(tc is None or dscp not in DSCPS for tc, dscp in numbers):
        return DscpRewrite(name, None, refused=True)
    known = {tc: dscp for tc, dscp in numbers if tc is not None and tc in PRIORITIES and dscp is not None}
    return DscpRewrite(name, known, refused=False)
