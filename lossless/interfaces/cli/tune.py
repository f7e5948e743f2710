"""``lossless tune``: thresholds that the packet-level model chooses for the workloads of an intent."""

from __future__ import annotations

import sys
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from lossless.interfaces.api.tune import EVALUATIONS, TUNE_SEEDS
from lossless.interfaces.cli.app import COMMANDS, FINDINGS, OK
from lossless.interfaces.cli.next_steps import then
from lossless.interfaces.cli.options import InputPath, Number, api_options, how_much, profiles, written_as
from lossless.interfaces.cli.options.quantities import cluster_option, traffic_option, waiting
from lossless.interfaces.cli.progress import ProgressBar, compiling
from lossless.interfaces.cli.terminal import (
    next_step,
    notice,
    out,
    out_document,
    out_json,
    problem,
    style_for,
)

if TYPE_CHECKING:
    from lossless.api import TuneResult

_VERSION = 1
"""The version of the keys in the JSON object."""


@click.command("tune", short_help=COMMANDS["tune"])
@click.argument("path", metavar="INTENT", type=InputPath())
@click.option(
    "--workload", "workloads", metavar="NAME", multiple=True,
    help="Workload that the intent declares; may be repeated (default: all).",
)  # fmt: skip
@click.option("--class", "class_name", metavar="NAME", help="Lossless class (default: the first).")
@click.option("--dcqcn", is_flag=True, help="Search DCQCN parameters of the NICs too.")
@click.option("--step", is_flag=True, help="Search steps too: Kmin may equal Kmax.")
@click.option(
    "--evaluations", type=Number(1), metavar="N", default=EVALUATIONS, show_default=True,
    help="How many settings to try at most.",
)  # fmt: skip
@click.option(
    "--seeds", type=Number(1), metavar="N", default=TUNE_SEEDS, show_default=True,
    help="Random seeds of the search; as many others check what it found.",
)  # fmt: skip
@traffic_option
@cluster_option
@profiles
@written_as("the result is", ("text", "json", "csv"))
@click.option(
    "--limit", type=Number(1), metavar="N",
    help="How many settings of the Pareto front the text shows (default: 12, or all with -v).",
)  # fmt: skip
@click.option(
    "--plots", metavar="DIR", help="Draw the front and the margins into this folder, as PNG and SVG."
)
@click.option(
    "-o", "--output", "output_dir", metavar="DIR",
    help="Folder to write the intent with the chosen setting, the report and the plan of the change into.",
)  # fmt: skip
@click.option(
    "--write", "place", is_flag=False, flag_value=0, type=Number(0), metavar="[PLACE]",
    help="Write a setting of the front into the intent, by its number; without a number the chosen one.",
)  # fmt: skip
@how_much("each workload, the whole front, and what is assumed")
def command(
    path: str,
    workloads: tuple[str, ...],
    class_name: str | None,
    dcqcn: bool,
    step: bool,
    evaluations: int,
    seeds: int,
    traffic: Any,
    cluster: str | None,
    profile_dirs: tuple[str, ...],
    output_format: str,
    limit: int | None,
    plots: str | None,
    output_dir: str | None,
    place: int | None,
    verbose: bool,
    quiet: bool,
) -> int:
    """Choose thresholds by simulation: safe, then silent, then fast.

    INTENT is a file, or a folder that holds fabric.yaml; thresholds are chosen for its workloads. The search covers
    dynamic_th, Kmin, Kmax and Pmax of a lossless class by role of switch and speed of port, and with --dcqcn the
    settings of NICs. The same input gives the same answer on any machine. Exit codes: 0 a setting was chosen, 1 none is
    safe, 2 not read or not run.
    """
    from lossless import api

    if plots is not None:
        from lossless.output.report.simulation.pictures import require_matplotlib

        require_matplotlib()
    if output_dir is not None and Path(output_dir).exists() and not Path(output_dir).is_dir():
        raise click.BadParameter(f"{output_dir} is a file; name a folder", param_hint="'-o'")
    watch = _Watch(quiet=quiet)
    ask = api.TuneAsk(class_name, workloads, dcqcn, evaluations, api.Limits(seeds=seeds), step, traffic)
    try:
        result = api.tune(
            path, ask, api_options((), profile_dirs), cluster=cluster, waiting=waiting,
            compiling=compiling, progress=api.TuneProgress(watch.measured, watch.bar),
        )  # fmt: skip
    finally:
        watch.bar.stop()
    _show(result, output_format, limit, verbose=verbose)
    _write(result, path, plots, output_dir, profile_dirs, place)
    if output_format == "text":
        _go_on(result, path, output_dir, written=place is not None, quiet=quiet)
    return OK if result.tuned.chosen is not None else FINDINGS


class _Watch:
    """Reports the expected duration of a tuning, once one setting has been tried, then its progress."""

    def __init__(self, *, quiet: bool) -> None:
        self.bar = ProgressBar("settings", quiet=quiet)
        self._quiet = quiet
        self._started_s = 0.0

    def measured(self, settings: int | None, workers: int) -> None:
        """With None start the clock; after the first setting print the expected time for up to ``settings`` settings.

        With ``quiet`` nothing is printed.
        """
        if settings is None:
            self._started_s = monotonic()
            return
        about_s = (monotonic() - self._started_s) * settings / workers
        if not self._quiet:
            cores = f"{workers} core{'s' if workers > 1 else ''}"
            problem(f"up to {settings:,} settings: about {_duration(about_s)} on {cores}")


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _show(result: TuneResult, output_format: str, limit: int | None, *, verbose: bool) -> None:
    from lossless.output.report.simulation.tune_text import tune_csv, tune_text

    if output_format == "json":
        from lossless.output.report.simulation.tune_text import tune_data

        out_json({"version": _VERSION, **tune_data(result)})
    elif output_format == "csv":
        out_document(tune_csv(result.tuned), "text")
    else:
        out(tune_text(result, limit, style_for(sys.stdout, verbose=verbose)))


def _write(
    result: TuneResult,
    path: str,
    plots: str | None,
    output_dir: str | None,
    profile_dirs: tuple[str, ...],
    place: int | None,
) -> None:
    """Write the requested pictures, then the output folder, then the setting at a place into the intent.

    Without a numbered place the output folder is written only if the chosen setting is an improvement.
    """
    from lossless import api

    if plots is not None:
        from lossless.output.report.simulation.pictures import write_tune_pictures

        for name in write_tune_pictures(result.tuned, plots):
            notice(f"wrote {name}")
    if output_dir is not None and (place or result.improves):
        _write_folder(result, path, output_dir, profile_dirs, place or None)
    if place is not None:
        stated = api.write_tuned(result, place or None)
        problem(f"wrote {stated.line} to {stated.file}")


def _write_folder(
    result: TuneResult, path: str, output_dir: str, profile_dirs: tuple[str, ...], place: int | None
) -> None:
    """Write the tuned intent, the report and all settings into a folder; then the plan, if there is one with steps."""
    from lossless import api
    from lossless.ground.basics.errors import LosslessError
    from lossless.ground.documents.atomic import write_all
    from lossless.interfaces.cli.plan import pages
    from lossless.output.report.simulation.tune_text import tune_csv, tune_markdown

    folder, stated = Path(output_dir), result.stated(place)
    intent = folder / Path(stated.file).name
    written = {
        intent: stated.after,
        folder / "report.md": tune_markdown(result),
        folder / "settings.csv": tune_csv(result.tuned) + "\n",
    }
    write_all(
        {str(name): text.encode() for name, text in written.items()}, make_folders=True, within=output_dir
    )
    notice(
        f"wrote {', '.join(file.name for file in written)} to {output_dir}; report.md says what was chosen, and why"
    )
    try:
        plan = api.plan([path], intent, options=api_options((), profile_dirs))
    except LosslessError as error:
        # What it needs to know of switches in service, thresholds do not depend on.
        problem(f"there is no plan of the change: {error}")
        return
    if plan.steps:
        files = api.write_plan(plan, folder / "plan", pages(plan))
        notice(f"{len(files)} files below {folder / 'plan'}; its plan.md has what to run")


def _go_on(result: TuneResult, path: str, output_dir: str | None, *, written: bool, quiet: bool) -> None:
    if result.tuned.chosen is None:
        then("simulate", path, quiet=quiet, because="says what makes the fabric unsafe")
    elif written:
        then("lint", path, "--simulate", quiet=quiet, because="checks the thresholds that are set")
    elif not result.improves:
        then("simulate", path, quiet=quiet, because="shows what is configured in full")
    elif output_dir is None:
        next_step(
            "the same with -o tuned writes the intent, a report and the plan of the change", quiet=quiet
        )
    else:
        tuned = Path(output_dir, Path(result.stated().file).name)
        then("plan", path, str(tuned), quiet=quiet, because="orders the steps of the change")
