"""``lossless workload``: the traffic of a collective, and its duration; ``lossless storm``: how pauses propagate."""

from __future__ import annotations

import sys
from shlex import split
from typing import Any

import click

from lossless.ground.basics.units import parse_duration, parse_percent, parse_size
from lossless.interfaces.api.capacity import ALGORITHMS, COLLECTIVE, COLLECTIVES, STORM_TRAFFIC, Workload
from lossless.interfaces.api.simulate import SEEDS, Question
from lossless.interfaces.cli.app import COMMANDS, OK
from lossless.interfaces.cli.next_steps import then
from lossless.interfaces.cli.options import (
    InputPath,
    Number,
    OneOf,
    api_options,
    how_much,
    profiles,
    written_as,
)
from lossless.interfaces.cli.options.quantities import RATE, Quantity, ask_of, seed_limits
from lossless.interfaces.cli.progress import ProgressBar
from lossless.interfaces.cli.reports import draw
from lossless.interfaces.cli.simulate import exit_code
from lossless.interfaces.cli.terminal import out, out_json, style_for

_VERSION = 1
"""The version of the keys in the JSON object of either command."""
_ALGORITHMS = tuple(dict.fromkeys(name for names in ALGORITHMS.values() for name in names))
_DURATION = Quantity("TIME", parse_duration)


@click.command("workload", short_help=COMMANDS["workload"])
@click.argument("path", metavar="INTENT", type=InputPath())
@click.option(
    "--collective",
    metavar="NAME",
    type=OneOf(COLLECTIVES),
    default=Workload().collective,
    show_default=True,
    help=f"The collective that the GPUs run: {', '.join(COLLECTIVES)}.",
)
@click.option(
    "--size", type=Quantity("SIZE", parse_size), default=COLLECTIVE.size, show_default=True,
    help="The buffer: what is reduced, gathered, scattered, passed on, read or written.",
)  # fmt: skip
@click.option(
    "--algorithm", type=OneOf(_ALGORITHMS),
    help="Algorithm (default: ring; hierarchical where NVLink or UALink joins GPUs).",
)  # fmt: skip
@click.option("--gpus", type=Number(1), metavar="N", help="How many take part (default: all).")
@click.option(
    "--sources",
    metavar="N",
    type=Number(1),
    default=Workload().sources,
    show_default=True,
    help="Storage servers that each GPU reads from, or writes to.",
)
@click.option(
    "--microbatches",
    metavar="N",
    type=Number(1),
    default=Workload().microbatches,
    show_default=True,
    help="Microbatches that a stage passes on.",
)
@click.option("--compute", type=_DURATION, default="0ns", help="Compute time of a step.")
@click.option(
    "--overlap", type=Quantity("PERCENT", parse_percent), default="0%",
    help="How much of the communication overlaps with the computation.",
)  # fmt: skip
@click.option(
    "--simulate",
    is_flag=True,
    help="Run the fan-in of each port through the packet-level model of the buffers.",
)
@click.option(
    "--seeds", type=Number(1), metavar="N", show_default=f"{SEEDS}, fewer in large fabrics",
    help="Number of random seeds, with --simulate.",
)  # fmt: skip
@click.option(
    "--step-latency", type=_DURATION, default="0ns", help="Latency of each step, besides its bytes."
)
@profiles
@written_as("the estimate is")
@how_much("every kind of port, with --simulate")
def command(
    path: str, profile_dirs: tuple[str, ...], output_format: str, verbose: bool, quiet: bool, **given: Any
) -> int:
    """Estimate the traffic and the time of a collective.

    INTENT is a file, or a folder that holds fabric.yaml. Every assumption is printed. Exit codes: 0 estimated, 1
    buffers are unsafe by --simulate, 2 not read, not possible, or not checked.
    """
    from lossless import api

    options = api_options((), profile_dirs)
    checked = None
    if given["simulate"]:
        bar = ProgressBar("seeds", quiet=quiet)
        try:
            ask = ask_of(Question(), seed_limits(given["seeds"]), bar)
            estimate, checked = api.evaluate_workload(path, _asked(given), ask, options)
        finally:
            bar.stop()
    else:
        estimate = api.workload(path, _asked(given), options)
    if output_format == "json":
        from lossless.output.report.traffic_text import workload_data

        out_json({"version": _VERSION, **workload_data(estimate, checked)})
    else:
        from lossless.output.report.traffic_text import workload_text

        out(workload_text(estimate, checked, style_for(sys.stdout, verbose=verbose)))
        if checked is None:
            _go_on(path, str(estimate.incast or ""), cloud=estimate.placement.cloud, quiet=quiet)
        else:
            lossy = any(run.loss is not None for run in checked.runs)
            if lossy:
                tried = (path, "--vary", "queue_dynamic_th=-6..1")
                then("sweep", *tried, quiet=quiet, because="tries other queues of the class")
            else:
                then("lint", path, "--simulate", quiet=quiet, because="shows where the values are set")
    return OK if checked is None else exit_code([checked.overall])


def _go_on(path: str, incast: str, *, cloud: bool, quiet: bool) -> None:
    if cloud:
        then("lint", path, quiet=quiet, because="compares the cluster with the machine")
    elif incast:
        then("simulate", path, *split(incast), quiet=quiet, because="checks the buffers")
    else:
        then("topology", path, quiet=quiet, because="shows the capacity of each tier")


def _asked(given: dict[str, Any]) -> Workload:
    return Workload(
        collective=given["collective"],
        size_bytes=given["size"],
        algorithm=given["algorithm"],
        gpus=given["gpus"],
        sources=given["sources"],
        microbatches=given["microbatches"],
        compute_ns=given["compute"],
        overlap=given["overlap"] / 100,
        step_ns=given["step_latency"],
    )


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
def storm_command(
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
