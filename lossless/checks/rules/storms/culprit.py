"""The culprit: the device and port that most evidence of captures points to, also of a storm that is over.

A host that pauses its switch is a receiver that does not drain; a switch that sends pauses and receives none has a full
egress; a port to which pauses are sent is a victim. What a port received is never compared with what it sent: healthy
ports have tens to hundreds of both. What counts as a receiver that does not drain:

- with the time between two captures: a port whose host had it paused for :data:`SLOW_SHARE` of it, by the pause
  duration that the switch counts, else at most so by frames of the longest pause each, and that sent less than line
  rate in the rest of the time;
- without that time: a port that received at least :data:`LEAST_PAUSES` pauses, and :data:`FAR_ABOVE` times the median
  of the ports beside it, or at which the watchdog detected storms.

Where no host pauses its switch, pauses that lead around a cycle have no culprit: the cycle is the answer. An egress at
line rate without pauses from its host is an incast. Links are rated by damaged frames and by codewords that FEC could
not correct, per frame, and by losses of the link that a NIC counts; corrected codewords are normal on PAM4.

Frames of a lossless class leave a switch in the class in which they came. A switch that sends none of them has no map
of their DSCP; where only those of one port without a map are missing, that port has none; where only those of one host
are, no map has the DSCP of that host. Links between the ASICs of a
switch are inside of it: their pauses are left out.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Literal

from lossless.checks.rules.counting import (
    INTERNAL,
    Count,
    count_of,
    counted,
    each,
    egress_bps,
    elapsed_s,
    lossless_drops,
    sent_by_class,
)
from lossless.checks.rules.host_counters.nics import (
    nics,
    pausing_signs,
    pfc_priorities,
    rdma_inside,
    sent_pauses,
)
from lossless.checks.rules.pfc.priorities import leads_to_lossless
from lossless.checks.rules.storms.pause_walk import SWITCH_PORT, Neighbor, PausedPort, PauseWalk
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import listed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from lossless.checks.rules.counting import ClassSent
    from lossless.checks.rules.host_counters.nics import Nic
    from lossless.checks.rules.running_subjects import RunningDevice, RunningFabric
    from lossless.checks.rules.storms.pause_walk import Arrived, Heard, WrongCable
    from lossless.ground.basics.findings import Confidence, Origin

Kind = Literal["host", "NIC", "link", "switch", "switch port", "workload", "cycle", "none"]
"""The kind of a culprit. ``none``: pauses or losses were seen, and the captures do not show their cause."""

SLOW_SHARE = 0.01
"""Share of the time (ours) from which a host that pauses its switch is a slow receiver."""
LEAST_PAUSES = 10_000
"""Pauses (ours) from which traffic may have stopped where the time is not known: at 400G they last up to 0.84 s."""
FAR_ABOVE = 100
"""The multiple (ours) of the median of the ports beside it that a port has to receive; where the time is unknown."""
_FEW_PAUSES = 1_000
"""Pauses below which a share of the time that they only bound proves nothing."""
_ABOVE_NEXT = 10
"""The multiple of the pauses of any other port that a port has to receive, where its neighbor is not known."""
_PAUSE_BITS = 65_535 * 512
"""Bit times of the longest pause that one frame asks for (IEEE 802.3-2018, annex 31B: quanta of 512 bit times)."""
_SHORTEST_STORM_S = 0.1
"""The shortest time of pauses for which a watchdog detects a storm: the least detection time of SONiC."""
_LEAST_STORMS = 5
"""Storms since boot from which a port counts as stormed where no capture has its pauses."""
_ASSUMED_BPS = 100e9
_LINE_RATE = 0.9
_BUSY = 0.2
"""Least average part of line rate of the one egress that is an outlier where traffic came for some of the time only."""
_AS_MANY = 0.1
"""The share by which the counts at both ends of a link may differ: they are not read at one instant."""
_LEAST_ERRORS = 10
_LEAST_FRAMES = 1_000_000
_BAD_FRAMES = 1e-7
"""Damaged frames per frame from which a link is bad: three times what a bit error ratio of 10^-12, the objective of
IEEE 802.3 for 25G and 100G links, damages of frames of 4 KiB (3.3e-8)."""
_FLAPS = 2
_OUTSIDE = 0.1
"""The share (ours) of its packets of a lossless class up to which a device counts as one that sends none in it."""
_MISSING = 0.05
"""The share (ours) of the packets that came to a switch in a lossless class from which on they are missing there."""
_LOST = 0.01
"""The share (ours) of them from which on the losses of other queues are theirs."""
_STOPS_S, _FRAME_BYTES = 50e-6, 4178
"""The time (ours) in which a sender obeys a pause: 4 km of cable and its reaction; and a RoCEv2 frame of 4 KiB."""
_UNANSWERED = frozenset({12, 13})
"""Status of a completion whose peer did not answer, or had no buffer (rdma-core libibverbs/verbs.h @85d8a41)."""
_DAMAGE = {
    "in_errors": "frames with errors",
    "fec_uncorrected_codewords": "codewords that FEC could not correct",
}
"""Counters of a switch port of damaged frames and codewords, with their words."""


class CulpritEvidence(NamedTuple):
    """One fact that supports an answer, and the place of its value."""

    text: str
    origin: Origin


class Culprit(NamedTuple):
    """The device and port that most evidence points to, the kind of the culprit, and the confidence.

    ``port`` is empty where only the device is known; ``seen_at`` is the port at which it was seen (``leaf3
    Ethernet36``), if known. ``since_boot``: counts of one capture, which may be of any day. ``evidence`` begins with
    the strongest fact, ``against`` are facts that contradict, ``missing`` are captures that would make the answer
    surer. ``weight`` orders answers: the pauses that were counted of a culprit.
    """

    kind: Kind
    device: str
    port: str
    what: str
    evidence: tuple[CulpritEvidence, ...]
    help: str
    confidence: Confidence = "low"
    since_boot: bool = False
    seen_at: str = ""
    priority: str = ""
    against: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    weight: int = 0


class _PausingPort(NamedTuple):
    """A port of a switch: the pauses of one priority that it received and sent, and its detected storms."""

    device: RunningDevice
    name: str
    priority: str
    counts: Mapping[str, Count]
    neighbor: Neighbor | None

    @property
    def shown(self) -> str:
        return f"{self.device.name} {self.name}"

    @property
    def received(self) -> int:
        return self.counts["pfc_rx"].amount if "pfc_rx" in self.counts else 0

    @property
    def sent(self) -> int:
        return self.counts["pfc_tx"].amount if "pfc_tx" in self.counts else 0

    @property
    def storms(self) -> int:
        return self.counts["pfcwd_detected"].amount if "pfcwd_detected" in self.counts else 0

    @property
    def speed_bps(self) -> int | None:
        port = self.device.ports.get(self.name)
        return None if port is None else port.speed_bps

    @property
    def faces_switch(self) -> bool:
        return self.neighbor is not None and self.neighbor.to_host is False

    @property
    def pauses_s(self) -> float:
        """The longest time in seconds that received frames can pause the port, at 100G where its speed is unknown."""
        return self.received * _PAUSE_BITS / (self.speed_bps or _ASSUMED_BPS)

    @property
    def is_stormed(self) -> bool:
        """Whether the watchdog detected storms at the port and, where pauses are counted, enough of them arrived.

        A few storms or pauses since boot prove little: a host that boots can pause its switch for a while.
        """
        if "pfc_rx" not in self.counts:
            return self.storms >= (_LEAST_STORMS if self.since_boot else 1)
        enough = self.received >= LEAST_PAUSES if self.since_boot else self.pauses_s >= _SHORTEST_STORM_S
        return self.storms > 0 and enough

    @property
    def is_paused(self) -> bool:
        return self.received >= LEAST_PAUSES or self.is_stormed

    @property
    def since_boot(self) -> bool:
        return not any(
            self.counts[name].between for name in ("pfc_rx", "pfcwd_detected") if name in self.counts
        )


def culprits(fabric: RunningFabric) -> tuple[Culprit, ...]:
    """Return the culprits of pauses and losses by the captures, those of most pauses first; empty without any.

    Hosts that pause their switches come first. Where there are none, it is the cycle, the workload or the switch that
    pauses come from. Devices that send outside of the class, bad links, and ports that dropped follow.
    """
    found: list[Culprit] = []
    between_switches: list[Culprit] = []
    for priority, devices in _pauses(fabric).items():
        walk = PauseWalk(fabric, priority)
        ports = [
            _PausingPort(device, port, priority, counts, _neighbor(walk, device, port))
            for device, port, counts in devices
        ]
        found += _receivers(fabric, walk, ports)
        between_switches += _between_switches(walk, ports)
    found += _nics_alone(fabric, found)
    found = sorted(found or _shown(between_switches), key=lambda culprit: -culprit.weight)
    outside = list(_outside(fabric))
    named = {culprit.device for culprit in outside}
    return (*_each_once([*found, *outside]), *_links(fabric), *_drops(fabric, named))


def _shown(found: Sequence[Culprit]) -> Sequence[Culprit]:
    """Return the answers that name a cause; without one only the heaviest of the others."""
    causes = [culprit for culprit in found if culprit.kind != "none"]
    return causes or sorted(found, key=lambda culprit: -culprit.weight)[:1]


def _each_once(found: Iterable[Culprit]) -> Iterator[Culprit]:
    """Yield the first answer of each device and port: one fault can pause several priorities."""
    seen: set[tuple[str, str]] = set()
    for culprit in found:
        if (culprit.device, culprit.port) not in seen:
            seen.add((culprit.device, culprit.port))
            yield culprit


def _pauses(
    fabric: RunningFabric,
) -> Mapping[str, Sequence[tuple[RunningDevice, str, Mapping[str, Count]]]]:
    """Return pauses received and sent, and storms, of each port of a switch, by the priorities that have any."""
    found: dict[str, list[tuple[RunningDevice, str, Mapping[str, Count]]]] = {}
    for device in fabric.devices:
        counts: dict[tuple[str, str], dict[str, Count]] = {}
        for name, kind in (("pfc_rx", "priority"), ("pfc_tx", "priority"), ("pfcwd_detected", "queue")):
            for placed in each(device.state, name, "port", kind):
                count = counted(device, placed, "port", kind)
                if isinstance(count, Count) and not INTERNAL.match(count.port):
                    key = (placed.part(kind) or "", placed.part("port") or "")
                    counts.setdefault(key, {})[name] = count
        for (priority, port), of_port in counts.items():
            found.setdefault(priority, []).append((device, port, of_port))
    return {
        priority: ports
        for priority, ports in found.items()
        if any(count.amount for *_, counts in ports for count in counts.values())
    }


def _neighbor(walk: PauseWalk, device: RunningDevice, port: str) -> Neighbor | None:
    """Return the neighbor at a port or None; one of unknown kind is a switch by its captures, or its port's name."""
    neighbor = walk.neighbor(PausedPort(device, port))
    if neighbor is None or neighbor.to_host is not None:
        return neighbor
    captured = walk.device(neighbor.name)
    is_switch = captured is not None and any(True for _ in captured.state.named("pfc_rx", "port"))
    return neighbor._replace(to_host=False) if is_switch or SWITCH_PORT.match(neighbor.port) else neighbor


def _receivers(fabric: RunningFabric, walk: PauseWalk, ports: Sequence[_PausingPort]) -> Iterator[Culprit]:
    """Yield the hosts, or other connected devices, that pause their switches."""
    for beside in grouped((port.device.name, port) for port in ports).values():
        for port in beside:
            said = None if port.faces_switch else _does_not_drain(port, beside, ports)
            if said is not None:
                yield _receiver(fabric, walk, port, said, ports)


def _does_not_drain(
    port: _PausingPort, beside: Sequence[_PausingPort], ports: Sequence[_PausingPort]
) -> str | None:
    """Return the sign that the neighbor of a port is a receiver that does not drain, as text; None without one."""
    known = port.neighbor is not None
    others = [
        other.received
        for other in beside
        if other is not port and "pfc_rx" in other.counts and not (known and other.faces_switch)
    ]
    usual = median(others) if others else 0
    share = _share(port) if known else None
    if share is not None:
        value, is_bound = share
        # A few hundred pauses are usual, however short the time.
        is_usual = is_bound and port.received < max(_FEW_PAUSES, _ABOVE_NEXT * usual)
        if value < SLOW_SHARE or is_usual or _is_full(port, 0 if is_bound else value):
            return None
        return f"it was paused for {'at most ' if is_bound else ''}{value:.1%} of the time"
    if known and port.is_stormed and port.received < LEAST_PAUSES:
        return "its watchdog found it stormed"
    least = LEAST_PAUSES if others else FAR_ABOVE * LEAST_PAUSES
    if port.received < max(least, FAR_ABOVE * usual) or not (known or _is_alone(port, ports)):
        return None
    if not others:
        return "no other port was captured"
    return f"the median of {len(others)} other {'port' if len(others) == 1 else 'ports'} is {usual:,.0f}"


def _is_alone(port: _PausingPort, ports: Sequence[_PausingPort]) -> bool:
    """Return whether a port with an unknown neighbor received far more pauses than any other, and no switch sent them.

    A switch that passes pauses on sends about as many as its neighbor receives.
    """
    others = [other for other in ports if other is not port]
    return (
        len({other.device.name for other in ports}) > 1
        and all(port.received >= _ABOVE_NEXT * other.received for other in others)
        and not any(
            other.device is not port.device and _is_as_many(other.sent, port.received) for other in others
        )
    )


def _share(port: _PausingPort) -> tuple[float, bool] | None:
    """Return the share of the time for which a port was paused, and whether that is an upper bound by frames.

    None where it counts from no earlier capture, or the time between them is not known.
    """
    count, time_s = port.counts.get("pfc_rx"), elapsed_s(port.device)
    if count is None or not count.between or time_s is None:
        return None
    lasted = count_of(port.device, "pause_duration", port=port.name, priority=port.priority)
    if isinstance(lasted, Count) and lasted.between:
        unit = 1e3 if lasted.placed.reading.unit == "ms" else 1e6
        return min(1.0, lasted.amount / unit / time_s), False
    return min(1.0, port.pauses_s / time_s), True


def _egress_share(port: _PausingPort) -> float:
    rate = egress_bps(port.device, port.name)
    return 0 if rate is None or port.speed_bps is None else rate / port.speed_bps


def _is_full(port: _PausingPort, paused: float) -> bool:
    """Return whether a port sent at line rate while it was not paused; False if it never sent."""
    share = _egress_share(port)
    return share > 0 and share >= _LINE_RATE * (1 - paused)


def _receiver(
    fabric: RunningFabric, walk: PauseWalk, port: _PausingPort, said: str, ports: Sequence[_PausingPort]
) -> Culprit:
    nic, declared = _nic_of(walk, port), port.neighbor
    sent = None if nic is None else sent_pauses(nic, port.priority)
    if sent is not None and sent * FAR_ABOVE < port.received:
        nic = _elsewhere(fabric, port, ports) or nic
    if nic is not None and declared is not None and nic.host != declared.name:
        port = port._replace(neighbor=Neighbor(nic.host, nic.name, to_host=True))
    neighbor = port.neighbor
    own = () if nic is None else pausing_signs(nic)
    sent = None if nic is None else sent_pauses(nic, port.priority)
    seconded = port.is_stormed or bool(own) or (sent is not None and sent >= LEAST_PAUSES)
    silent = sent is not None and sent * FAR_ABOVE < port.received
    confidence: Confidence = "medium" if seconded or not port.since_boot else "low"
    if seconded and not port.since_boot and neighbor is not None and not silent:
        confidence = "high"
    device, name = (port.device.name, port.name) if neighbor is None else (neighbor.name, neighbor.port)
    return Culprit(
        kind="NIC" if silent or (nic is not None and nic.count("pause_storm_errors")) else "host",
        device=device,
        port=name,
        what="a receiver that does not drain: it pauses its switch"
        if neighbor is not None
        else "what is connected there does not drain: it pauses its switch",
        confidence=confidence,
        since_boot=port.since_boot,
        evidence=(
            *_at_switch(port, said),
            *([] if nic is None else _of_nic(nic, port.priority)),
            *_spread(port, ports),
            *_victims(fabric, port.priority, _peer(port)),
            *_of_jobs(fabric, _peer(port)),
        ),
        help=_remedy(own, f"{device} {name}", port),
        seen_at=port.shown,
        priority=port.priority,
        against=tuple(_against(port, declared, sent, silent=silent)),
        missing=tuple(_missing(port, nic)),
        weight=port.received,
    )


def _at_switch(port: _PausingPort, said: str) -> Iterator[CulpritEvidence]:
    count = port.counts.get("pfc_rx")
    if count is not None:
        text = f"{port.shown} received {count.amount:,} pauses of priority {port.priority} {count.window}; {said}"
        yield CulpritEvidence(text, count.placed.origin)
    storms = port.counts.get("pfcwd_detected")
    if storms is not None and storms.amount:
        times = f"{storms.amount:,} {'storm' if storms.amount == 1 else 'storms'}"
        yield CulpritEvidence(
            f"the watchdog detected {times} at {port.shown} {storms.window}", storms.placed.origin
        )


def _nic_of(walk: PauseWalk, port: _PausingPort) -> Nic | None:
    """Return the captured NIC at a port's other end by its name, else the host's only one; None without a match.

    Of several other NICs it is one that sent as many pauses as the port received.

    An intent calls the ports of a host ``port1``, ``port2``; its NICs have the names of interfaces.
    """
    host = None if port.neighbor is None else walk.device(port.neighbor.name)
    own = () if host is None else nics(host)
    named = next((nic for nic in own if port.neighbor and nic.name == port.neighbor.port), None)
    if named is not None or len(own) == 1:
        return named or own[0]
    return next((nic for nic in own if _is_as_many(sent_pauses(nic, port.priority), port.received)), None)


def _elsewhere(fabric: RunningFabric, port: _PausingPort, ports: Sequence[_PausingPort]) -> Nic | None:
    """Return the only NIC that sent as many pauses as a port received; None without one, or with several.

    NICs of hosts at any port that received as many pauses are left out.
    """
    at_home = {_peer(other) for other in ports if _is_as_many(port.received, other.received)}
    as_many = [
        nic
        for device in fabric.devices
        for nic in nics(device)
        if nic.host not in at_home and _is_as_many(sent_pauses(nic, port.priority), port.received)
    ]
    return as_many[0] if len(as_many) == 1 else None


def _is_as_many(one: int | None, other: int) -> bool:
    return one is not None and abs(one - other) <= _AS_MANY * max(one, other)


def _of_nic(nic: Nic, priority: str) -> Iterator[CulpritEvidence]:
    """Yield the counts of a NIC's pauses and of the reasons for them, as evidence."""
    placed = nic.parts("pfc_tx", "priority").get(int(priority))
    if placed is not None and placed.number is not None:
        lasted = nic.parts("pfc_tx_us", "priority").get(int(priority))
        seconds = "" if lasted is None or not lasted.number else f", {lasted.number / 1e6:,.1f} s in all"
        text = f"{nic.host} {nic.label} sent {placed.number:,} pauses of priority {priority} {nic.window}{seconds}"
        yield CulpritEvidence(text, placed.origin)
    for name, text in pausing_signs(nic):
        sign = nic.placed(name)
        if sign is not None:
            yield CulpritEvidence(f"{nic.host} {nic.label}: {text}", sign.origin)


def _spread(start: _PausingPort, ports: Sequence[_PausingPort]) -> Iterator[CulpritEvidence]:
    """Yield the switches that passed the pauses on, each once, along links that are known, as evidence."""
    by_device = grouped((port.device.name, port) for port in ports)
    seen, queue = {start.device.name}, [start.device.name]
    while queue:
        name = queue.pop(0)
        passed = [port for port in by_device[name] if port is not start and port.sent >= LEAST_PAUSES]
        if passed:
            total = sum(port.sent for port in passed)
            where = listed([port.name for port in passed], most=1)
            text = f"{name} sent {total:,} pauses on, at {where}"
            yield CulpritEvidence(text, passed[0].counts["pfc_tx"].placed.origin)
        for port in passed:
            if port.faces_switch and port.neighbor is not None and port.neighbor.name in by_device:
                peer = port.neighbor.name
                if peer not in seen:
                    seen.add(peer)
                    queue.append(peer)


def _victims(fabric: RunningFabric, priority: str, culprit: str) -> Iterator[CulpritEvidence]:
    """Yield the captured NICs that were paused, without those of the culprit, as one fact."""
    paused = [
        (nic, placed)
        for device in fabric.devices
        for nic in nics(device)
        for number, placed in nic.parts("pfc_rx", "priority").items()
        if str(number) == priority and (placed.number or 0) >= LEAST_PAUSES and nic.host != culprit
    ]
    if paused:
        names = listed([f"{nic.host} {nic.label}" for nic, _ in paused], most=3)
        yield CulpritEvidence(f"paused by it, and victims: {names}", paused[0][1].origin)


def _of_jobs(fabric: RunningFabric, host: str) -> Iterator[CulpritEvidence]:
    """Yield the first failure of a job's log on a connection to a host, as evidence."""
    addresses = {
        placed.reading.value
        for device in fabric.devices
        for placed in device.state.every("address")
        if host and (placed.part("host") or device.name) == host
    }
    for device in fabric.devices:
        for placed in device.state.every("wc_status"):
            peer = (placed.part("peer") or "").partition("<")[0]
            if peer in addresses and placed.number in _UNANSWERED:
                text = f"a job on {placed.part('host') or device.name} got error {placed.number} from {host}"
                yield CulpritEvidence(text, placed.origin)
                return


def _against(
    port: _PausingPort, declared: Neighbor | None, sent: int | None, *, silent: bool
) -> Iterator[str]:
    if declared is not None and declared != port.neighbor:
        yield f"{declared.name} is declared there, and its NIC sent next to no pauses: the cable may be another"
    watched = port.counts.get("pfcwd_detected")
    if watched is not None and not watched.amount:
        yield f"the watchdog of {port.device.name} detected no storm at {port.name}: it is slow rather than stuck"
    if port.storms and not port.is_stormed:
        yield f"the received pauses last at most {port.pauses_s:.3f} s, too short for the storms of the watchdog"
    if silent:
        yield f"its NIC counts {sent:,} sent pauses: a NIC that has failed does not count, or it is another link"
    elif sent is not None and not _is_as_many(sent, port.received):
        yield f"its NIC counts {sent:,} sent pauses, {port.shown} {port.received:,}"


def _missing(port: _PausingPort, nic: Nic | None) -> Iterator[str]:
    if port.since_boot:
        yield "an earlier capture (--since): these counts began at boot or a clear, and may be of any day"
    elif elapsed_s(port.device) is None:
        yield "the times of the captures: without them the share of time is not known"
    if port.neighbor is None:
        yield f"what is connected to {port.shown}: an intent, DEVICE_NEIGHBOR, or show lldp table"
    elif nic is None:
        yield f"counters of {port.neighbor.name} (ethtool -S)"


def _remedy(own: Sequence[tuple[str, str]], name: str, port: _PausingPort) -> str:
    if any(sign.startswith("outbound_pci") for sign, _ in own):
        return f"take {name} out of the job; look at its PCIe link, memory and IOMMU"
    return f"take {name} out of the job, and restart its NIC; if it pauses {port.shown} again, replace it"


def _nics_alone(fabric: RunningFabric, found: Sequence[Culprit]) -> Iterator[Culprit]:
    """Yield NICs that pause their switches by their own counters, where no capture of a switch has named the host."""
    named = {culprit.device for culprit in found}
    counts = [
        (device, nic, number, placed)
        for device in fabric.devices
        for nic in nics(device)
        for number, placed in nic.parts("pfc_tx", "priority").items()
    ]
    for device, nic, number, placed in counts:
        sent = placed.number or 0
        others = [other.number or 0 for _, _, own, other in counts if own == number and other is not placed]
        if nic.host in named or not _pauses_its_switch(device, nic, number, sent, others):
            continue
        signs, since_boot = pausing_signs(nic), nic.whole is None
        same = [each_of for each_of in found if _is_as_many(sent, each_of.weight)]
        evidence = (
            *_of_nic(nic, str(number)),
            *(
                CulpritEvidence(f"{each_of.seen_at} received as many: likely the other end", placed.origin)
                for each_of in same
            ),
            *_victims(fabric, str(number), nic.host),
            *_of_jobs(fabric, nic.host),
        )
        yield Culprit(
            kind="NIC" if nic.count("pause_storm_errors") else "host",
            device=nic.host,
            port=nic.name,
            what="a receiver that does not drain: it pauses its switch",
            confidence="low" if since_boot and not signs else "medium" if since_boot or not signs else "high",
            since_boot=since_boot,
            evidence=evidence,
            help=f"take {nic.host} {nic.label} out of the job; look at its PCIe link, memory and IOMMU"
            if signs
            else f"take {nic.host} {nic.label} out of the job, and restart its NIC",
            seen_at=same[0].seen_at if len(same) == 1 else "",
            priority=str(number),
            missing=(
                *(["an earlier capture (--since): these counts may be of any day"] if since_boot else []),
                "counters of its switch (show pfc counters), and what is connected to what",
            ),
            weight=sent,
        )


def _pauses_its_switch(
    device: RunningDevice, nic: Nic, priority: int, sent: int, others: Sequence[int]
) -> bool:
    """Return whether a NIC pauses its switch: it counts storms of its own, or pauses for a share of the time.

    Where that share is unknown: it pauses often, and with signs of a cause or far more often than others.
    """
    lasted, time_s = nic.parts("pfc_tx_us", "priority").get(priority), elapsed_s(device)
    if sent and nic.count("pause_storm_errors"):
        return True
    if nic.whole is not None and time_s is not None and lasted is not None and lasted.number is not None:
        return lasted.number / 1e6 >= SLOW_SHARE * time_s
    if sent < LEAST_PAUSES:
        return False
    if not others:
        return bool(pausing_signs(nic)) or (nic.whole is not None and sent >= FAR_ABOVE * LEAST_PAUSES)
    return bool(pausing_signs(nic)) or sent >= FAR_ABOVE * max(median(others), 1)


def _between_switches(walk: PauseWalk, ports: Sequence[_PausingPort]) -> Iterator[Culprit]:
    """Yield the cycle of pauses, else the switches from which pauses come that no host sent."""
    by_device = grouped((port.device.name, port) for port in ports)
    paused = {(port.device.name, port.name): port for port in ports if port.faces_switch and port.is_paused}
    cycle = _cycle(walk, paused)
    if cycle:
        yield _cycle_answer(cycle)
        return
    for name, own in by_device.items():
        passed = [port for port in own if port.sent >= LEAST_PAUSES]
        into = [
            port
            for port in own
            if port.is_paused
            and not (port.neighbor and port.neighbor.to_host)
            # Storms of any day are STM005's.
            and (port.received or not port.since_boot)
        ]
        if passed and not into:
            yield _source(own[0].device, own, max(passed, key=lambda port: port.sent))
        elif into and all(port.neighbor is None or port.neighbor.name not in by_device for port in into):
            yield _beyond(name, max(into, key=lambda port: port.received))


def _cycle(walk: PauseWalk, paused: Mapping[tuple[str, str], _PausingPort]) -> tuple[_PausingPort, ...]:
    """Return the paused ports of a cycle, in the order of the pauses; empty without one.

    A port waits for the paused ports of its neighbor to which that one may forward its traffic: not those back to it,
    and not those up again, unless the watchdog found both stormed.
    """
    by_device = grouped((name, port) for (name, _), port in paused.items())

    def onward(port: _PausingPort) -> list[_PausingPort]:
        assert port.neighbor is not None
        return [
            after
            for after in by_device.get(port.neighbor.name, ())
            if after.neighbor is not None
            and after.neighbor.name != port.device.name
            and (
                walk.goes_on(after.device, after.name, port.device) or (port.is_stormed and after.is_stormed)
            )
        ]

    done: set[tuple[str, str]] = set()
    for start in paused:
        path: list[tuple[_PausingPort, Iterator[_PausingPort]]] = []
        if start not in done:
            path.append((paused[start], iter(onward(paused[start]))))
        while path:
            port, rest = path[-1]
            after = next(rest, None)
            if after is None:
                done.add((port.device.name, port.name))
                path.pop()
                continue
            on_path = [each_of for each_of, _ in path]
            if after in on_path:
                return tuple(on_path[on_path.index(after) :])
            if (after.device.name, after.name) not in done:
                path.append((after, iter(onward(after))))
    return ()


def _cycle_answer(cycle: Sequence[_PausingPort]) -> Culprit:
    names = [port.device.name for port in cycle]
    since_boot = all(port.since_boot for port in cycle)
    stormed = sum(port.is_stormed for port in cycle)
    return Culprit(
        kind="cycle",
        device=names[0],
        port=cycle[0].name,
        what=f"a cyclic buffer dependency, of which no device is guilty: {' < '.join([*names, names[0]])}",
        confidence="high" if stormed == len(cycle) and not since_boot else "low" if since_boot else "medium",
        since_boot=since_boot,
        evidence=tuple(fact for port in cycle for fact in _at_switch(port, f"{_peer(port)} pauses it")),
        help="change the routing so that no path goes up again after it went down, and see lossless lint (TOP001)",
        seen_at=cycle[0].shown,
        priority=cycle[0].priority,
        against=()
        if stormed
        else ("no watchdog detected a storm in the cycle: the pauses may be of different times",),
        missing=("an earlier capture (--since)",) if since_boot else (),
        weight=sum(port.received for port in cycle),
    )


def _peer(port: _PausingPort) -> str:
    return "" if port.neighbor is None else port.neighbor.name


def _source(device: RunningDevice, own: Sequence[_PausingPort], most: _PausingPort) -> Culprit:
    """Return the answer for a switch that no switch pauses and that pauses others: an incast if an egress is full."""
    since_boot = not most.counts["pfc_tx"].between
    text = (
        f"{most.shown} sent {most.sent:,} pauses of priority {most.priority} {most.counts['pfc_tx'].window}"
    )
    evidence = [
        CulpritEvidence(text, most.counts["pfc_tx"].placed.origin),
        *(
            CulpritEvidence(
                f"{device.name} received no storm of pauses at its {len(own)} ports", count.placed.origin
            )
            for count in [own[0].counts.get("pfc_rx")]
            if count is not None
        ),
    ]
    full = _full(device, own)
    if not full:
        return Culprit(
            kind="none",
            device=device.name,
            port="",
            what=f"{device.name} sends pauses and receives none: an incast, or an egress that is slow",
            since_boot=since_boot,
            evidence=tuple(evidence),
            help=f"capture show interfaces counters of {device.name} while it lasts",
            priority=most.priority,
            missing=(f"the rates of the egress ports of {device.name} in that time",),
            weight=most.sent,
        )
    names = [f"{port.name}{f' to {port.neighbor.name}' if port.neighbor else ''}" for port, _, _ in full]
    port = full[0][0]
    measured = egress_bps(device, port.name) is not None
    last_poll = "the rates are those of the last poll, and need not be of the time of the pauses"
    return Culprit(
        kind="workload",
        device=device.name,
        port=port.name,
        what=f"an incast: {listed(names)} is where traffic meets, and no device is at fault",
        confidence="low" if not measured else "high" if _egress_share(port) >= _LINE_RATE else "medium",
        since_boot=since_boot,
        evidence=(*evidence, *(CulpritEvidence(words, origin) for _, words, origin in full)),
        help="spread the traffic, or let DCQCN slow it down before PFC does",
        seen_at=port.shown,
        priority=most.priority,
        against=() if measured else (last_poll,),
        missing=() if measured else (f"two captures of the database of {device.name}, with their times",),
        weight=most.sent,
    )


def _full(device: RunningDevice, own: Sequence[_PausingPort]) -> list[tuple[_PausingPort, str, Origin]]:
    """Return the ports that send at line rate, or stand out, each as text: between captures, else in the last poll."""
    found = []
    rated = [port for port in own if port.speed_bps is not None and egress_bps(device, port.name) is not None]
    sending = sorted(rated, key=lambda port: -_egress_share(port))
    for rank, port in enumerate(sending):
        share = _egress_share(port)
        sent = device.state.of("out_bytes", port=port.name)
        # Of an incast of some of the time the average is lower: that of one port stands out.
        stands_out = (
            rank == 0 and share >= _BUSY and all(share >= 2 * _egress_share(other) for other in sending[1:])
        )
        if sent is not None and (share >= _LINE_RATE or stands_out):
            words = f"{port.shown} sent at {share:.0%} of line rate between the captures"
            found.append((port, words, sent.origin))
    for port in own:
        shown = device.state.of("out_utilization", port=port.name)
        percent = 0 if shown is None else shown.reading.value
        if shown and port not in rated and isinstance(percent, int | float) and percent >= 100 * _LINE_RATE:
            words = f"{port.shown} sends at {percent:.0f} % of line rate in the last poll"
            found.append((port, words, shown.origin))
    return found


def _beyond(name: str, most: _PausingPort) -> Culprit:
    """Return the answer for a switch that is paused by a device that no capture shows."""
    peer = f"{_peer(most)}, which no capture shows" if _peer(most) else f"what is connected to {most.shown}"
    return Culprit(
        kind="none",
        device=name,
        port=most.name,
        what=f"the pauses come from {peer}",
        since_boot=most.since_boot,
        evidence=tuple(_at_switch(most, "no host is known to be there")),
        help=f"capture {_peer(most)}"
        if _peer(most)
        else "name what is connected: an intent, or show lldp table",
        seen_at=most.shown,
        priority=most.priority,
        missing=(f"captures of {_peer(most) or 'the device at ' + most.shown}",),
        weight=most.received,
    )


def _links(fabric: RunningFabric) -> Iterator[Culprit]:
    """Yield cables in wrong ports, and links that damaged frames or went down repeatedly, by the end that received."""
    yield from map(_wrong_cable, PauseWalk(fabric, "").wrong_cables())
    for device in fabric.devices:
        for nic in nics(device):
            counts = [
                sum(placed.number or 0 for placed in nic.parts("priority_rx_packets", "priority").values())
            ]
            counts += [nic.count("rx_packets") or 0, nic.count("rx_vport_rdma_unicast_packets") or 0]
            damaged = nic.placed("rx_crc_errors_phy")
            if damaged is not None and _is_bad(damaged.number, max(counts), since_boot=nic.whole is None):
                of = f"{damaged.number:,} frames with a wrong CRC of {max(counts):,}"
                text = f"{nic.host} {nic.label}: {of} {nic.window}"
                yield _link(nic.host, nic.name, nic.whole is None, CulpritEvidence(text, damaged.origin))
            downs = nic.placed("link_downed")
            if nic.whole is not None and downs is not None and (downs.number or 0) >= _FLAPS:
                text = f"{nic.host} {nic.label} lost its link {downs.number:,} times {nic.window}"
                yield _link(nic.host, nic.name, since_boot=False, fact=CulpritEvidence(text, downs.origin))
        for name, words in _DAMAGE.items():
            for placed in each(device.state, name, "port"):
                count = counted(device, placed, "port")
                port = placed.part("port") or ""
                frames = _frames(device, port)
                if isinstance(count, Count) and _is_bad(count.amount, frames, since_boot=not count.between):
                    text = (
                        f"{device.name} {port}: {count.amount:,} {words}, of {frames:,} frames {count.window}"
                    )
                    yield _link(device.name, port, not count.between, CulpritEvidence(text, placed.origin))


def _frames(device: RunningDevice, port: str) -> int:
    counts = [count_of(device, name, port=port) for name in ("in_packets", "in_unicast_packets")]
    return max((count.amount for count in counts if isinstance(count, Count)), default=0)


def _is_bad(damaged: int | None, frames: int, *, since_boot: bool) -> bool:
    """Return whether a link damages too large a share of its frames, if they are many; since boot a tenfold share."""
    least = _BAD_FRAMES * (10 if since_boot else 1)
    return damaged is not None and damaged >= max(_LEAST_ERRORS, least * frames) and frames >= _LEAST_FRAMES


def _link(device: str, port: str, since_boot: bool, fact: CulpritEvidence) -> Culprit:
    return Culprit(
        kind="link",
        device=device,
        port=port,
        what="a bad link: what it damages is sent again",
        confidence="low" if since_boot else "medium",
        since_boot=since_boot,
        evidence=(fact,),
        help=f"clean or replace the optics and the cable at {device} {port}".rstrip(),
        seen_at=f"{device} {port}".rstrip(),
    )


def _drops(fabric: RunningFabric, outside: Collection[str]) -> Iterator[Culprit]:
    """Yield ports whose lossless groups dropped between the captures: short headroom, or a peer that sends on.

    Drops from a neighbor in ``outside`` are left out: a device outside of the class does not obey its pauses either.
    """
    walk = PauseWalk(fabric, "")
    for device in fabric.devices:
        for count, priority in lossless_drops(device):
            neighbor = walk.neighbor(PausedPort(device, count.port))
            if neighbor is None or neighbor.name not in outside:
                yield _dropped(device, neighbor, walk.heard_pauses(neighbor, priority), priority, count)


def _dropped(
    device: RunningDevice, neighbor: Neighbor | None, heard: Sequence[Heard], priority: int, count: Count
) -> Culprit:
    port, name = count.port, "the peer" if neighbor is None else neighbor.name
    sent = count_of(device, "pfc_tx", port=port, priority=str(priority))
    text = f"{device.name} {port} dropped {count.amount:,} packets of its lossless group between the captures"
    evidence = [CulpritEvidence(text, count.placed.origin)]
    if isinstance(sent, Count):
        evidence.append(CulpritEvidence(f"it sent {sent.amount:,} pauses there", sent.placed.origin))
    asked, deaf = sent.amount if isinstance(sent, Count) else 0, not any(counts.pauses for counts in heard)
    speed = device.ports[port].speed_bps if port in device.ports else None
    goes_on = count.amount > asked * _STOPS_S * (speed or _ASSUMED_BPS) / 8 / _FRAME_BYTES
    if neighbor is not None and heard and asked >= FAR_ABOVE and (deaf or goes_on):
        words = (
            "counts no pause as received" if deaf else "counts them, and did not stop within 50 us of each"
        )
        evidence.append(CulpritEvidence(f"{name} {words}", heard[0].origin))
        return Culprit(
            kind="switch port" if neighbor.to_host is False else "host",
            device=name,
            port=neighbor.port,
            what="a sender that ignores PFC"
            if deaf
            else "a sender that pauses do not stop: its class is another",
            confidence="high" if deaf else "medium",
            evidence=tuple(evidence),
            help=f"turn PFC on for priority {priority} on {name}, and map the DSCP of RDMA to it there",
            seen_at=f"{device.name} {port}",
            priority=str(priority),
        )
    evidence += [CulpritEvidence(f"{name} counts them as received", counts.origin) for counts in heard[:1]]
    return Culprit(
        kind="switch port" if heard else "none",
        device=device.name,
        port=port,
        what="a headroom that is too short for its cable and its peer"
        if heard
        else "a headroom that is too short, or a peer that does not stop: only the peer shows which",
        confidence="medium" if heard else "low",
        evidence=tuple(evidence),
        help="compare cable length and headroom with lossless headroom: the cable may be longer than declared"
        if heard
        else "capture what the peer counts of received pauses (ethtool -S, show pfc counters)",
        seen_at=f"{device.name} {port}",
        priority=str(priority),
        missing=() if heard else (f"counters of {name}",),
    )


def _wrong_cable(ports: Sequence[WrongCable]) -> Culprit:
    """Return the answer for cables that were exchanged, at the first of their ports."""
    first = ports[0].at
    return Culprit(
        kind="link",
        device=first.device.name,
        port=first.port,
        what=f"a cable in another port than declared, at {listed([wrong.at.shown for wrong in ports])}",
        confidence="medium" if len(ports) == 1 else "high",
        evidence=tuple(CulpritEvidence(wrong.shown, wrong.origin) for wrong in ports),
        help="plug the cable where it is declared, or correct the intent or DEVICE_NEIGHBOR",
        seen_at=first.shown,
    )


def _outside(fabric: RunningFabric) -> Iterator[Culprit]:
    """Yield switches and hosts that send RDMA outside of its lossless class, unless no switch lost any packet so."""
    walk = PauseWalk(fabric, "")
    sent = {device.name: sent_by_class(device) for device in fabric.devices}
    lost = [counts.dropped for ports in sent.values() for counts in ports.values()]
    if lost and not any(lost):
        return
    classes = {ports.priorities for device in fabric.devices for ports in device.lossless.values()}
    for device in fabric.devices:
        for nic in nics(device):
            lossless = pfc_priorities(device, nic) or (next(iter(classes)) if len(classes) == 1 else ())
            counts, rdma = rdma_inside(nic, lossless), nic.placed("tx_vport_rdma_unicast_packets")
            if lossless and counts and rdma and counts[0] >= max(_LEAST_FRAMES, counts[1] / _OUTSIDE):
                text = (
                    f"{nic.host} {nic.label} sent {counts[0]:,} packets of RDMA {nic.window}, and {counts[1]:,} of all "
                    f"of priority {listed([str(number) for number in sorted(lossless)])}"
                )
                yield _stray(Neighbor(nic.host, nic.name, to_host=True), [CulpritEvidence(text, rdma.origin)])
        if sent[device.name]:
            arrived = [walk.arrived(sent, device, port) for port in sent[device.name]]
            yield from _leaves_the_class(device, sent[device.name], arrived)


def _leaves_the_class(
    device: RunningDevice, own: Mapping[str, ClassSent], arrived: Sequence[Arrived | None]
) -> Iterator[Culprit]:
    """Yield the answer for packets of the lossless class that a switch does not send on in this class.

    It is the switch, one of its ports without a map, or the host of the packets.
    """
    known = [came for came in arrived if came is not None]
    into = sum(came.packets for came in known)
    out = sum(counts.lossless for counts in own.values())
    others = sum(counts.others for counts in own.values())
    dropped = sum(counts.dropped for counts in own.values())
    text = (
        f"{device.name} sent {out:,} packets in lossless queues between the captures, {others:,} in others, and "
        f"dropped {dropped:,} of these"
    )
    evidence = [CulpritEvidence(text, max(own.values(), key=lambda counts: counts.others).origin)]
    unmapped = [
        port for port in own if port in device.ports and not leads_to_lossless(device.ports[port].qos)
    ]
    expected = max(into, others if len(unmapped) == len(own) and dropped else 0)
    if expected >= max(_LEAST_FRAMES, out / _OUTSIDE):
        most = max(known, key=lambda came: came.packets, default=None)
        if most is not None and most.packets:
            words = (
                f"{most.neighbor.name} {most.neighbor.port} sent it {most.packets:,} in the lossless class"
            )
            evidence.append(CulpritEvidence(words, most.origin))
        if unmapped:
            words = f"its configuration maps no DSCP to a lossless class at {listed(unmapped, most=1)}"
            evidence.append(CulpritEvidence(words, device.ports[unmapped[0]].origin))
        yield Culprit(
            kind="switch",
            device=device.name,
            port="",
            what="a switch that takes RDMA out of its lossless class: its DSCP map is missing, or not applied",
            confidence="high" if into >= _LEAST_FRAMES else "medium",
            evidence=tuple(evidence),
            help=f"bind a DSCP_TO_TC_MAP to all ports of {device.name}; see lossless lint (CLS001, CLS004)",
        )
        return
    for port, came in zip(own, arrived, strict=True):
        # Its packets left in other queues: those of ports with a map stay in the class.
        if (
            port in unmapped
            and came is not None
            and dropped
            and others + dropped >= (1 - _AS_MANY) * came.packets >= _LEAST_FRAMES
        ):
            yield _unmapped_port(device, port, came, evidence)
            return
    gone = into - out
    hosts = [came for came in known if came.by_nic and _is_as_many(came.packets, gone)]
    # Of a lossless class nothing is lost, but where a headroom is short; what else is in other queues is seldom lost.
    whole = len(known) == len(arrived) and not any(True for _ in lossless_drops(device))
    enough = gone >= max(_LEAST_FRAMES, _MISSING * into) and dropped >= _LOST * gone
    if whole and enough and others + dropped >= (1 - _AS_MANY) * gone and len(hosts) == 1:
        (host,) = hosts
        words = (
            f"{host.neighbor.name} sent {host.packets:,} in the lossless class, as many as are missing there"
        )
        yield _stray(host.neighbor, [CulpritEvidence(words, host.origin), *evidence])


def _unmapped_port(
    device: RunningDevice, port: str, came: Arrived, evidence: Sequence[CulpritEvidence]
) -> Culprit:
    """Return the answer for one port without a DSCP map, of a switch whose other ports have one."""
    sender = f"{came.neighbor.name} {came.neighbor.port}".strip()
    words = f"{sender} sent it {came.packets:,} in the lossless class at {port}"
    bound = f"its configuration maps no DSCP to a lossless class at {port}, and does at its other ports"
    return Culprit(
        kind="switch port",
        device=device.name,
        port=port,
        what="a port that takes RDMA out of its lossless class: no DSCP map is bound to it",
        confidence="high",
        evidence=(
            CulpritEvidence(bound, device.ports[port].origin),
            CulpritEvidence(words, came.origin),
            *evidence,
        ),
        help=f"bind the DSCP_TO_TC_MAP of the other ports to {port} of {device.name}; see lossless lint (CLS001)",
        seen_at=f"{device.name} {port}",
    )


def _stray(host: Neighbor, evidence: Sequence[CulpritEvidence]) -> Culprit:
    return Culprit(
        kind="host",
        device=host.name,
        port=host.port,
        what="a host that sends RDMA outside of the lossless class: no pause protects it",
        confidence="medium",
        evidence=tuple(evidence),
        help=f"send the DSCP of the lossless class from {host.name} (NCCL_IB_TC, the traffic class of its RDMA device)",
    )
