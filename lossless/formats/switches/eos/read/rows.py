"""QoS settings of an EOS configuration, independent of the form of its text: settings by key, each with its place.

Keys are tuples. Of a switch: ``("hostname",)``, ``("dscp", 26)`` and ``("cos", 3)`` (the traffic class), ``("tx-queue",
3)`` (the queue of a traffic class), ``("rewrite", "dscp", 3)``, ``("rewrites",)`` (they are on), ``("watchdog",
"timeout")`` and the other timers (ms), ``("watchdog", "action")``, ``("watchdog", "override")`` (the action instead of
all others), ``("all-off",)``, ``("ports",)`` (what they are without a line: routed or access), ``("mtu",)`` (of routed
ports without a line). Of an interface or a profile: ``("trust",)`` (dscp, cos or none), ``("pfc",)``, ``("no-drop",
3)``, ``("watchdog",)``, ``("watchdog", "timeout")`` and so on, ``("profile",)``, ``("policy",)`` (its input policy),
``("flowcontrol", "send")``, ``("ecn",)`` (of all queues), ``("mtu",)``, ``("speed",)`` (b/s), ``("up",)``,
``("routed",)``, ``("switched",)``, ``("trunk",)``, ``("tagged",)`` and ``("native",)`` (VLANs), ``("lag",)``, and of
its queues ``("queue", 3, "strict")``, ``("queue", 3, "percent")``, ``("queue", 3, "guaranteed")``, ``("queue", 3,
"ecn")``, ``("queue", 3, "drop")`` (a curve that drops), ``("queue", 3, "shape")``, and ``("shape",)`` of the whole
port.

Of a class map: ``("dscp", 26)``, ``("cos", 3)``, ``("access-list", name)``, ``("other",)``. Of a class of a policy map:
``("traffic-class",)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Origin

Key = tuple[str | int, ...]


class Setting(NamedTuple):
    """The value of a key, and its place."""

    value: Any
    origin: Origin


Settings = dict[Key, Setting]
SHARED = frozenset(
    {
        "trust",
        "policy",
        "ecn",
        "pfc",
        "no-drop",
        "watchdog",
        "profile",
        "queue",
        "routed",
        "switched",
        "shape",
    }
)
"""The settings of a port that its QoS depends on."""
_OF_CHANNEL = SHARED | {"trunk", "tagged", "native", "mtu"}
"""The settings that members of a port channel take from it."""


class EcnThresholds(NamedTuple):
    """The curve of a queue, which marks or drops.

    Thresholds are None if their unit is segments, whose size differs, or a delay. ``probability_percent`` None: EOS has
    its own default.
    """

    min_bytes: int | None
    max_bytes: int | None
    probability_percent: int | None


class EosConfig:
    """One switch. ``switch``, ``profiles`` and ``interfaces`` are its settings, the latter two by name.

    ``class_maps`` are by name, and ``policies`` the classes of each in the order in which they are matched.
    ``access_lists`` have the DSCPs that they permit, None if they match on another field.

    ``complete`` is False if the text prints defaults too, so that a missing line is not a default. ``impossible`` are
    commands with invalid values, ``refused`` those that EOS does not have, each with the intended command, ``unread``
    lines about QoS without a known meaning.
    """

    __slots__ = (
        "access_lists",
        "class_maps",
        "complete",
        "file",
        "impossible",
        "interfaces",
        "places",
        "policies",
        "profiles",
        "refused",
        "shown",
        "switch",
        "unread",
    )

    def __init__(self, file: str, shown: str) -> None:
        self.file = file
        self.shown = shown
        self.complete = True
        self.switch: Settings = {}
        self.profiles: dict[str, Settings] = {}
        self.interfaces: dict[str, Settings] = {}
        self.class_maps: dict[str, Settings] = {}
        self.policies: dict[str, dict[str, Settings]] = {}
        self.access_lists: dict[str, set[int] | None] = {}
        self.places: dict[tuple[str, str], Origin] = {}
        self.refused: list[tuple[Origin, str, str]] = []
        self.impossible: list[tuple[Origin, str]] = []
        self.unread: list[tuple[Origin, str]] = []

    def settings_of(self, name: str) -> Settings:
        """Return the settings of an interface, which override those of its profile and of its port channel."""
        own = self.interfaces[name]
        lag = own.get(("lag",))
        channel = self.interfaces.get(f"Port-Channel{lag.value}", {}) if lag is not None else {}
        own = {**{key: setting for key, setting in channel.items() if key[0] in _OF_CHANNEL}, **own}
        profile = own.get(("profile",))
        return {**self.profiles.get(profile.value if profile else "", {}), **own}

    @property
    def whole(self) -> bool:
        """Whether the text is the whole configuration of a named switch: a missing line then means the default."""
        return self.complete and ("hostname",) in self.switch
