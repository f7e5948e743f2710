"""Traces of small fabrics: an intent or devices in, a trace out, with what the rules say of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lossless.api import Options, lint_documents, load_fabrics
from lossless.checks.trace.running import trace
from lossless.formats.inputs.devices import rewrites_of
from lossless.ground.documents import load_text
from lossless.model.fabric.view import View
from tests.checks.rules.snippets import BASES, merge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.checks.trace.model import Trace, TraceHop
    from lossless.ground.documents.text import Document

Patch = dict[str, Any]


def intent(patch: Patch) -> Document:
    """Return the sound intent with a merge patch applied."""
    return _patched("leaf-spine.yaml", patch, "fabric.yaml")


def device(patch: Patch, file: str = "leaf1.json") -> Document:
    """Return the sound switch with a merge patch applied."""
    return _patched("leaf.json", patch, file)


def _patched(base: str, patch: Patch, file: str) -> Document:
    data = load_text((BASES / base).read_text(), base).data
    return load_text(json.dumps(merge(data, patch), indent=2), file)


def traced(
    documents: Sequence[Document],
    source: str,
    target: str,
    dscp: int = 26,
    *,
    via: str | None = None,
    rdma_dscps: tuple[int, ...] = (),
) -> Trace:
    """Return the trace through documents that must all be readable and make one fabric."""
    options = Options(rdma_dscps=rdma_dscps)
    fabrics, errors = load_fabrics(documents, options)
    assert (len(fabrics), errors) == (1, ())
    findings = lint_documents(documents, options).findings
    rewrites = rewrites_of(fabrics[0], documents)
    return trace(View(fabrics[0]), source, target, dscp, via=via, findings=findings, rewrites=rewrites)


def hop(patch: Patch, dscp: int = 26, *, source: str = "Ethernet0", target: str = "Ethernet8") -> TraceHop:
    """Return the one hop through the sound switch with a patch."""
    (only,) = traced([device(patch)], source, target, dscp).hops
    return only


def codes(found: TraceHop, stage: str) -> list[str]:
    """Return the codes of the findings at one stage."""
    return [mark.finding.code for mark in found.marks if mark.stage == stage]
