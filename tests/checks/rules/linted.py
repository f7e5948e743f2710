"""Bases of the rule tests, changed by a merge patch and linted; and what one rule says of them."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from lossless.api import Options, lint, lint_documents, load_fabrics
from lossless.ground.documents import load_text
from lossless.model.fabric.view import View
from tests.checks.rules.snippets import BASES, merge

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.api import Report
    from lossless.ground.basics.findings import Finding
    from lossless.ground.documents.text import Document


def device(patch: dict[str, Any], base: str = "leaf") -> Report:
    """Return what is said of a deployed device."""
    return lint_documents([_document(f"{base}.json", patch)])


def intent(patch: dict[str, Any]) -> Report:
    """Return what is said of an intent."""
    return lint_documents([_document("leaf-spine.yaml", patch)])


def intent_view(patch: dict[str, Any]) -> View:
    """Return the fabric of an intent, for rules called by hand."""
    return View(load_fabrics([_document("leaf-spine.yaml", patch)]).fabrics[0])


def drawn(report: Report, code: str) -> list[Finding]:
    """Return the findings of one rule."""
    assert report.errors == ()
    return [finding for finding in report.findings if finding.code == code]


def only(report: Report, code: str) -> Finding:
    """Return the one finding of a rule."""
    (finding,) = drawn(report, code)
    return finding


def unchecked(report: Report, code: str) -> dict[str, int]:
    """Return what one rule could not check, and how often."""
    return {rule.reason: rule.times for rule in report.not_checked if rule.code == code}


def corpus(reference: Path, *folders: str) -> dict[str, Report]:
    """Return what is said of each file of the corpus, by ``folder/file``."""
    files = [file for folder in folders for file in sorted((reference / "corpus" / folder).glob("*.json"))]
    return {
        f"{file.parent.name}/{file.name}": report_of_file(file) for file in files if file.name != "index.json"
    }


@cache
def report_of_file(file: Path, rdma_dscps: tuple[int, ...] = ()) -> Report:
    """Return what is said of a file of the corpus by itself, without its text: many tests ask for all of them."""
    return lint([file], Options(rdma_dscps=rdma_dscps))._replace(documents={})


def _document(name: str, patch: dict[str, Any]) -> Document:
    base = load_text((BASES / name).read_text(), name)
    return load_text(json.dumps(merge(base.data, patch)), name)
