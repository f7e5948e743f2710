"""Intended values for rules: devices, ports and their neighbors, kinds of ports, pools, hosts, and times of alerts.

Prometheus gets them as recorded series with constant values (:mod:`.recordings`), so that every other rule is written
once, for all fabrics, and joins the values of a fabric from there.

A kind of ports has the intended values of all ports with the same function, declared once. A kind has a name,
``leaf-host-400G``: the tier of its switches, the destination of its ports, their rate. Kinds with the same name and
other settings get a number as suffix.

Times are the scrape interval, windows and waiting times of alerts, derived from the intent where it declares them.
Three intervals affect a counter. A switch polls its groups of counters (sonic-utilities counterpoll/main.py @063b996:
PORT each second; QUEUE and PG_DROP every 10 s; watermarks every 60 s, and PERIODIC ones are cleared every 120 s,
sonic-swss orchagent/watermarkorch.cpp @0545c4c). Prometheus scrapes. And the watchdog, or the transport, ends a
fault. An alert must look back over the longest interval, and wait until faults that heal by themselves have healed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from lossless.analysis.buffers.dynamic_model import with_computed_buffers
from lossless.analysis.buffers.ecn_marking import protection
from lossless.analysis.buffers.headroom.port import given_headroom
from lossless.formats.telemetry.collection import places_in_service, switch_places
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.model import known_tier
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lossless.formats.telemetry.collection import SwitchPlace
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.model import Fabric, Port, Switch, Tier
    from lossless.model.fabric.qos import PortQos
    from lossless.model.fabric.view import PortSet


class HostFacts(NamedTuple):
    """The drivers of a fabric's NICs, and their RDMA devices and interfaces where the intent names those of all hosts.

    ``dcqcn``: some hosts react to CNPs. ``mlx5_only``: all NICs are known to have that driver. ``priorities`` are those
    of the lossless classes.
    """

    drivers: tuple[str, ...]
    rdma_devices: tuple[str, ...]
    interfaces: tuple[str, ...]
    dcqcn: bool
    mlx5_only: bool
    priorities: tuple[int, ...]


def host_facts(fabric: Fabric) -> HostFacts:
    """Return the facts about a fabric's hosts that alerts use."""
    kinds = tuple({id(host.qos): host.qos for host in fabric.hosts}.values())
    return HostFacts(
        drivers=tuple(sorted({qos.driver for qos in kinds if isinstance(qos.driver, str)})),
        rdma_devices=_all_of(kinds, "rdma_devices"),
        interfaces=_all_of(kinds, "interfaces"),
        dcqcn=any(qos.dcqcn.enabled is True for qos in kinds),
        mlx5_only=all(qos.driver == "mlx5" for qos in kinds),
        priorities=tuple(
            sorted({cls.priority for cls in fabric.classes.lossless if cls.priority is not None})
        ),
    )


def _all_of(kinds: tuple[HostQos, ...], field: str) -> tuple[str, ...]:
    """Return the sorted names in a field of all kinds of hosts; none where a kind names none, as these could be any."""
    names = [getattr(qos, field) for qos in kinds]
    return tuple(sorted({name for of_kind in names for name in of_kind})) if all(names) else ()


LeadsTo = Literal["host", "up", "down", "switch"]
"""The destination of a port: a host, a higher or a lower tier, or ``switch``, of the same or an unknown tier."""
Pfc = Literal["on", "off", "asymmetric"]


class LosslessPriority(NamedTuple):
    """A lossless priority of a kind of ports: its queue and group, and the intended values.

    ``headroom_bytes`` and ``kmax_bytes`` are None where they are unknown, or where the queue does not mark.
    ``detection_s`` is the detection time of the watchdog, None where none is intended.
    """

    priority: int
    queue: int
    group: int
    headroom_bytes: int | None
    kmax_bytes: int | None
    detection_s: float | None


class Kind(NamedTuple):
    """Tier, destination, rate (``400G``), PFC and lossless priorities that all ports of a kind share."""

    tier: str
    leads_to: LeadsTo
    rate: str
    pfc: Pfc
    priorities: tuple[LosslessPriority, ...]

    @property
    def stem(self) -> str:
        """The name of the kind without a number."""
        return f"{self.tier}-{self.leads_to}-{self.rate}"


def lossless_priorities(ports: PortSet) -> tuple[LosslessPriority, ...]:
    """Return queue, group, headroom, Kmax and detection time of each lossless priority of ports with equal QoS.

    The watchdog watches the queue of the priority's own number (sonic-swss orchagent/pfcwdorch.cpp @e6b0c5b).
    """
    return tuple(_lossless_priorities(ports))


def _lossless_priorities(ports: PortSet) -> Iterator[LosslessPriority]:
    qos = ports.qos
    for priority in qos.pfc.priorities:
        queue, group = qos.queue_of(priority), qos.pausing_group(priority)
        yield LosslessPriority(
            priority, queue, group, _headroom(ports, group), _kmax(qos, queue), _detection(ports, priority)
        )


def _headroom(ports: PortSet, number: int) -> int | None:
    group = ports.qos.groups[number]
    if group is None or group.buffer is None or not group.buffer.lossless:
        return None
    return given_headroom(ports.switch, group.buffer) or None


def _kmax(qos: PortQos, number: int) -> int | None:
    queue = qos.queues[number]
    return queue.wred.green.max_bytes if queue is not None and queue.wred and queue.wred.marks else None


def _detection(ports: PortSet, priority: int) -> float | None:
    watchdog, mask = ports.qos.watchdog, ports.qos.watchdog_mask
    watched = mask is None or priority in mask.priorities
    if watchdog is None or not watchdog.detection_ms or not watched or protection(ports) != "running":
        return None
    return watchdog.detection_ms / 1000


class IntendedNeighbor(NamedTuple):
    """The device at the other end of a port; ``port`` is empty where its port is unknown."""

    name: str
    port: str
    to_host: bool
    tier: Tier | None
    in_service: bool = True


class IntendedSwitch(NamedTuple):
    """A switch of the intent in service: the name in its DEVICE_METADATA, its tier and rail, and its HWSKU."""

    place: SwitchPlace
    hwsku: str


class IntendedPort(NamedTuple):
    """A switch port with QoS, the name of its kind, and its neighbor.

    ``namespace`` is that of its ASIC, empty on a switch with one. ``up``: the port should be up.
    """

    switch: str
    namespace: str
    interface: str
    kind: str
    place: SwitchPlace
    leads_to: LeadsTo
    pfc: Pfc
    neighbor: IntendedNeighbor | None
    up: bool

    @property
    def identity(self) -> dict[str, str]:
        """The labels that identify the port in series of the exporter."""
        named = {"switch": self.switch, "namespace": self.namespace, "interface": self.interface}
        return {name: value for name, value in named.items() if value}

    @property
    def known(self) -> dict[str, str]:
        """The labels with the purpose of the port; empty ones are omitted, as Prometheus does."""
        neighbor = self.neighbor
        named = {
            "kind": self.kind,
            "tier": self.place.tier,
            "rail": self.place.rail,
            "leads_to": self.leads_to,
            "neighbor": neighbor.name if neighbor else "",
            "neighbor_port": neighbor.port if neighbor else "",
        }
        return {name: value for name, value in named.items() if value}


class HeadroomPool(NamedTuple):
    """A buffer pool of a switch that provides shared headroom."""

    switch: str
    namespace: str
    pool: str
    headroom_bytes: int


class Inventory(NamedTuple):
    """The values that Prometheus rules take from an intent; ``kinds`` of ports are by name, ``hosts`` are names."""

    fabric: str
    switches: tuple[IntendedSwitch, ...]
    ports: tuple[IntendedPort, ...]
    kinds: Mapping[str, Kind]
    pools: tuple[HeadroomPool, ...]
    hosts: tuple[str, ...]

    @property
    def priorities(self) -> tuple[int, ...]:
        """The lossless priorities of all ports."""
        return self._distinct("priority")

    @property
    def queues(self) -> tuple[int, ...]:
        """The queues of the lossless priorities."""
        return self._distinct("queue")

    @property
    def groups(self) -> tuple[int, ...]:
        """The priority groups of the lossless priorities."""
        return self._distinct("group")

    @property
    def watched(self) -> tuple[int, ...]:
        """The queues with an intended PFC watchdog."""
        lossless = (item for kind in self.kinds.values() for item in kind.priorities)
        return tuple(sorted({item.priority for item in lossless if item.detection_s is not None}))

    def _distinct(self, field: str) -> tuple[int, ...]:
        return tuple(
            sorted({getattr(item, field) for kind in self.kinds.values() for item in kind.priorities})
        )


def inventory(fabric: Fabric) -> Inventory:
    """Return the values of a fabric's intent that Prometheus rules use."""
    view = View(with_computed_buffers(fabric))
    places = {place.name: place for place in switch_places(fabric)}
    made = list(_ports(view, places))
    names = _names(kind for _, kind in made)
    return Inventory(
        fabric=fabric.name,
        switches=tuple(_switches(fabric)),
        ports=tuple(port._replace(kind=names[kind]) for port, kind in made),
        kinds={name: kind for kind, name in names.items()},
        pools=tuple(_pools(view.fabric)),
        hosts=tuple(host.name for host in fabric.hosts),
    )


def _switches(fabric: Fabric) -> Iterator[IntendedSwitch]:
    """Yield the switches that the intent has in service."""
    units = grouped((switch.device, switch) for switch in fabric.switches)
    for place in places_in_service(fabric):
        hwsku = units[place.name][0].hwsku_name
        yield IntendedSwitch(place, hwsku if isinstance(hwsku, str) else "")


def _ports(view: View, places: Mapping[str, SwitchPlace]) -> Iterator[tuple[IntendedPort, Kind]]:
    """Yield the ports in use that the switches have, each with its tier, peer, rate and PFC (``Kind``)."""
    neighbors = _neighbors(view)
    for ports in view.port_sets:
        priorities = lossless_priorities(ports)
        for name in ports.switches:
            switch = view.switch_by_name[name]
            place = places[switch.device]
            for port in ports.ports:
                if port.placed:
                    neighbor = neighbors.get((name, port.name))
                    pfc: Pfc = "asymmetric" if port.asymmetric else "on" if priorities else "off"
                    kind = Kind(place.tier, _leads_to(switch, port, neighbor), ports.rate, pfc, priorities)
                    yield _port(switch, port, kind, place, neighbor), kind


def _port(
    switch: Switch, port: Port, kind: Kind, place: SwitchPlace, neighbor: IntendedNeighbor | None
) -> IntendedPort:
    up = neighbor is None or neighbor.in_service
    return IntendedPort(
        switch.device, switch.asic, port.name, "", place, kind.leads_to, kind.pfc, neighbor, up
    )


def _neighbors(view: View) -> dict[tuple[str, str], IntendedNeighbor]:
    """Return the neighbor of each switch port with a link, or with a connection beyond the fabric."""
    fabric, neighbors = view.fabric, {}
    failures = fabric.failures
    tiers = {switch.name: known_tier(switch.tier) for switch in fabric.switches}
    for link in fabric.links:
        up = failures is None or failures.works(link.a, link.b)
        neighbors[link.a, link.a_port] = IntendedNeighbor(
            link.b, link.b_port, link.to_host, tiers.get(link.b), up
        )
        if not link.to_host:
            neighbors[link.b, link.b_port] = IntendedNeighbor(
                link.a, link.a_port, False, tiers.get(link.a), up
            )
    for beyond in fabric.beyond:
        neighbors[beyond.switch, beyond.port] = IntendedNeighbor(beyond.far, "", beyond.to_host, beyond.tier)
    return neighbors


def _leads_to(switch: Switch, port: Port, neighbor: IntendedNeighbor | None) -> LeadsTo:
    if neighbor is None:
        return "host" if port.leads_to == "host" else "switch"
    own = known_tier(switch.tier)
    if neighbor.to_host:
        return "host"
    if own is None or neighbor.tier is None or own == neighbor.tier:
        return "switch"
    return "up" if neighbor.tier > own else "down"


def _names(kinds: Iterable[Kind]) -> dict[Kind, str]:
    """Return a name for each kind of ports; kinds of one name are numbered in the order of their first occurrence."""
    stems = grouped((kind.stem, kind) for kind in dict.fromkeys(kinds))
    return {
        kind: stem if len(same) == 1 else f"{stem}-{number}"
        for stem, same in stems.items()
        for number, kind in enumerate(same, 1)
    }


def _pools(fabric: Fabric) -> Iterator[HeadroomPool]:
    for switch in fabric.switches:
        for pool in switch.qos.pools:
            if pool.shared_headroom_bytes:
                yield HeadroomPool(switch.device, switch.asic, pool.name, pool.shared_headroom_bytes)


DEFAULT_SCRAPE_S = 10
"""Scrape interval without one in the intent: the longest that rule TEL001 accepts."""
SLOW_POLL_S = 10
"""Polling interval of SONiC for queues and drops of groups."""
WATERMARK_S = 120
"""Interval at which SONiC clears its PERIODIC watermarks."""
_SCRAPES_PER_WINDOW = 7
"""Ours: a rate needs two samples; a target that answers one scrape in three has them."""
_SETTLES_S = 300
"""Seconds (ours) within which a switch is back that boots, or reloads its configuration.

Alerts wait that long, since the person who restarted it does not need one.
"""


class AlertTimes(NamedTuple):
    """The scrape interval, and the windows and waiting times of alerts, in seconds.

    ``scrape``: between scrapes. ``rate``: window of rates. ``event``: how long an alert shows a single increase of a
    counter. ``storm``: period in which repeated storms count as one. ``settles``: how long an absence lasts before it
    is reported. ``patience``: how long a queue pair retries before it gives up.
    """

    scrape: int
    rate: int
    event: int
    storm: int
    settles: int
    patience: int

    @property
    def sustained(self) -> int:
        """Seconds for which a rate above 0 shows steady growth, not one burst: two windows without a common sample."""
        return 2 * self.rate

    @property
    def retries(self) -> int:
        """Seconds for which a NIC's retransmissions must continue until the death of a peer no longer explains them.

        Twice the patience and a window: at least as long as an absence (``settles``), at most an hour. No source states
        these bounds.
        """
        return min(max(self.settles, 2 * self.patience + self.rate), 3600)

    @property
    def sample(self) -> int:
        """Interval of samples in tests of alerts, in seconds: the scrape interval, or longer to keep samples few."""
        return max(self.scrape, DEFAULT_SCRAPE_S)

    @property
    def watermark(self) -> int:
        """Window in seconds in which the highest PERIODIC watermark is that of the last whole period, or a later one.

        SONiC clears the value at the end of each period, and it stays 0 until the next poll: two periods contain one
        period's last value in any phase. Seven scrapes at least, so that lost ones leave some.
        """
        return max(2 * WATERMARK_S, self.rate)

    @property
    def peaks(self) -> int:
        """Window in seconds in which a queue above Kmax must have marked: five periods of SONiC's watermarks."""
        return 5 * WATERMARK_S

    @property
    def unmarked(self) -> int:
        """Seconds for which the highest watermark of the last two periods must be above Kmax.

        A peak is visible for a period at most, and counts for two more: two peaks as far apart as possible last six
        periods, so that seven periods contain three peaks.
        """
        return self.peaks + self.watermark


def times(fabric: Fabric) -> AlertTimes:
    """Return scrape interval and windows of alerts, in seconds, from a fabric's telemetry, watchdogs and retries."""
    telemetry = fabric.telemetry
    interval_ms = telemetry.interval_ms if telemetry is not None else None
    scrape = math.ceil(interval_ms / 1000) if interval_ms else DEFAULT_SCRAPE_S
    rate = _SCRAPES_PER_WINDOW * max(scrape, SLOW_POLL_S)
    return AlertTimes(
        scrape=scrape,
        rate=rate,
        event=max(_SETTLES_S, rate),
        storm=max(2 * scrape, math.ceil(_storm_cycle_ms(fabric) / 1000) + scrape),
        settles=_SETTLES_S,
        patience=math.ceil(max(_patience_s(fabric), default=0)),
    )


def subnet_times() -> AlertTimes:
    """Return scrape interval and windows of alert rules, in seconds, of a subnet, whose intent declares no interval."""
    rate = _SCRAPES_PER_WINDOW * SUBNET_SCRAPE_S
    return AlertTimes(SUBNET_SCRAPE_S, rate, max(_SETTLES_S, rate), 0, _SETTLES_S, 0)


SUBNET_SCRAPE_S = 30
"""Scrape interval (ours): error counters change within minutes, and UFM Telemetry serves its last sample alone."""


def _storm_cycle_ms(fabric: Fabric) -> int:
    """Return the longest time from one storm on a queue to the next: detected, restored, each at the next poll."""
    return max(_cycles_ms(fabric), default=0)


def _cycles_ms(fabric: Fabric) -> Iterator[int]:
    for switch in {id(switch.ports): switch for switch in fabric.switches}.values():
        poll = switch.qos.poll.poll_ms or 0
        watchdogs = {port.qos.watchdog for port in switch.ports if port.qos is not None and port.qos.watchdog}
        for watchdog in watchdogs:
            yield (watchdog.detection_ms or 0) + (watchdog.restoration_ms or 0) + 2 * poll


def _patience_s(fabric: Fabric) -> Iterator[float]:
    for qos in {id(host.qos): host.qos for host in fabric.hosts}.values():
        patience_ns = getattr(qos.transport, "patience_ns", None)
        if patience_ns is not None:
            yield patience_ns / 1e9
