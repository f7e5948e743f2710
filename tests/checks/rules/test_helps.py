"""A help that states an edit can be followed to the letter: what it is about is gone, and no other error has come."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from lossless.api import Options
from lossless.ground.documents import load_text
from tests.all_cases import some
from tests.checks.rules.helps import followed, networks, states_an_edit, unlike_its_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lossless.ground.documents.text import Document

NETWORKS = list(networks())
UNCOVERED = {
    "BUF003: of two ports with a length that has no row, the first has no admin_status": {"BUF003"},
    "BUF003: the only port with a length that has no row has no admin_status": {"BUF003"},
    "BUF013: lossless queues are bounded, and one port has PFC": {"BUF013"},
    "BUF013: one port of each leaf has PFC, and the lossless queues of the spine are bounded": {"BUF013"},
    "CFG004: maps are not as declared, and lossless traffic is led out of its class": {"PFC005"},
    "CLS001: a DSCP of one lossless class leads to the traffic class of another": {
        "PFC001",
        "PFC005",
        "SWS018",
    },
    "CLS003: of two ports with PFC one leaves out what is lossless on the other": {"CLS001"},
    "ECN004: two ports have PFC, and one pauses the other before the first mark": {"ECN004"},
    "IB017: tables of lanes are not checked while QoS is off": {"IB017"},
    "SWS005: a time begins with a minus and is no number": {"WD005"},
    "WD009: a watchdog that only alerts ends no storm": {"WD009"},
}
"""Networks with a second fault, which nothing can say before the first one is fixed: of a port that is down or pauses
nothing, of a class that never comes as far, of a table that is not read."""


@pytest.mark.parametrize(
    ("name", "documents", "options"), NETWORKS, ids=[name.replace("/", " ") for name, *_ in NETWORKS]
)
def test_a_help_that_is_followed_ends_its_finding_and_breaks_nothing(
    name: str, documents: list[Document], options: Options
) -> None:
    for finding, wrong in followed(documents, options):
        assert [each for each in wrong if each.code not in UNCOVERED.get(name, set())] == [], finding.help
        assert unlike_its_words(finding) == []
        assert finding.fix or finding.object_form != "config_db" or not states_an_edit(finding), finding.help


@pytest.mark.tools("records")
def test_helps_of_field_files_and_recorded_configurations_can_be_followed(reference: Path) -> None:
    read_differently = {"CFG001"}  # What it fixes is read as before, and other rules then see it.
    for name, document in some([*_recorded(reference)], 2, "helps"):
        for options in (Options(), Options(rdma_dscps=(26,))):
            for finding, wrong in followed([document], options):
                assert finding.code in read_differently or wrong == [], (name, finding.help)
                assert unlike_its_words(finding) == [], name


def _recorded(reference: Path) -> Iterator[tuple[str, Document]]:
    for file in sorted((reference / "field" / "sonic").rglob("config_db.json")):
        yield str(file), load_text(file.read_text(), "leaf.json")
    for file in sorted((reference / "reference" / "orchagent").glob("*.json")):
        records = json.loads(file.read_text())
        for record in records if isinstance(records, list) else ():
            yield record["name"], load_text(json.dumps(record["input"]), "leaf.json")
