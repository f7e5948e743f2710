"""QoS settings of an NX-OS configuration, independent of the form of its text: settings by key, each with its place.

Keys are tuples. Of a switch: ``("hostname",)``, ``("watchdog",)``, ``("watchdog", "interval")`` (ms) and its
multipliers ``("watchdog", "shutdown")``, ``"auto"`` and ``"fixed"``, ``("override",)``, ``("tag-native",)``, and of
``system qos`` the policies. Of a port or a port profile: ``("pfc",)`` (on, off or auto), ``("watchdog",)``,
``("watchdog", "interface")`` (a multiplier), ``("log-only",)``, ``("mtu",)``, ``("speed",)`` (b/s), ``("up",)``,
``("routed",)``, ``("access",)``, ``("native",)`` and ``("allowed",)`` (one VLAN), ``("lag",)``, ``("inherit",)``,
``("flowcontrol", "receive")``, ``("storm",)`` (percent). A policy is ``("policy", type, direction)``; a network-qos
policy has no direction, and is ``("policy", "network-qos", "")``.

Of a class map: ``("any",)``, ``("dscp", 26)``, ``("cos", 3)``, ``("qos-group", 3)``, ``("other",)``. Of a class in a
policy map: ``("qos-group",)``, ``("marked",)`` (the DSCP that it sets), ``("police",)``; ``("pause", 3)``,
``("no-drop",)``, ``("receive",)``, ``("mtu",)``, ``("buffer",)``; ``("percent",)``, ``("remaining",)``,
``("priority",)``, ``("ecn",)``, ``("shape",)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Origin

Key = tuple[str | int, ...]
QOS, QUEUING, NETWORK = "qos", "queuing", "network-qos"
TYPES = (QOS, QUEUING, NETWORK)
"""The types of class maps and policy maps; without one, it is ``qos``."""
_OF_CHANNEL = frozenset({"policy", "pfc", "watchdog", "log-only", "routed", "access", "native", "allowed"})
"""The settings that members of a port channel take from it."""
DEFAULT_CLASS = "class-default"


class NxosSetting(NamedTuple):
    """The value of a key, and its place."""

    value: Any
    origin: Origin


Settings = dict[Key, NxosSetting]


class RandomDetect(NamedTuple):
    """The curve of ``random-detect``: without ``ecn`` it drops. Thresholds are None if the line's unit has no bytes."""

    min_bytes: int | None
    max_bytes: int | None
    probability_percent: int | None
    ecn: bool


class PauseBuffer(NamedTuple):
    """The buffer of a no-drop class, and where pauses begin and end in it; all in bytes."""

    size_bytes: int
    pause_bytes: int
    resume_bytes: int


class Classes:
    """A policy map: its classes in the order in which they are matched, and where it and they are written.

    ``types`` are those that classes are named with.
    """

    __slots__ = ("below", "origin", "places", "types")

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.types: dict[str, str] = {}
        self.below: dict[str, Settings] = {}
        self.places: dict[str, Origin] = {}

    def open(self, name: str, origin: Origin) -> Settings:
        """Return the settings of a class, which a second block adds to."""
        self.places.setdefault(name, origin)
        return self.below.setdefault(name, {})


Name = tuple[str, str]
"""The type and the name of a class map or a policy map: each type has names of its own."""


class NxosConfig:
    """One switch. ``class_maps`` and ``policies`` are by type and name, ``ports`` and ``profiles`` by name.

    ``system_qos``: it has a block of that name. ``bound_kinds`` are the types of policies whose bindings the object
    model has. ``says_watchdog`` is False for the object model: no leaf of it is the watchdog of the whole switch.
    ``bound_elsewhere`` are policies that are bound to no port, but to a VLAN or the like.

    ``impossible`` are commands with invalid values, ``refused`` those that NX-OS does not have, each with the intended
    command; ``unread`` lines about QoS without a known meaning. Each is named once, even if its line is for several
    ports.
    """

    __slots__ = (
        "bound_elsewhere",
        "bound_kinds",
        "class_maps",
        "file",
        "impossible",
        "places",
        "policies",
        "ports",
        "profiles",
        "refused",
        "says_watchdog",
        "shown",
        "switch",
        "system_qos",
        "unread",
    )

    def __init__(self, file: str, shown: str) -> None:
        self.file = file
        self.shown = shown
        self.system_qos = False
        self.says_watchdog = True
        self.switch: Settings = {}
        self.class_maps: dict[Name, Settings] = {}
        self.policies: dict[Name, Classes] = {}
        self.ports: dict[str, Settings] = {}
        self.profiles: dict[str, Settings] = {}
        self.places: dict[Name, Origin] = {}
        self.impossible: dict[tuple[Origin, str], None] = {}
        self.refused: dict[tuple[Origin, str, str], None] = {}
        self.bound_elsewhere: set[str] = set()
        self.bound_kinds: set[str] = set()
        self.unread: dict[tuple[Origin, str], None] = {}

    @property
    def is_part(self) -> bool:
        """Whether the text has no policy map: then those that it names, or needs, are in another part."""
        return not self.policies

    def settings_of(self, port: str) -> Settings:
        """Return the settings of a port: those of its port channel, of its port profiles, and its own."""
        own = self._with_profiles(self.ports[port])
        lag = own.get(("lag",))
        channel = self.ports.get(f"port-channel{lag.value}", {}) if lag is not None else {}
        shared = {key: value for key, value in self._with_profiles(channel).items() if key[0] in _OF_CHANNEL}
        return {**shared, **own}

    def _with_profiles(self, settings: Settings) -> Settings:
        chain = [settings]
        while (named := chain[-1].get(("inherit",))) is not None and len(chain) <= len(self.profiles):
            chain.append(self.profiles.get(named.value, {}))
        return {key: setting for block in reversed(chain) for key, setting in block.items()}
