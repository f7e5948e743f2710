"""Names of buffer pools and profiles that SONiC itself uses, in templates and in its daemons.

Sources: sonic-swss cfgmgr/buffermgr.cpp and cfgmgr/buffermgrdyn.h @e6b0c5b; the buffers_defaults_*.j2 of
sonic-buildimage device/ @086b03b.
"""

from __future__ import annotations

import re

INGRESS_LOSSLESS_POOL = "ingress_lossless_pool"
"""The pool of lossless groups; buffermgrd puts their profiles only there."""
INGRESS_LOSSY_POOL = "ingress_lossy_pool"
"""The ingress pool that only the split form has."""
EGRESS_LOSSLESS_POOL = "egress_lossless_pool"
"""The pool that spans the whole buffer (cfgmgr/buffer_pool_mellanox.lua @1469e8d)."""
EGRESS_LOSSY_POOL = "egress_lossy_pool"

INGRESS_LOSSLESS_PROFILE = "ingress_lossless_profile"
INGRESS_LOSSY_PROFILE = "ingress_lossy_profile"
EGRESS_LOSSLESS_PROFILE = "egress_lossless_profile"
EGRESS_LOSSY_PROFILE = "egress_lossy_profile"
QUEUE_LOSSY_PROFILE = "q_lossy_profile"
"""The profile of lossy queues in some templates."""

PG_PROFILE_PREFIX = "pg_lossless_"
"""The prefix of the profiles of lossless groups, also of those with the suffixes of the dynamic model."""


def pg_profile_name(speed_bps: int | None, cable_m: int | None, besides: str = "") -> str:
    """Return the name that buffermgrd looks up: ``pg_lossless_400000_40m_profile``; 0 for an unknown speed or length.

    ``besides`` is the suffix that the dynamic model adds for another MTU or for lanes.
    """
    return f"{PG_PROFILE_PREFIX}{(speed_bps or 0) // 10**6}_{cable_m or 0}m{besides}_profile"


def is_pg_profile_name(name: str) -> bool:
    """Return whether a profile has the form of names that the switch generates from speed and length."""
    return re.fullmatch(rf"{PG_PROFILE_PREFIX}[0-9]+_[0-9]+m_profile", name) is not None
