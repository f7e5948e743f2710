"""What rules say of networks is what is on record: a difference is seen in review (``recorded.py`` writes it again)."""

from __future__ import annotations

import pytest

from tests.checks.rules.recorded import (
    EXAMPLES,
    VALUES,
    Scenario,
    bad_examples,
    on_record,
    said,
    said_of_values,
    said_with_changes,
    scenarios,
    stated_examples,
)
from tests.checks.rules.snippets import Snippet, check_together

ON_RECORD = on_record(EXAMPLES)
VALUES_ON_RECORD = on_record(VALUES)


@pytest.mark.parametrize(
    ("name", "code", "snippet"), [pytest.param(*example, id=example[0]) for example in bad_examples()]
)
def test_what_a_rule_says_of_its_example_and_of_changes_to_it(name: str, code: str, snippet: Snippet) -> None:
    assert said_with_changes(snippet, code) == ON_RECORD.get(name)


@pytest.mark.parametrize(
    ("name", "code", "snippet"), [pytest.param(*example, id=example[0]) for example in stated_examples()]
)
def test_the_values_from_which_on_a_rule_says_something_else(name: str, code: str, snippet: Snippet) -> None:
    assert said_of_values(snippet, code) == VALUES_ON_RECORD.get(name)


@pytest.mark.parametrize("scenario", [pytest.param(it, id=f"{it.code} {it.fact}") for it in scenarios()])
def test_what_a_rule_says_of_a_scenario(scenario: Scenario) -> None:
    assert said(check_together(scenario.network, scenario.code), scenario.code) == scenario.says
