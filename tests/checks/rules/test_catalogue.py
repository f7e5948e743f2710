"""Every candidate of the catalogue is a rule, is said by one, or is forbidden by a recorded fact."""

from __future__ import annotations

import inspect
import re
import tomllib
from pathlib import Path

import pytest

from lossless.checks.rules.documentation import rule_of
from lossless.checks.rules.registry import RULES, LoadedRule, rules_for
from lossless.ground.basics.findings import SEVERITIES
from tests.paths import ROOT

CANDIDATES = tomllib.loads(Path(__file__).with_name("catalogue.toml").read_text(encoding="utf-8"))
_CODE = re.compile(r"\b[A-Z]{2,3}\d{3}\b")


def codes_of_rows(page: str) -> dict[str, str]:
    """Return the codes in the first column of the tables of a page, each with its row."""
    rows = (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines()
    return {code: row for row in rows if row.startswith("| ") for code in _CODE.findall(row.split(" | ")[0])}


NOT_TAKEN = codes_of_rows("rules-not-taken.md")


def test_every_candidate_is_accounted_for_once() -> None:
    assert sorted(CANDIDATES.keys() - RULES.keys() - NOT_TAKEN.keys()) == []
    assert sorted(NOT_TAKEN.keys() & RULES.keys()) == []
    assert sorted(NOT_TAKEN.keys() - CANDIDATES.keys()) == []


def test_what_matters_most_is_left_out_only_with_a_quoted_source() -> None:
    for code, row in NOT_TAKEN.items():
        if CANDIDATES[code]["priority"] == 1:
            assert re.search(r'"[^"]+"|`[^`]+`', row), code


def test_rules_named_on_the_page_exist() -> None:
    linked = set(re.findall(r"\(rules/([A-Z]+\d+)\.md\)", (ROOT / "docs" / "rules-not-taken.md").read_text()))
    assert linked <= RULES.keys()


def test_every_rule_milder_than_its_candidate_says_which_fact_decided_it() -> None:
    explained = codes_of_rows("adr/0011-severities-below-the-catalogue.md")
    milder = {
        code
        for code, candidate in CANDIDATES.items()
        if code in RULES and candidate["severity"] == "error" and rule_of(code).severity != "error"
    }
    assert sorted(milder - explained.keys()) == []


def test_candidates_have_severities_of_findings() -> None:
    assert {candidate["severity"] for candidate in CANDIDATES.values()} <= {*SEVERITIES}


def test_every_rule_has_a_test_of_its_own() -> None:
    files = [*(ROOT / "tests").glob("*/**/*.py"), *(ROOT / "tests/checks/rules/scenarios").glob("*.md")]
    of_all = {"test_frozen_codes.py", "test_rules_on_dialects.py"}
    texts = (file.read_text(encoding="utf-8") for file in files if file.name not in of_all)
    named = {code for text in texts for code in _CODE.findall(text)}
    # Those of other systems alone are tested by the cases of each.
    named |= {code for code, row in RULES.items() if row.subjects == ("switch",)}
    assert RULES.keys() - named == set(), "named by no test and no scenario in tests/checks/rules"


def test_only_rules_on_one_device_or_host_need_something() -> None:
    assert {row.subjects[-1] for row in RULES.values() if row.needs} == {"device", "host", "switch"}


@pytest.mark.parametrize("rule", rules_for("device"), ids=lambda rule: rule.code)
def test_rules_on_devices_take_a_device(rule: LoadedRule) -> None:
    (subject,) = inspect.signature(rule.check).parameters.values()
    assert "Device" in str(subject.annotation).split(" | ")
