"""The walk to the source of pauses: from a paused port to the neighbor that pauses it, up to an unpaused sender.

A switch sends pauses of a priority because it is paused itself, or because one of its own egress ports is full. So the
walk continues at the ports of the neighbor that are paused at the same time. It ends at a host, or at a switch that
sends pauses while none of its onward ports receives any, or is stormed where the watchdog watches them. It stops
wherever a capture does not prove this.

Traffic that a switch receives from another is not sent back to it, and not up again where the other is a tier above:
pauses that the switch sends up are caused by its ports that lead down. Of several paused ports those that the watchdog
found stormed count.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput
from lossless.checks.rules.counting import Count, apart, count_of, counted, each, elapsed_s
from lossless.checks.rules.host_counters.nics import nics
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.model import Tier

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.checks.rules.counting import ClassSent
    from lossless.checks.rules.running_subjects import RunningDevice, RunningFabric
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.state import PlacedReading

STORMED = "stormed"
_LLDP_TABLE = ("lldp_device", "lldp_port", "lldp_port_description")
_LLDP_ROW = ("lldp_rem_sys_name", "lldp_rem_port_id", "lldp_rem_port_desc")
"""The readings of a neighbor in ``show lldp table`` and APPL_DB: its name, its port's identifier and description."""
_MAC = re.compile(r"(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}")
SWITCH_PORT = re.compile(r"Ethernet ?[0-9]|swp[0-9]|etp[0-9]|Eth[0-9]|[a-z]{2}-[0-9]")
"""The beginning of port names of SONiC, EOS, NVUE, vendors' aliases, NX-OS and Junos; interfaces of Linux have none."""
_ANY_TIME = MissingInput(
    "pauses count since boot: which ports a storm paused shows only with an earlier capture (--since)"
)


class PausedPort(NamedTuple):
    """A port of a device; in a walk, one that receives pauses of its priority."""

    device: RunningDevice
    port: str

    @property
    def shown(self) -> str:
        """The name of the port in messages."""
        return f"{self.device.name} {self.port}"


class Neighbor(NamedTuple):
    """The device at the other end of a link; ``to_host`` is None where its kind is unknown."""

    name: str
    port: str
    to_host: bool | None


class WrongCable(NamedTuple):
    """A port at which LLDP hears another neighbor than the declared one, and the place where it does."""

    at: PausedPort
    declared: Neighbor
    heard: Neighbor
    origin: Origin

    @property
    def shown(self) -> str:
        """The contradiction in words."""
        declared, heard = (f"{end.name} {end.port}" for end in (self.declared, self.heard))
        return f"{self.at.shown} is declared to lead to {declared}, and LLDP hears {heard}"

    @property
    def ends(self) -> frozenset[tuple[str, str]]:
        """The port with the wrong cable, and the ports of both neighbors; of a host only its name."""
        ends = ((end.name, "" if end.to_host else end.port) for end in (self.declared, self.heard))
        return frozenset({(self.at.device.name, self.at.port), *ends})


class Arrived(NamedTuple):
    """Packets of a lossless class that a neighbor sent to a port of a switch between the captures.

    ``by_nic``: by the counters of a host's NIC, not by those of a switch.
    """

    neighbor: Neighbor
    packets: int
    by_nic: bool
    origin: Origin


class Heard(NamedTuple):
    """Pauses of a priority that a neighbor counts as received."""

    pauses: int
    origin: Origin


class PauseSource(NamedTuple):
    """The source of pauses, and the ports that they paused on the way, the stormed one first.

    ``switch`` is the device where it is a switch, None for a host. ``leads_back``: pauses lead from a switch back to
    the last port of the path, over ports that its traffic should not use.
    """

    name: str
    switch: RunningDevice | None
    path: tuple[PausedPort, ...]
    leads_back: bool = False


class PauseWalk:
    """A search for the sources of the pauses of one priority through a fabric."""

    def __init__(self, fabric: RunningFabric, priority: str) -> None:
        self._priority = priority
        self._devices = {device.name: device for device in fabric.devices}
        self._neighbors = _declared_neighbors(fabric)
        self._tiers = _tiers(fabric)
        self._known = {
            *self._devices,
            *(switch.name for switch in fabric.switches),
            *fabric.hosts,
            *(neighbor.name for neighbor in self._neighbors.values()),
        }
        self._named = self._known.union(
            port.neighbor[0]
            for device in fabric.devices
            for port in device.ports.values()
            if port.neighbor is not None
        )
        self._ports_of: dict[str, frozenset[str]] = {}

    def sources(self, start: PausedPort) -> Iterator[PauseSource | MissingInput]:
        """Yield the sources of a port's pauses, and a missing input where the walk stops.

        A source is yielded for each port that it pauses. Pauses that only lead around a cycle are one missing input.
        """
        seen: set[tuple[str, str]] = set()
        paths: list[tuple[PausedPort, ...]] = [(start,)]
        ends = False
        while paths:
            path = paths.pop()
            at = path[-1]
            if (at.device.name, at.port) in seen:
                continue
            seen.add((at.device.name, at.port))
            onward = self._onward(at)
            if isinstance(onward, MissingInput):
                ends = True
                yield onward
            elif isinstance(onward, Neighbor):
                ends = True
                yield self._source(onward, path)
            else:
                paths += [(*path, port) for port in reversed(onward)]
        if not ends:
            yield leading_back(start)

    def is_stormed(self, at: PausedPort) -> bool:
        """Return whether the watchdog found a port stormed, now or between the captures."""
        return at.port in {
            placed.part("port")
            for placed in each(at.device.state, "pfcwd_status", "port", "queue")
            if placed.part("queue") == self._priority and is_storm(at.device, placed)
        }

    def goes_on(self, device: RunningDevice, port: str, sender: RunningDevice) -> bool:
        """Return whether a device may forward traffic from a neighbor at a port; False where no peer of it is known."""
        neighbor = self.neighbor(PausedPort(device, port))
        if neighbor is None or neighbor.to_host:
            return neighbor is not None
        if neighbor.name == sender.name:
            return False
        own, came_from, goes_to = map(self._tiers.get, (device.name, sender.name, neighbor.name))
        return own is None or came_from is None or goes_to is None or not (came_from > own and goes_to > own)

    def device(self, name: str) -> RunningDevice | None:
        """Return the captured device of a name, None where there is none."""
        return self._devices.get(name)

    def _source(self, neighbor: Neighbor, path: tuple[PausedPort, ...]) -> PauseSource:
        switch = None if neighbor.to_host else self._devices[neighbor.name]
        return PauseSource(
            neighbor.name, switch, path, leads_back=switch is not None and self._leads_back(path[-1])
        )

    def _onward(self, at: PausedPort) -> tuple[PausedPort, ...] | Neighbor | MissingInput:
        """Return the ports at which the walk continues, the neighbor where it ends, or the missing input."""
        neighbor = self.neighbor(at)
        if neighbor is None:
            return MissingInput(f"what is connected to {at.shown} is not known")
        if neighbor.to_host:
            return neighbor
        device = self._devices.get(neighbor.name)
        missing = self._not_comparable(at, neighbor, device)
        if missing is not None or device is None:
            return missing or MissingInput(f"there are no captures of {neighbor.name}")
        onward = self.paused_onward(device, at.device)
        if isinstance(onward, MissingInput):
            return onward
        if not onward and (unread := self._unread(device, at.device)):
            return MissingInput(
                f"no capture has the pauses that {unread} other ports of {device.name} receive"
            )
        if any(map(self.is_stormed, onward)):
            return tuple(filter(self.is_stormed, onward))
        # A watchdog that watches these ports, and found none of them stormed, found no storm that came from there.
        return neighbor if all(map(_is_watched, onward)) else onward

    def _not_comparable(
        self, at: PausedPort, neighbor: Neighbor, device: RunningDevice | None
    ) -> MissingInput | None:
        """Return the missing input where captures do not show that a neighbor sent a port's pauses; else None."""
        if device is None:
            return MissingInput(f"there are no captures of {neighbor.name}")
        if apart(at.device, device):
            return MissingInput(f"{at.device.name} and {device.name} were captured at different times")
        sent = count_of(device, "pfc_tx", port=neighbor.port, priority=self._priority)
        if isinstance(sent, MissingInput):
            return sent
        said = f"{device.name} has not counted the pauses that {at.shown} receives"
        return None if sent.amount else MissingInput(said)

    def paused_onward(
        self, device: RunningDevice, sender: RunningDevice
    ) -> tuple[PausedPort, ...] | MissingInput:
        """Return the paused ports of known peers at which a device may forward traffic from a neighbor.

        A missing input where it is unknown which ports are paused.
        """
        paused = self.paused(device)
        if isinstance(paused, MissingInput):
            return paused
        return tuple(port for port in paused if self.goes_on(device, port.port, sender))

    def paused(self, device: RunningDevice) -> tuple[PausedPort, ...] | MissingInput:
        """Return the ports of a device that are stormed now or were paused between the captures, or a missing input."""
        stormed = {
            placed.part("port") or ""
            for placed in each(device.state, "pfcwd_status", "port", "queue")
            if placed.part("queue") == self._priority and placed.reading.value == STORMED
        }
        counts = [counted(device, placed, "port", "priority") for placed in self._received(device)]
        unknown = next((count for count in counts if isinstance(count, MissingInput)), None)
        if unknown is not None or not counts:
            return unknown or MissingInput(f"no capture has the pauses that {device.name} receives")
        paused = [count for count in counts if isinstance(count, Count) and count.amount]
        if not all(count.between for count in paused):
            if not stormed:
                return _ANY_TIME
            paused = [count for count in paused if count.between]
        return tuple(PausedPort(device, port) for port in sorted(stormed | {count.port for count in paused}))

    def _received(self, device: RunningDevice) -> Sequence[PlacedReading]:
        readings = each(device.state, "pfc_rx", "port", "priority")
        return [placed for placed in readings if placed.part("priority") == self._priority]

    def _unread(self, device: RunningDevice, sender: RunningDevice) -> int:
        """Return the number of onward ports for a neighbor's traffic that have no count of received pauses."""
        read = {placed.part("port") for placed in self._received(device)}
        ports = {port for name, port in self._neighbors if name == device.name} | device.ports.keys()
        return sum(port not in read and self.goes_on(device, port, sender) for port in ports)

    def _leads_back(self, start: PausedPort) -> bool:
        """Return whether pauses lead from a port back to it, over any ports."""
        seen: set[tuple[str, str]] = set()
        ports = [start]
        while ports:
            neighbor = self.neighbor(ports.pop())
            device = None if neighbor is None else self._devices.get(neighbor.name)
            paused = () if device is None else self.paused(device)
            for port in () if isinstance(paused, MissingInput) else paused:
                if (port.device.name, port.port) == (start.device.name, start.port):
                    return True
                if (port.device.name, port.port) not in seen:
                    seen.add((port.device.name, port.port))
                    ports.append(port)
        return False

    def neighbor(self, at: PausedPort) -> Neighbor | None:
        """Return the neighbor at a port by an intent, else by the configuration; by LLDP without both, or against them.

        It is None without any.
        """
        wrong = self.contradicted(at)
        if wrong is not None:
            return wrong[1]
        return self._declared_neighbor(at) or self._heard_neighbor(at)

    def contradicted(self, at: PausedPort) -> tuple[Neighbor, Neighbor] | None:
        """Return the declared neighbor at a port and the one that LLDP heard there, if they are two; else None.

        A name that nothing else has proves nothing: configurations may name servers in their own way. The same holds
        for a port that the other switch does not have.
        """
        declared, heard = self._declared_neighbor(at), self._heard_neighbor(at)
        if declared is None or heard is None:
            return None
        if declared.name == heard.name:
            ports = {declared.port, heard.port}
            return (declared, heard) if len(ports) > 1 and ports <= self._ports(heard.name) else None
        is_real = declared.name in self._known or declared.name in self._heard
        return (declared, heard) if is_real and heard.name in self._named else None

    def wrong_cables(self) -> Sequence[Sequence[WrongCable]]:
        """Return the ports with another neighbor than declared, those together that share an end."""
        groups: list[list[WrongCable]] = []
        for device in self._devices.values():
            for port in device.ports:
                at = PausedPort(device, port)
                wrong = self.contradicted(at)
                heard = device.state.of(_LLDP_TABLE[0], port=port) or device.state.of(
                    _LLDP_ROW[0], table="LLDP_ENTRY_TABLE", key=port
                )
                if wrong is not None and heard is not None:
                    own = WrongCable(at, *wrong, heard.origin)
                    joined = [group for group in groups if any(own.ends & other.ends for other in group)]
                    groups = [group for group in groups if group not in joined]
                    groups.append([*(other for group in joined for other in group), own])
        return groups

    def arrived(
        self, sent: Mapping[str, Mapping[str, ClassSent]], device: RunningDevice, port: str
    ) -> Arrived | None:
        """Return the packets of a lossless class that came to a port, by the counters of its neighbor; None if unknown.

        ``sent`` is what all switches sent by classes. The count is scaled to the time of the port's own device.
        """
        neighbor = self.neighbor(PausedPort(device, port))
        peer = None if neighbor is None else self._devices.get(neighbor.name)
        if neighbor is None or peer is None or apart(device, peer):
            return None
        own_s, peer_s = elapsed_s(device), elapsed_s(peer)
        scale = own_s / peer_s if own_s and peer_s else 1
        there = sent[peer.name].get(neighbor.port)
        if there is not None:
            return Arrived(neighbor, int(there.lossless * scale), False, there.origin)
        own = nics(peer)
        nic = next((nic for nic in own if nic.name == neighbor.port), own[0] if len(own) == 1 else None)
        counts = {} if nic is None or nic.whole is None else nic.parts("priority_tx_packets", "priority")
        lossless = device.lossless[port].priorities if port in device.lossless else ()
        inside = [counts[number] for number in lossless if number in counts]
        if not inside:
            return None
        return Arrived(
            neighbor, int(sum(placed.number or 0 for placed in inside) * scale), True, inside[0].origin
        )

    def heard_pauses(self, neighbor: Neighbor | None, priority: int) -> Sequence[Heard]:
        """Return the pauses that a captured neighbor received: a switch by its port, a host by all of its NICs."""
        peer = None if neighbor is None else self._devices.get(neighbor.name)
        if neighbor is None or peer is None:
            return ()
        count = count_of(peer, "pfc_rx", port=neighbor.port, priority=str(priority))
        if isinstance(count, Count):
            return [Heard(count.amount, count.placed.origin)]
        counts = [nic.parts("pfc_rx", "priority").get(priority) for nic in nics(peer)]
        return [Heard(placed.number or 0, placed.origin) for placed in counts if placed is not None]

    def _declared_neighbor(self, at: PausedPort) -> Neighbor | None:
        return self._neighbors.get((at.device.name, at.port)) or _configured_neighbor(at)

    def _ports(self, name: str) -> frozenset[str]:
        """Return the ports of a captured switch that counted pauses; none of a host or without a capture."""
        if name not in self._ports_of:
            captured = self._devices.get(name)
            counted_pauses = () if captured is None else captured.state.named("pfc_rx", "port")
            self._ports_of[name] = frozenset(placed.part("port") or "" for placed in counted_pauses)
        return self._ports_of[name]

    @cached_property
    def _heard(self) -> frozenset[str]:
        """The names of all devices that LLDP heard."""
        return frozenset(
            self._called(placed.reading.value.partition(" ---")[0])
            for device in self._devices.values()
            for placed in device.state.every(_LLDP_TABLE[0], _LLDP_ROW[0])
            if isinstance(placed.reading.value, str)
        )

    def _called(self, name: str) -> str:
        """Return the name of a device without its domain, where captures, an intent or configurations name it so."""
        short = name.partition(".")[0]
        return short if name not in self._named and short in self._named else name

    def _heard_neighbor(self, at: PausedPort) -> Neighbor | None:
        """Return the neighbor that LLDP heard at a port; None without one.

        A host's lldpd names its port by the MAC address, and by the interface in the description. A switch is one that
        was captured, or whose port has the name of a switch's port.
        """
        state = at.device.state
        shown = [state.value(name, port=at.port) for name in _LLDP_TABLE]
        stored = [state.value(name, table="LLDP_ENTRY_TABLE", key=at.port) for name in _LLDP_ROW]
        # The line below the table of the command ends its last row, in the column in which it ends.
        name, *words = (
            word.partition(" ---")[0] if isinstance(word, str) else None
            for word in (shown if isinstance(shown[0], str) else stored)
        )
        ports = [word for word in words if word is not None and not _MAC.match(word)]
        if name is None or not ports:
            return None
        name = self._called(name)
        own = self._ports(name)
        port = next((port for port in ports if port in own), ports[0])
        return Neighbor(name, port, to_host=not own and SWITCH_PORT.match(port) is None)


def leading_back(start: PausedPort) -> MissingInput:
    """Return the missing input for pauses of a port without a source: they lead around a cycle, or back to it."""
    return MissingInput(f"the pauses that storm {start.shown} lead back to it, as in a PFC deadlock")


def is_storm(device: RunningDevice, status: PlacedReading) -> bool:
    """Return whether a queue is stormed, or was between the captures, by its status."""
    if status.reading.value == STORMED:
        return True
    port, queue = status.part("port") or "", status.part("queue") or ""
    detected = count_of(device, "pfcwd_detected", port=port, queue=queue)
    return isinstance(detected, Count) and detected.between and bool(detected.amount)


def _is_watched(at: PausedPort) -> bool:
    """Return whether a capture has the watchdog's status of a port."""
    return at.device.state.of("pfcwd_status", port=at.port) is not None


def _tiers(fabric: RunningFabric) -> Mapping[str, int]:
    """Return the known tiers of switches, by an intent, else by their configuration."""
    deployed = (device.switch for device in fabric.devices)
    switches = [*(switch for switch in deployed if switch is not None), *fabric.switches]
    return {switch.name: int(switch.tier) for switch in switches if isinstance(switch.tier, Tier)}


def _declared_neighbors(fabric: RunningFabric) -> Mapping[tuple[str, str], Neighbor]:
    """Return the neighbor that an intent connects to each port of a switch."""
    neighbors = {}
    for link in fabric.links:
        neighbors[link.a, link.a_port] = Neighbor(link.b, link.b_port, link.to_host)
        if not link.to_host:
            neighbors[link.b, link.b_port] = Neighbor(link.a, link.a_port, to_host=False)
    return neighbors


def _configured_neighbor(at: PausedPort) -> Neighbor | None:
    """Return the neighbor that the configuration of a device declares for a port; None without one."""
    port = at.device.ports.get(at.port)
    if port is None or port.neighbor is None:
        return None
    to_host = None if port.leads_to is None else port.leads_to == "host"
    return Neighbor(*port.neighbor, to_host)
