"""Ports that write DSCP anew when packets leave: ``tc_to_dscp_map`` of PORT_QOS_MAP.

orchagent takes DSCPs 0 to 63 and refuses the whole map otherwise (sonic-swss orchagent/qosorch.cpp @e6b0c5b).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.sonic.read.tables import Tables, whole_number
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.qos import DSCPS, PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lossless.ground.documents.document import Document
    from lossless.model.fabric.model import Fabric

_TABLE = "TC_TO_DSCP_MAP"


class Rewrite(NamedTuple):
    """What one port makes of traffic classes. ``dscps`` None: the map is not there, or ``refused``."""

    map_name: str
    dscps: Mapping[int, int] | None
    refused: bool


def rewrites(fabric: Fabric, documents: Iterable[Document]) -> dict[tuple[str, str], Rewrite]:
    """Return, by switch and port, the maps that write DSCP anew; ports that bind none are not among them.

    ``documents`` are those that the fabric was read from: the model has no place for these maps, which few
    devices bind.
    """
    names = {switch.origin.file: switch.name for switch in fabric.switches}
    devices = map(Tables.of, documents)
    return {(names[one.file], port): found for one in devices for port, found in _of_device(one)}


def _of_device(tables: Tables) -> Iterator[tuple[str, Rewrite]]:
    for port, row in tables.table("PORT_QOS_MAP").items():
        name = row.reference("tc_to_dscp_map")
        if name and port != "global":
            yield port, rewrite_of(tables, name)


def rewrite_of(tables: Tables, name: str) -> Rewrite:
    """Return what a map makes of traffic classes; entries of classes beyond 7 are there, and of no concern."""
    maps = tables.data.get(_TABLE)
    row = maps.get(name) if isinstance(maps, dict) else None
    if not isinstance(row, dict):
        return Rewrite(name, None, refused=False)
    numbers = [(whole_number(str(tc)), whole_number(str(dscp))) for tc, dscp in row.items()]
    if any(tc is None or dscp not in DSCPS for tc, dscp in numbers):
        return Rewrite(name, None, refused=True)
    known = {tc: dscp for tc, dscp in numbers if tc is not None and tc in PRIORITIES and dscp is not None}
    return Rewrite(name, known, refused=False)
