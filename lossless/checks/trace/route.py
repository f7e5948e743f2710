"""Paths between two ports of a fabric: the shortest that go up and then down, else the shortest; and their ends.

Which of them is chosen does not depend on the order of files or links: at every step it is the lowest name, in natural
order.

The two ends of a trace are given by the names operators use: hosts, and ports of switches.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.findings import natural_key
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import suggestion
from lossless.model.fabric.cabling import DeviceNames
from lossless.model.fabric.model import known_tier

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.model.fabric.model import Tier
    from lossless.model.fabric.view import View


class TraceEnd(NamedTuple):
    """A switch port where a trace begins or ends.

    ``host`` is the device attached to it, a host of an intent or a neighbor without a file, None without one.
    """

    switch: str
    port: str
    host: str | None
    host_port: str | None

    @property
    def interface(self) -> tuple[str, str]:
        """The switch and its port."""
        return self.switch, self.port


class TraceEnds:
    """The ends that a trace can have: hosts attached to a fabric, neighbors without a file, and ports of switches."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._switches = view.switch_by_name
        self.hosts: dict[str, list[TraceEnd]] = {host.name: [] for host in view.fabric.hosts}
        self._by_port: dict[tuple[str, str], TraceEnd] = {}
        for end in (
            *(
                TraceEnd(link.a, link.a_port, link.b, link.b_port)
                for link in view.fabric.links
                if link.to_host
            ),
            *_neighbors(view),
        ):
            self.hosts.setdefault(end.host or "", []).append(end)
            self._by_port[end.switch, end.port] = end

    def find(self, spec: str) -> tuple[TraceEnd, ...]:
        """Return the ends that ``host1``, ``host1:port2``, ``leaf1:Ethernet0`` or ``Ethernet0`` names.

        A host without a port stands for each of its ports, in natural order.

        Raises:
            LosslessError: no such host, switch or port, a switch without a port, or a host without a link.
        """
        name, colon, port = self._parsed(spec)
        name = DeviceNames((*self._switches, *self.hosts)).find(name) or name
        if name in self._switches:
            return (self._at_switch(name, port),)
        if name in self.hosts:
            return self._at_host(name, port)
        if len(self._switches) == 1 and not colon:
            (only,) = self._switches
            if self._view.port(only, name) is not None:
                return (self._at_switch(only, name),)
        raise LosslessError(self._unknown(name))

    def _parsed(self, spec: str) -> tuple[str, str, str]:
        """Return the device, the colon and the port of a text, the last two empty without a port.

        The names of ASICs have a colon of their own: ``leaf1:asic0``.
        """
        if spec in self._switches:
            return spec, "", ""
        by_last_colon = spec.rpartition(":")
        return by_last_colon if by_last_colon[0] in self._switches else spec.partition(":")

    def _at_switch(self, switch: str, port: str) -> TraceEnd:
        names = [port.name for port in self._switches[switch].ports]
        if not port:
            example = f"; name one of its ports, like {switch}:{names[0]}" if names else ", and has no ports"
            raise LosslessError(f"{switch} is a switch{example}")
        if port not in names:
            raise LosslessError(f"{switch} has no port {port!r}{_suggest(port, names)}")
        return self._by_port.get((switch, port)) or TraceEnd(switch, port, None, None)

    def _at_host(self, host: str, port: str) -> tuple[TraceEnd, ...]:
        ends = sorted(self.hosts[host], key=lambda end: natural_key(end.host_port or ""))
        if not ends:
            raise LosslessError(f"{host} has no link")
        if not port:
            return tuple(ends)
        names = [end.host_port or "" for end in ends]
        if port not in names:
            raise LosslessError(f"{host} has no port {port!r}{_suggest(port, names)}")
        return tuple(end for end in ends if end.host_port == port)

    def _unknown(self, name: str) -> str:
        names = [*self.hosts, *self._switches]
        if len(self._switches) == 1:
            names += [port.name for switch in self._switches.values() for port in switch.ports]
        what = "host or switch" if self.hosts or len(self._switches) > 1 else "port"
        return f"no {what} {name!r}{_suggest(name, names)}"


def check_switch(view: View, name: str) -> None:
    """Check that a fabric has a switch of a name.

    Raises:
        LosslessError: it has none.
    """
    if name not in view.switch_by_name:
        raise LosslessError(f"no switch {name!r}{_suggest(name, view.switch_by_name)}")


def check_names(view: View) -> None:
    """Check that every switch has a name of its own: a shared name is ambiguous.

    Raises:
        LosslessError: two files have the same hostname.
    """
    files: dict[str, str] = {}
    for switch in view.fabric.switches:
        file = switch.origin.file
        if switch.name in files:
            raise LosslessError(f"{files[switch.name]} and {file} both have the hostname {switch.name!r}")
        files[switch.name] = file


def _suggest(name: str, names: Iterable[str]) -> str:
    return suggestion(name, sorted(names, key=natural_key))


def _neighbors(view: View) -> Iterable[TraceEnd]:
    """Yield the switch ports whose configured neighbor is no switch of the fabric, with that neighbor as the host."""
    for switch in view.fabric.switches:
        for port in switch.ports:
            if port.neighbor and port.neighbor[0] and port.neighbor[0] not in view.switch_by_name:
                yield TraceEnd(switch.name, port.name, port.neighbor[0], port.neighbor[1] or None)


PortPair = tuple[str, str]
"""The ports of a link: on the near switch, and on the far one."""


class TraceStep(NamedTuple):
    """A switch on a path, with the ports by which a packet enters and leaves it."""

    switch: str
    ingress: str
    egress: str


class TraceState(NamedTuple):
    """A place of a packet: at a switch, already going down or not, past the switch it must meet or not."""

    switch: str
    down: bool
    met: bool


class TraceRoute(NamedTuple):
    """The chosen path, the number of paths of its length, and the steps of these, each with its distance in hops."""

    source: TraceEnd
    target: TraceEnd
    steps: tuple[TraceStep, ...]
    equal: int
    others: tuple[tuple[int, TraceStep], ...]
    up_down: bool
    detour: bool


def find_route(
    view: View, sources: Sequence[TraceEnd], targets: Sequence[TraceEnd], via: str | None
) -> TraceRoute:
    """Return the shortest path from one of ``sources`` to one of ``targets``, through the switch ``via`` if given.

    Of several pairs with paths of that length the first is taken. A path that goes up and then down is preferred to a
    shorter one that does not.

    Raises:
        LosslessError: the two ends are one, or no path leads from one to the other.
    """
    pairs = [
        (source, target) for source in sources for target in targets if source.interface != target.interface
    ]
    if not pairs:
        raise LosslessError("a packet needs two ends: both name the same port")
    links = _Links(view)
    for tiers, up_down in ((links.tiers, True), ({}, False)):
        routes = [route for pair in pairs if (route := _route(links, tiers, *pair, via)) is not None]
        if routes:
            return min(routes, key=lambda route: len(route.steps))._replace(up_down=up_down)
    raise LosslessError(_no_path(*pairs[0], via))


class _Links:
    """The links between ports of switches, without those known to be down or declared out of service."""

    def __init__(self, view: View) -> None:
        tiers = ((switch.name, known_tier(switch.tier)) for switch in view.fabric.switches)
        self.tiers = {name: tier for name, tier in tiers if tier is not None}
        self.between: dict[str, dict[str, list[PortPair]]] = {}
        stated = view.fabric.failures
        for link in view.fabric.links:
            ends = view.port(link.a, link.a_port), view.port(link.b, link.b_port)
            works = stated is None or stated.works(link.a, link.b)
            if (
                works
                and not link.to_host
                and all((end is not None and end.admin_up is not False) for end in ends)
            ):
                self._add(link.a, link.b, (link.a_port, link.b_port))
                self._add(link.b, link.a, (link.b_port, link.a_port))

    def _add(self, near: str, far: str, ports: PortPair) -> None:
        self.between.setdefault(near, {}).setdefault(far, []).append(ports)

    def ports(self, near: str, far: str) -> list[PortPair]:
        """Return the port pairs of the links from one switch to another, in natural order."""
        return sorted(self.between[near][far], key=lambda pair: (natural_key(pair[0]), natural_key(pair[1])))


def _route(
    links: _Links, tiers: Mapping[str, Tier], source: TraceEnd, target: TraceEnd, via: str | None
) -> TraceRoute | None:
    levels = _levels(links, tiers, source.switch, target.switch, via)
    if levels is None:
        return None
    state = levels[0][0]
    switches = [state.switch]
    for level in levels[1:]:
        ahead = set(level).intersection(_after(links, tiers, state, via))
        state = min(ahead, key=lambda after: (natural_key(after.switch), after))
        switches.append(state.switch)
    steps = _steps(links, switches, source.port, target.port)
    direct = levels if via is None else _levels(links, tiers, source.switch, target.switch, None)
    detour = direct is not None and len(levels) > len(direct)
    # A path chosen among the shortest is counted among all of them.
    whole, meets = (levels, via) if detour or direct is None else (direct, None)
    others = tuple(dict.fromkeys(_all_steps(links, tiers, whole, meets, source.port, target.port)))
    return TraceRoute(source, target, steps, _count(links, tiers, whole, meets), others, True, detour)


def _levels(
    links: _Links, tiers: Mapping[str, Tier], source: str, target: str, via: str | None
) -> list[list[TraceState]] | None:
    """Return the states of all shortest paths by their distance from the source; None where there is no path."""
    start = TraceState(source, down=False, met=via in (None, source))
    levels, seen = [[start]], {start}
    while not any(state.switch == target and state.met for state in levels[-1]):
        reached = {after for state in levels[-1] for after in _after(links, tiers, state, via)} - seen
        if not reached:
            return None
        seen |= reached
        levels.append(sorted(reached))
    levels[-1] = [state for state in levels[-1] if state.switch == target and state.met]
    for i in range(len(levels) - 2, -1, -1):
        ahead = set(levels[i + 1])
        levels[i] = [s for s in levels[i] if ahead.intersection(_after(links, tiers, s, via))]
    return levels


def _after(
    links: _Links, tiers: Mapping[str, Tier], state: TraceState, via: str | None
) -> Iterator[TraceState]:
    """Yield the states after one more link; a path that went down or across takes no link up, where tiers are known."""
    here = tiers.get(state.switch)
    for far in links.between.get(state.switch, {}):
        there = tiers.get(far)
        both_known = here is not None and there is not None
        up = both_known and there > here  # type: ignore[operator]
        if up and state.down:
            continue
        yield TraceState(far, state.down or (both_known and not up), state.met or far == via)


def _steps(links: _Links, switches: Sequence[str], first: str, last: str) -> tuple[TraceStep, ...]:
    steps, ingress = [], first
    for near, far in pairwise(switches):
        egress, after = links.ports(near, far)[0]
        steps.append(TraceStep(near, ingress, egress))
        ingress = after
    return (*steps, TraceStep(switches[-1], ingress, last))


def _count(
    links: _Links, tiers: Mapping[str, Tier], levels: Sequence[Sequence[TraceState]], via: str | None
) -> int:
    """Return the number of paths over the states of ``levels``, each of parallel links counted."""
    paths = {levels[0][0]: 1}
    for level in levels[1:]:
        ahead = dict.fromkeys(level, 0)
        for state, number in paths.items():
            for after in set(_after(links, tiers, state, via)).intersection(ahead):
                ahead[after] += number * len(links.between[state.switch][after.switch])
        paths = ahead
    return sum(paths.values())


def _all_steps(
    links: _Links,
    tiers: Mapping[str, Tier],
    levels: Sequence[Sequence[TraceState]],
    via: str | None,
    first: str,
    last: str,
) -> Iterator[tuple[int, TraceStep]]:
    """Yield every step on the paths over the states of ``levels``, with the number of switches before it."""
    entries: dict[TraceState, set[str]] = {levels[0][0]: {first}}
    for distance, (here, ahead) in enumerate(pairwise(levels)):
        reached: dict[TraceState, set[str]] = {}
        for state in here:
            for after in set(_after(links, tiers, state, via)).intersection(ahead):
                for egress, ingress in links.ports(state.switch, after.switch):
                    reached.setdefault(after, set()).add(ingress)
                    here_in = entries.get(state, ())
                    yield from ((distance, TraceStep(state.switch, entry, egress)) for entry in here_in)
        entries = reached
    for state, ports in entries.items():
        yield from ((len(levels) - 1, TraceStep(state.switch, entry, last)) for entry in ports)


def _no_path(source: TraceEnd, target: TraceEnd, via: str | None) -> str:
    through = f" through {via}" if via else ""
    return f"no link leads from {source.switch} to {target.switch}{through}"
