"""The words of NVUE that are read, and the numbers they take: a misspelled word is reported, not read as a setting.

Source: the argument lists of stackhpc/ansible-nvidia-nvue @90c797b (nvidia.nvue 1.2.5) and the guides of Cumulus Linux
(:mod:`lossless.formats.switches.nvue.grammar`). Later releases have words that are missing here, so an unknown word is
no error: it is not read.

Defaults of NVUE for settings that are not set, and the settings that ``qos roce`` implies by its mode.

Source: the guides of Cumulus Linux (CumulusNetworks/docs content/cumulus-linux-519/.../Quality-of-Service/_index.md
@16b8323) and the output of ``nv show qos roce`` and ``nv config show``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Union

from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.configured_switch import RefusedSetting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.switches.nvue.read import Node


PRIORITIES = range(8)
KMIN_BYTES, KMAX_BYTES, PROBABILITY = 150_000, 1_500_000, 100
"""The default marking curve, for marking that is on without thresholds."""
ON, OFF = ("on", "enable", "enabled"), ("off", "disable", "disabled")
"""How releases spell it."""
POLL_MS, ROBUSTNESS = 100, 3
CABLE_M, ROCE_CABLE_M = 10, 100


class QosDefaults(NamedTuple):
    """The state that settings change: ``trust`` as NVUE calls it, maps by index, queues by traffic class.

    ``shares`` are percents of DWRR by traffic class, None for a strict one; ``marking`` are the classes that mark.
    """

    trust: str
    dscp: tuple[int, ...] | None
    pcp: tuple[int, ...]
    queues: tuple[int, ...]
    shares: dict[int, int | None]
    marking: dict[int, tuple[int, int, int]]
    paused: tuple[int, ...]


_CURVE = (KMIN_BYTES, KMAX_BYTES, PROBABILITY)
EIGHTHS = tuple(dscp // 8 for dscp in range(64))
"""The switch priority of each DSCP where DSCPs are trusted and none is mapped."""
_OF_ROCE = tuple({3: 3, 6: 6}.get(priority, 0) for priority in PRIORITIES)
PLAIN = QosDefaults(
    "l2",
    None,
    tuple(PRIORITIES),
    tuple(PRIORITIES),
    {number: 12 + number % 2 for number in PRIORITIES},
    {0: _CURVE},
    (),
)
LOSSLESS = QosDefaults(
    "both", EIGHTHS, tuple(PRIORITIES), _OF_ROCE, {0: 50, 3: 50, 6: None}, {0: _CURVE, 3: _CURVE}, (3,)
)
LOSSY = LOSSLESS._replace(paused=())
_TRIMMED = {
    **dict.fromkeys((1, 2), 1),
    **dict.fromkeys((3, 4), 2),
    **dict.fromkeys((5, 6), 3),
    **dict.fromkeys(range(11, 41), 4),
}
_NARROW = (163 * 1024, 234 * 1024, 5)
MULTI_TC = QosDefaults(
    "both",
    tuple(_TRIMMED.get(dscp, 0) for dscp in range(64)),
    tuple(PRIORITIES),
    tuple(PRIORITIES),
    {0: 4, 1: 8, 2: 18, 3: 22, 4: 22},
    dict.fromkeys((1, 2, 3), _NARROW),
    (),
)
MODES = {
    "lossless": LOSSLESS,
    "lossless-single-ipool": LOSSLESS,
    "lossy": LOSSY,
    "lossy-multi-tc": MULTI_TC,
}


Words = Union[dict[str, "Words"], frozenset[str], int, None]  # noqa: UP007 it names itself
"""The words that may follow: each with its own followers (``*``: any name); one of some words; a number up to this one.
None: any followers, unchecked."""

_ANY = "*"
_LAST, _PERCENT, _NUMBER = 7, 100, 10**12
_SWITCHED = frozenset((*ON, *OFF))
PROFILED = ("pfc", "mapping", "congestion-control", "egress-scheduler")
"""The parts of a port that are profiles, referred to by name."""
_TO_PRIORITY: Words = {_ANY: {"switch-priority": _LAST}}
_CURVE_WORDS: Words = {
    "ecn": _SWITCHED,
    "red": _SWITCHED,
    **dict.fromkeys(
        ("min-threshold", "max-threshold", "min-threshold-bytes", "max-threshold-bytes"), _NUMBER
    ),
    "probability": _PERCENT,
}
_PFC: Words = {
    "switch-priority": _LAST,
    "tx": _SWITCHED,
    "rx": _SWITCHED,
    **dict.fromkeys(("cable-length", "port-buffer", "xoff-threshold", "xon-threshold"), _NUMBER),
    "small-packet-probability": None,
}
WATCHDOG: dict[str, Words] = {
    "polling-interval": _NUMBER,
    "robustness": _NUMBER,
    "state": _SWITCHED,
    "enable": _SWITCHED,
    **dict.fromkeys(
        ("recovery-interval", "rx-pause-threshold", "rx-pause-duration", "tx-frames-threshold"), None
    ),
    "transmit-queue-threshold": None,
}
_NOT_NEEDED = ("egress-shaper", "traffic-pool", "advance-buffer-config", "link-pause", "remark", "buffer")
_QOS: Words = {
    "roce": {"enable": _SWITCHED, "state": _SWITCHED, "mode": frozenset(MODES), "cable-length": _NUMBER},
    "pfc": {_ANY: _PFC},
    "pfc-watchdog": WATCHDOG,
    "mapping": {
        _ANY: {
            "trust": frozenset(("l2", "l3", "both", "port")),
            "dscp": _TO_PRIORITY,
            "pcp": _TO_PRIORITY,
            "port-default-sp": _LAST,
        }
    },
    "congestion-control": {_ANY: {"traffic-class": {_ANY: _CURVE_WORDS}}},
    "egress-queue-mapping": {_ANY: {"switch-priority": {_ANY: {"traffic-class": _LAST}}}},
    "egress-scheduler": {
        _ANY: {"traffic-class": {_ANY: {"mode": frozenset(("dwrr", "strict")), "bw-percent": _PERCENT}}}
    },
    **dict.fromkeys(_NOT_NEEDED, None),
}
_OF_PORT: Words = {
    **dict.fromkeys(PROFILED, None),
    "pfc-watchdog": WATCHDOG,
    **dict.fromkeys(("egress-shaper", "link-pause", "remark", "buffer", "shared-headroom-pool"), None),
}


def unread(tree: Node) -> Iterator[str]:
    """Yield the QoS settings that are not read here."""
    for path, _, words in _strays(tree):
        if not isinstance(words, int):
            yield f"{' '.join(path)!r} is not read"


def impossible(tree: Node) -> Iterator[RefusedSetting]:
    """Yield values that are no numbers, or larger than NVUE accepts."""
    for path, node, most in _strays(tree):
        if isinstance(most, int):
            takes = f"0 to {most}" if most < _NUMBER else "a number of twelve digits at most"
            yield RefusedSetting(f"{' '.join(path)!r} is out of range", f"it takes {takes}", "", node.origin)


def _strays(tree: Node) -> Iterator[tuple[tuple[str, ...], Node, Words]]:
    """Yield the settings outside the grammar: path, node, and the words that are valid there."""
    qos, interfaces = tree.at("qos"), tree.at("interface")
    if qos is not None:
        yield from _below(qos, _QOS, ("qos",))
    for name, port in (interfaces.below if interfaces is not None else {}).items():
        if (own := port.at("qos")) is not None:
            yield from _below(own, _OF_PORT, ("interface", name, "qos"))


def _below(node: Node, words: Words, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Node, Words]]:
    for word, following in node.below.items():
        at = (*path, word)
        if isinstance(words, dict):
            if word not in words and _ANY not in words:
                yield at, following, words
            elif (inner := words.get(word, words.get(_ANY))) is not None:
                yield from _below(following, inner, at)
        elif isinstance(words, int):
            if not (word.isascii() and word.isdecimal() and len(word) < 14 and int(word) <= words):
                yield at, following, words
            else:
                yield from _behind(following, at)
        elif words is not None and word not in words:
            yield at, following, words
        else:
            yield from _behind(following, at)


def _behind(value: Node, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Node, Words]]:
    """Yield the words behind a value: a command has one, as in ``tx enable``, and NVUE refuses more."""
    for word, following in value.below.items():
        yield (*path, word), following, None
