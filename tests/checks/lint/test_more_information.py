"""More information never weakens: what lint says of a switch alone is no milder where its intent lies beside it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from lossless.api import Options, lint_documents
from lossless.ground.documents import load_text
from tests.output.render.test_render_laws import one_value_changed, rendered
from tests.strategies import document_of, fabric_of, intents

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.document import Document

pytestmark = pytest.mark.laws


def rows_with_errors(*documents: Document, rdma_dscps: tuple[int, ...] = ()) -> set[tuple[str, Path]]:
    """Return the rows of files that some rule calls an error, errors of the intent left out.

    So are those of BUF001: a switch is told the length of a row, and the intent may know that its cable is shorter.
    """
    findings = lint_documents(documents, Options(rdma_dscps=rdma_dscps)).findings
    return {
        (finding.origin.file, finding.origin.path[:2])
        for finding in findings
        if finding.severity == "error" and finding.origin.file != "fabric.yaml" and finding.code != "BUF001"
    }


@settings(max_examples=60)
@given(intents(renderable=True), st.data())
def test_an_intent_beside_a_changed_switch_weakens_no_error(data: Any, choice: st.DataObject) -> None:
    """One value is changed or taken away; the intent names the DSCPs that ``--rdma-dscp`` names without it."""
    fabric = fabric_of(data)
    switch = fabric.switches[choice.draw(st.integers(0, len(fabric.switches) - 1))]
    changed, what = one_value_changed(rendered(fabric, switch), choice)
    device = load_text(json.dumps(changed), "device.json")
    named = tuple(dscp for cls in fabric.classes.lossless for dscp in cls.dscps)
    alone = rows_with_errors(device) | rows_with_errors(device, rdma_dscps=named)
    assert alone <= rows_with_errors(device, document_of(data)), what


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
    alone = [finding.code for finding in lint_documents([device]).findings if finding.severity == "error"]
    assert alone == ["BUF001"]
    beside = lint_documents([device, document_of(SHORTER_THAN_ITS_ROW)]).findings
    assert [finding for finding in beside if finding.severity == "error"] == []
