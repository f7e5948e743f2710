"""Watch: files checked again when they change."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.interfaces.api.lint import lint_at
from lossless.interfaces.api.options import DEFAULT_OPTIONS, Options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from lossless.checks.lint.cache import Mark
    from lossless.checks.lint.report import Report

    Marks = dict[str, Mark]


class Watch:
    """Files that are checked repeatedly; a check costs time only for files that have changed.

    A change of a configuration, a baseline or a folder of hardware profiles counts as a change of every file.
    """

    def __init__(self, paths: Sequence[str | PathLike[str]], options: Options = DEFAULT_OPTIONS) -> None:
        from lossless.checks.lint.cache import LintCache

        self._paths = paths
        self._options = options
        self._cache = LintCache()
        self._files: Marks = {}
        self._settings: Marks = {}

    @property
    def files(self) -> int:
        """The number of watched files."""
        return len(self._files)

    def lint(self) -> Report:
        """Check the files that are at the paths now."""
        self.changed()
        return lint_at(self._paths, self._options, self._cache.check)

    def changed(self) -> bool:
        """Return whether any watched file has changed since the last call."""
        from lossless.checks.lint.cache import mark_of
        from lossless.interfaces.api.discovery import found_at

        found = found_at(self._paths, self._options)
        names = [candidate.file for candidate in found.candidates]
        governing = self._governing([*names, *found.excluded])
        files, settings = ({name: mark_of(name) for name in group} for group in (names, governing))
        if settings != self._settings:
            self._cache.forget()
        is_changed = (files, settings) != (self._files, self._settings)
        self._files, self._settings = files, settings
        return is_changed

    def _governing(self, files: Sequence[str]) -> Iterator[str]:
        """Yield the configurations, baselines and profiles that findings in files depend on."""
        from lossless.checks.lint.configuration.lookup import ConfigurationLookup

        options = self._options
        for folder in options.profile_dirs:
            for root, _, names in os.walk(folder):
                yield from (os.path.join(root, name) for name in names)
        if options.baseline:
            yield options.baseline
        if options.configuration:
            yield options.configuration
        governing = ConfigurationLookup(searching=options.configured, only=options.configuration)
        folders = {os.path.dirname(os.path.abspath(file)) for file in files} if options.configured else set()
        yield from filter(None, map(governing.above, sorted(folders)))
        for file in files:
            governing.of(file)
        for configuration in governing.used():
            if configuration.baseline is not None:
                yield os.path.join(configuration.folder, configuration.baseline)
