"""The ``type`` of a device in CONFIG_DB: it gives the tier of a switch, or marks a host.

``type`` is a field of DEVICE_METADATA for the device itself, and of DEVICE_NEIGHBOR_METADATA for its neighbors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.model.fabric.model import Tier, deployed_tier

if TYPE_CHECKING:
    from lossless.formats.sonic.read.tables import Tables
    from lossless.ground.basics.records import Unknown

TIER_OF_TYPE = {
    "ToRRouter": Tier.LEAF,
    "BackEndToRRouter": Tier.LEAF,
    "MiniToR": Tier.LEAF,
    "LeafRouter": Tier.SPINE,
    "BackEndLeafRouter": Tier.SPINE,
    "MiniLeaf": Tier.SPINE,
    "SpineRouter": Tier.SUPER_SPINE,
    "BackEndSpineRouter": Tier.SUPER_SPINE,
    "LowerSpineRouter": Tier.SUPER_SPINE,
}
"""Tiers by type: SONiC calls a leaf ToRRouter (T0), a spine LeafRouter (T1), a super-spine SpineRouter (T2).

LowerSpineRouter (LT2) takes the place of SpineRouter above LeafRouter where T2 is disaggregated. MiniToR and MiniLeaf
are read as their names say; the YANG model does not know them.

Types of the YANG model without a tier here, and why:

- FabricSpineRouter (FT2) and UpperSpineRouter (UT2) are above the lower spines, LowerRegionalHub, FabricRegionalHub
  and UpperRegionalHub above those: higher than the three tiers that a fabric has here
- SpineChassisFrontendRouter, ChassisBackendRouter and ASIC are parts of a chassis or of a device of several ASICs
- MgmtToRRouter, MgmtLeafRouter, MgmtSpineRouter, MgmtAccessRouter, LowerMgmtAggregator, UpperMgmtAggregator,
  BmcMgmtToRRouter, EPMS, MgmtTsToR, MiniTs, LeafTs, SpineTs, CoreTs, ConsoleServer and TerminalServer are switches
  and servers of the management network
- SonicHost, SmartSwitchDPU and NetworkBmc are no switches of a fabric; of FilterLeaf, MseeRouter and not-provisioned
  nothing says a tier

Sources, sonic-buildimage @086b03b: src/sonic-yang-models/yang-models/sonic-device_metadata.yang (all types);
files/build_templates/buffers_config.j2 (which types are t0, t1, t2, lt2 and ft2, management left out, and which tiers
cables join); dockers/docker-orchagent/switch.json.j2 (the order of the types above T2);
src/sonic-config-engine/minigraph.py (parts of a chassis).
"""


def is_host_type(device_type: str) -> bool:
    """Return whether a type is that of a host (sonic-buildimage src/sonic-config-engine/minigraph.py @086b03b)."""
    return device_type.lower() == "server"


def neighbor_type(tables: Tables, neighbor: str) -> str | None:
    """Return the type of a neighbor in the DEVICE_NEIGHBOR_METADATA of a device, None if it is absent."""
    rows = tables.data.get("DEVICE_NEIGHBOR_METADATA")
    row = rows.get(neighbor) if isinstance(rows, dict) else None
    device_type = row.get("type") if isinstance(row, dict) else None
    return device_type if isinstance(device_type, str) else None


def neighbor_types(tables: Tables) -> dict[str, str]:
    """Return the types in the DEVICE_NEIGHBOR_METADATA of a device, by neighbor name, sorted."""
    rows = tables.data.get("DEVICE_NEIGHBOR_METADATA")
    names = sorted(rows) if isinstance(rows, dict) else []
    return {name: kind for name in names if (kind := neighbor_type(tables, name)) is not None}


def device_tier(tables: Tables, device_type: str | None) -> Tier | Unknown:
    """Return the tier of a device by its own type and those of its neighbors in DEVICE_NEIGHBOR."""
    linked = {row.fields.get("name", "") for row in tables.table("DEVICE_NEIGHBOR").values()}
    attached = [kind for name in linked if (kind := neighbor_type(tables, name)) is not None]
    return deployed_tier(
        TIER_OF_TYPE.get(device_type or ""),
        any(map(is_host_type, attached)),
        [TIER_OF_TYPE[kind] for kind in attached if kind in TIER_OF_TYPE],
    )
