"""The buffer verdict: safe, on the edge or unsafe, for every kind of lossless port, in closed form; limits of PFC load.

*Unsafe*: a drop is possible (headroom below need, none at all, or more than the chip has or lends a port), or a storm
has no end (no watchdog runs).
*On the edge*: a margin is below its limit, or a ratio above it, see :data:`HEADROOM_EDGE_FRAMES` and
:data:`HEADROOM_RATIO_EDGE`. *Not checked*: an input is unknown; all other inputs are checked. Whether PFC triggers at
all, and whether marks come first, has a margin and no verdict: marks came first in 133 of the 134 recorded cases that
mark, and PFC triggered anyway in 63 of them (ns-3.39, inet-tub/ns3-datacenter @6ddb4a4).

PFC load is the part of the traffic that PFC holds back, with its limits. PFC is for bursts that ECN is too slow for.
Long pauses of NICs, in traffic without a standing overload, show load that congestion control should have taken off
the fabric.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.analysis.buffers.dynamic_model import with_computed_buffers
from lossless.analysis.buffers.ecn_marking import (
    WATCHDOG_ELSEWHERE,
    EcnMarking,
    EcnMarkings,
    Protection,
    by_switch,
    protection,
)
from lossless.analysis.buffers.headroom.formulas import Method
from lossless.analysis.buffers.headroom.port import LinkNeed, given_headroom, link_need, lossless_profile
from lossless.analysis.buffers.headroom.sums import HeadroomSum, claim_beyond_limit, headroom_sums
from lossless.ground.basics.findings import MissingInput, grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_bytes, format_rate
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.analysis.buffers.headroom.formulas import HeadroomNeed
    from lossless.model.fabric.model import Fabric
    from lossless.model.fabric.qos import BufferProfile
    from lossless.model.fabric.view import PortSet


MOST_NICS_PAUSED = 0.1
"""Limit of the share of NIC ports with any pause. A convention of this project: no source that states one was found."""
LONGEST_PAUSE_QUANTA = 65_535
"""The longest pause of one frame: ``pause_time`` has 16 bits, in units of 512 bit times (IEEE 802.3-2018, 31B.2;
802.1Q-2018 clause 36 uses the same unit). A longer pause takes a second request: the congestion persists.
"""
MOST_TIME_IN_PAUSE = 0.3
"""The limit of the part of a run that one NIC port is paused. Cisco warns where a port of a lossless fabric waits for
its peer for 30 % of the time: ``counter txwait poll-interval 1 delta rising-threshold 30`` (MDS NX-OS 9.4(2a),
port-monitor policy fabricmon_edge_policy, read in the running configuration of a switch). That is Fibre Channel, whose
credits hold a port back as PFC does; of PFC no source states one."""
NOT_EVALUATED = "not evaluated"
"""The verdict on PFC load where the load is unknown."""
NOT_COMPUTED = "not computed"
"""The verdict on goodput at full load where it is unknown."""


class PfcLoad(NamedTuple):
    """The effect of PFC in the runs of one scenario: medians over ``seeds``.

    ``nics_paused`` is the share of NIC ports with any pause, ``time_in_pause`` the paused part of the run of the worst
    NIC port. ``longest_pause_us`` is the pause that is closest to its limit or furthest above it;
    ``longest_pause_limit_us`` depends on the rate of its link.
    """

    scenario: str
    seeds: int
    nics_paused: float
    longest_pause_us: float
    longest_pause_limit_us: float
    time_in_pause: float

    @property
    def above(self) -> tuple[str, ...]:
        """The values above their limits, in words; empty where all are within their limits."""
        longest, limit = self.longest_pause_us, self.longest_pause_limit_us
        exceeded = {
            f"{self.nics_paused:.0%} of NICs are paused (limit {MOST_NICS_PAUSED:.0%})": self.nics_paused
            > MOST_NICS_PAUSED,
            f"a pause lasts {longest:,.1f} us (limit {limit:,.1f} us)": longest > limit,
            f"a NIC is paused {self.time_in_pause:.0%} of the time (limit {MOST_TIME_IN_PAUSE:.0%})": (
                self.time_in_pause > MOST_TIME_IN_PAUSE
            ),
        }
        return tuple(text for text, is_above in exceeded.items() if is_above)

    @property
    def verdict(self) -> str:
        """The verdict: ``above limits`` if any value is above its limit, else ``within limits``."""
        return "above limits" if self.above else "within limits"


BufferVerdict = Literal["unsafe", "on the edge", "safe", "not checked"]
BUFFER_VERDICTS: tuple[BufferVerdict, ...] = ("unsafe", "on the edge", "safe", "not checked")
"""The verdicts, worst first; "not checked" has the least weight."""

HEADROOM_EDGE_FRAMES = 1
"""A headroom margin below this number of frames of the port's MTU is on the edge. Derived: a frame is stored whole or
dropped, so below one frame the result depends on the alignment of frames, as in packet-level simulation (ns-3.39,
inet-tub/ns3-datacenter @6ddb4a4), where groups used up to 99.6 % of the floor.
"""
HEADROOM_RATIO_EDGE = 1.0
"""Claims on a shared headroom pool above this ratio are on the edge, unless the intent declares more: SONiC
divides the sum by ``over_subscribe_ratio`` only where it is set (sonic-swss cfgmgr/buffer_pool_mellanox.lua
@1469e8d)."""
FAN_INS = (2, 8)
"""The numbers of senders of the reported incasts, beside the largest one of the topology: two is the tightest that
congests, eight the number of GPUs of one server.
"""


_SHOWN_ELEMENTS = 5
"""The most ports of one kind that a verdict names."""


class HeadroomCheck(NamedTuple):
    """The headroom of a lossless group against its need, in bytes.

    ``stated_bytes`` is ``xoff``; ``given_bytes`` is less where ``size`` does not back it
    (:func:`lossless.analysis.buffers.headroom.port.given_headroom`). ``method`` is the source of the need.
    ``margin_bytes`` is the rest beyond the closed-form floor if only the floor is known, else beyond the cable and one
    frame: a vendor's row has its own reserve.
    """

    given_bytes: int
    stated_bytes: int
    need_bytes: int
    method: Method
    floor_bytes: int | None
    cable_bytes: int
    cable_plus_mtu_bytes: int
    mtu_bytes: int
    margin_bytes: int


class FanIn(NamedTuple):
    """An incast of N (``senders``) ports: T(N) of each group, N x T(N) in the egress, and that less Kmin and Kmax."""

    senders: int
    group_bytes: int
    egress_bytes: int
    kmin_margin_bytes: int
    kmax_margin_bytes: int


class FanOut(NamedTuple):
    """One port that feeds n (``egresses``) congested queues: its threshold T(1), and that less n x Kmin and n x Kmax.

    No packet is marked while each queue is below Kmin, yet the group may hold n Kmin: here Kmin can be too high.
    Source: DCQCN, SIGCOMM'15, section 4.
    """

    egresses: int
    group_bytes: int
    kmin_margin_bytes: int
    kmax_margin_bytes: int


class PortVerdict(NamedTuple):
    """The verdict of one kind of lossless port and one priority, with its numbers and unknown inputs."""

    verdict: BufferVerdict
    switch: str
    switches: int
    ports: int
    elements: tuple[str, ...]
    priority: int
    speed_bps: int | None
    cable_m: int | None
    headroom: HeadroomCheck | None
    fan_in: tuple[FanIn, ...]
    fan_out: tuple[FanOut, ...]
    watchdog: Protection
    reasons: tuple[str, ...]
    not_checked: tuple[str, ...]


class PoolVerdict(NamedTuple):
    """The verdict of a pool: the headroom of all lossless groups of a kind of switch against it.

    ``ratio`` is None without shared headroom.
    """

    verdict: BufferVerdict
    switch: str
    switches: int
    pool: str
    groups: int
    headroom_bytes: int
    shared_headroom_bytes: int | None
    ratio: float | None
    accepted_ratio: float | None
    chip_bytes: int | None
    reasons: tuple[str, ...]


class FabricVerdict(NamedTuple):
    """The verdict of a fabric, those of its ports and pools, the reasons, and the inputs that were not checked."""

    overall: BufferVerdict
    lines: tuple[PortVerdict, ...]
    pools: tuple[PoolVerdict, ...]
    reasons: tuple[str, ...]
    not_checked: tuple[str, ...]


class _Part(NamedTuple):
    verdict: BufferVerdict
    reason: str


def fabric_verdict(view: View) -> FabricVerdict:
    """Return the verdict over every lossless port set and priority of a fabric.

    A fabric without a port with PFC is not checked: it has no lossless traffic. Switches with the dynamic model are
    checked with their computed buffers.
    """
    computed = with_computed_buffers(view.fabric)
    view = view if computed is view.fabric else View(computed)
    lines: list[PortVerdict] = []
    pools: list[PoolVerdict] = []
    missing: list[str] = []
    for sets in by_switch(view):
        markings = EcnMarkings(sets)
        lines += (_line(markings, ports, p) for ports in sets for p in ports.qos.pfc.priorities)
        sums = headroom_sums(sets)
        if isinstance(sums, MissingInput):
            missing.append(f"headroom sum: {sums.reason}")
        else:
            pools += map(_pool_line, sums)
    if not lines:
        missing.append(nothing_lossless(view.fabric))
    lossy, kept = _lossy_dscps(view)
    missing += lossy
    overall = _overall(lines, pools)
    verdicts: tuple[PortVerdict | PoolVerdict, ...] = (*lines, *pools)
    return FabricVerdict(
        overall="not checked" if overall == "safe" and lossy and not kept else overall,
        lines=tuple(_of_identical(lines)),
        pools=tuple(_pools_of_identical(pools)),
        reasons=_distinct(reason for verdict in verdicts for reason in verdict.reasons),
        not_checked=_distinct((*(reason for line in lines for reason in line.not_checked), *missing)),
    )


def _lossy_dscps(view: View) -> tuple[list[str], bool]:
    """Return texts for the named DSCPs that are lossy on ports with PFC, and whether any is lossless somewhere.

    Packets of such a DSCP do not use the headroom of these ports. A port that trusts 802.1p does not count.
    """
    named = [
        (dscp, ports)
        for ports in view.lossless_sets
        if ports.switch.classes.knowledge == "named" and not ports.qos.trust_dot1p
        for cls in ports.switch.classes.lossless
        for dscp in cls.dscps
    ]
    lossy = grouped((dscp, ports.places) for dscp, ports in named if not ports.qos.is_lossless(dscp))
    said = [
        f"DSCP {dscp} is lossy on {n} port{'s' * (n > 1)} with PFC; lint says why"
        for dscp, places in lossy.items()
        for n in [sum(places)]
    ]
    return said, len(named) > sum(map(len, lossy.values()))


def _of_identical(lines: Iterable[PortVerdict]) -> Iterator[PortVerdict]:
    """Yield one verdict for each kind of identical ports of several switches, with the name of the first switch."""
    same_of = grouped((line._replace(switch="", switches=0, ports=0, elements=()), line) for line in lines)
    for same in same_of.values():
        yield same[0]._replace(
            switches=_switches(same),
            ports=sum(line.ports for line in same),
            elements=tuple(element for line in same for element in line.elements)[:_SHOWN_ELEMENTS],
        )


def _pools_of_identical(pools: Iterable[PoolVerdict]) -> Iterator[PoolVerdict]:
    same_of = grouped((pool._replace(switch="", switches=0), pool) for pool in pools)
    yield from (same[0]._replace(switches=_switches(same)) for same in same_of.values())


def _switches(same: Iterable[PortVerdict | PoolVerdict]) -> int:
    """Return the number of switches of ``same``; verdicts with the same first switch count once."""
    return sum({line.switch: line.switches for line in same}.values())


def nothing_lossless(fabric: Fabric) -> str:
    """Return the reason for the absent verdict of a fabric without a port that pauses."""
    if fabric.declared and not fabric.classes.lossless:
        return "no class of the intent is lossless, and closed forms are of lossless classes"
    return "no port in service has PFC on"


def _worst(verdicts: Iterable[BufferVerdict]) -> BufferVerdict:
    return min(verdicts, key=BUFFER_VERDICTS.index, default="not checked")


def _overall(lines: Sequence[PortVerdict], pools: Sequence[PoolVerdict]) -> BufferVerdict:
    """Return the worst verdict of ports and pools; a pool that fits does not make ports with unknown inputs safe."""
    of_lines = _worst(line.verdict for line in lines)
    of_pools = _worst(pool.verdict for pool in pools)
    return of_lines if of_pools == "safe" else _worst((of_lines, of_pools))


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _line(markings: EcnMarkings, ports: PortSet, priority: int) -> PortVerdict:
    missing: list[str] = []
    check, headroom = _headroom(ports, priority)
    marks = markings.of(ports, priority)
    if isinstance(headroom, MissingInput):
        missing.append(f"headroom: {headroom.reason}")
    if isinstance(marks, MissingInput):
        missing.append(f"XOFF against ECN: {marks.reason}")
    watchdog = protection(ports)
    if watchdog == "unknown":
        missing.append(f"watchdog: {WATCHDOG_ELSEWHERE}")
    parts = [part for part in (headroom, _storm(watchdog), _port_claim(ports)) if isinstance(part, _Part)]
    known = marks if isinstance(marks, EcnMarking) else None
    return PortVerdict(
        # A missing headroom weighs more than a watchdog that runs: half a verdict is none.
        verdict=_combined(parts, complete=isinstance(headroom, _Part) and watchdog != "unknown"),
        switch=ports.switch.name,
        switches=len(ports.switches),
        ports=ports.places,
        elements=ports.elements[:_SHOWN_ELEMENTS],
        priority=priority,
        speed_bps=ports.speed_bps,
        cable_m=ports.cable.known_m,
        headroom=check,
        fan_in=_fan_ins(known) if known else (),
        fan_out=_fan_outs(known) if known else (),
        watchdog=watchdog,
        reasons=tuple(part.reason for part in parts if part.reason),
        not_checked=tuple(missing),
    )


def _combined(parts: Sequence[_Part], *, complete: bool) -> BufferVerdict:
    worst = _worst(part.verdict for part in parts)
    return worst if complete or worst in ("unsafe", "on the edge") else "not checked"


def _storm(watchdog: Protection) -> _Part:
    if watchdog in ("running", "unknown"):
        return _Part("safe", "")
    return _Part("unsafe", f"nothing ends a pause storm: watchdog {watchdog}")


def _port_claim(ports: PortSet) -> _Part:
    claim = claim_beyond_limit(ports)
    if claim is None:
        return _Part("safe", "")
    claimed, limit = format_bytes(claim.claimed_bytes), format_bytes(claim.limit_bytes)
    return _Part("unsafe", f"{claimed} of shared headroom at {_where(ports)}; the chip lends a port {limit}")


def _headroom(ports: PortSet, priority: int) -> tuple[HeadroomCheck | None, _Part | MissingInput]:
    profile = lossless_profile(ports, priority)
    if isinstance(profile, MissingInput):
        return None, profile
    where = _where(ports)
    if profile is None:
        return None, _Part("unsafe", f"PFC priority {priority} at {where} has no headroom")
    link = link_need(ports)
    if isinstance(link, MissingInput):
        return None, link
    if link.need is None:
        return None, MissingInput(f"no headroom need is known at {ports.rate}")
    check = _check(given_headroom(ports.switch, profile), profile, link, link.need)
    return check, _headroom_part(check, where)


def _where(ports: PortSet) -> str:
    speed = "unknown speed" if ports.speed_bps is None else format_rate(ports.speed_bps)
    return speed if ports.cable.known_m is None else f"{speed} over {ports.cable.known_m} m"


def _check(given: int, profile: BufferProfile, link: LinkNeed, need: HeadroomNeed) -> HeadroomCheck:
    base = need.headroom_bytes if need.method == "floor" else link.frame_bytes
    return HeadroomCheck(
        given_bytes=given,
        stated_bytes=profile.xoff_bytes,
        need_bytes=max(need.headroom_bytes, link.frame_bytes),
        method=need.method,
        floor_bytes=link.floor.headroom_bytes if link.floor else None,
        cable_bytes=link.cable_bytes,
        cable_plus_mtu_bytes=link.frame_bytes,
        mtu_bytes=link.mtu_bytes,
        margin_bytes=given - base,
    )


def _headroom_part(check: HeadroomCheck, where: str) -> _Part:
    given, need = format_bytes(check.given_bytes), format_bytes(check.need_bytes)
    if check.given_bytes < check.need_bytes:
        hollow = check.given_bytes < check.stated_bytes
        why = f", as size does not hold the xoff of {format_bytes(check.stated_bytes)}" if hollow else ""
        return _Part("unsafe", f"headroom at {where} is {given}{why}; {need} are needed ({check.method})")
    if check.margin_bytes < HEADROOM_EDGE_FRAMES * check.mtu_bytes:
        margin = format_bytes(check.margin_bytes)
        over = "the floor" if check.method == "floor" else "the cable and one frame"
        return _Part("on the edge", f"headroom at {where} is {given}, only {margin} over {over}")
    return _Part("safe", f"headroom at {where}: floor only" if check.method == "floor" else "")


def _fan_ins(ecn: EcnMarking) -> tuple[FanIn, ...]:
    numbers = sorted({n for n in (*FAN_INS, ecn.fan_in) if 2 <= n <= ecn.fan_in})
    return tuple(_fan_in(ecn, senders) for senders in numbers)


def _fan_in(ecn: EcnMarking, senders: int) -> FanIn:
    egress = int(ecn.trigger.egress_bytes(senders))
    return FanIn(
        senders=senders,
        group_bytes=int(ecn.trigger.threshold_bytes(senders)),
        egress_bytes=egress,
        kmin_margin_bytes=egress - ecn.kmin_bytes,
        kmax_margin_bytes=egress - ecn.kmax_bytes,
    )


def _fan_outs(ecn: EcnMarking) -> tuple[FanOut, ...]:
    numbers = sorted({n for n in (1, 2, ecn.fan_out) if n <= ecn.fan_out})
    group_bytes = int(ecn.trigger.threshold_bytes(1))
    return tuple(
        FanOut(n, group_bytes, group_bytes - n * ecn.kmin_bytes, group_bytes - n * ecn.kmax_bytes)
        for n in numbers
    )


def _pool_line(headroom: HeadroomSum) -> PoolVerdict:
    part = _pool_part(headroom)
    return PoolVerdict(
        verdict=part.verdict,
        switch=headroom.switch.name,
        switches=len(headroom.switches),
        pool=headroom.pool.name,
        groups=headroom.groups,
        headroom_bytes=headroom.headroom_bytes,
        shared_headroom_bytes=headroom.shared_bytes,
        ratio=None if headroom.ratio is None else round(headroom.ratio, 3),
        accepted_ratio=headroom.accepted,
        chip_bytes=headroom.chip_bytes,
        reasons=(part.reason,) if part.reason else (),
    )


def _pool_part(headroom: HeadroomSum) -> _Part:
    total = format_bytes(headroom.headroom_bytes)
    if not headroom.fits:
        return _Part("unsafe", f"headroom of {total} leaves nothing of the chip to share")
    accepted = headroom.accepted or HEADROOM_RATIO_EDGE
    # The sum and the pool are whole bytes of a ratio: a thousandth apart is the same.
    if headroom.ratio is not None and round(headroom.ratio, 3) > accepted:
        why = f"headroom of {total} is promised {headroom.ratio:.2f} times over {headroom.pool.name}"
        return _Part("on the edge", why)
    return _Part("safe", "")
