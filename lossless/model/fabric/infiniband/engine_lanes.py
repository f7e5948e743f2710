"""Lanes of routing engines.

torus-2QoS writes the SL2VL tables itself and ignores `qos_sl2vl`; lash, dfsssp and nue give each path the SL of its
lane, and the table must map each SL to the VL of its number.

Source: linux-rdma/opensm opensm/osm_torus.c @fa74b98 (sl2vl_entry); torus-2QoS(8), QUALITY OF SERVICE CONFIGURATION.
"""

from __future__ import annotations

from typing import Literal

TORUS_ENGINE = "torus-2QoS"
SL_IS_LANE = ("lash", "dfsssp", "nue")
"""Engines whose SL of a path is the number of the path's lane."""
TORUS_PORTS: tuple[Literal["ca", "swe"], ...] = ("ca", "swe")
"""Kinds of ports with lanes of their own: hosts, and ports of switches, as keys of arbitration tables have them."""
SECOND_LEVEL = 8
"""The bit of an SL that selects the second level of torus-2QoS; the engine uses all other bits."""


def torus_lanes(kind: Literal["ca", "swe"], vls: int, sl: int) -> frozenset[int]:
    """Return the VLs on which packets of an SL leave ports of one kind, with ``vls`` operational VLs."""
    second = bool(sl & SECOND_LEVEL)
    if kind == "ca":
        return frozenset({1 if second and vls >= 2 else 0})
    first = 4 if second and vls >= 8 else 0
    return frozenset(range(first, first + (4 if vls >= 4 else 2 if vls >= 2 else 1)))
