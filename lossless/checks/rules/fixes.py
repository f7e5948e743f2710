"""Edits that rules offer: of every row that a finding counts, or of one key of an intent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import Edit, Origin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.ground.basics.findings import Json
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.view import PortSet


def port_rows(sets: Iterable[PortSet], row: Origin, field: str, value: str) -> tuple[Edit, ...]:
    """Return edits that set a field in the rows of all ports, where ``row`` is the place of one of them.

    A row under another key (several ports joined) is not there for an edit, and the finding stays.
    """
    table = row.path[:-1]
    return tuple(
        Edit(Origin(row.file, (*table, port.name, field)), "set", value)
        for ports in sets
        for port in ports.ports
    )


def key(origin: Origin, value: Json) -> tuple[Edit, ...]:
    """Return the edit that sets one key of an intent; none where a preset or a default gave the value."""
    if origin.mark == "key" or len(origin.path) < 2 or origin.path == ("preset",):
        return ()
    return (Edit(origin, "set", value),)


def without(host: HostQos, *keys: str) -> tuple[Edit, ...]:
    """Return the edit that takes a key of an intent's hosts out; none for a host that was read, which is no text."""
    return (Edit(host.at(*keys), "remove"),) if host.provenance == "intent" else ()
