"""The moves that SONiC's config updater can make of a patch, in any order: what is read here is its recorded behavior.

Rows of one port in tables that need the port down change together; fields that are replaced in one row are one move;
every other operation is one. Entries of maps are moves of their own, which asks more of a plan than the updater does.
"""

from __future__ import annotations

from itertools import chain, combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.checks.plan.service import PORT_TABLES, Config, dangling

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from random import Random

    from lossless.formats.sonic.changes.json_patch import Operation

_ALL_SUBSETS_OF = 9
_SAMPLED = 300


class Step(NamedTuple):
    """One operation on a row or a field; ``value`` is None for a removal."""

    path: tuple[str, ...]
    value: Any

    @property
    def is_removal(self) -> bool:
        """Whether it takes something away."""
        return self.value is None


class Move(NamedTuple):
    """Steps that are written together. ``port`` is the one whose rows change, empty for rows that ports share."""

    steps: tuple[Step, ...]
    port: str


def moves_of(config: Config, operations: Iterable[Operation]) -> list[Move]:
    """Return the moves of a patch on a configuration."""
    ports = config.get("PORT", {})
    members: dict[object, list[Step]] = {}
    for operation in operations:
        for step in _by_row(config, operation):
            members.setdefault(_member(step, operation.op, ports), []).append(step)
    return [Move(tuple(steps), _port(steps[0], ports)) for steps in members.values()]


def _by_row(config: Config, operation: Operation) -> Iterator[Step]:
    value = None if operation.op == "remove" else operation.value
    if len(operation.path) > 1:
        yield Step(operation.path, value)
    elif value is None:
        yield from (Step((*operation.path, key), None) for key in config[operation.path[0]])
    else:
        yield from (Step((*operation.path, key), row) for key, row in value.items())


def _member(step: Step, op: str, ports: Any) -> object:
    table, key, *field = step.path
    port = key.partition("|")[0]
    if table in PORT_TABLES and ports.get(port, {}).get("admin_status") == "up":
        return "rows", port
    if field and op == "replace" and not table.endswith("_MAP") and table != "MAP_PFC_PRIORITY_TO_QUEUE":
        return table, key
    return step.path


def _port(step: Step, ports: Any) -> str:
    port = step.path[1].partition("|")[0]
    return port if port in ports else ""


def carried_out(config: Config, moves: Iterable[Move]) -> Config:
    """Return a configuration with moves made; what they leave alone is shared."""
    result = dict(config)
    for step in chain.from_iterable(move.steps for move in moves):
        table, key, *field = step.path
        rows = result[table] = dict(result.get(table, {}))
        if field:
            rows[key] = dict(rows.get(key, {}))
        holder, name = (rows[key], field[0]) if field else (rows, key)
        if step.is_removal:
            holder.pop(name, None)
        else:
            holder[name] = step.value
    return result


def on_the_way(config: Config, moves: Sequence[Move], port: str, random: Random) -> Iterator[Config]:
    """Yield what of a configuration decides about a port, with any of the moves made that concern it."""
    own = _around(config, port)
    concerning = [move for move in moves if move.port in ("", port)]
    for some in _subsets(concerning, random):
        state = carried_out(own, some)
        if dangling(state) is None:
            yield state


def _around(config: Config, port: str) -> Config:
    """Return a configuration without the rows of other ports."""
    others = {*config.get("PORT", {})} - {port}
    return {
        table: {key: row for key, row in rows.items() if key.partition("|")[0] not in others}
        for table, rows in config.items()
    }


def _subsets(moves: Sequence[Move], random: Random) -> Iterator[Sequence[Move]]:
    """Yield every subset of few moves, and of many those of one, all but one, and some at random."""
    if len(moves) <= _ALL_SUBSETS_OF:
        for size in range(len(moves) + 1):
            yield from combinations(moves, size)
        return
    yield from ((), moves)
    for number in range(len(moves)):
        yield (moves[number],)
        yield [*moves[:number], *moves[number + 1 :]]
    for _ in range(_SAMPLED):
        share = random.random()
        yield [move for move in moves if random.random() < share]
