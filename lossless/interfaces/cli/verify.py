"""``lossless verify``: captures of running devices against their configuration and intent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lossless.ground.basics.findings import SEVERITIES
from lossless.interfaces.cli.app import COMMANDS, FAILED
from lossless.interfaces.cli.lint import exit_code, failing
from lossless.interfaces.cli.options import (
    InputPath,
    OneOf,
    api_options,
    earlier_captures,
    profiles,
    rdma_dscp,
)
from lossless.interfaces.cli.options.lint import report_options
from lossless.interfaces.cli.options.rules import rule_options
from lossless.interfaces.cli.reports import write_report

if TYPE_CHECKING:
    from lossless.interfaces.cli.options.lint import ReportOptions
    from lossless.interfaces.cli.options.rules import LintSelection


@click.command("verify", short_help=COMMANDS["verify"])
@click.argument("paths", metavar="[INTENT] PATH...", nargs=-1, required=True, type=InputPath())
@earlier_captures
@click.option(
    "--fail-on",
    type=OneOf([*SEVERITIES, "never"]),
    default=SEVERITIES[0],
    help="Least severity of a finding that makes the exit code 1 (default: error).",
)
@rdma_dscp
@profiles
@rule_options
@report_options
def command(
    paths: tuple[str, ...],
    earlier: tuple[str, ...],
    fail_on: str,
    rdma_dscps: tuple[int, ...],
    profile_dirs: tuple[str, ...],
    selection: LintSelection,
    reporting: ReportOptions,
) -> int:
    """Check captures of running switches and hosts.

    Is the configuration applied, and what do the counters mean? PATH is a capture or a folder of them: dumps of
    a switch's databases, outputs of show and of its scripts, answers over gNMI, counters of NICs, logs of
    jobs, InfiniBand diagnostics; they are recognized by content, not by name. Files that name no device
    belong to the only one that others in their folder name, else to the one that the folder is named after.
    An intent among them declares the target state. Exit codes: 0 no finding of --fail-on or worse, 1 such
    findings, 2 a named file could not be read or a report not written.
    """
    from lossless import api

    options = selection.added_to(api_options(rdma_dscps, profile_dirs))
    report = api.verify(paths, since=earlier, options=options)
    written = write_report(report, {}, reporting, failing(fail_on), profile_dirs)
    return exit_code(report, fail_on) if written else FAILED
