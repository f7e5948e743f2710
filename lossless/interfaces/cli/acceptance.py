"""``lossless acceptance``: the test of a new fabric as scripts, and the outcomes of its lines."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from lossless.interfaces.cli.app import COMMANDS, FAILED, FINDINGS, OK
from lossless.interfaces.cli.next_steps import then
from lossless.interfaces.cli.options import (
    InputPath,
    api_options,
    folder_and_pages_option,
    how_much,
    profiles,
    written_as,
)
from lossless.interfaces.cli.options.rules import configuration_options
from lossless.interfaces.cli.reports import require_apart, require_apart_from, write_pages
from lossless.interfaces.cli.terminal import notice, out, out_json, problem, style_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.api import AcceptanceResults, Problem
    from lossless.interfaces.cli.options import Outputs
    from lossless.interfaces.cli.options.rules import LintSelection

_VERSION = 1
"""The version of the keys in the JSON object."""


@click.command("acceptance", short_help=COMMANDS["acceptance"])
@click.argument("intent", metavar="INTENT", type=InputPath())
@folder_and_pages_option(
    "Folder to write the scripts below; html=FILE: also write the test or its outcomes as a page for people."
)
@click.option(
    "--results",
    "results_dir",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="Folder that the scripts filled: print the outcome of each line instead.",
)
@profiles
@configuration_options
@written_as("the test is, or its outcomes are")
@how_much("all rows of tables")
def command(
    intent: str,
    outputs: tuple[str | None, Outputs],
    results_dir: str | None,
    profile_dirs: tuple[str, ...],
    selection: LintSelection,
    output_format: str,
    verbose: bool,
    quiet: bool,
) -> int:
    """Write the test of a new fabric, and evaluate its results.

    Every host port and every link between switches is crossed, in few rounds of disjoint pairs: perftest at line rate,
    packets of the whole MTU, the queues of each lossless DSCP, nccl-tests, counters before and after. Scripts that take
    a link down or pause a class are apart, say what they do, and ask for --yes. README.md in DIR has steps, times,
    figures, coverage, and what is not covered.

    With --results the outcome of each line is printed: pass, fail, not checked, not run. Exit codes: 0 written, or
    every line passes, 1 a line does not, 2 not read or refused.
    """
    options = selection.added_to(api_options((), profile_dirs))
    output_dir, files_of_pages = outputs
    if results_dir is not None and output_dir is not None:
        raise click.UsageError("--results evaluates results, and -o writes scripts: give one of them")
    require_apart_from([page for _, page in files_of_pages], (intent,), options)
    from lossless import api
    from lossless.interfaces.api.plan import page_of_acceptance, read_acceptance
    from lossless.output.report.plain import plain

    read = read_acceptance(intent, results_dir, options)
    require_apart([page for _, page in files_of_pages], read.files)
    if read.outcome is not None:
        code = _evaluated(*read.outcome, output_format, verbose=verbose)
        write_pages(files_of_pages, lambda: page_of_acceptance(read, options))
        return code
    plan = read.plan
    if output_format == "json":
        out_json({"version": _VERSION, **plain(plan)})
    else:
        from lossless.output.report.plan_markdown import acceptance_text

        out(acceptance_text(plan, style_for(sys.stdout, verbose=verbose)))
    write_pages(files_of_pages, lambda: page_of_acceptance(read, options))
    if output_dir is not None:
        files = api.write_acceptance(plan, output_dir)
        notice(f"{len(files)} files below {output_dir}; {output_dir}/README.md says what to run")
    elif output_format == "text":
        then("acceptance", intent, "-o", "acceptance", quiet=quiet, because="writes its scripts")
    return OK


def _evaluated(
    results: AcceptanceResults, problems: Sequence[Problem], output_format: str, *, verbose: bool
) -> int:
    """Print the outcomes of a test, and return the exit code."""
    from lossless.output.report.plain import plain

    for each in problems:
        problem(str(each))
    if output_format == "json":
        from lossless.output.report.lint.json_format import problem_data

        errors = {"errors": [problem_data(each) for each in problems]} if problems else {}
        out_json({"version": _VERSION, **plain(results), **errors})
    else:
        from lossless.output.report.plan_markdown import acceptance_results_text

        out(acceptance_results_text(results, style_for(sys.stdout, verbose=verbose)))
    if problems:
        return FAILED
    return OK if results.passed == len(results.lines) else FINDINGS
