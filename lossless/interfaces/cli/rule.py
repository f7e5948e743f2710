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
    from lossless.checks.rules.table import code_of, load

    code = code_of(rule)
    if code is None:
        raise LosslessError(_unknown(rule))
    loaded = load(code)
    out(f"# {code} {loaded.rule.name} ({loaded.rule.severity})\n\n{loaded.documentation.strip()}")


def _unknown(wanted: str) -> str:
    from lossless.checks.rules.table import MODULES, load
    from lossless.ground.basics.nearest import nearest

    code_by_word = {word: code for code in MODULES for word in (code, load(code).rule.name)}
    near = nearest(wanted, code_by_word)
    if near is None:
        return f"no rule {wanted!r}; lossless rules lists all"
    code = code_by_word[near]
    return f"no rule {wanted!r}; did you mean {code} ({load(code).rule.name})?"
