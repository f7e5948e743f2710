"""``lossless import``: makes an intent of deployed configurations."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from lossless.interfaces.cli.app import COMMANDS, FINDINGS, OK
from lossless.interfaces.cli.next_steps import then
from lossless.interfaces.cli.options import InputPath, api_options, how_much, profiles
from lossless.interfaces.cli.terminal import next_step, notice, out, problem, problem_lines, style_for

if TYPE_CHECKING:
    from lossless.api import ImportResult


@click.command("import", short_help=COMMANDS["import"])
@click.argument("paths", metavar="CONFIG...", nargs=-1, required=True, type=InputPath())
@click.option("-o", "--output", metavar="FILE", help="Intent to write (default: it is printed).")
@click.option(
    "--cabling",
    metavar="FILE",
    type=InputPath(),
    help="Cables, as CSV: device, port, device, port, length. Takes precedence over all else that is known of links.",
)
@click.option(
    "--lldp",
    metavar="FILE",
    type=InputPath(),
    multiple=True,
    help="What `show lldp table` or `lldpctl -f json` printed, in DEVICE.txt, DEVICE.json or DEVICE/; may be repeated.",
)
@click.option(
    "--base",
    "base_dir",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Also copy the files to DIR/DEVICE/config_db.json, for `lossless render --base`.",
)
@click.option("--nic", metavar="PROFILE", help="The NIC of the hosts; no switch configuration states it.")
@click.option(
    "--switch",
    "switches",
    metavar="[NAME=]PROFILE",
    multiple=True,
    help="The product of switches whose files do not state it, as `leaf*=nvidia-sn5600`; may be repeated.",
)
@click.option("--cable", metavar="LENGTH", help="Length of the cables of which no file states one, as 30m.")
@click.option("--name", metavar="NAME", default="imported", help="Name of the fabric (default: imported).")
@how_much("every kind of difference")
@profiles
def command(
    paths: tuple[str, ...],
    output: str | None,
    cabling: str | None,
    lldp: tuple[str, ...],
    base_dir: str | None,
    nic: str | None,
    name: str,
    switches: tuple[str, ...],
    cable: str | None,
    verbose: bool,
    quiet: bool,
    profile_dirs: tuple[str, ...],
) -> int:
    """Write the intent that deployed configurations amount to.

    CONFIG are config_db.json files, configurations of Arista EOS, NVIDIA NVUE or Cisco NX-OS, or folders of them. The
    intent declares the settings of most ports; every field of the tables that rendering owns is compared, and each
    field that does not come back the same is listed with its reason.
    Exit codes: 0 imported, 1 imported but refused by render, 2 not imported.
    """
    from lossless import api

    options = api_options((), profile_dirs)
    result = api.import_configs(
        paths,
        cabling=cabling,
        lldp=lldp,
        nic=nic,
        name=name,
        switches=switches,
        cable=cable,
        options=options,
    )
    api.write_import(result, output, base_dir)
    if output is None:
        out(result.text.rstrip("\n"), "json")
    _say(result, output, verbose=verbose)
    if output is None:
        next_step("the same with -o fabric.yaml writes the intent to a file", quiet=quiet)
    else:
        then("lint", output, quiet=quiet, because="checks the intent")
    return FINDINGS if result.refused else OK


def _say(result: ImportResult, output: str | None, *, verbose: bool) -> None:
    from lossless.output.report.changes_text import differences_text, figures_text

    devices = f"{len(result.devices)} device{'' if len(result.devices) == 1 else 's'}"
    problem(f"imported {devices}" + (f" to {output}" if output else ""))
    for entry in result.refused:
        problem(f"render refuses this intent: {entry._replace(file=output) if output else entry}")
    if result.cells:
        notice(figures_text(result.figures))
    if result.differences:
        problem("what differs:")
        problem_lines(
            differences_text(result.differences, result.reasons, style_for(sys.stderr, verbose=verbose))
        )
