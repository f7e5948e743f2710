"""Queue rows of a chassis with virtual output queues, by the system port that each is for.

A card has a queue for each port of all cards. Rows name host, ASIC and port: where the first two are the card's own,
the ASIC in any case, the port is one of ``PORT``; else all three together are a name in ``SYSTEM_PORT``, to the letter,
and a row of another name is dropped (sonic-swss orchagent/qosorch.cpp handleQueueTable, orchagent/bufferorch.cpp
processQueue @e6b0c5b).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import Record

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from lossless.formats.sonic.read.tables import ConfigRow, Tables

_INSIDE = ("cpu", "ib", "rec")
"""Prefixes of the names of ports that carry no traffic of hosts: CPU, in-band and recirculation ports."""


class Card(Record):
    """The names of a card and its ASIC in the keys of a chassis; ``host`` None: the keys have no such names.

    ``asic`` is in lower case, None if any ASIC matches. ``voq``: the device is a card of a VOQ chassis, and rows of
    queues without host and ASIC are dropped.
    """

    host: str | None
    asic: str | None
    voq: bool = False

    def is_named(self, host: str, asic: str) -> bool:
        """Return whether a key is about this card itself."""
        return self.host == host and self.asic in (None, asic.lower())


def card_of(metadata: Mapping[str, str]) -> Card:
    """Return the card that a device is, by its ``DEVICE_METADATA|localhost``."""
    if metadata.get("switch_type") != "voq":
        return Card(None, None)
    asic = metadata.get("asic_name")
    return Card(metadata.get("hostname"), asic.lower() if asic else None, voq=True)


def carries_traffic(system_port: str) -> bool:
    """Return whether traffic of hosts leaves by a port of some card, ``host|asic|port``."""
    name = system_port.rpartition("|")[2].lower().removeprefix("ethernet-")
    return "|" in system_port and not name.startswith(_INSIDE) and name != system_port.split("|")[1].lower()


class SystemPortRows(Record):
    """The rows of a table of queues: by system port, and those whose host, ASIC and port are no system port.

    The keys are names of ``SYSTEM_PORT``, or of a local port that has none there.
    """

    by_port: Mapping[str, tuple[ConfigRow, ...]]
    unknown: tuple[ConfigRow, ...]


def system_port_rows(tables: Tables, table: str, card: Card, names: Collection[str]) -> SystemPortRows:
    """Return the rows of ``QUEUE`` or ``BUFFER_QUEUE`` by ``names`` of system ports, without keys of other forms."""
    local = tables.table("PORT")
    own = {
        name.split("|")[2]: name
        for name in names
        if name.count("|") == 2 and card.is_named(*name.split("|")[:2])
    }
    by_port: dict[str, list[ConfigRow]] = {}
    unknown: list[ConfigRow] = []
    for key, row in tables.table(table).items():
        parts = key.split("|")
        if len(parts) != 4:
            continue
        place = "|".join(parts[:3])
        if card.is_named(*parts[:2]):
            place = own.get(parts[2], place)
            known = parts[2] in local
        else:
            known = place in names
        if known:
            by_port.setdefault(place, []).append(row)
        else:
            unknown.append(row)
    return SystemPortRows({place: tuple(rows) for place, rows in by_port.items()}, tuple(unknown))
