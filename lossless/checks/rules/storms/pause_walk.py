"""Where pauses come from: from a port that is paused to the neighbor that pauses it, to the one that nobody pauses.

A switch sends pauses of a priority because something pauses it, or because one of its own egress ports is full. So the
walk goes on at every port of the neighbor that is paused in the same time, and ends at a host, or at a switch that
sends pauses and receives none. It stops wherever a capture does not say this for certain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput
from lossless.checks.rules.counting import Count, count_of, counted, each
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.checks.rules.running_subjects import RunningDevice, RunningFabric

STORMED = "stormed"
_ANY_TIME = MissingInput(
    "pauses count since boot: which ports a storm paused shows only with an earlier capture (--since)"
)


class PausedPort(NamedTuple):
    """A port that receives pauses of a priority."""

    device: RunningDevice
    port: str

    @property
    def shown(self) -> str:
        """What people call it."""
        return f"{self.device.name} {self.port}"


class Neighbor(NamedTuple):
    """What is at the other end of a link; ``to_host`` is None where nothing says what it is."""

    name: str
    port: str
    to_host: bool | None


class PauseSource(NamedTuple):
    """Where pauses come from, and the ports that they paused on the way, that of the storm first.

    ``switch`` is the device where it is a switch, None for a host.
    """

    name: str
    switch: RunningDevice | None
    path: tuple[PausedPort, ...]


class PauseWalk:
    """Follows pauses of one priority through a fabric."""

    def __init__(self, fabric: RunningFabric, priority: str) -> None:
        self._priority = priority
        self._devices = {device.name: device for device in fabric.devices}
        self._neighbors = _neighbors(fabric)

    def sources(self, start: PausedPort) -> Iterator[PauseSource | MissingInput]:
        """Yield where the pauses of a port come from, once each, and where the walk had to stop."""
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
                yield PauseSource(onward.name, None if onward.to_host else self._devices[onward.name], path)
            else:
                paths += [(*path, port) for port in reversed(onward)]
        if not ends:
            yield MissingInput(f"the pauses that storm {start.shown} lead back to it, as in a PFC deadlock")

    def _onward(self, at: PausedPort) -> tuple[PausedPort, ...] | Neighbor | MissingInput:
        """Return the ports at which the walk goes on, the neighbor where it ends, or why neither is known."""
        neighbor = self._neighbors.get((at.device.name, at.port)) or _configured_neighbor(at)
        if neighbor is None:
            return MissingInput(f"what is connected to {at.shown} is not known")
        device = self._devices.get(neighbor.name)
        if neighbor.to_host:
            return neighbor
        if device is None:
            return MissingInput(f"there are no captures of {neighbor.name}")
        sent = count_of(device, "pfc_tx", port=neighbor.port, priority=self._priority)
        if isinstance(sent, MissingInput):
            return sent
        if not sent.amount:
            return MissingInput(f"{device.name} has not counted the pauses that {at.shown} receives")
        paused = self.paused(device)
        if isinstance(paused, MissingInput):
            return paused
        return paused or neighbor

    def paused(self, device: RunningDevice) -> tuple[PausedPort, ...] | MissingInput:
        """Return the ports of a device that are paused now, or were between the captures."""
        stormed = {
            placed.part("port") or ""
            for placed in each(device.state, "pfcwd_status", "port", "queue")
            if placed.part("queue") == self._priority and placed.reading.value == STORMED
        }
        counts = [
            counted(device, placed, "port", "priority")
            for placed in each(device.state, "pfc_rx", "port", "priority")
            if placed.part("priority") == self._priority
        ]
        unknown = next((count for count in counts if isinstance(count, MissingInput)), None)
        if unknown is not None or not counts:
            return unknown or MissingInput(f"no capture has the pauses that {device.name} receives")
        paused = [count for count in counts if isinstance(count, Count) and count.amount]
        if not all(count.between for count in paused):
            if not stormed:
                return _ANY_TIME
            paused = [count for count in paused if count.between]
        return tuple(PausedPort(device, port) for port in sorted(stormed | {count.port for count in paused}))


def _neighbors(fabric: RunningFabric) -> Mapping[tuple[str, str], Neighbor]:
    """Return what an intent connects to each port of a switch."""
    neighbors = {}
    for link in fabric.links:
        neighbors[link.a, link.a_port] = Neighbor(link.b, link.b_port, link.to_host)
        if not link.to_host:
            neighbors[link.b, link.b_port] = Neighbor(link.a, link.a_port, to_host=False)
    return neighbors


def _configured_neighbor(at: PausedPort) -> Neighbor | None:
    """Return what the configuration of a device says is connected to a port."""
    port = at.device.ports.get(at.port)
    if port is None or port.neighbor is None:
        return None
    to_host = None if port.leads_to is None else port.leads_to == "host"
    return Neighbor(*port.neighbor, to_host)
