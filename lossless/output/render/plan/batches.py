"""The files and time limits of one batch of a plan, and the names of its groups of devices.

A batch is a patch, commands, or only rows of CONFIG_DB. The name of a group is used in the Ansible inventory and for
its folder.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from lossless.checks.plan.plan import CALL_S, RELOAD_S
from lossless.formats.device_files.base_merge import removals
from lossless.formats.sonic.changes.json_patch import patch_text, pointer_part
from lossless.formats.sonic.from_model import SHARED
from lossless.ground.basics.errors import RenderError
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.checks.plan.plan import (
        FileGroup,
        HostGroup,
        Plan,
        PlannedBatch,
        PlannedSwitches,
        PlanStep,
        Rows,
    )


KILL_AFTER_S = 10
"""Seconds that a command may take to end after a signal."""
PAUSE_S = 5
"""Seconds between two queries of the state of ports or services."""
_PATCH_S = 300
"""The addition to the longest measured time of a patch, in seconds, that makes its time limit. A choice."""
_WRITE_S = 2
"""The addition to a time limit in seconds for each command that removes a row. A choice."""
_PORTS_S, _RELOADED_PORTS_S = 120, 600
"""The time limits in seconds until ports are up again: links train in seconds, after a reload once services run.
A choice."""
_CALLS = 20
"""Commands of a batch beside those that change it, its rollback included; more than there are."""
_MOST_TITLES = 3


class BatchLimits(NamedTuple):
    """Time limits of a batch in seconds: of one changing command, until its ports are up, and of all with rollback."""

    command_s: int
    ports_s: int
    all_s: int


def limits_of(batch: PlannedBatch) -> BatchLimits:
    """Return the time limits of a batch."""
    ports_s = _RELOADED_PORTS_S if batch.how == "reload" else _PORTS_S
    ports_s = ports_s if batch.ports_down else 0
    if batch.how == "write":
        command_s, change_s = CALL_S, CALL_S + _WRITE_S * _removed(batch)
    else:
        command_s = change_s = RELOAD_S if batch.how == "reload" else _PATCH_S + batch.time.most_s
    # The change, and two attempts at its rollback.
    return BatchLimits(command_s, ports_s, 3 * change_s + ports_s + _CALLS * CALL_S)


def batch_line(number: str, batch: PlannedBatch) -> str:
    """Return the line of a batch for ``run.sh``: its number, kind, limits and title."""
    limits = limits_of(batch)
    more = len(batch.titles) - _MOST_TITLES
    titles = ", ".join(batch.titles[:_MOST_TITLES]) + (f" and {more} more" if more > 0 else "")
    return f"{number} {batch.how} {limits.command_s} {limits.ports_s} {' '.join(titles.split())}"


def batch_files(number: str, batch: PlannedBatch) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of the files of a batch.

    Every batch has a file of its rows. A patch has a file of its operations too, and written rows have files to write
    and to undo them. ``run.sh`` puts the rows of a reload into the running configuration when it reloads, so that rows
    that the updater refuses reach no running service.
    """
    yield f"{number}-rows.json", _json({"before": batch.before, "after": batch.after, "by_field": [*SHARED]})
    if batch.how == "patch":
        yield (
            f"{number}-patch.json",
            patch_text((*tests_of(batch), *(step.as_json() for step in batch.operations))),
        )
    if batch.how == "write":
        before, after = _present(batch.before), _present(batch.after)
        yield from _written(number, "write", before, after)
        yield from _written(number, "undo", after, before)


def tests_of(batch: PlannedBatch) -> Iterator[dict[str, Any]]:
    """Yield JSON Patch ``test`` operations: they refuse the patch if values that the plan read differ or are gone."""
    for table, rows in batch.before.items():
        for key, row in rows.items():
            path = f"/{pointer_part(table)}/{pointer_part(key)}"
            if row is not None and table in SHARED:
                yield from (
                    _test(f"{path}/{pointer_part(name)}", value) for name, value in row.items() if value
                )
            elif row is not None:
                yield _test(path, row)


def _test(path: str, value: object) -> dict[str, Any]:
    return {"op": "test", "path": path, "value": value}


def _written(number: str, name: str, before: Rows, after: Rows) -> Iterator[tuple[str, str]]:
    changed = {
        table: different
        for table, rows in after.items()
        if (different := {key: row for key, row in rows.items() if before.get(table, {}).get(key) != row})
    }
    commands = removals(before, after)
    load = [f"config load -y {number}-{name}.json"] if changed else []
    if changed:
        yield f"{number}-{name}.json", _json(changed)
    yield (
        f"{number}-{name}.sh",
        "".join(f"{line}\n" for line in (*commands["before"], *load, *commands["after"])),
    )


def _removed(batch: PlannedBatch) -> int:
    """Return the larger number of commands that remove rows and fields, in the change or in its rollback."""
    before, after = _present(batch.before), _present(batch.after)
    both = (removals(before, after), removals(after, before))
    return max(len(commands["before"]) + len(commands["after"]) for commands in both)


def _present(tables: Rows) -> Rows:
    """Return the rows of tables that are not None, without empty tables."""
    present = {
        table: {key: row for key, row in rows.items() if row is not None} for table, rows in tables.items()
    }
    return {table: rows for table, rows in present.items() if rows}


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


SWITCHES, HOSTS = "plan_switches", "plan_hosts"
"""The inventory groups of all switches and of all hosts of a plan."""
_RESERVED = frozenset({"all", "ungrouped", "localhost", SWITCHES, HOSTS})
_OTHER = re.compile(r"[^A-Za-z0-9_]+")
_DEVICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


class GroupNames:
    """The unique inventory name of each group of a plan; groups of the same name with other devices get another one."""

    def __init__(self, plan: Plan) -> None:
        """Name every group.

        Raises:
            RenderError: a name is not plain, as for :func:`require_plain`.
        """
        require_plain(plan)
        self._taken = _RESERVED | devices_of(plan)
        self._names: dict[tuple[str, tuple[str, ...]], str] = {}
        self.switches: dict[str, tuple[str, ...]] = {}
        self.hosts: dict[str, tuple[str, ...]] = {}
        for step in all_steps(plan):
            for switches in step.switches:
                self.switches[self._name(switches.name, switches.devices)] = switches.devices
            for hosts in step.hosts:
                self.hosts[self._name(hosts.name, hosts.hosts)] = hosts.hosts
            for group in step.files:
                self.hosts[self._name(group.name, group.devices)] = group.devices
        self.others = {
            name: devices
            for called, devices in plan.groups.items()
            if (name := self._name(called, devices)) not in {*self.switches, *self.hosts}
        }

    def of_switches(self, group: PlannedSwitches) -> str:
        """Return the inventory name of a group of switches."""
        return self._names[group.name, group.devices]

    def of_hosts(self, group: HostGroup) -> str:
        """Return the inventory name of a group of hosts."""
        return self._names[group.name, group.hosts]

    def of_files(self, group: FileGroup) -> str:
        """Return the inventory name of a group of hosts that get files."""
        return self._names[group.name, group.devices]

    def _name(self, name: str, devices: tuple[str, ...]) -> str:
        key = (name, devices)
        if key not in self._names:
            self._names[key] = next(free for free in _candidates(name) if free not in self._taken)
            self._taken |= {self._names[key]}
        return self._names[key]


def _candidates(name: str) -> Iterator[str]:
    plain = _OTHER.sub("_", name).strip("_").lower() or "group"
    plain = plain if plain[0].isalpha() else f"group_{plain}"
    yield plain
    yield f"{plain}_group"
    number = 2
    while True:
        yield f"{plain}_{number}"
        number += 1


def all_steps(plan: Plan) -> Iterator[PlanStep]:
    """Yield the steps of a plan, then those of the rollbacks."""
    yield from plan.steps
    for back in plan.rollback:
        yield from back


def devices_of(plan: Plan) -> frozenset[str]:
    """Return the switches and hosts of a plan."""
    steps = tuple(all_steps(plan))
    switches = {device for step in steps for group in step.switches for device in group.devices}
    hosts = {device for step in steps for group in step.hosts for device in group.hosts}
    given = {device for step in steps for group in step.files for device in group.devices}
    return frozenset(
        {*switches, *hosts, *given, *(device for group in plan.groups.values() for device in group)}
    )


def require_plain(plan: Plan) -> None:
    """Refuse a plan id or device name that file names or an Ansible inventory would misread: a range, a port, a path.

    Raises:
        RenderError: the id or a name has characters that are not allowed.
    """
    if not _ID.fullmatch(plan.id):
        raise RenderError(f"plan id {plan.id!r}: letters, digits, - and _ only: it is part of names of files")
    for device in sorted(devices_of(plan)):
        if not _DEVICE.fullmatch(device):
            raise RenderError(
                f"device {device!r}: an inventory takes letters, digits, dots, - and _ in names"
            )
