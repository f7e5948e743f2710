"""What an EOS configuration says of QoS, in whichever form it is written: settings by key, each with its place.

Keys are tuples. Of a switch: ``("hostname",)``, ``("dscp", 26)`` and ``("cos", 3)`` (the traffic class),
``("tx-queue", 3)`` (the queue of a traffic class), ``("rewrite", "dscp", 3)``, ``("watchdog", "timeout")`` and the
other timers (ms), ``("watchdog", "action")``, ``("all-off",)``, ``("ports",)`` (what they are without a line:
routed or access). Of an interface or a profile: ``("trust",)`` (dscp, cos
or none), ``("pfc",)``, ``("no-drop", 3)``, ``("watchdog",)``, ``("watchdog", "timeout")`` and so on, ``("profile",)``,
``("policy",)``, ``("ecn",)`` (of all queues), ``("mtu",)``, ``("speed",)`` (b/s), ``("up",)``, ``("routed",)``,
``("switched",)``, ``("trunk",)``, ``("tagged",)``, ``("lag",)``, and of its queues ``("queue", 3, "strict")``,
``("queue", 3, "percent")``, ``("queue", 3, "guaranteed")``, ``("queue", 3, "ecn")``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Origin

Key = tuple[str | int, ...]


class Setting(NamedTuple):
    """What a key is set to, and where."""

    value: Any
    origin: Origin


Settings = dict[Key, Setting]


class EcnThresholds(NamedTuple):
    """The marking curve of a queue. Thresholds are None where they are segments, whose size differs, or a delay.

    ``probability_percent`` None: EOS has its own default. ``broken``: the text has no form that EOS takes.
    """

    min_bytes: int | None
    max_bytes: int | None
    probability_percent: int | None


class EosConfig:
    """One switch. ``switch``, ``profiles`` and ``interfaces`` are its settings, the latter two by name.

    ``complete`` is False where defaults are printed too, and so
    what is not printed stands elsewhere. ``impossible`` are commands with values that
    cannot be, ``unread`` lines about QoS that have no meaning known here.
    """

    __slots__ = (
        "complete",
        "file",
        "impossible",
        "interfaces",
        "places",
        "profiles",
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
        self.places: dict[tuple[str, str], Origin] = {}
        self.impossible: list[tuple[Origin, str]] = []
        self.unread: list[tuple[Origin, str]] = []

    @property
    def whole(self) -> bool:
        """Whether the text is that of a switch, which it names: what has no line in it has its default."""
        return self.complete and ("hostname",) in self.switch
