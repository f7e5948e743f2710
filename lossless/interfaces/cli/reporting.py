"""The options that say what a report looks like and where it goes."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import click

from lossless.ground.basics.records import NamedTuple
from lossless.interfaces.cli.options import written_as

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

FORMATS = ("text", "json", "sarif", "github", "gitlab", "junit", "markdown")
"""The first is for people; each of the others is written by the module of ``output/report`` that has its name."""


class Wanted(NamedTuple):
    """The forms of a report that were asked for: one on stdout, and ``files`` as pairs of form and path."""

    form: str
    files: tuple[tuple[str, str], ...]
    statistics: bool
    quiet: bool
    source: bool
    verbose: bool


AS_USUAL = Wanted("text", (), statistics=False, quiet=False, source=True, verbose=False)
"""What is wanted where nothing is said."""


def _outputs(
    _context: click.Context, _option: click.Parameter, values: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """Return forms and paths; each path is one that can be written.

    Raises:
        BadParameter: no form of ours, no path, or the same path twice.
        RenderError: a path that cannot be written.
    """
    pairs = tuple(_pair(value) for value in values)
    if not pairs:
        return ()
    from os.path import realpath

    from lossless.ground.documents.atomic import require_writable

    seen: set[str] = set()
    for _, path in pairs:
        if realpath(path) in seen:
            raise click.BadParameter(f"{path} is named twice")
        seen.add(realpath(path))
        require_writable(path)
    return pairs


def _pair(value: str) -> tuple[str, str]:
    form, equals, path = value.partition("=")
    if not equals or not path:
        raise click.BadParameter(f"{value!r} is not FORMAT=FILE, as in sarif=lint.sarif")
    if form not in FORMATS:
        from lossless.ground.basics.nearest import nearest

        near = nearest(form, FORMATS)
        meant = f"did you mean {near}?" if near else f"expected one of {', '.join(FORMATS)}"
        raise click.BadParameter(f"no format {form!r}; {meant}")
    return form, path


_OPTIONS = (
    written_as("findings are", FORMATS),
    click.option(
        "--output",
        "outputs",
        metavar="FORMAT=FILE",
        multiple=True,
        callback=_outputs,
        help="Also write the report to a file, as in sarif=lint.sarif; may be repeated.",
    ),
    click.option("--statistics", is_flag=True, help="Count findings by rule instead of showing them."),
    click.option("--no-source", is_flag=True, help="Leave out the line that a finding is about."),
    click.option("-q", "--quiet", is_flag=True, help="One line for each finding, and no counts."),
    click.option("-v", "--verbose", is_flag=True, help="Also say what could not be judged, and why."),
)


def report_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options to a command, which is given ``wanted`` in their place."""

    @functools.wraps(command)
    def gathered(
        *,
        output_format: str,
        outputs: tuple[tuple[str, str], ...],
        statistics: bool,
        no_source: bool,
        quiet: bool,
        verbose: bool,
        **rest: Any,
    ) -> int:
        if statistics and output_format != "text":
            raise click.UsageError(
                f"--statistics counts for people; it does not go with --format {output_format}"
            )
        if quiet and verbose:
            raise click.UsageError("--quiet and --verbose contradict each other")
        wanted = Wanted(output_format, outputs, statistics, quiet, not no_source, verbose)
        return command(wanted=wanted, **rest)

    with_options: Callable[..., int] = gathered
    for option in reversed(_OPTIONS):
        with_options = option(with_options)
    return with_options
