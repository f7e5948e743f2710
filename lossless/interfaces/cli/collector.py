"""``lossless collector``: the scripts that print how the NICs of a host are configured, and the state of a switch."""

from __future__ import annotations

import sys

import click

from lossless.interfaces.cli.app import COMMANDS
from lossless.interfaces.cli.terminal import next_step, out


@click.command("collector", short_help=COMMANDS["collector"])
@click.option(
    "--switch", is_flag=True, help="The script for a SONiC switch: its databases, for lossless verify."
)
def command(*, switch: bool) -> None:
    """Print the script that reports the state of a host or a switch.

    It changes no setting there. That for hosts reports how their NICs are set. Save its output in a folder of the
    host's name, and check it with the switches:

    \b
    lossless collector > lossless-collect.sh
    ssh gpu1 sudo sh -s < lossless-collect.sh > hosts/gpu1/snapshot.facts
    lossless lint .

    That for switches reads tables of ports, QoS, buffers and counters, of every ASIC, and no others:

    \b
    lossless collector --switch > lossless-collect-switch.sh
    ssh leaf1 sudo sh -s < lossless-collect-switch.sh > captures/leaf1.txt
    lossless verify captures
    """
    from lossless import api

    out(api.collector(switch=switch).rstrip("\n"))
    step = "lossless collector > lossless-collect.sh  # saves it, to be run on each host"
    if switch:
        step = (
            "lossless collector --switch > lossless-collect-switch.sh  # saves it, to be run on each switch"
        )
    next_step(step, quiet=not sys.stdout.isatty())
