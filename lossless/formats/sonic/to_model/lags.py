"""Effects of LAGs and VLANs on the MTU of their ports, and ports that rewrite DSCP when packets leave.

teammgrd gives a member the MTU of its LAG, regardless of its own row; a packet that is routed into a VLAN may have the
MTU of the VLAN. Both have 9,100 bytes if their row states none. Source: sonic-swss cfgmgr/teammgr.cpp (addLagMember,
setLagMtu), vlanmgr.cpp, orchagent/portsorch.cpp (doVlanTask) @e6b0c5b.

DSCP is rewritten by ``tc_to_dscp_map`` of PORT_QOS_MAP. orchagent takes DSCPs 0 to 63 and refuses the whole map
otherwise (sonic-swss orchagent/qosorch.cpp @e6b0c5b).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.sonic.read.tables import Tables, whole_number
from lossless.ground.basics.findings import grouped
from lossless.model.fabric.model import DEFAULT_SWITCH_MTU_BYTES
from lossless.model.fabric.qos import DSCPS, PRIORITIES, DscpRewrite

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.model import Fabric
    from lossless.model.fabric.qos import DscpRewrites


if TYPE_CHECKING:
    Limit = tuple[int | None, Path]
    """An MTU in bytes, None where it cannot be read, and where it is written."""


def lag_mtus(tables: Tables) -> Mapping[str, Limit]:
    """Return the MTU of the LAG (None: unreadable), and its place, by port of a LAG with a row in ``PORTCHANNEL``."""
    return dict(_members(tables, "PORTCHANNEL", "PORTCHANNEL_MEMBER"))


def vlan_mtus(tables: Tables) -> Mapping[str, Limit]:
    """Return the smallest MTU read of VLANs with a VLAN_INTERFACE, and its place, by member port, also of a LAG."""
    if "VLAN_INTERFACE" not in tables.data:
        return {}
    routed = {key.partition("|")[0] for key in tables.written("VLAN_INTERFACE")}
    ports_of = grouped((path[1], port) for port, (_, path) in lag_mtus(tables).items())
    smallest: dict[str, Limit] = {}
    for member, limit in _members(tables, "VLAN", "VLAN_MEMBER"):
        if limit[1][1] in routed and limit[0] is not None:
            for port in ports_of.get(member, [member]):
                smallest[port] = min(smallest.get(port, limit), limit, key=lambda known: known[0] or 0)
    return smallest


def _members(tables: Tables, table: str, member_table: str) -> Iterator[tuple[str, Limit]]:
    if member_table not in tables.data:
        return
    rows = tables.written(table)
    for key in tables.written(member_table):
        name, _, port = key.partition("|")
        if name in rows:
            text = rows[name].fields.get("mtu")
            mtu = DEFAULT_SWITCH_MTU_BYTES if text is None else whole_number(text)
            yield port, (mtu, (table, name, "mtu"))


_TABLE = "TC_TO_DSCP_MAP"


def rewrites(fabric: Fabric, documents: Iterable[Document]) -> DscpRewrites:
    """Return the TC_TO_DSCP_MAP of each port that binds one, by switch and port name.

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
    """Return the DSCPs that a TC_TO_DSCP_MAP gives traffic classes; they are None if the map is missing or refused.

    Entries of traffic classes beyond 7 exist, and are ignored."""
    maps = tables.data.get(_TABLE)
    row = maps.get(name) if isinstance(maps, dict) else None
    if not isinstance(row, dict):
        return DscpRewrite(name, None, refused=False)
    numbers = [(whole_number(str(tc)), whole_number(str(dscp))) for tc, dscp in row.items()]
    if any(tc is None or dscp not in DSCPS for tc, dscp in numbers):
        return DscpRewrite(name, None, refused=True)
    known = {tc: dscp for tc, dscp in numbers if tc is not None and tc in PRIORITIES and dscp is not None}
    return DscpRewrite(name, known, refused=False)
