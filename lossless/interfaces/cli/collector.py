"""``lossless collector``: the script that prints, on a host, how its NICs are configured."""

from __future__ import annotations

import sys

import click

from lossless.interfaces.cli.app import COMMANDS
from lossless.interfaces.cli.terminal import next_step, out


@click.command("collector", short_help=COMMANDS["collector"])
def command() -> None:
    """Print the script that reports the NIC settings of a host.

    It changes no setting there. Save what it prints in a folder of the host's name, and check it with the switches:

    \b
    lossless collector > lossless-collect.sh
    ssh gpu1 sudo sh -s < lossless-collect.sh > hosts/gpu1/snapshot.facts
    lossless lint .
    """
    from lossless import api

    out(api.collector().rstrip("\n"))
    step = "lossless collector > lossless-collect.sh  # saves it, to be run on each host"
    next_step(step, quiet=not sys.stdout.isatty())
