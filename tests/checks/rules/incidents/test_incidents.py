"""Each published failure that a file can show draws its rule once put into the example; the example draws none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lossless.api import Options, lint_documents
from lossless.checks.rules.registry import RULES
from tests.checks.rules.incidents.example import devices, intent, subnet
from tests.checks.rules.incidents.replays import INCIDENTS, Replay
from tools.incident_page import PAGE, page

REPLAYS = [
    pytest.param(replay, id=f"{incident.number}-{replay.code}-{number}")
    for incident in INCIDENTS
    for number, replay in enumerate(incident.replays, 1)
]


@pytest.mark.parametrize("rdma_dscps", [(), (26,)], ids=str)
def test_the_example_itself_draws_nothing(rdma_dscps: tuple[int, ...]) -> None:
    for documents in (intent({}), devices({}), intent({}) + devices({}), subnet({})):
        report = lint_documents(documents, Options(rdma_dscps=rdma_dscps))
        assert report.errors == ()
        assert [f"{f.code}: {f.message}" for f in report.findings] == []


@pytest.mark.parametrize("replay", REPLAYS)
def test_an_incident_draws_its_rule(replay: Replay) -> None:
    report = lint_documents(replay.documents(), Options(rdma_dscps=replay.rdma_dscps))
    assert report.errors == ()
    assert replay.code in {finding.code for finding in report.findings}


def test_every_incident_is_replayed_or_says_what_cannot_be_seen(reference: Path) -> None:
    known = [
        entry["id"] for entry in json.loads((reference / "facts" / "incidents.json").read_text())["incidents"]
    ]
    assert [incident.number for incident in INCIDENTS] == known
    for incident in INCIDENTS:
        assert bool(incident.replays) != bool(incident.unseen), incident.number
        assert {replay.code for replay in incident.replays} <= RULES.keys()


def test_the_page_is_that_of_the_replays() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()
