"""The commands of NX-OS as settings by key, each with its place, independent of the form of the text.

Each command makes settings by the first pattern that fits it; numbers and names are read as NX-OS writes them.
Grammar: configurations of microsoft/AzureStack_Network_Switch_Config_Generator @51524fa and microsoft/SDN @242fb0c
(Nexus 3000 with NX-OS 6.0), and of the tests of batfish/batfish @cba1873. Ranges: Cisco-NX-OS-device.yang 9.3(1) of
ydk-models-cisco-nx-os 9.3.1, and CiscoDevNet/terraform-provider-nxos gen/definitions/network_qos.yaml @41ca596, which
has the larger buffers of later releases.

Keys are tuples. Of a switch: ``("hostname",)``, ``("watchdog",)``, ``("watchdog", "interval")`` (ms) and its
multipliers ``("watchdog", "shutdown")``, ``"auto"`` and ``"fixed"``, ``("override",)``, ``("tag-native",)``, and of
``system qos`` the policies. Of a port or a port profile: ``("pfc",)`` (on, off or auto), ``("watchdog",)``,
``("watchdog", "interface")`` (a multiplier), ``("log-only",)``, ``("mtu",)``, ``("speed",)`` (b/s), ``("up",)``,
``("routed",)``, ``("access",)``, ``("native",)`` and ``("allowed",)`` (one VLAN), ``("lag",)``, ``("inherit",)``,
``("flowcontrol", "receive")`` and ``"send"``, ``("storm",)`` (percent). A policy is ``("policy", type, direction)``; a
network-qos policy has no direction, and is ``("policy", "network-qos", "")``.

Of a class map: ``("any",)``, ``("dscp", 26)``, ``("cos", 3)``, ``("qos-group", 3)``, ``("other",)``. Of a class in a
policy map: ``("qos-group",)``, ``("marked",)`` (the DSCP that it sets), ``("police",)``; ``("pause", 3)``,
``("no-drop",)``, ``("receive",)``, ``("mtu",)``, ``("buffer",)``; ``("percent",)``, ``("remaining",)``,
``("priority",)``, ``("ecn",)``, ``("shape",)``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lossless.formats.switches.written_numbers import (
    DSCP_NAMES,
    REMOVED,
    RateLimit,
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


Key = tuple[str | int, ...]
QOS, QUEUING, NETWORK = "qos", "queuing", "network-qos"
TYPES = (QOS, QUEUING, NETWORK)
"""The types of class maps and policy maps; without one, it is ``qos``."""
_OF_CHANNEL = frozenset({"policy", "pfc", "watchdog", "log-only", "routed", "access", "native", "allowed"})
"""The settings that members of a port channel take from it."""
DEFAULT_CLASS = "class-default"


class NxosSetting(NamedTuple):
    """The value of a setting, and its place in the file."""

    value: Any
    origin: Origin


Settings = dict[Key, NxosSetting]


class RandomDetect(NamedTuple):
    """The curve of ``random-detect``: without ``ecn`` it drops. Thresholds are None if the line has none in bytes."""

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
    """The configuration of an NX-OS switch: class maps and policies by type and name, ports and port profiles by
    name.

    ``system_qos``: it has a block of that name. ``bound_kinds`` are the types of policies whose bindings the object
    model has. ``says_watchdog`` is False for the object model: the leaves of the watchdog of the whole switch, which it
    has since 9.3(3), are not read: ``priorflowctrlwd-items`` below ``pltfm-items``.
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
        """Return the settings of a port: those its port channel shares, those of its port profiles, and its own."""
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


if TYPE_CHECKING:
    Made = Iterable[tuple[Key, Any]] | None
    """The settings that a command makes; None where one of its values is invalid."""
    Maker = Callable[[re.Match[str]], Made]

LAST = 7
"""qos-groups, queues and priorities count 0 to 7 (ipqos_QoSGrpId, ipqos_Cos)."""
_DSCP = 63
_PERCENT = range(100 + 1)
_MTU = range(576, 9216 + 1)
_LEVELS = range(1, 8 + 1)
_BUFFER_BYTES = range(5000, 268_435_456 + 1)
_THRESHOLD = range(52_428_800 + 1)
"""The range of thresholds of ``random-detect`` (ipqos_ThreshVal), in any unit."""
_WEIGHT = range(15 + 1)
_VLANS = range(10_000)
"""Any VLAN number of up to four digits is read; whether NX-OS accepts it is not checked."""
_ABOUT_QOS = re.compile(
    r"(?:no )?(?:(?:priority-flow-control|random-detect|drop-probability|maximum-threshold|weight"
    r"|bandwidth(?! (?:inherit|[0-9]))|pause|priority(?! [0-9])|service-policy(?! type (?:pbr|control-plane|psp) )"
    r"|match|set|class|queue-limit|qos|mls qos|congestion-control|hardware qos|police"
    r"|flowcontrol|storm-control unicast|inherit port-profile|feature qos)(?![\w-])"
    r"|(?:class|policy)-map (?!type (?:control(?:-plane)?|psp|pbr|inspect) )|ecn$)"
)
_ONLY_QOS = re.compile(
    r"(?:no )?(?:priority-flow-control|random-detect|pause|bandwidth (?:remaining )?percent|set qos-group"
    r"|match (?:dscp|cos|qos-group))\b"
)
"""Lines that are about QoS wherever they are: below a line that is not known, too."""


def apply(config: NxosConfig, settings: Settings, line: tuple[str, Origin], patterns: Patterns) -> None:
    """Add the settings of a command to ``settings``, or remove negated ones; note a line about QoS that is not read."""
    text, origin = line
    for pattern, made_of in patterns:
        match = pattern.fullmatch(text)
        if match is None:
            continue
        made = made_of(match)
        if made is None:
            config.impossible[origin, text] = None
        for key, value in made or ():
            if value is REMOVED:
                forget(settings, key)
            else:
                settings[key] = NxosSetting(value, origin)
        return
    if not _take_back(settings, text, patterns):
        _not_read(config, text, origin)


def _take_back(settings: Settings, text: str, patterns: Patterns) -> bool:
    """Remove the settings that a command with ``no`` negates; return whether a pattern fits the command."""
    positive = text.removeprefix("no ")
    for pattern, made_of in patterns if positive != text else ():
        match = pattern.fullmatch(positive)
        if match is not None:
            for key, _ in made_of(match) or ():
                settings.pop(key, None)
            return True
    return False


def accepts(patterns: Patterns, text: str) -> bool:
    """Return whether a command, or its negation, fits one of the patterns of a mode."""
    forms = (text, text.removeprefix("no "))
    return any(pattern.fullmatch(form) for pattern, _ in patterns for form in forms)


def note_stray(config: NxosConfig, line: tuple[str, Origin]) -> None:
    """Record a line about QoS that is below an unknown line."""
    text, origin = line
    if _ONLY_QOS.match(text):
        config.unread[origin, text] = None


def _not_read(config: NxosConfig, text: str, origin: Origin) -> None:
    for pattern, meant in _WRONG:
        if pattern.match(text):
            config.refused[origin, text, meant] = None
            return
    if _ABOUT_QOS.match(text):
        config.unread[origin, text] = None


# --- what a pattern makes ---


def _nothing(_: re.Match[str]) -> Made:
    return ()


def _fixed(key: Key, value: object) -> Maker:
    return lambda _: [(key, value)]


def _without(*names: str) -> Maker:
    return lambda _: [((name,), REMOVED) for name in names]


def _text(key: Key) -> Maker:
    return lambda match: [(key, match[1])]


def _number(key: Key, within: range) -> Maker:
    def made(match: re.Match[str]) -> Made:
        return [(key, int(match[1]))] if int(match[1]) in within else None

    return made


def _each(key: str, most: int, names: Mapping[str, int] | None = None) -> Maker:
    """Return a function that makes a setting of each number of a list."""

    def made(match: re.Match[str]) -> Made:
        numbers = indexes(match[1], most, names)
        return None if numbers is None else [((key, number), True) for number in numbers]

    return made


def _marked(match: re.Match[str]) -> Made:
    numbers = indexes(match[1], _DSCP, DSCP_NAMES)
    return None if numbers is None else [(("marked",), numbers[0])]


def _precedences(match: re.Match[str]) -> Made:
    numbers = indexes(match[1], LAST, PRECEDENCES)
    return None if numbers is None else [(("dscp", 8 * p + low), True) for p in numbers for low in range(8)]


def _pfc(match: re.Match[str]) -> Made:
    return [(("pfc",), "auto" if match[1] else match[2])]


def _watchdog(match: re.Match[str]) -> Made:
    on = match[1] is None and match[2] == "on"
    made = [(("watchdog",), on), (("log-only",), on and "disable-action" in match[3])]
    multiplier = re.search(r"interface-multiplier ([0-9]+)", match[3])
    return [*made, (("watchdog", "interface"), int(multiplier[1]))] if multiplier else made


def _pause(match: re.Match[str]) -> Made:
    """Return the settings of a ``pause`` line, whose parts come in any order; None for a CoS or size out of range."""
    words = match[1].split()
    made: list[tuple[Key, Any]] = []
    for flag in ("no-drop", "receive"):
        if flag in words:
            made.append(((flag,), True))
            words.remove(flag)
    cos = re.search(r"pfc-cos ((?:[0-9]+(?:-[0-9]+)?[ ,]*)+)", " ".join(words))
    numbers = indexes(cos[1], LAST) if cos else []
    buffer = re.search(
        r"buffer-size ([0-9]+) pause-threshold ([0-9]+) resume-threshold ([0-9]+)", " ".join(words)
    )
    if numbers is None or (buffer and int(buffer[1]) not in _BUFFER_BYTES):
        return None
    made += [(("pause", number), True) for number in numbers]
    return [*made, (("buffer",), PauseBuffer(*map(int, buffer.groups())))] if buffer else made


def _curve(match: re.Match[str]) -> Made:
    low, high, percent = int(match[1]), int(match[3]), int(match[5])
    if low not in _THRESHOLD or high not in _THRESHOLD or percent not in _PERCENT:
        return None
    if match[6] and int(match[6]) not in _WEIGHT:
        return None
    limits = threshold_bytes(match[1], match[2]), threshold_bytes(match[3], match[4])
    return [(("ecn",), RandomDetect(*limits, percent, "ecn" in match[7].split()))]


def _optimized(match: re.Match[str]) -> Made:
    return [(("ecn",), RandomDetect(None, None, None, match[1] is not None))]


def _speed(match: re.Match[str]) -> Made:
    return [(("speed",), int(match[1]) * (10**9 if match[2] else 10**6))]


def _storm(match: re.Match[str]) -> Made:
    return [(("storm",), float(match[1]))]


# --- which commands there are ---

Patterns = tuple[tuple[re.Pattern[str], "Maker"], ...]


def _patterns(*rows: tuple[str, Maker]) -> Patterns:
    return tuple((re.compile(pattern), made) for pattern, made in rows)


_LIST = r"([0-9a-z]+(?:[ ,-]+[0-9a-z]+)*)"
_AMOUNT = r"([0-9]{1,12}) (packets|bytes|kbytes|mbytes|us)"
_DESCRIPTION = (r"(?:no )?description\b.*", _nothing)
_POLICIES = (
    r"(no )?service-policy(?: type (qos|queuing))? (input|output) (\S+)(?: no-stats)?",
    lambda match: [(("policy", match[2] or QOS, match[3]), None if match[1] else match[4])],
)
_NETWORK_POLICY = (
    r"(no )?service-policy type network-qos (\S+)",
    lambda match: [(("policy", NETWORK, ""), None if match[1] else match[2])],
)
SWITCH = _patterns(
    (r"(?:hostname|switchname) (\S+)", _text(("hostname",))),
    (r"(no )?priority-flow-control watch-dog-interval (on|off)()", _watchdog),
    (
        r"priority-flow-control watch-dog interval ([0-9]{1,6})(?: .+)?",
        _number(("watchdog", "interval"), range(10**6)),
    ),
    (
        r"priority-flow-control (?:watch-dog (shutdown)-multiplier|(auto|fixed)-restore multiplier) ([0-9]{1,3})",
        lambda match: [(("watchdog", match[1] or match[2]), int(match[3]))],
    ),
    (r"(no )?vlan dot1q tag native", lambda match: [(("tag-native",), match[1] is None)]),
    (r"priority-flow-control override-interface mode off", _fixed(("override",), True)),
    (r"(?:no )?hardware qos .+", _nothing),
)
SYSTEM = _patterns(_POLICIES, _NETWORK_POLICY)
PORT = _patterns(
    (r"(no )?priority-flow-control mode(?: (on|off|auto))?(?: send-tlv)?", _pfc),
    (r"(no )?priority-flow-control watch-dog-interval (on|off)((?: disable-action| interface-multiplier [0-9]+)*)",
     _watchdog),
    (r"no priority-flow-control watch-dog-interval", _fixed(("watchdog",), False)),
    _POLICIES,
    (r"mtu ([0-9]{1,5})", _number(("mtu",), range(64, 65_536))),
    (r"speed ([0-9]{1,7})(g)?", _speed),
    (r"speed auto.*|no (?:mtu|speed)\b.*", _nothing),
    (r"shut(?:down)?(?: force)?", _fixed(("up",), False)),
    (r"no shut(?:down)?(?: force)?", _fixed(("up",), True)),
    (r"no switchport|ip(?:v6)? address .+", _fixed(("routed",), True)),
    (r"switchport", _fixed(("routed",), False)),
    (r"switchport mode access", _fixed(("access",), True)),
    (r"switchport mode (?!access)\S.*", _fixed(("access",), False)),
    (r"switchport trunk native vlan ([0-9]{1,4})", _number(("native",), _VLANS)),
    (r"no switchport trunk native vlan\b.*", _without("native")),
    (r"switchport trunk allowed vlan ([0-9]{1,4})", _number(("allowed",), _VLANS)),
    (r"(?:no )?switchport trunk allowed vlan\b.*", _without("allowed")),
    (r"(?:no )?switchport .+", _nothing),
    (r"channel-group ([0-9]+)\b.*", _text(("lag",))),
    (r"inherit port-profile (\S+)", _text(("inherit",))),
    (r"flowcontrol (receive|send) (on|off|desired)", lambda match: [(("flowcontrol", match[1]), match[2])]),
    (r"storm-control unicast level ([0-9]{1,3}(?:\.[0-9]{1,2})?)", _storm),
    (r"no storm-control unicast\b.*", _without("storm")),
    (r"no channel-group\b.*", _without("lag")),
    (r"no inherit port-profile\b.*", _without("inherit")),
    (r"no flowcontrol (?:receive|send)\b.*", _without("flowcontrol")),
    (r"(?:no )?storm-control (?!unicast).+|state (?:enabled|disabled)|(?:no )?bandwidth [0-9]+", _nothing),
    _DESCRIPTION,
)  # fmt: skip
CLASS_MAP = _patterns(
    (rf"match (?:ip )?dscp {_LIST}", _each("dscp", _DSCP, DSCP_NAMES)),
    (rf"match cos {_LIST}", _each("cos", LAST)),
    (rf"match (?:ip )?precedence {_LIST}", _precedences),
    (rf"match qos-group {_LIST}", _each("qos-group", LAST)),
    (r"match (.+)", _text(("other",))),
    _DESCRIPTION,
)
CLASSES = {
    QOS: _patterns(
        (r"set qos-group ([0-9]{1,3})", _number(("qos-group",), range(LAST + 1))),
        (r"set (?:ip )?dscp (?!dscp\b)([0-9a-z]+)", _marked),
        (r"no set (?:ip )?dscp\b.*", _without("marked")),
        (r"(?:no )?set (?:cos|dscp|ip dscp|precedence|ip precedence|dlb-disable)\b.*", _nothing),
        (r"no set qos-group\b.*", _without("qos-group")),
        (r"police (.+)", _text(("police",))),
        (r"no police\b.*", _without("police")),
        _DESCRIPTION,
    ),
    NETWORK: _patterns(
        (r"pause ((?:pfc-cos|no-drop|buffer-size|receive)\b.*)", _pause),
        (r"no pause\b.*", _without("pause", "no-drop", "receive", "buffer")),
        (r"mtu ([0-9]{1,5})", _number(("mtu",), _MTU)),
        (r"congestion-control random-detect( ecn)?\b.*", _optimized),
        (r"(?:no )?congestion-control (?:tail-drop|random-detect)\b.*", _nothing),
        (r"set cos [0-7]|(?:no )?multicast-optimize|queue-limit .+", _nothing),
        _DESCRIPTION,
    ),
    QUEUING: _patterns(
        (r"bandwidth percent ([0-9]{1,3})", _number(("percent",), _PERCENT)),
        (r"bandwidth remaining percent ([0-9]{1,3})", _number(("remaining",), _PERCENT)),
        (r"priority level ([0-9]{1,2})", _number(("priority",), _LEVELS)),
        (r"priority", _fixed(("priority",), 1)),
        (rf"random-detect minimum-threshold {_AMOUNT} maximum-threshold {_AMOUNT} drop-probability ([0-9]{{1,3}})"
         r"(?: weight ([0-9]{1,2}))?((?: cap-average| ecn)*)", _curve),
        (r"random-detect threshold (?:burst|mesh)-optimized( ecn)?", _optimized),
        (r"no random-detect\b.*", _fixed(("ecn",), None)),
        (r"pause (buffer-size .+)", _pause),
        (r"no bandwidth remaining percent\b.*", _without("remaining")),
        (r"no bandwidth percent\b.*", _without("percent")),
        (r"no priority\b.*", _without("priority")),
        (r"no pause\b.*", _without("buffer")),
        (r"shape min [0-9]{1,12} [a-z]+ max ([0-9]{1,12}) ([a-z]+)",
         lambda match: [(("shape",), limit(match[1], match[2]))]),
        (r"no shape\b.*", _without("shape")),
        (r"shape\b.*", _fixed(("shape",), RateLimit(None, None))),
        (r"(?:no )?queue-limit\b.*", _nothing),
        _DESCRIPTION,
    ),
}  # fmt: skip
"""The commands of a class, by the type of its policy."""
_WRONG = tuple(
    (re.compile(pattern), meant)
    for pattern, meant in (
        (
            r"(?:no )?priority-flow-control (?:watchdog|watch-dog(?:-| (?:on|off|action|timer)|$))",
            "priority-flow-control watch-dog-interval on",
        ),
        (
            r"priority-flow-control (?:priority|receive|send|enable|no-drop)\b",
            "priority-flow-control mode on",
        ),
        (
            r"service-policy type network-qos",
            "below system qos: service-policy type network-qos with the policy",
        ),
        (r"priority-flow-control (?:on|off)$", "priority-flow-control mode on"),
        (
            r"random-detect |drop-probability |maximum-threshold ",
            "one line: random-detect minimum-threshold 150 kbytes maximum-threshold 3000 kbytes drop-probability 7 "
            "weight 0 ecn",
        ),
    )
)
"""Lines that public texts have and NX-OS has not, each with the intended command."""
