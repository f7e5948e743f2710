"""``lossless rules``: one line a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lossless.interfaces.cli.app import COMMANDS
from lossless.interfaces.cli.options import written_as
from lossless.interfaces.cli.terminal import out, out_json
from lossless.output.report.columns import columns, markdown_table

if TYPE_CHECKING:
    from lossless.checks.rules.documentation import Rule


@click.command("rules", short_help=COMMANDS["rules"])
@written_as("the list is", ("text", "json", "md"))
def command(output_format: str) -> None:
    """List all rules.

    Code, name, severity and what each one demands.
    """
    from lossless.checks.rules.documentation import rule_of
    from lossless.checks.rules.registry import RULES

    rules = [rule_of(code) for code in RULES]
    if output_format == "json":
        out_json([_data(rule) for rule in rules])
        return
    if output_format == "md":
        heads = ("code", "name", "severity", "judges", "what it says")
        rows = [(r.code, r.name, r.severity, ", ".join(r.subjects), r.summary) for r in rules]
        out(markdown_table(heads, rows))
        return
    out(columns([(rule.code, rule.name, rule.severity, rule.summary) for rule in rules]))


def _data(rule: Rule) -> dict[str, object]:
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity,
        "confidence": rule.confidence,
        "subjects": list(rule.subjects),
        "fixable": rule.fixable,
        "summary": rule.summary,
        "sources": list(rule.sources),
    }
