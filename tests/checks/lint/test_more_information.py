"""More information never weakens: what lint says of a switch alone is no milder where its intent lies beside it."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, settings, strategies as st

from lossless.api import Options, lint_documents
from lossless.ground.documents import load_text
from tests.output.render.test_render_laws import _other, _values, rendered
from tests.strategies import document_of, fabric_of, intents

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.document import Document

pytestmark = pytest.mark.laws


def rows_with_errors(*documents: Document, rdma_dscps: tuple[int, ...] = ()) -> set[tuple[str, Path]]:
    """Return the rows of files that some rule calls an error, errors of the intent left out."""
    findings = lint_documents(documents, Options(rdma_dscps=rdma_dscps)).findings
    return {
        (finding.origin.file, finding.origin.path[:2])
        for finding in findings
        if finding.severity == "error" and finding.origin.file != "fabric.yaml"
    }


@settings(max_examples=60)
@given(intents(renderable=True), st.data())
def test_an_intent_beside_a_changed_switch_weakens_no_error(data: Any, choice: st.DataObject) -> None:
    """One value is changed or taken away; the intent names the DSCPs that ``--rdma-dscp`` names without it."""
    fabric = fabric_of(data)
    switch = fabric.switches[choice.draw(st.integers(0, len(fabric.switches) - 1))]
    tables = rendered(fabric, switch)
    assume(_values(tables))
    table, key, field = choice.draw(st.sampled_from(_values(tables)))
    changed = deepcopy(tables)
    if choice.draw(st.booleans()):
        del changed[table][key][field]
    else:
        changed[table][key][field] = _other(tables[table][key][field])
    device = load_text(json.dumps(changed), "device.json")
    named = tuple(dscp for cls in fabric.classes.lossless for dscp in cls.dscps)
    alone = rows_with_errors(device) | rows_with_errors(device, rdma_dscps=named)
    assert alone <= rows_with_errors(device, document_of(data)), f"{table}|{key}|{field}"
