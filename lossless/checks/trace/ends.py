"""The two ends of a trace by the names operators use: hosts, and ports of switches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.natural_order import natural_key
from lossless.ground.basics.nearest import suggestion
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.device_names import DeviceNames

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.model.fabric.view import View


class TraceEnd(NamedTuple):
    """A switch port where the trace begins or ends. ``host`` is the host known to be attached to it, or None."""

    switch: str
    port: str
    host: str | None
    host_port: str | None

    @property
    def interface(self) -> tuple[str, str]:
        """The switch and its port."""
        return self.switch, self.port


class TraceEnds:
    """The hosts attached to the ports of a fabric."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._switches = view.switch_by_name
        self.hosts: dict[str, list[TraceEnd]] = {host.name: [] for host in view.fabric.hosts}
        self._by_port: dict[tuple[str, str], TraceEnd] = {}
        for end in (*_declared(view), *_neighbors(view)):
            self.hosts.setdefault(end.host or "", []).append(end)
            self._by_port[end.switch, end.port] = end

    def find(self, spec: str) -> tuple[TraceEnd, ...]:
        """Return the ends that ``host1``, ``host1:port2``, ``leaf1:Ethernet0`` or ``Ethernet0`` names.

        A host without a port stands for each of its ports, in the order people count.

        Raises:
            LosslessError: no such host, switch or port, or a switch without a port.
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
        """Return a name, a colon and a port; the names of ASICs have a colon of their own: ``leaf1:asic0``."""
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
    """Check that a switch exists.

    Raises:
        LosslessError: it does not.
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


def _declared(view: View) -> Iterable[TraceEnd]:
    return (TraceEnd(link.a, link.a_port, link.b, link.b_port) for link in view.fabric.links if link.to_host)


def _neighbors(view: View) -> Iterable[TraceEnd]:
    """Yield neighbors named by devices that are no switch among the files."""
    for switch in view.fabric.switches:
        for port in switch.ports:
            if port.neighbor and port.neighbor[0] and port.neighbor[0] not in view.switch_by_name:
                yield TraceEnd(switch.name, port.name, port.neighbor[0], port.neighbor[1] or None)
