"""The options of ``lossless lint``: the files it checks, the fixes it makes, and the form of its report."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import click

from lossless.ground.basics.records import NamedTuple
from lossless.interfaces.cli.options import InputPath, outputs_option, written_as

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# --- which files ---


class LintScope(NamedTuple):
    """The scope of a run of lint: each file by itself, only findings new ``since`` a revision of git, or watching.

    ``patch`` is the JSON patch that is applied to a configuration before it is checked.
    """

    per_file: bool
    since: str | None
    watch: bool
    patch: str | None


_SCOPE_OPTIONS = (
    click.option(
        "--per-file",
        is_flag=True,
        help="Check each file by itself and skip files of other kinds: for hooks that pass file names.",
    ),
    click.option(
        "--since",
        metavar="REV",
        help="Report only what was not found at a revision of git; REV... is where the branch forked off REV.",
    ),
    click.option("--watch", is_flag=True, help="Check again whenever a file changes, until Ctrl-C."),
    click.option(
        "--patch",
        metavar="PATCH",
        type=InputPath(),
        help="Check a configuration as this JSON patch leaves it, and say what SONiC's updater does with the patch.",
    ),
)


def scope_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add --per-file, --since, --watch and --patch to a command, which is given ``scope`` in their place."""

    @functools.wraps(command)
    def gathered(*, per_file: bool, since: str | None, watch: bool, patch: str | None, **rest: Any) -> int:
        return command(scope=LintScope(per_file, since, watch, patch), **rest)

    with_options: Callable[..., int] = gathered
    for option in reversed(_SCOPE_OPTIONS):
        with_options = option(with_options)
    return with_options


def require_scope(scope: LintScope, paths: tuple[str, ...], *, simulate: bool, fixing: bool) -> None:
    """Refuse options of the scope that contradict each other or other options of lint.

    Raises:
        UsageError: two options that contradict each other, standard input where files are needed, or ``--patch``
            without files.
    """
    again = scope.watch or scope.since is not None
    if scope.per_file and simulate:
        raise click.UsageError(
            "--simulate runs traffic between devices; --per-file checks every file by itself"
        )
    if fixing and again:
        raise click.UsageError("--fix and --diff go neither with --watch nor with --since")
    if scope.watch and scope.since is not None:
        raise click.UsageError("--watch and --since contradict each other")
    if scope.patch is not None:
        if fixing or again or scope.per_file:
            raise click.UsageError("--patch goes neither with --fix, --diff, --watch, --since nor --per-file")
        if not paths or "-" in paths:
            raise click.UsageError(
                "--patch needs the configuration that it is for: a file, or one for each ASIC"
            )
    if "-" in paths and again:
        raise click.UsageError("standard input is no file that could have changed")


def require_person(scope: LintScope, reporting: ReportOptions) -> None:
    """Refuse a report for programs beside ``--watch``, whose reports have no end.

    Raises:
        UsageError: a format other than text.
    """
    if scope.watch and reporting.form != "text":
        raise click.UsageError(
            f"--watch shows report after report to people; it does not go with --format {reporting.form}"
        )


def require_progress_alone(
    scope: LintScope, reporting: ReportOptions, *, changing: bool, simulate: bool
) -> None:
    """Refuse options of the scope, of fixes and of simulation beside ``--plan``.

    Raises:
        UsageError: such an option, or a format other than text and JSON.
    """
    of_files = scope.watch or scope.since is not None or scope.per_file or scope.patch is not None
    if of_files or changing or simulate or reporting.form not in ("text", "json"):
        raise click.UsageError(
            "--plan says how far switches are, as text or json; other options of lint are about findings"
        )


# --- fixes ---

_FIX_OPTIONS = (
    click.option("--fix", is_flag=True, help="Fix what editing the files can fix safely, then check them."),
    click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff, also what changes what a device does."),
    click.option("--diff", is_flag=True, help="Show what --fix would change, write nothing; exit 1 if anything would."),
)  # fmt: skip


def fix_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add --fix, --unsafe-fixes and --diff to a command."""
    for option in reversed(_FIX_OPTIONS):
        command = option(command)
    return command


def require_files(paths: tuple[str, ...], *, fix: bool, diff: bool, unsafe: bool) -> None:
    """Refuse fixes of standard input, and fix options that do not go together.

    Raises:
        UsageError: ``--unsafe-fixes`` with neither ``--fix`` nor ``--diff``, both of these, or one with standard input.
    """
    if unsafe and not (fix or diff):
        raise click.UsageError("--unsafe-fixes goes with --fix or --diff")
    if fix and diff:
        raise click.UsageError("--diff shows what --fix would change; give one of them")
    if (fix or diff) and "-" in paths:
        raise click.UsageError("standard input is no file to fix")


def require_plain(reporting: ReportOptions) -> None:
    """Refuse options of reports beside ``--diff``, which prints a change and no findings.

    Raises:
        UsageError: an option of reports is given.
    """
    if reporting != DEFAULT_REPORT:
        raise click.UsageError(
            "--diff prints a change and reports no findings; leave out what shapes a report"
        )


# --- reports ---

FORMATS = ("text", "json", "sarif", "github", "gitlab", "junit", "markdown", "html")
"""Formats of the report of findings; ``text`` is the default."""


class ReportOptions(NamedTuple):
    """The requested formats of a report, ``form`` on stdout and ``files`` as format and path, and its details."""

    form: str
    files: tuple[tuple[str, str], ...]
    statistics: bool
    quiet: bool
    source: bool
    verbose: bool


DEFAULT_REPORT = ReportOptions("text", (), statistics=False, quiet=False, source=True, verbose=False)
"""The report without any option."""


_REPORT_OPTIONS = (
    written_as("findings are", FORMATS, is_report=True),
    outputs_option(FORMATS, "Also write the report to a file, as in sarif=lint.sarif; may be repeated."),
    click.option("--statistics", is_flag=True, help="Count findings by rule instead of showing them."),
    click.option("--no-source", is_flag=True, help="Leave out the line that a finding is about."),
    click.option("-q", "--quiet", is_flag=True, help="One line for each finding, and no counts."),
    click.option("-v", "--verbose", is_flag=True, help="Also say what could not be checked, and why."),
)


def report_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options that shape a report to a command, which is given ``reporting`` in their place."""

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
        reporting = ReportOptions(output_format, outputs, statistics, quiet, not no_source, verbose)
        return command(reporting=reporting, **rest)

    with_options: Callable[..., int] = gathered
    for option in reversed(_REPORT_OPTIONS):
        with_options = option(with_options)
    return with_options
