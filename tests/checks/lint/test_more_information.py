"""More information never weakens: what lint says of a switch alone is no milder where its intent lies beside it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, settings, strategies as st

from lossless.api import Options, lint_documents
from lossless.ground.documents import load_text
from tests.output.render.test_render_laws import one_value_changed, rendered
from tests.strategies import document_of, fabric_of, intents

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.ground.basics.findings import Finding, Path
    from lossless.ground.documents.text import Document

pytestmark = pytest.mark.laws


def findings_of(*documents: Document, rdma_dscps: tuple[int, ...] = ()) -> Iterator[Finding]:
    """Yield what lint says of documents, what it says of intents left out."""
    for finding in lint_documents(documents, Options(rdma_dscps=rdma_dscps)).findings:
        if finding.origin.file != "fabric.yaml":
            yield finding


EXPLAINED_BY_INTENT = {
    "BUF001": "a switch is told the length of a row, which may be longer than the cable is",
    "BUF002": "what is below the cable that a switch is told may hold the real one, and yet not all that it needs",
}
"""Rules whose errors in a rendered tree are milder beside the intent, and why."""


def is_explained(finding: Finding) -> bool:
    """Return whether a finding is by a rule that an intent may make milder."""
    return finding.code in EXPLAINED_BY_INTENT


def rows_with_errors(findings: Iterable[Finding]) -> set[tuple[str, Path]]:
    """Return the rows of files that some rule calls an error, or finds by the length of a cable."""
    return {
        (finding.origin.file, finding.origin.path[:2])
        for finding in findings
        if finding.severity == "error" or is_explained(finding)
    }


@settings(max_examples=60)
@given(intents(renderable=True), st.data())
def test_an_intent_beside_a_changed_switch_weakens_no_error(data: Any, choice: st.DataObject) -> None:
    """One value is changed or taken away; the intent names the DSCPs that ``--rdma-dscp`` names without it.

    An intent with PFC on some tiers says that packets may be lost on the others, which nothing else says.
    """
    fabric = fabric_of(data)
    assume(fabric.pfc_tiers is None)
    switch = fabric.switches[choice.draw(st.integers(0, len(fabric.switches) - 1))]
    changed, what = one_value_changed(rendered(fabric, switch), choice)
    device = load_text(json.dumps(changed), "device.json")
    named = tuple(dscp for cls in fabric.classes.lossless for dscp in cls.dscps)
    alone = rows_with_errors([*findings_of(device), *findings_of(device, rdma_dscps=named)])
    assert alone <= rows_with_errors(findings_of(device, document_of(data))), what


SHORTER_THAN_ITS_ROW: dict[str, Any] = {
    "lossless": "v1",
    "fabric": "campus",
    "transport": "rocev2",
    "preset": "nvidia",
    "hardware": {
        "leaf": {"profile": "nvidia-sn2700", "hwsku": "Mellanox-SN2700-D48C8"},
        "spine": {"profile": "nvidia-sn2700", "hwsku": "Mellanox-SN2700-D48C8"},
        "nic": "connectx-6-dx",
    },
    "topology": {
        "leaf_spine": {
            "leaves": 2,
            "spines": 1,
            "hosts_per_leaf": 1,
            "host_links": "1 x 25G",
            "uplinks": "1 x 25G",
            "cables": {"host": "3m", "uplink": "301m"},
        }
    },
}


def test_an_intent_that_knows_a_cable_shorter_than_its_row_explains_a_lack_of_headroom_away() -> None:
    """25G over 301 m has the row of 2000 m, whose 58,368 B do not hold 2000 m of cable and hold 301 m."""
    fabric = fabric_of(SHORTER_THAN_ITS_ROW)
    spine = next(switch for switch in fabric.switches if switch.name == "spine1")
    device = load_text(json.dumps(rendered(fabric, spine)), "spine1.json")
    alone = list(findings_of(device))
    assert [(it.severity, it.code) for it in alone] == [("error", "BUF001")]
    beside = list(findings_of(device, document_of(SHORTER_THAN_ITS_ROW)))
    assert [(it.severity, it.code) for it in beside] == [("info", "BUF001")]
    assert beside[0].note == "in the intent no cable there is longer than 301 m, and the headroom covers that"
