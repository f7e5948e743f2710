"""How far switches are in a plan: which step each has reached, and which rows are neither old nor new."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.capabilities.updater_verdict import release_of
from lossless.formats.sonic.from_model.tables import SHARED
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Row = tuple[str, str]


class Milestone(NamedTuple):
    """A batch of a plan on one switch: its step and number, and the rows of the plan as they are after it."""

    step: int
    batch: int
    rows: Mapping[Row, Any]


class DeviceProgress(NamedTuple):
    """The progress of one switch in a plan.

    ``done`` of ``batches`` are done, the last of them in step ``step`` (0: none yet). ``partly`` are rows that already
    equal those of the next batch, if it has begun; ``neither`` are rows that match no state of the plan.
    """

    device: str
    done: int
    batches: int
    step: int
    partly: tuple[str, ...] = ()
    neither: tuple[str, ...] = ()

    @property
    def finished(self) -> bool:
        """Whether the switch has completed every batch of the plan."""
        return self.done == self.batches and not (self.partly or self.neither)


def milestones(plan: Mapping[str, Any], device: str) -> tuple[Milestone, ...]:
    """Return the states that a switch passes in a plan, the start first; a single state if the plan does not change it.

    ``plan`` is the content of plan.json.
    """
    batches = tuple(_batches(plan, device))
    start: dict[Row, Any] = {}
    for _, _, batch in reversed(batches):
        start.update(_rows(batch["before"]))
    passed = [Milestone(0, 0, start)]
    for step, number, batch in batches:
        passed.append(Milestone(step, number, {**passed[-1].rows, **_rows(batch["after"])}))
    return tuple(passed)


def progress(plan: Mapping[str, Any], device: str, running: Mapping[str, Any]) -> DeviceProgress:
    """Return how far a switch is, by its running configuration."""
    passed = milestones(plan, device)
    there = {row: _as_database(_row(running, row, passed)) for row in passed[0].rows}
    done = max(range(len(passed)), key=lambda number: (_agreeing(passed[number], there), -number))
    unlike = [row for row, value in there.items() if value != _as_database(passed[done].rows[row])]
    known = {row: [_as_database(each.rows[row]) for each in passed] for row in unlike}
    neither = tuple("|".join(row) for row in unlike if there[row] not in known[row])
    partly = tuple("|".join(row) for row in unlike if there[row] in known[row])
    return DeviceProgress(device, done, len(passed) - 1, passed[done].step, partly, neither)


def _agreeing(milestone: Milestone, there: Mapping[Row, Any]) -> int:
    return sum(1 for row, value in milestone.rows.items() if there[row] == _as_database(value))


def _batches(plan: Mapping[str, Any], device: str) -> Iterator[tuple[int, int, Mapping[str, Any]]]:
    for step in plan["steps"]:
        for group in step["switches"]:
            if device in group.get("devices", plan["groups"][group["group"]]):
                for number, batch in enumerate(group["batches"], 1):
                    yield step["number"], number, batch


def _rows(tables: Mapping[str, Mapping[str, Any]]) -> dict[Row, Any]:
    return {(table, key): row for table, rows in tables.items() for key, row in rows.items()}


def _row(running: Mapping[str, Any], row: Row, passed: Sequence[Milestone]) -> Any:
    """Return a row of a switch; of a row with other facts, only the fields that the plan changes."""
    if row[0] == "VERSIONS":
        return _version(running, row, passed)
    rows = running.get(row[0])
    own = rows.get(row[1]) if isinstance(rows, dict) else None
    if row[0] not in SHARED or passed[0].rows[row] is None:
        return own
    return {field: own.get(field) if isinstance(own, dict) else None for field in passed[0].rows[row]}


def _version(running: Mapping[str, Any], row: Row, passed: Sequence[Milestone]) -> Any:
    """Return the version that the plan has of the release that a switch runs; its own where the plan has none."""
    own = release_of(running)
    versions = (each.rows[row] for each in passed)
    same = (version for version in versions if release_of({"VERSIONS": {"DATABASE": version}}) == own)
    return next(same, running.get("VERSIONS", {}).get("DATABASE"))


def _as_database(row: Any) -> Any:
    """Return a row in the form of the database: values are text, lists joined by commas."""
    if not isinstance(row, dict):
        return row
    return {
        name: ",".join(map(str, value)) if isinstance(value, list) else str(value)
        for name, value in row.items()
        if name != "NULL" and value is not None
    }


def devices_of(plan: Mapping[str, Any]) -> Sequence[str]:
    """Return the switches of a plan."""
    return [device for devices in plan["groups"].values() for device in devices]
