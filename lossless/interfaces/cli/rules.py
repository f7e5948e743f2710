"""``lossless rules``: one line a rule."""

from __future__ import annotations

import sys

import click

from lossless.interfaces.cli.app import COMMANDS
from lossless.interfaces.cli.options import written_as
from lossless.interfaces.cli.terminal import next_step, out, out_json, style_for
from lossless.output.report.columns import facts, markdown_table


@click.command("rules", short_help=COMMANDS["rules"])
@written_as("the list is", ("text", "json", "md"))
def command(output_format: str) -> None:
    """List all rules.

    Code, name, severity and requirement of each.
    """
    from lossless import api

    rules = api.rules()
    if output_format == "json":
        out_json([rule.to_data() for rule in rules])
        return
    if output_format == "md":
        heads = ("code", "name", "severity", "checks", "what it says")
        rows = [(r.code, r.name, r.severity, ", ".join(r.subjects), r.summary) for r in rules]
        out(markdown_table(heads, rows))
        return
    out(facts([(rule.code, rule.name, rule.severity, rule.summary) for rule in rules], style_for(sys.stdout)))
    next_step("lossless rule CODE  # explains one")
