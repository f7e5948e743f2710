"""``lossless plan``: the order of steps to the fabric of an intent; ``lossless lint --plan DIR``: progress in a plan.

Progress is shown with rows of CONFIG_DB that are neither old nor new.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from lossless.interfaces.cli.app import COMMANDS, FINDINGS, OK
from lossless.interfaces.cli.next_steps import then
from lossless.interfaces.cli.options import (
    InputPath,
    Number,
    api_options,
    folder_and_pages_option,
    how_much,
    profiles,
    rdma_dscp,
    written_as,
)
from lossless.interfaces.cli.options.quantities import WORK_TIME
from lossless.interfaces.cli.options.rules import configuration_options
from lossless.interfaces.cli.reports import require_apart_from, write_pages
from lossless.interfaces.cli.terminal import notice, out, out_json, style_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.api import Plan
    from lossless.interfaces.cli.options.rules import LintSelection


@click.command("plan", short_help=COMMANDS["plan"])
@click.argument("current", metavar="CURRENT...", nargs=-1, required=True, type=InputPath())
@click.argument("target", metavar="TARGET", type=InputPath())
@folder_and_pages_option(
    "Folder to write the plan and its steps below; html=FILE: also write the plan as a page for people."
)
@click.option(
    "--max-ports-down",
    type=Number(min=1),
    metavar="N",
    help="Ports that may be down at the same time (default: those of one switch or host).",
)
@click.option("--per-step", type=WORK_TIME, metavar="TIME", help="Longest that a step may take, like 30min.")
@click.option("--drain-time", type=WORK_TIME, metavar="TIME", help="How long it takes to drain a switch.")
@click.option("--link-up-time", type=WORK_TIME, metavar="TIME", help="How long until a port is up again.")
@click.option("--simulate", is_flag=True, help="Also run traffic through the switches between any two steps.")
@rdma_dscp
@profiles
@configuration_options
@written_as("the plan is")
@how_much("all that a step changes")
def command(
    current: tuple[str, ...],
    target: str,
    outputs: tuple[str | None, tuple[tuple[str, str], ...]],
    max_ports_down: int | None,
    per_step: int | None,
    drain_time: int | None,
    link_up_time: int | None,
    simulate: bool,
    rdma_dscps: tuple[int, ...],
    profile_dirs: tuple[str, ...],
    selection: LintSelection,
    output_format: str,
    verbose: bool,
    quiet: bool,
) -> int:
    """Plan a change of a fabric in service, each step safe.

    CURRENT is the intent that the fabric was rendered from, or files of its switches, a folder of them, and what its
    hosts report. TARGET is an intent. Of an InfiniBand subnet both are intents. Every state on the way is evaluated:
    any part of a step done, in any order that the switch's updater may choose. With -o DIR the plan is written: plan.md
    for the change ticket, plan.json, and a folder a step with patches, Ansible playbooks and scripts. Exit codes: 0
    planned, 2 not read, or a step is refused or exceeds the limits.
    """
    from lossless import api

    limits = api.PlanLimits(max_ports_down, per_step, drain_time or 0, link_up_time or 0, simulate)
    options = selection.added_to(api_options(rdma_dscps, profile_dirs))
    output_dir, files_of_pages = outputs
    require_apart_from([page for _, page in files_of_pages], (*current, target), options)
    plan = api.plan(current, target, limits=limits, options=options)
    if output_format == "json":
        out_json(plan.to_data())
    else:
        from lossless.output.report.plan_markdown import plan_text

        out(plan_text(plan, style_for(sys.stdout, verbose=verbose)))
    write_pages(files_of_pages, lambda: api.plan_page(plan, current, target, options))
    if output_dir is not None and plan.steps:
        files = api.write_plan(plan, output_dir, pages(plan))
        notice(f"{len(files)} files below {output_dir}; {output_dir}/plan.md has what to run")
    elif plan.steps and output_format == "text":
        because = "writes the plan, its patches and playbooks"
        then("plan", *current, target, "-o", "change", quiet=quiet, because=because)
    return OK


def pages(plan: Plan) -> dict[str, str]:
    """Return the files of a plan for people, by name: plan.md, and its picture plan.svg."""
    from lossless.output.report.plan_markdown import plan_markdown, plan_picture

    return {"plan.md": plan_markdown(plan), "plan.svg": plan_picture(plan)}


_VERSION = 1
"""The version of the keys in the JSON object."""


def show(plan_dir: str, configs: Sequence[str], output_format: str) -> int:
    """Print the progress of switches in a plan; return 0 if every switch has a file and has finished, else 1."""
    from lossless import api
    from lossless.output.report.plan_markdown import progress_lines

    reached, missing, steps = api.plan_progress(plan_dir, configs)
    if output_format == "json":
        devices = [{**device._asdict(), "finished": device.finished} for device in reached]
        out_json({"version": _VERSION, "steps": steps, "devices": devices, "missing": list(missing)})
    else:
        out("\n".join(progress_lines(reached, missing, steps)))
    return OK if all(device.finished for device in reached) and not missing else FINDINGS
