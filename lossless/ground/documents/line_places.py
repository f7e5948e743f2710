"""Places of values in texts that have one value a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.documents.document import ValuePlace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lossless.ground.basics.findings import Path


class LineLocator:
    """Finds places by a table of lines, from 1; a path that is not in it has the place of its deepest prefix."""

    __slots__ = ("_lines", "_spans")

    def __init__(self, text: str, lines: Mapping[Path, int]) -> None:
        self._lines = lines
        self._spans: list[ValuePlace] = []
        start = 0
        for line in text.split("\n"):
            end = start + len(line.rstrip("\r"))
            first = end - len(line.rstrip("\r").lstrip())
            self._spans.append(ValuePlace(first, end, first, end))
            start += len(line) + 1

    def places(self, paths: Iterable[Path]) -> dict[Path, ValuePlace]:
        """Return, for each path, the line of its deepest prefix that has one."""
        return {path: self._spans[self._line(path) - 1] for path in paths}

    def _line(self, path: Path) -> int:
        prefixes = (path[:length] for length in range(len(path), 0, -1))
        return next((self._lines[prefix] for prefix in prefixes if prefix in self._lines), 1)
