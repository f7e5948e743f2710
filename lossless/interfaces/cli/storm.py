"""``lossless storm``: how far the pauses of one host reach before the watchdog cuts in."""

from __future__ import annotations

from typing import Any

import click

from lossless.interfaces.cli.app import COMMANDS, OK
from lossless.interfaces.cli.options import api_options, profiles, written_as
from lossless.interfaces.cli.options.quantities import RATE
from lossless.interfaces.cli.reports import draw
from lossless.interfaces.cli.terminal import out, out_json

_VERSION = 1
"""Of the names in the JSON object."""
_TRAFFIC = ("all-to-all", "incast")


@click.command("storm", short_help=COMMANDS["storm"])
@click.argument("path", metavar="INTENT", type=click.Path())
@click.option(
    "--from",
    "end",
    metavar="HOST",
    required=True,
    help="The dead or slow host, or a port of it: host1:port2.",
)
@click.option(
    "--traffic",
    type=click.Choice(_TRAFFIC),
    default="all-to-all",
    show_default=True,
    help="Who sends to whom.",
)
@click.option(
    "--drain-rate", type=RATE, default=None, help="What each of its ports still takes in (default: nothing)."
)
@click.option(
    "--class", "traffic_class", metavar="NAME", help="Lossless class (default: that of the lowest priority)."
)
@click.option("--svg", metavar="FILE", help="Also draw it.")
@profiles
@written_as("the blast radius is")
def command(
    path: str,
    end: str,
    traffic: Any,
    drain_rate: int | None,
    traffic_class: str | None,
    svg: str | None,
    profile_dirs: tuple[str, ...],
    output_format: str,
) -> int:
    """Say how far the pauses of one dead or slow host reach.

    INTENT is a file, or a folder that holds fabric.yaml; what it says is out of service carries nothing. Every
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
        from lossless.output.report.storm_text import storm_text

        out(storm_text(blast_radius.to_data()))
    if svg is not None:
        draw(svg, blast_radius.picture())
    return OK
