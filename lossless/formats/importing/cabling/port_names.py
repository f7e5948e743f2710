"""Matches different names of a switch port: the one of SONiC, its alias, and its position on the front panel."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.model.hardware.model import PortSpec

_FRONT = (
    # NVIDIA's aliases and Cumulus Linux count cages from 1; parts of a split one have letters, or numbers from 0.
    re.compile(r"etp(?P<cage>[0-9]+)(?P<letter>[a-h])?"),
    re.compile(r"swp(?P<cage>[0-9]+)(?:s(?P<number>[0-9]))?"),
    # SONiC's standard naming has the slot, the cage and, of a split one, the part from 1.
    re.compile(r"eth1/(?P<cage>[0-9]+)(?:/(?P<one>[0-9]))?"),
)
"""Sources: sonic-buildimage device/mellanox port_config.ini @086b03b (etp1a), NVIDIA Cumulus Linux manual, Switch Port
Attributes (swp1s0), docs.ansible.com, dellemc.enterprise_sonic, sonic_port_breakout (Eth1/1, and parts of it)."""
OUT_OF_BAND = re.compile(r"(?i)(eth|mgmt|management|ma|bmc|ipmi|ilo|idrac|oob|em|usb|console)[-_ ]?[0-9/]*")
"""The pattern of switch ports that carry no traffic of the fabric, such as management ports."""


class PortNames:
    """Finds the ports of one switch by names that people, LLDP and other systems use."""

    def __init__(self, specs: Iterable[PortSpec]) -> None:
        self._names: dict[str, str] = {}
        self._cages: dict[int, list[str]] = {}
        for spec in specs:
            # Where the alias of one port is the name of another, it means that.
            self._names.setdefault(spec.alias.lower(), spec.name)
            self._cages.setdefault(spec.index, []).append(spec.name)
        for names in self._cages.values():
            self._names |= {name.lower(): name for name in names}
        self._from_one = min(self._cages, default=1) == 1

    def find(self, word: str) -> str | None:
        """Return SONiC's name of a port, None where no port of the switch matches."""
        low = word.lower()
        return self._names.get(low) or (self._on_front(low) if self._from_one else None)

    def _on_front(self, low: str) -> str | None:
        match = next(filter(None, (form.fullmatch(low) for form in _FRONT)), None)
        if match is None:
            return None
        ports = self._cages.get(int(match["cage"]), [])
        part = _part(match.groupdict())
        if part is None:
            return ports[0] if len(ports) == 1 else None
        return ports[part] if 0 <= part < len(ports) and len(ports) > 1 else None


def _part(groups: dict[str, str | None]) -> int | None:
    """Return the number of a part of a split cage, counted from 0; None for the whole cage."""
    letter, number, from_one = groups.get("letter"), groups.get("number"), groups.get("one")
    if letter:
        return ord(letter) - ord("a")
    if number:
        return int(number)
    return int(from_one) - 1 if from_one else None
