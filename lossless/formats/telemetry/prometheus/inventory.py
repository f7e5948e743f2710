"""Intended values for rules: devices, ports and their neighbors, kinds of ports, pools.

Prometheus gets them as recorded series with constant values (:mod:`.recordings`), so that every other rule is written
once, for all fabrics, and joins the values of a fabric from there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.dynamic_model import with_computed_buffers
from lossless.formats.telemetry.places import places_in_service, switch_places
from lossless.formats.telemetry.prometheus.kinds import Kind, LeadsTo, Pfc, lossless_priorities
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.tier import known_tier
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lossless.formats.telemetry.places import SwitchPlace
    from lossless.model.fabric.model import Fabric, Port, Switch
    from lossless.model.fabric.tier import Tier


class IntendedNeighbor(NamedTuple):
    """The device at the other end of a port; ``port`` is empty where its port is unknown."""

    name: str
    port: str
    to_host: bool
    tier: Tier | None
    in_service: bool = True


class IntendedSwitch(NamedTuple):
    """A device, by the name in its DEVICE_METADATA."""

    place: SwitchPlace
    hwsku: str


class IntendedPort(NamedTuple):
    """A port that the intent uses, the name of its kind, and its neighbor.

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
    """A pool that provides shared headroom."""

    switch: str
    namespace: str
    pool: str
    headroom_bytes: int


class Inventory(NamedTuple):
    """All values that rules take from an intent. ``kinds`` are by name; ``hosts`` are names."""

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
        """The queues with an intended watchdog."""
        lossless = (item for kind in self.kinds.values() for item in kind.priorities)
        return tuple(sorted({item.priority for item in lossless if item.detection_s is not None}))

    def _distinct(self, field: str) -> tuple[int, ...]:
        return tuple(
            sorted({getattr(item, field) for kind in self.kinds.values() for item in kind.priorities})
        )


def inventory(fabric: Fabric) -> Inventory:
    """Return the intended values of a fabric."""
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
    """Yield the devices that are in service."""
    units = grouped((switch.device, switch) for switch in fabric.switches)
    for place in places_in_service(fabric):
        hwsku = units[place.name][0].hwsku_name
        yield IntendedSwitch(place, hwsku if isinstance(hwsku, str) else "")


def _ports(view: View, places: Mapping[str, SwitchPlace]) -> Iterator[tuple[IntendedPort, Kind]]:
    """Yield the ports with QoS, and the kind of each."""
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
    """Return the neighbor of each port of a switch."""
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
    """Return a name for each kind, in the order of their first occurrence."""
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
