"""The tables of adaptive routing (ARS), as the design of SONiC and its open pull requests name them.

The design names some in the plural, the YANG model and orchagent that are proposed in the singular; both are taken
(sonic-net/SONiC doc/ARS/Local_ARS_HLD.md @98de38f; sonic-buildimage pull request 22264 @316ed5a, sonic-ars.yang;
sonic-swss pull request 3597 @38dc140, orchagent/arsorch.cpp).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.interface_tables import raw_rows
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.checks.rules.subjects import Device

PROFILE, OBJECT = "ARS_PROFILE", "ARS_OBJECT"
INTERFACES = ("ARS_INTERFACE", "ARS_INTERFACES")
NEXT_HOPS = ("ARS_NEXTHOP", "ARS_NEXTHOPS")
LAGS = ("ARS_PORTCHANNEL", "ARS_PORTCHANNELS")
ARS_TABLES = (PROFILE, OBJECT, *INTERFACES, *NEXT_HOPS, *LAGS)
SELECTOR, DEFAULT_OBJECT, OBJECT_NAME = "ars_nhg_path_selector_mode", "default_ars_object", "ars_obj_name"
_MODES = {"per_packet_quality": "per packet", "per_flowlet_quality": "per flowlet"}
_DEFAULT_MODE = "per_flowlet_quality"


class ArsRow(NamedTuple):
    """One row of a table of adaptive routing, with its fields as they are in the file."""

    table: str
    key: str
    fields: Mapping[str, object]


def ars_rows(device: Device, *tables: str) -> Iterator[ArsRow]:
    """Yield the rows of the named tables of adaptive routing, one table after the other."""
    for table in tables:
        for key, fields in raw_rows(device, table):
            yield ArsRow(table, key, fields)


def is_global(row: ArsRow) -> bool:
    """Return whether a profile chooses adaptive paths for all next-hop groups."""
    return row.fields.get(SELECTOR) == "global"


def adaptive_routing(device: Device) -> str:
    """Return the unit for which a device chooses paths by load, such as ``per packet``, several of them, or ``off``."""
    profiles = list(ars_rows(device, PROFILE))
    users = list(ars_rows(device, *INTERFACES, *NEXT_HOPS))
    if not profiles or not (users or any(map(is_global, profiles))):
        return "off"
    modes = {str(row.fields.get("assign_mode", _DEFAULT_MODE)) for row in ars_rows(device, OBJECT)}
    return " and ".join(sorted(_MODES.get(mode, mode) for mode in modes or {_DEFAULT_MODE}))
