"""The state of a switch with several ASICs, one for each: SONiC keeps the databases of every ASIC in a namespace.

Commands may print ports of all ASICs in one table, without their namespaces. Such a value belongs to the only ASIC that
has a port of that name; a value without a port, as a setting of counterpoll, belongs to all. A row of a database of the
host belongs to no ASIC.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.grouping import grouped
from lossless.model.fabric.state.device_state import DeviceState

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lossless.model.fabric.state.readings import StateCapture, StateReading

HOST = None
"""The key of the host's own state, which belongs to no ASIC."""


def namespaces_of(state: DeviceState) -> tuple[str, ...]:
    """Return the namespaces in the values of a state, in their order."""
    names = (_part(reading, "namespace") for capture in state.captures for reading in capture.readings)
    return tuple(dict.fromkeys(name for name in names if name is not None))


def state_of_each(
    state: DeviceState, configured: Mapping[str | None, Iterable[str]]
) -> Mapping[str | None, DeviceState]:
    """Return the state of each ASIC, and of the host; ``configured`` are the ports in their configurations."""
    names = tuple(dict.fromkeys((HOST, *namespaces_of(state), *configured)))
    owners = _owners(state, configured)
    captures: dict[str | None, list[StateCapture]] = {name: [] for name in names}
    for capture in state.captures:
        pairs = ((name, reading) for reading in capture.readings for name in _homes(reading, names, owners))
        readings = grouped(pairs)
        # That a table of all ASICs has nothing of one is said of that one, too.
        own = readings if _names_asics(capture) else names
        for name in own:
            captures[name].append(capture._replace(readings=tuple(readings.get(name, ()))))
    return {
        name: DeviceState(f"{state.name}:{name}" if name else state.name, own)
        for name, own in captures.items()
    }


def _names_asics(capture: StateCapture) -> bool:
    return any(_part(reading, "namespace") is not None for reading in capture.readings)


def _owners(state: DeviceState, configured: Mapping[str | None, Iterable[str]]) -> Mapping[str, set[str]]:
    """Return the namespaces that have a port of each name."""
    owners: dict[str, set[str]] = {}
    for name, port in (
        *_named_ports(state),
        *((n, port) for n, ports in configured.items() for port in ports),
    ):
        if name is not None:
            owners.setdefault(port, set()).add(name)
    return owners


def _named_ports(state: DeviceState) -> Iterator[tuple[str | None, str]]:
    for capture in state.captures:
        for reading in capture.readings:
            port = _part(reading, "port")
            if port is not None:
                yield _part(reading, "namespace"), port


def _homes(
    reading: StateReading, names: tuple[str | None, ...], owners: Mapping[str, set[str]]
) -> tuple[str | None, ...]:
    """Return the namespaces that a value belongs to."""
    namespace, port = _part(reading, "namespace"), _part(reading, "port")
    if namespace is not None:
        return (namespace,)
    if port is not None:
        own = owners.get(port, set())
        return tuple(own) if len(own) == 1 else (HOST,)
    return (HOST,) if _part(reading, "table") is not None else names


def _part(reading: StateReading, kind: str) -> str | None:
    return next((name for own, name in reading.identity if own == kind), None)
