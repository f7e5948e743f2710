"""``lossless sweep``: simulates many settings of thresholds, and ranks them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from lossless.ground.basics.units import parse_duration
from lossless.interfaces.cli.app import COMMANDS, FINDINGS, OK
from lossless.interfaces.cli.next_steps import then
from lossless.interfaces.cli.options import (
    InputPath,
    Number,
    api_options,
    how_much,
    profiles,
    rdma_dscp,
    written_as,
)
from lossless.interfaces.cli.options.quantities import (
    Quantity,
    ask_of,
    cluster_option,
    question_of,
    scenario_options,
    waiting,
)
from lossless.interfaces.cli.options.rules import configuration_options
from lossless.interfaces.cli.progress import ProgressBar
from lossless.interfaces.cli.terminal import next_step, out, out_document, out_json, problem, style_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.api import Grid, Options, Sweep
    from lossless.interfaces.cli.options.rules import LintSelection

_VERSION = 1
"""The version of the keys in the JSON object."""


def _grid(_context: click.Context, _option: click.Parameter, texts: Sequence[str]) -> Grid:
    from lossless import api
    from lossless.ground.basics.errors import QuantityError

    try:
        return api.parse_grid(texts)
    except QuantityError as error:
        raise click.BadParameter(str(error)) from error


@click.command("sweep", short_help=COMMANDS["sweep"], context_settings={"default_map": {"seeds": 1}})
@click.argument("path", metavar="PATH", type=InputPath())
@click.option(
    "--vary",
    "grid",
    metavar="NAME=VALUES",
    multiple=True,
    required=True,
    callback=_grid,
    help="Threshold to vary and its values; repeated, every combination is tried.",
)
@rdma_dscp
@profiles
@configuration_options
@click.option(
    "--horizon",
    "horizon_ns",
    type=Quantity("TIME", parse_duration),
    help="Simulated time of each setting of a lossless class (default: 3ms).",
)
@written_as("the settings are", ("text", "json", "csv"))
@click.option(
    "--limit",
    type=Number(1),
    metavar="N",
    help="How many of the best settings the text shows (default: 12, or all with -v).",
)
@click.option(
    "--write",
    "place",
    is_flag=False,
    flag_value=1,
    type=Number(1),
    metavar="[PLACE]",
    help="Write a setting of the table into the intent, by its number; without a number the best.",
)
@cluster_option
@how_much("all settings, their goodput and peak queue depth, and what is assumed")
@scenario_options
def command(
    path: str,
    grid: Grid,
    rdma_dscps: tuple[int, ...],
    profile_dirs: tuple[str, ...],
    selection: LintSelection,
    horizon_ns: int | None,
    output_format: str,
    limit: int | None,
    place: int | None,
    cluster: str | None,
    verbose: bool,
    quiet: bool,
    **given: Any,
) -> int:
    """Try many thresholds, and say which are safe, silent and best.

    PATH is an intent, a config_db.json, or a folder of them. Thresholds to vary: dynamic_th=-4..3,
    kmin=100KiB..2MiB/20, kmax=2MiB,4MiB, pmax=5%..100%/5, headroom=100KiB..400KiB/7, and of a lossy class
    queue_dynamic_th=-6..1 and trimming=on,off. A comma stands between values,
    a..b is every exponent, a..b/n are n values evenly spaced. For an intent the line that states the best
    setting is printed, and --write puts it there; every other byte stays. Exit codes: 0 some setting is safe or on the
    edge, 1 all are unsafe, 2 not read or not run.
    """
    from lossless import api

    bar = _SettingsBar("settings", quiet=quiet)
    try:
        ask = ask_of(*question_of(given, profile_dirs), bar)
        options = selection.added_to(api_options(rdma_dscps, profile_dirs))
        sweeps = api.sweep(path, grid, options, ask, horizon_ns=horizon_ns, cluster=cluster, waiting=waiting)
    except KeyboardInterrupt:
        bar.stop()
        far = f" after {bar.done:,} of {bar.of:,} settings" if bar.of else ""
        problem(f"lossless: interrupted{far}; nothing is reported")
        raise
    finally:
        bar.stop()
    lines = [_intent_line(sweep, path, options) for sweep in sweeps]
    _show(sweeps, lines, output_format, limit, verbose=verbose)
    if place is not None:
        _write(sweeps, place, path, options)
    if output_format == "text":
        if place is None and lines[0]:
            next_step(f"the same with --write states place 1 in {path}", quiet=quiet)
        else:
            _check_next(path, is_lossy=sweeps[0].is_lossy, quiet=quiet)
    return OK if all(any(row.verdict != "unsafe" for row in sweep.rows) for sweep in sweeps) else FINDINGS


def _check_next(path: str, *, is_lossy: bool, quiet: bool) -> None:
    because = "checks the thresholds that are set"
    if is_lossy:
        then("simulate", path, quiet=quiet, because=because)
    else:
        then("lint", path, "--simulate", quiet=quiet, because=because)


def _intent_line(sweep: Sweep, path: str, options: Options) -> str | None:
    """Return the line by which the intent at a path states the best setting, None if no intent can state it."""
    from lossless import api
    from lossless.ground.basics.errors import InputError

    try:
        return api.state_thresholds(path, sweep.class_name, sweep.rows[0].setting, options).line
    except InputError:
        return None


def _write(sweeps: Sequence[Sweep], place: int, path: str, options: Options) -> None:
    """Write the setting at a place of the table into the intent.

    Raises:
        LosslessError: there is no such place, not exactly one fabric or intent, or it cannot state the setting or be
            written.
    """
    from lossless import api
    from lossless.ground.basics.errors import LosslessError

    if len(sweeps) != 1 or place > len(sweeps[0].rows):
        many = f"{len(sweeps[0].rows):,} settings" if len(sweeps) == 1 else f"{len(sweeps)} fabrics"
        raise LosslessError(f"--write {place}: nothing was written; there are {many}")
    stated = api.write_thresholds(path, sweeps[0].class_name, sweeps[0].rows[place - 1].setting, options)
    problem(f"wrote {stated.line} to {stated.file}")


class _SettingsBar(ProgressBar):
    """A progress bar that keeps the numbers of tried and of all settings, for the message of an interruption."""

    done = of = 0

    def __call__(self, done: int, of: int) -> None:
        """Show and keep the numbers of tried settings and of all."""
        self.done, self.of = done, of
        super().__call__(done, of)


def _show(
    sweeps: Sequence[Sweep],
    lines: Sequence[str | None],
    output_format: str,
    limit: int | None,
    *,
    verbose: bool,
) -> None:
    """Write sweeps, each with the line by which an intent states its best setting."""
    if output_format == "json":
        from lossless.output.report.simulation.data import sweep_data

        data = [sweep_data(sweep) | {"intent": line} for sweep, line in zip(sweeps, lines, strict=True)]
        out_json({"version": _VERSION, "sweeps": data})
    elif output_format == "csv":
        from lossless.output.report.simulation.sweep_text import sweep_csv

        out_document(sweep_csv(sweeps), "text")
    else:
        from lossless.output.report.simulation.sweep_text import sweep_text

        style = style_for(sys.stdout, verbose=verbose)
        shown = zip(sweeps, lines, strict=True)
        out("\n\n".join(sweep_text(sweep, line, limit, style) for sweep, line in shown))
