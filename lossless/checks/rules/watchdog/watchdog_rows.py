"""Shared by the watchdog rules: watchdogs grouped by equal settings, dead times, and default poll intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.fixes import key, port_rows
from lossless.checks.rules.locations import below
from lossless.ground.basics.findings import Edit, Origin, grouped
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.qos import DEFAULT_POLL_MS, DETECTION_RANGE_MS, POLL_RANGE_MS, RESTORATION_RANGE_MS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.model.fabric.model import Switch
    from lossless.model.fabric.qos import Watchdog
    from lossless.model.fabric.view import PortSet, View

_STEP_MS = 200
_STEP_PORTS = 32
LONGER = "longer if pauses go on: each resets restoration"
"""The words of a note beside a sum with the restoration time."""
_INTENT_KEYS = {"detection_time": "detection", "restoration_time": "restoration", "action": "action"}


class WatchdogRows(NamedTuple):
    """Watchdogs with equal settings on one kind of switch. ``watchdog`` is the first of them."""

    switch: Switch
    watchdog: Watchdog
    declared: bool
    sets: tuple[PortSet, ...]

    @property
    def poll_ms(self) -> int:
        """The poll interval in force: orchagent's own where none is configured."""
        configured = self.switch.qos.poll.poll_ms
        return DEFAULT_POLL_MS if configured is None else configured

    @property
    def accepted(self) -> bool:
        """Whether orchagent accepts the timers of the row; it drops a row with one that is out of range."""
        return _is_accepted(self.watchdog)

    @property
    def dead_ms(self) -> int | None:
        """For how long a queue can be dead for a sender after a storm, or None; see :func:`dead_ms`."""
        return dead_ms(self.watchdog, self.poll_ms)

    @property
    def dropping_ms(self) -> int:
        """The milliseconds without pauses for which packets are still dropped; 0 without action drop or restoration."""
        return _dropping_ms(self.watchdog)

    @property
    def dead_sum(self) -> str:
        """The sum of detection, poll and restoration that gives :attr:`dead_ms`, as text for a note."""
        restoring = f" + restoration {self.dropping_ms}" if self.dropping_ms else ""
        total = f"detection {self.watchdog.triggers_after_ms} + poll {self.poll_ms}{restoring} = {self.dead_ms} ms"
        resets = self.dropping_ms and self.watchdog.recovery != "fixed"
        return f"{total}, {LONGER}" if resets else total

    @property
    def polled_in_range(self) -> bool:
        """Whether SONiC's YANG model accepts the poll interval."""
        return self.poll_ms in POLL_RANGE_MS

    def at(self, field: str) -> Origin:
        """Return the origin of a timer or action: a field of PFC_WD, or its key in an intent."""
        return below(self.watchdog.origin, _INTENT_KEYS[field] if self.declared else field)

    def fixes(self, field: str, value_ms: int) -> tuple[Edit, ...]:
        """Return edits that give all these watchdogs another time, as an intent or a table writes it."""
        if self.declared:
            return key(self.at(field), f"{value_ms}ms")
        return port_rows(self.sets, self.watchdog.origin, field, str(value_ms))

    def action_fixes(self, action: str) -> tuple[Edit, ...]:
        """Return edits that give all these watchdogs another action."""
        if self.declared:
            return key(self.at("action"), action)
        return port_rows(self.sets, self.watchdog.origin, "action", action)

    def slower(self, least_ms: int) -> tuple[Edit, ...]:
        """Return edits that raise those timers of the watchdogs that are below ``least_ms`` to that time."""
        timers = {
            "detection_time": self.watchdog.detection_ms,
            "restoration_time": self.watchdog.restoration_ms,
        }
        short = (field for field, value_ms in timers.items() if value_ms is not None and value_ms < least_ms)
        return tuple(edit for field in short for edit in self.fixes(field, least_ms))

    def poll_fixes(self, value_ms: int) -> tuple[Edit, ...]:
        """Return the edit that gives the switch of these watchdogs another poll interval."""
        if self.declared:
            return key(self.poll_origin, f"{value_ms}ms")
        place = Origin(self.watchdog.origin.file, ("PFC_WD", "GLOBAL", "POLL_INTERVAL"))
        return (Edit(place, "add", str(value_ms)),)

    @property
    def poll_origin(self) -> Origin:
        """The origin of the poll interval: its field, else the place where it would be."""
        poll = self.switch.qos.poll
        return poll.origin if self.declared or poll.poll_ms is None else poll.origin.at("POLL_INTERVAL")


def dead_ms(watchdog: Watchdog, poll_ms: int | None) -> int | None:
    """Return for how long a queue can be dead for a sender after a storm that ends when the watchdog triggers.

    None where the watchdog does not act. Detection and one poll, and with action drop restoration: action forward
    delivers again after detection. The poll is what passes unseen of a storm that begins just after one: detection
    counts intervals in which the queue was paused from end to end (sonic-swss orchagent/pfc_detect_broadcom.lua
    @0cb8610); it is almost 0 where a storm begins just before a poll. Restoration is a time without pauses, and each
    later pause resets it (pfc_restore.lua @e6b0c5b), so that a longer storm has no bound.
    """
    if not _is_accepted(watchdog) or watchdog.action == "alert":
        return None
    return (
        watchdog.triggers_after_ms
        + (DEFAULT_POLL_MS if poll_ms is None else poll_ms)
        + _dropping_ms(watchdog)
    )


def _is_accepted(watchdog: Watchdog) -> bool:
    restorable = watchdog.restoration_ms is None or watchdog.restoration_ms in RESTORATION_RANGE_MS
    return watchdog.detection_ms in DETECTION_RANGE_MS and restorable


def _dropping_ms(watchdog: Watchdog) -> int:
    return (watchdog.restoration_ms or 0) if watchdog.action == "drop" else 0


def watched(view: View) -> Iterator[WatchdogRows]:
    """Yield the watchdogs of ports with PFC, those with equal settings on one kind of switch as one."""
    identical = grouped(
        ((id(ports.switch), *watchdog[:3]), (watchdog, ports))
        for ports in view.lossless_sets
        if (watchdog := ports.qos.watchdog) is not None
    )
    for pairs in identical.values():
        sets = tuple(ports for _, ports in pairs)
        yield WatchdogRows(sets[0].switch, pairs[0][0], view.fabric.provenance != "deployed", sets)


def default_poll_ms(ports: int) -> int:
    """Return the poll interval that ``pfcwd start_default`` sets for a number of ports.

    200 ms x max(1, (ports - 1) // 32 + 1), 1,000 ms at most. Ports are all of a switch in older releases
    (sonic-utilities pfcwd/main.py @691b1bb), in later ones those with PFC that are in use (@015521a).
    """
    return min(POLL_RANGE_MS[-1], _STEP_MS * max(1, (ports - 1) // _STEP_PORTS + 1))


def by_switch(watchdogs: Iterable[WatchdogRows]) -> Iterable[list[WatchdogRows]]:
    """Return watchdogs in one list for each kind of switch."""
    return grouped((id(rows.switch), rows) for rows in watchdogs).values()


def sets_of(watchdogs: Iterable[WatchdogRows]) -> list[PortSet]:
    """Return the port sets of several watchdogs."""
    return [ports for rows in watchdogs for ports in rows.sets]
