"""The blast radius of one storm source until the watchdog triggers: the stalled hosts, and stalled links by tier.

Stalled links that form a cycle are a PFC deadlock.

The buffers that fill, and the order in which ports send pauses, come from a fluid model of traffic whose egress
stops. Every switch shares its pool among its ingress priority groups, one for each channel into it. A group that
reaches its threshold sends PFC, and its headroom fills beside the pool. Its sender stops a little later, and traffic
for that egress fills the switch before it. Traffic that is not paused keeps its rate.
"""

from __future__ import annotations

import heapq
from functools import cache
from typing import TYPE_CHECKING, Literal

from lossless.analysis.buffers.dynamic_model import with_computed_buffers
from lossless.analysis.buffers.ecn_marking import Trigger, protection, trigger
from lossless.analysis.buffers.headroom.formulas import PFC_FRAME_BYTES, pause_response_bytes
from lossless.analysis.buffers.headroom.port import group_profile
from lossless.analysis.storm.paths import EcmpPaths, RelativeNames, ShapeGroups
from lossless.analysis.storm.picture import picture
from lossless.analysis.storm.tiers import (
    NOTHING,
    ChannelGraph,
    EgressShares,
    LeafReachability,
    TierShares,
    WeightSum,
    channel_graph,
    rates,
    sharing,
)
from lossless.ground.basics.errors import ScenarioError
from lossless.ground.basics.findings import MissingInput, grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import LIGHT_IN_FIBRE_M_PER_S, format_rate, suggestion
from lossless.ground.graphs.cycles import cycle, from_lists
from lossless.model.fabric.cluster import STORM_TRAFFIC, StormTraffic
from lossless.model.fabric.qos import DEFAULT_POLL_MS
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
    from typing import Annotated, Any, TypedDict

    from lossless.analysis.topology.summary import Picture
    from lossless.model.fabric.model import TrafficClass
    from lossless.model.fabric.view import PortSet

    NameData = TypedDict("NameData", {"from": str, "class": str})

    class GpuData(TypedDict):
        """The number of stalled GPUs, and that of all GPUs."""

        stopped: int
        all: int

    class RadiusData(TypedDict):
        """The stalled hosts and links of a storm source, with times in nanoseconds."""

        traffic: StormTraffic
        drains_bps: int
        priority: int
        ends_ns: float | None
        ended_at: str | None
        stages: list[PropagationStage]
        hosts: dict[str, int]
        all_hosts: int
        gpus: GpuData | None
        stopped: list[tuple[str, str, str, int]]
        loses: list[str]
        cycle: list[str]
        assumed: list[str]

    BlastRadiusData = Annotated[dict[str, Any], NameData, RadiusData]


_NEVER = float("inf")
_ROUNDING = 1e-9
"""The share of the traffic that may seem to exceed the storm source's rate because of rounded sums."""


class StormSource(NamedTuple):
    """A host, or one of its ports (``host1:port2``), each port of which receives at ``drains_bps``, 0 for a dead one.

    ``traffic_class`` is the name of a lossless class; None is the one of the lowest priority.
    """

    end: str
    traffic: StormTraffic = STORM_TRAFFIC[0]
    drains_bps: int = 0
    traffic_class: str | None = None


class PropagationStage(NamedTuple):
    """The channels between two kinds of node: how many stall, of how many, and when the first and the last do.

    ``name`` is like ``its leaf to spines``. The times are None where no channel stalls.
    """

    name: str
    stopped: int
    channels: int
    first_ns: float | None
    last_ns: float | None


class BlastRadius(NamedTuple):
    """The stalled hosts and links of a storm source. ``ends_ns`` is when the last watchdog triggers, at ``ended_at``.

    Both are None if a port has no watchdog that ends a storm, no port has PFC, or the source only receives slowly.
    ``stages`` are the channels by kind of sender and receiver, first stalled first. ``hosts`` are the other stalled
    hosts, with the time. ``times`` has the channels that stop: sender, its port, receiver, and the time in nanoseconds.
    ``loses`` names ports without PFC where pause propagation ends: there packets are dropped. ``picture`` draws the
    result. ``cycle`` are stalled ports that form a cycle (PFC deadlock), each waiting for the next; empty without one.
    """

    source: StormSource
    class_name: str
    priority: int
    ends_ns: float | None
    ended_at: str | None
    stages: tuple[PropagationStage, ...]
    hosts: tuple[tuple[str, float], ...]
    all_hosts: int
    gpus_per_host: int | None
    times: tuple[tuple[str, str, str, float], ...]
    loses: tuple[str, ...]
    assumed: tuple[str, ...]
    picture: Callable[[], Picture]
    cycle: tuple[str, ...]

    def to_data(self) -> BlastRadiusData:
        """Return the blast radius as JSON data; times in nanoseconds."""
        each = self.gpus_per_host
        return {
            "from": self.source.end,
            "traffic": self.source.traffic,
            "drains_bps": self.source.drains_bps,
            "class": self.class_name,
            "priority": self.priority,
            "ends_ns": self.ends_ns,
            "ended_at": self.ended_at,
            "stages": [dict(stage._asdict()) for stage in self.stages],
            "hosts": {name: round(at_ns) for name, at_ns in self.hosts},
            "all_hosts": self.all_hosts,
            # The GPUs of the storm source are stalled first of all.
            "gpus": None
            if each is None
            else {"stopped": (len(self.hosts) + 1) * each, "all": self.all_hosts * each},
            "stopped": [[*end[:3], round(end[3])] for end in self.times],
            "loses": list(self.loses),
            "cycle": list(self.cycle),
            "assumed": list(self.assumed),
        }


def blast_radius(view: View, source: StormSource, groups: ShapeGroups | None = None) -> BlastRadius:
    """Return the blast radius of one storm source; ``groups`` are those of the fabric's shape, if it has any.

    Raises:
        ScenarioError: no such host, port or class, or a host without a link; a fabric whose buffers or paths are
            unknown, with a switch of several ASICs, or with too many paths to follow.
    """
    return _Propagation(View(with_computed_buffers(view.fabric)), source, groups).run()


class _Propagation:
    def __init__(self, view: View, source: StormSource, groups: ShapeGroups | None) -> None:
        self.view, self.source = view, source
        self.cls = _class(view, source.traffic_class)
        self.priority = self.cls.priority or 0
        self.net = channel_graph(view.fabric)
        self.host, self.first = _end(self.net, view, source.end)
        self.tiers = LeafReachability(self.net)
        leaves = {self.net.channels[at].source for at in self.first}
        self.near = RelativeNames(self.tiers, self.host, leaves, groups, view.rail_of)
        self.lost = 0
        stated = view.fabric.routing
        self._policy = stated.policy if stated else "up-down" if self.net.tiered else "shortest-path"
        self._sets = _sets(view, self.priority)
        self._triggers: dict[int, Trigger] = {}

    def run(self) -> BlastRadius:
        groups = self._groups()
        part, ends_ns, ended_at = 1.0, *self._watchdog()
        first = [at for at in self.first if self._ports(at, "source") is not None]
        if self.source.drains_bps:
            offered_bps = self._offered_bps(groups)
            waits = 1 - self.source.drains_bps * len(first) / offered_bps if offered_bps else 0.0
            part = waits if waits > _ROUNDING else 0.0
            ends_ns, ended_at = None, None
        until_ns = _NEVER if ends_ns is None else ends_ns
        stop_ns = dict[int, float]()
        for at_ns, channel in stop_times(
            groups, first if part else [], self._hop_ns, part, until_ns, self._switch
        ):
            stop_ns.setdefault(channel, at_ns)
        return self._result(stop_ns, ends_ns, ended_at, groups)

    def _groups(self) -> dict[int, IngressGroup]:
        """Return the ingress groups of all switches, by the channel into each."""
        channels, every = self.net.channels, range(len(self.net.channels))
        came = [at for at in every if not self.net.to_host(at)]
        aimed = self.first if self.source.traffic == "incast" else filter(self.net.to_host, every)
        source_cables = {channels[at].cable for at in self.first}
        senders = [at for at in came if self.net.from_host(at) and channels[at].cable not in source_cables]
        shares = self._shares_by_rail(came, list(aimed), senders)
        rate = rates(self.net, shares, senders)
        return {
            at: IngressGroup(channels[at].target, rate[at], self._trigger(at), shares.get(at, NOTHING))
            for at in came
        }

    def _offered_bps(self, groups: Mapping[int, IngressGroup]) -> float:
        """Return the rate at which all hosts together send to the storm source."""
        return sum(group.rate_bps * group.shares.of(out) for group in groups.values() for out in self.first)

    def _rail(self, at: int) -> int | None:
        """Return the rail that the traffic of a channel from or to a host stays in, None where it does not."""
        if self.source.traffic == "any":
            return None
        ends = self.net.channels[at]
        return self.view.rail_of.get(ends.target if self.net.from_host(at) else ends.source)

    def _shares_by_rail(
        self, came: Sequence[int], aimed: Sequence[int], senders: Sequence[int]
    ) -> Mapping[int, EgressShares]:
        """Return the shares of all traffic, which goes from ``senders`` to those of ``aimed`` that are on its rail.

        Where a channel has traffic of several rails, each counts by its rate.
        """
        rails = grouped((self._rail(at), at) for at in aimed)
        if len(rails) < 2 and None in rails:
            return self._shares(came, dict.fromkeys(aimed, 1.0))
        passing: dict[int, list[tuple[float, EgressShares]]] = {}
        for rail, ends in rails.items():
            own = [at for at in senders if self._rail(at) == rail]
            shares = self._shares(came, dict.fromkeys(ends, 1.0), frozenset(own))
            for at, bps in enumerate(rates(self.net, shares, own)):
                if bps and at in shares:
                    passing.setdefault(at, []).append((bps, shares[at]))
        return {at: _together(each) for at, each in passing.items()}

    def _shares(
        self, came: Sequence[int], weights: Mapping[int, float], senders: frozenset[int] | None = None
    ) -> Mapping[int, EgressShares]:
        """Return the shares of the traffic of each channel into a switch by the channels it leaves by.

        ``senders`` are the channels from hosts that have traffic, None for all.

        Raises:
            ScenarioError: up-down routing in a fabric without tiers, or one with too many paths to follow.
        """
        if self.tiers.whole:
            tiers = TierShares(self.tiers, weights)
            return {at: tiers.of(at) for at in came}
        if self._policy == "up-down" and not self.net.tiered:
            raise ScenarioError(
                "topology.routing.policy is up-down, but this fabric has switches without a tier, so no path goes up "
                "and then down; declare policy: shortest-path if packets take any shortest path"
            )
        traffic = EcmpPaths(self.net, self._policy).shares(weights, senders)
        self.lost += traffic.lost
        return {at: sharing(parts) for at, parts in traffic.shares.items()}

    def _ports(self, at: int, end: Literal["source", "target"]) -> PortSet | None:
        """Return the port set of a switch's end of a channel; None where that port does not pause the priority."""
        channel = self.net.channels[at]
        name, port = (
            (channel.source, channel.source_port)
            if end == "source"
            else (channel.target, channel.target_port)
        )
        return self._sets.get((id(self.view.switch_by_name[name].ports), port))

    def _trigger(self, at: int) -> Trigger | None:
        ports = self._ports(at, "target")
        if ports is None:
            return None
        if id(ports) not in self._triggers:
            profile = group_profile(ports, ports.qos.pausing_group(self.priority))
            if profile is None:
                return None
            start = profile if isinstance(profile, MissingInput) else trigger(ports.switch, profile)
            if isinstance(start, MissingInput):
                raise ScenarioError(
                    f"pause propagation cannot be computed: {start.reason} ({ports.switch.name})"
                )
            self._triggers[id(ports)] = start
        return self._triggers[id(ports)]

    def _hop_ns(self, at: int) -> float:
        """Return the delay of a pause for a channel: PFC frame, and cable and response time of the peer if known."""
        ports, speed_bps = self._ports(at, "target"), self.net.channels[at].speed_bps
        cable_m = (ports.cable.known_m if ports is not None else None) or 0
        return _pause_ns(speed_bps, cable_m)

    def _switch(self, at: int) -> str | None:
        source = self.net.channels[at].source
        return source if self.net.rank[source] else None

    def _watchdog(self) -> tuple[float | None, str | None]:
        """Return when the last watchdog towards the storm source triggers, and its port.

        None for both if one of these watchdogs never triggers.
        Ports that do not pause the priority are left out; None for both if no other port is left.
        """
        triggers: list[tuple[float, str]] = []
        for at in self.first:
            ports, channel = self._ports(at, "source"), self.net.channels[at]
            triggers_ns = None if ports is None else _triggers_ns(ports, self.priority)
            if ports is not None and triggers_ns is None:
                return None, None
            triggers += (
                [] if triggers_ns is None else [(triggers_ns, f"{channel.source}:{channel.source_port}")]
            )
        return max(triggers, default=(None, None))

    def _result(
        self,
        stop_ns: dict[int, float],
        ends_ns: float | None,
        ended_at: str | None,
        groups: dict[int, IngressGroup],
    ) -> BlastRadius:
        channels = self.net.channels
        hosts: dict[str, float] = {}
        for at, at_ns in stop_ns.items():
            if not self.net.rank[channels[at].source] and channels[at].source != self.host:
                hosts.setdefault(channels[at].source, at_ns)
        cluster = self.view.fabric.cluster
        return BlastRadius(
            source=self.source,
            class_name=self.cls.name,
            priority=self.priority,
            ends_ns=ends_ns,
            ended_at=ended_at,
            stages=tuple(self._stages(stop_ns)),
            hosts=tuple(hosts.items()),
            all_hosts=len(self.view.fabric.hosts),
            gpus_per_host=cluster.gpus_per_host if cluster else None,
            times=tuple((*_from(self.net, at), at_ns) for at, at_ns in stop_ns.items()),
            loses=tuple(self._loses(stop_ns, groups)),
            assumed=tuple(self._assumed()),
            picture=lambda: picture(
                self.view.fabric.name, self.net, self.near, stop_ns, slow=bool(self.source.drains_bps)
            ),
            # Where all paths go up and then down, no cyclic buffer dependency exists.
            cycle=() if self.tiers.whole else stalled_cycle(self.net, stop_ns, groups),
        )

    def _stages(self, stop_ns: dict[int, float]) -> Iterator[PropagationStage]:
        kinds: dict[tuple[str, str], list[int]] = {}
        for at in range(len(self.net.channels)):
            kinds.setdefault(self._kind(at), []).append(at)
        stages = []
        for (sender, receiver), members in kinds.items():
            times = [stop_ns[at] for at in members if at in stop_ns]
            name = f"{sender} to {receiver}"
            stages.append(
                PropagationStage(
                    name, len(times), len(members), min(times, default=None), max(times, default=None)
                )
            )
        never = sorted((stage for stage in stages if stage.first_ns is None), key=lambda stage: stage.name)
        yield from sorted(
            (s for s in stages if s.first_ns is not None), key=lambda s: (s.first_ns or 0.0, s.name)
        )
        yield from never

    def _kind(self, at: int) -> tuple[str, str]:
        """Return sender and receiver of a channel, by their names relative to the storm source."""
        channel = self.net.channels[at]
        if at in self.first:
            return self.near.its_leaf, self.source.end
        return self.near.who(channel.source), self.near.who(channel.target)

    def _loses(self, stop_ns: dict[int, float], groups: dict[int, IngressGroup]) -> Iterator[str]:
        """Yield switch ports that receive traffic for a stalled egress, and do not send PFC."""
        stopped: dict[str, list[int]] = {}
        for at in stop_ns:
            stopped.setdefault(self.net.channels[at].source, []).append(at)
        for at, group in groups.items():
            if (
                group.trigger is None
                and group.rate_bps
                and group.shares.any_of(stopped.get(group.switch, ()))
            ):
                yield f"{group.switch}:{self.net.channels[at].target_port}"

    def _assumed(self) -> Iterator[str]:
        drains = self.source.drains_bps
        to_one = self.source.traffic == "incast"
        if not self.view.rail_of:
            whom = f"all of it to {self.host}" if to_one else "evenly to all other hosts"
            yield f"every host sends at line rate, {whom}"
        elif self.source.traffic == "any":
            yield "every NIC port sends at line rate, evenly to all other hosts, across rails"
        else:
            whom = f"all of it to {self.source.end}" if to_one else "evenly to all other hosts"
            yield f"every NIC port sends at line rate, {whom}, within its rail (--traffic any crosses rails)"
        yield "senders always have data, and DCQCN does not slow them down"
        up_down = self._policy == "up-down"
        paths = "all shortest paths that go up and then down" if up_down else "all shortest paths"
        yield f"traffic is shared evenly over {paths}; uneven hashing fills some buffers sooner"
        if self.lost:
            yield f"{self.lost:,} pairs of switches have no such path between them, and send each other nothing"
        yield "buffers are empty at the start, and traffic that is not paused keeps its rate"
        yield "peers take as long to obey a pause as IEEE 802.3 allows"
        if drains:
            yield f"{self.host} takes in {format_rate(drains)} a port: packets move, so the watchdog does not trigger"


def _together(passing: Sequence[tuple[float, EgressShares]]) -> EgressShares:
    """Return the shares by which the traffic of one channel leaves: the mean of several, weighted by rates in b/s."""
    if len(passing) == 1:
        return passing[0][1]
    weights: dict[int, float] = {}
    for bps, shares in passing:
        for out, share in shares.parts().items():
            weights[out] = weights.get(out, 0.0) + bps * share
    return sharing(weights)


@cache
def _pause_ns(speed_bps: int, cable_m: int) -> float:
    response = pause_response_bytes(speed_bps) or 0
    return (PFC_FRAME_BYTES + response) * 8e9 / speed_bps + cable_m * 1e9 / LIGHT_IN_FIBRE_M_PER_S


def _from(graph: ChannelGraph, at: int) -> tuple[str, str, str]:
    channel = graph.channels[at]
    return channel.source, channel.source_port, channel.target


def _class(view: View, wanted: str | None) -> TrafficClass:
    lossless = sorted(view.fabric.classes.lossless, key=lambda cls: cls.priority or 0)
    if not lossless:
        raise ScenarioError("no class of the fabric is lossless: no port sends PFC")
    if wanted is None:
        return lossless[0]
    match = next((cls for cls in lossless if cls.name == wanted), None)
    if match is None:
        hint = suggestion(wanted, [cls.name for cls in lossless])
        raise ScenarioError(f"no lossless class {wanted!r}{hint}")
    return match


def _end(graph: ChannelGraph, view: View, end: str) -> tuple[str, list[int]]:
    """Return the host of a storm source, and the channels into the named port or into all ports of the host.

    Raises:
        ScenarioError: no such host or port, or a host without a link.
    """
    host, colon, port = end.partition(":")
    if host not in view.host_by_name:
        raise ScenarioError(f"no host {host!r} in this fabric{suggestion(host, list(view.host_by_name))}")
    channels = [at for at in graph.into[host] if not colon or graph.channels[at].target_port == port]
    if not channels:
        ports = ", ".join(graph.channels[at].target_port for at in graph.into[host][:8]) or "no link"
        raise ScenarioError(
            f"{host} has no port {port!r}; it has {ports}" if colon else f"{host} has no link"
        )
    return host, channels


def _sets(view: View, priority: int) -> dict[tuple[int, str], PortSet]:
    """Return the port sets that pause a priority, by the ``id`` of the switch's ``ports`` and the name of the port."""
    chosen: Sequence[PortSet] = [
        ports for ports in view.lossless_sets if priority in ports.qos.pfc.priorities
    ]
    return {
        (id(ports.switch.ports), port.name): ports for ports in chosen for port in ports.ports if port.placed
    }


def _triggers_ns(ports: PortSet, priority: int) -> float | None:
    """Return when the watchdog triggers on a stalled queue, in ns: its detection time plus one poll interval.

    None where no watchdog runs for the priority, its detection time is unknown, or it only alerts.
    """
    watchdog, mask = ports.qos.watchdog, ports.qos.watchdog_mask
    watched = mask is None or priority in mask.priorities
    if protection(ports) != "running" or not watched or watchdog is None or not watchdog.detection_ms:
        return None
    if watchdog.action == "alert":
        return None
    return (watchdog.detection_ms + (ports.switch.qos.poll.poll_ms or DEFAULT_POLL_MS)) * 1e6


def stalled_cycle(
    net: ChannelGraph, stopped: Mapping[int, float], groups: Mapping[int, IngressGroup]
) -> tuple[str, ...]:
    """Return the sending ports of a short cycle of stalled channels, empty without one.

    A channel waits for another where part of its traffic leaves by that one, which is stalled too.
    """
    number = {at: place for place, at in enumerate(stopped)}
    waits_for = (groups[at].shares.parts() if at in groups else {} for at in number)
    places = cycle(from_lists([number[out] for out in outs if out in number] for outs in waits_for))
    channels = [net.channels[at] for at in stopped]
    return tuple(f"{channels[place].source}:{channels[place].source_port}" for place in places)


_LITTLE_NS = 1e-6
"""The difference, in nanoseconds, up to which two computed times count as equal."""


class IngressGroup(NamedTuple):
    """The priority group of one channel into a switch: ingress rate, PFC trigger (None: no PFC), and egress shares."""

    switch: str
    rate_bps: float
    trigger: Trigger | None
    shares: EgressShares


class _Memory:
    """The buffer of one switch that packets for stalled egresses occupy."""

    def __init__(self, groups: Mapping[int, IngressGroup]) -> None:
        self.groups = groups
        self.held = dict.fromkeys(groups, 0.0)
        self.growing: dict[int, float] = {}
        self.asked: set[int] = set()
        self.now_ns = 0.0
        self.version = 0

    def stop(self, at_ns: float, outs: Set[int], part: float) -> None:
        """Let the share ``part`` of the traffic to the egresses ``outs`` wait in the buffer from ``at_ns`` on."""
        self._until(at_ns)
        waiting = WeightSum(outs)
        for number, group in self.groups.items():
            if group.trigger is None or not group.rate_bps or number in self.asked:
                continue
            share = waiting.part(group.shares)
            if share:
                bytes_per_ns = group.rate_bps / 8e9 * share * part
                self.growing[number] = self.growing.get(number, 0.0) + bytes_per_ns

    def next_ns(self) -> float:
        """Return when the next group pauses without any other event; infinite where none does."""
        return min(self._times().values(), default=_NEVER)

    def pause(self, at_ns: float) -> list[int]:
        """Return the groups that pause at ``at_ns``; from then on they do not grow."""
        full = [number for number, when in self._times().items() if when <= at_ns + _LITTLE_NS]
        self._until(at_ns)
        self.asked.update(full)
        for number in full:
            del self.growing[number]
        return full

    def _until(self, at_ns: float) -> None:
        for number, rate in self.growing.items():
            self.held[number] += rate * (at_ns - self.now_ns)
        self.now_ns = at_ns
        self.version += 1

    def _times(self) -> dict[int, float]:
        used, growth = sum(self.held.values()), sum(self.growing.values())
        times = {}
        for number, rate in self.growing.items():
            trigger = self.groups[number].trigger
            if trigger is None:
                continue
            free = trigger.pool_bytes - used
            if trigger.alpha is not None:
                left_ns = (trigger.alpha * free - self.held[number]) / (rate + trigger.alpha * growth)
            else:
                left_ns = min(((trigger.static_bytes or 0) - self.held[number]) / rate, free / growth)
            times[number] = self.now_ns + max(0.0, left_ns)
        return times


class _Agenda:
    """Events in order of time: a channel stops, or a switch sends PFC for the groups that reach their threshold.

    At the same time channels come first, then switches, each in a fixed order.
    """

    def __init__(self, first: Sequence[int], switches: Iterable[str]) -> None:
        self._order = {switch: 1 + number for number, switch in enumerate(switches)}
        self._heap: list[tuple[float, int, int, str]] = [(0.0, 0, channel, "") for channel in first]

    def stop(self, at_ns: float, channel: int) -> None:
        """Add the stop of a channel."""
        heapq.heappush(self._heap, (at_ns, 0, channel, ""))

    def pause(self, at_ns: float, switch: str, version: int) -> None:
        """Add a pause of groups by a switch, to be ignored if the version of the switch has changed by then."""
        heapq.heappush(self._heap, (at_ns, self._order[switch], version, switch))

    def next(self, until_ns: float) -> tuple[list[tuple[float, int]], tuple[float, str, int] | None]:
        """Return the channels that stop next, all at one time, or none and the next pause: time, switch and version.

        There is neither at the end, or where the next event is after ``until_ns``.
        """
        stops: list[tuple[float, int]] = []
        while self._heap and self._heap[0][0] <= min(until_ns, stops[0][0] + _LITTLE_NS if stops else _NEVER):
            if self._heap[0][1] and stops:
                break
            at_ns, kind, number, switch = heapq.heappop(self._heap)
            if kind:
                return [], (at_ns, switch, number)
            stops.append((at_ns, number))
        return stops, None


def stop_times(
    groups: Mapping[int, IngressGroup],
    first: Sequence[int],
    hop_ns: Callable[[int], float],
    stopped_part: float,
    until_ns: float,
    switch_of: Callable[[int], str | None],
) -> Iterator[tuple[float, int]]:
    """Yield channels as they stop, with the time; ``first`` stop at 0.

    ``groups`` are by the channel that leads into them. ``hop_ns`` is how long the sender of a channel takes to obey,
    ``stopped_part`` the share of a stopped channel's traffic that waits: 1 where the storm source receives nothing.
    ``switch_of`` is the switch that a channel leaves, None for a host's.
    """
    by_switch: dict[str, dict[int, IngressGroup]] = {}
    for number, group in groups.items():
        by_switch.setdefault(group.switch, {})[number] = group
    memories = {switch: _Memory(own) for switch, own in by_switch.items()}
    agenda = _Agenda(first, memories)
    while True:
        stops, pauses = agenda.next(until_ns)
        if pauses is not None:
            at_ns, switch, version = pauses
            if memories[switch].version != version:
                continue
            for channel in memories[switch].pause(at_ns):
                agenda.stop(at_ns + hop_ns(channel), channel)
            touched = {switch}
        elif stops:
            yield from stops
            leaving = _by_switch(stops, switch_of)
            touched = leaving.keys() & memories.keys()
            for switch in touched:
                memories[switch].stop(stops[0][0], leaving[switch], stopped_part)
        else:
            return
        for switch in touched:
            when_ns = memories[switch].next_ns()
            if when_ns < _NEVER:
                agenda.pause(when_ns, switch, memories[switch].version)


def _by_switch(
    stops: Iterable[tuple[float, int]], switch_of: Callable[[int], str | None]
) -> dict[str, set[int]]:
    """Return the channels that stop, by the switch that each leaves, without those of hosts."""
    leaving: dict[str, set[int]] = {}
    for _, channel in stops:
        switch = switch_of(channel)
        if switch is not None:
            leaving.setdefault(switch, set()).add(channel)
    return leaving
