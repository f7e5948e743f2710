"""Documents in parts: a file that describes several devices, or uses another form, becomes parts with their own data.

A part is a document like any other, except for the places of its values: paths of its data are looked up in the file by
a :class:`PartLayout`. While a part is checked, origins name the part and paths of its data; before they are shown,
:func:`as_written` turns them into the file and the path in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.ground.basics.findings import Path

_NOWHERE: Mapping[Any, Any] = {}


class PartLayout(NamedTuple):
    """The places of a part's data in its file.

    ``root`` is the path to the part. Below it values have the same path as in the data, except for ``moved``: by their
    path in the data (a table, or a table and a row), their path in the file, and the rest of the path to their values.
    ``renamed`` are single keys with another spelling in the file, by their whole path in the data.
    """

    file: str
    root: Path = ()
    moved: Mapping[Path, tuple[Path, Path]] = _NOWHERE
    renamed: Mapping[Path, str] = _NOWHERE

    def written(self, path: Path) -> Path:
        """Return the path in the file for a path of the data."""
        place = self._place(path)
        name = self.renamed.get(path)
        return place if name is None else (*place[:-1], name)

    def _place(self, path: Path) -> Path:
        row = self.moved.get(path[:2])
        if row is not None and len(path) > 2:
            return (*self.root, *row[0], *row[1], *path[2:])
        row = row or self.moved.get(path[:1])
        return (*self.root, *(path if row is None else row[0]))


class Remark(NamedTuple):
    """A normalization made while reading: its kind, the number of places, and the first of them."""

    kind: str
    places: int
    paths: tuple[Path, ...]


def as_written(value: Any, layouts: Mapping[str, PartLayout]) -> Any:
    """Return a finding, or another tuple that contains origins, with origins in parts turned into origins in files."""
    return _OriginWriter(layouts).written(value) if layouts else value


class _OriginWriter:
    """Turns origins in parts of files into origins in the files; a tuple that occurs twice stays one object."""

    def __init__(self, layouts: Mapping[str, PartLayout]) -> None:
        self._layouts = layouts
        self._done: dict[int, tuple[Any, Any]] = {}

    def written(self, value: Any) -> Any:
        """Return a value with the origins in its tuples turned into those of files; any other value as it is."""
        if not isinstance(value, tuple):
            return value
        if id(value) not in self._done:
            # The value is kept beside its result, so that no other takes its identity.
            self._done[id(value)] = (value, self._made(value))
        return self._done[id(value)][1]

    def _made(self, value: tuple[Any, ...]) -> Any:
        if isinstance(value, Origin):
            layout = self._layouts.get(value.file)
            return value if layout is None else Origin(layout.file, layout.written(value.path), value.mark)
        items = [self.written(item) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
