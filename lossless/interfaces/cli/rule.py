"""``lossless rule``: the documentation of one rule, as it stands in its module."""

from __future__ import annotations

import click

from lossless.ground.basics.errors import LosslessError
from lossless.interfaces.cli.app import COMMANDS
from lossless.interfaces.cli.options import complete_rules
from lossless.interfaces.cli.terminal import out


@click.command("rule", short_help=COMMANDS["rule"])
@click.argument("rule", metavar="CODE|NAME", shell_complete=complete_rules)
def command(rule: str) -> None:
    """Explain one rule.

    What it finds, why that breaks a lossless fabric, and how to mend it; by code (WD001) or by name
    (watchdog-missing).
    """
    from lossless.checks.rules.documentation import rule_of
    from lossless.checks.rules.registry import code_of

    code = code_of(rule)
    if code is None:
        raise LosslessError(_unknown(rule))
    metadata = rule_of(code)
    out(f"# {code} {metadata.name} ({metadata.severity})\n\n{metadata.text}")


def _unknown(wanted: str) -> str:
    from lossless.checks.rules.registry import RULES
    from lossless.ground.basics.nearest import nearest

    code_by_word = {word: row.code for row in RULES.values() for word in (row.code, row.name)}
    near = nearest(wanted, code_by_word)
    if near is None:
        return f"no rule {wanted!r}; lossless rules lists all"
    code = code_by_word[near]
    return f"no rule {wanted!r}; did you mean {code} ({RULES[code].name})?"
