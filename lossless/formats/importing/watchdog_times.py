"""Completes watchdogs of systems whose configuration lacks some of their times, from those of other switches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.importing.majority import most

if TYPE_CHECKING:
    from collections.abc import Sequence

Times = tuple[int | None, int | None, str | None]
"""Detection and restoration in milliseconds and the action, each None where the configuration lacks it."""


_ACTION = "drop"
"""The default action of an intent."""


def completed(rows: Sequence[Times | None]) -> tuple[list[Times | None], tuple[str, ...]]:
    """Return watchdogs with all of their times, and notes on choices; None stands for a port without one.

    Where no switch has a detection time, no watchdog is declared, because its behavior is unknown.
    """
    timed = [row for row in rows if row is not None and row[0] is not None]
    whole = [row for row in timed if row[2] is not None]
    if all(row is None or row in whole for row in rows):
        return list(rows), ()
    usual, _ = most(whole or timed)
    if usual is None:
        return [None] * len(rows), ("watchdog: it is on, and no switch says its times; state pfc.watchdog",)
    detection_ms, restoration_ms, action = usual
    chosen: list[Times | None] = [
        row
        if row is None or row in whole
        else (row[0] or detection_ms, row[1] or restoration_ms, row[2] or action or _ACTION)
        for row in rows
    ]
    said = "as switches have it that do" if whole else f"an intent's own action is {_ACTION}"
    return chosen, (f"watchdog: some systems do not say its times or its action; {said}",)
