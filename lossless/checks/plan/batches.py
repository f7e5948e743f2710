"""How units are brought onto a switch: a patch that the updater permits, rows written beside it, or a reload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.plan.model import Batch, operations_of
from lossless.checks.plan.states import State
from lossless.checks.plan.units import named_rows
from lossless.formats.sonic.capabilities.updater import kept_by_orchagent
from lossless.formats.sonic.capabilities.updater_sorting import emptied_rows, ports_down
from lossless.formats.sonic.capabilities.updater_verdict import field_refusals
from lossless.formats.sonic.changes.patch import REFERRED
from lossless.formats.sonic.to_model.dynamic import PARAMETER_TABLE, PATTERN_TABLE
from lossless.ground.basics.wording import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from lossless.checks.plan.model import How
    from lossless.checks.plan.states import Done, States
    from lossless.checks.plan.units import Unit
    from lossless.formats.sonic.capabilities.updater_verdict import UpdateRefusal
    from lossless.formats.sonic.changes.patch import Operation

_WRITTEN: Mapping[str, frozenset[str] | None] = {
    "PFC_WD": None,
    "WRED_PROFILE": None,
    "BUFFER_PROFILE": frozenset({"dynamic_th"}),
    "BUFFER_POOL": frozenset({"size"}),
}
"""What SONiC's own commands write to CONFIG_DB while a switch runs, past the updater: fields, None for whole rows too.
``pfcwd start``, ``ecnconfig`` and ``mmuconfig -a`` (sonic-utilities pfcwd/main.py, scripts/ecnconfig,
scripts/mmuconfig @691b1bb); the size of a pool, which orchagent sets on a pool that exists (sonic-swss
orchagent/bufferorch.cpp, processBufferPool @e6b0c5b)."""
_OF_MODEL = frozenset({"CABLE_LENGTH", "DEVICE_METADATA", PARAMETER_TABLE, PATTERN_TABLE})
"""Tables beside those of buffers that the buffer manager reads by its model, and the one that names the model."""
_MODEL = "the buffer manager reads the buffer model when it starts"
_MOVES_OF_PORT = 3
"""Moves for each port that goes down: down, its rows, up (recorded with patch_sorter.py @691b1bb)."""


def fits_updater(states: States, kind: int, before: Done, batch: Sequence[int]) -> bool:
    """Return whether some units can be brought in at once: the updater permits them, and empties no row in use.

    A system that takes sessions must have a configuration for the state after them.
    """
    after = before | {*batch}
    system = states.change.kinds[kind].system
    if system is not None:
        touched = {
            operation.path[0] for operation in operations_of(states.change.kinds[kind], frozenset(batch))
        }
        return system.drained.isdisjoint(touched) and not states.refused(kind, after)
    if _removes_named(states, kind, before, batch) or _dangles(states, kind, before, after):
        return False
    if _waits_for_restart(states, kind, before, batch):
        return False
    refusals = refusals_of(states, kind, before, after)
    if refusals:
        alone = all(refusals_of(states, kind, before, before | {number}) for number in batch)
        return alone and _how(states, kind, before, after, refusals) == "write"
    running, target = states.config(kind, State(before)), states.config(kind, State(after))
    return not any(row.in_use for row in emptied_rows(running, target))


def _dangles(states: States, kind: int, before: Done, after: Done) -> bool:
    """Return whether rows would refer to others that only a later batch adds."""
    own = states.change.kinds[kind]
    config = states.config(kind, State(after))
    lacking = {
        key for table in REFERRED for key in own.target.get(table, {}) if key not in config.get(table, {})
    }
    if not lacking:
        return False
    named = named_rows(config) - named_rows(states.config(kind, State(before)))
    return not named.isdisjoint(lacking)


def _removes_named(states: States, kind: int, before: Done, batch: Sequence[int]) -> bool:
    """Return whether a batch removes rows that others refer to until it is done."""
    units = states.change.kinds[kind].units
    gone = {
        operation.path[1]
        for number in batch
        if units[number].is_unnamed
        for operation in units[number].operations
        if operation.op == "remove"
    }
    return bool(gone) and not gone.isdisjoint(named_rows(states.config(kind, State(before))))


def _waits_for_restart(states: States, kind: int, before: Done, batch: Sequence[int]) -> bool:
    """Return whether a batch has rows that the buffer manager reads, and it is to start again with another model."""
    own = states.change.kinds[kind]
    if buffer_model(states.config(kind, State(before))) == buffer_model(own.target):
        return False
    tables = {operation.path[0] for number in batch for operation in own.units[number].operations}
    return any(table.startswith("BUFFER_") or table in _OF_MODEL for table in tables)


def _restarts(states: States, kind: int, before: Done, after: Done) -> bool:
    """Return whether the buffer model changes, which the buffer manager reads when it starts.

    Until then it computes by the old one (sonic-buildimage dockers/docker-orchagent/buffermgrd.sh @086b03b).
    """
    models = {buffer_model(states.config(kind, State(done))) for done in (before, after)}
    return len(models) > 1


def buffer_model(config: Mapping[str, Any]) -> str:
    """Return the buffer model of a switch."""
    return str(config.get("DEVICE_METADATA", {}).get("localhost", {}).get("buffer_model", "traditional"))


def refusals_of(states: States, kind: int, before: Done, after: Done) -> tuple[UpdateRefusal, ...]:
    """Return the changes of a batch that the updater refuses or orchagent does not apply."""
    own = states.change.kinds[kind]
    if own.unpatchable:
        return own.unpatchable
    running, target = states.config(kind, State(before)), states.config(kind, State(after))
    steps = (step for number in after - before for step in own.units[number].operations)
    return (*kept_by_orchagent(steps), *field_refusals(running, target, own.updater))


def batch_of(states: States, kind: int, before: Done, after: Done) -> Batch:
    """Return a batch with its method, the ports that go down and the moves of the updater."""
    own = states.change.kinds[kind]
    if own.system is not None:
        titles = tuple(own.units[number].title for number in sorted(after - before))
        return Batch("session", titles, before, after, (), 0)
    by_hand = any(own.units[number].by_hand for number in after - before)
    refusals = () if by_hand else refusals_of(states, kind, before, after)
    how = "by hand" if by_hand else _how(states, kind, before, after, refusals)
    running, target = states.config(kind, State(before)), states.config(kind, State(after))
    units = [own.units[number] for number in sorted(after - before)]
    down = _ports_down(how, running, target)
    others = sum(len(unit.operations) for unit in units if not unit.ports)
    return Batch(
        how=how,
        titles=tuple(unit.title for unit in units),
        before=before,
        after=after,
        ports_down=down,
        moves=_MOVES_OF_PORT * len(down) + others if how != "by hand" else 0,
        why="; ".join(
            dict.fromkeys(
                [*([_MODEL] if _restarts(states, kind, before, after) else []), *_reasons(refusals)]
            )
        ),
    )


def _ports_down(how: How, running: Mapping[str, Any], target: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the ports that go down while a batch is brought in."""
    if how in ("reload", "by hand"):
        return _up_ports(running)
    return ports_down(running, target) if how == "patch" else ()


def _how(states: States, kind: int, before: Done, after: Done, refusals: Sequence[UpdateRefusal]) -> How:
    if _restarts(states, kind, before, after):
        return "reload"
    if not refusals:
        return "patch"
    own = states.change.kinds[kind]
    written = all(
        _is_written(operation, own.units[number])
        for number in after - before
        for operation in own.units[number].operations
    )
    return "write" if written else "reload"


def _is_written(operation: Operation, unit: Unit) -> bool:
    table, _, *field = operation.path
    if unit.is_unnamed and table == "BUFFER_PROFILE":
        return True
    fields = _WRITTEN.get(table, frozenset())
    return fields is None or (operation.op == "replace" and field[:1] != [] and field[0] in fields)


def _reasons(refusals: Sequence[UpdateRefusal]) -> list[str]:
    rows: dict[str, list[str]] = {}
    for refusal in refusals:
        rows.setdefault(refusal.why, []).append("|".join(refusal.path))
    return [f"{listed(places)}: {why}" if any(places) else why for why, places in rows.items()]


def _up_ports(config: object) -> tuple[str, ...]:
    ports = config.get("PORT", {}) if isinstance(config, dict) else {}
    return tuple(
        name for name, row in ports.items() if isinstance(row, dict) and row.get("admin_status") == "up"
    )
