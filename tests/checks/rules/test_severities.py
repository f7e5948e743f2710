"""Each severity that a rule may have rests on a clause of the policy in docs/guides/lint.md."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path

from lossless.checks.rules.documentation import rule_of
from lossless.checks.rules.registry import RULES, module_of
from lossless.ground.basics.findings import SEVERITIES
from tests.checks.rules.recorded import EXAMPLES, VALUES, on_record, scenarios
from tests.paths import ROOT

TABLE: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("severities.toml").read_text(encoding="utf-8")
)
_GUIDE = (ROOT / "docs" / "guides" / "lint.md").read_text(encoding="utf-8")
CLAUSES = dict(re.findall(rf"^\| ([a-z-]+) \| .* \| ({'|'.join(SEVERITIES)})[^|]* \|$", _GUIDE, re.MULTILINE))
"""The clauses of the guide's table, each with its severity."""
_FINDING = re.compile(rf"^(?:\+ )?({'|'.join(SEVERITIES)})(?: \(\w+ confidence\))? ", re.MULTILINE)
_VERDICTS = ("checks/rules/corpus-verdicts.toml", "checks/verify/capture-verdicts.toml")


@cache
def on_records() -> dict[str, set[str]]:
    """Return the severities that each rule has in the records of its examples and scenarios, and in the corpora."""
    found: dict[str, set[str]] = defaultdict(set)
    for file in (EXAMPLES, VALUES):
        for name, says in on_record(file).items():
            found[name.partition(" ")[0]].update(_FINDING.findall(says))
    for scenario in scenarios():
        found[scenario.code].update(_FINDING.findall(scenario.says))
    for verdicts in _VERDICTS:
        for row in tomllib.loads((ROOT / "tests" / verdicts).read_text(encoding="utf-8"))["finding"]:
            found[row["code"]].add(row["severity"])
    return found


def severities_of(code: str) -> set[str]:
    """Return the severities that a rule may have: that of its page, those that its module names, those on record."""
    file = ROOT.joinpath(*module_of(code).split(".")).with_suffix(".py")
    tree = ast.parse(file.read_text(encoding="utf-8"))
    named = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}.intersection(SEVERITIES)
    return {rule_of(code).severity, *map(str, named)} | on_records()[code]


def test_rules_have_the_severities_of_their_lines() -> None:
    listed = {code: sorted(line) for code, line in TABLE.items()}
    found = {code: sorted(severities_of(code)) for code in RULES}
    codes = sorted(listed.keys() | found.keys())
    unlike = [
        (code, listed.get(code), found.get(code)) for code in codes if listed.get(code) != found.get(code)
    ]
    assert unlike == [], "rule, its line in severities.toml, what its page, its module and the records have"


def test_clauses_are_those_of_the_guide_with_their_severity() -> None:
    rest = {(clause, severity) for line in TABLE.values() for severity, clause in line.items()}
    assert sorted(rest ^ CLAUSES.items()) == []
