"""``lossless render``: writes the files of an intent; a fabric with errors is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

import click

from lossless.interfaces.cli.app import COMMANDS, FAILED, FINDINGS, OK
from lossless.interfaces.cli.next_steps import then
from lossless.interfaces.cli.options import InputPath, OneOf, api_options, profiles, written_as
from lossless.interfaces.cli.reports import nothing_to_compare, report_text
from lossless.interfaces.cli.terminal import notice, out, out_json, problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.api import RenderResult
    from lossless.output.report.changes_text import FileState

    Extra = Literal["qos", "patch", "rollback", "telemetry"]


@click.command("render", short_help=COMMANDS["render"])
@click.argument("intent", metavar="INTENT", type=InputPath())
@click.option("-o", "--output", "output_dir", metavar="DIR", required=True, help="Folder to write below.")
@click.option(
    "--base",
    "base_dir",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="Folder with the switches' own files, DIR/DEVICE/config_db.json; the result is then complete.",
)
@click.option(
    "--also",
    "extras",
    multiple=True,
    type=OneOf(["qos", "patch", "rollback", "telemetry"]),
    help="With --base, beside config_db.json: patch.json for config apply-patch (where the switch's updater "
    "accepts it), rollback.json to bring the switch back, or qos.json for config load, with the deletes that "
    "it does not do. telemetry needs no --base: rules, alerts and dashboards of this fabric. May be repeated.",
)
@click.option("--overwrite-base", is_flag=True, help="Write even where --base and -o are the same folder.")
@click.option(
    "--check",
    is_flag=True,
    help="Write nothing; name the files that are missing, differ or no longer belong, exit 1 if any.",
)
@click.option("--diff", is_flag=True, help="Write nothing; show what would change, exit 1 if anything.")
@click.option("-q", "--quiet", is_flag=True, help="No hint at what to run next.")
@written_as("what --check finds is", more="; json goes with --check")
@profiles
def command(
    intent: str,
    output_dir: str,
    base_dir: str | None,
    extras: tuple[str, ...],
    overwrite_base: bool,
    check: bool,
    diff: bool,
    quiet: bool,
    output_format: str,
    profile_dirs: tuple[str, ...],
) -> int:
    """Write the configuration of every switch and host of an intent.

    For an InfiniBand subnet: that of its managers and of the hosts that run jobs. Keys that protect it come from the
    environment variables that the intent names.

    INTENT is a file, or a folder that holds fabric.yaml. A switch gets its complete config_db.json, based on its own
    file in --base; without --base only the tables that this tool owns are written, as qos.json: not a complete
    configuration. manifest.json says of every file where it goes, how it is applied and whether traffic is interrupted.
    A fabric with errors is refused.
    """
    from lossless import api

    if output_format == "json" and (diff or not check):
        raise click.UsageError("--format json is of --check")
    of_a_base = [extra for extra in extras if extra != "telemetry"]
    if of_a_base and base_dir is None:
        raise click.UsageError(
            f"--also {of_a_base[0]} is made from the file that a switch runs; name it with --base"
        )
    result = api.render(
        intent,
        output_dir,
        base_dir=base_dir,
        options=api_options((), profile_dirs),
        check=check,
        diff=diff,
        extras=cast("Sequence[Extra]", extras),
        overwrite_base=overwrite_base,
    )
    if nothing_to_compare(result.report, "a fabric with errors is not rendered; nothing was written"):
        return FAILED
    report_text(result.report, {})
    from lossless.output.report.changes_text import plan_lines

    for note in (*result.notes, *plan_lines(result.plans)):
        notice(note)
    if check or diff:
        if output_format == "json":
            from lossless.output.report.changes_text import checked_tree

            out_json(checked_tree(output_dir, _states(result), result.notes))
        code = _checked(result, output_dir, diff=diff, listed=output_format == "text")
        if code and not diff:
            bases = () if base_dir is None else ("--base", base_dir)
            then(
                "render",
                intent,
                "-o",
                output_dir,
                *bases,
                "--diff",
                quiet=quiet,
                because="shows what differs",
            )
        return code
    code = _written(result, output_dir, complete=base_dir is not None)
    then("lint", output_dir, quiet=quiet, because="checks what was written; manifest.json says where it goes")
    return code


def _states(result: RenderResult) -> dict[str, FileState]:
    """Return the files that are not as rendered, each with its state; a stale one is of an earlier render."""
    states: dict[str, FileState] = dict.fromkeys(result.changed, "differs")
    return states | dict.fromkeys(result.missing, "missing") | dict.fromkeys(result.stale, "stale")


def _checked(result: RenderResult, output_dir: str, *, diff: bool, listed: bool) -> int:
    told = _states(result)
    lines = (f"{path}: {'no longer belongs' if state == 'stale' else state}" for path, state in told.items())
    for line in result.differences if diff else lines if listed else ():
        out(line)
    if not told:
        return OK
    words: tuple[tuple[FileState, str], ...] = (
        ("missing", "missing"),
        ("differs", "different"),
        ("stale", "of an earlier render"),
    )
    counts = [f"{number} {word}" for state, word in words if (number := list(told.values()).count(state))]
    problem(f"{output_dir} is not what is rendered: {', '.join(counts)}")
    return FINDINGS


def _written(result: RenderResult, output_dir: str, *, complete: bool) -> int:
    files = f"{len(result.files)} file{'' if len(result.files) == 1 else 's'}"
    removed = len(result.stale)
    gone = f", removed {removed} of an earlier render" if removed else ""
    problem(f"wrote {files} below {output_dir}, {len(result.changed) - removed} of them new or changed{gone}")
    if not complete and any(path.endswith("/qos.json") for path in result.files):
        notice(
            "each qos.json holds only the tables this tool owns; reloading a switch with it alone would take "
            "away its management, BGP and AAA: apply it on top, or render with --base"
        )
    return OK
