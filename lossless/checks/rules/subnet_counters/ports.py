"""Ports of InfiniBand devices with the counters that captures have of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.state.port_counters import PORT_COUNTERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.model.fabric.state.device_state import PlacedReading
    from lossless.model.fabric.state.readings import Identity

_SUM = "ALL"
_OWNERS = ("node", "device", "guid", "lid", "path")
"""What a port is a port of, the name that says most first."""


class CountedPort(NamedTuple):
    """One port: what a message calls it, what a finding shows on, its counters by the names of the kernel."""

    name: str
    element: str
    counters: Mapping[str, PlacedReading]

    def number(self, name: str) -> int | None:
        """Return what a counter says, None where no capture does."""
        placed = self.counters.get(name)
        return None if placed is None else placed.number


def counted_ports(device: RunningDevice) -> tuple[CountedPort, ...]:
    """Return the ports with counters; the sum of a switch over its ports is none.

    A port that files name by its GUID is one, whatever else they call it.
    """
    return tuple(
        _counted_port(device, named)
        for place, named in grouped(
            (_place(identity), (identity, placed)) for identity, placed in _counters(device)
        ).items()
        if _part(place, "port") not in (None, _SUM)
    )


def infiniband_ports(device: RunningDevice) -> tuple[CountedPort, ...]:
    """Return the ports with counters that are not known to be Ethernet."""
    return tuple(port for port in counted_ports(device) if not _is_ethernet(device, port))


def printed(placed: PlacedReading) -> str:
    """Return the name of a counter as it is printed, without the folders of sysfs and the labels of a metric."""
    return placed.reading.heading.partition("{")[0].rpartition("/")[2]


def element(device: RunningDevice, identity: Identity) -> str:
    """Return what a finding on a port shows on: devices of a host are below its name, nodes have their own."""
    kind, owner = _owner(identity)
    names = [] if kind in ("node", "guid", "lid") else [device.name]
    return ":".join(name for name in (*names, owner, _part(identity, "port") or "") if name)


def port_name(identity: Identity) -> str:
    """Return what a message calls a port."""
    kind, owner = _owner(identity)
    numbered = f"{kind.upper()} {owner}" if kind in ("guid", "lid") else owner
    return f"{numbered} port {_part(identity, 'port')}".lstrip()


def _counted_port(device: RunningDevice, named: Sequence[tuple[Identity, PlacedReading]]) -> CountedPort:
    """Return a port by the name that says most, and its counters, the widest of each that says a number."""
    identity = max((identity for identity, _ in named), key=len)
    counters: dict[str, PlacedReading] = {}
    for _, placed in named:
        known = counters.get(placed.reading.name)
        if known is None or _width(placed) >= _width(known):
            counters[placed.reading.name] = placed
    return CountedPort(port_name(identity), element(device, identity), counters)


def _width(placed: PlacedReading) -> int:
    """Return where a counter stops, -1 where its value is not known."""
    return -1 if placed.number is None else placed.reading.ceiling or 0


def _place(identity: Identity) -> Identity:
    """Return the GUID and number of a port where both are said, else all that is."""
    named = tuple(pair for pair in identity if pair[0] in ("guid", "port"))
    return named if len(named) == 2 else identity


def _counters(device: RunningDevice) -> Iterator[tuple[Identity, PlacedReading]]:
    for counter in PORT_COUNTERS:
        for placed in device.state.named(counter.name, "port"):
            first, *rest = placed.reading.identity
            # The path of a file in sysfs, which comes last, is another for each counter of a port.
            yield (first, *(pair for pair in rest if pair[0] != "path")), placed


def _is_ethernet(device: RunningDevice, port: CountedPort) -> bool:
    placed = next(iter(port.counters.values()))
    where = {kind: name for kind in ("device", "port") if (name := placed.part(kind)) is not None}
    return device.state.value("link_layer", **where) == "Ethernet" if len(where) == 2 else False


def _owner(identity: Identity) -> tuple[str, str]:
    """Return the kind and the name of what has the port."""
    return next(((kind, name) for kind in _OWNERS if (name := _part(identity, kind)) is not None), ("", ""))


def _part(identity: Identity, kind: str) -> str | None:
    return next((name for own, name in identity if own == kind), None)
