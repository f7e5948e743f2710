"""Progress: a callback gets how many files are done, of how many, while they are processed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Progress = Callable[[int, int], None]
"""A callback: how many files are done, of how many."""

_Item = TypeVar("_Item")


def reported(items: Sequence[_Item], progress: Progress | None) -> Sequence[_Item] | Iterator[_Item]:
    """Return items, and report how many of them are done while they are worked on."""
    return items if progress is None else _reporting(items, progress)


def _reporting(items: Sequence[_Item], progress: Progress) -> Iterator[_Item]:
    for done, item in enumerate(items):
        progress(done, len(items))
        yield item
