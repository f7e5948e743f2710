"""Which lanes engines use. torus-2QoS writes the SL2VL tables itself, and `qos_sl2vl` means nothing to it; lash, dfsssp
and nue give each path the SL of its lane, and the table must give each SL the VL of its number.

Source: linux-rdma/opensm opensm/osm_torus.c @fa74b98 (sl2vl_entry); torus-2QoS(8), QUALITY OF SERVICE CONFIGURATION.
"""

from __future__ import annotations

from typing import Literal

TORUS_ENGINE = "torus-2QoS"
SL_IS_LANE = ("lash", "dfsssp", "nue")
"""Engines that answer with the number of a path's lane for its SL."""
TORUS_PORTS: tuple[Literal["ca", "swe"], ...] = ("ca", "swe")
"""Kinds of ports with lanes of their own: hosts, and ports of switches, as keys of arbitration tables have them."""
SECOND_LEVEL = 8
"""The bit of an SL that means the second level of torus-2QoS: all else in it is the engine's."""


def torus_lanes(kind: Literal["ca", "swe"], vls: int, sl: int) -> frozenset[int]:
    """Return the VLs on which the packets of a service level leave ports of one kind, where so many are operational."""
    second = bool(sl & SECOND_LEVEL)
    if kind == "ca":
        return frozenset({1 if second and vls >= 2 else 0})
    first = 4 if second and vls >= 8 else 0
    return frozenset(range(first, first + (4 if vls >= 4 else 2 if vls >= 2 else 1)))
