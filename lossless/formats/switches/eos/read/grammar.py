"""The commands of EOS as settings by key, each with its place, independent of the form of the text.

Each command makes settings by the first pattern that fits it; numbers, ranges and names are read as EOS writes them.
Grammar: the output of pyavd 6.4.0, and SongKou/songkou.github.io content/posts/arista-eos-roce-config.md @0c73d9a;
forms of older releases (``priority-flow-control mode on``, ``no random-detect ecn``) as running switches print them.

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

import re
from typing import TYPE_CHECKING, Any

from lossless.formats.switches.written_numbers import (
    DSCP_NAMES,
    REMOVED,
    forget,
    indexes,
    limit,
    names_of_range,
)
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from lossless.ground.basics.findings import Origin


BYTES = {"bytes": 1, "kbytes": 1000, "mbytes": 1_000_000}
"""Bytes per unit of thresholds; the size of ``segments`` depends on the chip."""
_SPEED = re.compile(r"(?:forced |auto )?([0-9]{1,6})(gfull|ghalf|g-[0-9]|g|full|half)", re.IGNORECASE)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-"


def milliseconds(text: str) -> int | None:
    """Return a time written in seconds, ``0.20``, in ms; None for an invalid number."""
    return round(float(text) * 1000) if re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", text) else None


def threshold_bytes(amount: str, unit: str) -> int | None:
    """Return a threshold in bytes, None if its unit has no fixed size in bytes."""
    return int(amount) * BYTES[unit] if unit in BYTES else None


def speed_bps(text: str) -> int | None:
    """Return the rate of a speed, ``forced 100gfull`` or ``400g-8``; None for other forms, such as ``auto``."""
    match = _SPEED.fullmatch(text)
    if match is None:
        return None
    return int(match[1]) * (10**9 if match[2].lower().startswith("g") else 10**6)


def interface_names(text: str) -> Iterator[str]:
    """Yield the interfaces that a command names: ``Ethernet1-3,7/1`` are four."""
    prefix = ""
    for part in text.replace(" ", "").split(","):
        written = part if part[:1].isalpha() else prefix + part
        prefix = written[: len(written) - len(written.lstrip(_LETTERS))]
        yield from names_of_range(written)


Key = tuple[str | int, ...]


class Setting(NamedTuple):
    """The value of a setting, and its place in the file."""

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
    """The WRED or ECN curve of a queue, which drops or marks.

    Thresholds are None if their unit is segments, whose size differs, or a delay. ``probability_percent`` None: EOS has
    its own default.
    """

    min_bytes: int | None
    max_bytes: int | None
    probability_percent: int | None


class EosConfig:
    """The configuration of an EOS switch: settings of ``switch``, and by name of ``profiles`` and ``interfaces``.

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
        """Return the settings of an interface: its own, else shared ones of its port channel, else of its profile."""
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


if TYPE_CHECKING:
    Made = Iterable[tuple[Key, Any]] | None
    """The settings that a command makes; None if it names an invalid object."""

LAST_QUEUE = 7
"""Queues, classes and priorities count 0 to 7."""
_NEGATION = re.compile(r"(?:no|default) ")
_ABOUT_QOS = re.compile(
    r"(?:no |default )?(?:qos|shape|priority-flow-control|random-detect|bandwidth|service-profile|priority"
    r"|service-policy (?!type (?:pbr|pdp|copp|control-plane) )|flowcontrol|match|set|police"
    r"|policy-map type tx-queue|ecn|pfc) "
)


def apply(
    config: EosConfig, settings: Settings, line: tuple[str, Origin], patterns: Patterns, prefix: Key = ()
) -> bool:
    """Add the settings of a command to ``settings``, or remove negated ones; return whether a pattern fits it."""
    text, origin = line
    for pattern, made_of in patterns:
        match = pattern.fullmatch(text)
        if match is None:
            continue
        made = made_of(match)
        if made is None:
            config.impossible.append((origin, text))
        for key, value in made or ():
            if value is REMOVED:
                forget(settings, (*prefix, *key))
            else:
                settings[(*prefix, *key)] = Setting(value, origin)
        return True
    return _take_back(settings, text, patterns, prefix)


def _take_back(settings: Settings, text: str, patterns: Patterns, prefix: Key) -> bool:
    """Remove the settings that a command with ``no`` or ``default`` negates; return whether a pattern fits it."""
    negation = _NEGATION.match(text)
    if negation is None:
        return False
    for pattern, made_of in patterns:
        match = pattern.fullmatch(text, negation.end())
        if match is not None:
            for key, _ in made_of(match) or ():
                settings.pop((*prefix, *key), None)
            return True
    return False


def is_about_qos(text: str) -> bool:
    """Return whether a command is about QoS or PFC, and so is reported where it is not read."""
    return _ABOUT_QOS.match(text) is not None


def _nothing(_: re.Match[str]) -> Made:
    return ()


def _map(key: str, most: int) -> Callable[[re.Match[str]], Made]:
    def made(match: re.Match[str]) -> Made:
        sources, target = indexes(match[1], most), int(match[2])
        return (
            None
            if sources is None or target > LAST_QUEUE
            else [((key, source), target) for source in sources]
        )

    return made


def _unmap(match: re.Match[str]) -> Made:
    """Return the entries of a QoS map that a negated line removes, None if their numbers are invalid."""
    key, most = {"dscp": ("dscp", 63), "cos": ("cos", 7)}.get(match[1], ("tx-queue", 7))
    numbers = indexes(match[2], most)
    return None if numbers is None else [((key, number), REMOVED) for number in numbers]


def _rewrite(match: re.Match[str]) -> Made:
    classes, most = indexes(match[1], LAST_QUEUE), 63 if match[2] == "dscp" else 7
    return (
        None
        if classes is None or int(match[3]) > most
        else [(("rewrite", match[2], c), int(match[3])) for c in classes]
    )


def _timer(match: re.Match[str]) -> Made:
    value_ms = milliseconds(match[2])
    return None if value_ms is None else [(("watchdog", match[1]), value_ms)]


def _port_timer(match: re.Match[str]) -> Made:
    timers = {"timeout": match[1], "polling-interval": match[2], "recovery-time": match[3]}
    values = {name: milliseconds(text) for name, text in timers.items() if text and text != "auto"}
    if None in values.values():
        return None
    return [
        *((("watchdog", name), value) for name, value in values.items()),
        (("watchdog", "forced"), bool(match[4])),
    ]


def _no_drop(match: re.Match[str]) -> Made:
    number, negated = int(match[2]), match[1] is not None or match[3] != "no-drop"
    return None if number > LAST_QUEUE else [(("no-drop", number), not negated)]


def _curve(match: re.Match[str]) -> Made:
    low, high = threshold_bytes(match[1], match[2]), threshold_bytes(match[3], match[4])
    return [(("ecn",), EcnThresholds(low, high, int(match[5]) if match[5] else None))]


def _drop_curve(match: re.Match[str]) -> Made:
    low, high = threshold_bytes(match[1], match[2]), threshold_bytes(match[3], match[4])
    return [(("drop",), EcnThresholds(low, high, int(match[5])))]


def _each(key: str, most: int, names: Mapping[str, int] | None = None) -> Callable[[re.Match[str]], Made]:
    """Return a function that makes a setting of each number of a list."""

    def made(match: re.Match[str]) -> Made:
        numbers = indexes(match[1], most, names)
        return None if numbers is None else [((key, number), True) for number in numbers]

    return made


def _fixed(key: Key, value: object) -> Callable[[re.Match[str]], Made]:
    return lambda _: [(key, value)]


def _text(key: Key) -> Callable[[re.Match[str]], Made]:
    return lambda match: [(key, match[1])]


def _number(key: Key) -> Callable[[re.Match[str]], Made]:
    return lambda match: [(key, int(match[1]))]


Patterns = tuple[tuple[re.Pattern[str], "Callable[[re.Match[str]], Made]"], ...]


def _patterns(*rows: tuple[str, Callable[[re.Match[str]], Made]]) -> Patterns:
    return tuple((re.compile(pattern), made) for pattern, made in rows)


_INDEXES = r"([0-9]+(?:-[0-9]+)?(?:[ ,]+[0-9]+(?:-[0-9]+)?)*[ ,]*)"
_SHAPE = r"shape rate ([0-9]{1,12})(?: (bps|kbps|mbps|gbps|pps|percent))?"
_TIMERS = ("timeout", "recovery-time", "polling-interval")
_NAMES = r"([0-9a-z]+(?:[ ,-]+[0-9a-z]+)*)"
SWITCH = _patterns(
    (r"hostname (\S+)", _text(("hostname",))),
    (
        rf"qos map dscp {_INDEXES} to traffic-class ([0-9]{{1,2}})(?: drop-precedence [0-9])?",
        _map("dscp", 63),
    ),
    (rf"qos map cos {_INDEXES} to traffic-class ([0-9]{{1,2}})", _map("cos", 7)),
    (rf"qos map traffic-class {_INDEXES} to (?:uc-)?tx-queue ([0-9]{{1,2}})", _map("tx-queue", 7)),
    (rf"qos map traffic-class {_INDEXES} to (dscp|cos) ([0-9]{{1,2}})", _rewrite),
    (r"priority-flow-control pause watchdog default (timeout|recovery-time|polling-interval) (\S+)", _timer),
    (
        r"priority-flow-control pause watchdog action (drop|no-drop|errdisable|notify-only)",
        _text(("watchdog", "action")),
    ),
    (r"priority-flow-control all off", _fixed(("all-off",), True)),
    (r"switchport default mode (routed|access)", _text(("ports",))),
    (r"qos rewrite dscp", _fixed(("rewrites",), True)),
    (r"priority-flow-control pause watchdog override action drop", _fixed(("watchdog", "override"), "drop")),
    (r"qos map traffic-class .{0,100} to (?:mc-tx-queue|exp) .+", _nothing),
    (r"qos (?:map exp|rewrite|random-detect|tx-queue|traffic-class) .+", _nothing),
    (rf"(?:no|default) qos map (dscp|cos) {_INDEXES}(?: to traffic-class)?", _unmap),
    (rf"(?:no|default) qos map (traffic-class) {_INDEXES}(?: to (?:uc-)?tx-queue)?", _unmap),
    (r"(?:no|default) qos rewrite dscp", _fixed(("rewrites",), REMOVED)),
    (
        r"(?:no|default) priority-flow-control pause watchdog(?: default)?"
        r"(?: (timeout|recovery-time|polling-interval))?",
        lambda match: [(("watchdog", match[1]) if match[1] else ("watchdog",), REMOVED)],
    ),
    (
        r"(?:no|default) priority-flow-control pause watchdog (?:(override)(?: action)?|(action))",
        lambda match: [(("watchdog", match[1] or match[2]), REMOVED)],
    ),
)
PORT = _patterns(
    (r"qos trust (dscp|cos)", _text(("trust",))),
    (r"no qos trust(?: dscp| cos)?", _fixed(("trust",), "none")),
    (r"priority-flow-control (?:mode )?on", _fixed(("pfc",), True)),
    (
        r"(?:no priority-flow-control(?: mode)?(?: on)?|priority-flow-control (?:mode )?off)",
        _fixed(("pfc",), False),
    ),
    (r"default priority-flow-control(?: mode)?", _fixed(("pfc",), REMOVED)),
    (
        r"default priority-flow-control priority ([0-7])",
        lambda match: [(("no-drop", int(match[1])), REMOVED)],
    ),
    (r"default priority-flow-control pause watchdog", _fixed(("watchdog",), REMOVED)),
    (r"default qos trust(?: dscp| cos)?", _fixed(("trust",), REMOVED)),
    (r"default service-policy (?:type qos )?input", _fixed(("policy",), REMOVED)),
    (r"default service-profile", _fixed(("profile",), REMOVED)),
    (r"default shutdown", _fixed(("up",), REMOVED)),
    (r"(?:no|default) (mtu|speed)", lambda match: [((match[1],), REMOVED)]),
    (r"(?:no|default) channel-group", _fixed(("lag",), REMOVED)),
    (r"(?:no|default) (?:uc-)?tx-queue ([0-7])", lambda match: [(("queue", int(match[1])), REMOVED)]),
    (r"(?:no|default) shape rate", _fixed(("shape",), REMOVED)),
    (_SHAPE, lambda match: [(("shape",), limit(match[1], match[2]))]),
    (r"(no )?priority-flow-control priority ([0-9]{1,2})(?: (no-drop|drop))?", _no_drop),
    (r"priority-flow-control pause watchdog", _nothing),
    (r"no priority-flow-control pause watchdog", _fixed(("watchdog",), False)),
    (
        r"priority-flow-control pause watchdog port action (drop|no-drop|errdisable|notify-only)",
        _text(("watchdog", "action")),
    ),
    (
        r"priority-flow-control pause watchdog port timer timeout (\S+)"
        r"(?: polling-interval (\S+))?(?: recovery-time (\S+))?( forced)?",
        _port_timer,
    ),
    (
        r"(?:no|default) priority-flow-control pause watchdog port (?:(action)|timer)",
        lambda match: [
            (("watchdog", of), REMOVED) for of in (("action",) if match[1] else (*_TIMERS, "forced"))
        ],
    ),
    (r"service-policy (?:type qos )?input (\S+)", _text(("policy",))),
    (r"no service-policy (?:type qos )?input.*", _fixed(("policy",), None)),
    (r"service-profile (\S+)", _text(("profile",))),
    (r"no service-profile", _fixed(("profile",), None)),
    (r"mtu ([0-9]{1,5})", _number(("mtu",))),
    (r"speed (.+)", lambda match: [(("speed",), speed_bps(match[1]))]),
    (r"shutdown", _fixed(("up",), False)),
    (r"no shutdown", _fixed(("up",), True)),
    (r"no switchport", _fixed(("routed",), True)),
    (r"switchport", _fixed(("switched",), True)),
    (r"switchport mode (?:trunk.*|dot1q-tunnel)", _fixed(("trunk",), True)),
    (r"switchport mode .+", _nothing),
    (r"switchport trunk allowed vlan (.+)", _text(("tagged",))),
    (r"switchport access vlan .+", _fixed(("tagged",), None)),
    (r"switchport trunk native vlan ([0-9]{1,4}|tag)", _text(("native",))),
    (r"channel-group ([0-9]+) mode .+", _text(("lag",))),
    (r"flowcontrol (send|receive) (on|off|desired)", lambda match: [(("flowcontrol", match[1]), match[2])]),
    (r"(?:no|default) flowcontrol (send|receive)\b.*", lambda match: [(("flowcontrol", match[1]), "off")]),
    (r"random-detect ecn delay threshold .+", _fixed(("ecn",), EcnThresholds(None, None, None))),
    (r"random-detect ecn count", _nothing),
    (r"(?:no |default )?qos (?:cos|dscp|trust) ?.*", _nothing),
)
QUEUE = _patterns(
    (r"priority strict", _fixed(("strict",), True)),
    (r"no priority(?: strict)?", _fixed(("strict",), False)),
    (r"default priority", _fixed(("strict",), REMOVED)),
    (r"bandwidth percent ([0-9]{1,3})", _number(("percent",))),
    (r"bandwidth guaranteed (.+)", _text(("guaranteed",))),
    (r"(?:no|default) bandwidth (percent|guaranteed)", lambda match: [((match[1],), REMOVED)]),
    (
        r"random-detect ecn minimum-threshold ([0-9]{1,12}) ([a-z]+) maximum-threshold ([0-9]{1,12}) ([a-z]+)"
        r"(?: max-mark-probability ([0-9]{1,3}))?(?: weight [0-9]+)?",
        _curve,
    ),
    (r"no random-detect ecn(?: minimum-threshold)?", _fixed(("ecn",), None)),
    (r"random-detect ecn delay threshold .+", _fixed(("ecn",), EcnThresholds(None, None, None))),
    (r"default random-detect ecn(?: minimum-threshold)?", _fixed(("ecn",), REMOVED)),
    (r"(?:no )?random-detect ecn (?:count|delay threshold).*", _nothing),
    (
        r"random-detect drop(?: drop-precedence [0-9])? minimum-threshold ([0-9]{1,12}) ([a-z]+)"
        r" maximum-threshold ([0-9]{1,12}) ([a-z]+) (?:drop|max-mark)-probability ([0-9]{1,3})(?: weight [0-9]+)?",
        _drop_curve,
    ),
    (r"(?:no|default) random-detect drop.*", _fixed(("drop",), REMOVED)),
    (r"(?:no|default) shape rate", _fixed(("shape",), REMOVED)),
    (_SHAPE, lambda match: [(("shape",), limit(match[1], match[2]))]),
    (r"(?:no )?(?:scheduler profile|latency maximum|length).*", _nothing),
)
CLASS_MAP = _patterns(
    (rf"match (?:ip |ipv6 )?dscp {_NAMES}", _each("dscp", 63, DSCP_NAMES)),
    (rf"match cos {_NAMES}", _each("cos", 7)),
    (r"match (?:ip|ipv6) access-group (\S+)", lambda match: [(("access-list", match[1]), True)]),
    (r"match .+", _fixed(("other",), True)),
)
CLASS = _patterns(
    (r"set traffic-class ([0-7])", _number(("traffic-class",))),
    (r"no set traffic-class\b.*", _fixed(("traffic-class",), None)),
    (r"(?:no )?police .+", _nothing),
    (r"(?:no )?set (?:cos|dscp|drop-precedence)\b.*", _nothing),
)
_CURVE = (
    "random-detect ecn minimum-threshold 150 kbytes maximum-threshold 1500 kbytes max-mark-probability 10"
)
_WRONG = tuple(
    (re.compile(pattern), meant)
    for pattern, meant in (
        (
            r"(?:policy-map type tx-queue|service-policy type tx-queue output) ",
            "tx-queue below a qos profile or an interface, with its bandwidth and random-detect ecn",
        ),
        (
            r"priority-flow-control pause watchdog default (?:action|timer) ",
            "a line each: priority-flow-control pause watchdog default timeout 0.2, and priority-flow-control pause "
            "watchdog action drop",
        ),
        (r"priority-flow-control watchdog ", "priority-flow-control pause watchdog default timeout 0.2"),
        (r"qos map (?:dscp|cos) (?:[0-9 ,-]+ )?(?:to )?traffic-class ", "qos map dscp 26 to traffic-class 3"),
        (
            r"pfc (?:enable|mode|priority|pause)\b",
            "priority-flow-control on, and priority-flow-control priority 3 no-drop",
        ),
        (r"no-drop$", "priority-flow-control priority 3 no-drop, below the interface or its profile"),
        (
            r"(?:random-detect )?ecn (?:minimum-|maximum-)?threshold |random-detect ecn$|qos tx-queue [0-7] ecn ",
            _CURVE,
        ),
        (r"bandwidth priority$", "priority strict"),
        (r"qos profile ", "service-profile with the name of the profile"),
    )
)
"""Lines that public texts have and EOS has not, each with the intended command."""


def meant_by(text: str) -> str:
    """Return the intended command for a line that EOS does not have, empty if it is unknown."""
    return next((meant for pattern, meant in _WRONG if pattern.match(text)), "")
