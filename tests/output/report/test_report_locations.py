"""Places are looked up once per document, and only when a report is made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from lossless.ground.basics.findings import Origin, Span
from lossless.ground.documents import load_text
from lossless.ground.documents.excerpts import Locations
from lossless.ground.documents.text import Document
from lossless.output.report.lint.text import locate, shown_file
from tests.output.report.samples import on_switch, sample


def test_a_document_is_walked_once_for_all_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    run = sample(*(on_switch("PORT", f"Ethernet{port}", "mtu", message=str(port)) for port in (0, 4)))
    walks: list[list[Any]] = []
    document = run.documents["leaf1.json"]
    assert isinstance(document, Document)
    places = document._locator.places

    class Counting:
        def places(self, paths: Iterable[Any]) -> Any:
            walks.append(list(paths))
            return places(walks[-1])

    monkeypatch.setattr(document, "_locator", Counting())
    locate(run)
    assert [len(walk) for walk in walks] == [2]


def test_a_value_and_its_key_are_different_places() -> None:
    origin = Origin("leaf1.json", ("PORT", "Ethernet0", "mtu"))
    run = sample(on_switch()._replace(origin=origin))
    locations = Locations(run.documents, run.findings)
    assert locations.span(origin) == Span(4, 14, 4, 20)
    assert locations.span(origin.key()) == Span(4, 7, 4, 12)


@pytest.mark.parametrize("text", ["pfc:\nmtu: 9100\n", "pfc:\n  watchdog: off\nmtu: 9100\n"])
def test_an_empty_or_long_value_is_shown_by_its_key(text: str) -> None:
    document: Document = load_text(text, "fabric.yaml")
    origin = Origin("fabric.yaml", ("pfc",))
    found = on_switch()._replace(origin=origin)
    assert Locations({"fabric.yaml": document}, [found]).span(origin) == Span(1, 1, 1, 4)


def test_what_is_missing_is_shown_at_the_key_above() -> None:
    origin = Origin("leaf1.json", ("PORT", "Ethernet4", "speed"))
    run = sample(on_switch()._replace(origin=origin))
    assert Locations(run.documents, run.findings).span(origin) == Span(6, 5, 6, 16)


def test_names_below_the_current_folder_are_short() -> None:
    assert shown_file("./site/fabric.yaml") == "site/fabric.yaml"
    assert shown_file("../fabric.yaml") == "../fabric.yaml"
