"""Cables as they are declared and as they were found, by the ends that both call identical."""

from __future__ import annotations

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple


class CableEnd(NamedTuple):
    """One end of a cable. ``port`` is None where an intent names none, or nobody knows it."""

    device: str
    port: str | None

    @property
    def name(self) -> str:
        """The end as people write it: ``leaf1:Ethernet0``."""
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
        """The link as people write it."""
        return f"{self.a.name} - {self.b.name}"


class ReportedCable(NamedTuple):
    """A cable that files tell of, its ends in the words of the intent where it has such a device and port.

    ``speed_bps`` is what is stated for the cable, or set at its ends; None where nothing is said.
    """

    a: CableEnd
    b: CableEnd
    speed_bps: int | None
    cable_m: int | None
    origin: Origin

    @property
    def name(self) -> str:
        """The cable as people write it."""
        return f"{self.a.name} - {self.b.name}"


class CableReport(NamedTuple):
    """What files tell of: the cables, and how far they reach.

    ``listed`` are devices that sheets or exports name, ``heard`` those that LLDP tells of and ``listening`` those
    whose own LLDP was given.
    """

    cables: tuple[ReportedCable, ...]
    listed: frozenset[str]
    heard: frozenset[str]
    listening: frozenset[str]

    def reaches(self, cable: PlannedCable) -> bool:
        """Return whether a declared cable would be told of if it were there, and up."""
        ends = {cable.a.device, cable.b.device}
        if ends <= self.listed:
            return True
        return ends <= self.heard | self.listening and bool(ends & self.listening)

    def only_heard(self, cable: PlannedCable) -> bool:
        """Return whether nothing but LLDP reaches a declared cable."""
        return not {cable.a.device, cable.b.device} <= self.listed
