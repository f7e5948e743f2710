"""Derives classes from the QoS of ports: every TC of a DSCP, and every TC with PFC, is a class.

An intent has one set of classes for the whole fabric, so it declares the values of most ports.

Majority votes: one vote a port, ties broken by a fixed order, never at random.

Completes watchdogs of systems whose configuration lacks some of their times, from those of other switches.
"""

from __future__ import annotations

from collections import Counter
from math import gcd
from typing import TYPE_CHECKING, TypeVar

from lossless.formats.importing.model import DraftClass, DraftWatchdog, second_priorities
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.cabling import CableEnd
from lossless.model.fabric.qos import DEFAULT_POLL_MS, DSCPS, PRIORITIES, UNREADABLE, WATCHDOG_ACTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.formats.importing.model import ImportDevice
    from lossless.model.fabric.qos import PortQos, Scheduler


RDMA_DSCPS = (26, 24)
"""DSCPs of RDMA senders by convention: AF31 and CS3 (NVIDIA's and Dell's guides for RoCE)."""
CNP_DSCP = 48
"""The default DSCP of CNPs in ConnectX firmware (profiles of the NICs)."""
_ALL = 100


class DraftClasses(NamedTuple):
    """The classes that most ports have, and notes on choices made for all of them."""

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
    """Return the classes that most ports of the devices have; none where no port is in use.

    ``silent`` are the ports of tiers without PFC, which do not vote. ``remapped``: some are dual ToRs. Then the ports
    that tunnels pass have second priorities, which are not classes.
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
    """Builds each class from the votes."""

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
    """Return weights as shares that sum to 100 at most: unchanged, divided by their common divisor, or scaled."""
    if sum(weights.values()) <= _ALL:
        return dict(weights)
    divisor = gcd(*weights.values())
    divided = {tc: weight // divisor for tc, weight in weights.items()}
    total = max(_ALL, sum(divided.values()))
    return {tc: max(1, weight * _ALL // total) for tc, weight in divided.items()}


def find_watchdog(devices: Iterable[ImportDevice]) -> tuple[DraftWatchdog | None, tuple[str, ...]]:
    """Return the watchdog that most ports with PFC have, and notes on choices."""
    rows: list[Times | None] = []
    polls = []
    for device in devices:
        ports = [port.qos for port in device.used.values() if port.qos]
        if any(qos.watchdog for qos in ports):
            polls.append(device.switch.qos.poll.poll_ms)
        rows += [_watchdog(qos, sonic=device.switch.runs_sonic) for qos in ports if qos.pfc.priorities]
    rows, unsaid = completed(rows)
    row, vote = most(rows)
    if row is None:
        return None, unsaid or (
            ("no port has a watchdog",) if rows and vote.unanimous else dissent_notes(vote, "watchdog")
        )
    poll_ms, poll_vote = most(polls)
    notes = dissent_notes(vote, "watchdog")
    if not poll_vote.unanimous:
        notes += (f"poll: {poll_vote.ayes} of {poll_vote.votes} devices have it so",)
    if poll_ms is None:
        notes += (f"poll: not configured; {DEFAULT_POLL_MS} ms is what orchagent takes",)
    detection_ms, restoration_ms, action = row
    assert detection_ms is not None
    assert action is not None
    return DraftWatchdog(poll_ms or DEFAULT_POLL_MS, detection_ms, restoration_ms, action), (*notes, *unsaid)


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
    """The outcome of a vote: how many voted for the winner, of how many."""

    ayes: int
    votes: int

    @property
    def unanimous(self) -> bool:
        """Whether all votes were equal."""
        return self.ayes == self.votes


def most(values: Iterable[_T]) -> tuple[_T | None, Vote]:
    """Return the most frequent value and the outcome of the vote; None without votes."""
    counts = Counter(values)
    if not counts:
        return None, Vote(0, 0)
    winner = min(counts, key=lambda value: (-counts[value], repr(value)))
    return winner, Vote(counts[winner], counts.total())


def dissent_notes(vote: Vote, what: str) -> tuple[str, ...]:
    """Return a note that some votes differ, none where all agree."""
    if vote.unanimous:
        return ()
    others = vote.votes - vote.ayes
    return (f"{what}: {vote.ayes} of {vote.votes} ports have it so, {others} differ",)


Times = tuple[int | None, int | None, str | None]
"""Detection and restoration in milliseconds and the action, each None where the configuration lacks it."""


_ACTION = "drop"
"""The default action of an intent."""


def completed(rows: Sequence[Times | None]) -> tuple[list[Times | None], tuple[str, ...]]:
    """Return watchdogs with all of their times, and notes on choices; None stands for a port without one.

    Where no switch has a detection time, no watchdog is declared, because its behavior is unknown.
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
