"""The comparison of two switches by their attributes, whichever system they run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.attributes import settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.qos import PortQos

PORT_TABLE = "port"
"""The table name of differences: such systems have no tables, so differences are listed port by port."""


class Difference(NamedTuple):
    """A part of a switch that differs: at a port, the declared value and the value that was read."""

    port: str
    part: str
    what: str
    declared: Any
    read: Any


def differences(declared: Switch, read: Switch, without: Mapping[str, str]) -> Iterator[Difference]:
    """Yield the differences of a switch from its declaration, except in parts that its system cannot express."""
    ports = {port.name: port for port in read.ports}
    for port in declared.ports:
        if not port.placed or port.qos is None:
            continue
        own = dict(_parts(declared, port, port.qos))
        other = ports.get(port.name)
        said = dict(_parts(read, other, other.qos)) if other is not None and other.qos is not None else {}
        for (part, what), value in own.items():
            if part not in without and said.get((part, what)) != value:
                yield Difference(port.name, part, what, value, said.get((part, what)))


def meaning(switch: Switch, without: Mapping[str, str]) -> list[dict[tuple[str, str], Any]]:
    """Return the parts of each port in use, in the order of ports; names of ports are those of a system."""
    return [
        {key: value for key, value in _parts(switch, port, port.qos) if key[0] not in without}
        for port in switch.ports
        if port.placed and port.qos is not None
    ]


def _parts(switch: Switch, port: Port, qos: PortQos) -> Iterator[tuple[tuple[str, str], Any]]:
    return (((attribute.key, what), value) for attribute, what, value in settings(switch, port, qos))
