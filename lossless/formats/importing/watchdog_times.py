"""Watchdogs of systems that do not say all of their times: completed by those that do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.importing.majority import most

if TYPE_CHECKING:
    from collections.abc import Sequence

Times = tuple[int | None, int | None, str | None]
"""Detection and restoration in milliseconds and the action, each None where the system does not say it."""
_USUAL_DETECTION_MS = 200
"""What ``pfcwd start_default`` sets for up to 32 ports (sonic-utilities pfcwd/main.py, DEFAULT_DETECTION_TIME)."""
_USUAL_ACTION = "drop"
"""What an intent takes where no action is stated."""


def completed(rows: Sequence[Times | None]) -> tuple[list[Times | None], tuple[str, ...]]:
    """Return watchdogs with all of their times, and what had to be chosen; None stands for a port without one."""
    whole = [row for row in rows if row is not None and row[0] is not None and row[2] is not None]
    usual, _ = most(whole)
    detection_ms, restoration_ms, action = usual or (_USUAL_DETECTION_MS, None, _USUAL_ACTION)
    if all(row is None or row in whole for row in rows):
        return list(rows), ()
    chosen: list[Times | None] = [
        row
        if row is None or row in whole
        else (row[0] or detection_ms, row[1] or restoration_ms, row[2] or action)
        for row in rows
    ]
    said = "as switches have them that do" if usual else "state yours"
    return chosen, (f"watchdog: some systems do not say its times or its action; {said}",)
