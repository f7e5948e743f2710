"""Whether anything ends a pause storm on a port: the PFC watchdog, as far as it runs.

The watchdog takes its priorities from ``pfcwd_sw_enable`` and its timers from the port's PFC_WD row, and sees
nothing while the PFCWD counters are off (sonic-swss orchagent/pfcwdorch.cpp @e6b0c5b).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from lossless.model.fabric.model import Switch
    from lossless.model.fabric.view import PortSet

Protection = Literal["running", "missing", "mask empty", "counters off", "unknown"]
_BACK_FILLED_BEFORE = (3, 0, 5)
"""Before this database version a missing mask is filled in on upgrade: sonic-utilities
scripts/db_migrator.py @691b1bb."""


def protection(ports: PortSet) -> Protection:
    """Return whether the watchdog runs on these ports, and what keeps it from running.

    A mask that leaves some priorities out is legal where tunnels are remapped, and counts as running. A
    missing mask counts as empty, also where the file does not say its version, but for systems other than SONiC, which
    watch what a port pauses. It is unknown where a fragment has no
    rows of the watchdog at all.
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
    """Return whether a switch was read from a qos.json or buffers.json, which need not hold the watchdog's rows."""
    return switch.is_fragment and not any(port.qos and port.qos.watchdog for port in switch.ports)


def _without_mask(switch: Switch) -> Protection:
    if not switch.runs_sonic:
        return "running"
    match = re.fullmatch(r"version_(\d+)_(\d+)_(\d+)", switch.qos.database_version or "")
    old = match is not None and tuple(map(int, match.groups())) < _BACK_FILLED_BEFORE
    return "running" if old else "mask empty"
