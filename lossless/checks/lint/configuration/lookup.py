"""The configuration that applies to a file, the nearest one above it, and the files that a run leaves out by it.

Only the nearest configuration applies, in any working directory. The search starts at each checked file, so that an
editor, a hook and CI find the same one. It ends at the folder of the file's repository, so that a file in a home
directory has no effect on repositories below it.

Files are left out by ``exclude`` of the configuration above them, or of the command line. As in ruff: a pattern
excludes a file, or a folder with everything below it; paths named on the command line are checked nevertheless,
unless exclusion is forced; patterns of the command line replace the configured ones, or add to them. Source:
https://docs.astral.sh/ruff/settings/#exclude, #force-exclude.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.ground.basics.records import Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.checks.lint.configuration.reader import Configuration
    from lossless.checks.rules.registry import Codes
    from lossless.checks.rules.selectors import RuleChoice
    from lossless.ground.basics.errors import Problem
    from lossless.model.fabric.model import Switch


class AskedExclusions(Record):
    """The exclusions of the command line: patterns ``instead`` of the configured ones, and ``more`` beside them.

    Patterns begin in the current folder. ``forced`` is None where the configuration decides whether named files are
    excluded too.
    """

    instead: tuple[str, ...] | None = None
    more: tuple[str, ...] = ()
    forced: bool | None = None


class Exclusions:
    """The exclusions of a run: the decision for each named or found file whether it is left out."""

    __slots__ = ("_asked", "_folder", "_known", "_lookup")

    def __init__(self, lookup: ConfigurationLookup, asked: AskedExclusions) -> None:
        self._lookup = lookup
        self._asked = asked
        self._folder = os.getcwd()
        self._known: dict[tuple[str, str | None], bool] = {}

    def __call__(self, path: str, within: str | None) -> bool:
        """Return whether a file or folder is excluded; ``within`` is the named folder above it, None for a named path.

        A named folder is searched even if a pattern excludes it or a folder above it, unless exclusion is forced.
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
        """Return whether a path, or a folder above it, is excluded; up to the searched folder ``within``, if given."""
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
    from lossless.checks.lint.baseline import fits_file

    relative = os.path.relpath(path, folder)
    if os.path.isabs(pattern) and fits_file(pattern, path.lstrip("/"), whole=True):
        return True
    is_outside = relative == os.curdir or relative.startswith(os.pardir)
    return (not is_outside or pattern.startswith(os.pardir)) and fits_file(pattern, relative, whole=True)


OWN, SHARED = "lossless.toml", "pyproject.toml"
"""Names of a configuration; in one folder the first counts."""


class ConfigurationLookup:
    """The configurations of a run, each found and read once.

    ``asked`` are the rules that the command line chooses. ``only`` is a named configuration that replaces all others;
    if ``searching`` is false and none is named, there is no configuration.
    """

    __slots__ = ("_above", "_asked", "_chosen", "_only", "_read", "_searching")

    def __init__(self, *, searching: bool, only: str | None = None, asked: RuleChoice | None = None) -> None:
        self._searching = searching
        self._only = only
        self._asked = asked
        self._above: dict[str, str | None] = {}
        self._read: dict[str, Configuration] = {}
        self._chosen: dict[str | None, Codes] = {}

    def of(self, file: str) -> Configuration | None:
        """Return the configuration that applies to a file, None without one."""
        name = self._name(file)
        return None if name is None else self._configuration(name)

    def chosen(self, file: str) -> Codes | None:
        """Return the rules to run on a file, None for all."""
        name = self._name(file)
        if name is None and self._asked is None:
            return None
        if name not in self._chosen:
            from lossless.checks.rules.selectors import RuleChoice, layered

            configured = RuleChoice() if name is None else self._configuration(name).choice
            self._chosen[name] = layered(configured, self._asked or RuleChoice())
        return self._chosen[name]

    def fabric(self, file: str) -> str:
        """Return the fabric to which a configuration assigns a file, as its folder and a number; empty without one."""
        configuration = self.of(file)
        if configuration is None or not configuration.fabrics:
            return ""
        from lossless.checks.lint.baseline import fits_file

        name = os.path.relpath(os.path.abspath(file), configuration.folder)
        for number, patterns in enumerate(configuration.fabrics, 1):
            if any(fits_file(pattern, name) for pattern in patterns):
                return f"{configuration.folder} {number}"
        return ""

    def rdma_dscps(self, file: str) -> tuple[int, ...]:
        """Return the DSCPs that must be lossless by the configuration of a file, empty without any."""
        configuration = self.of(file)
        return () if configuration is None else configuration.rdma_dscps

    def pass_marks(self, file: str) -> Mapping[str, float]:
        """Return the pass marks of traffic tests by the configuration of a file, empty without any."""
        configuration = self.of(file)
        return {} if configuration is None else configuration.pass_marks

    def without_rdma(self, file: str, switch: Switch) -> frozenset[str]:
        """Return the ports of a switch that a configuration declares to carry no RDMA."""
        configuration = self.of(file)
        if configuration is None or not configuration.ports:
            return frozenset()
        from lossless.checks.lint.baseline import fits_file, fits_object

        name = os.path.relpath(os.path.abspath(file), configuration.folder)
        outside: set[str] = set()
        for entry in configuration.ports:
            if entry.files and not any(fits_file(pattern, name) for pattern in entry.files):
                continue
            named = {
                port.name
                for port in switch.ports
                if not entry.names
                or any(
                    fits_object(pattern, (called,), "config_db")
                    for pattern in entry.names
                    for called in (port.name, f"{switch.name}:{port.name}")
                )
            }
            outside = outside - named if entry.rdma else outside | named
        return frozenset(outside)

    def is_configured(self, file: str) -> bool:
        """Return whether a configuration applies to a file, without reading its settings."""
        return self._name(file) is not None

    def used(self) -> Iterator[Configuration]:
        """Yield the configurations that were read, in the order of their names."""
        for name in sorted(self._read):
            yield self._read[name]

    def problems(self) -> list[Problem]:
        """Return the problems of the configurations that were read."""
        return [problem for configuration in self.used() for problem in configuration.problems]

    def _name(self, file: str) -> str | None:
        if self._only is not None or not self._searching:
            return None if self._only is None else os.path.abspath(self._only)
        return self.above(os.path.dirname(os.path.abspath(file)))

    def above(self, folder: str) -> str | None:
        """Return the path of the nearest configuration in or above a folder, up to its repository; None without one."""
        if folder not in self._above:
            nearest = _in(folder)
            parent = os.path.dirname(folder)
            if nearest is None and parent != folder and not os.path.exists(os.path.join(folder, ".git")):
                nearest = self.above(parent)
            self._above[folder] = nearest
        return self._above[folder]

    def _configuration(self, name: str) -> Configuration:
        if name not in self._read:
            from lossless.checks.lint.configuration.reader import Configuration, read_configuration
            from lossless.ground.basics.errors import Problem

            why = "" if self._only is not None else _link_refusal(name)
            self._read[name] = (
                Configuration(
                    os.path.dirname(name),
                    None,
                    (
                        Problem(
                            shown_path(name), None, None, f"{why}; the files below are checked without it"
                        ),
                    ),
                )
                if why
                else read_configuration(shown_path(name))
            )
        return self._read[name]


def _in(folder: str) -> str | None:
    """Return the path of the configuration file in a folder, None where it has none."""
    own, shared = os.path.join(folder, OWN), os.path.join(folder, SHARED)
    if os.path.isfile(own):
        return own
    if os.path.isfile(shared):
        return shared if _is_ours(shared) else None
    return None


def _is_ours(file: str) -> bool:
    """Return whether a ``pyproject.toml`` has settings of lossless, or is a link that may not be read.

    Most files have none, and are not parsed as TOML to find that out.
    """
    if _link_refusal(file):
        # Whether it is ours could be seen only by reading it, so the refusal is reported.
        return True
    import re

    from lossless.ground.basics.errors import UnreadableError
    from lossless.ground.documents.text import read_text

    try:
        text = read_text(file)
    except UnreadableError:
        return False
    # Our table, or a key of our name below [tool]: a script or a dependency of this name is no configuration.
    if not re.search(r"tool\W+lossless", text):
        tools = re.search(r"^[ \t]*\[[ \t]*[\"']?tool[\"']?[ \t]*\]", text, re.MULTILINE)
        if not tools or not re.search(r"^[ \t]*lossless[ \t]*[.=]", text[tools.end() :], re.MULTILINE):
            return False
    from lossless.checks.lint.configuration.reader import has_table

    return has_table(text)


def _link_refusal(file: str) -> str:
    """Return why a configuration that was found may not be read, empty where it may."""
    if not os.path.islink(file):
        return ""
    from lossless.ground.documents.folder import link_refusal

    return link_refusal(file)


def shown_path(file: str) -> str:
    """Return the path of a file for reports: relative if the file is in or below the current folder."""
    relative = os.path.relpath(file)
    return file if relative.startswith("..") else relative
