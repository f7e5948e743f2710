"""NVUE configurations as one tree, from ``nv set`` commands or ``nv config`` as YAML or JSON; words, and defaults.

In both a setting is a path of words: ``qos pfc my_profile tx enable``. A node has the words that may follow a word; the
last word of a path is its value. ``nv set`` takes lists and ranges where YAML has several keys (``swp1-4,swp6``), and
they become those keys.

A misspelled word, or a number that its word does not take, is reported, not read as a setting. Source: the argument
lists of stackhpc/ansible-nvidia-nvue @90c797b (nvidia.nvue 1.2.5) and the guides of Cumulus Linux. Later releases
have words that are missing here, so an unknown word is no error: it is not read.

Defaults are those of settings that are not set, and the settings that ``qos roce`` implies by its mode. Source: the
guides of Cumulus Linux (CumulusNetworks/docs content/cumulus-linux-519/.../Quality-of-Service/_index.md @16b8323) and
the output of ``nv show qos roce`` and ``nv config show``.
"""

from __future__ import annotations

import re
from itertools import islice
from string import ascii_letters
from typing import TYPE_CHECKING, Any, Union

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.command_lines import LineLocator
from lossless.ground.documents.text import Document
from lossless.model.fabric.configured_switch import RefusedSetting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.ground.basics.findings import Path


PRIORITIES = range(8)
KMIN_BYTES, KMAX_BYTES, PROBABILITY = 150_000, 1_500_000, 100
"""The default marking curve, for marking that is on without thresholds."""
ON, OFF = ("on", "enable", "enabled"), ("off", "disable", "disabled")
"""The words for on and off in releases of Cumulus Linux."""
POLL_MS, ROBUSTNESS = 100, 3
CABLE_M, ROCE_CABLE_M = 10, 100


class QosDefaults(NamedTuple):
    """The QoS of a switch before its own settings: ``trust`` as NVUE calls it, DSCP and PCP maps, queues by priority.

    ``shares`` are percents of DWRR by traffic class, None for a strict one; ``marking`` has the curve (minimum,
    maximum, percent) of each class that marks ECN, ``paused`` priorities with PFC.
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
"""The words that may follow a word of a path: each with its own followers (``*``: any name); one of a set; a number up
to this one. None: any followers, unchecked."""

_ANY = "*"
_LAST, _PERCENT, _NUMBER = 7, 100, 10**12
_SWITCHED = frozenset((*ON, *OFF))
PROFILED = ("pfc", "mapping", "congestion-control", "egress-scheduler")
"""The QoS settings of a port that refer to a profile by name."""
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
    """Yield a text for each word of a QoS setting that the grammar does not have."""
    for path, _, words in _strays(tree):
        if not isinstance(words, int):
            yield f"{' '.join(path)!r} is not read"


def impossible(tree: Node) -> Iterator[RefusedSetting]:
    """Yield the QoS settings that take a number and have another value, or a number larger than NVUE accepts."""
    for path, node, most in _strays(tree):
        if isinstance(most, int):
            takes = f"0 to {most}" if most < _NUMBER else "a number of twelve digits at most"
            yield RefusedSetting(f"{' '.join(path)!r} is out of range", f"it takes {takes}", "", node.origin)


def _strays(tree: Node) -> Iterator[tuple[tuple[str, ...], Node, Words]]:
    """Yield the QoS settings outside the grammar: path, node, and the valid words there, None behind a value."""
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


LISTED = frozenset({"interface", "traffic-class", "switch-priority", "dscp", "pcp", "member"})
"""Words of a path that a list of names may follow: ``swp1-4,swp6``."""
_RANGE = re.compile(r"(.*?)([0-9]{1,4})-(?:([A-Za-z]+)(?=[0-9]))?([0-9]{1,4})((?:s[0-9-]+)?)")
_MOST = 4096
_BEFORE = r"[ \t]*(?:(?:[\w.-]+@[\w.-]+:[\w.:~/-]*[$#]|\$)[ \t]*)?(?:sudo )?"
"""The prompt before a command in guides and shells: ``cumulus@leaf1:mgmt:~$``. A ``#`` alone begins a comment."""
_COMMAND = re.compile(rf"{_BEFORE}nv (set|unset) (.[^#]*)")


class Node:
    """A word in a path of settings: the words below it, in the order in which they were set last, and its place."""

    __slots__ = ("below", "origin", "removed")

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.below: dict[str, Node] = {}
        self.removed = False

    def all(self, *words: str) -> Mapping[str, Node]:
        """Return the nodes below a path, by their words."""
        node = self.at(*words)
        return node.below if node is not None else {}

    def at(self, *words: str) -> Node | None:
        """Return the node of a path below this one, None where there is none."""
        node: Node | None = self
        for word in words:
            node = None if node is None else node.below.get(word)
        return node

    def says(self, *words: str) -> bool:
        """Return whether a path is set or removed: by itself, or as part of a removed subtree."""
        node: Node | None = self
        for word in words:
            if node is None or node.removed:
                break
            node = node.below.get(word)
        return node is not None

    def value(self, *words: str) -> str | None:
        """Return the value that was set last at a path; None if none was set, or it was removed again."""
        node = self.at(*words)
        word = next(reversed(node.below), None) if node is not None else None
        return None if node is None or word is None or node.below[word].removed else word

    def number(self, *words: str) -> int | None:
        """Return the value of a path as a number, None if it is no number of at most twelve digits."""
        text = self.value(*words)
        return (
            int(text) if text is not None and text.isascii() and text.isdecimal() and len(text) < 13 else None
        )

    def origin_of(self, *words: str) -> Origin:
        """Return the place of a path, or of its longest beginning that exists."""
        node = self
        for word in words:
            node = node.below.get(word) or node
        return node.origin


def read_commands(text: str, file: str) -> Document:
    """Return a document whose keys are ``nv set`` and ``nv unset`` commands; a repeated one has its last place."""
    lines: dict[Path, int] = {}
    data: dict[Any, Any] = {}
    whole = ""
    for number, written in enumerate(text.split("\n"), 1):
        line = f"{whole}{written}"
        # A backslash at its end continues a command in the next line.
        whole = f"{line[:-1]} " if line.endswith("\\") else ""
        if not whole and _COMMAND.match(line):
            key = "nv " + " ".join(line.split()).partition("nv ")[2]
            lines[key,] = number
            data.pop(key, None)  # what is said again is said last
            data[key] = {}
    return Document(file, text, data, LineLocator(text, lines))


def tree_of(document: Document) -> Node:
    """Return the tree of settings of a document: YAML or JSON by the name of its file, else commands."""
    structured = document.file.lower().endswith((".yaml", ".yml", ".json"))
    return tree_of_data(document) if structured else tree_of_commands(document)


def tree_of_commands(document: Document) -> Node:
    """Return the tree of settings that ``nv set`` and ``nv unset`` commands make, one after the other."""
    root = Node(Origin(document.name))
    for command in document.data:
        match = _COMMAND.match(str(command))
        if match is None:
            continue
        origin = Origin(document.name, (command,))
        for path in _paths(match[2].split()):
            if match[1] == "set":
                _set(root, path, origin)
            else:
                _unset(root, path, origin)
    return root


def _paths(words: Sequence[str]) -> list[list[str]]:
    """Return the paths of a command, one for each combination of names in its lists, the first 4,096."""
    paths: list[list[str]] = [[]]
    for before, word in zip(["", *words], words, strict=False):
        names = list(listed_names(word)) if before in LISTED else [word]
        paths = [[*path, name] for path in paths for name in names][:_MOST]
    return paths


def listed_names(text: str) -> Iterator[str]:
    """Yield the names of a list: ``swp1-2s0-1`` are four lanes, and ``swp6-9,28`` five ports with one prefix."""
    kind = ""
    for written in text.split(","):
        part = kind + written if written[:1].isdecimal() else written
        kind = part[: len(part) - len(part.lstrip(ascii_letters))]
        match = _RANGE.fullmatch(part)
        if (
            match is None
            or match[3] not in (None, match[1])
            or not 0 <= int(match[4]) - int(match[2]) < _MOST
        ):
            yield part
        else:
            numbers = range(int(match[2]), int(match[4]) + 1)
            yield from (name for number in numbers for name in listed_names(f"{match[1]}{number}{match[5]}"))


def _set(node: Node, path: Sequence[str], origin: Origin) -> None:
    for word in path:
        following = node.below.pop(word, None) or Node(origin)
        node.below[word] = node = following
        if node.removed:
            node.removed = False
    node.origin = origin


def _unset(node: Node, path: Sequence[str], origin: Origin) -> None:
    """Remove a setting: the default of the switch applies again, until another line sets it."""
    for word in path:
        node = node.below.setdefault(word, Node(origin))
    node.below.clear()
    node.origin, node.removed = origin, True


def tree_of_data(document: Document) -> Node:
    """Return the tree of settings in YAML or JSON: of the list that ``nv config`` prints, or of its tree alone."""
    root = Node(Origin(document.name))
    for path, data in _trees(document.data):
        _add(root, data, path)
    return root


def _trees(data: Mapping[Any, Any]) -> Iterator[tuple[Path, Mapping[Any, Any]]]:
    """Yield the trees of settings with their paths: those below ``set`` of a list, else the data themselves."""
    if all(isinstance(key, str) for key in data):
        yield (), data
        return
    for number, item in data.items():
        settings = item.get("set") if isinstance(item, dict) else None
        if isinstance(settings, dict):
            yield (number, "set"), settings


def _add(node: Node, data: Mapping[Any, Any], path: Path) -> None:
    """Add data below a node; a key may be a list, as ``nv config show`` groups ports: ``swp1-4``."""
    for key, value in data.items():
        place = (*path, key)
        listed = path and path[-1] in LISTED
        for name in islice(listed_names(str(key)), _MOST) if listed else (str(key),):
            below = node.below.setdefault(name, Node(Origin(node.origin.file, place)))
            if isinstance(value, dict):
                _add(below, value, place)
            elif value is not None:
                text = (
                    {True: "on", False: "off"}.get(value, str(value))
                    if isinstance(value, bool)
                    else str(value)
                )
                below.below[text] = Node(Origin(node.origin.file, place))


def looks_like_commands(text: str) -> bool:
    """Return whether a text has a command ``nv set`` or ``nv unset`` for QoS, interfaces or another known part."""
    return (
        re.search(
            rf"^{_BEFORE}nv (?:set|unset) (?:qos|interface|system|bridge|vrf|router|service|nve)\b",
            text,
            re.MULTILINE,
        )
        is not None
    )


def looks_structured(data: Mapping[object, object]) -> bool:
    """Return whether data are a tree of NVUE: its keys of QoS, or interfaces of a switch."""
    return any(_is_tree(settings) for _, settings in _trees(data))


def _is_tree(data: Mapping[Any, Any]) -> bool:
    qos = data.get("qos")
    if isinstance(qos, dict) and not {
        "roce",
        "traffic-pool",
        "egress-queue-mapping",
        "congestion-control",
    }.isdisjoint(qos):
        return True
    interfaces = data.get("interface")
    return isinstance(interfaces, dict) and any(re.match(r"swp[0-9]", str(name)) for name in interfaces)
