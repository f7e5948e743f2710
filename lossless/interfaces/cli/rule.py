"""``lossless rule``: the documentation of one rule, from its module."""

from __future__ import annotations

import sys

import click

from lossless.interfaces.cli.app import COMMANDS
from lossless.interfaces.cli.next_steps import then
from lossless.interfaces.cli.options import complete_rules
from lossless.interfaces.cli.terminal import out, style_for
from lossless.output.report.columns import wrapped_markdown


@click.command("rule", short_help=COMMANDS["rule"])
@click.argument("rule", metavar="CODE|NAME", shell_complete=complete_rules)
def command(rule: str) -> None:
    """Explain one rule.

    The page describes the fault, why it breaks a lossless fabric, and how to fix it; by code (WD001) or by name
    (watchdog-missing).
    """
    from lossless import api

    explained = api.rule(rule)
    out(wrapped_markdown(explained.page, style_for(sys.stdout)))
    then("lint", "--select", explained.code, because="checks the current folder by it alone")
