"""Edits that rules offer: of every row that a finding counts, or of one key of an intent."""

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
    """Return edits that set a field in the rows of all ports, where ``row`` is the place of one of them, or in it.

    Where several ports share a row it is that of the row; a port without one gets its own.
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
    """Return edits that give entries of a map another target; none where no row of CONFIG_DB is the map."""
    origin = index_map.origin
    if len(origin.path) != 2 or not str(origin.path[0]).endswith("_MAP"):
        return ()
    return tuple(Edit(origin.at(str(index)), "set", str(target)) for index, target in pairs)


def field(origin: Origin, value: str) -> tuple[Edit, ...]:
    """Return the edit that sets a field of a row of CONFIG_DB; none where no row has it, or may have it."""
    if len(origin.path) != 3 or not str(origin.path[0]).isupper():
        return ()
    return (Edit(origin, "set", value),)


def key(origin: Origin, value: Json) -> tuple[Edit, ...]:
    """Return the edit that sets one key of an intent; none where a preset or a default gave the value."""
    if origin.mark == "key" or len(origin.path) < 2 or origin.path == ("preset",):
        return ()
    return (Edit(origin, "set", value),)


def without(host: HostQos, *keys: str) -> tuple[Edit, ...]:
    """Return the edit that takes a key of an intent's hosts out; none for a host that was read, which is no text."""
    return (Edit(host.at(*keys), "remove"),) if host.provenance == "intent" else ()


def lengths(ports: Iterable[Port], cable_m: int) -> tuple[Edit, ...]:
    """Return edits that give ports another length of cable, where a table has one."""
    return tuple(edit for port in ports for edit in field(port.cable.origin, f"{cable_m}m"))
