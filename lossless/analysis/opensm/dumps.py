"""Dumps of opensm beside its log: forwarding tables, SL to VL tables, and the coordinates that torus-2QoS found.

Forms: linux-rdma/opensm, opensm/osm_dump.c @b3bb0ab (dump_ucast_lfts, dump_sl2vl_tbl), opensm/osm_torus.c @9b50961.
"""

from __future__ import annotations

import re
from array import array
from typing import TYPE_CHECKING

import numpy as np

from lossless.analysis.opensm.walk import DROPPED, SLS, one_lane
from lossless.analysis.routing.infiniband.routes import HERE, NO_PATH, SubnetRoutes
from lossless.ground.basics.known import Unknown
from lossless.model.fabric.infiniband.guids import with_derived_guids

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lossless.analysis.opensm.walk import Numbers
    from lossless.analysis.routing.infiniband.channels import SubnetGraph
    from lossless.model.fabric.infiniband.subnet import Subnet

_SWITCH = re.compile(r"^Unicast lids \[0-\d+\] of switch Lid \d+ guid 0x([0-9a-f]+)", re.MULTILINE)
_ENTRY = re.compile(r"^0x([0-9a-f]{4}) (\d{3}) # Channel Adapter portguid 0x([0-9a-f]+)", re.MULTILINE)
_OF_SWITCH, _OF_HCA = (
    re.compile(rf"^(?:{kind} 0x([0-9a-f]+), base LID|[^\d#\n]).*$", re.MULTILINE)
    for kind in ("Switch", "Channel Adapter")
)
_LANES = re.compile(r"^\d.*$", re.MULTILINE)
_ALL_VLS = 15
_PLACE = re.compile(r"switch (\d+),(\d+),(\d+) GUID 0x([0-9a-f]+)")


def routes_in(text: str, graph: SubnetGraph, subnet: Subnet) -> SubnetRoutes:
    """Return the routes between HCAs in ``opensm-lfts.dump``; addresses in ascending order."""
    owners = _hcas_by_guid(subnet)
    ports_of: dict[int, dict[str, str]] = {}
    columns: dict[str, int] = {}
    for guid, block in _blocks(text, _SWITCH):
        entries = _ENTRY.findall(block)
        ports_of[guid] = {address: port for address, port, _ in entries}
        columns |= {
            address: owners[int(owner, 16)] for address, _, owner in entries if address not in columns
        }
    addresses = sorted(columns)
    columns_at: list[list[int]] = [[] for _ in graph.switches]
    for column, address in enumerate(addresses):
        columns_at[graph.attached[columns[address]].switch].append(column)
    leads = [{f"{graph.channels[channel].port:03d}": channel for channel in out} for out in graph.out]
    tables = []
    for number, guid in enumerate(graph.guids):
        port_to = ports_of.get(guid, {})
        ports = [port_to.get(address, "") for address in addresses]
        tables.append(array("i", [leads[number].get(port, NO_PATH) for port in ports]))
        for column in columns_at[number]:
            if ports[column] == f"{graph.attached[columns[addresses[column]]].port:03d}":
                tables[-1][column] = HERE
    lids = [int(address, 16) for address in addresses]
    return SubnetRoutes(tuple(tables), [columns[address] for address in addresses], lids)


def _blocks(text: str, head: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """Yield the GUID of each head and the text below it; none of a head that names no switch."""
    heads = list(head.finditer(text))
    ends = [*(following.start() for following in heads[1:]), len(text)]
    for match, end in zip(heads, ends, strict=False):
        if match[1] is not None:
            yield int(match[1], 16), text[match.end() : end]


def _hcas_by_guid(subnet: Subnet) -> dict[int, int]:
    hcas = with_derived_guids(subnet).hcas
    return {} if isinstance(hcas, Unknown) else {hca.guid or 0: number for number, hca in enumerate(hcas)}


def lanes_in(text: str, graph: SubnetGraph, vls: int) -> NDArray[np.uint8]:
    """Return the virtual lane by switch, port in, port out and service level, from ``opensm-sl2vl.dump``.

    ``vls`` is how many lanes are operational. opensm folds lanes beyond them onto those below, on HCAs at once, on
    switches with the heavy sweep after the first, in which the dump is made (opensm 3.3.23, run).
    """
    numbers, lanes = {guid: number for number, guid in enumerate(graph.guids)}, one_lane(graph)
    # Without QoS nothing is written, and every level is on VL 0.
    for guid, rows in _lane_rows(text, _OF_SWITCH):
        if guid in numbers:
            lanes[numbers[guid], rows[:, 0], rows[:, 1]] = _folded(rows[:, 2:], vls)
    return lanes


def hca_lanes_in(text: str, subnet: Subnet, vls: int) -> dict[int, list[int]]:
    """Return the virtual lane by HCA and service level at the ports of HCAs, from ``opensm-sl2vl.dump``."""
    owners = _hcas_by_guid(subnet)
    rows_by_guid = _lane_rows(text, _OF_HCA)
    return {owners[guid]: _folded(rows[0, 2:], vls).tolist() for guid, rows in rows_by_guid if guid in owners}


def _lane_rows(text: str, head: re.Pattern[str]) -> Iterator[tuple[int, Numbers]]:
    """Yield the GUID of each port or switch with its rows: port in, port out and the lane of each service level."""
    for guid, block in _blocks(text, head):
        words = " ".join(_LANES.findall(block)).replace(":", " ")
        rows = np.array(words.split(), np.int64).reshape(-1, 2 + SLS)
        if len(rows):
            yield guid, rows


def _folded(lanes: Numbers, vls: int) -> Numbers:
    return lanes if vls == _ALL_VLS else np.where(lanes == DROPPED, DROPPED, lanes % vls)


def places_in(text: str, graph: SubnetGraph) -> list[tuple[int, ...]] | None:
    """Return the coordinates of each switch in ``opensm-torus.dump``, None if a switch has none."""
    place_of = {int(match[4], 16): tuple(map(int, match.groups()[:3])) for match in _PLACE.finditer(text)}
    places = [place_of.get(guid) for guid in graph.guids]
    found_places = [place for place in places if place is not None]
    return found_places if len(found_places) == len(places) else None
