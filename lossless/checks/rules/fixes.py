"""Edits that fix findings: of rows of CONFIG_DB, or of one key of an intent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import Edit, Origin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.ground.basics.findings import Json
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.model import Port
    from lossless.model.fabric.qos import IndexMap
    from lossless.model.fabric.view import PortSet


def port_rows(sets: Iterable[PortSet], row: Origin, field: str, value: str) -> tuple[Edit, ...]:
    """Return edits that set a field in the rows of all ports; ``row`` is the origin of such a row or of its field.

    A row that several ports share gets one edit; otherwise each port gets one for a row of its own. None are returned
    where ``row`` is not in a table of CONFIG_DB.
    """
    if not row.path or not str(row.path[0]).isupper():
        return ()
    shared = "".join(map(str, row.path[1:2]))
    names = [port.name for ports in sets for port in ports.ports]
    return tuple(
        Edit(Origin(row.file, (row.path[0], key, field)), "add", value)
        for key in ([shared] if "," in shared else names)
    )


def entries(index_map: IndexMap, *pairs: tuple[int, int]) -> tuple[Edit, ...]:
    """Return edits that set entries of a map, given as (index, target); none unless the map is a row of CONFIG_DB."""
    origin = index_map.origin
    if len(origin.path) != 2 or not str(origin.path[0]).endswith("_MAP"):
        return ()
    return tuple(Edit(origin.at(str(index)), "set", str(target)) for index, target in pairs)


def field(origin: Origin, value: str) -> tuple[Edit, ...]:
    """Return the edit that sets a field of a row of CONFIG_DB; none if the origin is of another kind."""
    if len(origin.path) != 3 or not str(origin.path[0]).isupper():
        return ()
    return (Edit(origin, "set", value),)


def key(origin: Origin, value: Json) -> tuple[Edit, ...]:
    """Return the edit that sets one key of an intent; none for a top-level key or a value of a preset or default."""
    if origin.mark == "key" or len(origin.path) < 2 or origin.path == ("preset",):
        return ()
    return (Edit(origin, "set", value),)


def without(host: HostQos, *keys: str) -> tuple[Edit, ...]:
    """Return the edit that removes a key from hosts of an intent; none for a host that was read from its files."""
    return (Edit(host.at(*keys), "remove"),) if host.provenance == "intent" else ()


def lengths(ports: Iterable[Port], cable_m: int) -> tuple[Edit, ...]:
    """Return edits that set the cable length of ports to ``cable_m``; none for ports without a field for it."""
    return tuple(edit for port in ports for edit in field(port.cable.origin, f"{cable_m}m"))
