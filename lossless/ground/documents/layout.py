"""Documents in parts: what one file says of several things, or says in another form, each part with its own data.

A part is a document like any other, but for where things stand: paths of its data are looked up in the file by a
:class:`PartLayout`. While a part is checked, origins name the part and paths of its data; before they are shown,
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
    """Where the data of a part stands in its file.

    ``root`` is the path to the part. Below it things stand where the data has them, but for ``moved``: by their
    path in the data (a table, or a table and a row), where they stand, and what leads from there to their values.
    ``renamed`` are single keys that are written otherwise, by their whole path in the data.
    """

    file: str
    root: Path = ()
    moved: Mapping[Path, tuple[Path, Path]] = _NOWHERE
    renamed: Mapping[Path, str] = _NOWHERE

    def written(self, path: Path) -> Path:
        """Return the path in the file of a path of the data."""
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
    """Something that reading normalized: what kind of thing, at how many places, and the first of them."""

    kind: str
    places: int
    paths: tuple[Path, ...]


def as_written(value: Any, layouts: Mapping[str, PartLayout]) -> Any:
    """Return findings, or whatever else holds origins in tuples, with origins as the files have them."""
    return _OriginWriter(layouts).written(value) if layouts else value


class _OriginWriter:
    """Rewrites origins; what is met twice stays one thing."""

    def __init__(self, layouts: Mapping[str, PartLayout]) -> None:
        self._layouts = layouts
        self._done: dict[int, tuple[Any, Any]] = {}

    def written(self, value: Any) -> Any:
        """Return a value with the origins in it as the files have them."""
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
