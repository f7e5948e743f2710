"""What an NX-OS configuration says of QoS, in whichever form it is written, each with its place.

A class is known by its qos-group: class maps say which packets get which group, and policies of three types what a
group is given. Settings of interfaces have keys: ``pfc`` (on, off or auto), ``watchdog``, ``input`` (its qos policy),
``queuing`` (its output policy), ``mtu``, ``speed`` (b/s), ``up``, ``routed``, ``tagged``, ``lag``, ``inherit``,
``storm`` (percent of unicast); those of a class in a policy: ``group``, ``pause`` (priorities), ``pause-bytes``
(buffer, pause and resume threshold), ``mtu``, ``percent``, ``strict``, ``ecn``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Origin


class Stated(NamedTuple):
    """What a key is set to, and where."""

    value: Any
    origin: Origin


Rows = dict[str, Stated]


class MarkingCurve(NamedTuple):
    """How a queue marks or drops; limits are None where the switch chooses them (``burst-optimized``)."""

    min_bytes: int | None
    max_bytes: int | None
    probability_percent: int | None
    marks: bool


class Match(NamedTuple):
    """What a class map looks at (``dscp``, ``cos``, ``qos-group``, or another field), and the values it takes."""

    field: str
    values: tuple[int, ...]


class ClassMap(NamedTuple):
    """A class of packets: those that match any of its lines, or all where ``match_all``."""

    matches: list[Match]
    match_all: bool
    origin: Origin


class PolicyClass(NamedTuple):
    """A class in a policy, the type that its line says, and what it is given."""

    name: str
    kind: str
    rows: Rows
    origin: Origin


Policy = list[PolicyClass]
Named = tuple[str, str]
"""The type of a map (``qos``, ``queuing`` or ``network-qos``), and its name."""


class NxosConfig:
    """One switch. ``places`` say where maps, policies and interfaces stand; ``bound`` are the policies of all ports.

    ``interfaces`` and ``profiles`` (of ports) are settings by name. ``impossible`` are commands with values that cannot
    be, ``unread`` lines about QoS that have no meaning known here.
    """

    __slots__ = (
        "bound",
        "class_maps",
        "file",
        "impossible",
        "interfaces",
        "places",
        "policies",
        "profiles",
        "shown",
        "switch",
        "unread",
    )

    def __init__(self, file: str, shown: str) -> None:
        self.file = file
        self.shown = shown
        self.switch: Rows = {}
        self.class_maps: dict[Named, ClassMap] = {}
        self.policies: dict[Named, Policy] = {}
        self.bound: dict[str, Stated] = {}
        self.interfaces: dict[str, Rows] = {}
        self.profiles: dict[str, Rows] = {}
        self.places: dict[Named, Origin] = {}
        self.impossible: list[tuple[Origin, str]] = []
        self.unread: list[tuple[Origin, str]] = []

    def of_interface(self, name: str) -> Rows:
        """Return the settings of an interface with those of the profile that it inherits, which it overrides."""
        own = self.interfaces.get(name, {})
        inherited = own.get("inherit")
        return {**self.profiles.get(inherited.value if inherited else "", {}), **own}
