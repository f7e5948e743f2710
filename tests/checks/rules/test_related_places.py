"""Other places that a finding names: each is there to be looked at, and none is the finding's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lossless.checks.rules.documentation import rule_of
from lossless.checks.rules.registry import RULES
from lossless.ground.basics.findings import Finding
from tests.checks.rules import linted
from tests.checks.rules.snippets import Snippet, check, snippets


def _cases() -> Iterator[object]:
    for code in RULES:
        for number, snippet in enumerate(snippets(rule_of(code).documentation, "Bad"), 1):
            yield pytest.param(snippet, id=f"{code}-{number}")


@pytest.mark.parametrize("snippet", list(_cases()))
def test_every_related_place_was_written_and_is_another(snippet: Snippet) -> None:
    report = check(snippet)
    for finding in report.findings:
        for related in finding.related:
            document = report.documents[related.origin.file]
            assert document.exists(related.origin.path), related  # type: ignore[attr-defined]
            assert related.origin[:2] != finding.origin[:2]
            assert related.message


def named(finding: Finding) -> list[str]:
    return ["|".join(map(str, related.origin.path)) for related in finding.related]


def test_a_short_headroom_names_the_length_that_it_is_for() -> None:
    patch = {"BUFFER_PROFILE": {"pg_lossless_400000_5m_profile": {"xoff": "131072"}}}
    found = linted.only(linted.device(patch), "BUF002")
    assert named(found) == ["CABLE_LENGTH|AZURE|Ethernet0"]


def test_a_row_that_names_the_profile_of_another_length_names_the_row_that_sets_xoff() -> None:
    patch = {"BUFFER_PG": {"Ethernet8|3": {"profile": "pg_lossless_400000_5m_profile"}}}
    found = linted.only(linted.device(patch), "BUF002")
    assert found.origin.path == ("BUFFER_PG", "Ethernet8|3", "profile")
    assert named(found) == [
        "BUFFER_PROFILE|pg_lossless_400000_5m_profile|xoff",
        "CABLE_LENGTH|AZURE|Ethernet8",
    ]


def test_a_port_that_lacks_pfc_names_one_that_has_it() -> None:
    found = linted.only(linted.device({"PORT_QOS_MAP": {"Ethernet4": {"pfc_enable": ""}}}), "PFC001")
    assert named(found) == ["PORT_QOS_MAP|Ethernet0|pfc_enable"]


def test_an_intent_names_no_row_that_nobody_wrote() -> None:
    report = linted.intent({"topology": {"leaf_spine": {"uplinks": "1 x 800G"}}})
    assert named(linted.only(report, "TOP001")) == []
