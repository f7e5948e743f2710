"""Ports of InfiniBand devices with their captured counters, the difference of two captures, and bad cables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput
from lossless.checks.rules.counting import Count, difference
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.state import BY_NAME, PORT_COUNTERS, ceiling

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.model.fabric.state import DeviceState, Identity, PlacedReading

    _Named = tuple[Identity, PlacedReading]

_SUM = "ALL"
_OWNERS = ("node", "device", "guid", "lid", "path")
"""The owners of a port, the most specific name first."""


class CountedPort(NamedTuple):
    """One port: its name in messages, its element in findings, and its counters by the kernel's names.

    ``counts`` are the amounts of these, or missing inputs: since an earlier capture where it has the counter too.
    """

    name: str
    element: str
    counters: Mapping[str, PlacedReading]
    counts: Mapping[str, Count | MissingInput]

    def number(self, name: str) -> int | None:
        """Return the amount of a counter; None where it is unknown, or no capture has the counter."""
        count = self.counts.get(name)
        return count.amount if isinstance(count, Count) else None

    def between(self, name: str) -> bool:
        """Return whether a counter is known to have counted between two captures."""
        count = self.counts.get(name)
        return isinstance(count, Count) and count.between

    def alongside(self, first: str, name: str) -> int | None:
        """Return the amount of a counter over the period of another; None where it is not known for that period."""
        if self.between(first):
            return self.number(name) if self.between(name) else None
        placed = self.counters.get(name)
        return None if placed is None else placed.number

    def window(self, name: str) -> str:
        """Return the period of a counter's amount, as the end of a sentence."""
        return "between the captures" if self.between(name) else "since its counters were cleared"


def counted_ports(device: RunningDevice) -> tuple[CountedPort, ...]:
    """Return the ports with counters, without the sum of a switch over its ports.

    Readings with the same GUID and port number are of one port, whichever other names their files give it.
    """
    before = {} if device.before is None else _by_place(device.before)
    return tuple(
        _counted_port(device, named, before.get(place, ()))
        for place, named in _by_place(device.state).items()
        if _part(place, "port") not in (None, _SUM)
    )


def infiniband_ports(device: RunningDevice) -> tuple[CountedPort, ...]:
    """Return the ports with counters that are not known to be Ethernet."""
    return tuple(port for port in counted_ports(device) if not _is_ethernet(device, port))


def printed(placed: PlacedReading) -> str:
    """Return the printed name of a counter, without the folders of sysfs and the labels of a metric."""
    return placed.reading.heading.partition("{")[0].rpartition("/")[2]


def element(device: RunningDevice, identity: Identity) -> str:
    """Return the element of a finding on a port: devices of a host are below its name, nodes have their own."""
    kind, owner = _owner(identity)
    names = [] if kind in ("node", "guid", "lid") else [device.name]
    return ":".join(name for name in (*names, owner, _part(identity, "port") or "") if name)


def port_name(identity: Identity) -> str:
    """Return the name of a port in messages."""
    kind, owner = _owner(identity)
    numbered = f"{kind.upper()} {owner}" if kind in ("guid", "lid") else owner
    return f"{numbered} port {_part(identity, 'port')}".lstrip()


def _counted_port(device: RunningDevice, named: Sequence[_Named], before: Sequence[_Named]) -> CountedPort:
    """Return a port by its most specific name, with the amounts of its counters."""
    identity = max((identity for identity, _ in named), key=len)
    counters, earlier = _widest(named), _widest(before)
    counts = {name: _count(placed, earlier.get(name)) for name, placed in counters.items()}
    return CountedPort(port_name(identity), element(device, identity), counters, counts)


def _widest(named: Iterable[_Named]) -> dict[str, PlacedReading]:
    """Return the counters of a port by their names, the widest of each that has a number."""
    counters: dict[str, PlacedReading] = {}
    for _, placed in named:
        known = counters.get(placed.reading.name)
        if known is None or _width(placed) >= _width(known):
            counters[placed.reading.name] = placed
    return counters


def _width(placed: PlacedReading) -> int:
    """Return the maximum of a counter, 0 where it has none, -1 where its value is not known."""
    return -1 if placed.number is None else placed.reading.ceiling or 0


def _count(placed: PlacedReading, earlier: PlacedReading | None) -> Count | MissingInput:
    """Return the amount of a counter, or its missing input; ibqueryerrors prints none that is below its threshold."""
    if placed.number is None:
        return MissingInput(f"the captures do not say the value of {printed(placed)}")
    if earlier is None or earlier.number is None:
        return Count(placed.number, placed, between=False)
    if placed.reading.ceiling != earlier.reading.ceiling:
        return MissingInput(f"{printed(placed)} was read with another width before")
    return difference(placed, earlier, placed.number, earlier.number)


def _place(identity: Identity) -> Identity:
    """Return the identity of a port by GUID and number where both are known, else its whole identity."""
    named = tuple(pair for pair in identity if pair[0] in ("guid", "port"))
    return named if len(named) == 2 else identity


def _by_place(state: DeviceState) -> dict[Identity, list[_Named]]:
    """Return, by the identity of each port, the readings of its counters, each with the names in its file."""
    ports: dict[Identity, list[_Named]] = {}
    for counter in PORT_COUNTERS:
        for placed in state.named(counter.name, "port"):
            first, *rest = placed.reading.identity
            # The path of a file in sysfs, which comes last, is another for each counter of a port.
            identity = (first, *(pair for pair in rest if pair[0] != "path"))
            ports.setdefault(_place(identity), []).append((identity, placed))
    return ports


def _is_ethernet(device: RunningDevice, port: CountedPort) -> bool:
    placed = next(iter(port.counters.values()))
    where = {kind: name for kind in ("device", "port") if (name := placed.part(kind)) is not None}
    return device.state.value("link_layer", **where) == "Ethernet" if len(where) == 2 else False


def _owner(identity: Identity) -> tuple[str, str]:
    """Return the kind and the name of the port's owner."""
    return next(((kind, name) for kind in _OWNERS if (name := _part(identity, kind)) is not None), ("", ""))


def _part(identity: Identity, kind: str) -> str | None:
    return next((name for own, name in identity if own == kind), None)


SYMBOL_ERRORS = "symbol_error"
RECOVERIES = "link_error_recovery"
DOWNED = "link_downed"
_MANY = ceiling(BY_NAME[SYMBOL_ERRORS])
"""The maximum of the 16-bit counter of symbol errors; a 64-bit one goes on."""


def has_bad_cable(port: CountedPort) -> bool:
    """Return whether errors on the wire made the link train again.

    From one capture that is certain only where they filled the 16-bit counter. Between two captures it is where the
    link was never down: a link that comes up counts both.
    """
    errors = port.counters.get(SYMBOL_ERRORS)
    if errors is None or not port.number(RECOVERIES):
        return False
    if not port.between(RECOVERIES):
        return (errors.number or 0) >= _MANY
    has_errors = bool(port.alongside(RECOVERIES, SYMBOL_ERRORS)) or errors.reading.is_saturated
    return has_errors and port.alongside(RECOVERIES, DOWNED) == 0
