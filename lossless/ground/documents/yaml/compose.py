"""YAML with positions: events of ruamel.yaml, with its C parser where installed, and a composer of its own.

Events become plain data and positions in one pass. Events, not ruamel's node tree, leave the control of nesting to
this code: ruamel's composer recurses in C and crashes the process at some ten thousand levels. Events are also
faster.

Scalars are read by the core schema of YAML 1.2.2, section 10.3.2. `no`, `on`, `10:20:30`, `2024-01-01` and `1_000`
are text; `010` is ten. Numbers that are not finite are refused: no quantity of a fabric is infinite.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NoReturn

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
    StreamStartEvent,
)

from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.limits import ALIASED_VALUES, DIGITS, NESTING
from lossless.ground.basics.units import nearest
from lossless.ground.documents.text import Document, Lines, ValuePlace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.ground.basics.findings import Path


_COLLECTION_TAGS = ("!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")


class YamlNode:
    """A value with its offsets in the text.

    ``size`` counts it and the keys and values in it with aliases expanded, ``height`` the levels of nesting below it.
    """

    __slots__ = ("children", "data", "end", "height", "is_merge", "size", "start")

    def __init__(self, start: int, end: int, data: Any) -> None:
        self.start = start
        self.end = end
        self.data = data
        self.children: dict[Any, tuple[YamlNode, YamlNode]] | list[YamlNode] | None = None
        self.size = 1
        self.height = 0
        self.is_merge = False

    def adopt(self, child: YamlNode) -> None:
        """Take in a child: its size, its height and its end."""
        self.size += child.size
        self.height = max(self.height, child.height + 1)
        self.end = max(self.end, child.end)

    def alias(self, start: int, end: int) -> YamlNode:
        """Return a node with this data and children, and the offsets of an alias."""
        node = YamlNode(start, end, self.data)
        node.children, node.size, node.height = self.children, self.size, self.height
        return node

    def child(self, step: str | int) -> tuple[YamlNode, YamlNode] | None:
        """Return the nodes of a key and its value, for a list item that of the item twice; None for a missing child."""
        if isinstance(self.children, dict):
            return self.children.get(step)
        if isinstance(self.children, list) and isinstance(step, int) and 0 <= step < len(self.children):
            return self.children[step], self.children[step]
        return None

    def place(self, key: YamlNode) -> ValuePlace:
        """Return the offsets of this value under ``key``."""
        return ValuePlace(key.start, key.end, self.start, self.end)


def compose(text: str, file: str, pure: bool, lists: bool = False) -> tuple[YamlNode, tuple[Problem, ...]]:
    """Return the node of the top mapping of a YAML text, and problems that left the rest readable; raises InputError.

    With ``lists`` the top level may also be a list of mappings.
    """
    composer = _Composer(text, file, pure)
    root = composer.document(lists)
    return root, tuple(sorted(composer.problems))


class _Composer:
    def __init__(self, text: str, file: str, pure: bool) -> None:
        self.problems: list[Problem] = []
        self._text = text
        self._file = file
        self._lines = Lines(text)
        self._events = self._guarded(pure)
        self._anchors: dict[str, YamlNode | None] = {}
        self._aliased = 0

    def document(self, lists: bool) -> YamlNode:
        """Return the top node of the only document of the text."""
        event = next(self._events)
        while isinstance(event, StreamStartEvent | DocumentStartEvent):
            self._check_version(event)
            event = next(self._events)
        if isinstance(event, StreamEndEvent):
            self._refuse(0, "the file holds only comments; expected a mapping (key: value)")
        root = self._node(event, 0)
        is_list = isinstance(root.data, list) and all(isinstance(item, dict) for item in root.data)
        if not isinstance(root.data, dict) and not (lists and is_list):
            kind = "a list" if isinstance(root.data, list) else "a single value"
            self._refuse(root.start, f"the top level is {kind}; expected a mapping (key: value)")
        for event in self._events:
            if isinstance(event, DocumentStartEvent):
                self._refuse(event.start_mark.index, "a second document starts here; one file holds one")
        return root

    def _guarded(self, pure: bool) -> Iterator[Any]:
        try:
            yield from YAML(typ="safe", pure=pure).parse(self._text)
        # The two built-in errors are the pure parser's: a lone surrogate, an escape beyond U+10FFFF.
        except (YAMLError, ValueError, OverflowError) as error:
            from lossless.ground.documents.yaml.errors import explain

            self._refuse(*explain(self._text, error))

    def _check_version(self, event: Any) -> None:
        version = getattr(event, "version", None)
        if version and tuple(version) < (1, 2):
            place = self._text.find("%YAML")
            self._note(
                place, "YAML 1.1 reads `no` and `010` differently; remove this line, YAML 1.2 is meant"
            )

    def _node(self, event: Any, depth: int) -> YamlNode:
        if isinstance(event, AliasEvent):
            return self._alias(event, depth)
        node = self._scalar(event) if isinstance(event, ScalarEvent) else self._collection(event, depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    def _scalar(self, event: Any) -> YamlNode:
        start, end = event.start_mark.index, event.end_mark.index
        # The mark of a block scalar ends behind the line breaks that follow it.
        if end > start and self._text[end - 1].isspace():
            end = start + len(self._text[start:end].rstrip())
        node = YamlNode(start, end, None)
        if event.value == "<<" and event.implicit[0]:
            node.is_merge, node.data = True, "<<"
            return node
        try:
            node.data = self._value(event)
        except ScalarError as error:
            self._note(start, str(error))
        return node

    def _value(self, event: Any) -> Scalar:
        value: str = event.value
        if event.tag is not None:
            return tagged(value, str(event.tag))
        # The pure parser lets a \ud800 in double quotes through.
        if not event.implicit[0] and not _is_unicode(value):
            raise ScalarError("this text holds half of a \\u surrogate pair, which is no character")
        return plain(value) if event.implicit[0] else value

    def _alias(self, event: Any, depth: int) -> YamlNode:
        start, name = event.start_mark.index, event.anchor
        if name not in self._anchors:
            near = nearest(name, self._anchors)
            self._refuse(
                start, f"no anchor &{name} before this alias" + (f"; nearest is &{near}" if near else "")
            )
        target = self._anchors[name]
        if target is None:
            self._refuse(start, f"alias *{name} stands inside its own anchor")
        self._aliased += target.size
        if self._aliased > ALIASED_VALUES:
            self._refuse(start, f"aliases expand to more than {ALIASED_VALUES} values")
        if depth + target.height > NESTING:
            self._refuse(start, f"nested deeper than {NESTING} levels through alias *{name}")
        return target.alias(start, event.end_mark.index)

    def _collection(self, event: Any, depth: int) -> YamlNode:
        start = event.start_mark.index
        if depth >= NESTING:
            self._refuse(start, f"nested deeper than {NESTING} levels")
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        if event.tag is not None and str(event.tag) not in _COLLECTION_TAGS:
            self._note(start, f"unknown tag {shown(str(event.tag))}; expected none on a list or mapping")
        node = YamlNode(start, start, None)
        is_mapping = isinstance(event, MappingStartEvent)
        closing = self._mapping(node, depth) if is_mapping else self._sequence(node, depth)
        # A block collection has no closing token: its end mark is where the next thing starts.
        if closing.end_mark.index > closing.start_mark.index:
            node.end = closing.end_mark.index
        return node

    def _sequence(self, node: YamlNode, depth: int) -> Any:
        items: list[YamlNode] = []
        for event in self._events:
            if isinstance(event, SequenceEndEvent):
                break
            item = self._node(event, depth + 1)
            node.adopt(item)
            items.append(item)
        node.children, node.data = items, [item.data for item in items]
        return event

    def _mapping(self, node: YamlNode, depth: int) -> Any:
        members: dict[Any, tuple[YamlNode, YamlNode]] = {}
        merges: list[tuple[YamlNode, YamlNode]] = []
        for event in self._events:
            if isinstance(event, MappingEndEvent):
                break
            key = self._node(event, depth + 1)
            value = self._member_value(key, depth + 1)
            node.adopt(key)
            node.adopt(value)
            self._add(members, merges, key, value)
        for _, value in merges:
            self._merge(members, value)
        node.children, node.data = members, {key: value.data for key, (_, value) in members.items()}
        return event

    def _member_value(self, key: YamlNode, depth: int) -> YamlNode:
        value = self._node(next(self._events), depth)
        if value.start == value.end:
            # The parsers disagree on the place of an empty value; people look behind the colon.
            colon = self._text.find(":", key.end, value.start)
            value.start = value.end = key.end if colon < 0 else colon + 1
        return value

    def _add(
        self,
        members: dict[Any, tuple[YamlNode, YamlNode]],
        merges: list[tuple[YamlNode, YamlNode]],
        key: YamlNode,
        value: YamlNode,
    ) -> None:
        if key.children is not None:
            self._note(key.start, "a key must be a single value, not a list or a mapping")
            return
        first = merges[0] if key.is_merge and merges else members.get(key.data)
        if first is not None:
            line = self._lines.place(first[0].start)[0]
            self._note(key.start, f"duplicate key '{key.data}'; first on line {line}")
        elif key.is_merge:
            merges.append((key, value))
        else:
            members[key.data] = (key, value)

    def _merge(self, members: dict[Any, tuple[YamlNode, YamlNode]], value: YamlNode) -> None:
        sources = value.children if isinstance(value.children, list) else [value]
        for source in sources:
            if isinstance(source.children, dict):
                for key, member in source.children.items():
                    members.setdefault(key, member)
            else:
                self._note(source.start, "<< takes a mapping or a list of mappings, usually as an alias")

    def _note(self, offset: int, message: str) -> None:
        self.problems.append(self._problem(offset, message))

    def _refuse(self, offset: int, message: str) -> NoReturn:
        raise InputError([*self.problems, self._problem(offset, message)]) from None

    def _problem(self, offset: int, message: str) -> Problem:
        return Problem(self._file, *self._lines.place(offset), message)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def load_yaml(text: str, file: str, *, pure: bool = False, lists: bool = False) -> Document:
    """Return the document of a YAML text whose top level is a mapping; ``pure`` forbids the C parser.

    With ``lists`` the top level may be a list of mappings as well; they are then in the data by their numbers.

    A repeated key keeps its first value. Repetitions, keys that are lists or mappings, invalid scalars and other
    mistakes that leave the rest readable are in ``problems``.

    Raises InputError for broken syntax, none or several documents in one file, a top level of another kind, unknown or
    circular aliases, aliases that expand to more than ALIASED_VALUES values, and nesting beyond NESTING.
    """

    root, problems = compose(text, file, pure, lists)
    data = dict(enumerate(root.data)) if isinstance(root.data, list) else root.data
    return Document(file, text, data, YamlLocator(root), problems)


class YamlLocator:
    """Finds places in composed nodes.

    Values below an alias or a merge key have the place at which they are written, at the anchor; the value of the
    alias itself has the place of the alias.
    """

    __slots__ = ("_root",)

    def __init__(self, root: YamlNode) -> None:
        self._root = root

    def places(self, paths: Iterable[Path]) -> dict[Path, ValuePlace]:
        """Return, for each path, the place of its deepest prefix that exists."""
        return {path: self._place(path) for path in paths}

    def node(self, path: Path) -> YamlNode:
        """Return the composed value at a path, or at its deepest existing prefix."""
        return self._found(path)[1]

    def _place(self, path: Path) -> ValuePlace:
        key, node = self._found(path)
        return node.place(key)

    def _found(self, path: Path) -> tuple[YamlNode, YamlNode]:
        key, node = self._root, self._root
        for step in path:
            child = node.child(step)
            if child is None:
                break
            key, node = child
        return key, node


_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER_STARTS = frozenset("+-.0123456789")
_INTEGER = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_TAG_PREFIX = "tag:yaml.org,2002:"
_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (float, int),
    "bool": (bool,),
    "null": (type(None),),
}

Scalar = str | int | float | bool | None


class ScalarError(ValueError):
    """An invalid scalar; the message has the reason."""


def plain(text: str) -> Scalar:
    """Return the value of an unquoted scalar; raises ScalarError for a number that is not finite or too long."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_STARTS:
        return text
    if _INTEGER.fullmatch(text):
        return _integer(text)
    if _BASED.fullmatch(text):
        return _integer(text)
    if _NOT_FINITE.fullmatch(text):
        raise ScalarError(f"{text} is not a finite number; quote it if it is text")
    return _float(text) if _FLOAT.fullmatch(text) else text


def tagged(text: str, tag: str) -> Scalar:
    """Return the value of a scalar with an explicit type, as in `!!str 26`; raises ScalarError."""
    kind = tag.removeprefix(_TAG_PREFIX)
    if tag == "!" or (kind == "str" and kind != tag):
        return text
    if kind == tag or kind not in _TYPES:
        raise ScalarError(f"unknown tag {shown(tag)}; expected !!str, !!int, !!float, !!bool or !!null")
    value = plain(text)
    # bool is a subclass of int, and `!!int true` is no integer.
    if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "bool"):
        raise ScalarError(f"'{text}' is not what its tag {shown(tag)} says")
    return float(value) if kind == "float" and value is not None else value


def shown(tag: str) -> str:
    """Return a tag in its usual notation: `!!str` for `tag:yaml.org,2002:str`."""
    return "!!" + tag.removeprefix(_TAG_PREFIX) if tag.startswith(_TAG_PREFIX) else tag


def _integer(text: str) -> int:
    if len(text) > DIGITS:
        raise ScalarError(f"{text[:20]}... has more than {DIGITS} digits, the most that is read")
    return int(text) if _INTEGER.fullmatch(text) else int(text, 0)


def _float(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ScalarError(f"{text[:20]} is too large a number")
    return number


def text_scalar(name: str) -> str:
    """Return a name as a YAML scalar that is parsed as text: in quotes unless it is a plain word."""
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9._-]*", name)
    words = ("true", "false", "null", "yes", "no", "on", "off", "y", "n")
    if plain and name.lower() not in words:
        return name
    import json

    return json.dumps(name, ensure_ascii=not name.isprintable())
