"""Files that a run leaves out: ``exclude`` of the configuration above them, or of the command line.

As in ruff: a pattern excludes a file, or a folder with everything below it; paths named on the command line are
checked nevertheless, unless exclusion is forced; patterns of the command line replace the configured ones, or
add to them. Source: https://docs.astral.sh/ruff/settings/#exclude, #force-exclude.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.ground.basics.records import Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.checks.lint.configuration.lookup import ConfigurationLookup


class AskedExclusions(Record):
    """The exclusions of the command line: patterns ``instead`` of the configured ones, and ``more`` beside them.

    Patterns begin in the current folder. ``forced`` is None where the configuration decides whether named files are
    excluded too.
    """

    instead: tuple[str, ...] | None = None
    more: tuple[str, ...] = ()
    forced: bool | None = None


class Exclusions:
    """Decides for each named or found file whether the run leaves it out."""

    __slots__ = ("_asked", "_folder", "_known", "_lookup")

    def __init__(self, lookup: ConfigurationLookup, asked: AskedExclusions) -> None:
        self._lookup = lookup
        self._asked = asked
        self._folder = os.getcwd()
        self._known: dict[tuple[str, str | None], bool] = {}

    def __call__(self, path: str, within: str | None) -> bool:
        """Return whether a file or folder is excluded; ``within`` is the named folder above it, None for a named path.

        A named folder is searched even if a pattern excludes it or a folder above it.
        """
        place = os.path.abspath(path)
        named = place if within is None else os.path.abspath(within)
        if self._is_forced(named):
            return self._excludes(place, None)
        return within is not None and self._excludes(place, named)

    def _is_forced(self, named: str) -> bool:
        if self._asked.forced is not None:
            return self._asked.forced
        configuration = self._lookup.of(named)
        return configuration is not None and configuration.force_exclude

    def _excludes(self, path: str, within: str | None) -> bool:
        """Return whether a path, or a folder between it and the searched folder ``within``, is excluded."""
        key = (path, within)
        if key not in self._known:
            above = os.path.dirname(path)
            is_below = above not in (within, path) and self._excludes(above, within)
            self._known[key] = is_below or any(
                _stands_for(pattern, path, folder)
                for folder, patterns in self._patterns(path)
                for pattern in patterns
            )
        return self._known[key]

    def _patterns(self, path: str) -> Iterator[tuple[str, Sequence[str]]]:
        """Yield the patterns that apply to a path, by the folder that they are relative to."""
        yield self._folder, (*(self._asked.instead or ()), *self._asked.more)
        if self._asked.instead is None:
            configuration = self._lookup.of(path)
            if configuration is not None and configuration.exclude:
                yield configuration.folder, configuration.exclude


def _stands_for(pattern: str, path: str, folder: str) -> bool:
    """Return whether a pattern that begins in a folder matches an absolute path itself."""
    from lossless.checks.lint.globs import fits_file

    relative = os.path.relpath(path, folder)
    if os.path.isabs(pattern) and fits_file(pattern, path.lstrip("/"), whole=True):
        return True
    is_outside = relative == os.curdir or relative.startswith(os.pardir)
    return (not is_outside or pattern.startswith(os.pardir)) and fits_file(pattern, relative, whole=True)
