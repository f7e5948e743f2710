"""``lossless formats``: the systems whose configurations are read and written."""

from __future__ import annotations

import sys

import click

from lossless.interfaces.cli.app import COMMANDS
from lossless.interfaces.cli.options import written_as
from lossless.interfaces.cli.terminal import next_step, out, out_json, style_for
from lossless.output.report.columns import facts, markdown_table

_HEADS = ("format", "system", "reads", "writes", "checked with")


@click.command("formats", short_help=COMMANDS["formats"])
@written_as("the list is", ("text", "json", "md"))
def command(output_format: str) -> None:
    """List the systems of switches that are read and written.

    The first column is the word that hardware.ROLE.format of an intent takes.
    """
    from lossless import api

    formats = api.formats()
    if output_format == "json":
        out_json([known._asdict() for known in formats])
    elif output_format == "md":
        out(markdown_table(_HEADS, formats))
    else:
        out(facts([_HEADS, *formats], style_for(sys.stdout)))
        next_step("lossless lint FILE  # checks a file of any of them")
