"""Names of groups of devices in an Ansible inventory, and of their folders."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import RenderError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.plan.plan import FileGroup, HostGroup, Plan, PlannedSwitches, PlanStep

SWITCHES, HOSTS = "plan_switches", "plan_hosts"
"""The groups that all switches and all hosts of a plan are in."""
_RESERVED = frozenset({"all", "ungrouped", "localhost", SWITCHES, HOSTS})
_OTHER = re.compile(r"[^A-Za-z0-9_]+")
_DEVICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


class GroupNames:
    """The name of each group of a plan: one that is called the same and has other devices gets another name."""

    def __init__(self, plan: Plan) -> None:
        """Name every group.

        Raises:
            RenderError: a device has a name that an inventory takes for something else.
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
        """Return the name of a group of switches."""
        return self._names[group.name, group.devices]

    def of_hosts(self, group: HostGroup) -> str:
        """Return the name of a group of hosts."""
        return self._names[group.name, group.hosts]

    def of_files(self, group: FileGroup) -> str:
        """Return the name of a group of hosts that get files."""
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
    """Refuse names that would be read as something else: a range of devices, a port, a path.

    Raises:
        RenderError: there is one.
    """
    if not _ID.fullmatch(plan.id):
        raise RenderError(f"plan id {plan.id!r}: letters, digits, - and _ only: it is part of names of files")
    for device in sorted(devices_of(plan)):
        if not _DEVICE.fullmatch(device):
            raise RenderError(
                f"device {device!r}: an inventory takes letters, digits, dots, - and _ in names"
            )
