"""Every candidate of the catalogue is a rule, is said by one, or is forbidden by a fact that is written down."""

from __future__ import annotations

import json
import re
from pathlib import Path

from lossless.checks.rules.documentation import rule_of
from lossless.checks.rules.registry import RULES
from tests.paths import ROOT

FAMILIES = ("CLS", "PFC", "WD", "ECN", "BUF", "SCH", "CFG", "ISO", "NIC", "HST", "TEL", "TOP", "IB")
GRAVITY = {"error": 0, "warn": 1, "warning": 1, "info": 2}


def candidates(reference: Path) -> dict[str, dict[str, object]]:
    """Return the candidates of the families that are judged from intents and deployed files."""
    rules = json.loads((reference / "facts" / "rules.json").read_text())["rules"]
    return {rule["code"]: rule for rule in rules if rule["code"].startswith(FAMILIES)}


def not_taken() -> dict[str, str]:
    """Return the codes on the page of rules not taken, each with its row."""
    rows = (ROOT / "docs" / "rules-not-taken.md").read_text(encoding="utf-8").splitlines()
    found = {}
    for row in rows:
        cells = row.split(" | ")
        for code in re.findall(r"\b[A-Z]{2,3}\d{3}\b", cells[0]) if row.startswith("| ") else ():
            found[code] = row
    return found


def test_every_candidate_is_accounted_for_once(reference: Path) -> None:
    wanted, without = candidates(reference), not_taken()
    assert sorted(wanted.keys() - RULES.keys() - without.keys()) == []
    assert sorted(without.keys() & RULES.keys()) == []
    assert sorted(without.keys() - wanted.keys()) == []


def test_what_matters_most_is_left_out_only_with_a_quoted_source(reference: Path) -> None:
    wanted, without = candidates(reference), not_taken()
    for code, row in without.items():
        if wanted[code]["priority"] == 1:
            assert re.search(r'"[^"]+"|`[^`]+`', row), code


def test_rules_named_on_the_page_exist() -> None:
    linked = set(re.findall(r"\(rules/([A-Z]+\d+)\.md\)", (ROOT / "docs" / "rules-not-taken.md").read_text()))
    assert linked <= RULES.keys()


def test_every_rule_milder_than_its_candidate_says_what_drew_it(reference: Path) -> None:
    page = (ROOT / "docs" / "adr" / "0011-severities-below-the-catalogue.md").read_text(encoding="utf-8")
    explained = {
        code for row in page.splitlines() for code in re.findall(r"[A-Z]{2,3}\d{3}", row.split(" | ")[0])
    }
    milder = {
        code
        for code, rule in candidates(reference).items()
        if code in RULES
        and rule["severity"] == "error"
        and GRAVITY[rule_of(code).severity] > GRAVITY["error"]
    }
    assert milder == explained & milder
    assert sorted(milder - explained) == []


def test_only_rules_on_one_device_or_host_need_something() -> None:
    assert {row.subjects[-1] for row in RULES.values() if row.needs} == {"device", "host"}
