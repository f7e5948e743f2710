"""``lossless diff``: compares running configurations of switches with their intent.

For several switches each distinct drift is shown once, then how the switches get to the target.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from lossless.ground.basics.foreign_text import visible
from lossless.ground.basics.units import listed
from lossless.interfaces.cli.app import COMMANDS, FAILED, FINDINGS, OK
from lossless.interfaces.cli.next_steps import render_onto, then
from lossless.interfaces.cli.options import InputPath, api_options, how_much, profiles, written_as
from lossless.interfaces.cli.options.rules import configuration_options
from lossless.interfaces.cli.progress import ProgressBar
from lossless.interfaces.cli.reports import nothing_to_compare
from lossless.interfaces.cli.terminal import (
    next_step,
    notice,
    out,
    out_document,
    problem,
    problem_lines,
    style_for,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.api import Drift, FabricDrift, Options
    from lossless.interfaces.cli.options.rules import LintSelection


@click.command("diff", short_help=COMMANDS["diff"])
@click.argument("configs", metavar="CONFIG_DB...", nargs=-1, required=True, type=InputPath())
@click.argument("intent", metavar="INTENT", type=InputPath())
@click.option("--device", metavar="NAME", help="The switch of the intent (default: the file's own hostname).")
@click.option(
    "--patch",
    "patch_file",
    metavar="FILE",
    help="Write an RFC 6902 patch for config apply-patch; of several switches DIR/DEVICE/patch.json.",
)
@written_as("the drift is", ("text", "json", "patch"), more="; patch prints the patch alone")
@how_much("every cause of a long drift")
@profiles
@configuration_options
def command(
    configs: tuple[str, ...],
    intent: str,
    device: str | None,
    patch_file: str | None,
    output_format: str,
    verbose: bool,
    quiet: bool,
    profile_dirs: tuple[str, ...],
    selection: LintSelection,
) -> int:
    """Say how running switches have drifted from their intent.

    CONFIG_DB is the file of a switch, of SONiC or of a system that lossless formats lists; several files, or a folder
    of them, are compared with all switches of the intent. INTENT is a file or a folder that holds fabric.yaml. Settings
    that render writes are compared by meaning. A patch is written only if the switch's own updater accepts all of it.
    Exit codes: 0 no drift, 1 drift, 2 not compared, or no patch although one was requested.
    """
    options = selection.added_to(api_options((), profile_dirs))
    # pathlib costs a tenth of an interpreter's start.
    if len(configs) > 1 or os.path.isdir(configs[0]):  # noqa: PTH112
        if device is not None or output_format == "patch":
            what = "--device names the switch" if device is not None else "--format patch prints the patch"
            raise click.UsageError(
                f"{what} of one file; these are several: each is found by its hostname, "
                "and --patch DIR writes a patch for each"
            )

        return compare(configs, intent, options, patch_file, output_format, verbose=verbose, quiet=quiet)
    return _one(configs[0], intent, options, device, patch_file, output_format, verbose=verbose, quiet=quiet)


def _one(
    config_db: str,
    intent: str,
    options: Options,
    device: str | None,
    patch_file: str | None,
    output_format: str,
    *,
    verbose: bool,
    quiet: bool,
) -> int:
    from lossless import api

    drift = api.diff(config_db, intent, device=device, options=options)
    if nothing_to_compare(api.Report._make(drift.report)):
        return FAILED
    wants_patch = patch_file is not None or output_format == "patch"
    tells = not drift.problems and (output_format != "json" or wants_patch)
    if tells:
        _print_count(drift)
    _print_switch(drift, output_format, verbose=verbose)
    for line in drift.problems:
        problem(line)
    if drift.problems:
        return FAILED
    if patch_file is not None and drift.patch_text is not None:
        from lossless.ground.documents.atomic import write_all

        write_all({patch_file: drift.patch_text})
    if tells:
        _print_update(drift)
    if output_format == "text":
        _go_on_with_switch(drift, config_db, intent, patch_file, quiet=quiet)
    if wants_patch and drift.patch is None:
        return FAILED
    return FINDINGS if drift.rows else OK


def _go_on_with_switch(
    drift: Drift, config_db: str, intent: str, patch_file: str | None, *, quiet: bool
) -> None:
    if drift.rows and drift.patch is None:
        render_onto(intent, {drift.device: config_db}, quiet=quiet)
    elif drift.rows and patch_file is not None:
        next_step(f"the patch is in {patch_file}: config apply-patch applies it on the switch", quiet=quiet)
    elif drift.rows:
        words = (config_db, intent, "--device", drift.device, "--patch", "patch.json")
        then("diff", *words, quiet=quiet, because="writes the patch")
    else:
        then("lint", config_db, quiet=quiet, because="checks what runs there")


def _print_switch(drift: Drift, output_format: str, *, verbose: bool) -> None:
    from lossless.output.report.changes_text import drift_json, drift_lines

    if output_format == "json":
        out_document(drift_json(drift), "json")
    elif output_format == "patch":
        if drift.patch_text is not None:
            out_document(drift.patch_text.removesuffix("\n"), "json")
    else:
        for line in drift_lines(drift.rows, style_for(sys.stdout, verbose=verbose)):
            out(line)


def _print_count(drift: Drift) -> None:
    """Print the number of differences of a device, and the settings that are not compared."""
    count = len(drift.rows)
    if not count:
        form = (
            f"; {drift.respelled} rows or values are only spelled in an old form" if drift.respelled else ""
        )
        notice(f"{drift.device} is configured as {drift.intent} declares{form}")
    else:
        rows = f"{count} row{'' if count == 1 else 's'}"
        notice(f"{drift.device} differs from {drift.intent} in {rows}")
    from lossless.output.report.changes_text import not_compared_lines

    for line in not_compared_lines([drift]):
        notice(line)


def _print_update(drift: Drift) -> None:
    """Print how a switch gets to its intent: by patch, reload or rendered file, with how many ports go down."""
    update = drift.change
    if update is None and drift.rows:
        notice("no patch: such a switch is brought there by the file that render writes for it")
    if update is None or update.how == "nothing":
        return
    if update.how == "reload":
        notice("no patch: the change needs a reload")
        from lossless.output.report.columns import wrapped

        for why in update.why:
            problem_lines(wrapped(visible(why), style_for(sys.stderr), "  "))
    elif update.ports_down:
        ports = len(update.ports_down)
        notice(
            f"a patch brings it there; the updater takes {ports} port{'' if ports == 1 else 's'} down on the way"
        )
    else:
        notice("a patch brings it there, and no port goes down")
    if update.harms:
        notice(f"but lossless traffic is harmed: {'; '.join(update.harms)}")


def compare(
    configs: Sequence[str],
    intent: str,
    options: Options,
    patch_dir: str | None,
    output_format: str,
    *,
    verbose: bool,
    quiet: bool,
) -> int:
    """Compare the files and folders with the switches of an intent; return the exit code."""
    from lossless import api

    bar = ProgressBar("switches", quiet=quiet)
    try:
        drift = api.diff_fabric(configs, intent, options=options, progress=bar)
    finally:
        bar.stop()
    if nothing_to_compare(api.Report._make(drift.report)):
        return FAILED
    _print_fabric(drift, output_format, verbose=verbose)
    _print_problems(drift)
    lacking = _write_patches(drift, patch_dir) if patch_dir is not None else False
    if output_format == "text":
        _go_on_with_fabric(drift, configs, intent, patch_dir, quiet=quiet)
    if drift.errors or lacking or not drift.drifts or any(switch.problems for switch in drift.drifts):
        return FAILED
    return FINDINGS if any(switch.rows for switch in drift.drifts) else OK


def _print_fabric(drift: FabricDrift, output_format: str, *, verbose: bool) -> None:
    from lossless.output.report.changes_text import (
        fabric_drift_json,
        fabric_drift_lines,
        fabric_summary,
        plan_lines,
    )
    from lossless.output.report.lint.json_format import problem_data

    if output_format == "json":
        errors = [problem_data(error) for error in drift.errors]
        out_document(fabric_drift_json(drift.intent, drift.drifts, drift.missing, errors), "json")
        return
    for line in fabric_summary(drift.intent, drift.drifts, drift.missing):
        notice(line)
    for line in fabric_drift_lines(drift.drifts, style_for(sys.stdout, verbose=verbose)):
        out(line)
    for line in plan_lines([switch.change for switch in drift.drifts if switch.change is not None]):
        notice(line)


def _print_problems(drift: FabricDrift) -> None:
    from lossless.output.report.lint.text import shown_file, sort_problems

    for error in sort_problems(drift.errors):
        problem(str(error._replace(file=shown_file(error.file))))
    for switch in drift.drifts:
        for line in switch.problems:
            problem(line)


def _write_patches(drift: FabricDrift, folder: str) -> bool:
    """Write the patches with operations; return whether a switch with differences or problems has no patch.

    Switches of other systems without one are named here, as no other message gives the reason.
    """
    from pathlib import Path

    from lossless.ground.documents.atomic import write_all

    patches = {
        str(Path(folder) / switch.device / "patch.json"): switch.patch_text
        for switch in drift.drifts
        if switch.patch
    }
    write_all({path: text for path, text in patches.items() if text}, make_folders=True, within=folder)
    lacking = [switch for switch in drift.drifts if switch.patch is None and (switch.rows or switch.problems)]
    if others := [switch.device for switch in lacking if switch.change is None and not switch.problems]:
        notice(
            f"no patch for {listed(others, 6)}: config apply-patch is of SONiC; the files that render writes bring "
            f"{'it' if len(others) == 1 else 'them'} there"
        )
    return bool(lacking)


def _go_on_with_fabric(
    drift: FabricDrift, configs: Sequence[str], intent: str, patch_dir: str | None, *, quiet: bool
) -> None:
    drifted = [switch for switch in drift.drifts if switch.rows]
    if not drift.drifts or any(switch.problems for switch in drift.drifts):
        return
    if drifted and all(switch.patch is None for switch in drifted):
        render_onto(intent, {switch.device: switch.file for switch in drifted}, quiet=quiet)
    elif drifted and patch_dir is not None:
        next_step(
            f"the patches are in {patch_dir}: config apply-patch applies one on its switch", quiet=quiet
        )
    elif drifted:
        then("diff", *configs, intent, "--patch", "patches", quiet=quiet, because="writes a patch for each")
    else:
        then("lint", *configs, quiet=quiet, because="checks what runs there")
