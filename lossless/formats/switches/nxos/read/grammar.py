"""What the commands of NX-OS say: each makes settings, by the first pattern that fits it in its mode.

Grammar: Cisco, Nexus 9000 Series NX-OS Quality of Service Configuration Guide 10.x (classification, network
QoS, queuing and scheduling, priority flow control), and the leaves of Cisco-NX-OS-device.yang (YangModels/yang @6795d9c
vendor/cisco/nx/9.3-2).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lossless.formats.switches.nxos.read.rows import MarkingCurve, Match
from lossless.model.fabric.dscp_names import dscp_of_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Made = Iterable[tuple[str, Any]] | None
    """The settings that a command makes; None where it names what does not exist."""

UNITS = {"bytes": 1, "kbytes": 1000, "mbytes": 1_000_000, "gbytes": 1_000_000_000}
"""What the units of thresholds stand for; packets and microseconds say no bytes."""
_SPEEDS = {"auto": None}
_ABOUT_QOS = re.compile(
    r"(?:no |default )?(?:priority-flow-control|service-policy|random-detect|pause|bandwidth|priority|set|match|class|"
    r"congestion-control|queue-limit|shape) ?"
)
_LAST = {"dscp": 63, "cos": 7, "precedence": 7, "qos-group": 7}


def is_about_qos(text: str) -> bool:
    """Return whether a command that has no meaning here would have to have one."""
    return _ABOUT_QOS.match(text) is not None


def numbers(text: str, most: int) -> tuple[int, ...] | None:
    """Return the numbers of a list with ranges, commas and names of DSCPs; None where one does not exist."""
    values: list[int] = []
    for part in text.replace(",", " ").split():
        low, dash, high = part.partition("-")
        if dash and low.isdecimal() and high.isdecimal() and len(high) < 4:
            values += range(int(low), int(high) + 1)
        elif part.isdecimal() and len(part) < 4:
            values.append(int(part))
        elif part == "default" or (most == _LAST["dscp"] and (named := dscp_of_name(part)) is not None):
            values.append(0 if part == "default" else named or 0)
        else:
            return None
    return tuple(values) if values and max(values) <= most else None


def match_of(text: str) -> Match | None:
    """Return what a line of a class map matches; values are none where the field is one that a packet does not bear.

    None: the line names what does not exist. An IP precedence stands for the eight DSCPs that begin with it.
    """
    found_field = re.fullmatch(r"match (?:ip )?(dscp|cos|precedence|qos-group) (.+)", text)
    if found_field is None:
        return Match(text.removeprefix("match ").partition(" ")[0], ())
    field = found_field[1]
    values = numbers(found_field[2], _LAST[field])
    if values is None:
        return None
    if field == "precedence":
        return Match("dscp", tuple(8 * value + low for value in values for low in range(8)))
    return Match(field, values)


def _fixed(key: str, value: object) -> Callable[[re.Match[str]], Made]:
    return lambda _: [(key, value)]


def _text(key: str) -> Callable[[re.Match[str]], Made]:
    return lambda match: [(key, match[1])]


def _number(key: str, most: int) -> Callable[[re.Match[str]], Made]:
    def made(match: re.Match[str]) -> Made:
        return None if len(match[1]) > 9 or int(match[1]) > most else [(key, int(match[1]))]

    return made


def _nothing(_: re.Match[str]) -> Made:
    return ()


def _pause(match: re.Match[str]) -> Made:
    priorities = numbers(match[1], 7)
    return None if priorities is None else [("pause", priorities)]


def _pause_bytes(match: re.Match[str]) -> Made:
    return [("pause-bytes", tuple(int(match[n]) for n in (1, 2, 3)))]


def _curve(match: re.Match[str]) -> Made:
    low, high = (int(match[n]) * UNITS[match[n + 1]] if match[n + 1] in UNITS else None for n in (1, 3))
    percent = int(match[5]) if match[5] else None
    if percent is not None and percent > 100:
        return None
    return [("ecn", MarkingCurve(low, high, percent, match[6] is not None))]


def _burst_optimized(match: re.Match[str]) -> Made:
    return [("ecn", MarkingCurve(None, None, None, match[1] is not None))]


def _speed(match: re.Match[str]) -> Made:
    return [("speed", int(match[1]) * 10**6 if match[1].isdecimal() and len(match[1]) < 8 else None)]


Patterns = tuple[tuple[re.Pattern[str], "Callable[[re.Match[str]], Made]"], ...]


def _patterns(*rows: tuple[str, Callable[[re.Match[str]], Made]]) -> Patterns:
    return tuple((re.compile(pattern), made) for pattern, made in rows)


SWITCH = _patterns(
    (r"(?:hostname|switchname) (\S+)", _text("hostname")),
    (r"priority-flow-control watch-dog-interval on", _fixed("watchdog", True)),
    (r"(?:no )?priority-flow-control watch-dog-interval(?: off)?", _fixed("watchdog", False)),
    (r"priority-flow-control override-interface mode (on|off)", _text("override")),
    (r"no (?:class-map|policy-map|priority-flow-control|service-policy) .+", _nothing),
)
PORT = _patterns(
    (r"priority-flow-control mode (on|off|auto)(?: send-tlv)?", _text("pfc")),
    (r"no priority-flow-control mode.*", _fixed("pfc", "auto")),
    (r"priority-flow-control watch-dog-interval on(?: .+)?", _fixed("watchdog", True)),
    (r"(?:no )?priority-flow-control watch-dog-interval(?: off)?", _fixed("watchdog", False)),
    (r"(priority-flow-control watch-?dog(?! ?-?interval on).*)", _text("wrong")),
    (r"(priority-flow-control priority .+)", _text("wrong")),
    (r"service-policy type qos input (\S+)(?: no-stats)?", _text("input")),
    (r"service-policy input (\S+)", _text("input")),
    (r"service-policy type queuing output (\S+)(?: no-stats)?", _text("queuing")),
    (r"service-policy type queuing input (\S+)(?: no-stats)?", _text("queuing input")),
    (r"no service-policy .+", _nothing),
    (r"mtu ([0-9]{1,5})", _number("mtu", 99_999)),
    (r"speed (\S+)", _speed),
    (r"shutdown", _fixed("up", False)),
    (r"no shutdown", _fixed("up", True)),
    (r"no switchport", _fixed("routed", True)),
    (r"switchport trunk native vlan .+", _nothing),
    (r"switchport trunk allowed vlan (.+)", _text("tagged")),
    (r"switchport mode trunk", _fixed("tagged", "trunk")),
    (r"switchport mode access", _fixed("tagged", None)),
    (r"switchport access vlan .+", _nothing),
    (r"channel-group ([0-9]+)(?: .+)?", _text("lag")),
    (r"inherit port-profile (\S+)", _text("inherit")),
    (r"storm-control unicast level ([0-9]{1,3})(?:\.[0-9]+)?.*", _number("storm", 100)),
)
SYSTEM = _patterns(
    (r"service-policy type network-qos (\S+)", _text("network-qos")),
    (r"service-policy type qos input (\S+)", _text("input")),
    (r"service-policy type queuing output (\S+)", _text("queuing")),
    (r"service-policy type queuing input (\S+)", _text("queuing input")),
    (r"(?:no )?(?:fabric|service-policy) .+", _nothing),
)
CLASS = _patterns(
    (r"set qos-group ([0-9]+)", _number("group", 7)),
    (r"set .+", _nothing),
    (r"pause pfc-cos (.+?)(?: receive)?", _pause),
    (r"pause no-drop(?: pfc-cos (.+))?", lambda match: _pause(match) if match[1] else [("pause", ())]),
    (
        r"pause buffer-size ([0-9]{1,12}) pause-threshold ([0-9]{1,12}) resume-threshold ([0-9]{1,12})",
        _pause_bytes,
    ),
    (r"no (?:pause|congestion-control).*", _nothing),
    (r"congestion-control .+", _nothing),
    (r"mtu ([0-9]{1,5})", _number("mtu", 9216)),
    (r"bandwidth(?: remaining)? percent ([0-9]{1,3})", _number("percent", 100)),
    (r"priority(?: level [1-8])?", _fixed("strict", True)),
    (
        r"random-detect minimum-threshold ([0-9]{1,12}) ([a-z]+) maximum-threshold ([0-9]{1,12}) ([a-z]+)"
        r"(?: drop-probability ([0-9]{1,3}))?(?: weight [0-9]+)?( ecn)?(?: non-ecn)?",
        _curve,
    ),
    (
        r"random-detect threshold burst-optimized( ecn)?",
        lambda m: [("ecn", MarkingCurve(None, None, None, bool(m[1])))],
    ),
    (r"(?:queue-limit|shape|afd|description|no) .+", _nothing),
)
