"""Captures of real switches are read as their index says, and the texts as the databases they were made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.formats.sonic.state.altered_captures import altered, results
from tools.check_state import report

pytestmark = pytest.mark.tools("records")

if TYPE_CHECKING:
    from pathlib import Path

_SWITCHES = ("sonic-cli/", "sonic-db/", "sonic-gnmi/", "other-switches/")


@pytest.fixture(scope="module")
def said(reference: Path) -> dict[str, Any]:
    return report(_captures(reference))


def _captures(reference: Path) -> Path:
    folder = reference / "captures" / "state"
    if not (folder / "index.json").is_file():
        pytest.skip(f"no captures of running state at {folder}")
    return folder


def _of_switches(listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [item for item in listed if item["file"].startswith(_SWITCHES)]


def test_nothing_of_a_switch_differs_from_the_index(said: dict[str, Any]) -> None:
    assert _of_switches(said["differ"]) == []
    assert _of_switches(said["unread"]) == []


def test_texts_agree_with_the_databases_they_were_made_from(said: dict[str, Any]) -> None:
    assert said["pairs"]["differ"] == []
    assert said["pairs"]["agree"] > 4000


def test_each_file_of_a_switch_is_read_or_refused_with_a_reason(said: dict[str, Any]) -> None:
    refused = {p: why for p, why in said["files"]["refused"].items() if p.startswith(_SWITCHES)}
    assert sorted(refused.values()) == [
        "no reader recognises it",
        "no reader recognises it",
        "the file is empty",
        *["values in the form of the index, no capture"] * 6,
    ]


def test_names_of_files_and_ports_and_the_order_of_rows_and_columns_do_not_matter(
    reference: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folders = [tmp_path_factory.mktemp(name) for name in ("same", "altered")]
    altered(_captures(reference), folders[0], None)
    altered(_captures(reference), folders[1], seed=1)
    assert results(report(folders[1])) == results(report(folders[0]))
