"""``lossless baseline``: records current findings, so that lint shows only new ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lossless.interfaces.cli.app import COMMANDS, FAILED, OK
from lossless.interfaces.cli.next_steps import then
from lossless.interfaces.cli.options import InputPath, api_options, profiles, rdma_dscp
from lossless.interfaces.cli.options.rules import configuration_options
from lossless.interfaces.cli.terminal import notice, problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.interfaces.api.baseline import BaselineResult
    from lossless.interfaces.cli.options.rules import LintSelection


@click.command("baseline", short_help=COMMANDS["baseline"])
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=InputPath())
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Where to write it (default: as configured, else lossless-baseline.json).",
)
@click.option("--prune", is_flag=True, help="Only remove what is fixed; nothing is added.")
@click.option("--simulate", is_flag=True, help="Also run traffic, and record its findings.")
@rdma_dscp
@profiles
@configuration_options
def command(
    paths: tuple[str, ...],
    output: str | None,
    prune: bool,
    simulate: bool,
    rdma_dscps: tuple[int, ...],
    profile_dirs: tuple[str, ...],
    selection: LintSelection,
) -> int:
    """Record a baseline of current findings.

    PATH is a file or a folder to search; the default is the current folder. A finding is identified by file, object and
    code, never by line. Entries of the baseline about other files stay.
    """
    from lossless import api
    from lossless.ground.documents.atomic import require_writable
    from lossless.output.report.lint.text import shown_file, sort_problems

    options = selection.added_to(api_options(rdma_dscps, profile_dirs)._replace(simulate=simulate))
    if output is not None:
        require_writable(output)
    done = api.baseline(paths or (".",), output, options, prune=prune)
    for error in sort_problems(done.errors):
        problem(str(error._replace(file=shown_file(error.file))))
    for line in _told(done, prune=prune):
        notice(line)
    if not done.errors:
        named = () if done.is_configured else ("--baseline", str(done.file))
        then("lint", *paths, *named, because="shows only what is new")
    return FAILED if done.errors else OK


def _told(done: BaselineResult, *, prune: bool) -> Iterator[str]:
    if done.errors:
        yield f"{done.file}: nothing was written, since not everything could be read"
        return
    changes = f"{done.removed} gone" if prune else f"{done.added} new, {done.removed} gone"
    yield f"{done.file}: {done.findings} finding{'' if done.findings == 1 else 's'} known ({changes})"
    if not done.is_configured and not prune:
        yield f'commit it, and put baseline = "{done.file}" in lossless.toml: then every lint uses it'
