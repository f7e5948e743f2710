"""``lossless render``: an intent to files; a fabric with errors is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lossless.cli.app import COMMANDS, FAILED, FINDINGS, OK
from lossless.cli.options import api_options, profiles
from lossless.cli.output import report_text
from lossless.cli.terminal import out, problem

if TYPE_CHECKING:
    from lossless.api import RenderResult


@click.command("render", short_help=COMMANDS["render"])
@click.argument("intent", metavar="INTENT", type=click.Path())
@click.option("-o", "--output", "output_dir", metavar="DIR", required=True, help="Folder to write below.")
@click.option(
    "--base",
    "base_dir",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="Folder with the switches' own files, DIR/DEVICE/config_db.json; the result is then complete.",
)
@click.option("--check", is_flag=True, help="Write nothing; name the files that would change, exit 1 if any.")
@profiles
def command(
    intent: str, output_dir: str, base_dir: str | None, check: bool, profile_dirs: tuple[str, ...]
) -> int:
    """Write the configuration of every switch and host of an intent.

    INTENT is a file, or a folder that holds fabric.yaml. Without --base only the tables that this tool owns
    are written, as qos.json: not a complete configuration. A fabric with errors is refused.
    """
    from lossless import api

    options = api_options((), profile_dirs)
    result = api.render(intent, output_dir, base_dir=base_dir, options=options, check=check)
    report_text(result.report, {})
    if any(finding.severity == "error" for finding in result.report.findings):
        problem("refused: a fabric with errors is not rendered; nothing was written")
        return FAILED
    for note in result.notes:
        problem(note)
    return _checked(result) if check else _written(result, output_dir, complete=base_dir is not None)


def _checked(result: RenderResult) -> int:
    for path in result.changed:
        out(path)
    return FINDINGS if result.changed else OK


def _written(result: RenderResult, output_dir: str, *, complete: bool) -> int:
    files = f"{len(result.files)} file{'' if len(result.files) == 1 else 's'}"
    differ = "differs" if len(result.changed) == 1 else "differ"
    problem(f"wrote {files} below {output_dir}; {len(result.changed)} {differ} from before")
    if not complete:
        problem(
            "each qos.json holds only the tables this tool owns; reloading a switch with it alone would take "
            "away its management, BGP and AAA: apply it on top, or render with --base"
        )
    return OK
