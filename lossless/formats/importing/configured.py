"""Imports switches of other systems than SONiC, and derives classes and watchdog of a draft from the ports of all.

An intent has one number for class, queue and PFC priority, other systems have three. Ports are renumbered before they
vote: a class with PFC has the number of its priority, any other that of its queue, if free. Deviations of a switch are
lost, and listed.

Classes come from the QoS of ports: a TC of a DSCP, with PFC or with a scheduled queue is a class. An intent has one set
of classes for the whole fabric, so it declares the values of most ports. Each port has one vote, a switch one for its
own settings, and ties are broken by a fixed order, never at random.

The splits of a switch's cages, and speeds that no line declares, come from the names of its ports; watchdog times
that a configuration lacks come from those of other switches.
"""

from __future__ import annotations

from collections import Counter
from fnmatch import fnmatchcase
from itertools import takewhile
from math import gcd
from typing import TYPE_CHECKING, TypeVar

from lossless.formats.importing.model import (
    NAMES,
    PLAIN_NAME,
    DraftClass,
    DraftWatchdog,
    ImportDevice,
    second_priorities,
)
from lossless.formats.sonic.read.tables import Tables
from lossless.ground.basics.errors import Problem
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_rate, joined, listed
from lossless.model.fabric.cabling import CableEnd
from lossless.model.fabric.model import Tier
from lossless.model.fabric.qos import DEFAULT_POLL_MS, DSCPS, PRIORITIES, UNREADABLE, WATCHDOG_ACTIONS
from lossless.model.hardware.devices import in_format
from lossless.model.hardware.load import load_switch, switch_names
from lossless.model.hardware.model import widest_split

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from lossless.ground.basics.findings import Origin
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.configured_switch import ReadSwitch
    from lossless.model.fabric.model import Port
    from lossless.model.fabric.qos import PortQos, Queue, Scheduler, Watchdog
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
    """Return the device of a configuration of another system than SONiC.

    It is None without a profile or a valid name; ``problems`` gets the reason, and those of its ports.

    Raises:
        ProfileError: a profile does not exist, or a user's file is unreadable or wrong.
    """
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
    """Return the profile that is declared for a switch, else that of the product in its file, else None and a problem.

    Raises:
        ProfileError: a profile does not exist, or a user's file is unreadable or wrong.
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
    """Return the ports that carry classes, by name, as far as they are named like ports of the product.

    Unknown ports, no port at all, and DSCPs without a class are problems.
    """
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
    """Return the DSCPs without a known class at a port, as ``DSCP 5 goes``; None if every DSCP has one."""
    targets = port.qos.dscp_to_tc.targets if port.qos and port.qos.dscp_to_tc else ()
    unsaid = [str(dscp) for dscp, target in enumerate(targets) if target == UNREADABLE]
    if len(unsaid) == len(DSCPS):
        return "DSCPs go"
    return f"DSCP {listed(unsaid)} goes" if unsaid else None


def as_classes(port: Port) -> Port:
    """Return a port whose QoS numbers each class by its PFC priority, else by its queue if that is free."""
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
    """Return the TC that each priority with PFC pauses, by priority.

    Where no priority has PFC, that of each priority group: DCBX may turn PFC on there.
    """
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
    """The breakout of a cage: how many ports, of which speed; ``own``: it is that of the HWSKU."""

    count: int  # type: ignore[assignment]
    speed_bps: int
    own: bool


class SplitPorts:
    """The breakout of each cage, inferred from the port names of a switch, and the speed of each port."""

    def __init__(self, profile: SwitchProfile, hwsku: Hwsku, ports: Sequence[Port]) -> None:
        self._profile, self._hwsku = profile, hwsku
        by_name = {port.name: port for port in ports}
        self._splits: dict[str, _Split] = {}
        self._speed_of: dict[str, int] = {}
        for cage in profile.cages:
            self._place(cage, by_name)

    def with_speed(self, port: Port) -> Port:
        """Return a port with its speed: the configured one, else that of its cage's breakout, if known."""
        return port if port.speed_bps else port._replace(speed_bps=self._speed_of.get(port.name))

    def stated(self) -> dict[str, str]:
        """Return the breakouts to declare, as ``4 x 100G``, by cage: those that HWSKU and port speed do not imply."""
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


RDMA_DSCPS = (26, 24)
"""DSCPs of RDMA senders by convention: AF31 and CS3 (NVIDIA's and Dell's guides for RoCE)."""
CNP_DSCP = 48
"""The default DSCP of CNPs in ConnectX firmware (profiles of the NICs)."""
_ALL = 100


class DraftClasses(NamedTuple):
    """The traffic classes of a draft, by the QoS of most ports, and notes on choices made for all of them."""

    classes: tuple[DraftClass, ...]
    notes: tuple[str, ...]


class _QueueShares(NamedTuple):
    """Scheduling of queues: strict ones, and the DWRR shares of others in percent."""

    strict: frozenset[int]
    bandwidth: Mapping[int, int]
    notes: tuple[str, ...]


def find_classes(
    devices: Iterable[ImportDevice], *, silent: frozenset[CableEnd] = frozenset(), remapped: bool = False
) -> DraftClasses:
    """Return the traffic classes that most ports of the devices have; none where no port is in use.

    ``silent`` are the ports of tiers without PFC, which are not counted. ``remapped``: some devices are dual ToRs. Then
    the ports that tunnels pass have second priorities, which are not classes.
    """
    all_ports = [
        port
        for device in devices
        for port in device.used.values()
        if CableEnd(device.name, port.name) not in silent
    ]
    plain = [port for port in all_ports if not second_priorities(port)] if remapped else all_ports
    ports = plain or all_ports
    qos = [port.qos for port in ports if port.qos is not None]
    if not qos:
        return DraftClasses((), ())
    dscps, dscp_vote = most(tuple(port_qos.traffic_class(dscp) for dscp in DSCPS) for port_qos in qos)
    mask, mask_vote = most(port_qos.pfc.priorities for port_qos in qos)
    assert dscps is not None
    assert mask is not None
    second = {tc for port in all_ports for tc in second_priorities(port)} if remapped else set()
    mask = tuple(priority for priority in mask if priority not in second)
    by_tc = {tc: tuple(d for d in DSCPS if dscps[d] == tc and tc not in second) for tc in PRIORITIES}
    active = [
        tc for tc in PRIORITIES if by_tc[tc] or tc in mask or (tc not in second and _has_queue(qos, tc))
    ]
    everywhere = [port.qos for port in all_ports if port.qos is not None]
    shares = _shares(everywhere, active)
    notes = (
        *dissent_notes(dscp_vote, "DSCPs"),
        *dissent_notes(mask_vote, "PFC"),
    )
    beyond = [d for d in DSCPS if dscps[d] == UNREADABLE]
    classes = _ClassBuilder(by_tc, mask, active, shares, beyond).classes()
    return DraftClasses(tuple(classes), (*notes, *shares.notes))


def _has_queue(qos: Sequence[PortQos], number: int) -> bool:
    """Return whether most ports schedule a queue, even if no DSCP maps to it."""
    served, _ = most(
        (queue := port_qos.queues[number]) is not None and queue.scheduler is not None for port_qos in qos
    )
    return served is True


class _ClassBuilder:
    """Builds the classes of a draft from the DSCPs, PFC priorities and queue shares of most ports."""

    def __init__(
        self,
        by_tc: Mapping[int, tuple[int, ...]],
        mask: tuple[int, ...],
        active: Sequence[int],
        shares: _QueueShares,
        beyond: Sequence[int],
    ) -> None:
        self._by_tc, self._mask, self._active = by_tc, mask, active
        self._shares, self._beyond = shares, beyond
        lossy = [tc for tc in active if tc not in mask]
        # The class of all other DSCPs: the largest that may drop, so that nothing unknown is paused.
        self._rest = max(lossy or active, key=lambda tc: (len(by_tc[tc]), -tc), default=0)

    def classes(self) -> Iterator[DraftClass]:
        taken: set[str] = set()
        for tc in self._active:
            name = self._name(tc)
            name = f"priority-{tc}" if name in taken else name
            taken.add(name)
            yield self._class(tc, name)

    def _class(self, tc: int, name: str) -> DraftClass:
        notes: tuple[str, ...] = ()
        if tc == self._rest and self._beyond:
            numbers = ", ".join(map(str, self._beyond))
            notes += (f"DSCP {numbers} leads to a TC beyond 7, which an intent has no class for",)
        return DraftClass(
            name=name,
            dscps=None if tc == self._rest else self._dscps(tc, name),
            priority=tc,
            lossless=tc in self._mask,
            pg={},
            strict=tc in self._shares.strict,
            bandwidth=self._shares.bandwidth.get(tc),
            ecn={},
            buffers={},
            queues={},
            notes=notes,
        )

    def _dscps(self, tc: int, name: str) -> tuple[int, ...]:
        dscps = self._by_tc[tc]
        # The first DSCP of the class cnp is taken for that of CNPs.
        return (CNP_DSCP, *(d for d in dscps if d != CNP_DSCP)) if name == "cnp" else dscps

    def _name(self, tc: int) -> str:
        if tc == self._rest:
            return "default"
        if tc in self._mask:
            return "rdma" if any(d in self._by_tc[tc] for d in RDMA_DSCPS) else f"priority-{tc}"
        return "cnp" if CNP_DSCP in self._by_tc[tc] else f"priority-{tc}"


def _shares(qos: Sequence[PortQos], active: Sequence[int]) -> _QueueShares:
    served: dict[int, Scheduler] = {}
    notes: tuple[str, ...] = ()
    for tc in active:
        schedulers = [
            (q.scheduler.kind, q.scheduler.weight, q.scheduler)
            for port_qos in qos
            if (q := port_qos.queues[tc]) and q.scheduler
        ]
        winner, vote = most((kind, weight) for kind, weight, _ in schedulers)
        if winner is not None:
            served[tc] = next(scheduler for kind, weight, scheduler in schedulers if (kind, weight) == winner)
            notes += dissent_notes(vote, f"how queue {tc} is served")
    strict = frozenset(tc for tc, scheduler in served.items() if scheduler.kind == "STRICT")
    weights = {
        tc: scheduler.weight for tc, scheduler in served.items() if tc not in strict and scheduler.weight
    }
    bandwidth = _percent(weights)
    if bandwidth != weights:
        notes += (
            "bandwidth: DWRR weights brought to percent, in the same proportion as far as whole numbers go",
        )
    return _QueueShares(strict, bandwidth, notes)


def _percent(weights: Mapping[int, int]) -> dict[int, int]:
    """Return DWRR weights by TC as percentages: unchanged if they sum to at most 100, else divided or scaled down."""
    if sum(weights.values()) <= _ALL:
        return dict(weights)
    divisor = gcd(*weights.values())
    divided = {tc: weight // divisor for tc, weight in weights.items()}
    total = max(_ALL, sum(divided.values()))
    return {tc: max(1, weight * _ALL // total) for tc, weight in divided.items()}


def find_watchdog(devices: Iterable[ImportDevice]) -> tuple[DraftWatchdog | None, tuple[str, ...]]:
    """Return the PFC watchdog that most ports with PFC have, and notes on choices.

    It is None where most have none, or where no switch has a detection time. A tier in which most ports have another
    watchdog, or most switches another poll interval, is declared with its own.
    """
    rows: list[Times | None] = []
    tiers: list[Tier] = []
    polls: list[tuple[Tier, int | None, bool]] = []
    dogs: list[Watchdog] = []
    for device in devices:
        ports = [port.qos for port in device.used.values() if port.qos]
        if any(qos.watchdog for qos in ports):
            polls.append((device.tier, device.switch.qos.poll.poll_ms, device.switch.runs_sonic))
        of_ports = [_watchdog(qos, sonic=device.switch.runs_sonic) for qos in ports if qos.pfc.priorities]
        rows += of_ports
        tiers += [device.tier] * len(of_ports)
        dogs += [qos.watchdog for qos in ports if qos.pfc.priorities and qos.watchdog is not None]
    rows, unsaid = completed(rows)
    row, vote = most(rows)
    if row is None:
        return None, unsaid or (
            ("no port has a watchdog",) if rows and vote.unanimous else dissent_notes(vote, "watchdog")
        )
    poll_ms, _ = most(poll_ms for _, poll_ms, _ in polls)
    usual = _draft(poll_ms, row)
    by_tier = {}
    for tier in sorted(set(tiers)):
        own_row, _ = most(row for row, of in zip(rows, tiers, strict=True) if of is tier)
        # A system that does not state how often it polls is no evidence of another interval.
        own_polls = [poll for of, poll, sonic in polls if of is tier and (sonic or poll is not None)]
        own_poll_ms = most(own_polls)[0] if own_polls else poll_ms
        own = _draft(own_poll_ms, own_row or row)
        if own != usual:
            by_tier[tier] = own
    watchdog = usual._replace(tiers=by_tier)
    notes = (*_watchdog_notes(watchdog, rows, tiers, polls), *unsaid, *_recovery_notes(watchdog, dogs))
    return watchdog, notes


def _draft(poll_ms: int | None, row: Times) -> DraftWatchdog:
    detection_ms, restoration_ms, action = row
    assert detection_ms is not None
    assert action is not None
    return DraftWatchdog(poll_ms or DEFAULT_POLL_MS, detection_ms, restoration_ms, action)


def _watchdog_notes(
    watchdog: DraftWatchdog,
    rows: Sequence[Times | None],
    tiers: Sequence[Tier],
    polls: Sequence[tuple[Tier, int | None, bool]],
) -> Iterator[str]:
    """Yield notes on ports and devices that differ from the watchdog of their tier, and on a default poll interval."""
    as_declared = sum(row == watchdog.of(tier)[1:4] for row, tier in zip(rows, tiers, strict=True))
    yield from dissent_notes(Vote(as_declared, len(rows)), "watchdog")
    ayes = sum((poll or DEFAULT_POLL_MS) == watchdog.of(tier).poll_ms for tier, poll, _ in polls)
    if ayes < len(polls):
        yield f"poll: {ayes} of {len(polls)} devices have it so"
    if most(poll for _, poll, _ in polls)[0] is None:
        yield f"poll: not configured; {DEFAULT_POLL_MS} ms is what orchagent takes"


def _recovery_notes(watchdog: DraftWatchdog, dogs: Sequence[Watchdog]) -> Iterator[str]:
    """Yield notes on ports whose restoration of a queue has a rule that an intent cannot declare, or an unknown one."""
    fixed, unknown = (sum(dog.recovery == rule for dog in dogs) for rule in ("fixed", "unknown"))
    if fixed:
        yield (
            f"restoration: {fixed} of {len(dogs)} ports restore after their time although pauses go on; that of an"
            " intent is a time without pauses"
        )
    if unknown and watchdog.restoration_ms is None:
        yield (
            f"restoration: {unknown} of {len(dogs)} ports state no time, and what their system then does was"
            " found in no source; by an intent without one a stormed queue is never restored"
        )


def differing_watchdog(qos: PortQos, usual: DraftWatchdog | None, *, sonic: bool) -> tuple[str, ...] | None:
    """Return the settings of a port's watchdog that differ from the declared one; empty for a port without it.

    None where no setting is known to differ.
    """
    own = _watchdog(qos, sonic=sonic)
    if own is None:
        return () if usual is not None else None
    if usual is None and own[0] is None:
        return None
    said = dict(zip(("detection", "restoration", "action"), own, strict=True))
    if not sonic:
        said = {name: value for name, value in said.items() if value is not None}
    words = {name: _setting(name, value) for name, value in said.items()}
    if usual is not None:
        declared = {
            "detection": usual.detection_ms,
            "restoration": usual.restoration_ms,
            "action": usual.action,
        }
        words = {name: word for name, word in words.items() if said[name] != declared[name]}
    return tuple(f"{name}: {word}" for name, word in words.items()) or None


NEVER = "never"
"""The restoration time of an exception, in an intent, by which a stormed queue stays stopped."""


def _setting(name: str, value: int | str | None) -> str:
    return str(value) if name == "action" else NEVER if value is None else f"{value}ms"


def _watchdog(qos: PortQos, *, sonic: bool) -> Times | None:
    watchdog = qos.watchdog
    if watchdog is not None and not sonic:
        action = watchdog.action if watchdog.action in WATCHDOG_ACTIONS else None
        return watchdog.detection_ms, watchdog.restoration_ms, action
    if watchdog is None or watchdog.detection_ms is None or watchdog.action not in WATCHDOG_ACTIONS:
        return None
    if watchdog.detection_ms < 0 or (watchdog.restoration_ms or 0) < 0:
        return None
    return watchdog.detection_ms, watchdog.restoration_ms, watchdog.action


_T = TypeVar("_T")


class Vote(NamedTuple):
    """The number of ports or devices that have the most frequent value, and the number of all."""

    ayes: int
    votes: int

    @property
    def unanimous(self) -> bool:
        """Whether all ports or devices have the same value."""
        return self.ayes == self.votes


def most(values: Iterable[_T]) -> tuple[_T | None, Vote]:
    """Return the most frequent value, None without values, and how many have it; a tie goes to the first as text."""
    counts = Counter(values)
    if not counts:
        return None, Vote(0, 0)
    winner = min(counts, key=lambda value: (-counts[value], repr(value)))
    return winner, Vote(counts[winner], counts.total())


def dissent_notes(vote: Vote, what: str) -> tuple[str, ...]:
    """Return a note on how many ports differ from the most frequent value, none where all agree."""
    if vote.unanimous:
        return ()
    others = vote.votes - vote.ayes
    return (f"{what}: {vote.ayes} of {vote.votes} ports have it so, {others} differ",)


Times = tuple[int | None, int | None, str | None]
"""Detection and restoration time of a watchdog in ms and its action, each None where the configuration lacks it."""


_ACTION = "drop"
"""The default watchdog action of an intent."""


def completed(rows: Sequence[Times | None]) -> tuple[list[Times | None], tuple[str, ...]]:
    """Return the watchdogs of ports with missing times and actions filled in from most others, and notes on choices.

    None stands for a port without one. Where no switch has a detection time, all are None, because the behavior of
    the watchdog is unknown.
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
