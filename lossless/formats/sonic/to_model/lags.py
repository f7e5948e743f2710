"""Effects of LAGs and VLANs on the MTU of their ports.

teammgrd gives a member the MTU of its LAG, regardless of its own row; a packet that is routed into a VLAN may have the
MTU of the VLAN. Both have 9,100 bytes if their row states none. Source: sonic-swss cfgmgr/teammgr.cpp (addLagMember,
setLagMtu), vlanmgr.cpp, orchagent/portsorch.cpp (doVlanTask) @e6b0c5b.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.sonic.read.tables import whole_number
from lossless.ground.basics.grouping import grouped
from lossless.model.fabric.model import DEFAULT_SWITCH_MTU_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.formats.sonic.read.tables import Tables
    from lossless.ground.basics.findings import Path

    Limit = tuple[int | None, Path]
    """An MTU in bytes, None where it cannot be read, and where it is written."""


def lag_mtus(tables: Tables) -> Mapping[str, Limit]:
    """Return the MTU of the LAG that each port is in, of those that exist."""
    return dict(_members(tables, "PORTCHANNEL", "PORTCHANNEL_MEMBER"))


def vlan_mtus(tables: Tables) -> Mapping[str, Limit]:
    """Return the smallest MTU of the VLANs with addresses that each port is in, by itself or in a LAG."""
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
