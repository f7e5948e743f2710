"""Files as other programs know them: relative to the root of a repository, wherever the run began."""

from __future__ import annotations

from posixpath import join, normpath, relpath


class FileNames:
    """Names of files relative to a root; nothing is looked up on disk."""

    __slots__ = ("_folder", "_root")

    def __init__(self, folder: str, root: str) -> None:
        self._folder = folder
        self._root = root

    def relative(self, file: str) -> str | None:
        """Return a file relative to the root, None where it lies outside."""
        name = relpath(self.absolute(file), self._root)
        return None if name == ".." or name.startswith("../") else name

    def name(self, file: str) -> str:
        """Return a file relative to the root; outside of it the absolute path."""
        return self.relative(file) or self.absolute(file)

    def absolute(self, file: str) -> str:
        """Return the absolute path of a file."""
        return normpath(join(self._folder, file))
