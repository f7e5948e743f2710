"""Buffers that a HWSKU ships: headroom rows, pools and profiles, as in its vendor's files; SONiC's own names of them.

SONiC uses such names in templates and in its daemons. Sources: sonic-swss cfgmgr/buffermgr.cpp and
cfgmgr/buffermgrdyn.h @e6b0c5b; the buffers_defaults_*.j2 of sonic-buildimage device/ @086b03b.
"""

from __future__ import annotations

import re
from typing import Literal

from lossless.ground.basics.records import NamedTuple

PoolType = Literal["ingress", "egress"]
PoolMode = Literal["dynamic", "static"]


class HeadroomRow(NamedTuple):
    """One row of a HWSKU's ``pg_profile_lookup.ini``: the buffer of one lossless priority group.

    ``reserved_bytes`` is the file's ``size``, ``headroom_bytes`` its ``xoff`` (never the pause trigger),
    ``xon_bytes`` its ``xon``. ``threshold`` is the exponent of alpha (``dynamic_th``) where the pool of the
    lossless groups is dynamic, bytes (``static_th``) where it is static. ``xon_offset_bytes`` is None where
    the file has no such column.
    """

    speed_bps: int
    cable_m: int
    reserved_bytes: int
    xon_bytes: int
    headroom_bytes: int
    threshold: int
    xon_offset_bytes: int | None


class PoolDefaults(NamedTuple):
    """One buffer pool of a HWSKU's buffer template; ``shared_headroom_bytes`` is ``xoff``, None without."""

    name: str
    type: PoolType
    mode: PoolMode
    size_bytes: int
    shared_headroom_bytes: int | None


class ProfileDefaults(NamedTuple):
    """One buffer profile of a HWSKU's buffer template; exactly one of the thresholds is set.

    ``dynamic_th`` is the exponent of alpha (alpha = 2 to that power); ``reserved_bytes`` is ``size``.
    """

    name: str
    pool: str
    reserved_bytes: int
    dynamic_th: int | None
    static_th_bytes: int | None


class BufferDefaults(NamedTuple):
    """Pools and profiles of one HWSKU for one place in the fabric.

    ``template`` is that place in SONiC's words, as ``t0`` (leaf), ``t1`` (spine) or ``t2`` (super-spine).
    ``default_cable_m`` is the length configured where none is given; 0 means that there are no lossless groups.
    """

    template: str
    pools: tuple[PoolDefaults, ...]
    profiles: tuple[ProfileDefaults, ...]
    default_cable_m: int | None

    @property
    def uses_shared_headroom(self) -> bool:
        """Whether a pool has shared headroom."""
        return any(pool.shared_headroom_bytes for pool in self.pools)

    def pool(self, name: str) -> PoolDefaults | None:
        """Return the pool of that name, or None."""
        return next((pool for pool in self.pools if pool.name == name), None)

    def profile(self, name: str) -> ProfileDefaults | None:
        """Return the profile of that name, or None."""
        return next((profile for profile in self.profiles if profile.name == name), None)

    def queue_profile(self, *, lossless: bool) -> ProfileDefaults | None:
        """Return the profile of the queues of lossless or lossy classes, or None."""
        names = (EGRESS_LOSSLESS_PROFILE,) if lossless else (QUEUE_LOSSY_PROFILE, EGRESS_LOSSY_PROFILE)
        return next((profile for profile in map(self.profile, names) if profile), None)


class ZeroBuffers(NamedTuple):
    """Pools and profiles to which an unused port is bound, so that its buffer is reclaimed.

    Profiles on pools that a HWSKU's template lacks are not for that HWSKU.
    """

    pools: tuple[PoolDefaults, ...]
    profiles: tuple[ProfileDefaults, ...]
    source: str


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
    """Return whether a profile has the form of names that the switch generates from speed and length alone."""
    return re.fullmatch(rf"{PG_PROFILE_PREFIX}[0-9]+_[0-9]+m_profile", name) is not None
