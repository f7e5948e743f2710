"""``lossless storm``: pause propagation from one host until the watchdog triggers."""

from __future__ import annotations

import sys
from typing import Any

import click

from lossless.interfaces.api.capacity import STORM_TRAFFIC
from lossless.interfaces.cli.app import COMMANDS, OK
from lossless.interfaces.cli.next_steps import then
from lossless.interfaces.cli.options import InputPath, OneOf, api_options, how_much, profiles, written_as
from lossless.interfaces.cli.options.quantities import RATE
from lossless.interfaces.cli.reports import draw
from lossless.interfaces.cli.terminal import out, out_json, style_for

_VERSION = 1
"""The version of the keys in the JSON object."""


@click.command("storm", short_help=COMMANDS["storm"])
@click.argument("path", metavar="INTENT", type=InputPath())
@click.option(
    "--from",
    "end",
    metavar="HOST",
    required=True,
    help="The dead or slow host, or a port of it: host1:port2.",
)
@click.option(
    "--traffic",
    type=OneOf(STORM_TRAFFIC),
    default=STORM_TRAFFIC[0],
    show_default=True,
    help="Traffic pattern.",
)
@click.option(
    "--drain-rate",
    type=RATE,
    default=None,
    help="Rate at which each of its ports still drains (default: none).",
)
@click.option(
    "--class", "traffic_class", metavar="NAME", help="Lossless class (default: that of the lowest priority)."
)
@click.option("--svg", metavar="FILE", help="Also draw it.")
@profiles
@written_as("the blast radius is")
@how_much("the rows that a long table leaves out")
def command(
    path: str,
    end: str,
    traffic: Any,
    drain_rate: int | None,
    traffic_class: str | None,
    svg: str | None,
    profile_dirs: tuple[str, ...],
    output_format: str,
    verbose: bool,
    quiet: bool,
) -> int:
    """Show the blast radius of a PFC storm from one dead or slow host.

    INTENT is a file, or a folder that holds fabric.yaml; links out of service carry nothing. Every
    assumption is printed. Exit codes: 0 computed, 2 not read, or not possible.
    """
    from lossless import api
    from lossless.ground.documents.atomic import require_writable

    if svg is not None:
        require_writable(svg)
    blast_radius = api.storm(
        path, end, traffic, drain_rate or 0, traffic_class, options=api_options((), profile_dirs)
    )
    if output_format == "json":
        out_json({"version": _VERSION, **blast_radius.to_data()})
    else:
        from lossless.output.report.traffic_text import storm_text

        out(storm_text(blast_radius, style_for(sys.stdout, verbose=verbose)))
    if svg is not None:
        from lossless.output.report.topology.svg import topology_svg
        from lossless.output.report.traffic_text import storm_picture

        draw(svg, topology_svg(storm_picture(blast_radius)))
    elif output_format == "text":
        then("storm", path, "--from", end, "--svg", "storm.svg", quiet=quiet, because="draws it")
    return OK
