"""Ports under one name: with SONIC_CLI_IFACE_MODE ``show`` prints aliases, and answers over gNMI may have them too.

Databases, configurations and intents use the name of a port (``Ethernet0``), its alias is that of the vendor
(``etp1a``, ``Ethernet1/1``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.model.fabric.state.device_state import DeviceState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.model.fabric.model import Switch
    from lossless.model.fabric.state.readings import Identity, StateReading

_TABLES = frozenset({"PORT", "PORT_TABLE"})


def names_by_alias(state: DeviceState, intended: Switch | None) -> Mapping[str, str]:
    """Return the name of each port by its alias, from databases and an intent.

    An alias that is also the name of a port is left out.
    """
    ports = () if intended is None else intended.ports
    pairs = [(port.spec.alias, port.name) for port in ports if port.spec is not None and port.spec.alias]
    pairs += [
        (str(placed.reading.value), placed.part("port") or "")
        for placed in state.named("alias", "port")
        if placed.part("table") in _TABLES
    ]
    names = {name for _, name in pairs}
    return {alias: name for alias, name in pairs if alias not in names}


def by_name(state: DeviceState, names: Mapping[str, str]) -> DeviceState:
    """Return a state in which port aliases of captures are replaced by names."""
    called = {
        name
        for capture in state.captures
        for reading in capture.readings
        for kind, name in reading.identity
        if kind == "port"
    }
    if names.keys().isdisjoint(called):
        return state
    captures = (
        capture._replace(readings=tuple(_renamed(reading, names) for reading in capture.readings))
        for capture in state.captures
    )
    return DeviceState(state.name, tuple(captures))


def _renamed(reading: StateReading, names: Mapping[str, str]) -> StateReading:
    identity: Identity = tuple(
        (kind, names.get(name, name) if kind == "port" else name) for kind, name in reading.identity
    )
    return reading._replace(identity=identity)
