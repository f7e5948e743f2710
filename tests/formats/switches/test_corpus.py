"""Real configurations say what people read in them; faults that they have are found, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lossless.formats.inputs.collect import Candidate, read
from lossless.formats.switches.nxos.read.dme import config_of_data, read_running_config
from tools.check_dialects import compared

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lossless.formats.switches.nxos.read.grammar import Key, Settings

OUT_OF_INTENT = 1
"""DSCP 26 in a lossy class of a switch that pauses nothing: whether it is RDMA's, the text does not say."""
THIN_CURVES = 2
"""Files that mark at most 1 % of packets, or from 10 kB on: no public source says from which value on that is wrong."""


@pytest.mark.parametrize(
    ("name", "missed", "agree", "faults"),
    [("eos", THIN_CURVES, 330, 12), ("nvue", 0, 420, 16), ("nxos", 0, 230, 24)],
)
def test_configurations_are_read_as_people_read_them(
    reference: Path, name: str, missed: int, agree: int, faults: int
) -> None:
    counts = compared(reference / "captures" / "dialects")["by_dialect"][name]
    assert (counts["differ"], counts["unread"], counts["unsupported"], counts["false_errors"]) == (0, 0, 0, 0)
    assert counts["faults_missed"] == missed
    assert counts["agree"] >= agree
    assert counts["faults_found"] >= faults


@pytest.mark.parametrize(
    ("name", "missed", "agree", "faults"),
    [("eos", OUT_OF_INTENT, 126, 15), ("nvue", 0, 216, 5), ("nxos", 0, 150, 14)],
)
def test_a_second_set_is_read_the_same(
    reference: Path, name: str, missed: int, agree: int, faults: int
) -> None:
    counts = compared(reference / "captures" / "dialects-2")["by_dialect"][name]
    assert (counts["differ"], counts["unread"], counts["false_errors"]) == (0, 0, 0)
    assert counts["faults_missed"] == missed
    assert counts["agree"] >= agree
    assert counts["faults_found"] >= faults


def test_an_object_model_says_what_the_text_beside_it_says(reference: Path) -> None:
    folder = reference / "captures" / "dialects" / "nxos"
    models = sorted(folder.glob("*.dme.json"))
    assert len(models) >= 2
    for model in models:
        file = model.with_name(model.name.replace(".dme.json", ".cfg"))
        of_text = read_running_config(file.read_text(), str(file))[1]
        (document,) = read(Candidate(str(model), expected=True)).documents
        of_model = config_of_data(document)
        assert _said(of_model.class_maps) == _said(of_text.class_maps)
        policies = (
            {name: _said(each.below) for name, each in of.policies.items()} for of in (of_model, of_text)
        )
        assert next(policies) == next(policies)


def _said(blocks: Mapping[Any, Settings]) -> dict[Any, dict[Key, Any]]:
    return {name: {key: setting.value for key, setting in block.items()} for name, block in blocks.items()}
