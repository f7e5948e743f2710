"""Kinds of switches of a change: their running and target configurations, cables and port names.

Switches of systems other than SONiC get their target by a session.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lossless.checks.drift.drift import drift_of
from lossless.checks.plan.batches import PlannedKind, SecondTor
from lossless.checks.plan.systems import (
    PlannedSession,
    SystemSwitch,
    as_declared,
    hwsku_of,
    is_later,
    settings_of,
)
from lossless.formats.device_files.environment import render_template
from lossless.formats.device_files.switches import contents, other_files
from lossless.formats.inputs.devices import hostname_of
from lossless.formats.inputs.switches import read_switch
from lossless.formats.sonic.capabilities.releases import releases as releases_known
from lossless.formats.sonic.capabilities.updater_sorting import UpdaterDevice
from lossless.formats.sonic.capabilities.updater_verdict import model_refusals, release_of, releases
from lossless.formats.sonic.from_model import tables
from lossless.formats.switches.contract import differences, meaning
from lossless.formats.switches.registry import TITLES, dialect
from lossless.ground.basics.errors import Problem, RenderError
from lossless.ground.basics.records import UNKNOWN, NamedTuple
from lossless.ground.basics.units import listed
from lossless.model.fabric.model import known_tier

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.formats.sonic.capabilities.updater_verdict import UpdateRefusal
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.model import Fabric, Switch


class InService(NamedTuple):
    """The fabric in service: the configuration of each switch by its name, and the source of the files.

    ``fabric`` is the intent that was rendered into them, None if they are files of switches; ``hosts`` are the hosts
    whose settings are known.
    """

    documents: Mapping[str, Document]
    fabric: Fabric | None
    hosts: Mapping[str, HostQos]
    source: str


class SwitchPair(NamedTuple):
    """A switch with its running configuration and its target."""

    name: str
    running: Document
    target: Switch


def complete_rows(switch: Switch) -> dict[str, Any]:
    """Return the rows of a switch rendered onto a file with only its ports, without the hostname."""
    return {**_port_rows(switch), **tables(switch)}


def named_rows_of(switch: Switch, rows: Mapping[str, Any]) -> dict[str, Any]:
    """Return the CONFIG_DB rows that several switches share as those of one, with its hostname and HWSKU."""
    rendered = rows.get("DEVICE_METADATA", {}).get("localhost", {})
    hwsku = switch.hwsku_name if isinstance(switch.hwsku_name, str) else ""
    return {**rows, "DEVICE_METADATA": {"localhost": {"hostname": switch.device, "hwsku": hwsku, **rendered}}}


def _port_rows(switch: Switch) -> dict[str, Any]:
    rows = {
        port.name: {
            "admin_status": "up",
            "speed": str((port.speed_bps or 0) // 10**6),
            **({"lanes": ",".join(map(str, port.spec.lanes))} if port.spec else {}),
            **({"mtu": str(port.mtu_bytes)} if isinstance(port.mtu_bytes, int) else {}),
        }
        for port in switch.ports
        if port.placed and port.admin_up is not False
    }
    return {"PORT": rows}


class _Sides(NamedTuple):
    """The configuration of a switch before and after, and the release of each."""

    before: Mapping[str, Any]
    after: Mapping[str, Any]
    releases: tuple[str | None, str | None]


def kind_of_switches(
    group: Sequence[SwitchPair], number: int, running: InService, target: Fabric, problems: list[Problem]
) -> PlannedKind | None:
    """Return a kind of SONiC switches with equal rows before, and equal rows after; None if a side has no rows.

    A side has no rows if its release or HWSKU is not known or not allowed, or if rendering onto the file is refused;
    ``problems`` then get the reasons.
    """
    first = group[0]
    old = next((s for s in running.fabric.switches if s.name == first.name), None) if running.fabric else None
    sides = _sides(first, old)
    if isinstance(sides, str):
        file = running.source if running.fabric else first.running.file
        problems.extend(Problem(file, None, None, line) for line in sides.splitlines())
        return None
    is_replaced = hwsku_of(sides.before) != hwsku_of(sides.after)
    new_cables_m = _cables_m(first.target)
    cables_m = _cables_m(old) if old else _read_cables_m(_configured_m(sides.before), first.target)
    if is_replaced:
        cables_m = new_cables_m = {
            port: max(cables_m.get(port, 0), new_cables_m.get(port, 0)) for port in {*cables_m, *new_cables_m}
        }
    return PlannedKind(
        title=str(number),
        devices=tuple(pair.name for pair in group),
        running={**sides.before},
        target={**sides.after},
        units=(),
        updater=UpdaterDevice(hwsku_of(sides.before), _later(*sides.releases)),
        assumed_release=_states_none(first, old),
        cables_m=cables_m,
        new_cables_m=new_cables_m,
        second_tor=_second_tor(first.target, sides.before),
        unpatchable=() if running.fabric else tuple(_model_refusals(sides.before, sides.after)),
        host_ports=frozenset(port.name for port in first.target.ports if port.leads_to == "host"),
        port_names=_port_names(first, running.fabric, target) if is_replaced and running.fabric else {},
    )


def _states_none(pair: SwitchPair, old: Switch | None) -> bool:
    """Return whether neither of two intents states the release of a switch; a configuration in service has to."""
    return old is not None and old.release is None and pair.target.release is None


def _sides(pair: SwitchPair, old: Switch | None) -> _Sides | str:
    """Return the running and target sides of a switch, or the reasons why there are none."""
    stated = old.release if old else pair.target.release
    before = release_of(pair.running.data) or stated
    if _states_none(pair, old):
        before = releases_known().default
    after = pair.target.release or before
    for release in (before, after):
        if release not in releases():
            what = f"SONiC {release}, whose updater is not known" if release else "an unknown release"
            fix = "state sonic.release in the intent" if not release else f"known are {listed(releases())}"
            return f"{pair.name} runs {what}; {fix}"
    if pair.target.hwsku is None:
        return f"{pair.name}: HWSKU {hwsku_of(pair.running.data)} is not known; name its profile"
    hwsku = hwsku_of(pair.running.data)
    if hwsku not in ("", pair.target.hwsku_name):
        if old is None:
            fix = "to plan for another switch in its place, name the intent in service instead of files"
            return f"{pair.name} is a {hwsku}, and {pair.target.hwsku_name} in the target; {fix}"
        return _Sides(
            pair.running.data, named_rows_of(pair.target, complete_rows(pair.target)), (before, after)
        )
    running = pair.running if before == after else _of_release(pair.running, before)
    base = running if before == after else _of_release(pair.running, after)
    try:
        _, wanted = contents(pair.target._replace(name=hostname_of(pair.running) or pair.name), base)
    except RenderError as error:
        return "\n".join(error.lines)
    if not drift_of(pair.target, base).rows:
        # What only the spelling differs in is no change, as in diff.
        wanted = base.data
    return _Sides(running.data, wanted, (before, after))


def _of_release(document: Document, release: str | None) -> Document:
    """Return a configuration with the database version of a SONiC release."""
    version = {"VERSIONS": {"DATABASE": {"VERSION": f"version_{release}_01"}}}
    return plain_document(document.file, {**document.data, **version})


def plain_document(file: str, data: dict[str, Any]) -> Document:
    """Return a document of data that was not written as text."""
    from lossless.ground.documents.text import Document

    return Document(file, "", data, _NoPlaces())


class _NoPlaces:
    """Places of data without a text: none."""

    def places(self, paths: object) -> dict[Any, Any]:
        """Refuse to locate paths: there is no text.

        Raises:
            LookupError: always.
        """
        raise LookupError(paths)


def _later(before: str | None, after: str | None) -> str:
    """Return the later of two releases, on which rows change."""
    return str(after if is_later(after, before) else before)


def _port_names(pair: SwitchPair, before: Fabric, after: Fabric) -> dict[str, dict[str, str]]:
    """Return, by HWSKU, the names of the ports of a switch's links before and after, by their names after."""
    old, new = (_ports_by_neighbor(pair.name, fabric) for fabric in (before, after))
    return {
        hwsku_of(pair.running.data): {port: old[key] for key, port in new.items() if key in old},
        str(pair.target.hwsku_name): {port: port for port in new.values()},
    }


def _ports_by_neighbor(name: str, fabric: Fabric) -> dict[tuple[str, int], str]:
    """Return the ports of a switch by neighbor and link number; links to one neighbor are numbered from 1."""
    ports: dict[tuple[str, int], str] = {}
    links: dict[str, int] = {}
    for link in fabric.links:
        for own, port, far in ((link.a, link.a_port, link.b), (link.b, link.b_port, link.a)):
            if own == name:
                links[far] = links.get(far, 0) + 1
                ports[far, links[far]] = port
    return ports


def _second_tor(switch: Switch, running: Mapping[str, Any]) -> SecondTor | None:
    """Return the second switch of a leaf's hosts, a dual ToR or an MCLAG peer; None where there is none."""
    if switch.qos.tunnel is not None:
        moved_by = "config muxcable mode standby all"
    elif running.get("MCLAG_DOMAIN"):
        moved_by = "config interface shutdown of the port channels that lead to them"
    else:
        return None
    speeds = [(port.leads_to == "host", port.speed_bps or 0) for port in switch.ports if port.placed]
    down = sum(bps for to_host, bps in speeds if to_host)
    return SecondTor(moved_by, down, sum(bps for to_host, bps in speeds if not to_host))


def _model_refusals(running: Mapping[str, Any], target: Mapping[str, Any]) -> Iterator[UpdateRefusal]:
    """Yield violations of SONiC's models in either configuration: the updater loads both before it starts."""
    for whole in (running, target):
        yield from model_refusals(whole, None)


def _cables_m(switch: Switch) -> dict[str, int]:
    return {port.name: port.cable.real_m for port in switch.ports if isinstance(port.cable.real_m, int)}


def _configured_m(running: Mapping[str, Any]) -> dict[str, int]:
    """Return the lengths in CABLE_LENGTH by port, without those that are no number of meters."""
    rows = running.get("CABLE_LENGTH")
    lengths = [row for row in rows.values() if isinstance(row, dict)] if isinstance(rows, dict) else []
    told = ((port, str(text).removesuffix("m")) for row in lengths for port, text in row.items())
    return {port: int(number) for port, number in told if number.isascii() and number.isdecimal()}


def _known_m(switch: Switch) -> dict[str, int | None]:
    return {port.name: port.cable.known_m for port in switch.ports}


def _read_cables_m(configured_m: Mapping[str, int | None], target: Switch) -> dict[str, int]:
    """Return the lengths of the cables in service, by the lengths that a switch is configured for.

    Where the target configures the same, or none is configured, the cable is taken to have the target's length.
    """
    wanted_m = {
        port.name: port.cable.configured_m if target.runs_sonic else port.cable.known_m
        for port in target.ports
    }
    return {
        port: real_m if (own_m := configured_m.get(port)) in (None, wanted_m[port]) else own_m
        for port, real_m in _cables_m(target).items()
    }


def mixed_releases(groups: Sequence[Sequence[SwitchPair]], kinds: Sequence[PlannedKind]) -> Iterator[Problem]:
    """Yield a problem for each tier whose SONiC switches run several releases, as in an unfinished upgrade."""
    by_tier: dict[str, dict[str, list[str]]] = {}
    for group, kind in zip(groups, kinds, strict=True):
        if kind.system is not None:
            continue
        release = release_of(kind.running) or kind.updater.release
        by_tier.setdefault(_role(group[0].target), {}).setdefault(release, []).extend(kind.devices)
    for role, names in by_tier.items():
        if len(names) > 1:
            each = ", ".join(
                f"{release} ({listed(devices, 3)})" for release, devices in sorted(names.items())
            )
            message = f"switches of one tier ({role}) run several releases: {each}; finish the upgrade first"
            yield Problem(groups[0][0].running.file, None, None, message)


def _role(switch: Switch) -> str:
    tier = known_tier(switch.tier) if switch.tier is not UNKNOWN else None
    return tier.word if tier is not None else "switch"


def titled(kinds: Sequence[PlannedKind], groups: Sequence[Sequence[SwitchPair]]) -> Iterator[PlannedKind]:
    """Yield kinds with names of their own: the tier, with a number where there are several."""
    roles = [_role(group[0].target) for group in groups]
    for number, (kind, role) in enumerate(zip(kinds, roles, strict=True)):
        nth = roles[: number + 1].count(role)
        yield kind._replace(title=f"{role} {nth}" if roles.count(role) > 1 else role)


def fingerprint_of(document: Document) -> str:
    """Return as text the part of the configuration of a switch with sessions that affects the plan."""
    return told_of(document, read_switch(document).read.switch)


def kind_of_system(
    group: Sequence[SwitchPair], number: int, running: InService, problems: list[Problem]
) -> PlannedKind | None:
    """Return a kind of switches that take sessions, with problems where they cannot be planned for.

    None if the running switch cannot be planned for; a target without a configuration is a problem alone.
    """
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
        cables_m=_cables_m(old) if old is not None else _read_cables_m(_known_m(before), first.target),
        new_cables_m=_cables_m(first.target),
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
    """Return a switch with the ports alone that it really has."""
    return switch._replace(ports=tuple(port for port in switch.ports if port.placed))


def port_classes(system: SystemSwitch) -> dict[str, object]:
    """Return a key for each port; ports with equal keys have the same QoS settings before and after."""
    old, new = ({port.name: id(port.qos) for port in side.ports} for side in (system.running, system.target))
    return {name: (old.get(name), new.get(name)) for name in {*old, *new}}


def system_of(target: Switch, running: Switch, document: Document | None) -> SystemSwitch:
    """Return a switch with the session commands of its system; ``document`` is its running configuration, if read."""
    writer = _SessionWriter(target, running, document)
    system = dialect(target.format)
    silent = frozenset(system.not_applicable)
    return SystemSwitch(
        TITLES[target.format],
        running,
        target,
        silent,
        system.carrying.drained,
        writer.refused,
        writer.session,
    )


def differing(target: Switch, running: Switch) -> frozenset[str]:
    """Return the attributes that differ between a switch that was read and its target, if its system can carry them."""
    return frozenset(
        difference.part for difference in differences(target, running, dialect(target.format).losses)
    )


def told_of(document: Document, running: Switch) -> str:
    """Return as text the part of a configuration that a session depends on: the switch's behavior, and its names."""
    system = dialect(document.dialect)
    names = system.session(document, system.document("", document.file))
    said = meaning(running, system.losses)
    return json.dumps([[sorted(map(repr, own.items())) for own in said], names])


class _SessionWriter:
    """The configurations that a switch has on the way, in its system's words, and the commands between two of them."""

    def __init__(self, target: Switch, running: Switch, document: Document | None) -> None:
        self._system = dialect(target.format)
        self._file = self._system.files(target)[0].name
        self._running, self._document = running, document

    def refused(self, switch: Switch) -> tuple[str, ...]:
        """Return the reasons why the system has no configuration for a switch; the running switch always has one."""
        if switch is self._running:
            return ()
        try:
            other_files(switch)
        except RenderError as error:
            return tuple(error.lines)
        return ()

    def session(self, before: Switch, after: Switch) -> PlannedSession:
        """Return the session that leads a switch from one state to another, with the commands to undo it."""
        texts = self._read(before), self._read(after)
        carrying = self._system.carrying
        runs = {
            "begin": carrying.begin,
            "commands": (f"the commands of {carrying.file}",),
            "commit": carrying.commit,
            "check": carrying.check,
            "confirm": carrying.confirm,
            "back": carrying.back,
        }
        undo = self._system.session(texts[1], texts[0])
        return PlannedSession(carrying.file, self._system.session(*texts), undo, runs, carrying.why)

    def _read(self, switch: Switch) -> Document:
        if switch is self._running and self._document is not None:
            return self._document
        file = self._system.files(switch)[0]
        return self._system.document(render_template(file.template, file.content), file.name)
