"""NVUE configurations as one tree, whether they are ``nv set`` commands or the YAML of ``nv config``.

In both a setting is a path of words: ``qos pfc my_profile tx enable``. A node has the words that may follow a word; the
last word of a path is its value. ``nv set`` takes lists and ranges where YAML has several keys (``swp1-4,swp6``), and
they become those keys.
"""

from __future__ import annotations

import re
from itertools import islice
from string import ascii_letters
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.findings import Origin
from lossless.ground.documents.command_lines import LineLocator
from lossless.ground.documents.text import Document

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.ground.basics.findings import Path


LISTED = frozenset({"interface", "traffic-class", "switch-priority", "dscp", "pcp", "member"})
"""Words that several keys may follow, as a list."""
_RANGE = re.compile(r"(.*?)([0-9]{1,4})-(?:([A-Za-z]+)(?=[0-9]))?([0-9]{1,4})((?:s[0-9-]+)?)")
_MOST = 4096
_BEFORE = r"[ \t]*(?:(?:[\w.-]+@[\w.-]+:[\w.:~/-]*[$#]|\$)[ \t]*)?(?:sudo )?"
"""The prompt before a command in guides and shells: ``cumulus@leaf1:mgmt:~$``. A ``#`` alone begins a comment."""
_COMMAND = re.compile(rf"{_BEFORE}nv (set|unset) (.+?)\s*(?:#.*)?")


class Node:
    """A word in a path: the words below it, in the order in which they were set last, and its place."""

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
        """Return the node of a path below this one."""
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
        """Return the value of a path that was set last; None if none was set."""
        node = self.at(*words)
        return next(reversed(node.below), None) if node is not None else None

    def number(self, *words: str) -> int | None:
        """Return the value of a path as a number, None if it is no number."""
        text = self.value(*words)
        return int(text) if text is not None and text.isdecimal() and len(text) < 13 else None

    def origin_of(self, *words: str) -> Origin:
        """Return the place of a path, or of as much of it as there is."""
        node = self
        for word in words:
            node = node.below.get(word) or node
        return node.origin


def read_commands(text: str, file: str) -> Document:
    """Return the document of ``nv set`` commands: a path of it is the command that it represents."""
    lines: dict[Path, int] = {}
    data: dict[Any, Any] = {}
    whole = ""
    for number, written in enumerate(text.split("\n"), 1):
        line = f"{whole}{written}"
        # A backslash at its end continues a command in the next line.
        whole = f"{line[:-1]} " if line.endswith("\\") else ""
        if not whole and _COMMAND.fullmatch(line):
            key = "nv " + " ".join(line.split()).partition("nv ")[2]
            lines[key,] = number
            data.pop(key, None)  # what is said again is said last
            data[key] = {}
    return Document(file, text, data, LineLocator(text, lines))


def tree_of(document: Document) -> Node:
    """Return the tree of a document, in whichever form it is: YAML, JSON or commands."""
    structured = document.file.lower().endswith((".yaml", ".yml", ".json"))
    return tree_of_data(document) if structured else tree_of_commands(document)


def tree_of_commands(document: Document) -> Node:
    """Return the tree that commands make, one after the other."""
    root = Node(Origin(document.name))
    for command in document.data:
        match = _COMMAND.fullmatch(str(command))
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
    """Return the paths of a command with lists."""
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
    """Return the tree of YAML: of the list that ``nv config`` prints, or of its tree alone."""
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
    """Return whether a text consists of commands of NVUE."""
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
