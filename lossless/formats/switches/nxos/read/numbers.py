"""Numbers and names as NX-OS writes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.switches.written_numbers import names_of_range

if TYPE_CHECKING:
    from collections.abc import Iterator

BYTES = {"bytes": 1, "kbytes": 1000, "mbytes": 1_000_000}
"""Bytes per unit of thresholds; packets and microseconds have no size in bytes."""
PRECEDENCES = {
    "routine": 0,
    "priority": 1,
    "immediate": 2,
    "flash": 3,
    "flash-override": 4,
    "critical": 5,
    "internet": 6,
    "network": 7,
}
"""IP precedences by name (RFC 791)."""
_KINDS = {"e": "Ethernet", "p": "port-channel"}
_KIND = re.compile(r"(?:e(?:th?(?:e(?:r(?:n(?:et?)?)?)?)?)?|po(?:rt-channel)?)(?=[0-9])", re.IGNORECASE)


def threshold_bytes(amount: str, unit: str) -> int | None:
    """Return a threshold in bytes, None if its unit has no size in bytes."""
    return int(amount) * BYTES[unit] if unit in BYTES else None


def port_name(text: str) -> str:
    """Return the whole name of an interface: ``e1/1`` and ``Ethernet 1/1`` are ``Ethernet1/1``."""
    written = "".join(text.split())
    match = _KIND.match(written)
    return written if match is None else _KINDS[written[0].lower()] + written[match.end() :]


def port_names(text: str) -> Iterator[str]:
    """Yield the interfaces that a command names: ``e1/1/1-2,e1/4`` are three, and ``Ethernet1/1, 1/3`` two."""
    kind = ""
    for part in "".join(text.split()).split(","):
        name = port_name(part if part[:1].isalpha() else kind + part)
        kind = re.match(r"[A-Za-z-]*", name)[0]  # type: ignore[index]
        yield from names_of_range(name)


def is_port(name: str) -> bool:
    """Return whether an interface is one that QoS is set on: a port of the chip, or a port channel."""
    return name.startswith(tuple(_KINDS.values())) and "." not in name
