"""``lossless workload``: the traffic of a collective on a fabric, and its duration."""

from __future__ import annotations

import sys
from shlex import split
from typing import Any

import click

from lossless.ground.basics.units import parse_duration, parse_percent, parse_size
from lossless.interfaces.api.capacity import ALGORITHMS, COLLECTIVE, COLLECTIVES, Workload
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
from lossless.interfaces.cli.options.quantities import Quantity, ask_of, seed_limits
from lossless.interfaces.cli.progress import ProgressBar
from lossless.interfaces.cli.simulate import exit_code
from lossless.interfaces.cli.terminal import out, out_json, style_for

_VERSION = 1
"""The version of the keys in the JSON object."""
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
