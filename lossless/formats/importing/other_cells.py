"""What a switch that runs another system than SONiC does, beside what its rendered files would have it do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.device_files.other_systems import read_back
from lossless.formats.sonic.changes.meaning import Cell
from lossless.formats.switches.meaning import PORT_TABLE, meaning
from lossless.formats.switches.registry import dialect
from lossless.model.fabric.attributes import BY_KEY

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

    from lossless.model.fabric.model import Switch

    Parts = dict[tuple[str, str], Any]


def cells_of_system(rendered: Switch, running: Switch, ports: Collection[str]) -> Iterator[tuple[str, Cell]]:
    """Yield every value of ports on both sides, with the key of its attribute.

    Raises:
        RenderError: the system does not take what is declared.
    """
    before, after = _by_port(running, ports), _by_port(read_back(rendered), ports)
    for port in ports:
        own, back = before.get(port, {}), after.get(port, {})
        for part, what in dict.fromkeys((*own, *back)):
            field = BY_KEY[part].shown(what)
            said = (_text(side.get((part, what))) for side in (own, back))
            yield part, Cell(PORT_TABLE, port, field, *said)


def same_on_ports(one: Switch, other: Switch, ports: Collection[str]) -> bool:
    """Return whether two configurations of a switch do the same on ports."""
    return _by_port(one, ports) == _by_port(other, ports)


def _by_port(switch: Switch, names: Collection[str]) -> dict[str, Parts]:
    own = tuple(port for port in switch.ports if port.name in names and port.placed and port.qos is not None)
    parts = meaning(switch._replace(ports=own), dialect(switch.format).losses)
    return {port.name: said for port, said in zip(own, parts, strict=True)}


def _text(value: object) -> str | None:
    if value is None or isinstance(value, bool | str | int):
        return None if value is None else str(value)
    return ", ".join(map(str, value)) or "none" if isinstance(value, tuple) else repr(value)
