"""The order in which the config updater changes rows: first those with all ports up, then port by port, then the rest.

The updater searches for an order in which every configuration between is valid by SONiC's models; this is the common
pattern of its recorded moves, not the moves one by one (sonic-utilities generic_config_updater, patch_sorter.py
@691b1bb).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from lossless.formats.sonic.capabilities.updater_sorting import (
    Row,
    changed_rows,
    needs_port_down,
    ports_down,
    referred_rows,
)
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Phase = Literal["ports up", "no port down", "port down", "last"]


class MovePhase(NamedTuple):
    """Rows that change together, before those of the next phase; ``port`` is the one that is down meanwhile.

    ``ports up``: rows that all ports share, and rows that need no port down. ``no port down``: rows of tables that need
    their port down, of ports that are down already or of none. ``last``: removed rows that others referred to.
    """

    phase: Phase
    rows: tuple[Row, ...]
    port: str | None = None


def move_phases(running: Mapping[str, Any], target: Mapping[str, Any]) -> tuple[MovePhase, ...]:
    """Return the phases of a change that the updater accepts, in their order."""
    return tuple(phase for phase in _phases(running, target) if phase.rows or phase.port)


def _phases(running: Mapping[str, Any], target: Mapping[str, Any]) -> Iterator[MovePhase]:
    changed = changed_rows(running, target)
    down = ports_down(running, target)
    # Rows of a port name it by their key.
    named = {*referred_rows(running), *(("PORT", port) for port in running.get("PORT", {}))}
    gone = {row for row in named if row[1] not in target.get(row[0], {})}
    bound = [row for row in changed if needs_port_down(row[0])]
    shared = tuple(
        row
        for row in changed
        if not needs_port_down(row[0]) and row not in gone and not _only_admin(row, running, target)
    )
    yield MovePhase("ports up", shared)
    yield MovePhase("no port down", tuple(row for row in bound if _port(row) not in down))
    for port in down:
        yield MovePhase("port down", tuple(row for row in bound if _port(row) == port), port)
    yield MovePhase("last", tuple(row for row in changed if row in gone))


def _port(row: Row) -> str:
    return row[1].partition("|")[0]


def _only_admin(row: Row, running: Mapping[str, Any], target: Mapping[str, Any]) -> bool:
    """Return whether a port changes only its admin status: that is part of taking it down and up."""
    before, after = (side.get(row[0], {}).get(row[1]) for side in (running, target))
    if row[0] != "PORT" or not isinstance(before, dict) or not isinstance(after, dict):
        return False
    return {**before, "admin_status": None} == {**after, "admin_status": None}
