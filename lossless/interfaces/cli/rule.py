"""``lossless rule``: the documentation of one rule, from its module."""

from __future__ import annotations

import click

from lossless.interfaces.cli.app import COMMANDS
from lossless.interfaces.cli.options import complete_rules
from lossless.interfaces.cli.terminal import out


@click.command("rule", short_help=COMMANDS["rule"])
@click.argument("rule", metavar="CODE|NAME", shell_complete=complete_rules)
def command(rule: str) -> None:
    """Explain one rule.

    What it finds, why that breaks a lossless fabric, and how to fix it; by code (WD001) or by name
    (watchdog-missing).
    """
    from lossless import api

    out(api.rule(rule).page)
