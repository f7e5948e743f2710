"""``lossless lint``: findings to stdout, everything else to stderr."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from lossless.ground.basics.errors import LosslessError, Problem, UnreadableError
from lossless.ground.basics.findings import SEVERITIES
from lossless.interfaces.cli.app import COMMANDS, FAILED, FINDINGS, OK
from lossless.interfaces.cli.options import InputPath, OneOf, api_options, profiles, rdma_dscp
from lossless.interfaces.cli.options.lint import (
    fix_options,
    report_options,
    require_files,
    require_person,
    require_plain,
    require_progress_alone,
    require_scope,
    scope_options,
)
from lossless.interfaces.cli.options.rules import selection_options
from lossless.interfaces.cli.reports import write_report
from lossless.interfaces.cli.terminal import problem, standard_input

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.api import Options, Report
    from lossless.ground.basics.findings import Severity
    from lossless.interfaces.cli.options.lint import LintScope, ReportOptions
    from lossless.interfaces.cli.options.rules import LintSelection

_NOTHING = "nothing to check here: no intent (YAML with lossless: v1), no config_db.json or other switch configuration"


@click.command("lint", short_help=COMMANDS["lint"])
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=InputPath())
@rdma_dscp
@profiles
@click.option(
    "--fail-on",
    type=OneOf([*SEVERITIES, "never"]),
    help="Least severity of a finding that makes the exit code 1 (default: error, or as configured).",
)
@click.option(
    "--exit-zero", is_flag=True, help="Exit with 0 whatever is found; what cannot be read still exits with 2."
)
@selection_options
@click.option(
    "--stdin-filename",
    metavar="NAME",
    help="File name of what - reads; its suffix (.yaml, .json) says what it is.",
)
@click.option(
    "--simulate", is_flag=True, help="Also run traffic through each fabric, and report what is unsafe."
)
@click.option(
    "--plan",
    "plan_dir",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="Say instead how far the switches are in the plan that lossless plan wrote to DIR.",
)
@scope_options
@fix_options
@report_options
def command(
    paths: tuple[str, ...],
    rdma_dscps: tuple[int, ...],
    profile_dirs: tuple[str, ...],
    fail_on: str | None,
    exit_zero: bool,
    selection: LintSelection,
    stdin_filename: str | None,
    simulate: bool,
    plan_dir: str | None,
    scope: LintScope,
    fix: bool,
    unsafe_fixes: bool,
    diff: bool,
    reporting: ReportOptions,
) -> int:
    """Check intents, config_db.json files and folders of them.

    PATH is a file, a folder to search, or - for standard input (with --stdin-filename). The default is the
    current folder. All config_db.json files are checked together, as one fabric.
    """
    options = selection.added_to(
        api_options(rdma_dscps, profile_dirs)._replace(simulate=simulate, per_file=scope.per_file)
    )
    if scope.patch is not None:
        require_scope(scope, paths, simulate=simulate, fixing=fix or diff)
    paths = paths or (".",)
    if plan_dir is not None:
        from lossless.interfaces.cli.plan import show

        require_progress_alone(scope, reporting, changing=fix or diff, simulate=simulate)
        return show(plan_dir, paths, reporting.form)
    require_files(paths, fix=fix, diff=diff, unsafe=unsafe_fixes)
    require_scope(scope, paths, simulate=simulate, fixing=fix or diff)
    require_person(scope, reporting)
    if diff:
        from lossless.interfaces.cli.watch import show_diff

        require_plain(reporting)
        return show_diff(paths, options, unsafe=unsafe_fixes)
    if simulate:
        _announce()

    def tell(report: Report, texts: Mapping[str, str]) -> int:
        severity = fail_on or report.fail_on or SEVERITIES[0]
        written = write_report(report, texts, reporting, failing(severity), profile_dirs)
        if reporting.form == "text" and not reporting.quiet and not scope.watch:
            from lossless.interfaces.cli.next_steps import after_lint

            after_lint(report, paths)
        return exit_code(report, "never" if exit_zero else severity) if written else FAILED

    if scope.watch:
        from lossless.interfaces.cli.watch import watched

        return watched(paths, options, tell)
    if fix:
        from lossless.interfaces.cli.watch import fixed

        return tell(fixed(paths, options, unsafe=unsafe_fixes), {})
    if scope.patch is not None:
        from lossless import api

        return tell(api.lint_patch(scope.patch, paths, options), {})
    return tell(*_check(paths, stdin_filename, options, scope.since, quiet=reporting.quiet))


def _announce() -> None:
    """Report before simulations that the packet-level model cannot run here, or that it is compiled first."""
    from lossless.interfaces.api.simulate import is_compiled, why_not_simulated
    from lossless.interfaces.cli.progress import compiling

    reason = why_not_simulated()
    if reason is not None:
        problem(reason)
    elif not is_compiled():
        compiling()


def exit_code(report: Report, fail_on: str) -> int:
    """Return 2 for a problem in the input, 1 where a finding is severe enough or a patch is refused, else 0.

    A refused patch counts unless ``fail_on`` is ``never``.
    """
    if report.errors:
        return FAILED
    severe = failing(fail_on)
    if severe and any(device.stage is not None for device in report.patch):
        return FINDINGS
    return FINDINGS if any(finding.severity in severe for finding in report.findings) else OK


def failing(fail_on: str) -> tuple[Severity, ...]:
    """Return the severities that make a run fail: ``fail_on`` and more severe ones; empty for ``never``."""
    return SEVERITIES[: [*SEVERITIES].index(fail_on) + 1] if fail_on in SEVERITIES else ()


def _check(
    paths: tuple[str, ...], stdin_filename: str | None, options: Options, since: str | None, *, quiet: bool
) -> tuple[Report, dict[str, str]]:
    """Return the report, and the text of standard input by its file name; no text where files are checked."""
    from lossless import api

    if "-" not in paths:
        if stdin_filename is not None:
            raise click.UsageError("--stdin-filename names what - stands for, but there is no - to read")
        return _with_empty_folders(_check_files(paths, options, since, quiet=quiet), paths), {}
    if paths != ("-",):
        raise click.UsageError("- cannot be mixed with other paths")
    if stdin_filename is None:
        raise click.UsageError("- needs --stdin-filename NAME; its suffix (.yaml, .json) says what is read")
    raw = _standard_input()
    return api.lint_text(raw, stdin_filename, options), _texts(raw, stdin_filename)


def _standard_input() -> bytes:
    """Return the bytes of standard input, at most one more than are read from a file.

    Raises:
        LosslessError: it is closed, a device other than a terminal, or cannot be read.
    """
    from lossless.ground.basics.files import is_device
    from lossless.ground.basics.limits import FILE_BYTES

    stream = standard_input()
    if is_device(stream) and not stream.isatty():
        raise LosslessError("standard input is a device; expected a file, a pipe or a terminal")
    try:
        return stream.read(FILE_BYTES + 1)
    except OSError as error:
        raise LosslessError(f"cannot read standard input: {error.strerror}") from error


def _check_files(paths: tuple[str, ...], options: Options, since: str | None, *, quiet: bool) -> Report:
    """Check files on disk; a long run shows its progress on a terminal."""
    from lossless import api

    def check(options: Options) -> Report:
        return api.lint(paths, options) if since is None else api.lint_since(since, paths, options)

    if quiet or not sys.stderr.isatty():
        return check(options)
    from lossless.interfaces.cli.progress import LongRun

    bar = LongRun()
    try:
        return check(options._replace(tell=bar))
    finally:
        bar.stop()


def _texts(raw: bytes, file: str) -> dict[str, str]:
    """Return the text of standard input by its file name, to show the line of a problem; empty if it is not text."""
    from lossless.ground.documents.text import decode

    try:
        return {file: decode(raw, file)}
    except UnreadableError:
        return {}


def _with_empty_folders(report: Report, paths: tuple[str, ...]) -> Report:
    """Return the report with a problem for every named folder without a file to check: a typo must not look clean.

    A folder whose files are all excluded is no problem.
    """
    import os

    known = [*report.documents, *report.excluded, *(entry.file for entry in report.errors)]
    empty = [
        Problem(path, None, None, _NOTHING)
        for path in dict.fromkeys(paths)
        if os.path.isdir(path) and not any(file.startswith(os.path.join(path, "")) for file in known)  # noqa: PTH112, PTH118
    ]
    return report._replace(errors=(*report.errors, *empty)) if empty else report
