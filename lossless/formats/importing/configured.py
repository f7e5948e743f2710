"""Switches of other systems than SONiC: the content of their files, and the declared hardware.

Renumbers the classes of other systems: an intent has one number for class, queue and PFC priority, they have three.

Ports are renumbered before they vote: a class with PFC has the number of its priority, any other
that of its queue. Deviations of a switch are lost, and listed.

Derives the splits of a switch's cages from the names of its ports, and speeds that no line declares.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from itertools import takewhile
from typing import TYPE_CHECKING

from lossless.formats.importing.model import NAMES, PLAIN_NAME, ImportDevice
from lossless.formats.sonic.read.tables import Tables
from lossless.ground.basics.errors import Problem
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_rate
from lossless.ground.basics.wording import joined, listed
from lossless.model.fabric.model import Tier
from lossless.model.fabric.qos import DSCPS, PRIORITIES, UNREADABLE
from lossless.model.hardware.load import load_switch, switch_names
from lossless.model.hardware.model import widest_split
from lossless.model.hardware.port_names import in_format

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from lossless.ground.basics.findings import Origin
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.configured_switch import ReadSwitch
    from lossless.model.fabric.model import Port
    from lossless.model.fabric.qos import PortQos, Queue
    from lossless.model.hardware.load import Folder
    from lossless.model.hardware.model import Cage, Hwsku, SwitchProfile


class ProductChoice(NamedTuple):
    """The profile of the switches whose name fits a pattern, of all where it is ``*``."""

    pattern: str
    profile: str


def carries_classes(port: Port) -> bool:
    """Return whether a port carries classes: it is not shut down, and has priority groups or queues."""
    qos = port.qos
    return qos is not None and port.admin_up is not False and (any(qos.groups) or any(qos.queues))


def configured_device(
    document: Document,
    read: ReadSwitch,
    products: Sequence[ProductChoice],
    profile_dirs: Sequence[Folder],
    problems: list[Problem],
) -> ImportDevice | None:
    """Return the device of a configuration; each fact that is neither in the file nor declared is a problem."""
    profile = _profile(document, read, products, profile_dirs, problems)
    if profile is None:
        return None
    switch = read.switch
    if PLAIN_NAME.fullmatch(switch.name) is None:
        problems.append(
            _at(document, switch.origin, f"{switch.name!r} cannot name a device; expected {NAMES}")
        )
        return None
    profile = in_format(profile, switch.format)
    hwsku = profile.hwsku(profile.default_hwsku)
    assert hwsku is not None
    used = _ports(document, read, profile, problems)
    splits = SplitPorts(profile, hwsku, [port for port in switch.ports if port.name in used])
    return ImportDevice(
        name=switch.name,
        tier=Tier.LEAF,
        document=document,
        tables=Tables(document.file, {}),
        switch=switch,
        profile=profile,
        hwsku=hwsku,
        used={name: as_classes(splits.with_speed(port)) for name, port in used.items()},
        breakouts=splits.stated(),
        notes=_notes(read),
    )


def _profile(
    document: Document,
    read: ReadSwitch,
    products: Sequence[ProductChoice],
    profile_dirs: Sequence[Folder],
    problems: list[Problem],
) -> SwitchProfile | None:
    """Return the profile that is declared for a switch, else that of the product in its file.

    Raises:
        ProfileError: a profile of that name does not exist.
    """
    name, system = read.switch.name, read.switch.format
    own = [choice for choice in products if choice.pattern != "*" and fnmatchcase(name, choice.pattern)]
    stated = [
        load_switch(c.profile, profile_dirs) for c in (*own, *(c for c in products if c.pattern == "*"))
    ]
    for profile in stated[:1] if own else stated:
        if system in profile.formats:
            return profile
        if own:
            runs = joined(profile.runs)
            why = f"{profile.name} is stated for {name}, and is not known to run {system}: it runs {runs}"
            problems.append(_at(document, read.switch.origin, why))
            return None
    known = [
        p for p in (load_switch(n, profile_dirs) for n in switch_names(profile_dirs)) if system in p.formats
    ]
    same = [profile for profile in known if profile.product == read.product]
    if len(same) == 1:
        return same[0]
    says = (
        f"names the product {read.product}, which no profile knows"
        if read.product
        else "does not say which product it is"
    )
    why = f"{says}; state its profile: --switch {name}=PROFILE, one of {joined([p.name for p in known])}"
    problems.append(_at(document, read.switch.origin, why))
    return None


def _ports(
    document: Document, read: ReadSwitch, profile: SwitchProfile, problems: list[Problem]
) -> dict[str, Port]:
    """Return the ports that carry classes and exist on the product."""
    prefixes = {_word(cage.name) for cage in profile.cages}
    used = {p.name: p for p in read.switch.ports if carries_classes(p) and _word(p.name) in prefixes}
    used = {name: port for name, port in used.items() if name[-1].isdecimal()}
    names = {spec.name for hwsku in profile.hwskus for spec in hwsku.ports}
    for cage in profile.cages:
        names |= {cage.name, *(spec.name for mode in cage.modes for spec in profile.breakout(cage, mode))}
    unknown = [port for name, port in used.items() if name not in names]
    if unknown:
        ports = joined([port.name for port in unknown], 4)
        problems.append(
            _at(document, unknown[0].origin, f"{profile.product} ({profile.name}) has no port {ports}")
        )
    if not used:
        why = "no port is configured to carry classes: nothing says which traffic is which class"
        problems.append(_at(document, read.switch.origin, why))
    for port in used.values():
        if (dscps := unsaid_dscps(port)) is not None:
            why = f"{port.name}: the text does not say which class {dscps} to; import the whole configuration"
            problems.append(_at(document, port.origin, why))
            break
    return used


def _word(name: str) -> str:
    return "".join(takewhile(str.isalpha, name))


def _notes(read: ReadSwitch) -> tuple[str, ...]:
    notes = [f"{read.switch.name}: {read.unread[0]}{_more(read.unread)}"] if read.unread else []
    notes += [f"{read.switch.name}: {refused.what}: {refused.why}" for refused in read.refused]
    return tuple(notes)


def _more(lines: Sequence[str]) -> str:
    return f", nor are {len(lines) - 1} more" if len(lines) > 1 else ""


def _at(document: Document, origin: Origin, message: str) -> Problem:
    span = document.locate(origin.path)
    return Problem(document.file, span.line, span.column, message)


def unsaid_dscps(port: Port) -> str | None:
    """Return the DSCPs without a class in a configuration, as text; None where all have one."""
    targets = port.qos.dscp_to_tc.targets if port.qos and port.qos.dscp_to_tc else ()
    unsaid = [str(dscp) for dscp, target in enumerate(targets) if target == UNREADABLE]
    if len(unsaid) == len(DSCPS):
        return "DSCPs go"
    return f"DSCP {listed(unsaid)} goes" if unsaid else None


def as_classes(port: Port) -> Port:
    """Return a port whose classes have the number of their priority, else of their queue."""
    return port if port.qos is None else port._replace(qos=_as_classes(port.qos))


def _as_classes(qos: PortQos) -> PortQos:
    paused = _paused(qos)
    number_of = {tc: _number(qos, tc, paused) for tc in PRIORITIES}
    targets = tuple(number_of.get(qos.traffic_class(dscp), 0) for dscp in DSCPS)
    mapped = qos.dscp_to_tc and qos.dscp_to_tc._replace(targets=targets, origins=())
    reached = {*targets} if mapped else set(PRIORITIES)
    pfc = qos.pfc._replace(priorities=tuple(sorted(paused)))
    return qos._replace(
        dscp_to_tc=mapped,
        tc_to_queue=None,
        tc_to_pg=None,
        pfc_to_queue=None,
        pfc_to_pg=None,
        pfc=pfc,
        watchdog_mask=pfc if qos.watchdog else None,
        queues=tuple(_queue(qos, number, paused, reached) for number in PRIORITIES),
    )


def _paused(qos: PortQos) -> dict[int, int]:
    """Return the class that each priority pauses, including those with headroom for which DCBX decides."""
    groups = {priority: qos.pausing_group(priority) for priority in PRIORITIES}
    held = {p: group for p, group in groups.items() if p in qos.pfc.priorities}
    for group in filter(None, qos.groups if not held else ()):
        held |= dict(
            [next(((p, g) for p, g in groups.items() if g == group.number), (group.number, group.number))]
        )
    return {p: next((tc for tc in PRIORITIES if qos.group_of(tc) == group), p) for p, group in held.items()}


def _number(qos: PortQos, tc: int, paused: Mapping[int, int]) -> int:
    own = next((priority for priority, of in paused.items() if of == tc), None)
    if own is not None:
        return own
    # What may drop is kept apart from what pauses, whatever queue they share.
    free = (n for n in (qos.queue_of(tc), tc, *PRIORITIES) if n not in paused)
    return next(free, tc)


def _queue(qos: PortQos, number: int, paused: Mapping[int, int], reached: Collection[int]) -> Queue | None:
    queue = qos.queues[qos.queue_of(paused[number]) if number in paused else number]
    if queue is None:
        return None
    scheduler, wred = queue.scheduler, queue.wred
    # A queue that nothing leads to, and that has no share, is none that an intent has a class for.
    idle = number not in reached and number not in paused
    if idle and scheduler is not None and scheduler.kind != "STRICT" and not scheduler.weight:
        scheduler = None
    if wred is not None:
        wred = wred._replace(yellow=wred.green, red=wred.green)
    return queue._replace(number=number, scheduler=scheduler, wred=wred)


class _Split(NamedTuple):
    """The split of a cage: how many ports, of which speed; ``own``: it is that of the HWSKU."""

    count: int  # type: ignore[assignment]
    speed_bps: int
    own: bool


class SplitPorts:
    """The ports in use of a switch by the cages that they belong to."""

    def __init__(self, profile: SwitchProfile, hwsku: Hwsku, ports: Sequence[Port]) -> None:
        self._profile, self._hwsku = profile, hwsku
        by_name = {port.name: port for port in ports}
        self._splits: dict[str, _Split] = {}
        self._speed_of: dict[str, int] = {}
        for cage in profile.cages:
            self._place(cage, by_name)

    def with_speed(self, port: Port) -> Port:
        """Return a port with its speed: that of its lines, else that of the HWSKU or of the split."""
        return port if port.speed_bps else port._replace(speed_bps=self._speed_of.get(port.name))

    def stated(self) -> dict[str, str]:
        """Return the cages whose split must be declared: neither that of the HWSKU nor the one with most ports."""
        cages = {cage.name: cage for cage in self._profile.cages}
        return {
            name: f"{split.count} x {format_rate(split.speed_bps)}"
            for name, split in self._splits.items()
            if not split.own
            and (widest := widest_split(cages[name], split.speed_bps)) is not None
            and widest.count != split.count
        }

    def _place(self, cage: Cage, ports: dict[str, Port]) -> None:
        fitting = [
            (split, names)
            for split, names in self._candidates(cage)
            if all(ports[n].speed_bps in (None, split.speed_bps) for n in names if n in ports)
        ]
        # The split that gives most of the ports a name, the HWSKU's own before others, the one of fewest ports then.
        ranked = max(
            fitting, key=lambda s: (sum(n in ports for n in s[1]), s[0].own, -len(s[1])), default=None
        )
        if ranked is None or not any(name in ports for name in ranked[1]):
            return
        split, names = ranked
        self._splits[cage.name] = split
        self._speed_of |= dict.fromkeys(names, split.speed_bps)

    def _candidates(self, cage: Cage) -> list[tuple[_Split, tuple[str, ...]]]:
        own = [spec for spec in self._hwsku.ports if spec.index == cage.index]
        candidates = (
            [(_Split(len(own), own[0].speed_bps, True), tuple(spec.name for spec in own))] if own else []
        )
        for mode in cage.modes:
            for speed_bps in mode.speeds_bps:
                names = tuple(spec.name for spec in self._profile.breakout(cage, mode, speed_bps))
                candidates.append((_Split(mode.count, speed_bps, False), names))
        return candidates
