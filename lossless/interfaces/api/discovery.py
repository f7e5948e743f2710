"""The files of a run: all files at its paths except excluded ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from lossless.checks.lint.configuration.lookup import ConfigurationLookup
    from lossless.formats.inputs.collect import Excludes, FoundFiles
    from lossless.ground.documents.text import Document
    from lossless.interfaces.api.options import Options


def found_at(
    paths: Sequence[str | PathLike[str]], options: Options, lookup: ConfigurationLookup | None = None
) -> FoundFiles:
    """Return the files to read at some paths, and those that are left out; ``lookup`` is that of the run."""
    from lossless.formats.inputs.collect import search

    return search(paths, lenient=options.per_file, excludes=exclusions_of(options, lookup))


def configurations_of(options: Options) -> ConfigurationLookup | None:
    """Return the configurations that a run may have, None where it has none."""
    asked = bool(options.select or options.ignore)
    if not (options.configured or options.configuration or options.baseline or asked):
        return None
    from lossless.checks.lint.configuration.lookup import ConfigurationLookup

    choice = None
    if asked:
        from lossless.checks.rules.selectors import RuleChoice

        choice = RuleChoice(options.select, options.ignore)
    return ConfigurationLookup(searching=options.configured, only=options.configuration, asked=choice)


def documents_below(paths: Sequence[str | PathLike[str]], options: Options) -> tuple[Document, ...]:
    """Return the documents of the files at some paths."""
    from lossless.formats.inputs.collect import gather

    return gather(paths, lenient=options.per_file, excludes=exclusions_of(options)).documents


def without_excluded(files: Iterable[str], paths: Sequence[str], options: Options) -> list[str]:
    """Return the files, each at or below one of some paths, that are not excluded."""
    import os

    excludes = exclusions_of(options)

    def within(file: str) -> str | None:
        holding = (path for path in paths if path != file and file.startswith(os.path.join(path, "")))
        return None if file in paths else next(holding, os.curdir)

    return [file for file in files if excludes is None or not excludes(file, within(file))]


def exclusions_of(options: Options, lookup: ConfigurationLookup | None = None) -> Excludes | None:
    """Return the exclusions that apply to the files of a run, None if no option or configuration can exclude files."""
    asked = options.exclude is not None or options.extend_exclude
    if not (options.configured or options.configuration or asked):
        return None
    from lossless.checks.lint.configuration.lookup import AskedExclusions, ConfigurationLookup, Exclusions

    governing = lookup or ConfigurationLookup(searching=options.configured, only=options.configuration)
    return Exclusions(
        governing, AskedExclusions(options.exclude, options.extend_exclude, options.force_exclude)
    )
