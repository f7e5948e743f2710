"""Composes YAML events into plain data and positions in one pass.

Events, not ruamel's node tree, leave the control of nesting to this code: ruamel's composer recurses in C and
crashes the process at some ten thousand levels. Events are also faster.
"""

from __future__ import annotations

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
from lossless.ground.basics.limits import ALIASED_VALUES, NESTING
from lossless.ground.basics.wording import nearest
from lossless.ground.documents.document import ValuePlace
from lossless.ground.documents.text import Lines
from lossless.ground.documents.yaml.scalars import Scalar, ScalarError, plain, shown, tagged

if TYPE_CHECKING:
    from collections.abc import Iterator

_COLLECTION_TAGS = ("!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")


class YamlNode:
    """A value with its offsets in the text.

    ``size`` counts the values in it with aliases expanded, ``height`` the levels of nesting below it.
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
        """Add the size and height of a child."""
        self.size += child.size
        self.height = max(self.height, child.height + 1)
        self.end = max(self.end, child.end)

    def alias(self, start: int, end: int) -> YamlNode:
        """Return this value with the offsets of an alias."""
        node = YamlNode(start, end, self.data)
        node.children, node.size, node.height = self.children, self.size, self.height
        return node

    def child(self, step: str | int) -> tuple[YamlNode, YamlNode] | None:
        """Return key and value of one child, for a list item the item twice; None for a missing child."""
        if isinstance(self.children, dict):
            return self.children.get(step)
        if isinstance(self.children, list) and isinstance(step, int) and 0 <= step < len(self.children):
            return self.children[step], self.children[step]
        return None

    def place(self, key: YamlNode) -> ValuePlace:
        """Return the offsets of this value under ``key``."""
        return ValuePlace(key.start, key.end, self.start, self.end)


def compose(text: str, file: str, pure: bool, lists: bool = False) -> tuple[YamlNode, tuple[Problem, ...]]:
    """Return the top mapping of a text and the problems that left the rest readable; raises InputError.

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
        """Return the only document of the stream."""
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
