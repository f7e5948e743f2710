"""Defaults of NVUE for settings that are not set, and the settings that ``qos roce`` implies by its mode.

Source: the guides of Cumulus Linux (CumulusNetworks/docs content/cumulus-linux-519/.../Quality-of-Service/_index.md
@16b8323) and the output of ``nv show qos roce`` and ``nv config show``.
"""

from __future__ import annotations

from lossless.ground.basics.records import NamedTuple

PRIORITIES = range(8)
KMIN_BYTES, KMAX_BYTES, PROBABILITY = 150_000, 1_500_000, 100
"""The default marking curve, for marking that is on without thresholds."""
ON, OFF = ("on", "enable", "enabled"), ("off", "disable", "disabled")
"""How releases spell it."""
POLL_MS, ROBUSTNESS = 100, 3
CABLE_M, ROCE_CABLE_M = 10, 100


class QosDefaults(NamedTuple):
    """The state that settings change: ``trust`` as NVUE calls it, maps by index, queues by traffic class.

    ``shares`` are percents of DWRR by traffic class, None for a strict one; ``marking`` are the classes that mark.
    """

    trust: str
    dscp: tuple[int, ...] | None
    pcp: tuple[int, ...]
    queues: tuple[int, ...]
    shares: dict[int, int | None]
    marking: dict[int, tuple[int, int, int]]
    paused: tuple[int, ...]


_CURVE = (KMIN_BYTES, KMAX_BYTES, PROBABILITY)
EIGHTHS = tuple(dscp // 8 for dscp in range(64))
"""The switch priority of each DSCP where DSCPs are trusted and none is mapped."""
_OF_ROCE = tuple({3: 3, 6: 6}.get(priority, 0) for priority in PRIORITIES)
PLAIN = QosDefaults(
    "l2",
    None,
    tuple(PRIORITIES),
    tuple(PRIORITIES),
    {number: 12 + number % 2 for number in PRIORITIES},
    {0: _CURVE},
    (),
)
LOSSLESS = QosDefaults(
    "both", EIGHTHS, tuple(PRIORITIES), _OF_ROCE, {0: 50, 3: 50, 6: None}, {0: _CURVE, 3: _CURVE}, (3,)
)
LOSSY = LOSSLESS._replace(paused=())
_TRIMMED = {
    **dict.fromkeys((1, 2), 1),
    **dict.fromkeys((3, 4), 2),
    **dict.fromkeys((5, 6), 3),
    **dict.fromkeys(range(11, 41), 4),
}
_NARROW = (163 * 1024, 234 * 1024, 5)
MULTI_TC = QosDefaults(
    "both",
    tuple(_TRIMMED.get(dscp, 0) for dscp in range(64)),
    tuple(PRIORITIES),
    tuple(PRIORITIES),
    {0: 4, 1: 8, 2: 18, 3: 22, 4: 22},
    dict.fromkeys((1, 2, 3), _NARROW),
    (),
)
MODES = {
    "lossless": LOSSLESS,
    "lossless-single-ipool": LOSSLESS,
    "lossy": LOSSY,
    "lossy-multi-tc": MULTI_TC,
}
