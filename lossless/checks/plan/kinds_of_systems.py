"""Switches of systems other than SONiC in a change: their running configuration and their target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.plan.model import PlannedKind
from lossless.checks.plan.sessions import differing, system_of, told_of
from lossless.checks.plan.systems import as_declared, settings_of
from lossless.formats.inputs.switches import read_switch
from lossless.formats.sonic.capabilities.updater_rules import UpdaterDevice
from lossless.ground.basics.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.checks.plan.kinds_of_switches import InService, SwitchPair
    from lossless.ground.documents.document import Document
    from lossless.model.fabric.model import Switch


def fingerprint_of(document: Document) -> str:
    """Return as text the part of a switch's configuration that affects the plan."""
    return told_of(document, read_switch(document).read.switch)


def kind_of_system(
    group: Sequence[SwitchPair], number: int, running: InService, problems: list[Problem]
) -> PlannedKind | None:
    """Return switches that take sessions; None where problems keep them from being planned for."""
    first = group[0]
    old = next((s for s in running.fabric.switches if s.name == first.name), None) if running.fabric else None
    before = _running(first, old)
    if isinstance(before, str):
        problems.append(Problem(running.source if old else first.running.file, None, None, before))
        return None
    document = None if old is not None else first.running
    target = first.target if document is None else _kept(first.target, before)
    system = system_of(_placed(target), _placed(before), document)
    refused = system.refused(system.target)
    problems.extend(Problem(running.source, None, None, line) for line in refused)
    return PlannedKind(
        title=str(number),
        devices=tuple(pair.name for pair in group),
        running=settings_of(system.running),
        target=settings_of(system.target),
        units=(),
        updater=UpdaterDevice("", first.target.format),
        cables_m=_cables_m(old) if old is not None else {},
        new_cables_m=_cables_m(first.target) if old is not None else {},
        host_ports=frozenset(port.name for port in first.target.ports if port.leads_to == "host"),
        system=system,
    )


def _running(pair: SwitchPair, old: Switch | None) -> Switch | str:
    """Return the running switch with the ports of the target, or the reason why it cannot be planned."""
    runs = old.format if old is not None else pair.running.dialect
    if runs != pair.target.format:
        return (
            f"{pair.name} runs {runs or 'sonic'}, and {pair.target.format} in the target; a plan does not replace one "
            "system by another"
        )
    if old is not None:
        if {port.name for port in old.ports} != {port.name for port in pair.target.ports}:
            return f"{pair.name} has other ports in the target; a plan keeps the ports of a switch of {runs}"
        return _as_it_runs(pair.target, old)
    read = read_switch(pair.running).read.switch
    read = _with_all_ports(read, pair.target)
    ports = {port.name for port in read.ports}
    lacking = [port.name for port in pair.target.ports if port.placed and port.qos and port.name not in ports]
    if lacking:
        return (
            f"{pair.name}: the file says nothing of {lacking[0]}; name the whole configuration of the switch"
        )
    return _as_it_runs(pair.target, read)


def _as_it_runs(target: Switch, running: Switch) -> Switch:
    """Return the running switch, spelled as its target where both behave the same.

    Adaptive routing on more ports than the target requests is no difference to `lossless diff`, but is kept here.
    """
    asked = {port.name for port in target.ports if port.adaptive}
    beside = (
        {"adaptive"} if any(port.adaptive and port.name not in asked for port in running.ports) else set()
    )
    return as_declared(running, target, differing(target, running) | beside)._replace(classes=running.classes)


def _kept(target: Switch, running: Switch) -> Switch:
    """Return a target that keeps the adaptive routing of the running file."""
    adapting = {port.name for port in running.ports if port.adaptive}
    ports = (port._replace(adaptive=port.adaptive or port.name in adapting) for port in target.ports)
    return target._replace(ports=tuple(ports))


def _with_all_ports(read: Switch, target: Switch) -> Switch:
    """Return a switch with every port of its target, where one port in its file stands for ports without a line."""
    ports = {port.name: port for port in read.ports}
    others = next((port for name, port in ports.items() if name.endswith("*")), None)
    if others is None:
        return read
    more = tuple(others._replace(name=port.name) for port in target.ports if port.name not in ports)
    return read._replace(ports=(*read.ports, *more))


def _placed(switch: Switch) -> Switch:
    """Return a switch with the ports alone that are in use."""
    return switch._replace(ports=tuple(port for port in switch.ports if port.placed))


def _cables_m(switch: Switch) -> dict[str, int]:
    return {port.name: port.cable.real_m for port in switch.ports if isinstance(port.cable.real_m, int)}


def port_classes(kind: PlannedKind) -> dict[str, object]:
    """Return a key for each port; ports with equal keys behave the same before and after."""
    assert kind.system is not None
    old, new = (
        {port.name: id(port.qos) for port in side.ports} for side in (kind.system.running, kind.system.target)
    )
    return {name: (old.get(name), new.get(name)) for name in {*old, *new}}
