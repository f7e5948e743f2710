"""``lossless diff`` of several switches: each drift once, how all of them get there, and their patches."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from lossless.interfaces.cli.app import FAILED, FINDINGS, OK
from lossless.interfaces.cli.next_steps import render_onto, then
from lossless.interfaces.cli.progress import ProgressBar
from lossless.interfaces.cli.reports import nothing_to_compare
from lossless.interfaces.cli.terminal import next_step, notice, out, problem, style_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.api import FabricDrift, Options


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
    if nothing_to_compare(drift.report):
        return FAILED
    _print(drift, output_format, verbose=verbose)
    _print_problems(drift)
    lacking = _write_patches(drift, patch_dir) if patch_dir is not None else False
    if output_format == "text":
        _go_on(drift, configs, intent, patch_dir, quiet=quiet)
    if drift.errors or lacking or not drift.drifts or any(switch.problems for switch in drift.drifts):
        return FAILED
    return FINDINGS if any(switch.rows for switch in drift.drifts) else OK


def _print(drift: FabricDrift, output_format: str, *, verbose: bool) -> None:
    from lossless.output.report.fabric_diff_text import (
        fabric_drift_json,
        fabric_drift_lines,
        fabric_summary,
    )
    from lossless.output.report.lint.json_format import problem_data
    from lossless.output.report.update_text import plan_lines

    if output_format == "json":
        errors = [problem_data(error) for error in drift.errors]
        out(fabric_drift_json(drift.intent, drift.drifts, drift.missing, errors), "json")
        return
    for line in fabric_summary(drift.intent, drift.drifts, drift.missing):
        notice(line)
    for line in fabric_drift_lines(drift.drifts, style_for(sys.stdout, verbose=verbose)):
        out(line)
    for line in plan_lines([switch.change for switch in drift.drifts if switch.change is not None]):
        notice(line)


def _print_problems(drift: FabricDrift) -> None:
    from lossless.output.report.lint.locations import shown_file, sort_problems

    for error in sort_problems(drift.errors):
        problem(str(error._replace(file=shown_file(error.file))))
    for switch in drift.drifts:
        for line in switch.problems:
            problem(line)


def _write_patches(drift: FabricDrift, folder: str) -> bool:
    """Write the patch of each switch that has one; return whether a switch that needs one has none."""
    from pathlib import Path

    from lossless.ground.documents.atomic import write_all

    patches = {
        str(Path(folder) / switch.device / "patch.json"): switch.patch_text
        for switch in drift.drifts
        if switch.patch
    }
    write_all({path: text for path, text in patches.items() if text}, make_folders=True, within=folder)
    return any(switch.patch is None for switch in drift.drifts)


def _go_on(
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
