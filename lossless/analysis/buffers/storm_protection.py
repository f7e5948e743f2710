"""Protection of a port against a pause storm: the PFC watchdog and whether it runs.

The watchdog has its priorities from ``pfcwd_sw_enable`` and its timers from the port's PFC_WD row, and does not work
while the PFCWD counters are off (sonic-swss orchagent/pfcwdorch.cpp @e6b0c5b).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from lossless.model.fabric.model import Switch
    from lossless.model.fabric.view import PortSet

Protection = Literal["running", "missing", "mask empty", "counters off", "unknown"]
_BACK_FILLED_BEFORE = (3, 0, 5)
"""A missing mask of a database before this version is filled in on upgrade: sonic-utilities scripts/db_migrator.py
@691b1bb.
"""


def protection(ports: PortSet) -> Protection:
    """Return the watchdog state of these ports: running, the obstacle, or unknown.

    A mask without some of the priorities is legal where tunnels are remapped, and counts as running. A missing mask of
    an old database is filled in on upgrade and counts as running, and so does one of systems other than SONiC, which
    watch the priorities that a port pauses; any other counts as empty, also in a file without a version. The state of a
    fragment without any rows of the watchdog is unknown.
    """
    if ports.qos.watchdog is None:
        return "unknown" if watchdog_elsewhere(ports.switch) else "missing"
    if ("PFCWD", False) in ports.switch.qos.counters:
        return "counters off"
    mask = ports.qos.watchdog_mask
    if mask is not None:
        return "running" if mask.priorities else "mask empty"
    return _without_mask(ports.switch)


WATCHDOG_ELSEWHERE = "a fragment without PORT rows: the watchdog may stand elsewhere"


def watchdog_elsewhere(switch: Switch) -> bool:
    """Return whether a switch comes from a qos.json or buffers.json, which need not contain the watchdog's rows."""
    return switch.is_fragment and not any(port.qos and port.qos.watchdog for port in switch.ports)


def _without_mask(switch: Switch) -> Protection:
    if not switch.runs_sonic:
        return "running"
    match = re.fullmatch(r"version_(\d+)_(\d+)_(\d+)", switch.qos.database_version or "")
    old = match is not None and tuple(map(int, match.groups())) < _BACK_FILLED_BEFORE
    return "running" if old else "mask empty"
