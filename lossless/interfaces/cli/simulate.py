"""``lossless simulate``: the buffer verdict, by closed forms and from runs of the packet-level model."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from lossless.interfaces.cli.app import COMMANDS, FAILED, FINDINGS, OK
from lossless.interfaces.cli.next_steps import after_verdict
from lossless.interfaces.cli.options import (
    InputPath,
    api_options,
    captures_for,
    how_much,
    outputs_option,
    profiles,
    rdma_dscp,
    written_as,
)
from lossless.interfaces.cli.options.quantities import ask_of, question_of, scenario_options
from lossless.interfaces.cli.options.rules import configuration_options
from lossless.interfaces.cli.progress import ProgressBar, compiling
from lossless.interfaces.cli.reports import require_apart_from, write_pages
from lossless.interfaces.cli.terminal import out, out_json, problem, style_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.api import SimulationResult
    from lossless.interfaces.cli.options.rules import LintSelection

_VERSION = 1
"""The version of the keys in the JSON object."""
_GO_WITH_PREPARE = ("prepare", "quiet")
"""The parameters that ``--prepare`` may stand beside."""


@click.command("simulate", short_help=COMMANDS["simulate"])
@click.argument("path", metavar="PATH", type=InputPath(), required=False)
@rdma_dscp
@profiles
@configuration_options
@written_as("the verdict is")
@outputs_option(("html",), "Also write the verdict as a page for people to a file, as in html=verdict.html.")
@click.option("--closed-form", is_flag=True, help="By closed forms alone, without running traffic.")
@click.option(
    "--prepare",
    is_flag=True,
    help="Only compile the packet-level model, for every processor of this architecture. Takes no PATH.",
)
@click.option("--plots", metavar="DIR", help="Draw the first seed into this folder, as PNG and SVG.")
@captures_for("Captures of running switches: their watermarks beside the model")
@how_much("every kind of port, every pool, XOFF against ECN, and what is assumed")
@scenario_options
def command(
    path: str | None,
    rdma_dscps: tuple[int, ...],
    profile_dirs: tuple[str, ...],
    selection: LintSelection,
    output_format: str,
    outputs: tuple[tuple[str, str], ...],
    closed_form: bool,
    prepare: bool,
    plots: str | None,
    captures: tuple[str, ...],
    verbose: bool,
    quiet: bool,
    **given: Any,
) -> int:
    """Say whether the buffers of a fabric are safe, and why.

    PATH is an intent, a config_db.json, or a folder of them. Traffic is run through a packet-level model of its
    switches, wires and NICs: without options the worst incast that the topology allows, in a fabric with rails that
    of one rail. Exit codes: 0 safe or on the edge, 1 unsafe, 2 not checked or not read. With --captures, peaks that
    switches measured stand beside those of the model; they change no verdict.
    """
    if prepare:
        return _prepare()
    if path is None:
        context = click.get_current_context()
        raise click.MissingParameter(
            param=next(each for each in context.command.params if each.name == "path")
        )
    from lossless import api

    if plots is not None:
        _require_pictures(closed_form)
    options = selection.added_to(api_options(rdma_dscps, profile_dirs))
    require_apart_from([page for _, page in outputs], (path, *captures), options)
    bar = ProgressBar("seeds", quiet=quiet)
    try:
        ask = None if closed_form else ask_of(*question_of(given, profile_dirs), bar)
        if ask is not None:
            ask = ask._replace(record=plots is not None)
        results = api.simulate(path, options, ask, captures=captures)
    finally:
        bar.stop()
    if output_format == "json":
        from lossless.output.report.simulation.data import verdict_data

        out_json({"version": _VERSION, "verdicts": [verdict_data(result) for result in results]})
    else:
        _show(results, verbose=verbose)
    if plots is not None:
        _draw(results, plots)
    write_pages(outputs, lambda: api.simulation_page(results, path, options, captures=captures))
    unread = dict.fromkeys(each for result in results for each in result.problems)
    for each in unread:
        problem(str(each))
    overall = [result.overall for result in results]
    if output_format != "json":
        others = [name for result in results for name in result.other_classes]
        after_verdict(path, overall, quiet=quiet, other_classes=others)
    return FAILED if unread else exit_code(overall)


def _prepare() -> int:
    """Compile the packet-level model, and say where it is."""
    context = click.get_current_context()
    others = [
        each.opts[-1] if each.param_type_name == "option" else "PATH"
        for each in context.command.params
        if each.name not in _GO_WITH_PREPARE
        and context.get_parameter_source(each.name or "") is ParameterSource.COMMANDLINE
    ]
    if others:
        raise click.UsageError(f"--prepare only compiles the model, and takes no {', '.join(others)}")
    from lossless.interfaces.api.simulate import compile_ahead

    folder, is_new = compile_ahead(compiling)
    out(f"{'compiled' if is_new else 'nothing to compile'}: the packet-level model is in {folder}")
    return OK


def _show(results: Sequence[SimulationResult], *, verbose: bool) -> None:
    from lossless.output.report.simulation.verdict_text import verdict_text

    style = style_for(sys.stdout, verbose=verbose)
    out("\n\n".join(verdict_text(result, style) for result in results))


def _require_pictures(closed_form: bool) -> None:
    from lossless.output.report.simulation.pictures import require_matplotlib

    if closed_form:
        raise click.UsageError("--plots needs runs; --closed-form runs nothing")
    require_matplotlib()


def _draw(results: Sequence[SimulationResult], folder: str) -> None:
    from lossless.output.report.simulation.pictures import write_pictures

    recordings = [recording for result in results for recording in result.recordings]
    for number, recording in enumerate(recordings):
        stem = "run" if len(recordings) == 1 else f"run{number + 1}"
        for name in write_pictures(recording, folder, stem):
            problem(f"wrote {name}")


def exit_code(overall: Sequence[str]) -> int:
    """Return 1 if a verdict is ``unsafe``, else 2 if one is ``not checked``, else 0."""
    if "unsafe" in overall:
        return FINDINGS
    return FAILED if "not checked" in overall else OK
