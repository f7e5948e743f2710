"""A tree of NVUE as ``nv set`` commands, with lists and ranges where NVUE takes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lossless.formats.switches.nvue.read.tree import LISTED
from lossless.ground.basics.natural_order import natural_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NUMBERED = re.compile(r"(.*?)([0-9]+)")
_FEWEST = 2
"""How many names in a row are written as a range."""


def commands(data: dict[str, Any]) -> Iterator[str]:
    """Yield the commands that make a tree."""
    for words in _paths(data, ""):
        yield " ".join(("nv set", *words))


def _paths(data: dict[str, Any], before: str) -> Iterator[tuple[str, ...]]:
    for name, value in _together(data) if before in LISTED else data.items():
        if isinstance(value, dict) and value:
            for rest in _paths(value, name if before not in LISTED else ""):
                yield (name, *rest)
        else:
            yield (name,) if value == {} else (name, str(value))


def _together(data: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield names with their subtrees; names with equal subtrees are one list."""
    groups: list[tuple[list[str], Any]] = []
    for name in sorted(data, key=natural_key):
        own = next((names for names, value in groups if value == data[name]), None)
        if own is None:
            groups.append(([name], data[name]))
        else:
            own.append(name)
    for names, value in groups:
        yield ",".join(_ranges(names)), value


def _ranges(names: Sequence[str]) -> Iterator[str]:
    """Yield names, those in a row as a range: ``swp1-4``, ``swp6s0-1``."""
    run: list[tuple[str, int]] = []
    for name in names:
        match = _NUMBERED.fullmatch(name)
        key = (match[1], int(match[2])) if match else (name, -1)
        if run and (key[0] != run[-1][0] or key[1] != run[-1][1] + 1):
            yield from _written(run)
            run = []
        run.append(key)
    yield from _written(run)


def _written(run: Sequence[tuple[str, int]]) -> Iterator[str]:
    (word, first), last = run[0], run[-1][1]
    if len(run) >= _FEWEST:
        yield f"{word}{first}-{last}"
    else:
        yield from (f"{name}{number}" if number >= 0 else name for name, number in run)
