"""Lint a patch for SONiC's config updater: check the patched configuration, and predict the updater's response."""

from __future__ import annotations

from os import fspath
from typing import TYPE_CHECKING

from lossless.checks.lint.cache import patched_configuration, placed, updater_answer
from lossless.checks.lint.report import Report
from lossless.formats.inputs.collect import devices_in, gather, is_device, merged
from lossless.formats.inputs.patches import read_patch, shares_of
from lossless.ground.basics.errors import InputError
from lossless.ground.basics.findings import UncheckedRule
from lossless.interfaces.api.discovery import exclusions_of
from lossless.interfaces.api.lint import lint_inputs
from lossless.interfaces.api.options import DEFAULT_OPTIONS, Options

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from lossless.ground.basics.errors import Problem

_NO_RELEASE = (
    "the updater's own rules of tables and fields: the configuration does not say its release (VERSIONS)"
)


def lint_patch(
    patch: str | PathLike[str], paths: Sequence[str | PathLike[str]], options: Options = DEFAULT_OPTIONS
) -> Report:
    """Check configurations as they are after a patch; the report also contains the updater's predicted response.

    ``paths`` are the configuration of one switch, as one file or one for each ASIC. A finding caused by an operation of
    the patch names that operation. Files and operations that cannot be read or applied are in the errors.
    """
    try:
        read = read_patch(fspath(patch))
        given = gather(paths, lenient=options.per_file, excludes=exclusions_of(options))
        split = merged([devices_in(document) for document in given.documents])
        documents = split.documents
        _require_read((*given.problems, *split.problems))
        shares = shares_of(read, [document for document in documents if is_device(document)])
        done = [patched_configuration(read, share) for share in shares]
    except InputError as error:
        return Report((), tuple(error.problems), (), {})
    replaced = {each.share.document.name: each.after for each in done}
    after = tuple(replaced.get(document.name, document) for document in documents)
    report = lint_inputs(given._replace(documents=after), options)
    shown = {**report.documents, read.document.file: read.document}
    unknown = tuple(UncheckedRule("", _NO_RELEASE) for each in done if each.release is None)
    return report._replace(
        findings=tuple(placed(finding, read, done) for finding in report.findings),
        not_checked=(*report.not_checked, *unknown),
        documents=shown,
        beside=report.beside + (read.document.file not in report.documents),
        patch=tuple(updater_answer(read, each) for each in done),
    )


def _require_read(problems: tuple[Problem, ...]) -> None:
    """Refuse to go on where a configuration cannot be read.

    Raises:
        InputError: one cannot.
    """
    if problems:
        raise InputError(problems)
