"""``lossless trace``: follows one packet hop by hop."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lossless.ground.basics.units import listed
from lossless.interfaces.cli.app import COMMANDS, FAILED, FINDINGS, OK
from lossless.interfaces.cli.next_steps import then
from lossless.interfaces.cli.options import (
    InputPath,
    WholeNumber,
    api_options,
    captures_for,
    earlier_captures,
    how_much,
    profiles,
    rdma_dscp,
    written_as,
)
from lossless.interfaces.cli.options.rules import configuration_options
from lossless.interfaces.cli.terminal import notice, out, out_document, problem, style_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.interfaces.cli.options.rules import LintSelection


@click.command("trace", short_help=COMMANDS["trace"])
@click.argument("path", metavar="PATH", type=InputPath())
@click.option("--from", "source", metavar="END", required=True, help="Where the packet comes from.")
@click.option("--to", "target", metavar="END", required=True, help="Where it goes.")
@click.option("--dscp", metavar="N", required=True, type=WholeNumber(), help="Its DSCP, 0 to 63.")
@click.option("--via", metavar="SWITCH", help="A switch that the path must cross.")
@captures_for("Captures of running devices: counters of the class at each hop")
@earlier_captures
@rdma_dscp
@profiles
@configuration_options
@written_as("the trace is")
@how_much("every stage of each hop, and what the hosts send")
def command(
    path: str,
    source: str,
    target: str,
    dscp: int,
    via: str | None,
    captures: tuple[str, ...],
    earlier: tuple[str, ...],
    rdma_dscps: tuple[int, ...],
    profile_dirs: tuple[str, ...],
    selection: LintSelection,
    output_format: str,
    verbose: bool,
    quiet: bool,
) -> int:
    """Follow a packet hop by hop, and say where the chain breaks.

    PATH is an intent, a config_db.json, or a folder of them; a folder that holds fabric.yaml stands for that
    intent. END is a host (host1, host1:port2) or a port of a switch (leaf1:Ethernet0; Ethernet0 on a single
    device). Exit codes: 0 unbroken, 1 an error concerns the packet or a hop drops packets of its lossless
    class, 2 not followed, or a capture that is named could not be read.
    """
    from lossless import api

    if earlier and not captures:
        raise click.UsageError("--since needs --captures: counters of now to count to")
    options = selection.added_to(api_options(rdma_dscps, profile_dirs))
    result = api.trace(path, source, target, dscp, via=via, captures=captures, since=earlier, options=options)
    if result.configurations_beside:
        notice(_not_followed(path, result.configurations_beside))
    if output_format == "json":
        from lossless.output.report.trace import json_text, trace_data

        out_document(json_text(trace_data(result.trace, result.documents)), "json")
    else:
        from lossless.output.report.trace import trace_text

        out(trace_text(result.trace, result.documents, style_for(sys.stdout, verbose=verbose)))
        _go_on(path, [mark.finding.code for _, mark in result.trace.marks], quiet=quiet)
    for unread in result.problems:
        problem(str(unread))
    if result.problems:
        return FAILED
    return FINDINGS if result.trace.broken else OK


def _go_on(path: str, codes: Sequence[str], *, quiet: bool) -> None:
    if codes:
        then("rule", codes[0], quiet=quiet, because="explains the first finding")
    else:
        then("lint", path, quiet=quiet, because="checks all traffic and all devices")


def _not_followed(path: str, configurations: Sequence[str]) -> str:
    """Return the note for an intent with configurations beside it: the trace follows the intent."""
    return (
        f"follows the intent {Path(path, 'fabric.yaml')}, not the deployed configurations beside it "
        f"({listed(configurations, 2)}); name their folder to follow them"
    )
