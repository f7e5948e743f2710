"""Declared cables and found cables, identified by their ends."""

from __future__ import annotations

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple


class CableEnd(NamedTuple):
    """One end of a cable. ``port`` is None where an intent names none, or it is unknown."""

    device: str
    port: str | None

    @property
    def name(self) -> str:
        """The end as text: ``leaf1:Ethernet0``."""
        return f"{self.device}:{self.port}" if self.port else self.device


class PlannedCable(NamedTuple):
    """A link of an intent. ``a`` is a switch with its port; ``b`` has a port where the intent gives one.

    ``cable_m`` is its real length. ``renamed``: the name of the device at ``b`` is stated, not derived from a shape.
    """

    a: CableEnd
    b: CableEnd
    speed_bps: int
    cable_m: int
    tier: str
    origin: Origin
    cable_origin: Origin
    renamed: bool = True

    @property
    def name(self) -> str:
        """The link as text."""
        return f"{self.a.name} - {self.b.name}"


class ReportedCable(NamedTuple):
    """A cable that files report, its ends by the names of the intent where it has such a device and port.

    ``speed_bps`` is that of the cable, or the configured one of its ends; None where it is unknown.
    """

    a: CableEnd
    b: CableEnd
    speed_bps: int | None
    cable_m: int | None
    origin: Origin

    @property
    def name(self) -> str:
        """The cable as text."""
        return f"{self.a.name} - {self.b.name}"


class CableReport(NamedTuple):
    """The cables that files report, and the devices that the files cover.

    ``listed`` are devices in sheets or exports, ``heard`` those that LLDP reports and ``listening`` those
    whose own LLDP was given.
    """

    cables: tuple[ReportedCable, ...]
    listed: frozenset[str]
    heard: frozenset[str]
    listening: frozenset[str]

    def reaches(self, cable: PlannedCable) -> bool:
        """Return whether the files would report a declared cable if it existed and were up."""
        ends = {cable.a.device, cable.b.device}
        if ends <= self.listed:
            return True
        return ends <= self.heard | self.listening and bool(ends & self.listening)

    def only_heard(self, cable: PlannedCable) -> bool:
        """Return whether LLDP alone covers a declared cable."""
        return not {cable.a.device, cable.b.device} <= self.listed
