"""``lossless trace``: one packet, hop by hop."""

from __future__ import annotations

import sys

import click

from lossless.interfaces.cli.app import COMMANDS, FINDINGS, OK
from lossless.interfaces.cli.options import api_options, profiles, rdma_dscp, written_as
from lossless.interfaces.cli.terminal import out, style_for


@click.command("trace", short_help=COMMANDS["trace"])
@click.argument("path", metavar="PATH", type=click.Path())
@click.option("--from", "source", metavar="END", required=True, help="Where the packet comes from.")
@click.option("--to", "target", metavar="END", required=True, help="Where it goes.")
@click.option("--dscp", metavar="N", required=True, type=int, help="Its DSCP, 0 to 63.")
@click.option("--via", metavar="SWITCH", help="A switch that the path must meet.")
@rdma_dscp
@profiles
@written_as("the trace is")
def command(
    path: str,
    source: str,
    target: str,
    dscp: int,
    via: str | None,
    rdma_dscps: tuple[int, ...],
    profile_dirs: tuple[str, ...],
    output_format: str,
) -> int:
    """Follow a packet hop by hop, and say where the chain breaks.

    PATH is an intent, a config_db.json, or a folder of them. END is a host (host1, host1:port2) or a port of
    a switch (leaf1:Ethernet0; Ethernet0 on a single device). Exit codes: 0 unbroken, 1 an error concerns the
    packet, 2 not followed.
    """
    from lossless import api
    from lossless.output.report.trace.data import json_text, trace_data

    options = api_options(rdma_dscps, profile_dirs)
    result = api.trace(path, source, target, dscp, via=via, options=options)
    data = trace_data(*result)
    if output_format == "json":
        out(json_text(data))
    else:
        from lossless.output.report.trace.text import trace_text

        out(trace_text(data, style_for(sys.stdout)))
    return FINDINGS if result.trace.breaks else OK
