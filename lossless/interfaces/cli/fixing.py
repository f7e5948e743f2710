"""``lossless lint --fix`` and ``--diff``: mends what edits can mend, or shows what they would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lossless.interfaces.cli.app import FAILED, FINDINGS, OK
from lossless.interfaces.cli.terminal import out, problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from lossless.api import Fixed, Options, Report
    from lossless.interfaces.cli.reporting import Wanted

_OPTIONS = (
    click.option("--fix", is_flag=True, help="Mend what editing the files can mend safely, then judge them."),
    click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff, also what changes what a device does."),
    click.option("--diff", is_flag=True, help="Show what --fix would change, write nothing; exit 1 if anything would."),
)  # fmt: skip


def fix_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options that mend."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def require_files(paths: tuple[str, ...], *, fix: bool, diff: bool, unsafe: bool) -> None:
    """Refuse what cannot be asked for.

    Raises:
        UsageError: standard input is not a file to mend, or an option stands alone that needs another.
    """
    if unsafe and not (fix or diff):
        raise click.UsageError("--unsafe-fixes goes with --fix or --diff")
    if fix and diff:
        raise click.UsageError("--diff shows what --fix would change; give one of them")
    if (fix or diff) and "-" in paths:
        raise click.UsageError("standard input is no file to mend")


def require_plain(wanted: Wanted) -> None:
    """Refuse options of reports beside ``--diff``, which prints a change and no findings.

    Raises:
        UsageError: there is one.
    """
    from lossless.interfaces.cli.reporting import AS_USUAL

    if wanted != AS_USUAL:
        raise click.UsageError(
            "--diff prints a change and reports no findings; leave out what shapes a report"
        )


def fixed(paths: tuple[str, ...], options: Options, *, unsafe: bool) -> Report:
    """Mend files, say how many findings were, and return what is left."""
    from lossless import api

    done = api.fix(paths, options, unsafe=unsafe)
    for file in done.changed:
        problem(f"wrote {file}")
    problem(_count(done))
    _tell_refused(done)
    return done.report


def show_diff(paths: tuple[str, ...], options: Options, *, unsafe: bool) -> int:
    """Print what would change as a unified diff; return the exit code."""
    from difflib import unified_diff

    from lossless import api

    done = api.fix(paths, options, unsafe=unsafe, write=False)
    for file, (before, after) in done.shown.items():
        lines = unified_diff(before.splitlines(), after.splitlines(), file, f"{file} (fixed)", lineterm="")
        out("\n".join(lines))
    problem(_count(done, would=True))
    _tell_refused(done)
    for error in done.report.errors:
        problem(str(error))
    return FAILED if done.report.errors else FINDINGS if done.changed else OK


def _count(done: Fixed, *, would: bool = False) -> str:
    many, files = len(done.findings), len(done.changed)
    verb = "would mend" if would else "mended"
    return f"{verb} {many} finding{'' if many == 1 else 's'} in {files} file{'' if files == 1 else 's'}"


def _tell_refused(done: Fixed) -> None:
    for finding, drawn in done.refused:
        problem(
            f"not mended: {finding.code} at {finding.object} of {finding.origin.file}: that would draw {drawn}"
        )
