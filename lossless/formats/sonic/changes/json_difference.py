"""The difference of two configurations as the updater sees it: one element for each place that changes.

The updater does not check the patch itself: its JSON library compares the running configuration with the target, and
its rules check each element of the result. A table or row that is new or removed is one element, a row on both sides is
compared field by field. A value that is removed at one place and added at another is one element too, a move to the new
place: the removal is not checked then (python-json-patch 1.33, ``make_patch``).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Op = Literal["add", "replace", "remove", "move"]


class Element(NamedTuple):
    """One element of a difference: ``value`` is the new value, None for a removal or a move."""

    op: Op
    path: tuple[str, ...]
    value: Any = None


def elements(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Element, ...]:
    """Return the elements of a difference.

    Where one value goes at several places and comes at others, the library pairs them in an order that changes from
    run to run: then every element that can be among them is returned.
    """
    single = list(_compared((), before, after))
    gone, come = _by_value(single, "remove"), _by_value(single, "add")
    paired: list[Element] = []
    for element, value in single:
        if element.op == "replace":
            paired.append(element)
            continue
        key = _key(value)
        leaving, coming = len(gone.get(key, ())), len(come.get(key, ()))
        if element.op == "add" and leaving:
            paired.append(Element("move", element.path))
        if element.op == "add" and coming > leaving:
            paired.append(element)
        if element.op == "remove" and leaving > coming:
            paired.append(element)
    return tuple(paired)


def _by_value(single: Sequence[tuple[Element, Any]], op: Op) -> dict[str, list[Element]]:
    places: dict[str, list[Element]] = {}
    for element, value in single:
        if element.op == op:
            places.setdefault(_key(value), []).append(element)
    return places


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _compared(path: tuple[str, ...], before: Any, after: Any) -> Iterator[tuple[Element, Any]]:
    """Yield each place that differs, with the value that is removed or added there."""
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _compared_members(path, before, after)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _compared_items(path, before, after)
    elif not (isinstance(before, str) and before == after) and _key(before) != _key(after):
        yield Element("replace", path, after), after


def _compared_members(
    path: tuple[str, ...], before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[tuple[Element, Any]]:
    for name, value in before.items():
        if name not in after:
            yield Element("remove", (*path, name)), value
        elif value is not after[name]:
            yield from _compared((*path, name), value, after[name])
    for name, value in after.items():
        if name not in before:
            yield Element("add", (*path, name), value), value


def _compared_items(
    path: tuple[str, ...], before: Sequence[Any], after: Sequence[Any]
) -> Iterator[tuple[Element, Any]]:
    """Yield the differences of two lists, place by place."""
    for place in range(max(len(before), len(after))):
        there = (*path, str(place))
        if place >= len(before):
            yield Element("add", there, after[place]), after[place]
        elif place >= len(after):
            yield Element("remove", there), before[place]
        elif before[place] != after[place]:
            if isinstance(before[place], (dict, list)) and type(before[place]) is type(after[place]):
                yield from _compared(there, before[place], after[place])
            else:
                yield Element("remove", there), before[place]
                yield Element("add", there, after[place]), after[place]
