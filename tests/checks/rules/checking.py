"""Bases with a patch laid over them, and what one rule says of the result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lossless.api import Options, lint_documents
from lossless.ground.documents import load_text
from tests.checks.rules.linted import report_of_file
from tests.checks.rules.snippets import BASES, merge

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Finding, UncheckedRule
    from lossless.ground.documents.text import Document

Patch = dict[str, Any]


def patched(base: str, patch: Patch, file: str | None = None) -> Document:
    """Return a base (``leaf.json``, ``leaf-spine.yaml``) with a merge patch applied, as its own file."""
    suffix = Path(base).suffix
    data = load_text((BASES / base).read_text(), base).data
    return load_text(json.dumps(merge(data, patch)), file or f"fabric{suffix}")


def drawn(code: str, *documents: Document, rdma_dscps: tuple[int, ...] = ()) -> list[Finding]:
    """Return the findings of one rule on documents that must all be readable."""
    report = lint_documents(documents, Options(rdma_dscps=rdma_dscps))
    assert report.errors == ()
    return [finding for finding in report.findings if finding.code == code]


def only(code: str, *documents: Document, rdma_dscps: tuple[int, ...] = ()) -> Finding:
    """Return the one finding of a rule."""
    findings = drawn(code, *documents, rdma_dscps=rdma_dscps)
    assert len(findings) == 1, [finding.message for finding in findings]
    return findings[0]


def unchecked(code: str, *documents: Document, rdma_dscps: tuple[int, ...] = ()) -> list[UncheckedRule]:
    """Return what one rule could not check."""
    report = lint_documents(documents, Options(rdma_dscps=rdma_dscps))
    return [rule for rule in report.not_checked if rule.code == code]


def corpus_findings(reference: Path, codes: tuple[str, ...], rdma_dscps: tuple[int, ...]) -> list[Finding]:
    """Return what some rules say of upstream's configurations, each file a fabric of its own."""
    folders = (reference / "corpus" / name for name in ("full", "partial"))
    files = [file for folder in folders for file in sorted(folder.glob("*.json"))]
    assert len(files) > 60
    reports = [report_of_file(file, rdma_dscps) for file in files]
    return [finding for report in reports for finding in report.findings if finding.code in codes]
