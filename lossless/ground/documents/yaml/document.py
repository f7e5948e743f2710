"""YAML with positions: events of ruamel.yaml, with its C parser where installed, and a composer of our own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.documents.document import Document

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.document import ValuePlace
    from lossless.ground.documents.yaml.compose import YamlNode


def load_yaml(text: str, file: str, *, pure: bool = False, lists: bool = False) -> Document:
    """Parse one YAML document whose top level is a mapping; ``pure`` forbids the C parser.

    With ``lists`` the top level may be a list of mappings as well; they are then in the data by their numbers.

    A repeated key keeps its first value; repetitions, keys that are lists or mappings, and invalid scalars
    are in ``problems``.

    Raises InputError for broken syntax, several documents in one file, unknown or circular aliases, aliases
    that expand to more than ALIASED_VALUES values, and nesting beyond NESTING.
    """
    from lossless.ground.documents.yaml.compose import compose

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
